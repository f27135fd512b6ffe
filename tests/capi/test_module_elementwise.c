/* Distributions of elements, and of vectors: values that can be computed by hand, statistics of samples. */
#include <math.h>
#include <stdlib.h>

#include "td_modules.h"

enum { ROWS = 20000 };

typedef struct given {
  td_distribution_kind kind;
  td_distribution_flags flags;
  const char *names[3];        /* its parameters, entries of the same names */
  double first[2], second[4];  /* four numbers of a matrix, or of the second and the third one */
  double mean[2], log_prob[2]; /* of the mean; one number where the last dimension is an event */
  double mode[2], variance[2]; /* of samples; NAN where there is none */
} given;

static const given table[] = {
    {TD_DISTRIBUTION_BETA,
     0,
     {"concentration1", "concentration0"},
     {2, 0.5},
     {3, 0.5},
     {0.4, 0.5},
     {0.546965, -0.451583},
     {1.0 / 3, 1},
     {0.04, 0.125}},
    {TD_DISTRIBUTION_GAMMA,
     0,
     {"concentration", "rate"},
     {2, 0.5},
     {4, 1},
     {0.5, 0.5},
     {0.079442, -0.725791},
     {0.25, 0},
     {0.125, 0.5}},
    {TD_DISTRIBUTION_UNIFORM,
     0,
     {"low", "high"},
     {0, 1},
     {2, 5},
     {1, 3},
     {-0.693147, -1.386294},
     {NAN, NAN},
     {1.0 / 3, 4.0 / 3}},
    {TD_DISTRIBUTION_LAPLACE,
     0,
     {"loc", "scale"},
     {1, 2},
     {1, 0.5},
     {1, 2},
     {-0.693147, 0},
     {1, 2},
     {2, 0.5}},
    {TD_DISTRIBUTION_EXPONENTIAL,
     0,
     {"rate", NULL},
     {4, 1},
     {0},
     {0.25, 1},
     {0.386294, -1},
     {0, 0},
     {0.0625, 1}},
    {TD_DISTRIBUTION_MULTIVARIATE_NORMAL,
     0,
     {"loc", "scale_tril"},
     {1, 2},
     {2, 0, 1, 1},
     {1, 2},
     {-2.531024, 0},
     {1, 2},
     {4, 2}},
    {TD_DISTRIBUTION_LAPLACE,
     TD_DISTRIBUTION_EVENT,
     {"loc", "scale"},
     {1, 2},
     {1, 0.5},
     {1, 2},
     {-0.693147, 0},
     {1, 2},
     {2, 0.5}},
    {TD_DISTRIBUTION_GAMMA,
     TD_DISTRIBUTION_EVENT,
     {"concentration", "rate"},
     {2, 0.5},
     {4, 1},
     {0.5, 0.5},
     {-0.646349, 0},
     {0.25, 0},
     {0.125, 0.5}},
    {TD_DISTRIBUTION_CAUCHY,
     0,
     {"loc", "scale"},
     {1, 2},
     {2, 0.5},
     {NAN, NAN},
     {NAN, NAN},
     {1, 2},
     {NAN, NAN}},
    {TD_DISTRIBUTION_STUDENT_T,
     0,
     {"df", "loc", "scale"},
     {5, 9},
     {1, -2, 2, 0.5},
     {1, -2},
     {-1.661767, -0.253513},
     {1, -2},
     {20.0 / 3, 9.0 / 28}},
    {TD_DISTRIBUTION_POISSON,
     0,
     {"rate"},
     {3, 0.5},
     {0},
     {3, 0.5},
     {-1.495923, -0.725791},
     {3, 0},
     {3, 0.5}},
    {TD_DISTRIBUTION_DIRICHLET,
     0,
     {"concentration"},
     {2, 0.5},
     {0},
     {0.8, 0.2},
     {0.293893, 0},
     {1, 0},
     {0.16 / 3.5, 0.16 / 3.5}},
    {TD_DISTRIBUTION_DIRICHLET,
     0,
     {"concentration"},
     {0.5, 0.5},
     {0},
     {0.5, 0.5},
     {-0.451583, 0},
     {1, 0},
     {0.125, 0.125}},
    {TD_DISTRIBUTION_HALF_NORMAL,
     0,
     {"scale"},
     {2, 0.5},
     {0},
     {1.595769, 0.398942},
     {-1.237248, 0.149046},
     {0, 0},
     {1.453521, 0.090845}},
    {TD_DISTRIBUTION_LOG_NORMAL,
     0,
     {"loc", "scale"},
     {0, 1},
     {0.5, 0.25},
     {1.133148, 2.804569},
     {-0.382041, -0.571707},
     {0.778801, 2.553589},
     {0.364696, 0.507297}},
};

