/* A learner pushes weights while the engine runs; the engine never uses a set that is half written. */
#include <sys/wait.h>
#include <unistd.h>

#include "../c/must.h"

enum { PUSHES = 1000 };

static int64_t *sequence_of(const td_tensordict *shared) {
  td_tensor *tensor;
  void *data;
  must(td_get(shared, TD_KEY("sequence"), &tensor));
  must(td_tensor_data(tensor, &data)); /* lives as long as the dictionary */
  td_tensor_free(tensor);
  return data;
}

/* [push] */
static void learn(td_tensordict *shared) {
  int64_t *sequence = sequence_of(shared);
  for (int push = 1; push <= PUSHES; push++) {
    const td_operand value = TD_O_DOUBLE(push);        /* a real learner calls td_update() */
    __atomic_fetch_add(sequence, 1, __ATOMIC_SEQ_CST); /* odd: do not read */
    must(td_fill(shared, TD_KEY("params"), &value));
    __atomic_fetch_add(sequence, 1, __ATOMIC_SEQ_CST);
  }
}
/* [/push] */

/* [take] */
static int take(const td_tensordict *shared, float w[64], float b[8]) {
  const int64_t *sequence = sequence_of(shared);
  const int64_t before = __atomic_load_n(sequence, __ATOMIC_SEQ_CST);
  if (before % 2 != 0) return 0; /* in the next frame */
  must(td_get_data(shared, TD_KEY("params", "w"), TD_DTYPE_FLOAT32, w, 64 * sizeof *w));
  must(td_get_data(shared, TD_KEY("params", "b"), TD_DTYPE_FLOAT32, b, 8 * sizeof *b));
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  return __atomic_load_n(sequence, __ATOMIC_RELAXED) == before;
}
/* [/take] */

int main(void) {
  td_tensordict *shared;
  float w[64] = {0}, b[8] = {0}, last = 0, torn = 0;
  must(td_create(NULL, 0, TD_DEVICE_NONE, -1, &shared));
  must(td_set_data(shared, TD_KEY("params", "w"), w, sizeof w, TD_SIZES(8, 8), TD_DTYPE_FLOAT32));
  must(td_set_data(shared, TD_KEY("params", "b"), b, sizeof b, TD_SIZES(8), TD_DTYPE_FLOAT32));
  must(td_set_data(shared, TD_KEY("sequence"), (int64_t[]){0}, 8, NULL, 0, TD_DTYPE_INT64));
  must(td_share_memory(shared)); /* or a folder: td_memmap_inplace */
  const pid_t learner = fork();
  if (learner == 0) {
    learn(shared);
    _exit(EXIT_SUCCESS);
  }
  while (last < PUSHES) /* frames of the engine */
    if (take(shared, w, b)) torn += w[0] != b[7] || w[63] != b[0], last = b[0];
  printf("the last of %d pushes arrived, %d torn\n", (int)last, (int)torn);
  td_free(shared);
  return waitpid(learner, NULL, 0) == learner ? EXIT_SUCCESS : EXIT_FAILURE;
}
