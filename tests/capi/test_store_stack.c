/* Lazy stacks in a Redis server, as Python's LazyStackedTensorDictStore keeps them. */
#include "td_redis.h"
#include "td_values.h"

enum { count = 3 };

/* Elements of batch size [2] with "a" int64 [2, 3], from 0, 10 and 20, and "n.h" float32 [2, 1], [2, 2] and [2, 3]. */
static td_tensordict *stack_of(int64_t dim) {
  td_tensordict *elements[count], *stack = NULL;
  for (int i = 0; i < count; i++) {
    td_tensordict *n = td_empty(TD_SIZES(2));
    elements[i] = td_empty(TD_SIZES(2));
    td_put(elements[i], TD_KEY("a"), td_arange(TD_DTYPE_INT64, 10 * i, TD_SIZES(2, 3)));
    td_put(n, TD_KEY("h"), td_arange(TD_DTYPE_FLOAT32, 100 * i, TD_SIZES(2, i + 1)));
    td_put_dict(elements[i], TD_KEY("n"), n);
  }
  TD_DO(td_lazy_stack((const td_tensordict *const *)elements, count, dim, &stack));
  for (int i = 0; i < count; i++) td_free(elements[i]);
  return stack;
}

static td_tensordict *loaded(const td_store *store) {
  td_tensordict *td = NULL;
  TD_DO(td_store_load(store, &td));
  return td;
}

TD_TEST(a_lazy_stack_lies_there_as_python_writes_it) {
  td_redis();
  for (int64_t dim = 0; dim < 2; dim++) {
    td_tensordict *td = stack_of(dim);
    td_store *store = td_redis_store(td, "wire");
    td_redis_check_bytes("tensordict:{wire}:__type__", "lazy_stack", 10);
    td_redis_check_bytes("tensordict:{wire}:__count__", "3", 1);
    td_redis_check_bytes("tensordict:{wire}:__stack_dim__", dim == 0 ? "0" : "1", 1);
    td_redis_check_bytes("tensordict:{wire}:__inner_batch_size__", "[2]", 3);
    td_redis_check_bytes("tensordict:{wire}:__device__", "", 0);
    TD_CHECK_INT(td_redis_number("EXISTS", "tensordict:{wire}:__batch_size__"), 0);
    TD_CHECK_INT(td_redis_number("SCARD", "tensordict:{wire}:__keys__"), 2);
    const int64_t a[] = {0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25};
    const float h[] = {0, 1, 100, 101, 102, 103, 200, 201, 202, 203, 204, 205};
    const int64_t offsets[] = {0, 8, 24, 48};
    td_redis_check_bytes("tensordict:{wire}:d:a", a, sizeof a);
    td_redis_check_field("tensordict:{wire}:m:a", "shape", "[3, 2, 3]");
    td_redis_check_field("tensordict:{wire}:m:a", "dtype", "torch.int64");
    td_redis_check_field("tensordict:{wire}:m:a", "homogeneous", "1");
    td_redis_check_field("tensordict:{wire}:m:a", "layout", "stack");
    td_redis_check_bytes("tensordict:{wire}:d:n.h", h, sizeof h);
    td_redis_check_bytes("tensordict:{wire}:d:n.h:idx", offsets, sizeof offsets);
    td_redis_check_field("tensordict:{wire}:m:n.h", "shape", "[3, 2, 1]");
    td_redis_check_field("tensordict:{wire}:m:n.h", "shapes", "[[2, 1], [2, 2], [2, 3]]");
    td_redis_check_field("tensordict:{wire}:m:n.h", "homogeneous", "0");
    td_redis_check_field("tensordict:{wire}:m:n.h", "layout", "stack");
    TD_DO(td_store_delete(store));
    const char *parts[] = {"KEYS", "tensordict:{wire}:*"};
    TD_CHECK_INT(td_redis_ask(2, parts, NULL).number, 0);
    td_store_free(store);
  }
}