static td_module *sampler(const given *of, td_interaction_type interaction) {
  const td_key in[] = {{of->names, 1}, {of->names + 1, 1}, {of->names + 2, 1}};
  const td_key out = {TD_KEY("x")};
  td_module_probabilistic_options options = TD_MODULE_PROBABILISTIC_OPTIONS_INIT;
  td_distribution part = {0};
  td_module *module = NULL;
  part.kind = of->kind;
  part.flags = of->flags;
  part.in_keys = in;
  while (part.in_keys_len < 3 && of->names[part.in_keys_len] != NULL) part.in_keys_len++;
  part.out_key = &out;
  options.interaction = interaction;
  options.flags = TD_MODULE_PROBABILISTIC_LOG_PROB | TD_MODULE_PROBABILISTIC_SEED;
  TD_DO(td_module_probabilistic(&part, 1, &options, &module));
  return module;
}

static td_tensordict *parameters(const given *of, int64_t rows) {
  td_tensordict *one = td_empty(TD_SIZES(1)), *wide = NULL, *copy = NULL;
  td_tensor *tensor = NULL;
  const int matrix = of->kind == TD_DISTRIBUTION_MULTIVARIATE_NORMAL;
  TD_DO(
      td_tensor_from_data(of->first, sizeof of->first, TD_SIZES(1, 2), TD_DTYPE_FLOAT64, &tensor));
  td_put(one, of->names, 1, tensor);
  if (of->names[1] != NULL) {
    const int64_t square[] = {1, 2, 2}, flat[] = {1, 2};
    TD_DO(td_tensor_from_data(of->second, matrix ? 4 * sizeof(double) : 2 * sizeof(double),
                              matrix ? square : flat, matrix ? 3 : 2, TD_DTYPE_FLOAT64, &tensor));
    td_put(one, of->names + 1, 1, tensor);
  }
  if (of->names[2] != NULL) {
    TD_DO(td_tensor_from_data(of->second + 2, 2 * sizeof(double), TD_SIZES(1, 2), TD_DTYPE_FLOAT64,
                              &tensor));
    td_put(one, of->names + 2, 1, tensor);
  }
  TD_DO(td_expand(one, TD_SIZES(rows), &wide));
  TD_DO(td_clone(wide, 0, &copy));
  return copy;
}

static void near(const td_tensordict *td, const char *name, const double *want, size_t count) {
  double have[2];
  TD_DO(td_tensor_copy_to(td_take(td, TD_KEY(name)), have, count * sizeof *have));
  for (size_t i = 0; i < count; i++) {
    if (!(fabs(have[i] - want[i]) < 1e-5) && !(isnan(have[i]) && isnan(want[i])))
      td_test_fail(__FILE__, __LINE__, "%s[%zu] is %f, not %f", name, i, have[i], want[i]);
  }
}

static int is_event(const given *of) {
  return of->flags != 0 || of->kind == TD_DISTRIBUTION_MULTIVARIATE_NORMAL ||
         of->kind == TD_DISTRIBUTION_DIRICHLET;
}

TD_TEST(values_and_log_probabilities) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    td_tensordict *td = parameters(&table[i], 1), *result = NULL;
    result = td_called(td, sampler(&table[i], TD_INTERACTION_DEFAULT));
    near(result, "x", table[i].mean, 2);
    near(result, "x_log_prob", table[i].log_prob, is_event(&table[i]) ? 1 : 2);
    near(td_called(td, sampler(&table[i], TD_INTERACTION_MODE)), "x", table[i].mode, 2);
    result = NULL;
    TD_EXPECT_NULL(td_module_call(td, sampler(&table[i], TD_INTERACTION_MEDIAN), NULL, &result),
                   TD_ERR_UNSUPPORTED, result);
  }
}

TD_TEST(samples_have_the_mean_and_the_variance) {
  static double values[ROWS][2];
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    td_tensordict *result =
        td_called(parameters(&table[i], ROWS), sampler(&table[i], TD_INTERACTION_RANDOM));
    TD_DO(td_tensor_copy_to(td_take(result, TD_KEY("x")), values, sizeof values));
    for (int k = 0; k < 2; k++) {
      double sum = 0, squares = 0;
      for (int row = 0; row < ROWS; row++) sum += values[row][k];
      const double mean = sum / ROWS, want = table[i].variance[k];
      for (int row = 0; row < ROWS; row++) squares += pow(values[row][k] - mean, 2);
      if (fabs(mean - table[i].mean[k]) > 5 * sqrt(want / ROWS))
        td_test_fail(__FILE__, __LINE__, "row %zu has the mean %f", i, mean);
      if (fabs(squares / ROWS - want) > 0.08 * want)
        td_test_fail(__FILE__, __LINE__, "row %zu has the variance %f", i, squares / ROWS);
    }
  }
}

