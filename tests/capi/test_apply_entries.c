/* A function over the entries of several dictionaries, and what the result is made to look like. */
#include <string.h>

#include "td_values.h"

/* What a callback is told to do, and what it saw. */
typedef struct walk {
  int calls, missing, dicts;
  td_status status;
  int tensor_for_dict, dict_for_tensor, both;
  char seen[256];
} walk;

/* The sum of all sources, as float64; of dictionaries the first one. */
static td_status sum(void *user, const td_apply_entry *entry, td_tensor **tensor,
                     td_tensordict **dict) {
  walk *it = user;
  double total[64] = {0};
  int64_t sizes[8];
  size_t dims = 0, count = 0;
  it->calls++;
  for (size_t i = 0; i < entry->path_len; i++) {
    strcat(it->seen, i == 0 ? " " : ".");
    strcat(it->seen, entry->path[i]);
  }
  if (it->status != TD_OK) return it->status;
  if (entry->kind == TD_ENTRY_DICT) {
    it->dicts++;
    TD_CHECK(entry->tensors == NULL);
    for (size_t k = 0; k < entry->sources_len; k++) it->missing += entry->dicts[k] == NULL;
    return td_dup(entry->dicts[0], dict);
  }
  TD_CHECK(entry->dicts == NULL);
  for (size_t k = 0; k < entry->sources_len; k++) {
    td_tensor *wide = NULL;
    double values[64];
    if (entry->tensors[k] == NULL) {
      it->missing++;
      continue;
    }
    TD_DO(td_tensor_to(entry->tensors[k], TD_DTYPE_FLOAT64, TD_DEVICE_NONE, -1, &wide));
    TD_DO(td_tensor_sizes(entry->tensors[k], sizes, 8, &dims));
    for (size_t i = count = 1; i <= dims; i++) count *= (size_t)sizes[i - 1];
    TD_CHECK(count <= 64);
    TD_DO(td_tensor_copy_to(wide, values, count * sizeof *values));
    for (size_t i = 0; i < count; i++) total[i] += values[i];
    td_tensor_free(wide);
  }
  TD_DO(td_tensor_sizes(entry->tensors[0], sizes, 8, &dims));
  return td_tensor_from_data(total, count * sizeof *total, sizes, dims, TD_DTYPE_FLOAT64, tensor);
}

/* {"a": int64 [2] from `first`, "n": {"b": int64 [2,2] from `first`}} of batch [2]. */
static td_tensordict *small(int64_t first) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(2)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, first, TD_SIZES(2, 2)));
  return td;
}

TD_TEST(others_stand_beside_by_key) {
  td_tensordict *td = small(0), *ten = small(10), *hundred = small(100), *result = NULL;
  const td_tensordict *const others[] = {ten, hundred};
  td_put(ten, TD_KEY("only"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  walk it = {0};
  TD_DO(td_apply_entries(td, others, 2, NULL, sum, &it, &result));
  TD_CHECK_SAME_TEXT(it.seen, " a n.b");
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2), TD_VALUES(110, 113));
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(2, 2), TD_VALUES(110, 113, 116, 119));
  td_entry_kind kind = 99;
  TD_DO(td_get_kind(result, TD_KEY("only"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
  it.seen[0] = '\0';
  TD_DO(td_apply_entries(td, NULL, 0, NULL, sum, &it, &result)); /* none is fine, too */
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2), TD_VALUES(0, 1));
  TD_EXPECT_NULL(td_apply_entries(td, NULL, 1, NULL, sum, &it, &result), TD_ERR_NULL_ARGUMENT,
                 result);
}

