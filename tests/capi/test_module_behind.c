/* Networks behind a sample: the archive holds them as further methods of one object. */
#include "td_modules.h"

/* tests/golden2 compares what they compute with Python. */
static const char *behind(const char *name) {
  static char path[64];
  snprintf(path, sizeof path, "../behind/%s", name);
  return td_golden(path);
}

static td_module *loaded(const char *file, td_module_load_flags flags) {
  td_module_load_options options = TD_MODULE_LOAD_OPTIONS_INIT;
  td_module *module = NULL;
  options.flags = flags;
  TD_DO(td_module_load(file, &options, &module));
  return module;
}

static td_tensordict *folder(const char *name) {
  td_tensordict *td = NULL;
  TD_DO(td_memmap_load(behind(name), NULL, &td));
  return td;
}

static td_tensordict *all_of(const td_tensordict *td, const td_module *module) {
  td_tensordict *copy = NULL;
  TD_DO(td_clone(td, 0, &copy));
  TD_DO(td_module_call_inplace(copy, module, NULL));
  return copy;
}

TD_TEST(frozen_and_saved_it_computes_the_same) {
  static const td_module_load_flags ways[] = {0, TD_MODULE_LOAD_FREEZE, TD_MODULE_LOAD_OPTIMIZE};
  char file[600]; /* td_golden() has few buffers */
  td_tensordict *td = folder("three_networks_data"), *want = folder("three_networks_expected");
  snprintf(file, sizeof file, "%s", td_path(td_test_folder(), "again.pt"));
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    td_module *module = loaded(behind("three_networks.pt"), ways[i]);
    td_check_close(all_of(td, module), want);
    TD_DO(td_module_save(module, file));
    td_check_close(all_of(td, loaded(file, 0)), want);
  }
}

TD_TEST(all_networks_take_other_parameters) {
  td_module *module = loaded(behind("tied_critic.pt"), 0);
  td_module_call_options options = TD_MODULE_CALL_OPTIONS_INIT;
  td_tensordict *td = folder("tied_critic_data"), *sets = folder("tied_critic_params"), *one = NULL,
                *want = folder("tied_critic_pushed_expected"), *mapped = NULL, *second = NULL;
  TD_DO(td_index(sets, TD_AT(TD_I_INT(1)), &one));
  options.params = sets;
  TD_DO(td_module_call(td, module, &options, &mapped));
  TD_DO(td_module_set_params(module, NULL, one));
  td_check_close(all_of(td, module), want);
  TD_DO(td_index(mapped, TD_AT(TD_I_INT(1)), &second));
  td_check_close(second, td_called(td, module));
}

TD_TEST(a_sample_is_drawn_once) {
  td_module *module = loaded(behind("critic_of_nested_keys.pt"), 0), *value = NULL;
  td_module_call_options options = TD_MODULE_CALL_OPTIONS_INIT;
  td_tensordict *td = folder("critic_of_nested_keys_data"), *drawn = NULL, *again;
  const td_key in[] = {{TD_KEY("agent", "hidden")}, {TD_KEY("agent", "action")}};
  const td_key out = {TD_KEY("agent", "value")};
  options.interaction = TD_INTERACTION_RANDOM;
  TD_DO(td_module_call(td, module, &options, &drawn));
  TD_DO(td_module_select_subsequence(module, in, 2, &out, 1, &value));
  again = td_called(drawn, value); /* the value of the action that was drawn */
  td_tensordict *have = NULL;
  TD_DO(td_select(drawn, &out, 1, NULL, &have));
  td_check_close(have, again);
  TD_EXPECT(td_module_save(value, td_path(td_test_folder(), "value.pt")), TD_ERR_UNSUPPORTED);
}

TD_TEST(each_of_several_samples_is_judged) {
  td_module *module = loaded(behind("judged_samples.pt"), 0);
  td_module_call_options options = TD_MODULE_CALL_OPTIONS_INIT;
  td_tensordict *td = folder("judged_samples_data"), *result = NULL, *two = NULL;
  options.interaction = TD_INTERACTION_RANDOM;
  TD_DO(td_module_call(td, module, &options, &result));
  TD_CHECK_BATCH(result, 3, 5);
  TD_CHECK_SIZES(td_take(result, TD_KEY("value")), 3, 5, 1);
  TD_DO(td_index(result, TD_AT(TD_I_INT(1)), &two));
  TD_CHECK(!td_equals(two, td_called(td, module)));
}
