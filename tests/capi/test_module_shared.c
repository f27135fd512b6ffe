/* A learner in another process pushes new weights while a policy runs here: no torn set is ever used. */
#include <string.h>
#include <time.h>

#include "td_modules.h"
#include "td_process.h"

enum { PUSHES = 3000, LARGEST = 64 * 64 };

/* {"sequence": 0, "params": those of the module} in shared memory. */
static td_tensordict *shared_params(const td_module *module) {
  td_tensordict *all = td_empty(TD_NO_SIZES), *own = NULL, *copy = NULL;
  TD_DO(td_module_params(module, &own));
  TD_DO(td_clone(own, 0, &copy));
  td_free(own);
  td_put_dict(all, TD_KEY("params"), copy);
  td_put(all, TD_KEY("sequence"), td_filled(TD_DTYPE_INT64, 0, TD_NO_SIZES));
  TD_DO(td_share_memory(all));
  return all;
}

/* Where the sequence number lies. It is odd while the parameters are written. */
static int64_t *sequence_of(const td_tensordict *all) {
  void *data = NULL;
  td_tensor *tensor = td_take(all, TD_KEY("sequence"));
  TD_DO(td_tensor_data(tensor, &data));
  td_tensor_free(tensor);
  return data;
}

/* [push] */
/* The learner: an odd number, the values, an even number. */
static td_status push(td_tensordict *all, int64_t *sequence, double value) {
  const int64_t before = __atomic_load_n(sequence, __ATOMIC_RELAXED);
  const td_operand number = TD_O_DOUBLE(value); /* a real one writes by td_update() */
  __atomic_store_n(sequence, before + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  const td_status status = td_fill(all, TD_KEY("params"), &number);
  __atomic_store_n(sequence, before + 2, __ATOMIC_RELEASE);
  return status;
}
/* [/push] */

/* [take] */
/* The engine: copies the parameters, and uses them if the number is even and has not changed meanwhile. */
static td_status take(td_module *policy, const td_tensordict *shared, const int64_t *sequence,
                      td_tensordict **set, int *taken) {
  const int64_t before = __atomic_load_n(sequence, __ATOMIC_ACQUIRE);
  *set = NULL;
  *taken = 0;
  if (before % 2 != 0) return TD_OK; /* later */
  td_status status = td_clone(shared, 0, set);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (status != TD_OK || __atomic_load_n(sequence, __ATOMIC_RELAXED) != before) return status;
  status = td_module_set_params(policy, NULL, *set);
  *taken = status == TD_OK;
  return status;
}
/* [/take] */

/* Every value of a set is the same number. */
static void check_whole(const td_tensordict *set) {
  static const char *const layers[] = {"0", "2", "4"}, *const names[] = {"weight", "bias"};
  static float values[LARGEST];
  float first = 0;
  for (int i = 0; i < 6; i++) {
    size_t bytes = 0;
    td_tensor *tensor = td_take(set, TD_KEY(layers[i / 2], names[i % 2]));
    TD_DO(td_tensor_nbytes(tensor, &bytes));
    TD_DO(td_tensor_copy_to(tensor, values, bytes));
    if (i == 0) first = values[0];
    for (size_t k = 0; k < bytes / sizeof *values; k++) TD_CHECK(values[k] == first);
    td_tensor_free(tensor);
  }
}

TD_TEST(learner) {
  td_tensordict *all = NULL;
  TD_DO(td_shared_open(td_role(), &all));
  int64_t *sequence = sequence_of(all);
  const struct timespec pause = {0, 50000};
  for (int i = 0; i < PUSHES; i++) {
    TD_DO(push(all, sequence, 0.01 * (i % 9 + 1)));
    if (i % 16 == 0) nanosleep(&pause, NULL);
  }
}

TD_TEST(new_weights_while_the_policy_runs) {
  td_module *policy = td_loaded_module("mlp.pt");
  td_tensordict *all = shared_params(policy), *shared = td_take_dict(all, TD_KEY("params"));
  td_tensordict *td = td_observations(2);
  const int64_t *sequence = sequence_of(all);
  char name[128];
  size_t length = 0;
  int sets = 0;
  const struct timespec pause = {0, 1000000};
  TD_DO(td_shared_name(all, name, sizeof name, &length));
  const int process = td_spawn("learner", name);
  for (int i = 0; i < 100000 && __atomic_load_n(sequence, __ATOMIC_ACQUIRE) < 2; i++)
    nanosleep(&pause, NULL);
  for (int64_t at = 0; at < 2 * PUSHES;) {
    td_tensordict *set = NULL;
    int taken = 0;
    at = __atomic_load_n(sequence, __ATOMIC_ACQUIRE);
    TD_DO(take(policy, shared, sequence, &set, &taken));
    if (taken) check_whole(set);
    sets += taken;
    td_free(set);
    TD_DO(td_module_call_inplace(td, policy, NULL));
  }
  TD_CHECK(td_join(process));
  TD_CHECK(sets > 0);
}
