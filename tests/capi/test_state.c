/* State dicts, and structures as text. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "td_files.h"
#include "td_values.h"

static char *schema(const td_tensordict *td) {
  size_t length = 0;
  TD_DO(td_schema(td, NULL, 0, &length));
  char *text = malloc(length + 1);
  TD_DO(td_schema(td, text, length + 1, &length));
  TD_CHECK_INT(strlen(text), length);
  return text;
}

static void check_schema(const td_tensordict *td, const char *want) {
  char *text = schema(td);
  TD_CHECK_SAME_TEXT(text, want);
  free(text);
}

static td_tensordict *state_of(const td_tensordict *td, int32_t nested) {
  td_state_dict_options options = TD_STATE_DICT_OPTIONS_INIT;
  td_tensordict *result = NULL;
  options.nested = nested;
  TD_DO(td_state_dict(td, &options, &result));
  return result;
}

static td_status load(td_tensordict *td, const td_tensordict *state, int32_t partial,
                      int32_t assign) {
  td_load_state_dict_options options = TD_LOAD_STATE_DICT_OPTIONS_INIT;
  options.partial = partial;
  options.assign = assign;
  return td_load_state_dict(td, state, &options);
}

/* As td_sample(), with other values. */
static td_tensordict *other_sample(void) {
  td_tensordict *td = td_empty(TD_SIZES(4, 3));
  td_put(td, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 7, TD_SIZES(4, 3, 2)));
  td_put(td, TD_KEY("n", "b"), td_filled(TD_DTYPE_INT64, 8, TD_SIZES(4, 3)));
  return td;
}

