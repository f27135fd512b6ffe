/* What becomes an address is copied before it is checked: another thread writes into index tensors, masks, counts and
   sizes while calls use them. Calls may fail; none may touch memory that is not theirs. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "td_values.h"

enum { LONG = 4096, SHORT = 64 };

/* Memory that changes between two states: good values, and values that would be wild addresses. */
typedef struct torn {
  void *data;
  size_t bytes;
  void *good, *bad;
  _Atomic int stop;
} torn;

static void *tear(void *user) {
  torn *it = user;
  while (!it->stop) {
    memcpy(it->data, it->bad, it->bytes);
    memcpy(it->data, it->good, it->bytes);
  }
  return NULL;
}

static td_tensor *numbers_of(td_dtype dtype, int64_t value, int64_t n) {
  return td_filled(dtype, value, TD_SIZES(n));
}

static void *data_of(const td_tensor *tensor) {
  void *data = NULL;
  TD_DO(td_tensor_data(tensor, &data));
  return data;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Runs `use(tensor)` while the tensor's memory is torn. It has one dimension. */
static void torn_apart(td_tensor *tensor, td_tensor *good, td_tensor *bad,
                       void (*use)(const td_tensor *tensor, const void *memory)) {
  torn it = {data_of(tensor), 0, data_of(good), data_of(bad), 0};
  pthread_t thread;
  TD_DO(td_tensor_nbytes(tensor, &it.bytes));
  TD_CHECK(pthread_create(&thread, NULL, tear, &it) == 0);
  for (const double end = now() + 0.2; now() < end;)
    for (int i = 0; i < 20; i++) use(tensor, it.data);
  it.stop = 1;
  pthread_join(thread, NULL);
  td_tensor_free(tensor);
  td_tensor_free(good);
  td_tensor_free(bad);
}

static void positions(int64_t n, void (*use)(const td_tensor *tensor, const void *memory)) {
  torn_apart(numbers_of(TD_DTYPE_INT64, 0, n), numbers_of(TD_DTYPE_INT64, 1, n),
             numbers_of(TD_DTYPE_INT64, INT64_C(1) << 40, n), use);
}

static void use_index(const td_tensor *index, const void *memory) {
  (void)memory;
  td_tensordict *td = td_sample(), *part = NULL;
  td_tensor *a = td_take(td, TD_KEY("a")), *picked = NULL;
  td_tensor *number = td_filled(TD_DTYPE_FLOAT32, 1, TD_NO_SIZES);
  const td_index_item item = TD_I_TENSOR(index);
  (void)!td_index(td, &item, 1, &part);
  td_free(part);
  (void)!td_fill_at(td, &item, 1, number);
  (void)!td_tensor_index(a, &item, 1, &picked);
  td_tensor_free(picked);
  td_tensor_free(a);
  td_tensor_free(number);
  td_free(td);
}

static void use_index_of_a_stack(const td_tensor *index, const void *memory) {
  (void)memory;
  td_tensordict *both[] = {td_sample(), td_sample()}, *stack = NULL, *part = NULL, *row = NULL;
  TD_DO(td_lazy_stack((const td_tensordict *const *)both, 2, 0, &stack));
  const td_index_item item = TD_I_TENSOR(index);
  (void)!td_index(stack, &item, 1, &part);
  if (part != NULL) (void)!td_set_at(stack, &item, 1, part);
  td_free(part);
  (void)!td_sub_tensordict(stack, &item, 1, &row);
  if (row != NULL) (void)!td_clone(row, 0, &part);
  td_free(part);
  td_free(row);
  td_free(stack);
  td_free(both[0]);
  td_free(both[1]);
}

static void use_gather(const td_tensor *index, const void *memory) {
  (void)memory;
  td_tensordict *td = td_empty(TD_SIZES(4)), *part = NULL;
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4, 16)));
  (void)!td_gather(td, 0, index, &part);
  td_free(part);
  td_free(td);
}

static void use_counts(const td_tensor *counts, const void *memory) {
  (void)memory;
  td_tensordict *td = td_empty(TD_SIZES(SHORT)), *wide = NULL;
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_UINT8, 0, TD_SIZES(SHORT)));
  (void)!td_repeat_interleave(td, counts, 0, &wide);
  td_free(wide);
  td_free(td);
}

static void use_mask(const td_tensor *mask, const void *memory) {
  (void)memory;
  td_tensordict *td = td_empty(TD_SIZES(LONG)), *part = NULL;
  td_put(td, TD_KEY("x"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(LONG)));
  (void)!td_index(td, TD_AT(TD_I_TENSOR(mask)), &part);
  td_free(part);
  (void)!td_masked_select(td, mask, &part);
  td_free(part);
  td_free(td);
}

static void use_priorities(const td_tensor *index, const void *memory) {
  (void)memory;
  td_replay *replay = NULL;
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  options.capacity = 8;
  options.sampler = TD_REPLAY_SAMPLER_PRIORITIZED;
  TD_DO(td_replay_create(&options, &replay));
  td_tensordict *td = td_empty(TD_SIZES(8));
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(8)));
  TD_DO(td_replay_extend(replay, td));
  td_free(td);
  td_tensor *priority = td_filled(TD_DTYPE_FLOAT32, 2, TD_SIZES(1));
  (void)!td_replay_update_priority(replay, index, priority);
  td_tensor_free(priority);
  td_replay_free(replay);
}

