/* Parameters as dictionaries: read, written, swapped, given to a call, and in batches of them. */
#include <string.h>

#include "td_modules.h"

static td_tensordict *params_of(const td_module *module) {
  td_tensordict *params = NULL;
  TD_DO(td_module_params(module, &params));
  return params;
}

/* The parameters of three networks, in a batch. */
static td_tensordict *three_sets(void) {
  td_tensordict *params = NULL;
  TD_DO(td_memmap_load(td_archive_of("mlp_ensemble_params"), NULL, &params));
  return params;
}

static td_tensordict *set_at(const td_tensordict *sets, int64_t i) {
  td_tensordict *one = NULL;
  TD_DO(td_index(sets, TD_AT(TD_I_INT(i)), &one));
  return one;
}

static td_tensordict *called_with(const td_tensordict *td, const td_module *module,
                                  const td_tensordict *params, uint32_t flags) {
  td_module_call_options options = TD_MODULE_CALL_OPTIONS_INIT;
  td_tensordict *result = NULL;
  options.params = params;
  options.flags = flags;
  TD_DO(td_module_call(td, module, &options, &result));
  return result;
}

TD_TEST(parameters_are_those_that_python_has) {
  td_module *module = td_loaded_module("mlp.pt");
  td_tensordict *params = params_of(module), *want = NULL;
  TD_DO(td_memmap_load(td_archive_of("mlp_params"), NULL, &want));
  td_check_close(params, want);
  TD_CHECK_NO_BATCH(params);
}

TD_TEST(what_is_written_to_parameters_the_next_call_uses) {
  td_module *module = td_loaded_module("mlp.pt");
  td_tensordict *params = params_of(module), *td = td_observations(2);
  const td_operand zero = TD_O_INT(0);
  TD_DO(td_set_requires_grad(params, 0));
  TD_DO(td_fill(params, TD_KEY("4", "weight"), &zero));
  TD_DO(td_fill(params, TD_KEY("4", "bias"), &zero));
  td_tensordict *result = td_called(td, module);
  TD_CHECK_ENTRY(result, TD_KEY("action"), TD_SIZES(2, 2), TD_VALUES(0, 0, 0, 0));
  td_tensordict *again = params_of(module);
  td_tensor *one = td_take(params, TD_KEY("0", "bias")), *two = td_take(again, TD_KEY("0", "bias"));
  TD_CHECK(td_same_memory(one, two));
}

TD_TEST(other_parameters_for_one_call_or_for_good) {
  td_module *module = td_loaded_module("mlp.pt");
  td_tensordict *sets = three_sets(), *one = set_at(sets, 1), *td = td_observations(4);
  td_tensordict *before = td_called(td, module);
  td_tensordict *swapped = called_with(td, module, one, 0), *after = td_called(td, module);
  td_check_close(before, after);
  TD_CHECK(!td_equals(before, swapped));
  TD_DO(td_module_set_params(module, NULL, one));
  td_free(after);
  after = td_called(td, module);
  td_check_close(after, swapped);
  /* A part alone. */
  td_tensordict *zero = set_at(sets, 0), *layer = td_take_dict(zero, TD_KEY("0"));
  const td_key part = {TD_KEY("0")};
  TD_DO(td_module_set_params(module, &part, layer));
  td_tensordict *now = params_of(module);
  td_tensor *weight = td_take(now, TD_KEY("0", "weight")),
            *want = td_take(zero, TD_KEY("0", "weight"));
  TD_CHECK(td_same_memory(weight, want));
}

