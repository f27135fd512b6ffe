/* Networks that Python wrote: their keys, their outputs, where these go, and what is refused. */
#include <stdlib.h>
#include <string.h>

#include "td_modules.h"

static void check_keys(const td_module *module, const char *in, const char *out) {
  const char *const wants[] = {in, out};
  for (int i = 0; i < 2; i++) {
    td_keys *keys = NULL;
    char text[200] = "";
    if (i == 0) TD_DO(td_module_in_keys(module, &keys));
    if (i == 1) TD_DO(td_module_out_keys(module, &keys));
    for (size_t k = 0; k < td_keys_len(keys); k++) {
      const char *const *path = NULL;
      size_t n = 0;
      TD_DO(td_keys_at(keys, k, &path, &n));
      for (size_t j = 0; j < n; j++) {
        strcat(text, j != 0 ? "/" : k != 0 ? " " : "");
        strcat(text, path[j]);
      }
    }
    TD_CHECK_SAME_TEXT(text, wants[i]);
  }
}

TD_TEST(a_network_computes_what_it_computed_in_python) {
  td_module *module = td_loaded_module("mlp.pt");
  td_tensordict *data = NULL, *expected = NULL, *result = NULL;
  check_keys(module, "observation", "action");
  TD_DO(td_memmap_load(td_archive_of("mlp_data"), NULL, &data));
  TD_DO(td_memmap_load(td_archive_of("mlp_expected"), NULL, &expected));
  for (int i = 0; i < 4; i++) { /* libtorch learns sizes from the first calls */
    TD_DO(td_module_call(data, module, NULL, &result));
    TD_CHECK_BATCH(result, 32);
    td_tensor *action = td_take(expected, TD_KEY("action"));
    td_tensordict *want = td_empty(TD_SIZES(32));
    td_put(want, TD_KEY("action"), action);
    td_check_close(result, want);
  }
}

TD_TEST(nested_keys_and_two_outputs) {
  td_module *module = td_loaded_module("vision.pt");
  td_tensordict *data = NULL, *expected = NULL, *copy = NULL;
  check_keys(module, "agents/image agents/goal", "agents/logits agents/choice");
  TD_DO(td_memmap_load(td_archive_of("vision_data"), NULL, &data));
  TD_DO(td_memmap_load(td_archive_of("vision_expected"), NULL, &expected));
  TD_DO(td_clone(data, 0, &copy));
  TD_DO(td_module_call_inplace(copy, module, NULL));
  td_check_close(copy, expected);
  td_free(copy);
  /* Into a new dictionary: one "agents" for both outputs. */
  td_tensordict *result = td_called(data, module);
  TD_DO(td_clone(data, 0, &copy));
  TD_DO(td_update(copy, result, NULL));
  td_check_close(copy, expected);
}

TD_TEST(frozen_and_optimised_networks_compute_the_same) {
  td_module *plain = td_loaded_module("mlp.pt");
  td_tensordict *td = td_observations(5), *want = td_called(td, plain);
  for (uint32_t flags = 1; flags <= 3; flags++) {
    td_module_load_options options = TD_MODULE_LOAD_OPTIONS_INIT;
    td_module *module = NULL;
    td_tensordict *params = NULL;
    size_t entries = 99;
    options.flags = flags;
    TD_DO(td_module_load(td_archive_of("mlp.pt"), &options, &module));
    for (int i = 0; i < 3; i++) {
      td_tensordict *result = td_called(td, module);
      td_check_close(result, want);
    }
    TD_DO(td_module_params(module, &params));
    td_keys *keys = NULL;
    TD_DO(td_keys_of(params, NULL, &keys));
    entries = td_keys_len(keys);
    TD_CHECK_INT(entries, 0);
    td_keys_free(keys);
    td_free(params);
    td_module_free(module);
  }
}

TD_TEST(parameters_of_another_dtype) {
  td_module_load_options options = TD_MODULE_LOAD_OPTIONS_INIT;
  td_module *module = NULL;
  td_tensordict *params = NULL, *td = td_observations(2), *result = NULL;
  options.dtype = TD_DTYPE_FLOAT64;
  TD_DO(td_module_load(td_archive_of("mlp.pt"), &options, &module));
  TD_DO(td_module_params(module, &params));
  TD_CHECK_DTYPE(params, TD_KEY("0", "weight"), TD_DTYPE_FLOAT64);
  TD_EXPECT_NULL(td_module_call(td, module, NULL, &result), TD_ERR_TORCH, result);
  TD_CHECK_TEXT(td_last_error_message(), "the module failed: ");
  td_put(td, TD_KEY("observation"), td_arange(TD_DTYPE_FLOAT64, 0, TD_SIZES(2, 4)));
  result = td_called(td, module);
  TD_CHECK_DTYPE(result, TD_KEY("action"), TD_DTYPE_FLOAT64);
  td_free(td);
  td_module_free(module);
  options.dtype = TD_DTYPE_INT64;
  TD_EXPECT_NULL(td_module_load(td_archive_of("mlp.pt"), &options, &module), TD_ERR_DTYPE, module);
}

