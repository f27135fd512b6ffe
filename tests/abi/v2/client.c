/* A program of version 0.2, as its author compiled it: with the headers that stand beside it, never with
 * newer ones. What it relies on must hold for as long as the ABI number is 2. Not to be changed. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "td.h"

static int failures;

#define EXPECT(condition)                                               \
  do {                                                                  \
    if (!(condition)) {                                                 \
      printf("client.c:%d: does not hold: %s\n", __LINE__, #condition); \
      failures++;                                                       \
    }                                                                   \
  } while (0)

#define MUST(call)                                                                       \
  do {                                                                                   \
    td_status status_ = (call);                                                          \
    if (status_ != TD_OK) {                                                              \
      printf("client.c:%d: %s gives %s: %s\n", __LINE__, #call, td_status_name(status_), \
             td_last_error_message());                                                   \
      exit(1);                                                                           \
    }                                                                                    \
  } while (0)

static const int64_t batch[] = {3, 4};
static const float rewards[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

static td_tensordict *make(void) {
  const int64_t sizes[] = {3, 4, 2};
  td_tensordict *td = NULL;
  td_tensor *tensor = NULL;
  MUST(td_create(batch, 2, TD_DEVICE_NONE, -1, &td));
  MUST(td_tensor_from_data(rewards, sizeof rewards, batch, 2, TD_DTYPE_FLOAT32, &tensor));
  MUST(td_set(td, TD_KEY("reward"), tensor));
  TD_FREE(tensor, td_tensor_free);
  MUST(td_tensor_zeros(sizes, 3, TD_DTYPE_INT64, TD_DEVICE_CPU, -1, &tensor));
  MUST(td_set(td, TD_KEY("agent", "obs"), tensor));
  TD_FREE(tensor, td_tensor_free);
  return td;
}

static float first_reward(const td_tensordict *td) {
  td_tensor *tensor = NULL;
  void *data = NULL;
  float value;
  MUST(td_get(td, TD_KEY("reward"), &tensor));
  MUST(td_tensor_data(tensor, &data));
  value = *(const float *)data;
  td_tensor_free(tensor);
  return value;
}

static void versions_and_numbers(void) {
  EXPECT(td_supports_abi(TD_ABI_VERSION) == 1);
  EXPECT(strcmp(td_status_name(-14), "TD_ERR_LOCKED") == 0);
  EXPECT(strcmp(td_dtype_name(TD_DTYPE_FLOAT32), "torch.float32") == 0);
  EXPECT(td_dtype_size(TD_DTYPE_COMPLEX128) == 16);
  EXPECT(td_device_available(TD_DEVICE_CPU) == 1);
}

static void dictionary(void) {
  td_tensordict *td = make(), *agent = NULL;
  td_entry_kind kind = TD_ENTRY_NONE;
  int64_t sizes[2] = {0, 0};
  size_t dims = 0, length = 0;
  char text[512];
  int32_t locked = -1;
  MUST(td_batch_size(td, sizes, 2, &dims));
  EXPECT(dims == 2 && sizes[0] == 3 && sizes[1] == 4);
  MUST(td_get_kind(td, TD_KEY("agent"), &kind));
  EXPECT(kind == TD_ENTRY_DICT);
  MUST(td_get_dict(td, TD_KEY("agent"), &agent));
  MUST(td_to_string(agent, text, sizeof text, &length));
  EXPECT(length == strlen(text) && strncmp(text, "TensorDict(", 11) == 0);
  EXPECT(td_to_string(agent, text, 5, &length) == TD_ERR_BUFFER_TOO_SMALL && length > 5);
  MUST(td_lock(td));
  MUST(td_is_locked(agent, &locked));
  EXPECT(locked == 1);
  EXPECT(td_remove(td, TD_KEY("reward")) == TD_ERR_LOCKED);
  EXPECT(td_last_error_code() == TD_ERR_LOCKED &&
         strcmp(td_last_error_function(), "td_remove") == 0);
  td_free(agent);
  td_free(td);
  EXPECT(td_lock(td) == TD_ERR_BAD_HANDLE);
}

static void keys(void) {
  td_tensordict *td = make();
  td_keys *keys = NULL;
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  const char *const *path = NULL;
  size_t path_len = 0;
  options.include_nested = 1;
  options.leaves_only = 1;
  MUST(td_keys_of(td, &options, &keys));
  EXPECT(td_keys_len(keys) == 2);
  MUST(td_keys_at(keys, 1, &path, &path_len));
  EXPECT(path_len == 2 && strcmp(path[0], "agent") == 0 && strcmp(path[1], "obs") == 0);
  td_keys_free(keys);
  td_free(td);
}

static void indexing(void) {
  td_tensordict *td = make(), *part = NULL, *again = NULL;
  td_index_item items[] = {TD_I_INT(-1), TD_I_STEP(0, 4, 2), TD_I_NONE};
  td_index_item parsed[4];
  size_t count = 0;
  int32_t equal = 0;
  MUST(td_index(td, items, 3, &part));
  EXPECT(first_reward(part) == 9.0f);
  MUST(td_index_parse("-1, 0:4:2, None", parsed, 4, &count));
  EXPECT(count == 3 && parsed[1].step == 2);
  MUST(td_index(td, parsed, count, &again));
  MUST(td_equal(part, again, &equal));
  EXPECT(equal == 1);
  td_free(again);
  td_free(part);
  td_free(td);
}

static td_status drop_integers(void *user, const char *const *path, size_t path_len,
                               const td_tensor *source, td_tensor **result) {
  td_dtype dtype = TD_DTYPE_OTHER;
  (void)path;
  *(size_t *)user += path_len;
  if (td_tensor_dtype(source, &dtype) != TD_OK) return TD_ERR_CALLBACK;
  return dtype == TD_DTYPE_FLOAT32 ? td_tensor_clone(source, result) : TD_OK;
}

static void callbacks(void) {
  td_tensordict *td = make(), *floats = NULL;
  td_apply_options options = TD_APPLY_OPTIONS_INIT;
  size_t names = 0;
  td_entry_kind kind = TD_ENTRY_TENSOR;
  options.filter_empty = TD_FILTER_EMPTY_YES;
  MUST(td_apply(td, &options, drop_integers, &names, &floats));
  EXPECT(names == 3);
  MUST(td_get_kind(floats, TD_KEY("agent"), &kind));
  EXPECT(kind == TD_ENTRY_NONE && first_reward(floats) == 1.0f);
  td_free(floats);
  td_free(td);
}

static void lent_memory(void) {
  float values[2] = {1, 2};
  const int64_t sizes[] = {2};
  int32_t released = 0;
  td_tensor *tensor = NULL, *view = NULL;
  td_index_item items[] = {TD_I_FROM(1)};
  MUST(td_tensor_from_blob(values, sizes, NULL, 1, TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, td_release_set_flag, &released, &tensor));
  MUST(td_tensor_index(tensor, items, 1, &view));
  td_tensor_free(tensor);
  EXPECT(released == 0);
  td_tensor_free(view);
  EXPECT(released == 1);
}

static void files_and_writer(const char *folder) {
  td_tensordict *td = make(), *disk = NULL, *loaded = NULL;
  td_memmap_options saving = TD_MEMMAP_OPTIONS_INIT;
  td_load_options loading = TD_LOAD_OPTIONS_INIT;
  td_writer_options writing = TD_WRITER_OPTIONS_INIT;
  td_writer *writer = NULL;
  int32_t field = -1;
  const float row = 50;
  size_t bytes = 0;
  MUST(td_memmap(td, folder, &saving, &disk));
  writing.first_row = 5;
  writing.capacity = 1;
  MUST(td_writer_open(disk, &writing, &writer));
  MUST(td_writer_bind(writer, TD_KEY("reward"), &field));
  MUST(td_writer_row_bytes(writer, field, &bytes));
  EXPECT(bytes == sizeof row);
  MUST(td_writer_put(writer, field, &row, sizeof row));
  MUST(td_writer_next(writer));
  EXPECT(td_writer_put(writer, field, &row, sizeof row) == TD_ERR_CAPACITY);
  MUST(td_writer_close(writer));
  td_writer_free(writer);
  td_free(disk);
  MUST(td_memmap_load(folder, &loading, &loaded));
  {
    td_tensordict *at = NULL;
    td_index_item items[] = {TD_I_INT(1), TD_I_INT(1)};
    MUST(td_index(loaded, items, 2, &at));
    EXPECT(first_reward(at) == 50.0f);
    td_free(at);
  }
  td_free(loaded);
  td_free(td);
}

static void shapes(void) {
  td_tensordict *td = make(), *stacked = NULL, *parts[2] = {NULL, NULL};
  const td_tensordict *sources[2];
  int64_t sizes[3] = {0, 0, 0};
  size_t dims = 0, count = 0;
  int32_t equal = 0;
  sources[0] = sources[1] = td;
  MUST(td_stack(sources, 2, 0, &stacked));
  MUST(td_batch_size(stacked, sizes, 3, &dims));
  EXPECT(dims == 3 && sizes[0] == 2 && sizes[1] == 3 && sizes[2] == 4);
  MUST(td_unbind(stacked, 0, parts, 2, &count));
  MUST(td_equal(parts[1], td, &equal));
  EXPECT(count == 2 && equal == 1);
  td_free(parts[0]);
  td_free(parts[1]);
  td_free(stacked);
  td_free(td);
}

int main(void) {
  char folder[] = "/tmp/td_abi_v2_XXXXXX", command[64];
  if (!mkdtemp(folder)) return 1;
  versions_and_numbers();
  dictionary();
  keys();
  indexing();
  callbacks();
  lent_memory();
  shapes();
  files_and_writer(folder);
  snprintf(command, sizeof command, "rm -r %s", folder);
  EXPECT(system(command) == 0);
  EXPECT(td_debug_live_handles() == 0);
  printf("client of 0.2 on %s: %s\n", td_version(), failures ? "broken" : "runs");
  return failures ? 1 : 0;
}
