/* All rows of a data set as a dictionary: in memory if they are few, else in a folder, which is mapped. */
#include <stdlib.h>

#include "dataset.h"

enum { PART_BYTES = 8 << 20, HELD_BYTES = 64 << 20 };

/* What the tensors of a row take. */
static int64_t bytes_of_row(const td_dataset *set) {
  td_tensordict *row;
  size_t bytes;
  must(td_dataset_rows(set, 0, 1, &row));
  must(td_nbytes(row, &bytes));
  td_free(row);
  return (int64_t)bytes + 1;
}

static td_status append(void *user) { return td_memmap_append(scratch_path(), user, NULL); }

static void write_rows(const td_dataset *set, const char *label) {
  td_tensordict *rows;
  int64_t steps;
  must(td_dataset_about(set, NULL, NULL, &steps));
  if (steps == 0) {
    must(td_dataset_flat(set, &rows));
    must(append(rows));
    td_free(rows);
    return;
  }
  const int64_t row = bytes_of_row(set), part = row > PART_BYTES ? 1 : PART_BYTES / row;
  progress_begin(label, (uint64_t)steps * (uint64_t)row);
  for (int64_t first = 0; first < steps; first += part) {
    const int64_t count = steps - first < part ? steps - first : part;
    must(td_dataset_rows(set, first, count, &rows));
    must(append(rows));
    td_free(rows);
    progress_add((uint64_t)count * (uint64_t)row);
    scratch_check();
  }
  progress_end();
}

td_tensordict *keep_rows_of_set(const td_dataset *set, const char *out, form as) {
  scratch_begin(out);
  write_rows(set, "convert");
  td_tensordict *td = scratch_keep(out, as);
  scratch_remove();
  return td;
}

td_tensordict *rows_of_set(const td_dataset *set) {
  td_tensordict *td;
  int64_t steps;
  must(td_dataset_about(set, NULL, NULL, &steps));
  if (steps == 0 || bytes_of_row(set) <= HELD_BYTES / steps) {
    must(td_dataset_flat(set, &td));
    return td;
  }
  const char *folder = getenv("TMPDIR");
  text name = {NULL, 0, 0};
  addf(&name, "%s/rows", folder && *folder ? folder : "/tmp");
  scratch_begin(name.data);
  text_free(&name);
  write_rows(set, "read");
  td = open_any(scratch_path(), false);
  scratch_remove(); /* the files are mapped */
  return td;
}