TD_TEST(outputs_go_where_the_call_says) {
  td_module *module = td_loaded_module("mlp.pt");
  td_module_call_options options = TD_MODULE_CALL_OPTIONS_INIT;
  td_tensordict *td = td_observations(3), *result = NULL, *out = td_empty(TD_SIZES(3));
  TD_DO(td_module_call(td, module, &options, &result));
  TD_CHECK_BATCH(result, 3);
  options.output = TD_MODULE_OUTPUT_PLAIN;
  TD_DO(td_module_call(td, module, &options, &result));
  TD_CHECK_NO_BATCH(result);
  options.out = out;
  TD_DO(td_module_call(td, module, &options, &result));
  td_tensor *one = td_take(out, TD_KEY("action")), *other = td_take(result, TD_KEY("action"));
  TD_CHECK(td_same_memory(one, other));
  td_free(result);
  TD_EXPECT(td_module_call_inplace(td, module, &options), TD_ERR_INVALID_ARGUMENT);
  TD_DO(td_lock(out));
  TD_EXPECT_NULL(td_module_call(td, module, &options, &result), TD_ERR_LOCKED, result);
  TD_DO(td_unlock(out));
  td_free(out);
  options.out = out = td_empty(TD_SIZES(4)); /* another batch */
  TD_EXPECT_NULL(td_module_call(td, module, &options, &result), TD_ERR_SHAPE, result);
  options.out = NULL;
  options.output = 7;
  TD_EXPECT_NULL(td_module_call(td, module, &options, &result), TD_ERR_INVALID_ARGUMENT, result);
  TD_DO(td_lock(td));
  TD_EXPECT(td_module_call_inplace(td, module, NULL), TD_ERR_LOCKED);
}

TD_TEST(existing_outputs_are_kept_when_asked) {
  td_module *module = td_loaded_module("mlp.pt");
  td_module_call_options options = TD_MODULE_CALL_OPTIONS_INIT;
  td_tensordict *td = td_observations(2);
  options.flags = TD_MODULE_CALL_SKIP_EXISTING;
  td_put(td, TD_KEY("action"), td_filled(TD_DTYPE_FLOAT32, 7, TD_SIZES(2, 2)));
  TD_DO(td_module_call_inplace(td, module, &options));
  TD_CHECK_ENTRY(td, TD_KEY("action"), TD_SIZES(2, 2), TD_VALUES(7, 7, 7, 7));
  TD_DO(td_remove(td, TD_KEY("action")));
  TD_DO(td_module_call_inplace(td, module, &options));
  td_tensordict *want = td_called(td, module), *have = NULL;
  TD_DO(td_select(td, TD_KEYS({TD_KEY("action")}), NULL, &have));
  td_check_close(have, want);
}

TD_TEST(keys_of_the_options_override_those_of_the_archive) {
  td_module_load_options options = TD_MODULE_LOAD_OPTIONS_INIT;
  td_module *module = NULL;
  const td_key in[] = {{TD_KEY("agent", "obs")}};
  const td_key out[] = {{TD_KEY("_")}, {TD_KEY("agent", "loc")}, {TD_KEY("s")}};
  td_tensordict *td = td_empty(TD_SIZES(2)), *result = NULL;
  options.in_keys = in;
  options.in_keys_len = 1;
  options.out_keys = out;
  options.out_keys_len = 3;
  TD_DO(td_module_load(td_archive_of("sequence.pt"), &options, &module));
  check_keys(module, "agent/obs", "_ agent/loc s");
  td_put(td, TD_KEY("agent", "obs"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 4)));
  TD_DO(td_module_call(td, module, NULL, &result));
  td_tensor *tensor = td_take(result, TD_KEY("agent", "loc"));
  TD_CHECK_SIZES(tensor, 2, 2);
  TD_EXPECT_NULL(td_get(result, TD_KEY("_"), &tensor), TD_ERR_KEY_NOT_FOUND, tensor);
  td_free(result);
  td_module_free(module);

  options.out_keys_len = 2; /* three outputs */
  TD_DO(td_module_load(td_archive_of("sequence.pt"), &options, &module));
  TD_EXPECT_NULL(td_module_call(td, module, NULL, &result), TD_ERR_INVALID_ARGUMENT, result);
  TD_CHECK_TEXT(td_last_error_message(), "returns 3 values, but there are 2 out_keys");
  td_module_free(module);
  const td_key two[] = {{TD_KEY("a")}, {TD_KEY("b")}};
  options.in_keys = two;
  options.in_keys_len = 2; /* one input */
  TD_EXPECT_NULL(td_module_load(td_archive_of("sequence.pt"), &options, &module),
                 TD_ERR_INVALID_ARGUMENT, module);
  TD_CHECK_TEXT(td_last_error_message(), "takes 1 inputs, but there are 2 in_keys");
  options.in_keys_len = 1;
  TD_EXPECT_NULL(td_module_load(td_archive_of("vision.pt"), &options, &module),
                 TD_ERR_INVALID_ARGUMENT, module);
  TD_CHECK_TEXT(td_last_error_message(), "none for \"goal\"");
}