/* Divisors: -1 ends the process when the smallest number is divided. */
static void use_divisor(const td_tensor *divisor, const void *memory) {
  (void)memory;
  static const char *const names[] = {"remainder", "fmod", "floor_divide", "lcm"};
  td_tensordict *td = td_empty(TD_SIZES(LONG)), *result = NULL;
  td_tensor *smallest = NULL;
  static int64_t values[LONG];
  for (int i = 0; i < LONG; i++) values[i] = INT64_MIN;
  TD_DO(td_tensor_from_data(values, sizeof values, TD_SIZES(LONG), TD_DTYPE_INT64, &smallest));
  td_put(td, TD_KEY("x"), smallest);
  const td_operand by = TD_O_TENSOR(divisor);
  (void)!td_binary(td, TD_BINARY_MOD, &by, NULL, &result);
  td_free(result);
  const td_call_argument arguments[] = {TD_ARG_TENSOR(NULL, divisor),
                                        TD_ARG_TEXT("rounding_mode", "trunc")};
  size_t count = 0;
  for (int i = 0; i < 4; i++) {
    (void)!td_call(td, names[i], arguments, 1, NULL, &result, 1, &count);
    td_free(result);
  }
  (void)!td_call(td, "div", arguments, 2, NULL, &result, 1, &count);
  td_free(result);
  td_free(td);
}

/* What lcm divides. */
static void use_dividend(const td_tensor *dividend, const void *memory) {
  (void)memory;
  td_tensordict *td = td_empty(TD_SIZES(LONG)), *result = NULL;
  td_tensor *five = td_filled(TD_DTYPE_INT64, 5, TD_SIZES(LONG));
  TD_DO(td_set(td, TD_KEY("x"), dividend));
  const td_call_argument argument = TD_ARG_TENSOR(NULL, five);
  size_t count = 0;
  (void)!td_call(td, "lcm", &argument, 1, NULL, &result, 1, &count);
  td_free(result);
  td_tensor_free(five);
  td_free(td);
}

/* Positions that an operator gets by name. */
static void use_argument(const td_tensor *index, const void *memory) {
  (void)memory;
  td_tensordict *td = td_empty(TD_NO_SIZES), *result = NULL;
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(64, 2)));
  const td_call_argument arguments[] = {TD_ARG_INT(NULL, 0), TD_ARG_TENSOR(NULL, index)};
  size_t count = 0;
  (void)!td_call(td, "index_select", arguments, 2, NULL, &result, 1, &count);
  td_free(result);
  td_free(td);
}

/* The part sizes of a nested tensor: they are used again when it is read. */
static void use_part_sizes(const td_tensor *sizes, const void *memory) {
  (void)memory;
  td_tensor *values = td_arange(TD_DTYPE_UINT8, 0, TD_SIZES(SHORT)), *table = NULL, *padded = NULL;
  td_tensordict *nested = NULL;
  TD_DO(td_tensor_index(sizes, TD_AT(TD_I_ALL, TD_I_NONE), &table));
  (void)!td_nested_tensor_create(values, table, &nested);
  if (nested != NULL) (void)!td_nested_tensor_to_padded(nested, NULL, &padded, NULL);
  td_tensor_free(padded);
  td_free(nested);
  td_tensor_free(table);
  td_tensor_free(values);
}

/* Sizes that a program keeps in an array of its own. */
static void use_array(const td_tensor *sizes, const void *memory) {
  (void)sizes;
  static const char bytes[SHORT];
  td_tensor *tensor = NULL, *copy = NULL;
  (void)!td_tensor_from_blob((void *)bytes, memory, NULL, 2, TD_DTYPE_UINT8, TD_DEVICE_CPU, -1,
                             NULL, NULL, &tensor);
  td_tensor_free(tensor);
  (void)!td_tensor_from_data(bytes, 1, memory, 2, TD_DTYPE_UINT8, &copy);
  td_tensor_free(copy);
}

TD_TEST(positions_of_a_dictionary) { positions(LONG, use_index); }
TD_TEST(positions_of_a_lazy_stack) { positions(SHORT, use_index_of_a_stack); }
TD_TEST(positions_to_gather) { positions(SHORT, use_gather); }
TD_TEST(positions_of_priorities) { positions(LONG, use_priorities); }
TD_TEST(positions_of_an_operator) { positions(LONG, use_argument); }
TD_TEST(divisors) {
  torn_apart(numbers_of(TD_DTYPE_INT64, 1, LONG), numbers_of(TD_DTYPE_INT64, 1, LONG),
             numbers_of(TD_DTYPE_INT64, -1, LONG), use_divisor);
}
TD_TEST(dividends) {
  torn_apart(numbers_of(TD_DTYPE_INT64, 1, LONG), numbers_of(TD_DTYPE_INT64, 1, LONG),
             td_filled(TD_DTYPE_INT64, (double)INT64_MIN, TD_SIZES(LONG)), use_dividend);
}
TD_TEST(sizes_of_parts) { positions(SHORT, use_part_sizes); }
TD_TEST(sizes_in_an_array) { positions(2, use_array); }
TD_TEST(counts) {
  torn_apart(numbers_of(TD_DTYPE_INT64, 0, SHORT), numbers_of(TD_DTYPE_INT64, 0, SHORT),
             numbers_of(TD_DTYPE_INT64, 2000, SHORT), use_counts);
}
TD_TEST(masks) {
  torn_apart(numbers_of(TD_DTYPE_BOOL, 0, LONG), numbers_of(TD_DTYPE_BOOL, 0, LONG),
             numbers_of(TD_DTYPE_BOOL, 1, LONG), use_mask);
}
