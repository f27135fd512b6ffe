/* A plugin as an engine loads it: it links the library, the host does not. */
#include "plugin.h"

#include <stdio.h>
#include <string.h>

#include "tensordict/td.h"

#if defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif

#define MUST(condition) \
  if (!(condition)) return __LINE__

static td_status share(void *user, const char *const *path, size_t path_len,
                       const td_tensor *source, td_tensor **result) {
  (void)user;
  (void)path;
  (void)path_len;
  return td_tensor_dup(source, result);
}

static void ignore(void *user, int32_t level, const char *message) {
  (void)user;
  (void)level;
  (void)message;
}

static int make(td_tensordict **td) {
  static const float numbers[6] = {0, 1, 2, 3, 4, 5};
  td_tensor *tensor = NULL;
  MUST(td_supports_abi(TD_ABI_VERSION) == 1);
  MUST(td_create((const int64_t[]){3}, 1, TD_DEVICE_NONE, -1, td) == TD_OK);
  MUST(td_tensor_from_data(numbers, sizeof numbers, (const int64_t[]){3, 2}, 2, TD_DTYPE_FLOAT32,
                           &tensor) == TD_OK);
  MUST(td_set(*td, TD_KEY("agent", "observation"), tensor) == TD_OK);
  td_tensor_free(tensor);
  return 0;
}

EXPORT int plugin_work(const char *folder) {
  td_tensordict *td = NULL, *row = NULL, *copy = NULL, *saved = NULL;
  td_tensor *tensor = NULL;
  const td_index_item last[] = {TD_I_INT(-1)}, beyond[] = {TD_I_INT(3)};
  const int made = make(&td);
  float numbers[2] = {0, 0};
  MUST(made == 0);
  MUST(td_index(td, last, 1, &row) == TD_OK);
  MUST(td_get(row, TD_KEY("agent", "observation"), &tensor) == TD_OK);
  MUST(td_tensor_copy_to(tensor, numbers, sizeof numbers) == TD_OK);
  MUST(numbers[0] == 4 && numbers[1] == 5);
  MUST(td_apply(td, NULL, share, NULL, &copy) == TD_OK);
  td_tensor_free(tensor);
  td_free(row);
  MUST(td_index(td, beyond, 1, &row) == TD_ERR_INDEX);
  MUST(td_last_error_code() == TD_ERR_INDEX);
  MUST(strcmp(td_last_error_function(), "td_index") == 0);
  if (folder != NULL) {
    MUST(td_memmap(td, folder, NULL, &saved) == TD_OK);
    td_free(saved);
  }
  td_free(copy);
  td_free(td);
  td_free(td);
  return 0;
}

EXPORT int plugin_leave_open(const char *folder) {
  td_tensordict *td = NULL, *saved = NULL;
  td_keys *keys = NULL;
  td_writer *writer = NULL;
  const int made = make(&td);
  MUST(made == 0);
  MUST(td_keys_of(td, NULL, &keys) == TD_OK);
  MUST(td_memmap(td, folder, NULL, &saved) == TD_OK);
  MUST(td_writer_open(saved, NULL, &writer) == TD_OK);
  td_set_log(ignore, NULL, NULL);
  MUST(td_debug_live_handles() == 4);
  return 0;
}
