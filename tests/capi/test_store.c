/* Dictionaries in a Redis server: entries, parts, others that work there too. */
#include <pthread.h>

#include "td_redis.h"
#include "td_values.h"

static td_tensor *stored(const td_store *store, const char *const *path, size_t path_len) {
  td_tensor *tensor = NULL;
  TD_DO(td_store_get(store, path, path_len, &tensor));
  return tensor;
}

/* {"a": int64 [4], "n": {"x": float32 [4, 3], "y": int16 [4, 2]}, "text", "each"} */
static td_tensordict *sample(void) {
  td_tensordict *td = td_empty(TD_SIZES(4)), *n = td_empty(TD_SIZES(4));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 10, TD_SIZES(4)));
  td_put(n, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4, 3)));
  td_put(n, TD_KEY("y"), td_arange(TD_DTYPE_INT16, 5, TD_SIZES(4, 2)));
  td_put_dict(td, TD_KEY("n"), n);
  TD_DO(td_set_non_tensor_json(td, TD_KEY("text"), "{\"k\": [1, null]}"));
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("each"), "[\"p\",\"q\",[2],null]"));
  return td;
}

static void delete (td_store *store) {
  TD_DO(td_store_delete(store));
  td_store_free(store);
}

TD_TEST(a_dictionary_goes_there_and_back) {
  td_redis();
  td_tensordict *td = sample(), *again = NULL, *n = NULL;
  td_store *store = td_redis_store(td, "whole");
  TD_DO(td_store_load(store, &again));
  TD_CHECK_BATCH(again, 4);
  TD_CHECK_EQUAL(again, td);
  TD_DO(td_store_get_dict(store, TD_KEY("n"), &n));
  TD_CHECK_BATCH(n, 4);
  TD_CHECK_ENTRY(n, TD_KEY("y"), TD_SIZES(4, 2), TD_VALUES(5, 6, 7, 8, 9, 10, 11, 12));
  char text[32];
  size_t length = 0;
  TD_DO(td_store_id(store, text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "whole");
  TD_DO(td_store_get_non_tensor_json(store, TD_KEY("text"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "{\"k\":[1,null]}");
  int64_t sizes[2] = {0, 0};
  size_t dims = 0;
  TD_DO(td_store_batch_size(store, sizes, 2, &dims));
  TD_CHECK_INT(dims, 1);
  TD_CHECK_INT(sizes[0], 4);
  td_keys *keys = NULL;
  TD_DO(td_store_keys(store, &keys));
  TD_CHECK_INT(td_keys_len(keys), 5);
  delete (store);
}

TD_TEST(dtypes_there_and_back) {
  td_redis();
  static const td_dtype dtypes[] = {TD_DTYPE_BOOL,    TD_DTYPE_UINT8,     TD_DTYPE_INT8,
                                    TD_DTYPE_INT16,   TD_DTYPE_INT32,     TD_DTYPE_INT64,
                                    TD_DTYPE_FLOAT16, TD_DTYPE_BFLOAT16,  TD_DTYPE_FLOAT32,
                                    TD_DTYPE_FLOAT64, TD_DTYPE_COMPLEX64, TD_DTYPE_COMPLEX128};
  const td_store_options options = td_redis_options("dtypes");
  td_store *store = NULL;
  TD_DO(td_store_create(TD_SIZES(2), &options, &store));
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
    for (int64_t columns = 0; columns < 4; columns += 3) {
      td_tensor *numbers = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, columns)), *put = NULL;
      TD_DO(td_tensor_to(numbers, dtypes[i], TD_DEVICE_NONE, -1, &put));
      TD_DO(td_store_set(store, TD_KEY("t"), put));
      td_tensor *got = stored(store, TD_KEY("t"));
      TD_CHECK(td_tensor_equals(got, put));
    }
  }
  delete (store);
}

