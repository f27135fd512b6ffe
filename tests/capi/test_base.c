/* Version, status names, the error slot, the log, and the count of handles. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "td_values.h"

TD_TEST(version_is_that_of_the_header) {
  char text[32];
  snprintf(text, sizeof text, "%d.%d.%d", TD_VERSION_MAJOR, TD_VERSION_MINOR, TD_VERSION_PATCH);
  TD_CHECK_SAME_TEXT(td_version(), text);
  TD_CHECK_INT(td_abi_version(), TD_ABI_VERSION);
  TD_CHECK_INT(td_supports_abi(TD_ABI_VERSION), 1);
  TD_CHECK_INT(td_supports_abi(TD_ABI_VERSION + 1), 0);
  TD_CHECK_INT(td_supports_abi(0), 0);
  TD_CHECK_INT(td_supports_abi(-1), 0);
}

TD_TEST(torch_version_is_a_number) {
  int major = 0, minor = 0;
  TD_CHECK_INT(sscanf(td_torch_version(), "%d.%d.", &major, &minor), 2);
  TD_CHECK(major > 1 || (major == 1 && minor >= 13));
}

TD_TEST(every_status_has_its_name) {
#define NAME(code) TD_CHECK_SAME_TEXT(td_status_name(code), #code)
  NAME(TD_OK);
  NAME(TD_ERR_NULL_ARGUMENT);
  NAME(TD_ERR_BAD_HANDLE);
  NAME(TD_ERR_INVALID_ARGUMENT);
  NAME(TD_ERR_BUFFER_TOO_SMALL);
  NAME(TD_ERR_KEY_NOT_FOUND);
  NAME(TD_ERR_KEY_INVALID);
  NAME(TD_ERR_KEY_EXISTS);
  NAME(TD_ERR_WRONG_ENTRY);
  NAME(TD_ERR_LOCKED);
  NAME(TD_ERR_CYCLE);
  NAME(TD_ERR_SHAPE);
  NAME(TD_ERR_INDEX);
  NAME(TD_ERR_DTYPE);
  NAME(TD_ERR_DEVICE);
  NAME(TD_ERR_IO);
  NAME(TD_ERR_FORMAT);
  NAME(TD_ERR_OUT_OF_MEMORY);
  NAME(TD_ERR_DEVICE_OUT_OF_MEMORY);
  NAME(TD_ERR_CAPACITY);
  NAME(TD_ERR_UNSUPPORTED);
  NAME(TD_ERR_VERSION);
  NAME(TD_ERR_CALLBACK);
  NAME(TD_ERR_TORCH);
  NAME(TD_ERR_INTERNAL);
#undef NAME
  TD_CHECK_SAME_TEXT(td_status_name(1), "TD_ERR_UNKNOWN");
  TD_CHECK_SAME_TEXT(td_status_name(-5), "TD_ERR_UNKNOWN");
  TD_CHECK_SAME_TEXT(td_status_name(-10000), "TD_ERR_UNKNOWN");
}

TD_TEST(a_failure_leaves_code_function_and_text) {
  td_tensordict *td = td_sample();
  td_tensor *tensor;
  TD_EXPECT_NULL(td_get(td, TD_KEY("nope"), &tensor), TD_ERR_KEY_NOT_FOUND, tensor);
  TD_CHECK_INT(td_last_error_code(), TD_ERR_KEY_NOT_FOUND);
  TD_CHECK_SAME_TEXT(td_last_error_function(), "td_get");
  TD_CHECK_TEXT(td_last_error_message(), "nope");
}

TD_TEST(success_getters_and_free_leave_the_error_alone) {
  td_tensordict *td = td_sample();
  td_tensor *tensor;
  TD_EXPECT_NULL(td_get(td, TD_KEY("nope"), &tensor), TD_ERR_KEY_NOT_FOUND, tensor);
  char message[1024];
  snprintf(message, sizeof message, "%s", td_last_error_message());

  TD_DO(td_get(td, TD_KEY("a"), &tensor));
  td_tensor_free(tensor);
  td_tensor_free(tensor); /* a second time: ignored */
  TD_CHECK_INT(td_keys_len(NULL), 0);
  td_free(td);
  td_free(td);
  td_free(NULL);
  td_keys_free(NULL);
  td_writer_free(NULL);

  TD_CHECK_INT(td_last_error_code(), TD_ERR_KEY_NOT_FOUND);
  TD_CHECK_SAME_TEXT(td_last_error_function(), "td_get");
  TD_CHECK_SAME_TEXT(td_last_error_message(), message);
}

