/* A function of the caller over every tensor: what it may return, and how it may fail. */
#include <string.h>

#include "td_values.h"

/* What a callback is told to do, and what it saw. */
typedef struct walk {
  int calls;
  int fail_at; /* the call that fails, from 1; 0: none */
  td_status status;
  const char *message;
  const char *drop; /* the last name of entries that are dropped */
  const td_tensor *kept;
  char seen[256];
} walk;

static int fails_now(walk *it) { return ++it->calls == it->fail_at; }

static td_status share(void *user, const char *const *path, size_t path_len,
                       const td_tensor *source, td_tensor **result) {
  walk *it = user;
  for (size_t i = 0; i < path_len; i++) {
    strcat(it->seen, i == 0 ? " " : ".");
    strcat(it->seen, path[i]);
  }
  it->kept = source;
  if (fails_now(it)) {
    if (it->message != NULL) td_set_error(it->status, it->message);
    return it->status;
  }
  if (it->drop != NULL && strcmp(path[path_len - 1], it->drop) == 0) return TD_OK;
  return td_tensor_dup(source, result);
}

static td_status to_double(void *user, const char *const *path, size_t path_len,
                           const td_tensor *source, td_tensor **result) {
  (void)user;
  (void)path;
  (void)path_len;
  return td_tensor_to(source, TD_DTYPE_FLOAT64, TD_DEVICE_NONE, -1, result);
}

static td_status first_row(void *user, const char *const *path, size_t path_len,
                           const td_tensor *source, td_tensor **result) {
  (void)user;
  (void)path;
  (void)path_len;
  return td_tensor_index(source, TD_AT(TD_I_INT(0)), result);
}