static const given *row_of(td_distribution_kind kind) {
  const given *row = table;
  while (row->kind != kind) row++;
  return row;
}

static void scored(const given *of, double first, double second, double want, double want_second) {
  td_tensordict *td = parameters(of, 1), *result = NULL;
  const double x[] = {first, second};
  double have[2];
  td_tensor *tensor = NULL;
  TD_DO(td_tensor_from_data(x, sizeof x, TD_SIZES(1, 2), TD_DTYPE_FLOAT64, &tensor));
  td_put(td, TD_KEY("x"), tensor);
  TD_DO(td_module_log_prob(td, sampler(of, TD_INTERACTION_DEFAULT), NULL, &result));
  TD_DO(td_tensor_copy_to(td_take(result, TD_KEY("x_log_prob")), have, sizeof have));
  TD_CHECK(have[0] == want || fabs(have[0] - want) < 1e-6);
  TD_CHECK(have[1] == want_second || fabs(have[1] - want_second) < 1e-6);
}

TD_TEST(a_value_outside_has_no_probability) {
  scored(row_of(TD_DISTRIBUTION_UNIFORM), 2, 0.5, -INFINITY, -INFINITY);
  scored(row_of(TD_DISTRIBUTION_HALF_NORMAL), -1, 1, -INFINITY, -1.53264417);
}

/* What torch computes. */
TD_TEST(log_probabilities_beside_the_mean) {
  scored(row_of(TD_DISTRIBUTION_CAUCHY), 1, 3, -1.83787707, -2.06102062);
  scored(row_of(TD_DISTRIBUTION_POISSON), 2, 0, -1.49592260, -0.5);
}

/* There is no mean: half of the samples lie within the scale around loc. */
TD_TEST(samples_of_cauchy_have_their_quartiles) {
  static double values[ROWS][2];
  const given *cauchy = row_of(TD_DISTRIBUTION_CAUCHY);
  td_tensordict *result =
      td_called(parameters(cauchy, ROWS), sampler(cauchy, TD_INTERACTION_RANDOM));
  TD_DO(td_tensor_copy_to(td_take(result, TD_KEY("x")), values, sizeof values));
  for (int k = 0; k < 2; k++) {
    int near_it = 0, above = 0;
    for (int row = 0; row < ROWS; row++) {
      near_it += fabs(values[row][k] - cauchy->first[k]) < cauchy->second[k];
      above += values[row][k] > cauchy->first[k];
    }
    TD_CHECK(abs(near_it - ROWS / 2) < 400 && abs(above - ROWS / 2) < 400);
  }
}

TD_TEST(few_degrees_have_no_mean) {
  given student = *row_of(TD_DISTRIBUTION_STUDENT_T);
  const double want[] = {1, NAN};
  student.first[1] = 1;
  near(td_called(parameters(&student, 1), sampler(&student, TD_INTERACTION_DEFAULT)), "x", want, 2);
}

TD_TEST(a_matrix_of_another_size) {
  td_tensordict *td = parameters(&table[5], 1), *result = NULL;
  td_tensor *tensor = NULL;
  const double wrong[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  TD_DO(td_tensor_from_data(wrong, sizeof wrong, TD_SIZES(1, 3, 3), TD_DTYPE_FLOAT64, &tensor));
  td_put(td, TD_KEY("scale_tril"), tensor);
  TD_EXPECT_NULL(td_module_call(td, sampler(&table[5], TD_INTERACTION_DEFAULT), NULL, &result),
                 TD_ERR_SHAPE, result);
  TD_CHECK_TEXT(td_last_error_message(), "scale_tril");
}

TD_TEST(what_is_saved_computes_the_same) {
  const char *const names[] = {"beta_of_joints", "uniform", "full_covariance",
                               "mixture_of_vectors"};
  char file[600]; /* td_golden() has few buffers */
  td_tensordict *td = td_observations(3);
  snprintf(file, sizeof file, "%s", td_path(td_test_folder(), "again.pt"));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[96];
    td_module *module = NULL, *again = NULL;
    snprintf(path, sizeof path, "../elementwise/%s.pt", names[i]);
    TD_DO(td_module_load(td_golden(path), NULL, &module));
    TD_DO(td_module_save(module, file));
    TD_DO(td_module_load(file, NULL, &again));
    TD_CHECK_EQUAL(td_called(td, module), td_called(td, again));
  }
}
