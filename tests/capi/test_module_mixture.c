/* Mixtures: values that can be computed by hand, statistics of samples, and what has no mixture. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "td_modules.h"

enum { ROWS = 20000 };

static const char *const names[] = {"logits", "loc", "scale"};

typedef struct mixture {
  td_distribution_kind kind;
  td_distribution_flags flags;
  int64_t weights[3], others[3]; /* sizes, behind the rows; 0: no more */
  double logits[6], loc[6], scale[6];
  int64_t values, scores; /* how many numbers a value and its log-probability are */
  double mean[2], log_prob[2], variance[2];
  double x[2], log_prob_of_x[2];
} mixture;

/* Logarithms of (0.2, 0.3, 0.5), (0.5, 0.25, 0.25) and (0.25, 0.75), of any sum. */
static const mixture table[] = {
    {TD_DISTRIBUTION_NORMAL,
     TD_DISTRIBUTION_MIXTURE,
     {3},
     {3},
     {-1.6094379, -1.2039728, -0.6931472},
     {-3, 1, 4},
     {1, 0.5, 2},
     1,
     1,
     {1.7},
     {-1.95671557},
     {9.485},
     {-2},
     {-3.00573997}},
    {TD_DISTRIBUTION_NORMAL, /* each of two elements has its mixture, and both are one event */
     TD_DISTRIBUTION_MIXTURE | TD_DISTRIBUTION_EVENT,
     {2, 3},
     {2, 3},
     {-1.6094379, -1.2039728, -0.6931472, 0.6931472, 0, 0},
     {-3, 1, 4, 0, 2, 10},
     {1, 0.5, 2, 1, 2, 0.5},
     2,
     1,
     {1.7, 3},
     {-5.03096976},
     {9.485, 18.5625},
     {-2, 3},
     {-6.07999416}},
    {TD_DISTRIBUTION_INDEPENDENT_NORMAL, /* the components are vectors */
     TD_DISTRIBUTION_MIXTURE,
     {2},
     {2, 2},
     {0, 1.0986123},
     {0, 1, 4, -2},
     {1, 2, 0.5, 1},
     2,
     1,
     {3, -1.25},
     {-3.70886067},
     {3.4375, 3.4375},
     {3.5, -1},
     {-2.43211146}},
};

static td_module *sampler(td_distribution_kind kind, td_distribution_flags flags,
                          td_interaction_type interaction) {
  const td_key in[] = {{names, 1}, {names + 1, 1}, {names + 2, 1}}, out = {TD_KEY("x")};
  td_module_probabilistic_options options = TD_MODULE_PROBABILISTIC_OPTIONS_INIT;
  td_distribution part = {0};
  td_module *module = NULL;
  part.kind = kind;
  part.flags = flags;
  part.in_keys = in;
  part.in_keys_len = 3;
  part.out_key = &out;
  options.interaction = interaction;
  options.flags = TD_MODULE_PROBABILISTIC_LOG_PROB | TD_MODULE_PROBABILISTIC_SEED;
  TD_DO(td_module_probabilistic(&part, 1, &options, &module));
  return module;
}

static void put(td_tensordict *td, const char *name, const double *numbers, const int64_t *behind) {
  int64_t sizes[4] = {1};
  size_t dims = 1, count = 1;
  td_tensor *tensor = NULL;
  for (; dims < 4 && behind[dims - 1] != 0; dims++) {
    sizes[dims] = behind[dims - 1];
    count *= (size_t)sizes[dims];
  }
  TD_DO(td_tensor_from_data(numbers, count * sizeof *numbers, sizes, dims, TD_DTYPE_FLOAT64,
                            &tensor));
  td_put(td, TD_KEY(name), tensor);
}

static td_tensordict *parameters(const mixture *of, int64_t rows) {
  td_tensordict *one = td_empty(TD_SIZES(1)), *wide = NULL, *copy = NULL;
  put(one, names[0], of->logits, of->weights);
  put(one, names[1], of->loc, of->others);
  put(one, names[2], of->scale, of->others);
  TD_DO(td_expand(one, TD_SIZES(rows), &wide));
  TD_DO(td_clone(wide, 0, &copy));
  return copy;
}

static void near(const td_tensordict *td, const char *name, const double *want, int64_t count) {
  double have[2];
  TD_DO(td_tensor_copy_to(td_take(td, TD_KEY(name)), have, (size_t)count * sizeof *have));
  for (int64_t i = 0; i < count; i++) {
    if (!(fabs(have[i] - want[i]) < 1e-5))
      td_test_fail(__FILE__, __LINE__, "%s[%d] is %f, not %f", name, (int)i, have[i], want[i]);
  }
}

TD_TEST(values_and_log_probabilities) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const mixture *of = &table[i];
    td_tensordict *td = parameters(of, 1), *result = NULL;
    const int64_t sizes[3] = {of->values == 2 ? 2 : 0};
    result = td_called(td, sampler(of->kind, of->flags, TD_INTERACTION_DEFAULT));
    near(result, "x", of->mean, of->values);
    near(result, "x_log_prob", of->log_prob, of->scores);
    put(td, "x", of->x, sizes);
    result = NULL;
    TD_DO(td_module_log_prob(td, sampler(of->kind, of->flags, TD_INTERACTION_DEFAULT), NULL,
                             &result));
    near(result, "x_log_prob", of->log_prob_of_x, of->scores);
    result = NULL;
    TD_EXPECT_NULL(
        td_module_call(td, sampler(of->kind, of->flags, TD_INTERACTION_MODE), NULL, &result),
        TD_ERR_UNSUPPORTED, result);
    TD_CHECK_TEXT(td_last_error_message(), "a mixture has no mode");
    TD_EXPECT_NULL(
        td_module_call(td, sampler(of->kind, of->flags, TD_INTERACTION_MEDIAN), NULL, &result),
        TD_ERR_UNSUPPORTED, result);
  }
}