TD_TEST(a_lazy_stack_goes_there_and_back) {
  td_redis();
  for (int64_t dim = 0; dim < 2; dim++) {
    td_tensordict *td = stack_of(dim), *got = NULL, *want = NULL;
    td_store *store = td_redis_store(td, "there"), *other = td_redis_opened("there");
    const td_store_options options = td_redis_options("there");
    td_store *again;
    TD_EXPECT_NULL(td_store_create(TD_SIZES(2), &options, &again), TD_ERR_KEY_EXISTS, again);
    int64_t sizes[2] = {0, 0}, stack_dim = -1;
    size_t dims = 0, elements = 0;
    TD_DO(td_store_batch_size(other, sizes, 2, &dims));
    TD_CHECK_INT(dims, 2);
    TD_CHECK_INT(sizes[dim], 3);
    TD_CHECK_INT(sizes[1 - dim], 2);
    got = loaded(other);
    TD_DO(td_lazy_info(got, &stack_dim, &elements));
    TD_CHECK_INT(stack_dim, dim);
    TD_CHECK_INT(elements, 3);
    TD_CHECK_EQUAL(got, td);
    /* Elements, slices and single rows, as of the stack in memory. */
    const td_index_item items[][2] = {{TD_I_INT(1), TD_I_INT(0)},
                                      {TD_I_INT(-1), TD_I_SLICE(0, 1)},
                                      {TD_I_SLICE(1, 2), TD_I_ELLIPSIS},
                                      {TD_I_ELLIPSIS, TD_I_INT(1)}};
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
      for (size_t n = 1; n <= 2; n++) {
        TD_DO(td_index(td, items[i], n, &want));
        TD_DO(td_store_index(other, items[i], n, &got));
        TD_CHECK_EQUAL(got, want);
        td_free(want);
      }
    }
    const td_index_item far = TD_I_INT(3);
    TD_EXPECT_NULL(td_store_index(other, &far, 1, &got), TD_ERR_INDEX, got);
    TD_DO(td_store_get_dict(other, TD_KEY("n"), &got));
    TD_DO(td_get_dict(td, TD_KEY("n"), &want));
    TD_CHECK_EQUAL(got, want);
    td_free(want);
    td_tensor *a = NULL, *h;
    TD_DO(td_store_get(other, TD_KEY("a"), &a));
    if (dim == 0) {
      TD_CHECK_SIZES(a, 3, 2, 3);
      TD_CHECK_VALUES(a, 0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25);
    } else {
      TD_CHECK_SIZES(a, 2, 3, 3);
      TD_CHECK_VALUES(a, 0, 1, 2, 10, 11, 12, 20, 21, 22, 3, 4, 5, 13, 14, 15, 23, 24, 25);
    }
    td_tensor_free(a);
    TD_EXPECT_NULL(td_store_get(other, TD_KEY("n", "h"), &h), TD_ERR_SHAPE, h);
    TD_CHECK_TEXT(td_last_error_message(), "the elements of the stack differ in shape");
    TD_DO(td_store_delete(store));
    td_store_free(other);
    td_store_free(store);
  }
}

