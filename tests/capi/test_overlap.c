/* What is read and what is written share memory: the answer is that of separate copies, or a status. */
#include "td_values.h"

#define TD_BEYOND ((int64_t)1 << 33)

/* The positions were read again after they had been overwritten. */
TD_TEST(the_index_is_an_entry) {
  td_tensordict *td = td_empty(TD_SIZES(4)), *values = td_empty(TD_SIZES(4));
  td_put(td, TD_KEY("i"), td_positions((const int64_t[]){3, 2, 1, 0}, 4));
  td_put(td, TD_KEY("x"), td_filled(TD_DTYPE_INT64, 0, TD_SIZES(4)));
  td_put(values, TD_KEY("i"), td_positions((const int64_t[]){TD_BEYOND, 7, 8, 9}, 4));
  td_put(values, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 10, TD_SIZES(4)));
  td_tensor *index = td_take(td, TD_KEY("i"));
  TD_DO(td_set_at(td, TD_AT(TD_I_TENSOR(index)), values));
  TD_CHECK_ENTRY(td, TD_KEY("i"), TD_SIZES(4), TD_VALUES(9, 8, 7, (double)TD_BEYOND));
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(4), TD_VALUES(13, 12, 11, 10));
}

TD_TEST(the_index_is_an_entry_while_gradients_are_recorded) {
  td_tensordict *td = td_empty(TD_SIZES(4)), *values = td_empty(TD_SIZES(4));
  td_put(td, TD_KEY("i"), td_positions((const int64_t[]){3, 2, 1, 0}, 4));
  td_put(values, TD_KEY("i"), td_filled(TD_DTYPE_INT64, 5, TD_SIZES(4)));
  td_tensor *index = td_take(td, TD_KEY("i"));
  td_set_grad_enabled(1);
  TD_DO(td_set_at(td, TD_AT(TD_I_TENSOR(index)), values));
  td_set_grad_enabled(0);
  TD_CHECK_ENTRY(td, TD_KEY("i"), TD_SIZES(4), TD_VALUES(5, 5, 5, 5));
}

TD_TEST(a_tensor_indexed_by_itself) {
  td_tensor *tensor = td_positions((const int64_t[]){1, 0, 2, 3}, 4);
  td_tensor *values = td_positions((const int64_t[]){TD_BEYOND, 7, 8, 9}, 4);
  TD_DO(td_tensor_set_at(tensor, TD_AT(TD_I_TENSOR(tensor)), values));
  TD_CHECK_VALUES(tensor, 7, (double)TD_BEYOND, 8, 9);
}

TD_TEST(an_empty_tensor_indexed_by_itself) {
  td_tensordict *td = td_empty(TD_SIZES(0));
  td_tensor *tensor = td_positions((const int64_t[]){0}, 0);
  TD_DO(td_set(td, TD_KEY("a"), tensor));
  for (int32_t on = 0; on < 2; on++) {
    td_set_grad_enabled(on);
    TD_DO(td_tensor_set_at(tensor, TD_AT(TD_I_TENSOR(tensor)), tensor));
    TD_DO(td_set_at(td, TD_AT(TD_I_TENSOR(tensor)), td));
    TD_DO(td_fill_at(td, TD_AT(TD_I_TENSOR(tensor)), tensor));
  }
  td_set_grad_enabled(0);
}

