/* Servers that go away, refuse, are full, lie, or say nothing: each call has its status, and changes nothing. */
#include "td_liar.h"
#include "td_redis.h"
#include "td_values.h"

static td_store *made(const char *id) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 1, TD_SIZES(2)));
  return td_redis_store(td, id);
}

static void check_a(const td_store *store, int64_t first) {
  td_tensor *a = NULL;
  TD_DO(td_store_get(store, TD_KEY("a"), &a));
  TD_CHECK_VALUES(a, (double)first, (double)(first + 1));
}

TD_TEST(a_connection_that_breaks_is_made_again_once) {
  td_redis();
  td_store *store = made("again");
  TD_REDIS("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
  check_a(store, 1);
  td_redis_stop();
  td_tensor *a = td_arange(TD_DTYPE_INT64, 7, TD_SIZES(2)), *got;
  for (int i = 0; i < 3; i++) { /* no SIGPIPE ends the process */
    TD_EXPECT(td_store_set(store, TD_KEY("a"), a), TD_ERR_IO);
    TD_CHECK_TEXT(td_last_error_message(), td_redis_socket);
    TD_EXPECT_NULL(td_store_get(store, TD_KEY("a"), &got), TD_ERR_IO, got);
  }
  td_redis();
  TD_EXPECT_NULL(td_store_get(store, TD_KEY("a"), &got), TD_ERR_KEY_NOT_FOUND, got);
  TD_EXPECT(td_store_set(store, TD_KEY("a"), a), TD_ERR_KEY_NOT_FOUND);
  td_tensor_free(a);
  td_store_free(store);
}

/* The number of keys that the server has. */
static int64_t keys_there(void) {
  const char *parts[] = {"DBSIZE"};
  return td_redis_ask(1, parts, NULL).number;
}

TD_TEST(a_server_that_was_emptied_is_told) {
  td_redis();
  td_store *store = made("emptied");
  td_tensor *a = td_arange(TD_DTYPE_INT64, 7, TD_SIZES(2)), *got;
  td_tensordict *td = td_empty(TD_SIZES(2));
  const td_index_item row = TD_I_INT(0);
  TD_DO(td_set(td, TD_KEY("b"), a));
  TD_REDIS("FLUSHALL");
  TD_EXPECT(td_store_set(store, TD_KEY("a"), a), TD_ERR_KEY_NOT_FOUND);
  TD_CHECK_TEXT(td_last_error_message(), "there is no dictionary of this id");
  TD_EXPECT(td_store_set(store, TD_KEY("new"), a), TD_ERR_KEY_NOT_FOUND);
  TD_EXPECT(td_store_set_non_tensor_json(store, TD_KEY("t"), "1"), TD_ERR_KEY_NOT_FOUND);
  TD_EXPECT(td_store_set_dict(store, TD_KEY("n"), td), TD_ERR_KEY_NOT_FOUND);
  TD_EXPECT(td_store_update(store, td), TD_ERR_KEY_NOT_FOUND);
  TD_EXPECT(td_store_set_inplace(store, TD_KEY("a"), a), TD_ERR_KEY_NOT_FOUND);
  TD_EXPECT(td_store_set_at(store, TD_KEY("a"), &row, 1, a), TD_ERR_KEY_NOT_FOUND);
  TD_EXPECT(td_store_remove(store, TD_KEY("a")), TD_ERR_KEY_NOT_FOUND);
  TD_EXPECT_NULL(td_store_get(store, TD_KEY("a"), &got), TD_ERR_KEY_NOT_FOUND, got);
  TD_CHECK_INT(keys_there(), 0);
  /* Another dictionary of this id has come instead: what is set must fit it. */
  const td_store_options options = td_redis_options("emptied");
  td_store *other = NULL;
  TD_DO(td_store_create(TD_SIZES(2, 1), &options, &other));
  TD_EXPECT(td_store_set(store, TD_KEY("a"), a), TD_ERR_SHAPE);
  TD_EXPECT(td_store_update(store, td), TD_ERR_SHAPE);
  TD_CHECK_INT(td_redis_number("EXISTS", "tensordict:{emptied}:__keys__"), 0);
  td_tensor *column = td_arange(TD_DTYPE_INT64, 3, TD_SIZES(2, 1));
  TD_DO(td_store_set(store, TD_KEY("a"), column));
  check_a(other, 3);
  TD_DO(td_store_delete(other));
  TD_EXPECT(td_store_set(store, TD_KEY("a"), column), TD_ERR_KEY_NOT_FOUND);
  TD_CHECK_INT(keys_there(), 0);
  td_tensor_free(column);
  td_tensor_free(a);
  td_free(td);
  td_store_free(other);
  td_store_free(store);
}

TD_TEST(passwords_are_asked_for_and_never_shown) {
  td_redis_start("--requirepass", "right-one");
  td_store_options options = td_redis_options("locked");
  td_store *store;
  TD_EXPECT_NULL(td_store_create(TD_SIZES(2), &options, &store), TD_ERR_IO, store);
  TD_CHECK_TEXT(td_last_error_message(), "NOAUTH");
  options.password = "wrong-one";
  TD_EXPECT_NULL(td_store_create(TD_SIZES(2), &options, &store), TD_ERR_IO, store);
  TD_CHECK_TEXT(td_last_error_message(), "WRONGPASS");
  TD_CHECK(strstr(td_last_error_message(), "wrong-one") == NULL);
  options.username = "nobody";
  TD_EXPECT_NULL(td_store_create(TD_SIZES(2), &options, &store), TD_ERR_IO, store);
  TD_CHECK(strstr(td_last_error_message(), "wrong-one") == NULL);
  options.username = "default";
  options.password = "right-one";
  options.db = 3;
  TD_DO(td_store_create(TD_SIZES(2), &options, &store));
  TD_DO(td_store_delete(store));
  td_store_free(store);
  options.db = 9999;
  TD_EXPECT_NULL(td_store_create(TD_SIZES(2), &options, &store), TD_ERR_IO, store);
  td_redis_stop();
}

TD_TEST(a_full_server_keeps_what_it_has) {
  td_redis();
  td_store *store = made("full"), *other;
  td_tensor *a = td_arange(TD_DTYPE_INT64, 7, TD_SIZES(2));
  td_tensordict *td = td_empty(TD_SIZES(2)), *now = NULL;
  td_put(td, TD_KEY("b"), td_arange(TD_DTYPE_INT64, 7, TD_SIZES(2)));
  TD_REDIS("CONFIG", "SET", "maxmemory", "1");
  TD_EXPECT(td_store_set(store, TD_KEY("a"), a), TD_ERR_OUT_OF_MEMORY);
  TD_EXPECT(td_store_update(store, td), TD_ERR_OUT_OF_MEMORY);
  TD_EXPECT(td_store_set_inplace(store, TD_KEY("a"), a), TD_ERR_OUT_OF_MEMORY);
  const td_store_options options = td_redis_options("full2");
  TD_EXPECT_NULL(td_store_from(td, &options, &other), TD_ERR_OUT_OF_MEMORY, other);
  TD_REDIS("CONFIG", "SET", "maxmemory", "0");
  TD_CHECK_INT(td_redis_number("EXISTS", "tensordict:{full2}:__batch_size__"), 0);
  check_a(store, 1);
  TD_DO(td_store_load(store, &now));
  td_free(td);
  td_tensor_free(a);
  TD_DO(td_store_delete(store));
}

/* Every call that reads "a" or all of it; the first status of td_store_get, the second of td_store_load. */
static void expect_all(const td_store *store, td_status one, td_status all) {
  const td_index_item row = TD_I_INT(0);
  td_tensor *tensor;
  td_tensordict *td;
  TD_EXPECT_NULL(td_store_get(store, TD_KEY("a"), &tensor), one, tensor);
  TD_EXPECT_NULL(td_store_get_at(store, TD_KEY("a"), &row, 1, &tensor), one, tensor);
  TD_EXPECT_NULL(td_store_load(store, &td), all, td);
  TD_EXPECT_NULL(td_store_index(store, &row, 1, &td), all, td);
}

TD_TEST(what_contradicts_itself_is_refused) {
  td_redis();
  static const struct {
    const char *field, *value;
    td_status status;
  } lies[] = {
      {"shape", "[3]", TD_ERR_FORMAT},
      {"shape", "[2, 2]", TD_ERR_FORMAT},
      {"shape", "[-2]", TD_ERR_FORMAT},
      {"shape", "2", TD_ERR_FORMAT},
      {"shape", "[2", TD_ERR_FORMAT},
      {"shape", "[2.0]", TD_ERR_FORMAT},
      {"shape", "[2, 9223372036854775807]", TD_ERR_FORMAT},
      {"shape", "[2, 4294967296, 4294967296]", TD_ERR_FORMAT},
      {"shape", "[99999999999999999999]", TD_ERR_FORMAT},
      {"dtype", "torch.float16", TD_ERR_FORMAT},
      {"dtype", "os.system", TD_ERR_FORMAT},
      {"dtype", "", TD_ERR_FORMAT},
      {"dtype", "torch.quint8", TD_ERR_UNSUPPORTED},
  };
  td_store *store = made("lies");
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    TD_REDIS("HSET", "tensordict:{lies}:m:a", lies[i].field, lies[i].value);
    expect_all(store, lies[i].status, lies[i].status);
    TD_REDIS("HSET", "tensordict:{lies}:m:a", "shape", "[2]", "dtype", "torch.int64");
    check_a(store, 1);
  }
  /* Bytes that are missing, too few, too many, of another type. */
  TD_REDIS("RENAME", "tensordict:{lies}:d:a", "aside");
  expect_all(store, TD_ERR_FORMAT, TD_ERR_FORMAT);
  TD_REDIS("SET", "tensordict:{lies}:d:a", "12345678");
  expect_all(store, TD_ERR_FORMAT, TD_ERR_FORMAT);
  TD_REDIS("DEL", "tensordict:{lies}:d:a");
  TD_REDIS("RPUSH", "tensordict:{lies}:d:a", "1");
  expect_all(store, TD_ERR_FORMAT, TD_ERR_FORMAT);
  TD_REDIS("RENAME", "aside", "tensordict:{lies}:d:a");
  TD_REDIS("RENAME", "tensordict:{lies}:m:a", "aside");
  TD_REDIS("SET", "tensordict:{lies}:m:a", "1");
  expect_all(store, TD_ERR_FORMAT, TD_ERR_FORMAT);
  TD_REDIS("DEL", "tensordict:{lies}:m:a");
  expect_all(store, TD_ERR_FORMAT, TD_ERR_FORMAT);
  TD_REDIS("RENAME", "aside", "tensordict:{lies}:m:a");
  check_a(store, 1);
  /* A wrong number of bytes is not made worse by a write. */
  TD_REDIS("APPEND", "tensordict:{lies}:d:a", "x");
  td_tensor *one = td_filled(TD_DTYPE_INT64, 9, TD_NO_SIZES);
  const td_index_item row = TD_I_INT(1);
  TD_EXPECT(td_store_set_at(store, TD_KEY("a"), &row, 1, one), TD_ERR_FORMAT);
  TD_CHECK_INT(td_redis_number("STRLEN", "tensordict:{lies}:d:a"), 17);
  td_tensor_free(one);
  TD_DO(td_store_delete(store));
}

