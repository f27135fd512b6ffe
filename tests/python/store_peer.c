/* The other side of store.py: store_peer SOCKET STEP ID
 *
 * Does one step with the dictionary ID of the Redis server at SOCKET, and ends with 0 if all was as it should be. Ends with 77
 * in a build without a client of Redis.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensordict/td.h"

static const char *step;

static void fail(const char *what) {
  fprintf(stderr, "store_peer: %s: %s\n", step, what);
  exit(1);
}

static void must(td_status status) {
  if (status == TD_OK) return;
  fprintf(stderr, "store_peer: %s: %s: %s\n", step, td_last_error_function(),
          td_last_error_message());
  exit(1);
}

/* 0, 1, … in a shape, as a dtype. */
static td_tensor *numbers(const int64_t *sizes, size_t dims, int count, td_dtype dtype) {
  int32_t values[24];
  td_tensor *made, *result;
  for (int i = 0; i < count; i++) values[i] = i;
  must(td_tensor_from_data(values, sizeof(int32_t) * (size_t)count, sizes, dims, TD_DTYPE_INT32,
                           &made));
  must(td_tensor_to(made, dtype, TD_DEVICE_NONE, -1, &result));
  td_tensor_free(made);
  return result;
}

static void put(td_tensordict *td, const char *const *path, size_t path_len, td_tensor *tensor) {
  must(td_set(td, path, path_len, tensor));
  td_tensor_free(tensor);
}

/* As values() of store.py. Python cannot write bfloat16 to a store, and reads it. */
static td_tensordict *values(int with_bfloat16) {
  static const struct {
    const char *name;
    td_dtype dtype;
  } dtypes[] = {{"bool", TD_DTYPE_BOOL},
                {"uint8", TD_DTYPE_UINT8},
                {"int8", TD_DTYPE_INT8},
                {"int16", TD_DTYPE_INT16},
                {"int32", TD_DTYPE_INT32},
                {"int64", TD_DTYPE_INT64},
                {"float16", TD_DTYPE_FLOAT16},
                {"float32", TD_DTYPE_FLOAT32},
                {"float64", TD_DTYPE_FLOAT64},
                {"complex64", TD_DTYPE_COMPLEX64},
                {"complex128", TD_DTYPE_COMPLEX128},
                {"bfloat16", TD_DTYPE_BFLOAT16}};
  const int64_t sizes[] = {4, 3, 2};
  td_tensordict *td;
  must(td_create(sizes, 1, TD_DEVICE_NONE, -1, &td));
  for (size_t i = 0; i + !with_bfloat16 < sizeof dtypes / sizeof *dtypes; i++) {
    put(td, TD_KEY("dtypes", dtypes[i].name), numbers(sizes, 2, 12, dtypes[i].dtype));
  }
  put(td, TD_KEY("x"), numbers(sizes, 3, 24, TD_DTYPE_FLOAT32));
  put(td, TD_KEY("n", "m", "y"), numbers(sizes, 1, 4, TD_DTYPE_INT64));
  must(td_set_non_tensor_json(td, TD_KEY("text"), "\"caf\\u00e9 \\ud83d\\ude00\""));
  must(td_set_non_tensor_json(td, TD_KEY("n", "info"),
                              "{\"list\": [1, 2.5, null, true], \"nested\": {\"a b\": \"c\"}}"));
  return td;
}

/* Frees both. */
static void same(td_tensordict *got, td_tensordict *want) {
  int32_t equal = 0;
  must(td_equal(got, want, &equal));
  if (!equal) {
    char text[8192];
    size_t length;
    must(td_to_string(got, text, sizeof text, &length));
    fprintf(stderr, "store_peer: %s: other values than expected in\n%s\n", step, text);
    exit(1);
  }
  td_free(got);
  td_free(want);
}