TD_TEST(it_lies_there_as_python_writes_it) {
  td_redis();
  td_tensordict *td = sample();
  td_store *store = td_redis_store(td, "wire");
  const int64_t a[] = {10, 11, 12, 13};
  td_redis_check_bytes("tensordict:{wire}:d:a", a, sizeof a);
  const int16_t y[] = {5, 6, 7, 8, 9, 10, 11, 12};
  td_redis_check_bytes("tensordict:{wire}:d:n.y", y, sizeof y);
  td_redis_check_field("tensordict:{wire}:m:n.y", "shape", "[4, 2]");
  td_redis_check_field("tensordict:{wire}:m:n.y", "dtype", "torch.int16");
  td_redis_check_field("tensordict:{wire}:m:n.y", "is_non_tensor", NULL);
  td_redis_check_field("tensordict:{wire}:m:text", "is_non_tensor", "1");
  td_redis_check_field("tensordict:{wire}:m:text", "encoding", "json");
  td_redis_check_field("tensordict:{wire}:m:each", "encoding", "json_array");
  td_redis_check_bytes("tensordict:{wire}:d:each", "[\"p\", \"q\", [2], null]", 21);
  td_redis_check_bytes("tensordict:{wire}:__batch_size__", "[4]", 3);
  td_redis_check_bytes("tensordict:{wire}:__device__", "", 0);
  TD_CHECK_INT(td_redis_number("SCARD", "tensordict:{wire}:__keys__"), 5);
  delete (store);
  TD_CHECK_INT(td_redis_number("EXISTS", "tensordict:{wire}:__keys__"), 0);
  TD_CHECK_INT(td_redis_number("EXISTS", "tensordict:{wire}:d:n.y"), 0);
  TD_CHECK_INT(td_redis_number("EXISTS", "tensordict:{wire}:m:n.y"), 0);
}

