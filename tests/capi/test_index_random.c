/* Random index expressions: a dictionary answers as a bare tensor of its batch shape does, and what
 * is written through an index is what is read through it. */
#include <string.h>

#include "td_random.h"
#include "td_values.h"

enum { ROUNDS = 4000, MOST_ITEMS = 5 };

typedef struct expression {
  td_index_item items[MOST_ITEMS];
  td_tensor *tensors[MOST_ITEMS];
  size_t count;
} expression;

static int64_t odd(td_random *random, int64_t usual) {
  static const int64_t far[] = {INT64_MIN, INT64_MAX, INT64_MIN + 1, -1000, 1000};
  return td_random_one_in(random, 40) ? far[td_random_next(random) % 5] : usual;
}

static td_tensor *random_tensor(td_random *random) {
  static const td_dtype dtypes[] = {TD_DTYPE_INT64, TD_DTYPE_INT32, TD_DTYPE_UINT8, TD_DTYPE_BOOL};
  int64_t sizes[2], values[9];
  uint8_t bytes[9];
  td_tensor *wide = NULL, *tensor = NULL;
  const size_t dims = (size_t)td_random_between(random, 0, 2);
  const int is_mask = td_random_one_in(random, 3);
  size_t count = 1;
  for (size_t i = 0; i < dims; i++) {
    sizes[i] = td_random_between(random, td_random_one_in(random, 6) ? 0 : 1, 3);
    count *= (size_t)sizes[i];
  }
  for (size_t i = 0; i < count; i++) {
    values[i] = td_random_between(random, td_random_one_in(random, 30) ? -6 : -1, 2);
    bytes[i] = (uint8_t)td_random_one_in(random, 2);
  }
  if (is_mask) {
    TD_DO(td_tensor_from_data(bytes, count, sizes, dims, TD_DTYPE_BOOL, &tensor));
    return tensor;
  }
  TD_DO(td_tensor_from_data(values, count * sizeof *values, sizes, dims, TD_DTYPE_INT64, &wide));
  TD_DO(td_tensor_to(wide, dtypes[td_random_next(random) % 2], TD_DEVICE_NONE, -1, &tensor));
  td_tensor_free(wide);
  return tensor;
}

static void make_expression(td_random *random, expression *it) {
  memset(it, 0, sizeof *it);
  it->count = (size_t)td_random_between(random, 0, MOST_ITEMS - 1);
  for (size_t i = 0; i < it->count; i++) {
    td_index_item *item = &it->items[i];
    item->kind = (td_index_kind)td_random_between(random, TD_INDEX_INT, TD_INDEX_BOOL);
    if (item->kind == TD_INDEX_INT) item->start = odd(random, td_random_between(random, -2, 1));
    if (item->kind == TD_INDEX_BOOL) item->start = td_random_between(random, 0, 1);
    if (item->kind == TD_INDEX_TENSOR) item->tensor = it->tensors[i] = random_tensor(random);
    if (item->kind != TD_INDEX_SLICE) continue;
    item->flags = td_random_next(random) % 8;
    if (item->flags & TD_INDEX_HAS_START)
      item->start = odd(random, td_random_between(random, -5, 5));
    if (item->flags & TD_INDEX_HAS_STOP) item->stop = odd(random, td_random_between(random, -5, 5));
    if (item->flags & TD_INDEX_HAS_STEP) item->step = odd(random, td_random_between(random, 1, 3));
  }
}

static void free_expression(expression *it) {
  for (size_t i = 0; i < it->count; i++) td_tensor_free(it->tensors[i]);
}

/* "p" of the batch shape, and "n", "f" with a feature dimension of 2. */
static td_tensordict *random_dictionary(td_random *random) {
  int64_t sizes[5];
  const size_t dims = (size_t)td_random_between(random, td_random_one_in(random, 10) ? 0 : 1, 4);
  for (size_t i = 0; i < dims; i++)
    sizes[i] = td_random_between(random, td_random_one_in(random, 20) ? 0 : 1, 3);
  sizes[dims] = 2;
  td_tensordict *td = td_empty(sizes, dims);
  td_put(td, TD_KEY("p"), td_arange(TD_DTYPE_INT64, 0, sizes, dims));
  td_put(td, TD_KEY("n", "f"), td_arange(TD_DTYPE_FLOAT32, 0, sizes, dims + 1));
  return td;
}

static size_t batch_of(const td_tensordict *td, int64_t sizes[16]) {
  size_t dims = 0;
  TD_DO(td_batch_size(td, sizes, 16, &dims));
  return dims;
}

