/* Modules in one another: how deep, and how many. */
#include "td_modules.h"

static td_status copies_a(void *user, td_tensordict *source, td_tensordict **result) {
  (void)user;
  return td_dup(source, result);
}

static td_module *function(td_module_fn call, void *user) {
  const td_key a = {TD_KEY("a")};
  td_module_function_options options = TD_MODULE_FUNCTION_OPTIONS_INIT;
  td_module *module = NULL;
  options.in_keys = options.out_keys = &a;
  options.in_keys_len = options.out_keys_len = 1;
  TD_DO(td_module_from_function(&options, call, user, NULL, &module));
  return module;
}

/* The status of the call; the sequence takes the place of the module, or nothing changes. */
static td_status wrap(td_module **module, size_t times) {
  const td_module *all[2] = {*module, *module};
  td_module *next = NULL;
  const td_status status = td_module_sequence(all, times, NULL, &next);
  TD_CHECK_INT(next == NULL, status != TD_OK);
  if (status != TD_OK) return status;
  td_module_free(*module);
  *module = next;
  return TD_OK;
}

static void check_it_runs(const td_module *module) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *result, *params = NULL;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 5, TD_SIZES(2)));
  int32_t equal = 0;
  result = td_called(td, module);
  TD_DO(td_equal(td, result, &equal));
  TD_CHECK_INT(equal, 1);
  TD_DO(td_module_params(module, &params));
  TD_DO(td_is_empty(params, &equal));
  TD_CHECK_INT(equal, 1);
  td_free(params);
  td_free(result);
  td_free(td);
}

TD_TEST(sequences_in_one_another_are_200_deep_at_most) {
  td_module *module = function(copies_a, NULL), *selected = NULL;
  for (int depth = 1; depth < 200; depth++) TD_DO(wrap(&module, 1));
  TD_EXPECT(wrap(&module, 1), TD_ERR_UNSUPPORTED);
  TD_CHECK_TEXT(td_last_error_message(), "200 deep");
  TD_EXPECT_NULL(td_module_select_out_keys(module, TD_KEYS({TD_KEY("a")}), &selected),
                 TD_ERR_UNSUPPORTED, selected);
  check_it_runs(module);
}

TD_TEST(a_module_is_made_of_10000_at_most) {
  td_module *module = function(copies_a, NULL);
  for (int i = 0; i < 12; i++) TD_DO(wrap(&module, 2));
  check_it_runs(module); /* 8,191 */
  TD_EXPECT(wrap(&module, 2), TD_ERR_UNSUPPORTED);
  TD_CHECK_TEXT(td_last_error_message(), "10000");
}