TD_TEST(it_is_called_in_order_with_full_paths) {
  td_tensordict *td = td_sample(), *result = NULL;
  walk it = {0};
  td_put(td, TD_KEY("z"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  TD_DO(td_apply(td, NULL, share, &it, &result));
  TD_CHECK_SAME_TEXT(it.seen, " a n.b z");
  TD_CHECK_EQUAL(td, result);
  td_tensor *one = td_take(td, TD_KEY("n", "b")), *other = td_take(result, TD_KEY("n", "b"));
  TD_CHECK(td_same_memory(one, other)); /* it returned its argument: shared */
  td_put(result, TD_KEY("n", "new"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  td_entry_kind kind = 99;
  TD_DO(td_get_kind(td, TD_KEY("n", "new"), &kind)); /* but the dictionaries are new */
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
}

TD_TEST(results_take_the_place_of_the_source) {
  td_tensordict *td = td_sample(), *result = NULL;
  TD_DO(td_apply(td, NULL, to_double, NULL, &result));
  td_tensor *b = td_take(result, TD_KEY("n", "b"));
  td_dtype dtype = TD_DTYPE_OTHER;
  TD_DO(td_tensor_dtype(b, &dtype));
  TD_CHECK_INT(dtype, TD_DTYPE_FLOAT64);
  TD_CHECK_VALUES(b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
  TD_EXPECT_NULL(td_apply(td, NULL, first_row, NULL, &result), TD_ERR_SHAPE, result);
}

TD_TEST(codes_of_a_callback) {
  static const struct {
    td_status returned, wanted;
  } cases[] = {
      {TD_ERR_LOCKED, TD_ERR_LOCKED}, {TD_ERR_IO, TD_ERR_IO},   {-10000, -10000},
      {-2000000000, -2000000000},     {-5, TD_ERR_CALLBACK},    {-9999, TD_ERR_CALLBACK},
      {1, TD_ERR_CALLBACK},           {12345, TD_ERR_CALLBACK},
  };
  td_tensordict *td = td_sample(), *result;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (int at = 1; at <= 2; at++) {
      walk it = {0};
      it.fail_at = at;
      it.status = cases[i].returned;
      TD_EXPECT_NULL(td_apply(td, NULL, share, &it, &result), cases[i].wanted, result);
      TD_CHECK_INT(it.calls, at); /* the walk ends there */
    }
  }
}

TD_TEST(the_text_of_a_callback_stays) {
  td_tensordict *td = td_sample(), *result;
  walk it = {0};
  it.fail_at = 2;
  it.status = -12345;
  it.message = "the sensor is gone";
  TD_EXPECT_NULL(td_apply(td, NULL, share, &it, &result), -12345, result);
  TD_CHECK_TEXT(td_last_error_message(), "the sensor is gone");
  TD_CHECK_SAME_TEXT(td_last_error_function(), "td_apply");
  walk silent = {0};
  silent.fail_at = 1;
  silent.status = -12345;
  TD_EXPECT_NULL(td_apply(td, NULL, share, &silent, &result), -12345, result);
  TD_CHECK(strstr(td_last_error_message(), "sensor") == NULL); /* not that of an earlier call */
}

static td_status fail_in_the_library(void *user, const char *const *path, size_t path_len,
                                     const td_tensor *source, td_tensor **result) {
  (void)user;
  (void)path;
  (void)path_len;
  return td_tensor_index(source, TD_AT(TD_I_INT(1000)), result);
}

TD_TEST(a_failure_of_the_library_inside_travels_through) {
  td_tensordict *td = td_sample(), *result;
  TD_EXPECT_NULL(td_apply(td, NULL, fail_in_the_library, NULL, &result), TD_ERR_INDEX, result);
  TD_CHECK_TEXT(td_last_error_message(), "1000");
}

TD_TEST(a_source_kept_too_long_is_a_dead_handle) {
  td_tensordict *td = td_sample(), *result = NULL;
  td_tensor *again;
  walk it = {0};
  TD_DO(td_apply(td, NULL, share, &it, &result));
  TD_EXPECT_NULL(td_tensor_dup(it.kept, &again), TD_ERR_BAD_HANDLE, again);
}

static td_status free_the_source(void *user, const char *const *path, size_t path_len,
                                 const td_tensor *source, td_tensor **result) {
  (void)user;
  (void)path;
  (void)path_len;
  td_tensor_free((td_tensor *)(uintptr_t)source);
  *result = NULL;
  return TD_OK;
}

static td_status return_the_source(void *user, const char *const *path, size_t path_len,
                                   const td_tensor *source, td_tensor **result) {
  (void)user;
  (void)path;
  (void)path_len;
  *result = (td_tensor *)(uintptr_t)source;
  return TD_OK;
}

static td_status return_rubbish(void *user, const char *const *path, size_t path_len,
                                const td_tensor *source, td_tensor **result) {
  (void)user;
  (void)path;
  (void)path_len;
  (void)source;
  *result = TD_POISON;
  return TD_OK;
}

TD_TEST(callbacks_that_break_the_rules_do_no_harm) {
  td_tensordict *td = td_sample(), *result = NULL;
  td_status status = td_apply(td, NULL, free_the_source, NULL, &result);
  if (status == TD_OK) td_free(result);
  status = td_apply(td, NULL, return_the_source, NULL, &result);
  if (status == TD_OK) td_free(result);
  TD_EXPECT_NULL(td_apply(td, NULL, return_rubbish, NULL, &result), TD_ERR_BAD_HANDLE, result);
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
}

static td_status fail_with_a_result(void *user, const char *const *path, size_t path_len,
                                    const td_tensor *source, td_tensor **result) {
  (void)user;
  (void)path;
  (void)path_len;
  if (td_tensor_dup(source, result) != TD_OK) return TD_ERR_INTERNAL;
  return -20000;
}

TD_TEST(a_result_stored_by_a_failing_callback_is_consumed) {
  td_tensordict *td = td_sample(), *result;
  TD_EXPECT_NULL(td_apply(td, NULL, fail_with_a_result, NULL, &result), -20000, result);
}

TD_TEST(no_result_drops_the_entry) {
  td_tensordict *td = td_sample(), *result = NULL;
  td_apply_options options = TD_APPLY_OPTIONS_INIT;
  td_entry_kind kind = 99;
  td_put_dict(td, TD_KEY("empty"), td_empty(TD_SIZES(4, 3)));
  static const struct {
    td_filter_empty filter;
    td_entry_kind lost, empty;
  } cases[] = {{TD_FILTER_EMPTY_DEFAULT, TD_ENTRY_NONE, TD_ENTRY_DICT},
               {TD_FILTER_EMPTY_YES, TD_ENTRY_NONE, TD_ENTRY_NONE},
               {TD_FILTER_EMPTY_NO, TD_ENTRY_DICT, TD_ENTRY_DICT}};
  for (size_t i = 0; i < 3; i++) {
    walk it = {0};
    it.drop = "b";
    options.filter_empty = cases[i].filter;
    TD_DO(td_apply(td, &options, share, &it, &result));
    TD_DO(td_get_kind(result, TD_KEY("a"), &kind));
    TD_CHECK_INT(kind, TD_ENTRY_TENSOR);
    TD_DO(td_get_kind(result, TD_KEY("n"), &kind));
    TD_CHECK_INT(kind, cases[i].lost);
    TD_DO(td_get_kind(result, TD_KEY("empty"), &kind));
    TD_CHECK_INT(kind, cases[i].empty);
  }
  TD_DO(td_remove(td, TD_KEY("a")));
  walk it = {0};
  it.drop = "b";
  options.filter_empty = TD_FILTER_EMPTY_NO;
  TD_DO(td_apply(td, &options, share, &it, &result));
  TD_CHECK_BATCH(result, 4, 3);
  TD_CHECK_FLAG(td_is_empty, result, 1);
  TD_DO(td_apply(td, NULL, share, &it, &result)); /* "empty" is left */
  TD_DO(td_remove(td, TD_KEY("empty")));
  TD_EXPECT_NULL(td_apply(td, NULL, share, &it, &result), TD_OK, result); /* the root goes, too */
  options.filter_empty = TD_FILTER_EMPTY_YES;
  TD_EXPECT_NULL(td_apply(td, &options, share, &it, &result), TD_OK, result);
  options.filter_empty = 3;
  TD_EXPECT_NULL(td_apply(td, &options, share, &it, &result), TD_ERR_INVALID_ARGUMENT, result);
}

static td_status one_for_all(void *user, const char *const *path, size_t path_len,
                             const td_tensor *source, td_tensor **result) {
  const double one = 1;
  (void)path;
  (void)path_len;
  (void)source;
  if (fails_now(user)) return -30000;
  return td_tensor_from_data(&one, sizeof one, NULL, 0, TD_DTYPE_FLOAT64, result);
}

TD_TEST(inplace_writes_into_what_is_there) {
  td_tensordict *td = td_sample();
  walk it = {0};
  td_tensor *before = td_take(td, TD_KEY("n", "b"));
  TD_DO(td_lock(td));
  TD_DO(td_apply_inplace(td, NULL, one_for_all, &it));
  td_tensor *after = td_take(td, TD_KEY("n", "b"));
  TD_CHECK(td_same_memory(before, after));
  TD_CHECK_VALUES(before, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
  TD_CHECK_FLAG(td_is_locked, td, 1);
}

TD_TEST(a_failure_half_way_leaves_the_source_alone) {
  td_tensordict *td = td_sample();
  walk it = {0};
  it.fail_at = 2;
  TD_EXPECT(td_apply_inplace(td, NULL, one_for_all, &it), -30000);
  td_tensor *a = td_take(td, TD_KEY("a"));
  TD_CHECK_VALUES(a, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                  22, 23);
}

TD_TEST(the_lock_goes_along_when_asked) {
  td_tensordict *td = td_sample(), *result = NULL;
  td_apply_options options = TD_APPLY_OPTIONS_INIT;
  walk it = {0};
  TD_DO(td_lock(td));
  TD_DO(td_apply(td, &options, share, &it, &result));
  TD_CHECK_FLAG(td_is_locked, result, 0);
  options.propagate_lock = 1;
  TD_DO(td_apply(td, &options, share, &it, &result));
  TD_CHECK_FLAG(td_is_locked, result, 1);
}