/* Two keys over neighbouring rows of one tensor, each written from the other. */
TD_TEST(a_source_is_the_target_of_another_key) {
  td_tensor *one = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2));
  td_tensor *two = td_arange(TD_DTYPE_FLOAT32, 5, TD_SIZES(2));
  td_tensordict *td = td_empty(TD_SIZES(2)), *other = td_empty(TD_SIZES(2));
  TD_DO(td_set(td, TD_KEY("a"), one));
  TD_DO(td_set(td, TD_KEY("b"), two));
  TD_DO(td_set(other, TD_KEY("a"), two));
  TD_DO(td_set(other, TD_KEY("b"), one));
  td_update_options strict = TD_UPDATE_OPTIONS_INIT;
  strict.mode = TD_UPDATE_STRICT;
  TD_DO(td_update(td, other, &strict));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(5, 6));
  TD_CHECK_ENTRY(td, TD_KEY("b"), TD_SIZES(2), TD_VALUES(0, 1));
  TD_DO(td_set_at(td, TD_AT(TD_I_ELLIPSIS), other));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(0, 1));
  TD_CHECK_ENTRY(td, TD_KEY("b"), TD_SIZES(2), TD_VALUES(5, 6));
  TD_DO(td_update_at(td, TD_AT(TD_I_ELLIPSIS), other, 0));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(5, 6));
  TD_CHECK_ENTRY(td, TD_KEY("b"), TD_SIZES(2), TD_VALUES(0, 1));
}

/* A tensor that is written into itself, and is the target of another key too. */
TD_TEST(a_tensor_is_its_own_source) {
  td_tensor *zero = td_filled(TD_DTYPE_INT64, 0, TD_SIZES(1));
  td_tensor *one = td_filled(TD_DTYPE_INT64, 1, TD_SIZES(1));
  td_tensordict *td = td_empty(TD_SIZES(1)), *other = td_empty(TD_SIZES(1));
  TD_DO(td_set(td, TD_KEY("a"), one));
  TD_DO(td_set(td, TD_KEY("i"), one));
  TD_DO(td_set(other, TD_KEY("a"), zero));
  TD_DO(td_set(other, TD_KEY("i"), one));
  td_update_options strict = TD_UPDATE_OPTIONS_INIT;
  strict.mode = TD_UPDATE_STRICT;
  TD_DO(td_update(td, other, &strict));
  TD_CHECK_ENTRY(td, TD_KEY("i"), TD_SIZES(1), TD_VALUES(1));
}

TD_TEST(an_operand_is_the_target_of_another_key) {
  td_tensor *one = td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(2));
  td_tensor *two = td_arange(TD_DTYPE_FLOAT32, 5, TD_SIZES(2));
  td_tensordict *td = td_empty(TD_SIZES(2)), *other = td_empty(TD_SIZES(2));
  TD_DO(td_set(td, TD_KEY("a"), one));
  TD_DO(td_set(td, TD_KEY("b"), two));
  TD_DO(td_set(other, TD_KEY("a"), two));
  TD_DO(td_set(other, TD_KEY("b"), one));
  const td_operand operand = TD_O_DICT(other);
  TD_DO(td_binary_inplace(td, TD_BINARY_ADD, &operand, NULL));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(6, 8));
  TD_CHECK_ENTRY(td, TD_KEY("b"), TD_SIZES(2), TD_VALUES(6, 8));
}

/* A number that is an element of what is written. */
TD_TEST(an_operand_is_an_element_of_a_target) {
  td_tensordict *td = td_empty(TD_SIZES(3));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(3)));
  td_put(td, TD_KEY("b"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(3)));
  td_tensor *whole = td_take(td, TD_KEY("a")), *element = NULL;
  TD_DO(td_tensor_index(whole, TD_AT(TD_I_INT(0)), &element));
  const td_operand operand = TD_O_TENSOR(element);
  TD_DO(td_binary_inplace(td, TD_BINARY_ADD, &operand, NULL));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(3), TD_VALUES(2, 3, 4));
  TD_CHECK_ENTRY(td, TD_KEY("b"), TD_SIZES(3), TD_VALUES(2, 3, 4));
  TD_DO(td_fill_at(td, NULL, 0, element));
  TD_CHECK_ENTRY(td, TD_KEY("b"), TD_SIZES(3), TD_VALUES(2, 2, 2));
}