/* What both sides write into rows of "x" and "n.y": a row, every other row, rows by number, one element. */
static void write_rows(td_store *store) {
  const int64_t rows[] = {3, 0}, all[] = {2, 3, 2};
  td_tensor *row, *places, *one;
  const td_index_item first = TD_I_INT(-3), step_2 = TD_I_STEP(0, 4, 2);
  must(td_store_set_at(store, TD_KEY("x"), &first, 1,
                       row = numbers(all + 1, 2, 6, TD_DTYPE_FLOAT32)));
  td_tensor_free(row);
  must(
      td_store_set_at(store, TD_KEY("x"), &step_2, 1, row = numbers(all, 3, 12, TD_DTYPE_FLOAT32)));
  td_tensor_free(row);
  must(td_tensor_from_data(rows, sizeof rows, all, 1, TD_DTYPE_INT64, &places));
  const td_index_item picked = TD_I_TENSOR(places), last = TD_I_INT(1);
  must(td_store_set_at(store, TD_KEY("n", "m", "y"), &picked, 1,
                       row = numbers(all, 1, 2, TD_DTYPE_INT64)));
  td_tensor_free(row);
  must(td_store_set_at(store, TD_KEY("n", "m", "y"), &last, 1,
                       one = numbers(NULL, 0, 1, TD_DTYPE_INT64)));
  td_tensor_free(one);
  td_tensor_free(places);
}

static void check_rows(const td_store *store) {
  static const float x[24] = {0, 1, 2, 3, 4,  5,  0,  1,  2,  3,  4,  5,
                              6, 7, 8, 9, 10, 11, 18, 19, 20, 21, 22, 23};
  static const int64_t y[4] = {1, 0, 2, 0};
  float got_x[24];
  int64_t got_y[4];
  td_tensor *part;
  td_tensordict *td;
  must(td_store_load(store, &td));
  must(td_get_data(td, TD_KEY("x"), TD_DTYPE_FLOAT32, got_x, sizeof got_x));
  must(td_get_data(td, TD_KEY("n", "m", "y"), TD_DTYPE_INT64, got_y, sizeof got_y));
  td_free(td);
  if (memcmp(got_x, x, sizeof x) != 0) fail("x has other values");
  if (memcmp(got_y, y, sizeof y) != 0) fail("n.m.y has other values");
  const td_index_item rows = TD_I_SLICE(1, 3);
  must(td_store_get_at(store, TD_KEY("x"), &rows, 1, &part));
  must(td_tensor_copy_to(part, got_x, 12 * sizeof(float)));
  td_tensor_free(part);
  if (memcmp(got_x, x + 6, 12 * sizeof(float)) != 0) fail("rows of x have other values");
}

/* The keys, joined: "n.m.y x". */
static void check_keys(const td_store *store, const char *want) {
  char found[1024] = "";
  td_keys *keys;
  must(td_store_keys(store, &keys));
  for (size_t i = 0; i < td_keys_len(keys); i++) {
    const char *const *path;
    size_t path_len;
    must(td_keys_at(keys, i, &path, &path_len));
    for (size_t k = 0; k < path_len; k++) {
      if (i != 0 || k != 0) strcat(found, k == 0 ? " " : ".");
      strcat(found, path[k]);
    }
  }
  td_keys_free(keys);
  if (strcmp(found, want) != 0) fail(found);
}

static void check_each(const td_store *store, const char *name, const char *want) {
  char text[256];
  size_t length;
  td_tensordict *td;
  must(td_store_load(store, &td));
  must(td_get_non_tensor_stack_json(td, TD_KEY(name), text, sizeof text, &length));
  td_free(td);
  if (strcmp(text, want) != 0) fail(text);
}

static td_store *opened(const char *socket, const char *id) {
  td_store_options options = TD_STORE_OPTIONS_INIT;
  td_store *store;
  options.unix_socket = socket;
  options.id = id;
  const td_status status = td_store_open(&options, &store);
  if (strcmp(step, "probe") == 0) exit(status == TD_ERR_UNSUPPORTED ? 77 : 0);
  must(status);
  return store;
}

static void write_all(const char *socket, const char *id) {
  td_store_options options = TD_STORE_OPTIONS_INIT;
  td_store *store;
  td_tensordict *td = values(1);
  options.unix_socket = socket;
  options.id = id;
  must(td_set_non_tensor_stack_json(td, TD_KEY("each"), "[\"p\", [1], null, 2.5]"));
  must(td_store_from(td, &options, &store));
  td_store_free(store);
  td_free(td);
}

