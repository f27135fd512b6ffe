/* Archives with distributions behind transforms. tests/golden2 compares their values with those of Python;
 * tests/python/export_all.py made the files. */
#include <math.h>

#include "td_modules.h"

static td_module *transformed(const char *name) {
  char path[96];
  td_module *module = NULL;
  snprintf(path, sizeof path, "../transformed/%s", name);
  TD_DO(td_module_load(td_golden(path), NULL, &module));
  return module;
}

static td_tensordict *drawn(const td_tensordict *td, const td_module *module,
                            td_interaction_type interaction) {
  td_module_call_options options = TD_MODULE_CALL_OPTIONS_INIT;
  td_tensordict *result = NULL;
  options.interaction = interaction;
  TD_DO(td_module_call(td, module, &options, &result));
  return result;
}

static void action_of(const td_tensordict *td, float *values, size_t bytes) {
  TD_DO(td_get_data(td, TD_KEY("action"), TD_DTYPE_FLOAT32, values, bytes));
}

TD_TEST(draws_are_inside_and_are_scored) {
  td_module *module = transformed("affine_of_tanh.pt");
  td_tensordict *td = td_observations(50), *result, *scores = NULL;
  float action[50][2];
  result = drawn(td, module, TD_INTERACTION_RANDOM);
  action_of(result, action[0], sizeof action);
  for (int i = 0; i < 50; i++) { /* 1 + 2 tanh and -2 - tanh / 2 */
    TD_CHECK(action[i][0] >= -1 && action[i][0] <= 3);
    TD_CHECK(action[i][1] >= -2.5F && action[i][1] <= -1.5F);
  }
  TD_DO(td_update(td, result, NULL));
  TD_DO(td_module_log_prob(td, module, NULL, &scores));
  float given[50], again[50];
  TD_DO(td_get_data(result, TD_KEY("action_log_prob"), TD_DTYPE_FLOAT32, given, sizeof given));
  TD_DO(td_get_data(scores, TD_KEY("action_log_prob"), TD_DTYPE_FLOAT32, again, sizeof again));
  for (int i = 0; i < 50; i++) TD_CHECK(fabsf(given[i] - again[i]) < 1e-3F * (1 + fabsf(given[i])));
}

TD_TEST(values_that_python_lacks_are_refused) {
  td_module *module = transformed("tanh_of_normal.pt");
  td_tensordict *td = td_observations(2), *result = NULL;
  td_module_call_options options = TD_MODULE_CALL_OPTIONS_INIT;
  options.interaction = TD_INTERACTION_MODE;
  TD_EXPECT_NULL(td_module_call(td, module, &options, &result), TD_ERR_UNSUPPORTED, result);
  TD_CHECK_TEXT(td_last_error_message(),
                "this transformed distribution has no mode, in Python neither");
  options.interaction = TD_INTERACTION_MEDIAN;
  TD_EXPECT(td_module_call_inplace(td, module, &options), TD_ERR_UNSUPPORTED);
  TD_CHECK_TEXT(td_last_error_message(), "has no median");
}

/* Where Python averages samples, so does the library: two calls differ a little. */
TD_TEST(a_mean_without_a_formula_is_estimated) {
  td_module *module = transformed("estimated_mean.pt");
  td_tensordict *td = td_observations(3), *one, *other;
  float first[6], second[6];
  one = drawn(td, module, TD_INTERACTION_DEFAULT);
  other = drawn(td, module, TD_INTERACTION_MEAN);
  action_of(one, first, sizeof first);
  action_of(other, second, sizeof second);
  int same = 0;
  for (int i = 0; i < 6; i++) {
    TD_CHECK(fabsf(first[i] - second[i]) < 0.05F);
    same += first[i] == second[i];
  }
  TD_CHECK(same < 6);
}

TD_TEST(what_is_saved_computes_the_same) {
  const char *const names[] = {"affine_of_tanh.pt", "mode_of_log_normal.pt", "tanh_delta.pt",
                               "tanh_normal_of_each.pt", "composite_of_transformed.pt"};
  char file[600]; /* td_golden() has few buffers */
  td_tensordict *td = td_observations(3);
  snprintf(file, sizeof file, "%s", td_path(td_test_folder(), "again.pt"));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    td_module *module = transformed(names[i]), *again = NULL;
    TD_DO(td_module_save(module, file));
    TD_DO(td_module_load(file, NULL, &again));
    td_tensordict *one = td_called(td, module), *other = td_called(td, again);
    TD_CHECK_EQUAL(one, other);
    td_free(one);
    td_free(other);
    td_module_free(module);
    td_module_free(again);
  }
}
