/* tdtool grep: the rows that meet a condition, listed or saved. Reads and writes some rows at a time. */
#include <stdlib.h>
#include <string.h>

#include "rows.h"
#include "runs.h"

typedef struct job {
  condition *asked;
  const char *out;
  int64_t found, printed;
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
  if (of->out && memchr(met, 1, (size_t)rows->rows)) save_rows(rows, met);
  free(met);
}

int run_grep(int count, char **arguments) {
  job all = {.asked = condition_parse(arguments[0]), .out = count > 2 ? arguments[2] : NULL};
  if (all.out) save_begin(all.out);
  td_tensordict *td = open_rows(arguments[1]);
  bool list = common.json && !all.out && !grep_asked.count;
  if (list) json_begin('[');
  each_block(td, look, &all);
  if (list) {
    json_end(']');
    json_finish();
  }
  if (grep_asked.count) printf("%lld\n", (long long)all.found);
  if (all.out && all.found == 0)
    die("no row of %s meets '%s', so nothing is saved", arguments[1], arguments[0]);
  if (all.out) save_end(all.out);
  td_free(td);
  condition_free(all.asked);
  return all.found ? TOOL_FINE : TOOL_FOUND;
}
