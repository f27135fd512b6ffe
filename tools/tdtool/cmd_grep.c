/* tdtool grep: the rows that meet a condition, listed or saved. Reads and writes some rows at a time. */
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "runs.h"

typedef struct job {
  condition *asked;
  const char *out;
  int64_t found, printed;
  bool begun; /* the scratch folder has rows */
} job;

static void print_row(job *of, const block *rows, int64_t row) {
  int64_t place[64];
  size_t length = block_place(rows, row, place);
  of->printed++;
  if (common.json) {
    json_sizes(place, length);
    return;
  }
  for (size_t i = 0; i < length; i++) printf("%s%lld", i ? ", " : "", (long long)place[i]);
  putchar('\n');
}

static td_status append(void *user) { return td_memmap_append(scratch_path(), user, NULL); }

static void save_rows(job *of, const block *rows, const unsigned char *met) {
  td_tensor *mask;
  td_tensordict *part;
  must(td_tensor_from_data(met, (size_t)rows->rows, rows->sizes, rows->dims, TD_DTYPE_BOOL, &mask));
  td_index_item item = TD_I_TENSOR(mask);
  must(td_index(rows->td, &item, 1, &part));
  if (!of->begun) {
    save_any(part, scratch_path(), FORM_FOLDER, "grep");
    of->begun = true;
  } else {
    td_status status = progress_call("grep", 0, append, part);
    if (status == TD_ERR_SHAPE)
      die("row %lld and those before it differ in shape, so one dictionary cannot hold them",
          (long long)rows->row);
    must(status);
  }
  td_free(part);
  td_tensor_free(mask);
  scratch_check();
}

static void look(void *user, const block *rows) {
  job *of = user;
  unsigned char *met = xcalloc((size_t)rows->rows, 1);
  int64_t count = condition_rows(of->asked, rows, met);
  int64_t most = grep_asked.rows;
  for (int64_t row = 0; row < rows->rows && count; row++) {
    if (most && of->found == most) met[row] = 0;
    if (!met[row]) continue;
    of->found++;
    if (!of->out && !grep_asked.count) print_row(of, rows, row);
  }
  if (of->out && memchr(met, 1, (size_t)rows->rows)) save_rows(of, rows, met);
  free(met);
}

int run_grep(int count, char **arguments) {
  job all = {.asked = condition_parse(arguments[0]), .out = count > 2 ? arguments[2] : NULL};
  form as = all.out ? form_for(all.out) : FORM_UNKNOWN;
  if (all.out) refuse_existing(all.out);
  if (all.out && grep_asked.count)
    die_usage("grep: --count prints a number; with OUT the rows are saved");
  td_tensordict *td = open_any(arguments[1], false);
  bool list = common.json && !all.out && !grep_asked.count;
  if (all.out) scratch_begin(all.out);
  if (list) json_begin('[');
  each_block(td, look, &all);
  if (list) {
    json_end(']');
    json_finish();
  }
  if (grep_asked.count) printf("%lld\n", (long long)all.found);
  if (all.out && !all.begun)
    die("no row of %s meets '%s', so nothing is saved", arguments[1], arguments[0]);
  if (all.out) {
    td_tensordict *saved = scratch_keep(all.out, as);
    print_saved(saved, all.out, as);
    td_free(saved);
    scratch_remove();
  }
  td_free(td);
  condition_free(all.asked);
  return all.found ? TOOL_FINE : TOOL_FOUND;
}