static void check_equal(const td_tensor *one, const td_tensor *other) {
  TD_CHECK(td_tensor_equals(one, other));
}

/* Every value of "p" is one more or one less than half of those of "n", "f": 2p and 2p + 1. */
static void check_features(const td_tensordict *part) {
  td_tensor *p = td_take(part, TD_KEY("p")), *f = td_take(part, TD_KEY("n", "f"));
  size_t bytes = 0;
  static int64_t places[1 << 12];
  static float features[1 << 13];
  TD_DO(td_tensor_nbytes(p, &bytes));
  TD_CHECK(bytes <= sizeof places);
  TD_DO(td_tensor_copy_to(p, places, bytes));
  TD_DO(td_tensor_copy_to(f, features, bytes / sizeof *places * 2 * sizeof *features));
  for (size_t i = 0; i < bytes / sizeof *places; i++) {
    TD_CHECK(features[2 * i] == (float)(2 * places[i]));
    TD_CHECK(features[2 * i + 1] == (float)(2 * places[i] + 1));
  }
  td_tensor_free(p);
  td_tensor_free(f);
}

TD_TEST(dictionaries_answer_as_tensors_do) {
  td_random random = td_random_begin();
  int good = 0;
  for (int round = 0; round < ROUNDS; round++) {
    expression at;
    td_tensordict *td = random_dictionary(&random), *part = NULL;
    td_tensor *p = td_take(td, TD_KEY("p")), *p_part = NULL;
    make_expression(&random, &at);
    const td_status status = td_index(td, at.items, at.count, &part);
    TD_CHECK_INT(td_tensor_index(p, at.items, at.count, &p_part), status);
    TD_CHECK(status == TD_OK || status == TD_ERR_INDEX);
    if (status == TD_OK) {
      int64_t sizes[16];
      const size_t dims = batch_of(part, sizes);
      td_tensor *taken = td_take(part, TD_KEY("p"));
      td_check_sizes(__FILE__, __LINE__, taken, sizes, dims);
      check_equal(taken, p_part);
      check_features(part);
      td_tensor_free(taken);
      good++;
    }
    td_tensor_free(p_part);
    td_tensor_free(p);
    td_free(part);
    td_free(td);
    free_expression(&at);
  }
  TD_CHECK(good > ROUNDS / 20);
}

/* How many of the values of a tensor are negative, and how many different ones there are. */
static void count_values(const td_tensor *tensor, size_t *negative, size_t *different) {
  static int64_t values[1 << 12];
  char seen[128] = {0};
  size_t bytes = 0;
  *negative = *different = 0;
  TD_DO(td_tensor_nbytes(tensor, &bytes));
  TD_DO(td_tensor_copy_to(tensor, values, bytes));
  for (size_t i = 0; i < bytes / sizeof *values; i++) {
    *negative += values[i] < 0;
    if (values[i] >= 0 && !seen[values[i]]) {
      seen[values[i]] = 1;
      ++*different;
    }
  }
}

TD_TEST(what_is_written_is_what_is_read) {
  td_random random = td_random_begin();
  td_tensor *minus = td_filled(TD_DTYPE_INT64, -1, TD_NO_SIZES);
  int good = 0;
  for (int round = 0; round < ROUNDS; round++) {
    expression at;
    td_tensordict *td = random_dictionary(&random), *part = NULL, *value = NULL, *again = NULL;
    make_expression(&random, &at);
    if (td_index(td, at.items, at.count, &part) == TD_OK) {
      td_tensor *p = td_take(part, TD_KEY("p"));
      size_t negative = 0, selected = 0, left = 0;
      count_values(p, &negative, &selected);
      td_tensor_free(p);
      TD_DO(td_clone(part, 0, &value));
      TD_DO(td_fill_at(value, NULL, 0, minus));
      TD_DO(td_set_at(td, at.items, at.count, value));
      p = td_take(td, TD_KEY("p"));
      count_values(p, &negative, &left);
      TD_CHECK_INT(negative, selected);
      td_tensor_free(p);
      TD_DO(td_index(td, at.items, at.count, &again));
      TD_CHECK_EQUAL(again, value);
      good++;
    } else {
      TD_EXPECT(td_set_at(td, at.items, at.count, td), TD_ERR_INDEX);
    }
    td_free(again);
    td_free(value);
    td_free(part);
    td_free(td);
    free_expression(&at);
  }
  TD_CHECK(good > ROUNDS / 20);
}
