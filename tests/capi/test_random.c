/* Random tensors, their generators, and numbers in order. */
#include "td_values.h"

static td_generator *generator_of(uint64_t seed) {
  td_generator *generator = NULL;
  TD_DO(td_generator_create(seed, &generator));
  return generator;
}

static void check_same(td_tensor *one, td_tensor *other, int32_t want) {
  int32_t equal = -1;
  TD_DO(td_tensor_equal(one, other, &equal));
  TD_CHECK_INT(equal, want);
  td_tensor_free(one);
  td_tensor_free(other);
}

static td_tensor *order(int64_t n, td_generator *generator) {
  td_tensor *result = NULL;
  TD_DO(td_tensor_randperm(n, generator, &result));
  return result;
}

TD_TEST(one_seed_gives_one_order) {
  td_generator *one = generator_of(42), *other = generator_of(42), *third = generator_of(43);
  td_tensor *rows = order(1000, one);
  void *data = NULL;
  char seen[1000] = {0};
  TD_DO(td_tensor_data(rows, &data));
  for (int i = 0; i < 1000; i++) seen[((int64_t *)data)[i]]++;
  for (int i = 0; i < 1000; i++) TD_CHECK_INT(seen[i], 1);
  check_same(rows, order(1000, other), 1);
  check_same(order(1000, one), order(1000, other), 1);
  check_same(order(1000, one), order(1000, third), 0);
  td_tensor *none = order(0, NULL);
  TD_CHECK_SIZES(none, 0);
  td_tensor_free(none);
  TD_EXPECT_NULL(td_tensor_randperm(-1, one, &none), TD_ERR_INVALID_ARGUMENT, none);
}

TD_TEST(a_state_goes_on) {
  td_generator *one = generator_of(1), *other = generator_of(2);
  td_tensor *state = NULL, *bad = td_filled(TD_DTYPE_INT64, 0, TD_SIZES(3));
  td_tensor_free(order(10, one));
  TD_DO(td_generator_state(one, &state));
  TD_DO(td_generator_load_state(other, state));
  check_same(order(50, one), order(50, other), 1);
  TD_EXPECT(td_generator_load_state(other, bad), TD_ERR_DTYPE);
  check_same(order(50, one), order(50, other), 1);
  td_tensor_free(bad);
  bad = td_filled(TD_DTYPE_UINT8, 0, TD_SIZES(3));
  TD_EXPECT(td_generator_load_state(other, bad), TD_ERR_TORCH);
}

TD_TEST(numbers_in_their_range) {
  td_generator *generator = generator_of(5);
  td_tensor *numbers = NULL;
  TD_DO(td_tensor_randint(-2, 3, TD_SIZES(20, 50), TD_DTYPE_INT32, generator, &numbers));
  TD_CHECK_SIZES(numbers, 20, 50);
  void *data = NULL;
  int counts[5] = {0};
  TD_DO(td_tensor_data(numbers, &data));
  for (int i = 0; i < 1000; i++) counts[((int32_t *)data)[i] + 2]++;
  for (int i = 0; i < 5; i++) TD_CHECK(counts[i] > 120 && counts[i] < 280);
  td_tensor_free(numbers);
  TD_EXPECT_NULL(td_tensor_randint(3, 3, TD_SIZES(2), TD_DTYPE_INT64, generator, &numbers),
                 TD_ERR_INVALID_ARGUMENT, numbers);
  TD_EXPECT_NULL(td_tensor_randint(0, 3, TD_SIZES(-2), TD_DTYPE_INT64, generator, &numbers),
                 TD_ERR_SHAPE, numbers);
}

TD_TEST(numbers_in_order) {
  td_tensor *numbers = NULL;
  TD_DO(td_tensor_arange(3, 10, 3, TD_DTYPE_INT64, &numbers));
  TD_CHECK_VALUES(numbers, 3, 6, 9);
  td_tensor_free(numbers);
  TD_DO(td_tensor_arange(2, -1, -1, TD_DTYPE_FLOAT32, &numbers));
  TD_CHECK_VALUES(numbers, 2, 1, 0);
  td_tensor_free(numbers);
  TD_EXPECT_NULL(td_tensor_arange(0, 3, 0, TD_DTYPE_INT64, &numbers), TD_ERR_INVALID_ARGUMENT,
                 numbers);
  TD_EXPECT_NULL(td_tensor_arange(3, 0, 1, TD_DTYPE_INT64, &numbers), TD_ERR_INVALID_ARGUMENT,
                 numbers);
}
