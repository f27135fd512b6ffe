/* Numbers that a dtype has no room for: the message names both, and nothing has changed. */
#include <math.h>
#include <stdlib.h>

#include "td_values.h"

/* {"f": float32 [2], "u": uint8 [2]} of batch size [2]. */
static td_tensordict *sample(void) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("f"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2)));
  td_put(td, TD_KEY("u"), td_arange(TD_DTYPE_UINT8, 1, TD_SIZES(2)));
  return td;
}

#define REFUSED(call, number, dtype)                               \
  do {                                                             \
    TD_EXPECT(call, TD_ERR_DTYPE);                                 \
    TD_CHECK_TEXT(td_last_error_message(), number);                \
    TD_CHECK_TEXT(td_last_error_message(), dtype);                 \
    TD_CHECK_ENTRY(td, TD_KEY("f"), TD_SIZES(2), TD_VALUES(1, 2)); \
    TD_CHECK_ENTRY(td, TD_KEY("u"), TD_SIZES(2), TD_VALUES(1, 2)); \
  } while (0)

TD_TEST(fillings_name_number_and_dtype) {
  td_tensordict *td = sample(), *result = NULL;
  td_like_options options = TD_LIKE_OPTIONS_INIT;
  options.value = 300;
  REFUSED(td_like_sized(td, TD_LIKE_FULL, TD_SIZES(3), &options, &result), "300", "torch.uint8");
  REFUSED(td_like(td, TD_LIKE_FULL, &options, &result), "300", "torch.uint8");
  options.dtype = TD_DTYPE_FLOAT32;
  options.value = 1e300;
  REFUSED(td_like(td, TD_LIKE_FULL, &options, &result), "1e+300", "torch.float32");
  options.value = 300;
  TD_DO(td_like(td, TD_LIKE_FULL, &options, &result));
  TD_CHECK_ENTRY(result, TD_KEY("u"), TD_SIZES(2), TD_VALUES(300, 300));
}

TD_TEST(paddings_name_number_and_dtype) {
  td_tensordict *td = sample(), *longer = td_empty(TD_SIZES(3)), *result = NULL;
  td_put(longer, TD_KEY("f"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(3)));
  td_put(longer, TD_KEY("u"), td_arange(TD_DTYPE_UINT8, 1, TD_SIZES(3)));
  REFUSED(td_pad(td, TD_SIZES(1, 0), -2, &result), "-2", "torch.uint8");
  TD_DO(td_pad(td, TD_SIZES(-1, 0), -2, &result)); /* nothing is filled */
  const td_tensordict *both[] = {td, longer};
  td_pad_sequence_options options = TD_PAD_SEQUENCE_OPTIONS_INIT;
  options.value = -2;
  REFUSED(td_pad_sequence(both, 2, &options, &result), "-2", "torch.uint8");
  td_tensordict *lazy = NULL;
  td_tensor *tensor = NULL;
  td_padding_options padding = TD_PADDING_OPTIONS_INIT;
  padding.value = 1000;
  TD_DO(td_lazy_stack(both, 2, 0, &lazy));
  REFUSED(td_lazy_get_padded(lazy, TD_KEY("u"), &padding, &tensor), "1000", "torch.uint8");
  TD_DO(td_lazy_get_padded(lazy, TD_KEY("f"), &padding, &tensor));
}

TD_TEST(writes_name_number_and_dtype) {
  td_tensordict *td = sample(), *outer = td_empty(TD_NO_SIZES), *result = NULL;
  td_tensor *mask = td_mask((const int64_t[]){1, 0}, 2);
  td_tensor *value = td_filled(TD_DTYPE_FLOAT64, 300, TD_NO_SIZES);
  TD_DO(td_set_dict(outer, TD_KEY("n"), td));
  REFUSED(td_fill(outer, TD_KEY("n"), TD_BY(TD_O_INT(300))), "300", "torch.uint8");
  REFUSED(td_fill(td, TD_KEY("u"), TD_BY(TD_O_DOUBLE(-2))), "-2", "torch.uint8");
  REFUSED(td_masked_fill(td, mask, value, &result), "300", "torch.uint8");
  REFUSED(td_masked_fill_inplace(outer, mask, value), "300", "torch.uint8");
  td_tensordict *lazy = NULL;
  TD_DO(td_lazy_stack((const td_tensordict *const[]){td, td}, 2, 0, &lazy));
  REFUSED(td_masked_fill_inplace(lazy, mask, value), "300", "torch.uint8");
}

TD_TEST(arithmetic_names_number_and_dtype) {
  td_tensordict *td = sample(), *result = NULL;
  REFUSED(td_binary_inplace(td, TD_BINARY_POW, TD_BY(TD_O_INT(300)), NULL), "300", "torch.uint8");
  td_status status = td_binary(td, TD_BINARY_POW, TD_BY(TD_O_INT(300)), NULL, &result);
  TD_CHECK(status == TD_OK || status == TD_ERR_DTYPE); /* as the libtorch at hand has it */
}