TD_TEST(what_others_lack) {
  td_tensordict *td = small(0), *other = small(10), *result = NULL;
  td_apply_options options = TD_APPLY_OPTIONS_INIT;
  const td_tensordict *const others[] = {other};
  walk it = {0};
  TD_DO(td_remove(other, TD_KEY("n", "b")));
  TD_EXPECT_NULL(td_apply_entries(td, others, 1, NULL, sum, &it, &result), TD_ERR_KEY_NOT_FOUND,
                 result);
  TD_CHECK_TEXT(td_last_error_message(), "\"n\"");
  options.fill_missing = 1;
  it = (walk){0};
  TD_DO(td_apply_entries(td, others, 1, &options, sum, &it, &result));
  TD_CHECK_INT(it.missing, 1);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2), TD_VALUES(10, 12));
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(2, 2), TD_VALUES(0, 1, 2, 3));
  TD_DO(td_remove(other, TD_KEY("n"))); /* a missing dictionary is as an empty one */
  td_tensor *five = td_filled(TD_DTYPE_INT64, 5, TD_SIZES(2, 2));
  options.default_value = five;
  it = (walk){0};
  TD_DO(td_apply_entries(td, others, 1, &options, sum, &it, &result));
  TD_CHECK_INT(it.missing, 0);
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(2, 2), TD_VALUES(5, 6, 7, 8));
  td_tensor_free(five);
  TD_EXPECT_NULL(td_apply_entries(td, others, 1, &options, sum, &it, &result), TD_ERR_BAD_HANDLE,
                 result);
  options.default_value = NULL;
  td_put(other, TD_KEY("n"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  TD_EXPECT_NULL(td_apply_entries(td, others, 1, &options, sum, &it, &result), TD_ERR_WRONG_ENTRY,
                 result);
}

TD_TEST(dictionaries_as_they_are) {
  td_tensordict *td = small(0), *other = small(10), *result = NULL;
  td_apply_options options = TD_APPLY_OPTIONS_INIT;
  const td_tensordict *const others[] = {other};
  walk it = {0};
  options.call_on_nested = 1;
  TD_DO(td_apply_entries(td, others, 1, &options, sum, &it, &result));
  TD_CHECK_SAME_TEXT(it.seen, " a n");
  TD_CHECK_INT(it.dicts, 1);
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2), TD_VALUES(10, 12));
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(2, 2), TD_VALUES(0, 1, 2, 3));
  TD_DO(td_remove(other, TD_KEY("n")));
  TD_EXPECT_NULL(td_apply_entries(td, others, 1, &options, sum, &it, &result), TD_ERR_KEY_NOT_FOUND,
                 result);
  options.fill_missing = 1;
  it = (walk){0};
  TD_DO(td_apply_entries(td, others, 1, &options, sum, &it, &result));
  TD_CHECK_INT(it.missing, 1);
}

static td_status swap(void *user, const td_apply_entry *entry, td_tensor **tensor,
                      td_tensordict **dict) {
  const walk *it = user;
  if (it->both || entry->kind == TD_ENTRY_TENSOR) {
    td_tensordict *made = small(7);
    *dict = made;
  }
  if (it->both || entry->kind == TD_ENTRY_DICT) *tensor = td_arange(TD_DTYPE_INT16, 0, TD_SIZES(2));
  return it->status;
}

TD_TEST(tensors_and_dictionaries_change_places) {
  td_tensordict *td = small(0), *result = NULL;
  td_apply_options options = TD_APPLY_OPTIONS_INIT;
  walk it = {0};
  options.call_on_nested = 1;
  TD_DO(td_apply_entries(td, NULL, 0, &options, swap, &it, &result));
  TD_CHECK_ENTRY(result, TD_KEY("a", "n", "b"), TD_SIZES(2, 2), TD_VALUES(7, 8, 9, 10));
  TD_CHECK_ENTRY(result, TD_KEY("n"), TD_SIZES(2), TD_VALUES(0, 1));
  TD_EXPECT(td_apply_entries_inplace(td, NULL, 0, &options, swap, &it), TD_ERR_WRONG_ENTRY);
  it.both = 1;
  TD_EXPECT_NULL(td_apply_entries(td, NULL, 0, &options, swap, &it, &result),
                 TD_ERR_INVALID_ARGUMENT, result);
  it.status = -20000; /* what a failing callback leaves behind is consumed */
  TD_EXPECT_NULL(td_apply_entries(td, NULL, 0, &options, swap, &it, &result), -20000, result);
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(0, 1));
}

TD_TEST(in_place_with_others) {
  td_tensordict *td = small(0), *other = small(10);
  td_apply_options options = TD_APPLY_OPTIONS_INIT;
  const td_tensordict *const others[] = {other};
  walk it = {0};
  td_tensor *before = td_take(td, TD_KEY("n", "b"));
  TD_DO(td_lock(td));
  TD_DO(td_apply_entries_inplace(td, others, 1, &options, sum, &it));
  TD_CHECK_VALUES(before, 10, 12, 14, 16); /* still int64 */
  options.call_on_nested = 1;              /* a dictionary is written into the one that is there */
  TD_DO(td_apply_entries_inplace(td, others, 1, &options, sum, &it));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(20, 23));
}

