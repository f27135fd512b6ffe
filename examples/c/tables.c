/* Tables in files: written for pyarrow, polars or DuckDB, and read again. */
#include "show.h"

int main(void) {
  const float positions[] = {0, 0.5, 1, 1.5, 2, 2.5};
  const int64_t steps[] = {10, 11, 12};
  td_tensordict *td, *again;
  td_tensor *position, *step;
  must(td_create((const int64_t[]){3}, 1, TD_DEVICE_NONE, -1, &td));
  must(td_tensor_from_data(positions, sizeof positions, (const int64_t[]){3, 2}, 2,
                           TD_DTYPE_FLOAT32, &position));
  must(td_tensor_from_data(steps, sizeof steps, (const int64_t[]){3}, 1, TD_DTYPE_INT64, &step));
  must(td_set(td, TD_KEY("x"), position));
  must(td_set(td, TD_KEY("obs", "step"), step));
  /* [tables] */
  must(td_file_save(td, "steps.parquet", NULL)); /* a row for each step; "obs" is a struct */
  must(td_file_load("steps.parquet", NULL, &again));
  /* [/tables] */
  show("parquet", again);
  td_free(again);
  td_tensor_free(position);
  td_tensor_free(step);
  td_free(td);
  return 0;
}