static void *look_at_fresh_thread(void *user) {
  int *good = user;
  td_tensor *tensor = NULL;
  *good = td_last_error_code() == TD_OK && td_last_error_message()[0] == '\0' &&
          td_last_error_function()[0] == '\0';
  *good = *good && td_tensor_dup(NULL, &tensor) == TD_ERR_NULL_ARGUMENT;
  *good = *good && strcmp(td_last_error_function(), "td_tensor_dup") == 0;
  return NULL;
}

TD_TEST(each_thread_has_its_own_error) {
  td_keys *keys;
  pthread_t thread;
  int good = 0;
  TD_EXPECT_NULL(td_keys_of(NULL, NULL, &keys), TD_ERR_NULL_ARGUMENT, keys);
  TD_CHECK(pthread_create(&thread, NULL, look_at_fresh_thread, &good) == 0);
  pthread_join(thread, NULL);
  TD_CHECK(good);
  TD_CHECK_SAME_TEXT(td_last_error_function(), "td_keys_of");
}

TD_TEST(set_error_keeps_text_and_is_no_format) {
  td_set_error(-10001, "100 %s %n of it");
  TD_CHECK_INT(td_last_error_code(), -10001);
  TD_CHECK_SAME_TEXT(td_last_error_message(), "100 %s %n of it");
  td_set_error(TD_ERR_IO, NULL);
  TD_CHECK_INT(td_last_error_code(), TD_ERR_IO);
  TD_CHECK_SAME_TEXT(td_last_error_message(), "");
}

TD_TEST(long_texts_are_cut_between_characters) {
  char text[4096];
  size_t used = 1;
  text[0] = 'x'; /* so that the two-byte characters begin at odd places */
  for (; used + 2 < sizeof text; used += 2) memcpy(text + used, "\303\274", 2);
  text[used] = '\0';
  td_set_error(TD_ERR_IO, text);
  const char *kept = td_last_error_message();
  const size_t length = strlen(kept);
  TD_CHECK(length >= 900 && length < 1100);
  const size_t cut = (length - 1) / 2 * 2 + 1; /* where the last whole character ends */
  TD_CHECK(memcmp(kept, text, cut) == 0);
  TD_CHECK((unsigned char)kept[cut] < 0x80);
}

TD_TEST(long_names_do_not_break_the_text) {
  td_tensordict *td = td_sample();
  td_tensor *tensor;
  char name[5000];
  for (size_t i = 0; i + 2 < sizeof name; i += 2) memcpy(name + i, "\303\274", 3);
  TD_EXPECT_NULL(td_get(td, TD_KEY(name), &tensor), TD_ERR_KEY_NOT_FOUND, tensor);
  const char *text = td_last_error_message();
  TD_CHECK(strlen(text) < 1024);
  for (; *text != '\0'; text++) /* no character is cut in two */
    if (*text == '\303') TD_CHECK(*++text == '\274');
}

TD_TEST(many_handles_at_once) {
  enum { COUNT = 100000 };
  static td_tensor *shared[COUNT];
  td_tensor *tensor = td_arange(TD_DTYPE_INT8, 0, TD_SIZES(1));
  const int64_t before = td_debug_live_handles();
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < COUNT; i++) TD_DO(td_tensor_dup(tensor, &shared[i]));
    TD_CHECK_INT(td_debug_live_handles(), before + COUNT);
    for (int i = 0; i < COUNT; i++) td_tensor_free(shared[i]);
    TD_CHECK_INT(td_debug_live_handles(), before);
  }
  int32_t flag = 0;
  td_tensor *again = NULL;
  TD_DO(td_tensor_dup(tensor, &again)); /* a new handle in an old place */
  for (int i = 0; i < COUNT; i++)
    TD_CHECK(td_tensor_is_contiguous(shared[i], &flag) == TD_ERR_BAD_HANDLE);
}

TD_TEST(live_handles_are_counted) {
  const int64_t before = td_debug_live_handles();
  td_tensordict *td = td_sample(), *again = NULL;
  td_tensor *tensor = td_take(td, TD_KEY("a"));
  TD_CHECK_INT(td_debug_live_handles(), before + 2);
  TD_DO(td_dup(td, &again));
  TD_CHECK_INT(td_debug_live_handles(), before + 3);
  TD_FREE(td, td_free);
  TD_CHECK(td == NULL);
  td_free(again);
  td_free(again);
  td_tensor_free(tensor);
  TD_CHECK_INT(td_debug_live_handles(), before);
}

