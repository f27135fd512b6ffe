/* 64 environments, one writer: a row is a step of all of them, and the folder is [steps, environments]. */
#include <inttypes.h>

#include "../c/must.h"

enum { ENVIRONMENTS = 64, STEPS = 100 };

/* Your vectorised simulator: it keeps what it shows in arrays, one element for each environment. */
static float observation[ENVIRONMENTS][4], reward[ENVIRONMENTS];
static unsigned char done[ENVIRONMENTS];
static void step_all(int step) {
  for (int i = 0; i < ENVIRONMENTS; i++) {
    for (int k = 0; k < 4; k++) observation[i][k] = (float)(step + k);
    reward[i] = (float)i;
    done[i] = step % (10 + i) == 0;
  }
}

int main(void) {
  /* [record] */
  td_tensordict *like;
  td_writer *writer;
  int32_t to_observation, to_reward, to_done;
  must(td_create(TD_SIZES(1, ENVIRONMENTS), TD_DEVICE_NONE, -1, &like));
  must(td_set_data(like, TD_KEY("observation"), observation, sizeof observation,
                   TD_SIZES(1, ENVIRONMENTS, 4), TD_DTYPE_FLOAT32));
  must(td_set_data(like, TD_KEY("next", "reward"), reward, sizeof reward, TD_SIZES(1, ENVIRONMENTS),
                   TD_DTYPE_FLOAT32));
  must(td_set_data(like, TD_KEY("next", "done"), done, sizeof done, TD_SIZES(1, ENVIRONMENTS),
                   TD_DTYPE_BOOL));
  must(td_writer_open_append("rollout", like, NULL, &writer));
  must(td_writer_bind(writer, TD_KEY("observation"), &to_observation));
  must(td_writer_bind(writer, TD_KEY("next", "reward"), &to_reward));
  must(td_writer_bind(writer, TD_KEY("next", "done"), &to_done));
  for (int step = 0; step < STEPS; step++) {
    step_all(step);
    must(td_writer_put(writer, to_observation, observation, sizeof observation));
    must(td_writer_put(writer, to_reward, reward, sizeof reward));
    must(td_writer_put(writer, to_done, done, sizeof done));
    must(td_writer_next(writer)); /* one row: 64 environments */
  }
  must(td_writer_close(writer));
  /* [/record] */
  td_tensordict *all, *one;
  int64_t sizes[2];
  float last;
  size_t dims;
  must(td_memmap_load("rollout", NULL, &all));
  must(td_batch_size(all, sizes, 2, &dims));
  must(td_index(all, (const td_index_item[]){TD_I_INT(-1), TD_I_INT(7)}, 2, &one));
  must(td_get_data(one, TD_KEY("next", "reward"), TD_DTYPE_FLOAT32, &last, sizeof last));
  printf("[%" PRId64 ", %" PRId64 "], environment 7 ends with %g\n", sizes[0], sizes[1],
         (double)last);
  td_free(one);
  td_free(all);
  td_writer_free(writer);
  td_free(like);
  return EXIT_SUCCESS;
}