TD_TEST(a_mask_is_an_entry) {
  td_tensordict *td = td_empty(TD_SIZES(3));
  td_put(td, TD_KEY("m"), td_mask((const int64_t[]){1, 0, 1}, 3));
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 5, TD_SIZES(3)));
  td_tensor *mask = td_take(td, TD_KEY("m")), *zero = td_filled(TD_DTYPE_INT64, 0, TD_NO_SIZES);
  TD_DO(td_masked_fill_inplace(td, mask, zero));
  TD_CHECK_ENTRY(td, TD_KEY("m"), TD_SIZES(3), TD_VALUES(0, 0, 0));
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(3), TD_VALUES(0, 6, 0));
}

/* Memory of the caller. */
static td_tensor *over(float *memory, int64_t size, int64_t stride) {
  td_tensor *tensor = NULL;
  TD_DO(td_tensor_from_blob(memory, &size, &stride, 1, TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, NULL,
                            NULL, &tensor));
  return tensor;
}

/* Two tensors over one piece of it know nothing of each other: addresses are compared. */
TD_TEST(memory_of_the_caller_that_overlaps) {
  float memory[6] = {0, 1, 2, 3, 4, 5};
  td_tensordict *td = td_empty(TD_SIZES(4)), *values = td_empty(TD_SIZES(4));
  td_put(td, TD_KEY("x"), over(memory + 2, 4, 1));
  td_put(values, TD_KEY("x"), over(memory, 4, 1));
  TD_DO(td_set_at(td, TD_AT(TD_I_ELLIPSIS), values));
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(4), TD_VALUES(0, 1, 2, 3));
  td_update_options strict = TD_UPDATE_OPTIONS_INIT;
  strict.mode = TD_UPDATE_STRICT;
  TD_DO(td_update(td, values, &strict));
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(4), TD_VALUES(0, 1, 0, 1));
}

/* {"a": zeros, "b": one place for all elements} of batch [4] */
static td_tensordict *with_expanded(float *place) {
  *place = 0;
  td_tensordict *td = td_empty(TD_SIZES(4));
  td_put(td, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(4)));
  td_put(td, TD_KEY("b"), over(place, 4, 0));
  return td;
}

#define TD_CHECK_UNTOUCHED(td)                                           \
  do {                                                                   \
    TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(4), TD_VALUES(0, 0, 0, 0)); \
    TD_CHECK_ENTRY(td, TD_KEY("b"), TD_SIZES(4), TD_VALUES(0, 0, 0, 0)); \
  } while (0)

/* The first leaf was written, the second refused. */
TD_TEST(an_expanded_leaf_is_found_before_anything_is_written) {
  float place;
  td_tensordict *td = with_expanded(&place), *values = td_empty(TD_SIZES(4)), *state = NULL;
  td_put(values, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(4)));
  td_put(values, TD_KEY("b"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(4)));
  td_update_options options = TD_UPDATE_OPTIONS_INIT;
  options.mode = TD_UPDATE_STRICT;
  TD_EXPECT(td_update(td, values, &options), TD_ERR_TORCH);
  options.mode = TD_UPDATE_INPLACE;
  TD_EXPECT(td_update(td, values, &options), TD_ERR_TORCH);
  TD_EXPECT(td_set_at(td, TD_AT(TD_I_ELLIPSIS), values), TD_ERR_TORCH);
  TD_EXPECT(td_update_at(td, TD_AT(TD_I_ELLIPSIS), values, 0), TD_ERR_TORCH);
  const td_operand operand = TD_O_DICT(values);
  TD_EXPECT(td_binary_inplace(td, TD_BINARY_ADD, &operand, NULL), TD_ERR_TORCH);
  TD_DO(td_state_dict(values, NULL, &state));
  TD_EXPECT(td_load_state_dict(td, state, NULL), TD_ERR_TORCH);
  TD_CHECK_UNTOUCHED(td);
}

