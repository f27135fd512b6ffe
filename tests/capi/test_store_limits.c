/* What a server cannot keep, and what only Python keeps there. */
#include "td_redis.h"
#include "td_values.h"

static td_store *made(const char *id) {
  const td_store_options options = td_redis_options(id);
  td_store *store = NULL;
  TD_DO(td_store_create(TD_SIZES(2), &options, &store));
  return store;
}

TD_TEST(what_a_server_cannot_keep_is_refused_with_its_size) {
  td_redis();
  td_store *store = made("large"), *other;
  td_tensor *one = td_filled(TD_DTYPE_INT64, 1, TD_SIZES(2)), *large;
  /* An expanded tensor: 1 GB to be sent, 16 bytes here. */
  TD_DO(td_tensor_expand_right(one, TD_SIZES(2, 1 << 26), &large));
  TD_EXPECT(td_store_set(store, TD_KEY("a"), large), TD_ERR_CAPACITY);
  TD_CHECK_TEXT(td_last_error_message(), "\"a\" has 1073741824 bytes; the server keeps 536870912");
  /* Some keep more. */
  TD_REDIS("CONFIG", "SET", "proto-max-bulk-len", "629145600");
  TD_EXPECT(td_store_set(store, TD_KEY("a"), large), TD_ERR_CAPACITY);
  TD_CHECK_TEXT(td_last_error_message(), "keeps 629145600 at most (its proto-max-bulk-len)");
  TD_REDIS("CONFIG", "SET", "proto-max-bulk-len", "536870912");
  td_tensordict *td = td_empty(TD_SIZES(2));
  TD_DO(td_set(td, TD_KEY("b"), large));
  TD_EXPECT(td_store_update(store, td), TD_ERR_CAPACITY);
  const td_store_options options = td_redis_options("large2");
  TD_EXPECT_NULL(td_store_from(td, &options, &other), TD_ERR_CAPACITY, other);
  TD_CHECK_INT(td_redis_number("EXISTS", "tensordict:{large2}:__batch_size__"), 0);
  TD_CHECK_INT(td_redis_number("SCARD", "tensordict:{large}:__keys__"), 0);
  td_free(td);
  td_tensor_free(large);
  td_tensor_free(one);
  TD_DO(td_store_delete(store));
}

static int64_t keys_there(void) {
  const char *parts[] = {"DBSIZE"};
  return td_redis_ask(1, parts, NULL).number;
}

/* The server closes connections with more than 160 MB of commands that wait for EXEC: by default a gigabyte. */
TD_TEST(what_is_too_much_for_one_transaction_is_sent_in_parts) {
  td_redis_start("--client-query-buffer-limit", "167772160");
  enum { rows = 6 << 20, entries = 4 }; /* 48 MB each */
  td_tensordict *td = td_empty(TD_SIZES(2)), *again = NULL;
  for (int i = 0; i < entries; i++) {
    const char name[] = {(char)('a' + i), 0};
    td_put(td, TD_KEY(name), td_arange(TD_DTYPE_INT64, i, TD_SIZES(2, rows / 2)));
  }
  const td_store_options options = td_redis_options("parts");
  td_store *store = NULL;
  TD_DO(td_store_from(td, &options, &store));
  TD_CHECK_INT(keys_there(), 4 + 2 * entries); /* and no part */
  TD_CHECK_INT(td_redis_number("TTL", "tensordict:{parts}:d:d"), -1);
  TD_DO(td_store_load(store, &again));
  TD_CHECK_EQUAL(again, td);
  td_free(again);
  TD_DO(td_store_update(store, td));
  TD_CHECK_INT(keys_there(), 4 + 2 * entries);
  TD_CHECK_INT(td_redis_number("TTL", "tensordict:{parts}:d:d"), -1);
  TD_DO(td_store_load(store, &again));
  TD_CHECK_EQUAL(again, td);
  td_free(again);
  /* What fails leaves no part. */
  TD_REDIS("FLUSHALL");
  TD_EXPECT(td_store_update(store, td), TD_ERR_KEY_NOT_FOUND);
  TD_CHECK_INT(keys_there(), 0);
  td_free(td);
  td_store_free(store);
  td_redis_stop();
}

TD_TEST(a_tensor_without_elements_needs_no_bytes) {
  td_redis();
  td_store *store = made("empty");
  td_tensordict *td = NULL;
  td_tensor *got = NULL;
  TD_REDIS("HSET", "tensordict:{empty}:m:none", "shape", "[2, 0]", "dtype", "torch.int16");
  TD_REDIS("SADD", "tensordict:{empty}:__keys__", "none");
  TD_DO(td_store_get(store, TD_KEY("none"), &got));
  TD_CHECK_SIZES(got, 2, 0);
  td_tensor_free(got);
  TD_DO(td_store_load(store, &td));
  TD_CHECK_DTYPE(td, TD_KEY("none"), TD_DTYPE_INT16);
  td_free(td);
  TD_DO(td_store_delete(store));
}