TD_TEST(parts_of_a_lazy_stack_are_read_and_written) {
  td_redis();
  for (int64_t dim = 0; dim < 2; dim++) {
    td_tensordict *td = stack_of(dim),
                  *dense = td_empty(dim == 0 ? (int64_t[]){3, 2} : (int64_t[]){2, 3}, 2);
    td_store *store = td_redis_store(td, "parts");
    td_tensor *x = NULL;
    TD_DO(td_store_get(store, TD_KEY("a"), &x));
    TD_DO(td_set(dense, TD_KEY("a"), x));
    td_tensor_free(x);
    td_tensor *positions = td_positions((const int64_t[]){1, 0, 1}, 3);
    const td_index_item items[][2] = {{TD_I_INT(1), TD_I_INT(0)},
                                      {TD_I_INT(-2), TD_I_SLICE(0, 1)},
                                      {TD_I_SLICE(0, 2), TD_I_INT(1)},
                                      {TD_I_TENSOR(positions), TD_I_SLICE(0, 2)},
                                      {TD_I_ELLIPSIS, TD_I_INT(0)}};
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
      for (size_t n = 0; n <= 2; n++) {
        td_tensor *want = NULL, *got = NULL,
                  *value = td_filled(TD_DTYPE_INT32, (double)(100 + 10 * i + n), TD_NO_SIZES);
        TD_DO(td_get_entry_at(dense, TD_KEY("a"), items[i], n, &want));
        TD_DO(td_store_get_at(store, TD_KEY("a"), items[i], n, &got));
        TD_CHECK(td_tensor_equals(got, want));
        td_tensor_free(got);
        td_tensor_free(want);
        if (n != 0) { /* all would be the same then */
          TD_DO(td_set_entry_at(dense, TD_KEY("a"), items[i], n, value));
          TD_DO(td_store_set_at(store, TD_KEY("a"), items[i], n, value));
        }
        TD_DO(td_store_get(store, TD_KEY("a"), &got));
        want = td_take(dense, TD_KEY("a"));
        TD_CHECK(td_tensor_equals(got, want));
      }
    }
    /* Values in the order of the batch, whatever lies first in the server. */
    td_tensor *all = dim == 0 ? td_arange(TD_DTYPE_INT64, 0, TD_SIZES(3, 2, 3))
                              : td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 3, 3)),
              *got = NULL;
    TD_DO(td_store_set_inplace(store, TD_KEY("a"), all));
    TD_DO(td_store_get(store, TD_KEY("a"), &got));
    TD_CHECK(td_tensor_equals(got, all));
    td_tensor_free(got);
    td_redis_check_field("tensordict:{parts}:m:a", "layout", "stack");
    /* Of shapes that differ, one element; along the first dimension only. */
    const td_index_item second[] = {TD_I_INT(1), TD_I_INT(0)}, two = TD_I_SLICE(0, 2),
                        far = TD_I_INT(3);
    td_tensor *nines = td_filled(TD_DTYPE_FLOAT32, 9, TD_NO_SIZES);
    if (dim == 0) {
      TD_DO(td_store_set_at(store, TD_KEY("n", "h"), second, 2, nines));
      TD_DO(td_store_get_at(store, TD_KEY("n", "h"), second, 1, &got));
      TD_CHECK_SIZES(got, 2, 2);
      TD_CHECK_VALUES(got, 9, 9, 102, 103);
      td_tensor_free(got);
      TD_DO(td_store_get_at(store, TD_KEY("n", "h"), second, 2, &got));
      TD_CHECK_VALUES(got, 9, 9);
      td_tensor_free(got);
      const float h[] = {0, 1, 9, 9, 102, 103, 200, 201, 202, 203, 204, 205};
      td_redis_check_bytes("tensordict:{parts}:d:n.h", h, sizeof h);
      TD_EXPECT(td_store_set_at(store, TD_KEY("n", "h"), &far, 1, nines), TD_ERR_INDEX);
      TD_EXPECT_NULL(td_store_get_at(store, TD_KEY("n", "h"), &far, 1, &got), TD_ERR_INDEX, got);
    } else {
      TD_EXPECT(td_store_set_at(store, TD_KEY("n", "h"), second, 1, nines), TD_ERR_SHAPE);
      TD_EXPECT_NULL(td_store_get_at(store, TD_KEY("n", "h"), second, 1, &got), TD_ERR_SHAPE, got);
    }
    TD_EXPECT(td_store_set_at(store, TD_KEY("n", "h"), &two, 1, nines), TD_ERR_SHAPE);
    TD_EXPECT(td_store_set_inplace(store, TD_KEY("n", "h"), nines), TD_ERR_SHAPE);
    TD_EXPECT_NULL(td_store_get_at(store, TD_KEY("n", "h"), &two, 1, &got), TD_ERR_SHAPE, got);
    TD_DO(td_store_delete(store));
    td_store_free(store);
  }
}