TD_TEST(values_and_names_that_lie_are_refused) {
  td_redis();
  td_store *store = made("names"), *other;
  td_tensordict *td;
  static const char *const values[][2] = {
      {"json", "[1"},       {"json", ""},        {"json_array", "[1]"},
      {"json_array", "{}"}, {"json_array", "7"}, {"pickle", "cos\nsystem\n(S'true'\ntR."},
      {"pickle", ""},       {"else", "1"}};
  TD_REDIS("SADD", "tensordict:{names}:__keys__", "v");
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    TD_REDIS("SET", "tensordict:{names}:d:v", values[i][1]);
    TD_REDIS("HSET", "tensordict:{names}:m:v", "is_non_tensor", "1", "encoding", values[i][0]);
    td = TD_POISON;
    const td_status status = td_store_load(store, &td);
    TD_CHECK(status == TD_ERR_FORMAT || status == TD_ERR_UNSUPPORTED);
    TD_CHECK(td == NULL);
  }
  TD_REDIS("SREM", "tensordict:{names}:__keys__", "v");
  static const char *const paths[] = {"\xff", "a.b"};
  for (size_t i = 0; i < 2; i++) {
    TD_REDIS("SADD", "tensordict:{names}:__keys__", paths[i]);
    TD_REDIS("SET", "tensordict:{names}:d:a.b", "");
    TD_REDIS("HSET", "tensordict:{names}:m:a.b", "shape", "[2, 0]", "dtype", "torch.int64");
    TD_EXPECT_NULL(td_store_load(store, &td), i == 0 ? TD_ERR_FORMAT : TD_ERR_KEY_EXISTS, td);
    TD_REDIS("SREM", "tensordict:{names}:__keys__", paths[i]);
  }
  static const char *const batches[] = {"[3]", "[2", "x", "[-1]", "[2, 2]"};
  for (size_t i = 0; i < 5; i++) {
    TD_REDIS("SET", "tensordict:{names}:__batch_size__", batches[i]);
    TD_EXPECT_NULL(td_store_load(store, &td), TD_ERR_FORMAT, td);
  }
  TD_REDIS("DEL", "tensordict:{names}:__batch_size__");
  TD_EXPECT_NULL(td_store_load(store, &td), TD_ERR_KEY_NOT_FOUND, td);
  const td_store_options options = td_redis_options("names");
  TD_EXPECT_NULL(td_store_open(&options, &other), TD_ERR_KEY_NOT_FOUND, other);
  TD_DO(td_store_delete(store));
}

