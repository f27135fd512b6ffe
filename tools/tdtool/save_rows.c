/* Saves the rows that grep finds, some at a time, to a temporary folder, which then becomes OUT. */
#include "rows.h"
#include "runs.h"

static struct {
  form as;
  bool begun; /* the folder has rows */
} saved;

void save_begin(const char *out) {
  saved.as = form_for(out);
  refuse_existing(out);
  if (grep_asked.count) die_usage("grep: --count prints a number; with OUT the rows are saved");
  scratch_begin(out);
}

static td_status append(void *user) { return td_memmap_append(scratch_path(), user, NULL); }

void save_rows(const block *rows, const unsigned char *met) {
  td_tensor *mask;
  td_tensordict *part;
  must(td_tensor_from_data(met, (size_t)rows->rows, rows->sizes, rows->dims, TD_DTYPE_BOOL, &mask));
  td_index_item item = TD_I_TENSOR(mask);
  must(td_index(rows->td, &item, 1, &part));
  if (!saved.begun) {
    save_any(part, scratch_path(), FORM_FOLDER, "grep");
    saved.begun = true;
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

void save_end(const char *out) {
  td_tensordict *td = scratch_keep(out, saved.as);
  print_saved(td, out, saved.as);
  td_free(td);
  scratch_remove();
}