static void count_release(void *user) { ++*(int *)user; }

static void ignore_log(void *user, int32_t level, const char *message) {
  (void)user;
  (void)level;
  (void)message;
}

TD_TEST(a_log_is_released_when_another_takes_its_place) {
  int first = 0, second = 0;
  td_set_log(ignore_log, &first, count_release);
  TD_CHECK_INT(first, 0);
  td_set_log(ignore_log, &second, count_release);
  TD_CHECK_INT(first, 1);
  TD_CHECK_INT(second, 0);
  td_set_log(NULL, NULL, NULL);
  TD_CHECK_INT(first, 1);
  TD_CHECK_INT(second, 1);
}

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t change;
  int inside, go_on, released, lines, released_inside;
} log_state;

static void release_log(void *user) {
  log_state *it = user;
  pthread_mutex_lock(&it->lock);
  it->released++;
  pthread_mutex_unlock(&it->lock);
}

static void take_away_log(void *user, int32_t level, const char *message) {
  log_state *it = user;
  (void)level;
  (void)message;
  td_set_log(NULL, NULL, NULL);
  it->lines++;
  it->released_inside += it->released;
}

static void wait_in_log(void *user, int32_t level, const char *message) {
  log_state *it = user;
  (void)level;
  (void)message;
  pthread_mutex_lock(&it->lock);
  it->inside = 1;
  pthread_cond_broadcast(&it->change);
  while (!it->go_on) pthread_cond_wait(&it->change, &it->lock);
  it->released_inside += it->released;
  pthread_mutex_unlock(&it->lock);
}

/* libtorch says where it failed. */
static void *log_a_line(void *user) {
  td_tensordict *td = td_empty(TD_NO_SIZES), *result = NULL;
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3)));
  const td_call_argument self[] = {TD_ARG_DICT(NULL, td)};
  size_t count = 0;
  if (td_call(td, "aten::mm", self, 1, NULL, &result, 1, &count) == TD_OK) td_free(result);
  td_free(td);
  return user;
}

TD_TEST(a_log_is_released_behind_its_last_line) {
  log_state it = {.lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};
  td_set_log(take_away_log, &it, release_log);
  log_a_line(NULL);
  TD_CHECK_INT(it.lines, 1);
  TD_CHECK_INT(it.released_inside, 0);
  TD_CHECK_INT(it.released, 1);

  pthread_t thread;
  it.released = 0;
  td_set_log(wait_in_log, &it, release_log);
  TD_CHECK(pthread_create(&thread, NULL, log_a_line, NULL) == 0);
  pthread_mutex_lock(&it.lock);
  while (!it.inside) pthread_cond_wait(&it.change, &it.lock);
  pthread_mutex_unlock(&it.lock);
  td_set_log(NULL, NULL, NULL);
  pthread_mutex_lock(&it.lock);
  TD_CHECK_INT(it.released, 0);
  it.go_on = 1;
  pthread_cond_broadcast(&it.change);
  pthread_mutex_unlock(&it.lock);
  TD_CHECK(pthread_join(thread, NULL) == 0);
  TD_CHECK_INT(it.released_inside, 0);
  TD_CHECK_INT(it.released, 1);
}

TD_TEST(release_set_flag_sets_its_flag) {
  int32_t flag = 0;
  td_release_set_flag(&flag);
  TD_CHECK_INT(flag, 1);
  td_release_set_flag(NULL);
  TD_CHECK(td_release_flag_fn() == td_release_set_flag);
}

TD_TEST(options_say_their_size) {
  td_tensordict *td = td_sample();
  td_keys *keys = NULL;
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  options.struct_size = 0;
  TD_EXPECT_NULL(td_keys_of(td, &options, &keys), TD_ERR_INVALID_ARGUMENT, keys);
  options.struct_size = 3;
  TD_EXPECT_NULL(td_keys_of(td, &options, &keys), TD_ERR_INVALID_ARGUMENT, keys);

  struct {
    td_keys_options known;
    int32_t later[4];
  } grown = {TD_KEYS_OPTIONS_INIT, {0, 0, 0, 0}};
  grown.known.struct_size = (uint32_t)sizeof grown;
  TD_DO(td_keys_of(td, &grown.known, &keys));
  TD_CHECK_INT(td_keys_len(keys), 2);
  grown.later[3] = 1;
  TD_EXPECT_NULL(td_keys_of(td, &grown.known, &keys), TD_ERR_UNSUPPORTED, keys);
}