TD_TEST(wrong_arguments_reach_no_server) {
  td_redis();
  td_store *store = made("arguments"), *other;
  td_store_options options = td_redis_options(NULL);
  TD_EXPECT_NULL(td_store_open(&options, &other), TD_ERR_INVALID_ARGUMENT, other);
  options.id = "arguments";
  options.port = 65536;
  TD_EXPECT_NULL(td_store_open(&options, &other), TD_ERR_INVALID_ARGUMENT, other);
  options.port = -1;
  TD_EXPECT_NULL(td_store_open(&options, &other), TD_ERR_INVALID_ARGUMENT, other);
  options.port = 0;
  options.db = -1;
  TD_EXPECT_NULL(td_store_open(&options, &other), TD_ERR_INVALID_ARGUMENT, other);
  options.db = 0;
  options.timeout_ms = -2;
  TD_EXPECT_NULL(td_store_open(&options, &other), TD_ERR_INVALID_ARGUMENT, other);
  options.timeout_ms = INT64_MAX;
  TD_DO(td_store_open(&options, &other));
  td_store_free(other);
  options.timeout_ms = -1;
  TD_DO(td_store_open(&options, &other));
  td_store_free(other);
  options.timeout_ms = 0;
  options.max_bytes = 10;
  TD_EXPECT_NULL(td_store_open(&options, &other), TD_ERR_FORMAT, other);
  TD_CHECK_TEXT(td_last_error_message(), "max_bytes");
  options.max_bytes = 0;
  TD_EXPECT_NULL(td_store_create(TD_SIZES(2), &options, &other), TD_ERR_KEY_EXISTS, other);
  options.id = "free";
  TD_EXPECT_NULL(td_store_create(TD_SIZES(-1), &options, &other), TD_ERR_SHAPE, other);
  options.id = "\xff";
  TD_EXPECT_NULL(td_store_create(TD_SIZES(2), &options, &other), TD_ERR_INVALID_ARGUMENT, other);
  td_tensor *a = td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2)), *wide, *got;
  TD_EXPECT(td_store_set(store, TD_KEY("a.b"), a), TD_ERR_KEY_INVALID);
  TD_EXPECT(td_store_set(store, TD_KEY("a", "b"), a), TD_ERR_WRONG_ENTRY);
  TD_DO(td_store_set(store, TD_KEY("n", "b"), a));
  TD_EXPECT(td_store_set(store, TD_KEY("n"), a), TD_ERR_WRONG_ENTRY);
  TD_EXPECT_NULL(td_store_get(store, TD_KEY("n"), &got), TD_ERR_WRONG_ENTRY, got);
  TD_EXPECT_NULL(td_store_get(store, TD_KEY("x"), &got), TD_ERR_KEY_NOT_FOUND, got);
  TD_CHECK_TEXT(td_last_error_message(), "n.b");
  TD_EXPECT(td_store_remove(store, TD_KEY("x")), TD_ERR_KEY_NOT_FOUND);
  wide = td_arange(TD_DTYPE_INT64, 5, TD_SIZES(3));
  TD_EXPECT(td_store_set(store, TD_KEY("a"), wide), TD_ERR_SHAPE);
  TD_EXPECT(td_store_set_inplace(store, TD_KEY("a"), wide), TD_ERR_SHAPE);
  const td_index_item far = TD_I_INT(2);
  TD_EXPECT(td_store_set_at(store, TD_KEY("a"), &far, 1, a), TD_ERR_INDEX);
  TD_EXPECT_NULL(td_store_get_at(store, TD_KEY("a"), &far, 1, &got), TD_ERR_INDEX, got);
  td_tensordict *td = td_empty(TD_SIZES(3));
  TD_EXPECT(td_store_update(store, td), TD_ERR_SHAPE);
  td_free(td);
  TD_EXPECT_NULL(td_store_get_dict(store, TD_KEY("a"), &td), TD_ERR_WRONG_ENTRY, td);
  check_a(store, 1);
  td_tensor_free(a);
  td_tensor_free(wide);
  TD_DO(td_store_delete(store));
}

