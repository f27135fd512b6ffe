/* Takes the weights that learner.py pushes: actor MODULE FOLDER SETS
 *
 * FOLDER holds "params", as TensorDict.from_module() names them, and "sequence", a number that is odd while they are
 * written. Every parameter of a set has one value, so a torn set is seen. Ends when it has used SETS different ones.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tensordict/td.h"

static void must(td_status status) {
  if (status == TD_OK) return;
  fprintf(stderr, "actor: %s: %s\n", td_last_error_function(), td_last_error_message());
  exit(1);
}

/* Whether all numbers of the set are the same, and which. */
static int uniform(const td_tensordict *set, float *value) {
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  td_keys *keys;
  int same = 1;
  options.include_nested = options.leaves_only = 1;
  must(td_keys_of(set, &options, &keys));
  for (size_t i = 0; i < td_keys_len(keys); i++) {
    const char *const *names;
    size_t n, bytes;
    td_tensor *tensor;
    float values[4096];
    must(td_keys_at(keys, i, &names, &n));
    must(td_get(set, names, n, &tensor));
    must(td_tensor_nbytes(tensor, &bytes));
    must(td_tensor_copy_to(tensor, values, bytes));
    if (i == 0) *value = values[0];
    for (size_t k = 0; k < bytes / sizeof *values; k++) same = same && values[k] == *value;
    td_tensor_free(tensor);
  }
  td_keys_free(keys);
  return same;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const int wanted = atoi(argv[3]);
  td_module *module;
  td_tensordict *all, *shared;
  must(td_module_load(argv[1], NULL, &module));
  must(td_memmap_load(argv[2], NULL, &all));
  must(td_get_dict(all, TD_KEY("params"), &shared));
  td_tensor *number;
  void *memory;
  must(td_get(all, TD_KEY("sequence"), &number));
  must(td_tensor_data(number, &memory));
  const int64_t *sequence = memory;
  float before = -1;
  int taken = 0, tries = 0;
  const time_t end = time(NULL) + 60;
  while (taken < wanted && time(NULL) < end) {
    const int64_t first = __atomic_load_n(sequence, __ATOMIC_ACQUIRE);
    td_tensordict *set;
    float value = 0;
    tries++;
    if (first % 2 != 0) continue;
    must(td_clone(shared, 0, &set));
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(sequence, __ATOMIC_RELAXED) == first) {
      if (!uniform(set, &value)) {
        fprintf(stderr, "actor: set %lld is torn\n", (long long)first);
        return 1;
      }
      must(td_module_set_params(module, NULL, set));
      taken += value != before;
      before = value;
    }
    td_free(set);
  }
  printf("took %d sets in %d tries\n", taken, tries);
  td_tensor_free(number);
  td_free(shared);
  td_free(all);
  td_module_free(module);
  return taken == wanted && td_debug_live_handles() == 0 ? 0 : 1;
}