TD_TEST(entries_of_a_lazy_stack_are_replaced_and_removed) {
  td_redis();
  td_tensordict *td = stack_of(1), *more = stack_of(1), *got = NULL;
  td_store *store = td_redis_store(td, "entries");
  /* A tensor for all elements lies there in the order of the batch, and needs no offsets. */
  td_tensor *all = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3)), *h = NULL;
  TD_DO(td_store_set(store, TD_KEY("n", "h"), all));
  TD_CHECK_INT(td_redis_number("EXISTS", "tensordict:{entries}:d:n.h:idx"), 0);
  td_redis_check_field("tensordict:{entries}:m:n.h", "layout", "batch");
  td_redis_check_field("tensordict:{entries}:m:n.h", "shapes", NULL);
  TD_DO(td_store_get(store, TD_KEY("n", "h"), &h));
  TD_CHECK_VALUES(h, 0, 1, 2, 3, 4, 5);
  td_tensor_free(h);
  const td_index_item element[] = {TD_I_ELLIPSIS, TD_I_INT(1)};
  TD_DO(td_store_index(store, element, 2, &got));
  TD_CHECK_ENTRY(got, TD_KEY("n", "h"), TD_SIZES(2), TD_VALUES(1, 4));
  /* And elements of several shapes again, at another place too. */
  TD_DO(td_store_update(store, more));
  TD_CHECK_EQUAL(loaded(store), td);
  TD_DO(td_store_set_dict(store, TD_KEY("m"), more));
  td_tensordict *m = NULL;
  TD_DO(td_store_get_dict(store, TD_KEY("m"), &m));
  TD_CHECK_EQUAL(m, td);
  TD_DO(td_store_remove(store, TD_KEY("m")));
  TD_CHECK_INT(td_redis_number("EXISTS", "tensordict:{entries}:d:m.n.h:idx"), 0);
  TD_CHECK_EQUAL(loaded(store), td);
  /* What it does not keep. */
  TD_EXPECT(td_store_set_non_tensor_json(store, TD_KEY("t"), "1"), TD_ERR_UNSUPPORTED);
  td_tensordict *dense = td_empty(TD_SIZES(2, 3));
  TD_DO(td_set_non_tensor_json(dense, TD_KEY("t"), "1"));
  TD_EXPECT(td_store_update(store, dense), TD_ERR_UNSUPPORTED);
  td_tensor *wrong = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(3, 2));
  TD_EXPECT(td_store_set(store, TD_KEY("a"), wrong), TD_ERR_SHAPE);
  TD_CHECK_EQUAL(loaded(store), td);
  TD_REDIS("FLUSHALL");
  TD_EXPECT(td_store_set(store, TD_KEY("a"), all), TD_ERR_KEY_NOT_FOUND);
  TD_EXPECT(td_store_update(store, more), TD_ERR_KEY_NOT_FOUND);
  td_tensor_free(wrong);
  td_tensor_free(all);
  td_free(dense);
  td_free(more);
  td_free(td);
  td_store_free(store);
}

TD_TEST(what_a_lazy_stack_in_a_server_cannot_keep) {
  td_redis();
  const td_store_options options = td_redis_options("cannot");
  td_store *store;
  td_tensordict *elements[2] = {td_empty(TD_SIZES(2)), td_empty(TD_SIZES(2))}, *td = NULL;
  td_put(elements[0], TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  TD_DO(td_lazy_stack((const td_tensordict *const *)elements, 2, 0, &td));
  TD_EXPECT_NULL(td_store_from(td, &options, &store), TD_ERR_UNSUPPORTED, store);
  TD_CHECK_TEXT(td_last_error_message(), "\"a\" is an entry of 1 of 2 elements");
  td_put(elements[1], TD_KEY("a"), td_arange(TD_DTYPE_INT32, 0, TD_SIZES(2)));
  TD_EXPECT_NULL(td_store_from(td, &options, &store), TD_ERR_DTYPE, store);
  /* With values that are no tensors a stack is stored as a dense dictionary. */
  td_put(elements[1], TD_KEY("a"), td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2)));
  for (int i = 0; i < 2; i++) {
    TD_DO(td_set_non_tensor_json(elements[i], TD_KEY("t"), i == 0 ? "\"p\"" : "\"q\""));
  }
  TD_DO(td_store_from(td, &options, &store));
  td_redis_check_bytes("tensordict:{cannot}:__batch_size__", "[2, 2]", 6);
  td_redis_check_bytes("tensordict:{cannot}:d:t", "[[\"p\", \"p\"], [\"q\", \"q\"]]", 24);
  td_tensordict *got = loaded(store);
  TD_CHECK_ENTRY(got, TD_KEY("a"), TD_SIZES(2, 2), TD_VALUES(0, 1, 5, 6));
  char text[64];
  size_t length = 0;
  TD_DO(td_get_non_tensor_stack_json(got, TD_KEY("t"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "[[\"p\", \"p\"], [\"q\", \"q\"]]");
  td_free(got);
  TD_DO(td_store_delete(store));
  td_store_free(store);
}

/* Python's earlier versions wrote no layout: then the shape tells, and where it fits both ways, the batch's counts. */
TD_TEST(layouts_are_told_by_the_shape) {
  td_redis();
  static const struct {
    const char *inner, *shape, *layout;
    double rows[2]; /* of the first element */
  } cases[] = {{"[2]", "[3, 2]", NULL, {0, 1}},    {"[2]", "[2, 3]", NULL, {0, 3}},
               {"[2]", "[3, 2]", "batch", {0, 1}}, {"[2]", "[2, 3]", "stack", {0, 3}},
               {"[3]", "[3, 3]", NULL, {0, 3}},    {"[3]", "[3, 3]", "batch", {0, 3}},
               {"[3]", "[3, 3]", "stack", {0, 1}}};
  const int32_t bytes[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TD_REDIS("SET", "tensordict:{layout}:__type__", "lazy_stack");
    TD_REDIS("SET", "tensordict:{layout}:__count__", "3");
    TD_REDIS("SET", "tensordict:{layout}:__stack_dim__", "1");
    TD_REDIS("SET", "tensordict:{layout}:__inner_batch_size__", cases[i].inner);
    TD_REDIS("SADD", "tensordict:{layout}:__keys__", "x");
    const char *parts[] = {"SET", "tensordict:{layout}:d:x", (const char *)bytes};
    const size_t lengths[] = {3, 23, cases[i].inner[1] == '2' ? 24 : 36};
    free(td_redis_ask(3, parts, lengths).bytes);
    TD_REDIS("HSET", "tensordict:{layout}:m:x", "shape", cases[i].shape, "dtype", "torch.int32");
    if (cases[i].layout != NULL)
      TD_REDIS("HSET", "tensordict:{layout}:m:x", "layout", cases[i].layout);
    td_store *store = td_redis_opened("layout");
    const td_index_item items[] = {TD_I_SLICE(0, 2), TD_I_INT(0)};
    td_tensordict *td = NULL;
    td_tensor *part = NULL;
    TD_DO(td_store_index(store, items, 2, &td));
    TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(2), TD_VALUES(cases[i].rows[0], cases[i].rows[1]));
    td_free(td);
    TD_DO(td_store_get_at(store, TD_KEY("x"), items, 2, &part));
    TD_CHECK_VALUES(part, cases[i].rows[0], cases[i].rows[1]);
    td_tensor_free(part);
    TD_DO(td_store_delete(store));
    td_store_free(store);
  }
}