/* Seed S4: vmap(func, (None, 0))(x, params), and (0, 0), equal to a loop. */
TD_TEST(a_batch_of_parameters_is_a_loop) {
  td_module *module = td_loaded_module("mlp.pt");
  td_tensordict *sets = three_sets(), *td = td_observations(4), *each[3], *loop = NULL;
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 3; i++) {
      td_tensordict *one = set_at(sets, i);
      each[i] = called_with(td, module, one, 0);
    }
    TD_DO(td_stack((const td_tensordict *const *)each, 3, 0, &loop));
    td_tensordict *all = called_with(td, module, sets, 0);
    TD_CHECK_BATCH(all, 3, 4);
    td_check_close(all, loop);
    for (int i = 0; i < 3; i++) td_free(each[i]);
  }
  td_tensordict *inputs = NULL;
  TD_DO(td_stack((const td_tensordict *const[]){td, td, td}, 3, 0, &inputs));
  td_tensordict *one = called_with(td, module, sets, 0);
  td_tensordict *both = called_with(inputs, module, sets, TD_MODULE_CALL_MAP_INPUT);
  td_check_close(one, both);
  TD_CHECK_BATCH(both, 3, 4);
}

TD_TEST(a_lazy_stack_of_parameters) {
  td_module *module = td_loaded_module("mlp.pt");
  td_tensordict *sets = three_sets(), *td = td_observations(2), *parts[3], *lazy = NULL;
  for (int i = 0; i < 3; i++) parts[i] = set_at(sets, i);
  TD_DO(td_lazy_stack((const td_tensordict *const *)parts, 3, 0, &lazy));
  td_tensordict *one = called_with(td, module, sets, 0), *other = called_with(td, module, lazy, 0);
  td_check_close(one, other);
}

static void refused(td_module *module, const td_tensordict *params, td_status status,
                    const char *text) {
  td_module_call_options options = TD_MODULE_CALL_OPTIONS_INIT;
  td_tensordict *td = td_observations(2), *before = td_called(td, module), *result = NULL;
  options.params = params;
  TD_EXPECT_NULL(td_module_call(td, module, &options, &result), status, result);
  TD_CHECK_TEXT(td_last_error_message(), text);
  TD_EXPECT(td_module_set_params(module, NULL, params), status);
  TD_CHECK_TEXT(td_last_error_message(), text);
  td_tensordict *after = td_called(td, module);
  td_check_close(before, after);
  td_free(after);
  td_free(before);
  td_free(td);
}

TD_TEST(parameters_that_do_not_fit) {
  td_module *module = td_loaded_module("mlp.pt");
  td_tensordict *params = NULL, *own = params_of(module);
  TD_DO(td_clone(own, 0, &params));
  TD_DO(td_remove(params, TD_KEY("2", "bias")));
  refused(module, params, TD_ERR_KEY_NOT_FOUND, "lack the entry \"2\"/\"bias\"");
  td_put(params, TD_KEY("2", "bias"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(65)));
  refused(module, params, TD_ERR_SHAPE, "\"2\"/\"bias\" has shape [65]");
  td_put(params, TD_KEY("2", "bias"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(64)));
  td_put(params, TD_KEY("2", "more"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(64)));
  refused(module, params, TD_ERR_KEY_INVALID, "no parameter \"2\"/\"more\"");
  TD_DO(td_remove(params, TD_KEY("2", "more")));
  td_put_dict(params, TD_KEY("9"), td_empty(TD_NO_SIZES));
  refused(module, params, TD_ERR_KEY_INVALID, "no parameter \"9\"");
  TD_DO(td_remove(params, TD_KEY("9")));
  td_put_dict(params, TD_KEY("2", "bias"), td_empty(TD_NO_SIZES));
  refused(module, params, TD_ERR_WRONG_ENTRY, "\"2\"/\"bias\"");
  td_put(params, TD_KEY("0"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(64)));
  refused(module, params, TD_ERR_WRONG_ENTRY, "\"0\"");
  const td_key none = {TD_KEY("7")};
  TD_EXPECT(td_module_set_params(module, &none, own), TD_ERR_KEY_NOT_FOUND);
}