TD_TEST(names_are_joined_with_dots) {
  td_tensordict *td = td_sample(), *state = state_of(td, 0);
  TD_CHECK_NO_BATCH(state);
  td_tensor *one = td_take(td, TD_KEY("n", "b")), *other = td_take(state, TD_KEY("n.b"));
  TD_CHECK(td_same_memory(one, other));
  char text[512];
  size_t length = 0;
  TD_DO(td_get_non_tensor_json(state, TD_KEY("_metadata"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text,
                     "{\"dicts\":[{\"name\":\"\",\"batch_size\":[4,3],\"device\":null},"
                     "{\"name\":\"n\",\"in\":0,\"batch_size\":[4,3],\"device\":null}]}");
  state = state_of(td, 1);
  one = td_take(state, TD_KEY("n", "b"));
}

TD_TEST(history_is_left_behind_unless_asked_for) {
  td_tensordict *td = td_empty(TD_NO_SIZES), *state = NULL;
  td_state_dict_options options = TD_STATE_DICT_OPTIONS_INIT;
  td_put(td, TD_KEY("w"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
  TD_DO(td_set_requires_grad(td, 1));
  for (int32_t keep = 0; keep <= 1; keep++) {
    options.keep_vars = keep;
    TD_DO(td_state_dict(td, &options, &state));
    td_tensor *w = td_take(state, TD_KEY("w"));
    TD_CHECK_FLAG(td_tensor_requires_grad, w, keep);
  }
  options.reserved = 1;
  TD_EXPECT_NULL(td_state_dict(td, &options, &state), TD_ERR_INVALID_ARGUMENT, state);
}

TD_TEST(names_that_join_to_the_same_are_refused) {
  td_tensordict *td = td_sample(), *state;
  td_put(td, TD_KEY("n.b"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  TD_EXPECT_NULL(td_state_dict(td, NULL, &state), TD_ERR_KEY_EXISTS, state);
  TD_CHECK_TEXT(td_last_error_message(), "n.b");
  TD_DO(td_remove(td, TD_KEY("n.b")));
  td_put(td, TD_KEY("_metadata"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  TD_EXPECT_NULL(td_state_dict(td, NULL, &state), TD_ERR_KEY_EXISTS, state);
}

/* Dictionaries are no tensors: what they are called when joined does not matter. */
TD_TEST(dictionaries_may_join_to_the_same_name) {
  for (int32_t nested = 0; nested <= 1; nested++) {
    td_tensordict *td = td_empty(TD_SIZES(2)), *inner = NULL;
    td_put(td, TD_KEY("", "x"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
    td_put(td, TD_KEY("a.b", "x"), td_filled(TD_DTYPE_FLOAT32, 2, TD_SIZES(2, 3)));
    td_put(td, TD_KEY("a", "b", "y"), td_filled(TD_DTYPE_FLOAT32, 3, TD_SIZES(2)));
    inner = td_take_dict(td, TD_KEY("a.b"));
    TD_DO(td_set_batch_size(inner, TD_SIZES(2, 3)));
    td_free(inner);
    td_tensordict *state = state_of(td, nested), *again = NULL;
    TD_DO(td_clone(td, 0, &again));
    TD_DO(td_zero(again));
    inner = td_take_dict(again, TD_KEY("a.b"));
    TD_DO(td_set_batch_size(inner, TD_SIZES(2)));
    TD_DO(load(again, state, 0, 0));
    TD_CHECK_BATCH(inner, 2, 3);
    TD_CHECK_ENTRY(again, TD_KEY("", "x"), TD_SIZES(2), TD_VALUES(1, 1));
    TD_CHECK_ENTRY(again, TD_KEY("a.b", "x"), TD_SIZES(2, 3), TD_VALUES(2, 2, 2, 2, 2, 2));
    TD_CHECK_ENTRY(again, TD_KEY("a", "b", "y"), TD_SIZES(2), TD_VALUES(3, 3));
  }
}

/* As 0.2.0 wrote it. */
TD_TEST(metadata_by_joined_names_is_read) {
  for (int32_t nested = 0; nested <= 1; nested++) {
    td_tensordict *td = td_empty(TD_SIZES(4)), *from = other_sample(), *n = NULL;
    td_put(from, TD_KEY("n", "m", "c"), td_filled(TD_DTYPE_INT8, 5, TD_SIZES(4, 3)));
    td_tensordict *state = state_of(from, nested);
    TD_DO(td_set_non_tensor_json(state, TD_KEY("_metadata"),
                                 "{\"\":{\"batch_size\":[4],\"device\":null},"
                                 "\"n\":{\"batch_size\":[4],\"device\":null},"
                                 "\"n.m\":{\"batch_size\":[4,3],\"device\":null}}"));
    TD_DO(td_clone(from, 0, &td));
    TD_DO(load(td, state, 0, 0));
    TD_CHECK_BATCH(td, 4);
    n = td_take_dict(td, TD_KEY("n"));
    TD_CHECK_BATCH(n, 4);
    n = td_take_dict(td, TD_KEY("n", "m"));
    TD_CHECK_BATCH(n, 4, 3);
    TD_DO(td_set_non_tensor_json(state, TD_KEY("_metadata"),
                                 "{\"\":{\"batch_size\":[4],\"device\":\"cpu\"}}"));
    TD_EXPECT(load(td, state, 0, 0), TD_ERR_DEVICE);
  }
}

TD_TEST(metadata_that_is_none) {
  static const char *const texts[] = {
      "3",
      "{\"\":[]}",
      "{\"\":{\"batch_size\":3}}",
      "{\"\":{\"batch_size\":[-2]}}",
      "{\"dicts\":[3]}",
      "{\"dicts\":[{\"name\":\"\"}]}",
      "{\"dicts\":[{\"batch_size\":[]},{\"batch_size\":[],\"name\":\"n\"}]}",
      "{\"dicts\":[{\"batch_size\":[]},{\"batch_size\":[],\"name\":\"n\",\"in\":1}]}",
      "{\"dicts\":[{\"batch_size\":[]},{\"batch_size\":[],\"name\":\"n\",\"in\":-1}]}",
      "{\"dicts\":[{\"batch_size\":[]},{\"batch_size\":[],\"name\":\"n\",\"in\":0},"
      "{\"batch_size\":[],\"name\":\"n\",\"in\":0}]}"};
  td_tensordict *td = td_sample(), *state = state_of(td, 0);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    TD_DO(td_set_non_tensor_json(state, TD_KEY("_metadata"), texts[i]));
    TD_EXPECT(load(td, state, 0, 0), TD_ERR_FORMAT);
  }
  TD_DO(td_set_non_tensor_json(state, TD_KEY("_metadata"), "{\"dicts\":[]}"));
  TD_DO(load(td, state, 0, 0));
}

TD_TEST(nested_keys_that_differ_are_listed) {
  td_tensordict *td = td_sample(), *from = other_sample();
  td_put(from, TD_KEY("m", "c"), td_filled(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  td_put(from, TD_KEY("n", "d"), td_filled(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  td_put(td, TD_KEY("k", "e"), td_filled(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  td_tensordict *state = state_of(from, 1);
  TD_EXPECT(load(td, state, 0, 0), TD_ERR_KEY_NOT_FOUND);
  TD_CHECK_TEXT(td_last_error_message(), "lacks \"k\"/\"e\",");
  TD_CHECK_TEXT(td_last_error_message(), "in addition \"n\"/\"d\", \"m\"/\"c\"");
  TD_DO(load(td, state, 1, 0));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8));
}

TD_TEST(values_are_loaded_into_the_tensors_that_are_there) {
  for (int32_t nested = 0; nested <= 1; nested++) {
    td_tensordict *td = td_sample(), *from = other_sample(), *state = state_of(from, nested);
    td_tensor *b = td_take(td, TD_KEY("n", "b"));
    TD_DO(td_lock(td));
    TD_DO(load(td, state, 0, 0));
    TD_CHECK_VALUES(b, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8); /* the very tensor */
    TD_EXPECT(load(td, state, 0, 1), TD_ERR_LOCKED);
    TD_DO(td_unlock(td));
    TD_DO(load(td, state, 0, 1));
    td_tensor *one = td_take(td, TD_KEY("n", "b")), *two = td_take(from, TD_KEY("n", "b"));
    TD_CHECK(td_same_memory(one, two));
  }
}

TD_TEST(keys_that_differ_are_listed) {
  td_tensordict *td = td_sample(), *from = other_sample(), *state = state_of(from, 0);
  TD_DO(td_remove(state, TD_KEY("n.b")));
  td_put(state, TD_KEY("new"), td_filled(TD_DTYPE_INT8, 0, TD_SIZES(4, 3)));
  TD_EXPECT(load(td, state, 0, 0), TD_ERR_KEY_NOT_FOUND);
  TD_CHECK_TEXT(td_last_error_message(), "lacks \"n\"/\"b\"");
  TD_CHECK_TEXT(td_last_error_message(), "in addition \"new\"");
  td_tensor *a = td_take(td, TD_KEY("a"));
  double first[24];
  for (int i = 0; i < 24; i++) first[i] = i;
  td_check_values(__FILE__, __LINE__, a, first, 24); /* nothing was loaded */
  TD_DO(load(td, state, 1, 0));                      /* what both have */
  for (int i = 0; i < 24; i++) first[i] = 7;
  td_check_values(__FILE__, __LINE__, a, first, 24);
  td_entry_kind kind = 99;
  TD_DO(td_get_kind(td, TD_KEY("new"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
}

TD_TEST(empty_dictionaries_are_no_keys) {
  td_tensordict *td = td_sample(), *from = other_sample(), *state = state_of(from, 0);
  td_put_dict(td, TD_KEY("empty"), td_empty(TD_SIZES(4, 3)));
  TD_DO(load(td, state, 0, 0));
}

TD_TEST(batch_sizes_follow_the_metadata) {
  td_tensordict *td = td_sample(), *from = other_sample(), *state = NULL;
  TD_DO(td_set_batch_size(td, TD_SIZES(4)));
  state = state_of(from, 0);
  TD_DO(load(td, state, 0, 0));
  TD_CHECK_BATCH(td, 4, 3);
  /* One that the tensors do not fit. */
  td_tensordict *wide = td_empty(TD_SIZES(5));
  td_put(wide, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(5, 1, 1)));
  state = state_of(wide, 0);
  TD_DO(td_remove(td, TD_KEY("n")));
  TD_EXPECT(load(td, state, 0, 0), TD_ERR_SHAPE);
  TD_CHECK_BATCH(td, 4, 3);
  TD_DO(load(td, state, 0, 1)); /* but their own do */
  TD_CHECK_BATCH(td, 5);
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(5, 1, 1), TD_VALUES(1, 1, 1, 1, 1));
}

TD_TEST(states_that_do_not_fit_leave_all_as_it_is) {
  td_tensordict *td = td_sample(), *from = other_sample(), *state = NULL, *moved = NULL;
  td_put(from, TD_KEY("n", "b"), td_filled(TD_DTYPE_INT64, 8, TD_SIZES(4, 3, 2)));
  state = state_of(from, 0);
  TD_EXPECT(load(td, state, 0, 0), TD_ERR_SHAPE);
  from = other_sample();
  TD_DO(td_to_device(from, TD_DEVICE_CPU, -1, NULL, &moved));
  state = state_of(moved, 0);
  TD_EXPECT(load(td, state, 0, 0), TD_ERR_DEVICE);
  state = td_empty(TD_NO_SIZES); /* no metadata: names and tensors are enough */
  td_put(state, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(4, 3, 2)));
  td_put(state, TD_KEY("n.b"), td_filled(TD_DTYPE_INT64, 2, TD_SIZES(4, 3)));
  td_load_state_dict_options options = TD_LOAD_STATE_DICT_OPTIONS_INIT;
  options.form = TD_STATE_NESTED;
  TD_EXPECT(td_load_state_dict(td, state, &options), TD_ERR_KEY_NOT_FOUND);
  options.form = 3;
  TD_EXPECT(td_load_state_dict(td, state, &options), TD_ERR_INVALID_ARGUMENT);
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  options.form = TD_STATE_FLAT;
  TD_DO(td_load_state_dict(td, state, &options));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2));
}

TD_TEST(a_state_can_lie_in_a_folder) {
  td_tensordict *td = td_sample(), *from = other_sample(), *state = state_of(from, 0);
  td_tensordict *saved = NULL, *loaded = NULL;
  TD_DO(td_memmap(state, td_test_folder(), NULL, &saved));
  TD_DO(td_memmap_load(td_test_folder(), NULL, &loaded));
  TD_DO(load(td, loaded, 0, 0));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8));
}

TD_TEST(structures_are_described) {
  td_tensordict *td = td_sample(), *moved = NULL;
  check_schema(td,
               "{\"batch_size\": [4, 3], \"entries\": {\"a\": {\"dtype\": \"torch.float32\", "
               "\"shape\": [4, 3, 2], \"device\": \"cpu\"}, \"n\": {\"batch_size\": [4, 3], "
               "\"entries\": {\"b\": {\"dtype\": \"torch.int64\", \"shape\": [4, 3], \"device\": "
               "\"cpu\"}}}}}");
  TD_DO(td_to_device(td, TD_DEVICE_CPU, -1, NULL, &moved));
  TD_DO(td_remove(moved, TD_KEY("n", "b")));
  check_schema(moved,
               "{\"batch_size\": [4, 3], \"device\": \"cpu\", \"entries\": {\"a\": {\"dtype\": "
               "\"torch.float32\", \"shape\": [4, 3, 2]}, \"n\": {\"batch_size\": [4, 3], "
               "\"device\": \"cpu\", \"entries\": {}}}}");
  char small[8];
  size_t length = 0;
  TD_EXPECT(td_schema(td, small, sizeof small, &length), TD_ERR_BUFFER_TOO_SMALL);
  TD_CHECK(length > 8);
}

TD_TEST(what_is_made_has_the_same_structure) {
  td_tensordict *td = NULL, *again = NULL;
  td_load_options load_options = TD_LOAD_OPTIONS_INIT;
  load_options.private_mapping = 1;
  TD_DO(td_memmap_load(td_golden("nontensor"), &load_options, &td));
  char *text = schema(td);
  TD_DO(td_from_schema(text, NULL, &again));
  check_schema(again, text);
  free(text);
  td_free(again);
  td_free(td);
  td = td_sample();
  text = schema(td);
  td_schema_options options = TD_SCHEMA_OPTIONS_INIT;
  TD_DO(td_from_schema(text, &options, &again));
  TD_CHECK_ENTRY(again, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
  options.content = TD_SCHEMA_UNINITIALIZED;
  options.device_type = TD_DEVICE_CPU;
  TD_DO(td_from_schema(text, &options, &again));
  td_device_type kind = 99;
  int32_t index = 0;
  TD_DO(td_device(again, &kind, &index));
  TD_CHECK_INT(kind, TD_DEVICE_CPU);
  TD_CHECK_BATCH(again, 4, 3);
  td_free(again);
  options.content = TD_SCHEMA_META;
  options.device_type = TD_DEVICE_NONE;
  TD_DO(td_from_schema(text, &options, &again));
  td_tensor *a = td_take(again, TD_KEY("a"));
  TD_DO(td_tensor_device(a, &kind, &index));
  TD_CHECK_INT(kind, TD_DEVICE_META);
  td_tensor_free(a);
  td_free(again);
  options.content = 3;
  TD_EXPECT_NULL(td_from_schema(text, &options, &again), TD_ERR_INVALID_ARGUMENT, again);
  free(text);
}

TD_TEST(a_folder_is_made_of_a_text) {
  td_schema_options options = TD_SCHEMA_OPTIONS_INIT;
  td_tensordict *meta = NULL, *mapped = NULL;
  options.content = TD_SCHEMA_META;
  TD_DO(
      td_from_schema("{\"batch_size\": [2], \"entries\": {\"n\": {\"entries\": {\"x\": {\"dtype\": "
                     "\"torch.int32\", \"shape\": [2, 2]}}}}}",
                     &options, &meta));
  TD_DO(td_memmap_like(meta, td_test_folder(), NULL, &mapped));
  TD_CHECK_ENTRY(mapped, TD_KEY("n", "x"), TD_SIZES(2, 2), TD_VALUES(0, 0, 0, 0));
}

TD_TEST(texts_that_describe_nothing) {
  static const struct {
    const char *text;
    td_status status;
  } cases[] = {
      {"", TD_ERR_FORMAT},
      {"{", TD_ERR_FORMAT},
      {"[]", TD_ERR_FORMAT},
      {"{}", TD_ERR_FORMAT},
      {"{\"entries\": []}", TD_ERR_FORMAT},
      {"{\"entries\": {}, \"bach_size\": []}", TD_ERR_FORMAT},
      {"{\"entries\": {\"a\": 1}}", TD_ERR_FORMAT},
      {"{\"entries\": {\"a\": {}}}", TD_ERR_FORMAT},
      {"{\"entries\": {\"a\": {\"dtype\": \"torch.int8\"}}}", TD_ERR_FORMAT},
      {"{\"entries\": {\"a\": {\"dtype\": \"int\", \"shape\": []}}}", TD_ERR_FORMAT},
      {"{\"entries\": {\"a\": {\"dtype\": 5, \"shape\": []}}}", TD_ERR_FORMAT},
      {"{\"entries\": {\"a\": {\"dtype\": \"torch.int8\", \"shape\": [-2]}}}", TD_ERR_FORMAT},
      {"{\"entries\": {\"a\": {\"dtype\": \"torch.int8\", \"shape\": [1.5]}}}", TD_ERR_FORMAT},
      {"{\"entries\": {\"a\": {\"dtype\": \"torch.int8\", \"shape\": [1], \"x\": 1}}}",
       TD_ERR_FORMAT},
      {"{\"entries\": {\"a\": {\"dtype\": \"torch.int8\", \"shape\": [], \"device\": \"tea\"}}}",
       TD_ERR_FORMAT},
      {"{\"entries\": {\"a\": {\"dtype\": \"torch.int8\", \"shape\": [], \"device\": "
       "\"cpu:300\"}}}",
       TD_ERR_DEVICE},
      {"{\"entries\": {}, \"device\": \"cuda:300\"}", TD_ERR_DEVICE},
      {"{\"entries\": {}, \"device\": \"cuda:99999999999999999999\"}", TD_ERR_DEVICE},
      {"{\"entries\": {}, \"device\": \"cpu:\"}", TD_ERR_FORMAT},
      {"{\"entries\": {}, \"device\": \"cpu:x\"}", TD_ERR_FORMAT},
      {"{\"batch_size\": [2], \"entries\": {\"a\": {\"dtype\": \"torch.int8\", \"shape\": [3]}}}",
       TD_ERR_SHAPE},
      {"{\"batch_size\": [2], \"entries\": {\"n\": {\"batch_size\": [3], \"entries\": {}}}}",
       TD_ERR_SHAPE},
      {"{\"batch_size\": [2], \"names\": [], \"entries\": {}}", TD_ERR_FORMAT},
      {"{\"entries\": {\"a\": {\"dtype\": \"torch.float64\", \"shape\": [4611686018427387904]}}}",
       TD_ERR_SHAPE},
      {"{\"entries\": {\"s\": {\"value\": 1, \"dtype\": \"torch.int8\"}}}", TD_ERR_FORMAT},
      {"{\"batch_size\": [2], \"entries\": {\"s\": {\"values\": [1]}}}", TD_ERR_SHAPE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    td_tensordict *result = TD_POISON;
    td_status status = td_from_schema(cases[i].text, NULL, &result);
    if (status != cases[i].status)
      td_test_fail(__FILE__, __LINE__, "%s: %s, not %s: %s", cases[i].text, td_status_name(status),
                   td_status_name(cases[i].status), td_last_error_message());
    TD_CHECK(result == NULL);
  }
}

TD_TEST(structures_may_be_deep) {
  enum { depth = 10000 };
  td_tensordict *td = td_empty(TD_SIZES(2)), *again = NULL;
  const char *path[depth + 1];
  for (int i = 0; i <= depth; i++) path[i] = "n";
  td_put(td, path, depth + 1, td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2)));
  char *text = schema(td);
  TD_DO(td_from_schema(text, NULL, &again));
  td_tensor *leaf = td_take(again, path, depth + 1);
  TD_CHECK_VALUES(leaf, 0, 0);
  /* A value that deep is refused. */
  const size_t open = 5000;
  char *value = malloc(64 + 2 * open);
  strcpy(value, "{\"entries\": {\"v\": {\"value\": ");
  const size_t start = strlen(value);
  memset(value + start, '[', open);
  memset(value + start + open, ']', open);
  strcpy(value + start + 2 * open, "}}}");
  TD_EXPECT_NULL(td_from_schema(value, NULL, &again), TD_ERR_FORMAT, again);
  free(value);
  free(text);
}

/* The least time of a few, to save and load the state of a dictionary of this depth. With `leaves`, each level
   has a tensor. */
static double seconds_for(int depth, int32_t nested, int leaves) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_tensor *leaf = td_arange(TD_DTYPE_INT8, 0, TD_SIZES(2));
  TD_DO(td_set(td, TD_KEY("x"), leaf));
  for (int i = 0; i < depth; i++) {
    td_tensordict *outer = td_empty(TD_SIZES(2));
    if (leaves) TD_DO(td_set(outer, TD_KEY("x"), leaf));
    td_put_dict(outer, TD_KEY("n"), td);
    td = outer;
  }
  td_tensor_free(leaf);
  double least = 1e9;
  for (int i = 0; i < 5; i++) {
    struct timespec start, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
    td_tensordict *state = state_of(td, nested);
    TD_DO(load(td, state, 0, 1));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    td_free(state);
    const double seconds =
        (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    if (seconds < least) least = seconds;
  }
  return least;
}

TD_TEST(states_may_be_deep) {
  for (int form = 0; form < 3; form++) { /* flat, nested, nested with many tensors */
    const double once = seconds_for(5000, form != 0, form == 2);
    const double more = seconds_for(40000, form != 0, form == 2);
    /* 8 times as much, and not 64 times; caches may make it three times slower */
    if (more > 32 * once)
      td_test_fail(__FILE__, __LINE__, "form %d: %g s, and %g s at 8 times the depth", form, once,
                   more);
  }
}

/* A value for the whole dictionary follows the batch size that the state brings; one for each element cannot. */
TD_TEST(values_follow_the_batch_size_of_the_state) {
  td_tensordict *td = td_empty(TD_SIZES(2, 3)), *wide = td_empty(TD_SIZES(3, 2)), *state = NULL;
  td_tensordict *copy = NULL;
  td_load_state_dict_options options = TD_LOAD_STATE_DICT_OPTIONS_INIT;
  options.assign = 1;
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 3)));
  td_put(wide, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(3, 2)));
  TD_DO(td_set_text(td, TD_KEY("name"), "both"));
  TD_DO(td_state_dict(wide, NULL, &state));
  TD_DO(td_load_state_dict(td, state, &options));
  TD_DO(td_clone(td, 0, &copy));
  TD_CHECK_BATCH(copy, 3, 2);
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("each"), "[[1, 2], [3, 4], [5, 6]]"));
  td_put(wide, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(3, 2)));
  TD_DO(td_state_dict(copy, NULL, &state));
  TD_DO(td_load_state_dict(td, state, &options));
  td_tensordict *narrow = td_empty(TD_SIZES(2, 3));
  td_put(narrow, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 3)));
  TD_DO(td_state_dict(narrow, NULL, &state));
  TD_EXPECT(td_load_state_dict(td, state, &options), TD_ERR_SHAPE);
  TD_CHECK_BATCH(td, 3, 2);
}