TD_TEST(samples_have_the_mean_and_the_variance) {
  static double values[ROWS * 2];
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const mixture *of = &table[i];
    td_tensordict *result =
        td_called(parameters(of, ROWS), sampler(of->kind, of->flags, TD_INTERACTION_RANDOM));
    TD_DO(td_tensor_copy_to(td_take(result, TD_KEY("x")), values,
                            (size_t)of->values * ROWS * sizeof *values));
    for (int k = 0; k < of->values; k++) {
      double sum = 0, squares = 0;
      for (int row = 0; row < ROWS; row++) sum += values[row * of->values + k];
      const double mean = sum / ROWS, want = of->variance[k];
      for (int row = 0; row < ROWS; row++) squares += pow(values[row * of->values + k] - mean, 2);
      if (fabs(mean - of->mean[k]) > 5 * sqrt(want / ROWS))
        td_test_fail(__FILE__, __LINE__, "row %d has the mean %f", (int)i, mean);
      if (fabs(squares / ROWS - want) > 0.08 * want)
        td_test_fail(__FILE__, __LINE__, "row %d has the variance %f", (int)i, squares / ROWS);
    }
  }
}

/* The elements of a vector come from one component. */
TD_TEST(a_component_is_drawn_as_a_whole) {
  static double values[ROWS][2];
  const double loc[] = {-100, -100, 100, 100};
  mixture of = table[2];
  int mixed = 0, first = 0;
  memcpy(of.loc, loc, sizeof loc);
  td_tensordict *result =
      td_called(parameters(&of, ROWS), sampler(of.kind, of.flags, TD_INTERACTION_RANDOM));
  TD_DO(td_tensor_copy_to(td_take(result, TD_KEY("x")), values, sizeof values));
  for (int row = 0; row < ROWS; row++) {
    mixed += (values[row][0] < 0) != (values[row][1] < 0);
    first += values[row][0] < 0;
  }
  TD_CHECK_INT(mixed, 0);
  TD_CHECK(abs(first - ROWS / 4) < 400);
}

TD_TEST(more_components_than_are_weighed) {
  td_tensordict *td = parameters(&table[0], 1), *result = NULL;
  const double two[] = {1, 1};
  put(td, "logits", two, (const int64_t[]){2, 0, 0});
  TD_EXPECT_NULL(td_module_call(td, sampler(table[0].kind, table[0].flags, TD_INTERACTION_DEFAULT),
                                NULL, &result),
                 TD_ERR_SHAPE, result);
  TD_CHECK_TEXT(td_last_error_message(), "weighs 2 components, and its other parameters hold 3");
}

/* Weights without the dimension of the rows cannot be told from those of a vector's elements. */
TD_TEST(weights_of_other_dimensions) {
  td_tensordict *td = parameters(&table[1], 1), *result = NULL;
  put(td, "logits", table[0].logits, (const int64_t[]){3, 0, 0});
  TD_EXPECT_NULL(td_module_call(td, sampler(table[0].kind, table[0].flags, TD_INTERACTION_DEFAULT),
                                NULL, &result),
                 TD_ERR_SHAPE, result);
  TD_CHECK_TEXT(td_last_error_message(),
                "weighs components of the sizes [1, 3], and its other parameters hold [1, 2, 3]");
}

/* Weights that all elements share: each element draws for itself. */
TD_TEST(shared_weights_are_drawn_for_each) {
  static double values[ROWS][2];
  const mixture of = {.kind = TD_DISTRIBUTION_NORMAL,
                      .flags = TD_DISTRIBUTION_MIXTURE,
                      .weights = {1, 2},
                      .others = {2, 2},
                      .logits = {0, 0},
                      .loc = {-100, 100, -100, 100},
                      .scale = {1, 1, 1, 1}};
  int differ = 0;
  td_tensordict *result =
      td_called(parameters(&of, ROWS), sampler(of.kind, of.flags, TD_INTERACTION_RANDOM));
  TD_DO(td_tensor_copy_to(td_take(result, TD_KEY("x")), values, sizeof values));
  for (int row = 0; row < ROWS; row++) differ += (values[row][0] < 0) != (values[row][1] < 0);
  TD_CHECK(abs(differ - ROWS / 2) < 400);
}

static void refused(td_distribution_kind kind, size_t keys, const char *text) {
  const td_key in[] = {{names, 1}, {names + 1, 1}, {names + 2, 1}}, out = {TD_KEY("x")};
  td_distribution part = {0};
  td_module *module = NULL;
  part.kind = kind;
  part.flags = TD_DISTRIBUTION_MIXTURE;
  part.in_keys = in + (3 - keys);
  part.in_keys_len = keys;
  part.out_key = &out;
  TD_EXPECT_NULL(td_module_probabilistic(&part, 1, NULL, &module), TD_ERR_INVALID_ARGUMENT, module);
  TD_CHECK_TEXT(td_last_error_message(), text);
}

TD_TEST(mixtures_that_cannot_be_made) {
  refused(TD_DISTRIBUTION_CATEGORICAL, 3,
          "Categorical is no distribution whose mixtures are supported");
  refused(TD_DISTRIBUTION_TANH_NORMAL, 3,
          "TanhNormal is no distribution whose mixtures are supported");
  refused(TD_DISTRIBUTION_NORMAL, 2,
          "a mixture of Normal has the parameters loc, logits, scale or loc, probs, scale, not "
          "loc, scale");
}