TD_TEST(lazy_stacks_that_contradict_themselves_are_refused) {
  td_redis();
  static const struct {
    const char *key, *field, *value;
    td_status status;
  } lies[] = {{"__type__", NULL, "graph", TD_ERR_UNSUPPORTED},
              {"__count__", NULL, "x", TD_ERR_FORMAT},
              {"__count__", NULL, "-1", TD_ERR_FORMAT},
              {"__count__", NULL, "4", TD_ERR_FORMAT},
              {"__count__", NULL, "0", TD_ERR_FORMAT},
              {"__count__", NULL, "999999999999", TD_ERR_FORMAT},
              {"__stack_dim__", NULL, "", TD_ERR_FORMAT},
              {"__inner_batch_size__", NULL, "[3]", TD_ERR_FORMAT},
              {"__inner_batch_size__", NULL, "2", TD_ERR_FORMAT},
              {"m:n.h", "shapes", "[[2, 1], [2, 2]]", TD_ERR_FORMAT},
              {"m:n.h", "shapes", "[[2, 1], [2, 2], [2, 4]]", TD_ERR_FORMAT},
              {"m:n.h", "shapes", "[[2, 1], [2, 2], [3]]", TD_ERR_FORMAT},
              {"m:n.h", "shapes", "[[2, 1], [2, 2], [2, 9223372036854775807]]", TD_ERR_FORMAT},
              {"m:n.h", "shapes", "7", TD_ERR_FORMAT},
              {"m:n.h", "shapes", "[", TD_ERR_FORMAT},
              {"m:a", "shape", "[4, 2, 3]", TD_ERR_FORMAT},
              {"m:a", "is_non_tensor", "1", TD_ERR_UNSUPPORTED}};
  td_tensordict *want = stack_of(0);
  for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
    td_store *store = td_redis_store(want, "lies");
    char key[64];
    snprintf(key, sizeof key, "tensordict:{lies}:%s", lies[i].key);
    if (lies[i].field == NULL)
      TD_REDIS("SET", key, lies[i].value);
    else
      TD_REDIS("HSET", key, lies[i].field, lies[i].value);
    td_tensordict *td;
    const td_index_item last = TD_I_INT(2);
    TD_EXPECT_NULL(td_store_load(store, &td), lies[i].status, td);
    td = TD_POISON;
    const td_status status = td_store_index(store, &last, 1, &td);
    TD_CHECK(status != TD_OK);
    TD_CHECK(td == NULL);
    TD_REDIS("FLUSHALL");
    td_store_free(store);
  }
}