TD_TEST(what_python_wrote_is_read) {
  td_redis();
  TD_REDIS("SET", "space:{py}:__batch_size__", "[2]");
  TD_REDIS("SET", "space:{py}:__device__", "cpu");
  TD_REDIS("SET", "space:{py}:d:n.b", "\1\2");
  TD_REDIS("HSET", "space:{py}:m:n.b", "shape", "[2]", "dtype", "torch.bool");
  TD_REDIS("SET", "space:{py}:d:list", "[\"x\", {\"y\": 1.5}]");
  TD_REDIS("HSET", "space:{py}:m:list", "is_non_tensor", "1", "encoding", "json_array");
  /* pickle.dumps((1, "two"), 2) */
  const char *parts[] = {"SET", "space:{py}:d:pickled", "\x80\x02K\x01X\x03\0\0\0twoq\0\x86q\x01."};
  const size_t lengths[] = {3, 20, 18};
  free(td_redis_ask(3, parts, lengths).bytes);
  TD_REDIS("HSET", "space:{py}:m:pickled", "is_non_tensor", "1", "encoding", "pickle");
  TD_REDIS("SADD", "space:{py}:__keys__", "n.b", "list", "pickled");
  td_store_options options = td_redis_options("py");
  options.prefix = "space";
  td_store *store = NULL;
  td_tensordict *td = NULL;
  TD_DO(td_store_open(&options, &store));
  TD_DO(td_store_load(store, &td));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(2), TD_VALUES(1, 1)); /* any byte but 0 is true */
  TD_CHECK_JSON(td, TD_KEY("pickled"), "[1,\"two\"]");
  char text[64];
  size_t length = 0;
  TD_DO(td_get_non_tensor_stack_json(td, TD_KEY("list"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "[\"x\", {\"y\":1.5}]");
  delete (store);
}

static void check_each(const td_tensordict *td, const char *const *path, size_t path_len,
                       const char *want) {
  char text[128];
  size_t length = 0;
  TD_DO(td_get_non_tensor_stack_json(td, path, path_len, text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, want);
}

/* Python writes a list for one batch dimension as an array, and lists in lists for several as one value; it reads both as a value
 * for each row. */
TD_TEST(a_value_for_each_row_is_read_as_python_means_it) {
  td_redis();
  TD_REDIS("SET", "tensordict:{rows}:__batch_size__", "[2]");
  static const char *const values[][3] = {{"array", "json_array", "[\"a\", \"b\"]"},
                                          {"fits", "json", "[\"a\", [\"b\", 1]]"},
                                          {"long", "json", "[\"a\", \"b\", \"c\"]"},
                                          {"text", "json", "\"ab\""},
                                          {"none", "json", "[]"}};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    char data[64], meta[64];
    snprintf(data, sizeof data, "tensordict:{rows}:d:n.%s", values[i][0]);
    snprintf(meta, sizeof meta, "tensordict:{rows}:m:n.%s", values[i][0]);
    TD_REDIS("SET", data, values[i][2]);
    TD_REDIS("HSET", meta, "is_non_tensor", "1", "encoding", values[i][1]);
    TD_REDIS("SADD", "tensordict:{rows}:__keys__", data + sizeof "tensordict:{rows}:d:" - 1);
  }
  td_store *store = td_redis_opened("rows");
  td_tensordict *td = NULL, *row = NULL;
  const td_index_item last = TD_I_INT(-1), both = TD_I_STEP(0, 2, 1);
  TD_DO(td_store_load(store, &td));
  check_each(td, TD_KEY("n", "array"), "[\"a\", \"b\"]");
  check_each(td, TD_KEY("n", "fits"), "[\"a\", [\"b\",1]]");
  TD_CHECK_JSON(td, TD_KEY("n", "long"), "[\"a\",\"b\",\"c\"]");
  TD_CHECK_JSON(td, TD_KEY("n", "text"), "\"ab\"");
  TD_CHECK_JSON(td, TD_KEY("n", "none"), "[]");
  TD_DO(td_store_index(store, &last, 1, &row));
  TD_CHECK_JSON(row, TD_KEY("n", "array"), "\"b\"");
  TD_CHECK_JSON(row, TD_KEY("n", "fits"), "[\"b\",1]");
  TD_CHECK_JSON(row, TD_KEY("n", "long"), "[\"a\",\"b\",\"c\"]");
  TD_DO(td_store_index(store, &both, 1, &row));
  TD_CHECK_EQUAL(row, td);
  delete (store);
  /* Several batch dimensions, and a nested dictionary with more than the store. */
  static const char lists[] = "[[\"a\", \"b\", \"c\"], [\"d\", \"e\", \"f\"]]";
  td_tensordict *n = td_empty(TD_SIZES(2, 3)), *again = NULL;
  TD_DO(td_set_non_tensor_stack_json(n, TD_KEY("t"), lists));
  store = td_redis_store(n, "rows");
  td_redis_check_field("tensordict:{rows}:m:t", "encoding", "json");
  td_redis_check_bytes("tensordict:{rows}:d:t", lists, sizeof lists - 1);
  TD_DO(td_store_load(store, &again));
  TD_CHECK_EQUAL(again, n);
  TD_DO(td_store_index(store, (const td_index_item[]){TD_I_INT(1), TD_I_SLICE(1, 3)}, 2, &row));
  check_each(row, TD_KEY("t"), "[\"e\", \"f\"]");
  td_free(row);
  TD_DO(td_store_delete(store));
  td_store_free(store);
  td = td_empty(TD_SIZES(2));
  td_put_dict(td, TD_KEY("n"), n);
  store = td_redis_store(td, "rows");
  td_redis_check_field("tensordict:{rows}:m:n.t", "encoding", "json");
  TD_DO(td_store_load(store, &again));
  check_each(again, TD_KEY("n", "t"), "[[\"a\",\"b\",\"c\"], [\"d\",\"e\",\"f\"]]");
  td_free(again);
  delete (store);
  /* A store without batch dimensions has no rows. */
  const td_store_options options = td_redis_options("rows");
  td_tensordict *empty = td_empty(TD_NO_SIZES);
  n = td_empty(TD_SIZES(2));
  TD_DO(td_set_non_tensor_stack_json(n, TD_KEY("t"), "[1, 2]"));
  td_put_dict(empty, TD_KEY("n"), n);
  TD_EXPECT_NULL(td_store_from(empty, &options, &store), TD_ERR_UNSUPPORTED, store);
}

TD_TEST(parts_are_read_and_written) {
  td_redis();
  td_tensordict *td = sample();
  td_store *store = td_redis_store(td, "parts");
  td_tensor *positions = td_positions((const int64_t[]){3, 0, 0, -1}, 4);
  td_tensor *mask = td_mask((const int64_t[]){1, 0, 0, 1}, 4);
  const td_index_item items[][2] = {
      {TD_I_INT(-1), TD_I_INT(1)},           {TD_I_SLICE(1, 3), TD_I_ELLIPSIS},
      {TD_I_STEP(0, 4, 2), TD_I_NONE},       {TD_I_TENSOR(positions), TD_I_SLICE(0, 2)},
      {TD_I_TENSOR(mask), TD_I_SLICE(1, 3)}, {TD_I_ELLIPSIS, TD_I_INT(0)},
      {TD_I_SLICE(2, 2), TD_I_SLICE(0, 3)}};
  td_tensor *x = td_take(td, TD_KEY("n", "x"));
  for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
    for (size_t n = 0; n <= 2; n++) {
      if (i == 5 && n == 2) continue;
      td_tensordict *want = NULL, *got = NULL, *holder = td_empty(TD_NO_SIZES);
      td_tensor *want_x = NULL, *got_x = NULL;
      TD_DO(td_set(holder, TD_KEY("x"), x));
      TD_DO(td_get_entry_at(holder, TD_KEY("x"), items[i], n, &want_x));
      TD_DO(td_store_get_at(store, TD_KEY("n", "x"), items[i], n, &got_x));
      TD_CHECK(td_tensor_equals(got_x, want_x));
      td_tensor_free(want_x);
      td_tensor_free(got_x);
      td_free(holder);
      if (n == 2 && i != 2) continue; /* one batch dimension */
      TD_DO(td_index(td, items[i], n, &want));
      TD_DO(td_store_index(store, items[i], n, &got));
      TD_CHECK_EQUAL(got, want);
    }
  }
  /* The same writes into memory and into the store. */
  for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
    for (size_t n = 0; n <= 2; n++) {
      td_tensor *value = td_filled(TD_DTYPE_FLOAT64, (double)(10 * i + n), TD_NO_SIZES), *got;
      TD_DO(td_set_entry_at(td, TD_KEY("n", "x"), items[i], n, value));
      TD_DO(td_store_set_at(store, TD_KEY("n", "x"), items[i], n, value));
      got = stored(store, TD_KEY("n", "x"));
      td_tensor *want = td_take(td, TD_KEY("n", "x"));
      TD_CHECK(td_tensor_equals(got, want));
    }
  }
  /* Rows of values, not of one; of a position that comes twice the last counts. */
  td_tensor *rows = td_arange(TD_DTYPE_INT32, 100, TD_SIZES(4)), *a;
  td_tensor *lines = td_arange(TD_DTYPE_INT32, 0, TD_SIZES(2, 4));
  TD_EXPECT(td_store_set_at(store, TD_KEY("a"), items[3], 1, lines), TD_ERR_SHAPE);
  td_tensor_free(lines);
  lines = td_arange(TD_DTYPE_INT32, 100, TD_SIZES(1, 1, 4)); /* leading sizes of 1 are dropped */
  TD_DO(td_store_set_at(store, TD_KEY("a"), items[3], 1, lines));
  td_tensor_free(lines);
  a = stored(store, TD_KEY("a"));
  TD_CHECK_VALUES(a, 102, 11, 12, 103);
  td_tensor_free(a);
  TD_DO(td_store_set_inplace(store, TD_KEY("a"), rows));
  a = stored(store, TD_KEY("a"));
  TD_CHECK_VALUES(a, 100, 101, 102, 103);
  TD_CHECK_INT(td_redis_number("STRLEN", "tensordict:{parts}:d:a"), 32);
  td_tensor_free(rows);
  td_tensor_free(x);
  td_tensor_free(mask);
  td_tensor_free(positions);
  delete (store);
}