/* What does not depend on the elements is written to all of them at once, as by libtorch. */
TD_TEST(an_expanded_leaf_is_filled) {
  float place;
  td_tensordict *td = with_expanded(&place), *in = td_empty(TD_SIZES(4));
  td_put_dict(in, TD_KEY("n"), td);
  td = in;
  const td_operand seven = TD_O_INT(7);
  TD_DO(td_fill(td, TD_KEY("n"), &seven));
  TD_CHECK_ENTRY(td, TD_KEY("n", "a"), TD_SIZES(4), TD_VALUES(7, 7, 7, 7));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4), TD_VALUES(7, 7, 7, 7));
  TD_DO(td_zero(td));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4), TD_VALUES(0, 0, 0, 0));
  td_tensor *mask = td_mask((const int64_t[]){0, 1, 0, 0}, 4);
  td_tensor *three = td_filled(TD_DTYPE_FLOAT32, 3, TD_NO_SIZES);
  TD_DO(td_masked_fill_inplace(td, mask, three));
  TD_CHECK_ENTRY(td, TD_KEY("n", "a"), TD_SIZES(4), TD_VALUES(0, 3, 0, 0));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4), TD_VALUES(3, 3, 3, 3));
  TD_DO(td_zero(td));
  TD_DO(td_fill_at(td, TD_AT(TD_I_ELLIPSIS), three));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4), TD_VALUES(3, 3, 3, 3));
}

/* Numbers and operations that one of two dtypes has no answer to: nothing is written to the other. */
TD_TEST(dtypes_are_asked_before_anything_is_written) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *in = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, -2, TD_SIZES(2)));
  td_put(td, TD_KEY("u"), td_filled(TD_DTYPE_UINT8, 2, TD_SIZES(2)));
  td_put_dict(in, TD_KEY("n"), td);
  td = in;
  const td_operand large = TD_O_INT(300);
  TD_EXPECT(td_fill(td, TD_KEY("n"), &large), TD_ERR_DTYPE);
  TD_EXPECT(td_binary_inplace(td, TD_BINARY_POW, &large, NULL), TD_ERR_DTYPE);
  td_tensor *mask = td_mask((const int64_t[]){1, 1}, 2);
  td_tensor *value = td_filled(TD_DTYPE_INT64, 300, TD_NO_SIZES);
  TD_EXPECT(td_masked_fill_inplace(td, mask, value), TD_ERR_DTYPE);
  TD_CHECK_ENTRY(td, TD_KEY("n", "a"), TD_SIZES(2), TD_VALUES(-2, -2));
  td_tensor *complex = NULL;
  TD_DO(td_tensor_zeros(TD_SIZES(2), TD_DTYPE_COMPLEX64, TD_DEVICE_CPU, -1, &complex));
  td_put(td, TD_KEY("n", "u"), complex);
  TD_EXPECT(td_unary_inplace(td, TD_UNARY_ABS), TD_ERR_TORCH);
  TD_CHECK_ENTRY(td, TD_KEY("n", "a"), TD_SIZES(2), TD_VALUES(-2, -2));
}

/* The same for operators by name: operands that are targets, and a zero found on the way. */
TD_TEST(an_operator_by_name) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *other = td_empty(TD_SIZES(2));
  td_tensor *one = td_filled(TD_DTYPE_INT64, 3, TD_SIZES(2));
  TD_DO(td_set(td, TD_KEY("a"), one));
  TD_DO(td_set(td, TD_KEY("b"), one)); /* 3 + 3, and then + 3 */
  const td_call_argument itself[] = {TD_ARG_DICT(NULL, td)};
  TD_DO(td_call_inplace(td, "aten::add_.Tensor", itself, 1));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(9, 9));
  td_put(td, TD_KEY("b"), td_filled(TD_DTYPE_INT64, 9, TD_SIZES(2)));
  td_put(other, TD_KEY("a"), td_filled(TD_DTYPE_INT64, 2, TD_SIZES(2)));
  td_put(other, TD_KEY("b"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  const td_call_argument by[] = {TD_ARG_DICT(NULL, other)};
  TD_EXPECT(td_call_inplace(td, "aten::fmod_.Tensor", by, 1), TD_ERR_TORCH);
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(9, 9));
  TD_CHECK_ENTRY(td, TD_KEY("b"), TD_SIZES(2), TD_VALUES(9, 9));
}

