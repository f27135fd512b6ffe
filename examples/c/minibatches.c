/* Minibatches: epochs over a recording, slices of its episodes, and going on where a program stopped. */
#include <inttypes.h>

#include "must.h"

enum { EPISODES = 40, STEPS = 25, ROWS = EPISODES * STEPS };

/* {"observation": float32 [1000,3], "done": bool [1000]}: 40 episodes of 25 steps. */
static td_tensordict *recording(void) {
  static float observations[ROWS * 3];
  static unsigned char done[ROWS];
  td_tensordict *td;
  for (int i = 0; i < ROWS * 3; i++) observations[i] = (float)i;
  for (int i = STEPS - 1; i < ROWS; i += STEPS) done[i] = 1;
  must(td_create((const int64_t[]){ROWS}, 1, TD_DEVICE_NONE, -1, &td));
  must(td_set_data(td, TD_KEY("observation"), observations, sizeof observations, TD_SIZES(ROWS, 3),
                   TD_DTYPE_FLOAT32));
  must(td_set_data(td, TD_KEY("done"), done, sizeof done, TD_SIZES(ROWS), TD_DTYPE_BOOL));
  return td;
}

static int64_t first_size(const td_tensordict *td) {
  int64_t sizes[2];
  size_t dims;
  must(td_batch_size(td, sizes, 2, &dims));
  return sizes[0];
}

static void epochs(const td_tensordict *td) {
  int64_t rows = 0;
  /* [epoch] */
  td_loader_options options = TD_LOADER_OPTIONS_INIT;
  options.rows = 256;
  options.flags = TD_LOADER_SHUFFLE;
  options.num_workers = 2;
  td_loader *loader;
  must(td_loader_create(td, &options, &loader));
  for (int epoch = 0; epoch < 3; epoch++) {
    td_tensordict *batch;
    for (must(td_loader_next(loader, &batch)); batch != NULL;
         must(td_loader_next(loader, &batch))) {
      rows += first_size(batch); /* learn from it */
      td_free(batch);            /* its memory is used again */
    }
  }
  td_loader_free(loader);
  /* [/epoch] */
  printf("3 epochs of %d rows: %" PRId64 "\n", ROWS, rows);
}

static void slices(const td_tensordict *td) {
  /* [slices] */
  td_loader_options options = TD_LOADER_OPTIONS_INIT;
  const td_key done = {TD_KEY("done")};
  options.rows = 32;      /* slices */
  options.slice_len = 10; /* consecutive rows of one episode */
  options.slice_step = 5; /* they overlap by half */
  options.ends = &done;
  options.ends_len = 1;
  options.flags = TD_LOADER_SHUFFLE;
  td_loader *loader;
  td_tensordict *batch; /* of batch size [32, 10] */
  must(td_loader_create(td, &options, &loader));
  must(td_loader_next(loader, &batch));
  /* [/slices] */
  int64_t sizes[2], batches;
  size_t dims;
  must(td_batch_size(batch, sizes, 2, &dims));
  must(td_loader_where(loader, NULL, NULL, &batches));
  printf("slices: batch size [%" PRId64 ", %" PRId64 "], %" PRId64 " batches\n", sizes[0], sizes[1],
         batches);
  td_free(batch);
  td_loader_free(loader);
}

static void go_on(const td_tensordict *td) {
  td_loader_options options = TD_LOADER_OPTIONS_INIT;
  td_loader *loader, *other;
  td_tensordict *batch, *same;
  options.rows = 256;
  options.seed = 7;
  options.flags = TD_LOADER_SHUFFLE;
  must(td_loader_create(td, &options, &loader));
  must(td_loader_next(loader, &batch));
  td_free(batch);
  /* [state] */
  td_tensordict *state, *saved;
  must(td_loader_state(loader, &state));
  must(td_memmap(state, "loader", NULL, &saved));
  /* … and in another process: */
  must(td_loader_create(td, &options, &other));
  must(td_loader_load_state(other, saved));
  /* [/state] */
  must(td_loader_next(loader, &batch));
  must(td_loader_next(other, &same));
  int32_t equal;
  must(td_equal(batch, same, &equal));
  printf("the next batch is %s\n", equal ? "the same" : "another one");
  td_free(batch);
  td_free(same);
  td_free(state);
  td_free(saved);
  td_loader_free(loader);
  td_loader_free(other);
}

int main(void) {
  td_tensordict *td = recording();
  epochs(td);
  slices(td);
  go_on(td);
  td_free(td);
  return EXIT_SUCCESS;
}