TD_TEST(what_does_not_fit_is_refused_and_changes_nothing) {
  td_module *module = td_loaded_module("mlp.pt");
  td_tensordict *td = td_empty(TD_SIZES(2)), *result = NULL, *copy = NULL;
  td_put(td, TD_KEY("other"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 4)));
  TD_EXPECT_NULL(td_module_call(td, module, NULL, &result), TD_ERR_KEY_NOT_FOUND, result);
  TD_CHECK_TEXT(td_last_error_message(), "\"observation\"");
  TD_CHECK_TEXT(td_last_error_message(), "\"other\"");
  td_put(td, TD_KEY("observation"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3)));
  TD_DO(td_clone(td, 0, &copy));
  TD_EXPECT(td_module_call_inplace(td, module, NULL), TD_ERR_TORCH);
  TD_CHECK_TEXT(td_last_error_message(), "mat1 and mat2 shapes cannot be multiplied");
  TD_CHECK_EQUAL(td, copy);
  TD_DO(td_set_non_tensor_json(td, TD_KEY("observation"), "\"text\""));
  TD_EXPECT_NULL(td_module_call(td, module, NULL, &result), TD_ERR_WRONG_ENTRY, result);
  td_free(td);
  td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("observation", "deeper"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 4)));
  TD_EXPECT_NULL(td_module_call(td, module, NULL, &result), TD_ERR_WRONG_ENTRY, result);
  td_free(td);
  /* An output that does not begin with the batch size. */
  td = td_empty(TD_SIZES(2, 4));
  td_put(td, TD_KEY("observation"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 4)));
  TD_EXPECT(td_module_call_inplace(td, module, NULL), TD_ERR_SHAPE);
  TD_CHECK_TEXT(td_last_error_message(), "\"action\"");
}

TD_TEST(lazy_stacks_and_sub_tensordicts_are_read_and_written) {
  td_module *module = td_loaded_module("mlp.pt");
  td_tensordict *whole = td_observations(6), *parts[2] = {td_observations(3), td_observations(3)};
  td_tensordict *lazy = NULL, *sub = NULL, *want = NULL, *have = NULL;
  TD_DO(td_lazy_stack((const td_tensordict *const *)parts, 2, 0, &lazy));
  TD_DO(td_module_call_inplace(lazy, module, NULL));
  want = td_called(parts[0], module);
  TD_DO(td_select(parts[0], TD_KEYS({TD_KEY("action")}), NULL, &have));
  td_check_close(have, want);
  td_free(have);
  td_free(want);
  TD_DO(td_sub_tensordict(whole, TD_AT(TD_I_SLICE(0, 3)), &sub));
  TD_DO(td_module_call_inplace(sub, module, NULL));
  td_tensor *tensor = td_take(whole, TD_KEY("action"));
  TD_CHECK_SIZES(tensor, 6, 2);
}

TD_TEST(a_module_is_printed_and_saved) {
  td_module *module = td_loaded_module("mlp.pt"), *again = NULL;
  char text[200];
  size_t length = 0;
  TD_DO(td_module_to_string(module, text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "ScriptModule(in_keys=[\"observation\"], out_keys=[\"action\"])");
  TD_EXPECT(td_module_to_string(module, text, 5, &length), TD_ERR_BUFFER_TOO_SMALL);
  const char *file = td_path(td_test_folder(), "again.pt");
  TD_DO(td_module_save(module, file));
  TD_DO(td_module_load(file, NULL, &again));
  check_keys(again, "observation", "action");
  td_tensordict *td = td_observations(4), *one = td_called(td, module), *two = td_called(td, again);
  td_check_close(one, two);
  td_free(one);
  td_free(two);
  TD_EXPECT(td_module_save(module, td_path(td_test_folder(), "no/such/folder.pt")), TD_ERR_IO);
}