/* As stack() of store.py. */
static td_tensordict *stack_of(int64_t dim) {
  td_tensordict *elements[3], *stack;
  for (int i = 0; i < 3; i++) {
    const int64_t sizes[] = {2, 3}, wide[] = {2, i + 1};
    int64_t a[6];
    float h[6];
    td_tensor *made;
    for (int k = 0; k < 6; k++) a[k] = 10 * i + k;
    for (int k = 0; k < 2 * (i + 1); k++) h[k] = (float)(100 * i + k);
    must(td_create(sizes, 1, TD_DEVICE_NONE, -1, &elements[i]));
    must(td_tensor_from_data(a, sizeof a, sizes, 2, TD_DTYPE_INT64, &made));
    put(elements[i], TD_KEY("a"), made);
    must(td_tensor_from_data(h, sizeof(float) * 2 * (size_t)(i + 1), wide, 2, TD_DTYPE_FLOAT32,
                             &made));
    put(elements[i], TD_KEY("n", "h"), made);
  }
  must(td_lazy_stack((const td_tensordict *const *)elements, 3, dim, &stack));
  for (int i = 0; i < 3; i++) td_free(elements[i]);
  return stack;
}

/* The first row of "a" in the second element becomes 7; along the first dimension that of "n.h" becomes 9. */
static void change_stack(td_store *store, int64_t dim) {
  const td_index_item places[] = {TD_I_INT(dim == 0 ? 1 : 0), TD_I_INT(dim == 0 ? 0 : 1)};
  const int64_t seven = 7;
  const float nine = 9;
  td_tensor *value;
  must(td_tensor_from_data(&seven, sizeof seven, NULL, 0, TD_DTYPE_INT64, &value));
  must(td_store_set_at(store, TD_KEY("a"), places, 2, value));
  td_tensor_free(value);
  if (dim != 0) return;
  must(td_tensor_from_data(&nine, sizeof nine, NULL, 0, TD_DTYPE_FLOAT32, &value));
  must(td_store_set_at(store, TD_KEY("n", "h"), places, 2, value));
  td_tensor_free(value);
}

/* The stack that lies there, against that of stack_of() with the same change. */
static void check_stack(const td_store *store, const char *socket, int64_t dim, int changed) {
  td_tensordict *want = stack_of(dim), *got;
  if (changed) {
    td_store_options options = TD_STORE_OPTIONS_INIT;
    td_store *other;
    options.unix_socket = socket;
    must(td_store_from(want, &options, &other));
    change_stack(other, dim);
    td_free(want);
    must(td_store_load(other, &want));
    must(td_store_delete(other));
    td_store_free(other);
  }
  must(td_store_load(store, &got));
  same(got, want);
}

/* Whether an entry is 0, 1, ... in the shape of the batch. */
static void check_numbers(const td_store *store, const char *const *path, size_t path_len,
                          td_dtype dtype) {
  float got[6];
  td_tensor *tensor, *numbers_there;
  must(td_store_get(store, path, path_len, &tensor));
  must(td_tensor_to(tensor, TD_DTYPE_FLOAT32, TD_DEVICE_NONE, -1, &numbers_there));
  must(td_tensor_copy_to(numbers_there, got, sizeof got));
  for (int i = 0; i < 6; i++) {
    if (got[i] != (float)i) fail("an entry has other values than were set");
  }
  td_dtype found;
  must(td_tensor_dtype(tensor, &found));
  if (found != dtype) fail("an entry has another dtype than was set");
  td_tensor_free(numbers_there);
  td_tensor_free(tensor);
}

/* What is done with stacks; 0: it is no step of these. The step ends with the dimension. */
static int do_stack(td_store *store, const char *socket) {
  const size_t length = strlen(step);
  const int64_t dim = step[length - 1] - '0';
  const int64_t sizes[] = {dim == 0 ? 3 : 2, dim == 0 ? 2 : 3};
  if (strncmp(step, "read stack", 10) == 0) {
    check_stack(store, socket, dim, 0);
  } else if (strncmp(step, "read changed stack", 18) == 0) {
    check_stack(store, socket, dim, 1);
  } else if (strncmp(step, "change stack", 12) == 0) {
    change_stack(store, dim);
  } else if (strncmp(step, "set stack", 9) == 0) {
    td_tensor *all = numbers(sizes, 2, 6, TD_DTYPE_INT64);
    must(td_store_set(store, TD_KEY("a"), all));
    td_tensor_free(all);
  } else if (strncmp(step, "read set stack", 14) == 0) {
    check_numbers(store, TD_KEY("n", "h"), TD_DTYPE_FLOAT32);
  } else {
    return 0;
  }
  return 1;
}