/* That libtorch has no kernel for a dtype is known before a leaf of another dtype is written, of operators that
 * draw numbers as well. */
TD_TEST(an_operator_without_a_kernel) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_tensor *complex = NULL;
  td_put(td, TD_KEY("a"), td_filled(TD_DTYPE_FLOAT32, 5, TD_SIZES(2)));
  td_put(td, TD_KEY("b"), td_filled(TD_DTYPE_FLOAT32, 7, TD_SIZES(2)));
  TD_DO(td_tensor_zeros(TD_SIZES(2), TD_DTYPE_COMPLEX64, TD_DEVICE_CPU, -1, &complex));
  td_put(td, TD_KEY("c"), complex);
  const td_call_argument by[] = {TD_ARG_INT(NULL, 3)};
  TD_EXPECT(td_call_inplace(td, "fmod_", by, 1), TD_ERR_UNSUPPORTED);
  TD_EXPECT(td_call_inplace(td, "geometric_", (td_call_argument[]){TD_ARG_DOUBLE(NULL, 0.5)}, 1),
            TD_ERR_UNSUPPORTED);
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(5, 5));
  TD_CHECK_ENTRY(td, TD_KEY("b"), TD_SIZES(2), TD_VALUES(7, 7));
}

/* Integers are divided by a zero only after others have been written. */
TD_TEST(a_zero_among_the_divisors) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *other = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a"), td_filled(TD_DTYPE_INT64, 5, TD_SIZES(2)));
  td_put(td, TD_KEY("b"), td_filled(TD_DTYPE_INT64, 5, TD_SIZES(2)));
  td_put(other, TD_KEY("a"), td_filled(TD_DTYPE_INT64, 3, TD_SIZES(2)));
  td_put(other, TD_KEY("b"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  const td_operand operand = TD_O_DICT(other);
  TD_EXPECT(td_binary_inplace(td, TD_BINARY_MOD, &operand, NULL), TD_ERR_TORCH);
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(2), TD_VALUES(5, 5));
}

static void add_recorded(td_tensordict *td, td_status want) {
  td_tensor *one = td_filled(TD_DTYPE_FLOAT32, 1, TD_NO_SIZES);
  TD_DO(td_tensor_set_requires_grad(one, 1));
  const td_operand operand = TD_O_TENSOR(one);
  td_set_grad_enabled(1);
  TD_EXPECT(td_binary_inplace(td, TD_BINARY_ADD, &operand, NULL), want);
  td_set_grad_enabled(0);
}

/* As libtorch: "A view was created in no_grad mode and is being modified inplace with grad mode
 * enabled". The gradient got lost. */
TD_TEST(a_view_made_without_gradients_takes_none) {
  td_tensordict *td = td_empty(TD_SIZES(4)), *view = NULL, *deeper = NULL;
  td_put(td, TD_KEY("x"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(4)));
  TD_DO(td_index(td, TD_AT(TD_I_SLICE(0, 2)), &view));
  add_recorded(view, TD_ERR_TORCH);
  td_set_grad_enabled(1);
  TD_DO(td_index(view, TD_AT(TD_I_SLICE(0, 1)), &deeper)); /* of what autograd takes for no view */
  td_set_grad_enabled(0);
  add_recorded(deeper, TD_ERR_TORCH);
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(4), TD_VALUES(0, 0, 0, 0));
  const td_operand two = TD_O_INT(2);
  td_set_grad_enabled(1);
  TD_DO(td_binary_inplace(view, TD_BINARY_ADD, &two, NULL)); /* nothing to be lost */
  td_set_grad_enabled(0);
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(4), TD_VALUES(2, 2, 0, 0));
}

