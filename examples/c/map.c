/* A function over the pieces of a dictionary, on two threads, and one over its entries. */
#include <string.h>

#include "show.h"

enum { ROWS = 6, COLUMNS = 2 };

static td_tensordict *data(void) {
  float values[ROWS * COLUMNS];
  td_tensordict *td;
  td_tensor *x;
  for (int i = 0; i < ROWS * COLUMNS; i++) values[i] = (float)i;
  must(td_create((const int64_t[]){ROWS}, 1, TD_DEVICE_NONE, -1, &td));
  must(td_tensor_from_data(values, sizeof values, (const int64_t[]){ROWS, COLUMNS}, 2,
                           TD_DTYPE_FLOAT32, &x));
  must(td_set(td, TD_KEY("x"), x));
  td_tensor_free(x);
  return td;
}

/* [function] */
/* The sum of each row. Runs on a worker: what fails there is returned, not printed. */
static td_status sum_rows(void *user, const td_map_piece *piece, td_tensordict *source,
                          td_tensordict **result) {
  float values[ROWS * COLUMNS], sums[ROWS] = {0};
  td_tensor *x = NULL, *made = NULL;
  td_status status = td_get(source, TD_KEY("x"), &x);
  (void)user;
  if (status == TD_OK)
    status = td_tensor_copy_to(x, values, (size_t)piece->length * COLUMNS * sizeof *values);
  if (status == TD_OK) {
    for (int64_t i = 0; i < piece->length * COLUMNS; i++) sums[i / COLUMNS] += values[i];
    status = td_tensor_from_data(sums, (size_t)piece->length * sizeof *sums, &piece->length, 1,
                                 TD_DTYPE_FLOAT32, &made);
  }
  if (status == TD_OK) status = td_create(&piece->length, 1, TD_DEVICE_NONE, -1, result);
  if (status == TD_OK) status = td_set(*result, TD_KEY("x"), made);
  td_tensor_free(made);
  td_tensor_free(x);
  return status;
}
/* [/function] */

/* [progress] */
static td_status tell(void *user, size_t done, size_t total) {
  (void)user;
  printf("%3d%% %d/%d\n", (int)(100 * done / total), (int)done, (int)total);
  return TD_OK; /* anything else ends the work */
}
/* [/progress] */

static void map(const td_tensordict *td) {
  /* [map] */
  td_tensordict *sums;
  td_map_options options = TD_MAP_OPTIONS_INIT;
  options.cut = TD_MAP_CUT_SIZE;
  options.amount = 2; /* rows in a piece */
  options.num_workers = 2;
  options.progress = tell;
  must(td_map(td, &options, sum_rows, NULL, &sums));
  show("sums", sums);
  /* [/map] */
  td_free(sums);
}

static void iterate(const td_tensordict *td) {
  /* [iterate] */
  td_map_iter *pieces;
  td_tensordict *sums;
  td_map_options options = TD_MAP_OPTIONS_INIT;
  options.cut = TD_MAP_CUT_SIZE;
  options.amount = 4;
  options.num_workers = 2; /* they work ahead of the loop */
  must(td_map_iter_create(td, &options, sum_rows, NULL, &pieces));
  must(td_map_iter_next(pieces, &sums, NULL));
  while (sums != NULL) {
    show("piece", sums);
    td_free(sums);
    must(td_map_iter_next(pieces, &sums, NULL));
  }
  td_map_iter_free(pieces); /* also before the end */
  /* [/iterate] */
}

int main(void) {
  td_tensordict *td = data();
  map(td);
  iterate(td);
  td_free(td);
  return EXIT_SUCCESS;
}