#define OPENED(text, wait_ms) td_opened_from((text), sizeof(text) - 1, (wait_ms), 0)
#define QUEUED "+OK\r\n+QUEUED\r\n+QUEUED\r\n"
#define NIL "$-1\r\n"
#define FORM "*5\r\n$3\r\n[2]\r\n" NIL NIL NIL NIL /* a dense dictionary of batch size [2] */

TD_TEST(servers_that_lie_or_say_nothing_are_refused) {
  TD_CHECK_INT(OPENED("", soon_ms), TD_ERR_IO); /* in time */
  TD_CHECK_INT(OPENED("+", soon_ms), TD_ERR_IO);
  TD_CHECK_INT(OPENED("", 0), TD_ERR_IO); /* twice closed, as Redis does where TLS is wanted */
  TD_CHECK_TEXT(td_last_error_message(), "before it said anything: does this port want TLS?");
  TD_CHECK_INT(OPENED(QUEUED "*2\r\n$3\r\n[2", 0), TD_ERR_IO);
  TD_CHECK_INT(OPENED("HTTP/1.1 400 Bad Request\r\n\r\n", 0), TD_ERR_FORMAT);
  TD_CHECK_INT(OPENED("*1000000000\r\n", late_ms), TD_ERR_FORMAT);
  TD_CHECK_INT(OPENED("*-5\r\n", late_ms), TD_ERR_FORMAT);
  TD_CHECK_INT(OPENED("$99999999999999999999\r\n", late_ms), TD_ERR_FORMAT);
  TD_CHECK_INT(
      OPENED("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n", late_ms),
      TD_ERR_FORMAT);
  char *deep = malloc(4 * 100000);
  TD_CHECK(deep != NULL);
  for (int i = 0; i < 100000; i++) memcpy(deep + 4 * i, "*1\r\n", 4);
  TD_CHECK_INT(td_opened_from(deep, 4 * 100000, late_ms, 0), TD_ERR_FORMAT);
  free(deep);
  /* A line without an end. */
  char *line = malloc(100000);
  TD_CHECK(line != NULL);
  memset(line, 'x', 100000);
  for (const char *kind = "+-:$*"; *kind != 0; kind++) {
    line[0] = *kind;
    TD_CHECK_INT(td_opened_from(line, 100000, late_ms, 0), TD_ERR_FORMAT);
    TD_CHECK_TEXT(td_last_error_message(), "a line of the answer is longer than 65536 bytes");
  }
  free(line);
  TD_CHECK_INT(OPENED("$999999999999\r\n", late_ms), TD_ERR_FORMAT); /* more than max_bytes */
  TD_CHECK_TEXT(td_last_error_message(), "max_bytes");
  TD_CHECK_INT(OPENED(QUEUED "*2\r\n$3\r\n[2]xx", late_ms), TD_ERR_FORMAT);
  TD_CHECK_INT(OPENED("+OK\n", late_ms), TD_ERR_FORMAT);
  TD_CHECK_INT(OPENED(":12x\r\n", late_ms), TD_ERR_FORMAT);
  TD_CHECK_INT(OPENED(":1\r\n:1\r\n:1\r\n:1\r\n", late_ms), TD_ERR_FORMAT);
  TD_CHECK_INT(OPENED("-LOADING not yet\r\n+QUEUED\r\n+QUEUED\r\n*0\r\n", late_ms), TD_ERR_BUSY);
  TD_CHECK_INT(OPENED("+OK\r\n-MOVED 1 host:1\r\n+QUEUED\r\n-EXECABORT\r\n", late_ms),
               TD_ERR_UNSUPPORTED);
  TD_CHECK_TEXT(td_last_error_message(),
                "is a node of a cluster, and another one keeps this dictionary: connect to host:1");
  TD_CHECK_INT(OPENED("+OK\r\n-ASK 1 host:1\r\n+QUEUED\r\n-EXECABORT\r\n", late_ms), TD_ERR_BUSY);
  td_liar_takes_turns = 1;
  TD_CHECK_INT(OPENED("-ERR unknown command 'MULTI'\r\n-ERR unknown command 'MGET'\r\n"
                      "-ERR unknown command 'SMEMBERS'\r\n-ERR unknown command 'EXEC'\r\n"
                      "\f*2\r\n$8\r\nsentinel\r\n*1\r\n$6\r\nmaster\r\n",
                      late_ms),
               TD_ERR_UNSUPPORTED);
  TD_CHECK_TEXT(td_last_error_message(), "is a Sentinel, which keeps no data");
  TD_CHECK_INT(
      OPENED("-ERR unknown command\r\n-ERR\r\n-ERR\r\n-ERR\r\n\f*1\r\n$6\r\nmaster\r\n", late_ms),
      TD_ERR_IO);
  td_liar_takes_turns = 0;
  TD_CHECK_INT(OPENED(QUEUED "*0\r\n", late_ms), TD_ERR_FORMAT);
  TD_CHECK_INT(OPENED(QUEUED "*-1\r\n", late_ms), TD_ERR_FORMAT);
  TD_CHECK_INT(OPENED(QUEUED "*2\r\n*5\r\n" NIL NIL NIL NIL NIL "*0\r\n", late_ms),
               TD_ERR_KEY_NOT_FOUND);
  TD_CHECK_INT(OPENED(QUEUED "*2\r\n:1\r\n*0\r\n", late_ms), TD_ERR_FORMAT);
  TD_CHECK_INT(OPENED(QUEUED "*2\r\n" FORM "*1\r\n:5\r\n", late_ms), TD_ERR_FORMAT);
  TD_CHECK_INT(OPENED(QUEUED "*2\r\n" FORM "*1\r\n$3\r\na\0b\r\n", late_ms), TD_ERR_FORMAT);
  TD_CHECK_INT(OPENED(QUEUED "*2\r\n" FORM "*0\r\n+", late_ms),
               TD_ERR_FORMAT); /* more than was asked */
  /* What a server says that speaks TLS only. */
  TD_CHECK_INT(OPENED("\x15\x03\x01\x00\x02\x02\x46", 0), TD_ERR_UNSUPPORTED);
  TD_CHECK_TEXT(td_last_error_message(), "TLS");
  /* The first answer is good; to the next request nothing comes. */
  TD_CHECK_INT(OPENED(QUEUED "*2\r\n" FORM "*1\r\n$1\r\na\r\n", soon_ms), TD_ERR_IO);
}