TD_TEST(a_batch_size_and_names_for_the_result) {
  td_tensordict *td = td_sample(), *result = NULL;
  td_apply_options options = TD_APPLY_OPTIONS_INIT;
  const int64_t batch[] = {4};
  const char *const names[] = {"time", NULL};
  walk it = {0};
  options.has_batch_size = 1;
  options.batch_size = batch;
  options.batch_dims = 1;
  TD_DO(td_apply_entries(td, NULL, 0, &options, sum, &it, &result));
  TD_CHECK_BATCH(result, 4);
  td_tensordict *inner = td_take_dict(result, TD_KEY("n"));
  TD_CHECK_BATCH(inner, 4); /* the same for all */
  options.batch_dims = 0;
  TD_DO(td_apply_entries(td, NULL, 0, &options, sum, &it, &result));
  TD_CHECK_NO_BATCH(result);
  const int64_t wrong[] = {4, 4};
  options.batch_size = wrong;
  options.batch_dims = 2;
  TD_EXPECT_NULL(td_apply_entries(td, NULL, 0, &options, sum, &it, &result), TD_ERR_SHAPE, result);
  options.batch_size = NULL;
  TD_EXPECT_NULL(td_apply_entries(td, NULL, 0, &options, sum, &it, &result), TD_ERR_NULL_ARGUMENT,
                 result);
  options.has_batch_size = 0;
  options.names = names;
  options.names_len = 2;
  TD_DO(td_apply_entries(td, NULL, 0, &options, sum, &it, &result));
  options.names_len = 1;
  TD_EXPECT_NULL(td_apply_entries(td, NULL, 0, &options, sum, &it, &result),
                 TD_ERR_INVALID_ARGUMENT, result);
  options.names = NULL;
  TD_EXPECT_NULL(td_apply_entries(td, NULL, 0, &options, sum, &it, &result), TD_ERR_NULL_ARGUMENT,
                 result);
}

TD_TEST(a_device_for_the_result) {
  td_tensordict *td = td_sample(), *result = NULL;
  td_apply_options options = TD_APPLY_OPTIONS_INIT;
  walk it = {0};
  options.device_type = TD_DEVICE_META;
  TD_DO(td_apply_entries(td, NULL, 0, &options, sum, &it, &result));
  td_tensor *a = td_take(result, TD_KEY("a"));
  td_device_type type = TD_DEVICE_NONE;
  int32_t index = 0;
  TD_DO(td_tensor_device(a, &type, &index));
  TD_CHECK_INT(type, TD_DEVICE_META);
  TD_DO(td_device(result, &type, &index));
  TD_CHECK_INT(type, TD_DEVICE_META);
  options.device_type = 12345;
  TD_EXPECT_NULL(td_apply_entries(td, NULL, 0, &options, sum, &it, &result), TD_ERR_DEVICE, result);
}

TD_TEST(results_into_a_dictionary_that_is_there) {
  td_tensordict *td = small(0), *out = small(50), *result = NULL;
  td_apply_options options = TD_APPLY_OPTIONS_INIT;
  const int64_t batch[] = {2, 2};
  walk it = {0};
  td_put(out, TD_KEY("kept"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  TD_DO(td_remove(out, TD_KEY("a")));
  td_tensordict *inner = td_take_dict(out, TD_KEY("n"));
  options.out = out;
  TD_DO(td_apply_entries(td, NULL, 0, &options, sum, &it, &result));
  TD_CHECK_ENTRY(out, TD_KEY("a"), TD_SIZES(2), TD_VALUES(0, 1));
  TD_CHECK_ENTRY(out, TD_KEY("kept"), TD_SIZES(2), TD_VALUES(0, 1));
  TD_CHECK_ENTRY(inner, TD_KEY("b"), TD_SIZES(2, 2),
                 TD_VALUES(0, 1, 2, 3)); /* the same dictionary */
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2), TD_VALUES(0, 1));

  it.status = -20000;
  TD_EXPECT_NULL(td_apply_entries(td, NULL, 0, &options, sum, &it, &result), -20000, result);
  it.status = TD_OK;
  options.has_batch_size = 1; /* must be that of `out` */
  options.batch_size = batch;
  options.batch_dims = 2;
  TD_EXPECT_NULL(td_apply_entries(td, NULL, 0, &options, sum, &it, &result), TD_ERR_SHAPE, result);
  options.batch_dims = 1;
  TD_DO(td_apply_entries(td, NULL, 0, &options, sum, &it, &result));
  options.device_type = TD_DEVICE_META;
  TD_EXPECT_NULL(td_apply_entries(td, NULL, 0, &options, sum, &it, &result), TD_ERR_DEVICE, result);
  options.device_type = TD_DEVICE_NONE;
  TD_EXPECT(td_apply_entries_inplace(td, NULL, 0, &options, sum, &it), TD_ERR_INVALID_ARGUMENT);
  TD_DO(td_lock(out));
  TD_EXPECT_NULL(td_apply_entries(td, NULL, 0, &options, sum, &it, &result), TD_ERR_LOCKED, result);
  td_free(out);
  TD_EXPECT_NULL(td_apply_entries(td, NULL, 0, &options, sum, &it, &result), TD_ERR_BAD_HANDLE,
                 result);
}