TD_TEST(entries_are_replaced_and_removed) {
  td_redis();
  td_tensordict *td = sample(), *more = td_empty(TD_SIZES(4)), *now = NULL;
  td_store *store = td_redis_store(td, "entries"), *other = td_redis_opened("entries");
  /* A value in place of a tensor, and back; the other one sees it. */
  TD_DO(td_store_set_non_tensor_json(store, TD_KEY("a"), "7"));
  char text[8];
  size_t length = 0;
  TD_DO(td_store_get_non_tensor_json(other, TD_KEY("a"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "7");
  td_tensor *wide = td_arange(TD_DTYPE_INT16, 0, TD_SIZES(4, 2)), *got, *bad;
  TD_DO(td_store_set(store, TD_KEY("a"), wide));
  got = stored(other, TD_KEY("a"));
  TD_CHECK_SIZES(got, 4, 2);
  /* What the other client remembers of "a" is old: it looks again. */
  td_tensor *one = td_filled(TD_DTYPE_INT64, 9, TD_SIZES(4));
  TD_DO(td_store_set(store, TD_KEY("a"), one));
  const td_index_item last = TD_I_INT(3);
  TD_DO(td_store_set_at(other, TD_KEY("a"), &last, 1,
                        bad = td_filled(TD_DTYPE_INT64, 5, TD_NO_SIZES)));
  got = stored(store, TD_KEY("a"));
  TD_CHECK_VALUES(got, 9, 9, 9, 5);
  TD_DO(td_store_set(store, TD_KEY("a"), wide));
  TD_DO(td_store_get_at(other, TD_KEY("a"), &last, 1, &got));
  TD_CHECK_VALUES(got, 6, 7);
  /* Several at once, under a path too. */
  td_put(more, TD_KEY("b"), td_arange(TD_DTYPE_FLOAT64, 1, TD_SIZES(4)));
  TD_DO(td_store_update(store, more));
  TD_DO(td_store_set_dict(store, TD_KEY("n", "m"), more));
  got = stored(other, TD_KEY("n", "m", "b"));
  TD_CHECK_VALUES(got, 1, 2, 3, 4);
  TD_DO(td_store_remove(other, TD_KEY("n")));
  TD_DO(td_store_remove(other, TD_KEY("text")));
  TD_DO(td_store_load(store, &now));
  td_keys *keys = NULL;
  TD_DO(td_keys_of(now, NULL, &keys));
  TD_CHECK_INT(td_keys_len(keys), 3); /* a, b, each */
  td_tensor_free(one);
  td_tensor_free(wide);
  td_free(now);
  td_free(more);
  td_store_free(other);
  delete (store);
}

TD_TEST(a_schema_makes_zeros_on_the_server) {
  td_redis();
  td_tensordict *td = sample(), *zeros = NULL, *got = NULL;
  char text[2048];
  size_t length = 0;
  TD_DO(td_schema(td, text, sizeof text, &length));
  TD_DO(td_from_schema(text, NULL, &zeros));
  const td_store_options options = td_redis_options("schema");
  td_store *store = NULL;
  TD_DO(td_store_from_schema(text, &options, &store));
  TD_DO(td_store_load(store, &got));
  TD_CHECK_EQUAL(got, zeros);
  delete (store);
}

TD_TEST(a_lock_holds_up_entries_not_values) {
  td_redis();
  td_tensordict *td = sample();
  td_store *store = td_redis_store(td, "lock");
  td_tensor *a = td_filled(TD_DTYPE_INT64, 1, TD_SIZES(4)), *got;
  int32_t locked = 0;
  TD_DO(td_store_lock(store));
  TD_DO(td_store_is_locked(store, &locked));
  TD_CHECK_INT(locked, 1);
  TD_EXPECT(td_store_set(store, TD_KEY("a"), a), TD_ERR_LOCKED);
  TD_EXPECT(td_store_update(store, td), TD_ERR_LOCKED);
  TD_EXPECT(td_store_set_non_tensor_json(store, TD_KEY("text"), "1"), TD_ERR_LOCKED);
  TD_EXPECT(td_store_remove(store, TD_KEY("a")), TD_ERR_LOCKED);
  TD_EXPECT(td_store_delete(store), TD_ERR_LOCKED);
  TD_DO(td_store_set_inplace(store, TD_KEY("a"), a));
  TD_DO(td_store_unlock(store));
  TD_DO(td_store_is_locked(store, &locked));
  TD_CHECK_INT(locked, 0);
  got = stored(store, TD_KEY("a"));
  TD_CHECK_VALUES(got, 1, 1, 1, 1);
  td_tensor_free(a);
  delete (store);
}

enum { rounds = 60, writers = 3 };

/* Writes a whole row of one number again and again, through the one handle or through one of its own. */
static void *write_rows(void *shared) {
  td_store *store = (td_store *)shared;
  for (int i = 0; i < rounds; i++) {
    td_tensor *row = td_filled(TD_DTYPE_INT64, i, TD_SIZES(64));
    const td_index_item at = TD_I_INT(1);
    const td_status status = td_store_set_at(store, TD_KEY("wide"), &at, 1, row);
    td_tensor_free(row);
    if (status != TD_OK) return shared;
  }
  return NULL;
}

TD_TEST(threads_share_a_store) {
  td_redis();
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("wide"), td_filled(TD_DTYPE_INT64, 0, TD_SIZES(2, 64)));
  td_store *store = td_redis_store(td, "threads"), *other = td_redis_opened("threads");
  pthread_t threads[writers];
  for (int i = 0; i < writers; i++) {
    TD_CHECK_INT(pthread_create(&threads[i], NULL, write_rows, i == 0 ? other : store), 0);
  }
  int torn = 0;
  for (int i = 0; i < rounds; i++) {
    td_tensordict *now = NULL;
    void *data = NULL;
    TD_DO(td_store_load(store, &now));
    td_tensor *wide = td_take(now, TD_KEY("wide"));
    TD_DO(td_tensor_data(wide, &data));
    for (int k = 0; k < 64; k++) torn += ((int64_t *)data)[64 + k] != ((int64_t *)data)[64];
    td_tensor_free(wide);
    td_free(now);
  }
  int failed = 0;
  for (int i = 0; i < writers; i++) {
    void *result = NULL;
    pthread_join(threads[i], &result);
    failed += result != NULL;
  }
  TD_CHECK_INT(failed, 0);
  TD_CHECK_INT(torn, 0);
  td_store_free(other);
  delete (store);
}