TD_TEST(slow_bytes_end_in_time) {
  struct timespec begin, end;
  static const char answer[] = QUEUED "*2\r\n" FORM "*1\r\n$1\r\na\r\n";
  clock_gettime(CLOCK_MONOTONIC, &begin);
  td_liar_pause_ms = soon_ms / 10;
  const td_status status = td_opened_from(answer, sizeof answer - 1, soon_ms, 0);
  td_liar_pause_ms = 0;
  clock_gettime(CLOCK_MONOTONIC, &end);
  TD_CHECK_INT(status, TD_ERR_IO);
  TD_CHECK_TEXT(td_last_error_message(), "did not answer within 200 ms");
  const double took =
      (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
  TD_CHECK(took < 30);
}

TD_TEST(elements_of_all_answers_to_a_call_count) {
  /* Each list is within the limit, not both. */
  enum { half = 4100000 };
  const size_t size = 2 * (10 + 4 * (size_t)half);
  char *lists = (char *)malloc(size), *at = lists;
  TD_CHECK(lists != NULL);
  for (int list = 0; list < 2; list++) {
    memcpy(at, "*4100000\r\n", 10);
    at += 10;
    for (int i = 0; i < half; i++, at += 4) memcpy(at, ":1\r\n", 4);
  }
  TD_CHECK_INT(td_opened_from(lists, size, late_ms, 0), TD_ERR_FORMAT);
  TD_CHECK_TEXT(td_last_error_message(), "more than 8000000 elements");
  free(lists);
}