static void write_new(const char *socket, const char *id, td_tensordict *td) {
  td_store_options options = TD_STORE_OPTIONS_INIT;
  td_store *store;
  options.unix_socket = socket;
  options.id = id;
  must(td_store_from(td, &options, &store));
  td_store_free(store);
  td_free(td);
}

static td_tensordict *texts(int dims) {
  const int64_t sizes[] = {2, 2};
  td_tensordict *td;
  must(td_create(sizes, (size_t)dims, TD_DEVICE_NONE, -1, &td));
  must(td_set_non_tensor_stack_json(
      td, TD_KEY("t"), dims == 1 ? "[\"a\", \"b\"]" : "[[\"a\", \"b\"], [\"c\", \"d\"]]"));
  return td;
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  step = argv[2];
  if (strncmp(step, "write stack", 11) == 0) {
    write_new(argv[1], argv[3], stack_of(step[12] - '0'));
    return 0;
  }
  if (strncmp(step, "write texts", 11) == 0) {
    write_new(argv[1], argv[3], texts(step[11] == 0 ? 1 : 2));
    return 0;
  }
  if (strcmp(step, "write") == 0) {
    write_all(argv[1], argv[3]);
    return 0;
  }
  td_store *store = opened(argv[1], argv[3]);
  if (do_stack(store, argv[1])) {
  } else if (strcmp(step, "read texts") == 0) {
    check_each(store, "t", "[\"a\", \"b\"]");
    check_each(store, "list", "[\"e\", {\"f\":1}]");
    const td_index_item last = TD_I_INT(1);
    td_tensordict *row;
    char text[64];
    size_t length;
    must(td_store_index(store, &last, 1, &row));
    must(td_get_non_tensor_json(row, TD_KEY("n", "t"), text, sizeof text, &length));
    if (strcmp(text, "\"d\"") != 0) fail(text);
    td_free(row);
  } else if (strcmp(step, "read texts 2") == 0) {
    check_each(store, "t", "[[\"a\", \"b\"], [\"c\", \"d\"]]");
  } else if (strcmp(step, "read") == 0) {
    td_tensordict *td;
    must(td_store_load(store, &td));
    same(td, values(0));
  } else if (strcmp(step, "write rows") == 0) {
    write_rows(store);
  } else if (strcmp(step, "read rows") == 0) {
    check_rows(store);
  } else if (strcmp(step, "remove") == 0) {
    must(td_store_remove(store, TD_KEY("dtypes")));
    must(td_store_remove(store, TD_KEY("text")));
  } else if (strcmp(step, "removed") == 0) {
    check_keys(store, "n.info n.m.y x");
  } else if (strcmp(step, "read each") == 0) {
    check_each(store, "each", "[null, \"q\", {\"k\":1}, \"q\"]");
  } else if (strcmp(step, "read zeros") == 0) {
    td_tensordict *td, *want;
    must(td_create((const int64_t[]){2}, 1, TD_DEVICE_NONE, -1, &want));
    td_tensor *zeros;
    must(td_tensor_zeros((const int64_t[]){2, 3}, 2, TD_DTYPE_INT16, TD_DEVICE_CPU, -1, &zeros));
    put(want, TD_KEY("a"), zeros);
    must(td_tensor_zeros((const int64_t[]){2, 0}, 2, TD_DTYPE_BOOL, TD_DEVICE_CPU, -1, &zeros));
    put(want, TD_KEY("none"), zeros);
    must(td_store_load(store, &td));
    same(td, want);
  } else if (strcmp(step, "read pickled") == 0) {
    char text[64];
    size_t length;
    td_tensor *tensor;
    static const char *const names[] = {"bytes", "object"};
    for (int i = 0; i < 2; i++) {
      if (td_store_get_non_tensor_json(store, &names[i], 1, text, sizeof text, &length) !=
          TD_ERR_UNSUPPORTED)
        fail("what is pickled and no plain value was not refused");
      puts(td_last_error_message());
      if (td_store_get(store, &names[i], 1, &tensor) != TD_ERR_WRONG_ENTRY) fail("a tensor");
    }
  } else {
    return 2;
  }
  td_store_free(store);
  return 0;
}
