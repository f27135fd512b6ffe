/* Calls that take a dictionary as pointer to const may run beside each other. */
#include <pthread.h>
#include <stdlib.h>

#include "td_values.h"

enum { THREADS = 4, ROUNDS = 200 };

typedef struct reader {
  const td_tensordict *td;
  int64_t sum;
  td_status status;
} reader;

static td_status share(void *user, const char *const *path, size_t path_len,
                       const td_tensor *source, td_tensor **result) {
  (void)user;
  (void)path;
  (void)path_len;
  return td_tensor_dup(source, result);
}

/* One call of each reading function. No TD_EXPECT here: it belongs to the thread of the test. */
static td_status read_once(const td_tensordict *td, int64_t *sum) {
  enum { MOST = 16 };
  td_tensordict *results[MOST] = {NULL};
  td_tensor *tensor = NULL, *part = NULL;
  td_keys *keys = NULL;
  td_status status = TD_OK;
  char text[4096];
  size_t size = 0, made = 0;
  int32_t flag = 0;
  int64_t numbers[12] = {0};
  const td_tensordict *const both[2] = {td, td};
#define TRY(call) status = status == TD_OK ? (call) : status
  TRY(td_get(td, TD_KEY("n", "b"), &tensor));
  TRY(td_tensor_copy_to(tensor, numbers, sizeof numbers));
  TRY(td_tensor_index(tensor, TD_AT(TD_I_INT(1)), &part));
  TRY(td_get_dict(td, TD_KEY("n"), &results[made++]));
  TRY(td_index(td, TD_AT(TD_I_INT(2)), &results[made++]));
  TRY(td_index(td, TD_AT(TD_I_SLICE(1, 3)), &results[made++]));
  TRY(td_view(td, TD_SIZES(12), &results[made++]));
  TRY(td_unsqueeze(td, 0, &results[made++]));
  TRY(td_expand(td, TD_SIZES(2, 4, 3), &results[made++]));
  TRY(td_clone(td, 0, &results[made++]));
  TRY(td_clone(td, TD_CLONE_SHALLOW, &results[made++]));
  TRY(td_stack(both, 2, 0, &results[made++]));
  TRY(td_cat(both, 2, 0, &results[made++]));
  TRY(td_to_dtype(td, TD_DTYPE_FLOAT64, &results[made++]));
  TRY(td_apply(td, NULL, share, NULL, &results[made++]));
  TRY(td_dup(td, &results[made++]));
  TRY(td_keys_of(td, NULL, &keys));
  TRY(td_equal(td, results[0], &flag));
  TRY(td_nbytes(td, &size));
  TRY(td_is_locked(td, &flag));
  TRY(td_to_string(td, text, sizeof text, &size));
#undef TRY
  for (size_t i = 0; i < made; i++) td_free(results[i]);
  for (size_t i = 0; i < 12; i++) *sum += numbers[i];
  td_keys_free(keys);
  td_tensor_free(part);
  td_tensor_free(tensor);
  return status;
}

static void *read_often(void *user) {
  reader *it = user;
  for (int round = 0; round < ROUNDS && it->status == TD_OK; round++)
    it->status = read_once(it->td, &it->sum);
  return NULL;
}

TD_TEST(readers_beside_each_other) {
  td_tensordict *td = td_sample();
  pthread_t threads[THREADS];
  reader readers[THREADS];
  TD_DO(td_lock(td));
  for (int i = 0; i < THREADS; i++) {
    readers[i] = (reader){td, 0, TD_OK};
    TD_CHECK(pthread_create(&threads[i], NULL, read_often, &readers[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    TD_CHECK_INT(readers[i].status, TD_OK);
    TD_CHECK_INT(readers[i].sum, ROUNDS * 66);
  }
}

static void *open_and_free(void *user) {
  td_status *status = user;
  for (int round = 0; round < 20 * ROUNDS && *status == TD_OK; round++) {
    td_tensordict *td = NULL, *again = NULL;
    *status = td_create(NULL, 0, TD_DEVICE_NONE, -1, &td);
    if (*status == TD_OK) *status = td_dup(td, &again);
    td_free(td);
    if (*status == TD_OK && td_dup(td, &td) != TD_ERR_BAD_HANDLE) *status = TD_ERR_INTERNAL;
    td_free(again);
  }
  return NULL;
}

TD_TEST(handles_are_opened_and_freed_on_all_threads) {
  pthread_t threads[THREADS];
  td_status statuses[THREADS] = {TD_OK};
  for (int i = 0; i < THREADS; i++)
    TD_CHECK(pthread_create(&threads[i], NULL, open_and_free, &statuses[i]) == 0);
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    TD_CHECK_INT(statuses[i], TD_OK);
  }
}
