/* Conversions, gradients and states of lazy stacks and sub-tensordicts. */
#include <stdlib.h>

#include "td_values.h"

static td_tensordict *part(double value, int64_t width) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("w"), td_filled(TD_DTYPE_FLOAT32, value, TD_SIZES(2, width)));
  td_put(td, TD_KEY("n", "v"), td_filled(TD_DTYPE_FLOAT32, value, TD_SIZES(2)));
  return td;
}

static td_tensordict *stacked(int64_t first, int64_t second) {
  td_tensordict *one = part(1, first), *two = part(2, second), *lazy = NULL;
  TD_DO(td_lazy_stack((const td_tensordict *const[]){one, two}, 2, 0, &lazy));
  return lazy;
}

static int64_t measured(const td_tensordict *td, td_measure_kind kind) {
  int64_t result = -1;
  TD_DO(td_measure(td, kind, &result));
  return result;
}

TD_TEST(each_element_of_a_lazy_stack_is_converted) {
  td_tensordict *lazy = stacked(3, 4), *result = NULL; /* "w" cannot be read at once */
  TD_CHECK_INT(measured(lazy, TD_MEASURE_ELEMENTS), 6 + 2 + 8 + 2);
  TD_CHECK_INT(measured(lazy, TD_MEASURE_DTYPE), TD_DTYPE_FLOAT32);
  TD_DO(td_to(lazy, NULL, TD_DTYPE_FLOAT64, TD_DEVICE_CPU, -1, NULL, &result));
  TD_CHECK_INT(measured(result, TD_MEASURE_DTYPE), TD_DTYPE_FLOAT64);
  TD_CHECK_INT(measured(result, TD_MEASURE_ELEMENTS), 18);
  TD_DO(td_to_inplace(lazy, NULL, TD_DTYPE_FLOAT16, TD_DEVICE_NONE, -1, NULL));
  TD_CHECK_INT(measured(lazy, TD_MEASURE_DTYPE), TD_DTYPE_FLOAT16);
  TD_DO(td_auto_device(lazy));
  td_device_type kind = 99;
  int32_t index = 0;
  TD_DO(td_device(lazy, &kind, &index));
  TD_CHECK_INT(kind, TD_DEVICE_CPU);
}

TD_TEST(gradients_of_a_lazy_stack) {
  td_tensordict *lazy = stacked(3, 3), *result = NULL;
  TD_DO(td_set_requires_grad(lazy, 1));
  TD_CHECK_INT(measured(lazy, TD_MEASURE_REQUIRES_GRAD), 1);
  TD_DO(td_detach(lazy, TD_DETACH_HISTORY, &result));
  TD_CHECK_INT(measured(result, TD_MEASURE_REQUIRES_GRAD), 0);
  TD_CHECK_BATCH(result, 2, 2);
  td_tensordict *seed = result;
  TD_DO(td_backward(lazy, seed, NULL, NULL)); /* what it reads as, and back to the elements */
  TD_DO(td_grad(lazy, &result));
  TD_CHECK_ENTRY(result, TD_KEY("n", "v"), TD_SIZES(2, 2), TD_VALUES(1, 1, 2, 2));
  TD_DO(td_zero_grad(lazy, 0));
  TD_DO(td_grad(lazy, &result));
  TD_CHECK(result == NULL);
}

TD_TEST(states_of_a_lazy_stack_are_what_it_reads_as) {
  td_tensordict *lazy = stacked(3, 3), *state = NULL, *outer = td_empty(TD_SIZES(2));
  TD_DO(td_state_dict(lazy, NULL, &state));
  TD_CHECK_ENTRY(state, TD_KEY("n.v"), TD_SIZES(2, 2), TD_VALUES(1, 1, 2, 2));
  TD_DO(td_load_state_dict(lazy, state, NULL));
  TD_DO(td_set_dict(outer, TD_KEY("lazy"), lazy));
  TD_DO(td_state_dict(outer, NULL, &state));
  TD_CHECK_ENTRY(state, TD_KEY("lazy.n.v"), TD_SIZES(2, 2), TD_VALUES(1, 1, 2, 2));
  TD_DO(td_load_state_dict(outer, state, NULL));
  size_t length = 0;
  TD_DO(td_schema(outer, NULL, 0, &length));
  TD_CHECK(length > 0);
}

TD_TEST(sub_tensordicts_write_to_the_part) {
  td_tensordict *td = td_sample(), *sub_tensordict = NULL, *result = NULL;
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_SLICE(1, 3)), &sub_tensordict));
  TD_CHECK_INT(measured(sub_tensordict, TD_MEASURE_ELEMENTS), 18);
  TD_DO(td_to(sub_tensordict, NULL, TD_DTYPE_FLOAT64, TD_DEVICE_NONE, -1, NULL, &result));
  TD_CHECK_ENTRY(result, TD_KEY("n", "b"), TD_SIZES(2, 3), TD_VALUES(3, 4, 5, 6, 7, 8));
  TD_EXPECT(td_to_inplace(sub_tensordict, NULL, TD_DTYPE_FLOAT64, TD_DEVICE_NONE, -1, NULL),
            TD_ERR_UNSUPPORTED);
  TD_DO(td_state_dict(sub_tensordict, NULL, &result));
  TD_CHECK_ENTRY(result, TD_KEY("n.b"), TD_SIZES(2, 3), TD_VALUES(3, 4, 5, 6, 7, 8));
  TD_EXPECT(td_load_state_dict(sub_tensordict, result, NULL), TD_ERR_UNSUPPORTED);
}