/* Of a tensor that requires gradients: no write at all, as by libtorch. */
TD_TEST(a_view_of_a_parameter_made_without_gradients) {
  td_tensordict *td = td_empty(TD_SIZES(4)), *view = NULL, *deeper = NULL;
  td_put(td, TD_KEY("x"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(4)));
  TD_DO(td_set_requires_grad(td, 1));
  TD_DO(td_index(td, TD_AT(TD_I_SLICE(0, 2)), &view));
  TD_DO(td_index(view, TD_AT(TD_I_SLICE(0, 1)), &deeper));
  const td_operand two = TD_O_INT(2);
  td_set_grad_enabled(1);
  TD_EXPECT(td_binary_inplace(view, TD_BINARY_ADD, &two, NULL), TD_ERR_TORCH);
  TD_EXPECT(td_binary_inplace(deeper, TD_BINARY_ADD, &two, NULL), TD_ERR_TORCH);
  td_set_grad_enabled(0);
  TD_DO(td_binary_inplace(deeper, TD_BINARY_ADD, &two, NULL));
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(4), TD_VALUES(2, 0, 0, 0));
}

static void check_grad(const td_tensordict *td, const char *const *path, size_t path_len,
                       int32_t want) {
  td_tensor *tensor = td_take(td, path, path_len);
  TD_CHECK_FLAG(td_tensor_requires_grad, tensor, want);
  td_tensor_free(tensor);
}

/* td_get and td_set took libtorch's mode of the thread for that of the library. */
TD_TEST(entries_follow_the_grad_mode_of_the_library) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *lazy = NULL, *sub = NULL,
                *holder = td_empty(TD_NO_SIZES);
  td_put(td, TD_KEY("x"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
  td_tensor *tensor = td_take(td, TD_KEY("x"));
  TD_DO(td_tensor_set_requires_grad(tensor, 1));
  td_tensor_free(tensor);
  const td_tensordict *both[] = {td, td};
  TD_DO(td_lazy_stack(both, 2, 0, &lazy));
  TD_DO(td_set_dict(holder, TD_KEY("n"), lazy));
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_INT(0)), &sub));
  for (int32_t on = 0; on < 2; on++) {
    td_set_grad_enabled(on);
    check_grad(td, TD_KEY("x"), 1);
    check_grad(lazy, TD_KEY("x"), on);
    check_grad(holder, TD_KEY("n", "x"), on);
    check_grad(sub, TD_KEY("x"), on);
    tensor = td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 2));
    TD_DO(td_tensor_set_requires_grad(tensor, 1));
    TD_DO(td_set(lazy, TD_KEY("z"), tensor));
    check_grad(td, TD_KEY("z"), on);
    TD_DO(td_set(holder, TD_KEY("n", "z"), tensor));
    check_grad(td, TD_KEY("z"), on);
  }
  td_set_grad_enabled(0);
}

/* One write made what the next one read unreadable for autograd: half of the call was done. */
TD_TEST(a_source_beside_a_target_that_is_written_twice) {
  td_tensor *whole = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4)), *low = NULL, *high = NULL;
  TD_DO(td_tensor_index(whole, TD_AT(TD_I_SLICE(2, 4)), &high));
  TD_DO(td_tensor_set_requires_grad(high, 1));
  td_set_grad_enabled(1);
  TD_DO(td_tensor_index(whole, TD_AT(TD_I_SLICE(0, 2)), &low));
  td_tensordict *td = td_empty(TD_SIZES(2)), *lazy = NULL;
  TD_DO(td_set(td, TD_KEY("x"), low));
  const td_tensordict *both[] = {td, td};
  TD_DO(td_lazy_stack(both, 2, 0, &lazy));
  TD_DO(td_fill_entry(lazy, TD_KEY("x"), high));
  td_set_grad_enabled(0);
  TD_CHECK_VALUES(whole, 2, 3, 2, 3);
}