/* The names of a lazy stack belong to what is read out on the way. */
TD_TEST(results_of_a_lazy_stack_into_a_dictionary) {
  td_tensordict *elements[] = {td_empty(TD_SIZES(2)), td_empty(TD_SIZES(2))}, *lazy = NULL;
  td_tensordict *out = td_empty(TD_SIZES(2, 2)), *result = NULL;
  td_apply_options options = TD_APPLY_OPTIONS_INIT;
  walk it = {0};
  for (int i = 0; i < 2; i++) {
    td_put(elements[i], TD_KEY("a name too long to lie in a string itself"),
           td_arange(TD_DTYPE_INT64, 2 * i, TD_SIZES(2)));
    td_put(elements[i], TD_KEY("n", "another name that is as long as the first"),
           td_arange(TD_DTYPE_INT64, 2 * i, TD_SIZES(2)));
  }
  TD_DO(td_lazy_stack((const td_tensordict *const *)elements, 2, 0, &lazy));
  options.out = out;
  TD_DO(td_apply_entries(lazy, NULL, 0, &options, sum, &it, &result));
  TD_CHECK_ENTRY(out, TD_KEY("a name too long to lie in a string itself"), TD_SIZES(2, 2),
                 TD_VALUES(0, 1, 2, 3));
  TD_CHECK_ENTRY(out, TD_KEY("n", "another name that is as long as the first"), TD_SIZES(2, 2),
                 TD_VALUES(0, 1, 2, 3));
}

static td_status share(void *user, const char *const *path, size_t path_len,
                       const td_tensor *source, td_tensor **result) {
  (void)user;
  (void)path;
  (void)path_len;
  return td_tensor_dup(source, result);
}

TD_TEST(options_of_the_first_release_are_enough) {
  td_tensordict *td = td_sample(), *result = NULL;
  struct {
    uint32_t struct_size;
    td_filter_empty filter_empty;
    int32_t propagate_lock;
  } old = {12, 0, 1};
  TD_DO(td_lock(td));
  TD_DO(td_apply(td, (const td_apply_options *)(const void *)&old, share, NULL, &result));
  TD_CHECK_FLAG(td_is_locked, result, 1);
  td_apply_options options = TD_APPLY_OPTIONS_INIT;
  options.call_on_nested = 1; /* for a function that takes tensors */
  TD_EXPECT_NULL(td_apply(td, &options, share, NULL, &result), TD_ERR_INVALID_ARGUMENT, result);
}

/* Frees what it was lent, changes what it walks. */
static td_status wreck(void *user, const td_apply_entry *entry, td_tensor **tensor,
                       td_tensordict **dict) {
  td_tensordict **td = user;
  (void)dict;
  for (size_t k = 0; k < entry->sources_len; k++)
    td_tensor_free((td_tensor *)(uintptr_t)entry->tensors[k]);
  if (*td != NULL) {
    TD_DO(td_remove(*td, TD_KEY("n")));
    td_put(*td, TD_KEY("new"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
    td_free(*td);
    *td = NULL;
  }
  *tensor = td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2));
  return TD_OK;
}

TD_TEST(callbacks_that_break_the_rules_do_no_harm) {
  td_tensordict *td = small(0), *other = small(10), *result = NULL;
  const td_tensordict *const others[] = {other};
  TD_DO(td_apply_entries(td, others, 1, NULL, wreck, &td, &result)); /* frees `td` */
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(2), TD_VALUES(0, 1));
}