TD_TEST(batches_of_parameters_that_do_not_fit) {
  td_module *module = td_loaded_module("mlp.pt");
  td_tensordict *sets = three_sets(), *td = td_observations(4), *result = NULL, *deep = NULL;
  td_module_call_options options = TD_MODULE_CALL_OPTIONS_INIT;
  TD_EXPECT(td_module_set_params(module, NULL, sets), TD_ERR_SHAPE);
  options.params = sets;
  TD_EXPECT(td_module_call_inplace(td, module, &options), TD_ERR_SHAPE);
  options.flags = TD_MODULE_CALL_MAP_INPUT; /* a batch of 4 for 3 sets */
  TD_EXPECT_NULL(td_module_call(td, module, &options, &result), TD_ERR_SHAPE, result);
  options.params = NULL;
  TD_EXPECT_NULL(td_module_call(td, module, &options, &result), TD_ERR_INVALID_ARGUMENT, result);
  TD_DO(td_stack((const td_tensordict *const[]){sets, sets}, 2, 0, &deep));
  options.params = deep;
  options.flags = 0;
  TD_EXPECT_NULL(td_module_call(td, module, &options, &result), TD_ERR_UNSUPPORTED, result);
  /* A failure inside leaves no level of vmap behind. */
  td_put(td, TD_KEY("observation"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4, 3)));
  options.params = sets;
  TD_EXPECT_NULL(td_module_call(td, module, &options, &result), TD_ERR_TORCH, result);
  td_put(td, TD_KEY("observation"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4, 4)));
  TD_DO(td_module_call(td, module, &options, &result));
  result = td_called(td, module);
  TD_CHECK_BATCH(result, 4);
}

TD_TEST(gradients_flow_to_parameters_when_asked) {
  td_module *module = td_loaded_module("mlp.pt");
  td_tensordict *sets = three_sets(), *one = NULL, *td = td_observations(2), *grads = NULL;
  td_tensordict *set = set_at(sets, 0);
  TD_DO(td_clone(set, 0, &one));
  TD_DO(td_set_requires_grad(one, 1));
  const int32_t before = td_set_grad_enabled(1);
  td_tensordict *result = called_with(td, module, one, 0);
  td_tensor *action = td_take(result, TD_KEY("action"));
  int32_t wanted = 0;
  TD_DO(td_tensor_requires_grad(action, &wanted));
  TD_CHECK_INT(wanted, 1);
  td_tensordict *ones = NULL;
  TD_DO(td_like(result, TD_LIKE_ONES, NULL, &ones));
  TD_DO(td_backward(result, ones, NULL, NULL));
  td_set_grad_enabled(before);
  TD_DO(td_grad(one, &grads));
  TD_CHECK_ENTRY(grads, TD_KEY("4", "bias"), TD_SIZES(2), TD_VALUES(2, 2));
}

TD_TEST(parameters_of_a_sequence) {
  td_module *first = td_loaded_module("mlp.pt"), *second = NULL, *row = NULL;
  td_module_load_options renamed = TD_MODULE_LOAD_OPTIONS_INIT;
  const td_key out = {TD_KEY("other")};
  renamed.out_keys = &out;
  renamed.out_keys_len = 1;
  TD_DO(td_module_load(td_archive_of("mlp.pt"), &renamed, &second));
  TD_DO(td_module_sequence((const td_module *const[]){first, second}, 2, NULL, &row));
  td_tensordict *params = params_of(row), *own = params_of(first), *sets = three_sets();
  td_tensordict *given = td_empty(TD_SIZES(3)), *td = td_observations(2);
  TD_CHECK_NO_BATCH(params);
  td_tensordict *there = td_take_dict(params, TD_KEY("0"));
  td_check_close(there, own);
  td_put_dict(given, TD_KEY("0"), sets);
  td_put_dict(given, TD_KEY("1"), three_sets());
  td_tensordict *result = called_with(td, row, given, 0);
  td_tensor *action = td_take(result, TD_KEY("action")), *other = td_take(result, TD_KEY("other"));
  TD_CHECK_SIZES(action, 3, 2, 2);
  TD_CHECK(td_tensor_equals(action, other));
  td_free(result);
  TD_EXPECT(td_module_set_params(row, NULL, own), TD_ERR_KEY_INVALID);
  TD_DO(td_remove(params, TD_KEY("1")));
  TD_EXPECT(td_module_set_params(row, NULL, params), TD_ERR_KEY_NOT_FOUND);
}
