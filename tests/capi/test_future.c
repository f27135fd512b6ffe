/* Saving while the caller goes on: waiting, results, failures, and what may change meanwhile. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "td_files.h"
#include "td_process.h"
#include "td_values.h"

static td_future *start(const td_tensordict *td, const char *name) {
  td_future *future = NULL;
  TD_DO(td_memmap_async(td, td_here(name), NULL, &future));
  return future;
}

static void check_saved(const char *name, const td_tensordict *want) {
  td_tensordict *loaded = NULL;
  TD_DO(td_memmap_load(td_here(name), NULL, &loaded));
  TD_CHECK_EQUAL(loaded, want);
}

/* A tensor that takes a moment. */
static td_tensor *big(void) {
  const size_t bytes = (size_t)16 << 20;
  char *memory = calloc(bytes, 1);
  td_tensor *tensor = NULL;
  TD_DO(td_tensor_from_data(memory, bytes, TD_SIZES(2, 8 << 20), TD_DTYPE_INT8, &tensor));
  free(memory);
  return tensor;
}

TD_TEST(a_result_is_that_of_memmap) {
  td_tensordict *td = td_sample(), *one = NULL, *other = NULL;
  td_future *future = start(td, "m");
  int32_t done = 99;
  TD_DO(td_future_wait(future, 60000, &done));
  TD_CHECK_INT(done, 1);
  TD_DO(td_future_wait(future, 0, &done));
  TD_CHECK_INT(done, 1);
  size_t count = 0, total = 0;
  TD_DO(td_future_progress(future, &count, &total));
  TD_CHECK_INT(count, total);
  TD_CHECK_INT(total, 2);
  TD_DO(td_future_result(future, &one));
  TD_DO(td_future_result(future, &other));
  td_future_free(future);
  TD_CHECK(td_is_same_dict(one, other));
  TD_CHECK_FLAG(td_is_memmap, one, 1);
  TD_CHECK_FLAG(td_is_locked, one, 1);
  TD_CHECK_FLAG(td_is_locked, td, 0);
  TD_CHECK_EQUAL(one, td);
  check_saved("m", td);
}

TD_TEST(what_is_saved_is_what_was_there) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *want, *n;
  td_put(td, TD_KEY("big"), big());
  td_put(td, TD_KEY("n", "x"), td_arange(TD_DTYPE_INT8, 5, TD_SIZES(2)));
  TD_DO(td_clone(td, TD_CLONE_SHALLOW, &want));
  td_future *future = start(td, "m");
  n = td_take_dict(td, TD_KEY("n"));
  td_put(n, TD_KEY("late"), td_arange(TD_DTYPE_INT8, 5, TD_SIZES(2)));
  td_put(n, TD_KEY("x"), td_arange(TD_DTYPE_INT8, 50, TD_SIZES(2)));
  TD_DO(td_remove(td, TD_KEY("big")));
  td_free(n);
  td_free(td);
  td_future_free(future); /* waits */
  check_saved("m", want);
}

TD_TEST(failures_are_those_of_memmap) {
  td_tensordict *td = td_sample(), *result;
  int32_t done = 99;
  td_write_text(td_here("file"), "x");
  td_future *future = start(td, "file/m");
  TD_DO(td_future_wait(future, -1, &done));
  TD_CHECK_INT(done, 1);
  for (int i = 0; i < 2; i++) {
    TD_EXPECT_NULL(td_future_result(future, &result), TD_ERR_IO, result);
    TD_CHECK_TEXT(td_last_error_message(), "file");
  }
  td_future_free(future);
  td_put(td, TD_KEY("shape"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  future = start(td, "m");
  TD_EXPECT_NULL(td_future_result(future, &result), TD_ERR_KEY_INVALID, result);
  TD_CHECK_TEXT(td_last_error_message(), "shape");
  TD_CHECK(!td_exists(td_here("m")));
  td_future_free(future);
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  options.struct_size = 1;
  TD_EXPECT_NULL(td_memmap_async(td, td_here("m"), &options, &future), TD_ERR_INVALID_ARGUMENT,
                 future);
}

static void *wait_for(void *future) {
  td_tensordict *result = NULL;
  int32_t done = 0;
  const td_status status = td_future_wait(future, -1, &done);
  if (status == TD_OK && done == 1 && td_future_result(future, &result) == TD_OK) {
    td_free(result);
    return future;
  }
  return NULL;
}

TD_TEST(several_threads_wait) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("big"), big());
  td_future *futures[8];
  pthread_t threads[16];
  for (int i = 0; i < 8; i++) {
    char name[8] = {'m', (char)('0' + i), 0};
    futures[i] = start(td, name);
  }
  for (int i = 0; i < 16; i++)
    TD_CHECK(pthread_create(&threads[i], NULL, wait_for, futures[i / 2]) == 0);
  for (int i = 0; i < 16; i++) {
    void *answer = NULL;
    pthread_join(threads[i], &answer);
    TD_CHECK(answer == futures[i / 2]);
  }
}

/* A process that ends while it saves: the folder is there, whole, and nothing crashes. */
TD_TEST(child_ends_at_once) {
  const char *folder = td_role();
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("big"), big());
  td_future *future = NULL;
  TD_DO(td_memmap_async(td, folder, NULL, &future));
  exit(0);
}

TD_TEST(a_process_that_ends_has_saved) {
  for (int i = 0; i < 5; i++) {
    char name[8] = {'m', (char)('0' + i), 0};
    TD_CHECK(td_join(td_spawn("child_ends_at_once", td_here(name))));
    td_tensordict *td = NULL;
    TD_DO(td_memmap_load(td_here(name), NULL, &td));
    TD_CHECK_BATCH(td, 2);
  }
}
