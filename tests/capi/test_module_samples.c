/* Modules that sample: values that can be computed by hand, statistics of samples, what is refused. */
#include <math.h>
#include <string.h>

#include "td_modules.h"

typedef struct part {
  td_distribution_kind kind;
  const char *names[2]; /* parameters, entries of the same names */
  const char *out;
  double low, high;
} part;

static td_module *sampler_with(part one, const td_module_probabilistic_options *options) {
  const td_key in[] = {{one.names, 1}, {one.names + 1, 1}}, out = {&one.out, 1};
  td_distribution given = {0};
  td_module *module = NULL;
  given.kind = one.kind;
  given.in_keys = in;
  given.in_keys_len = one.names[1] == NULL ? 1 : 2;
  given.out_key = &out;
  given.low = one.low;
  given.high = one.high;
  TD_DO(td_module_probabilistic(&given, 1, options, &module));
  return module;
}

static td_module *sampler(part one, td_interaction_type interaction) {
  td_module_probabilistic_options options = TD_MODULE_PROBABILISTIC_OPTIONS_INIT;
  options.interaction = interaction;
  options.flags = TD_MODULE_PROBABILISTIC_LOG_PROB;
  return sampler_with(one, &options);
}

static const part normal = {TD_DISTRIBUTION_NORMAL, {"loc", "scale"}, "x", 0, 0};
static const part tanh_normal = {TD_DISTRIBUTION_TANH_NORMAL, {"loc", "scale"}, "x", 0, 0};
static const part truncated = {TD_DISTRIBUTION_TRUNCATED_NORMAL, {"loc", "scale"}, "x", -1, 3};
static const part categorical = {TD_DISTRIBUTION_CATEGORICAL, {"logits", NULL}, "x", 0, 0};

/* {"loc": [[1, 2]], "scale": [[1, 0.5]], "logits": [[0, 1, 0]]} of batch [1]; values repeat for n rows. */
static td_tensordict *numbers(int64_t n) {
  td_tensordict *one = td_empty(TD_SIZES(1)), *wide = NULL, *copy = NULL;
  const float loc[] = {1, 2}, scale[] = {1, 0.5f}, logits[] = {0, 1, 0};
  td_tensor *tensor = NULL;
  TD_DO(td_tensor_from_data(loc, sizeof loc, TD_SIZES(1, 2), TD_DTYPE_FLOAT32, &tensor));
  td_put(one, TD_KEY("loc"), tensor);
  TD_DO(td_tensor_from_data(scale, sizeof scale, TD_SIZES(1, 2), TD_DTYPE_FLOAT32, &tensor));
  td_put(one, TD_KEY("scale"), tensor);
  TD_DO(td_tensor_from_data(logits, sizeof logits, TD_SIZES(1, 3), TD_DTYPE_FLOAT32, &tensor));
  td_put(one, TD_KEY("logits"), tensor);
  TD_DO(td_expand(one, TD_SIZES(n), &wide));
  TD_DO(td_clone(wide, 0, &copy));
  return copy;
}

static void doubles_of(const td_tensordict *td, const char *name, double *values, size_t count) {
  td_tensor *tensor = td_take(td, TD_KEY(name)), *wide = NULL;
  TD_DO(td_tensor_to(tensor, TD_DTYPE_FLOAT64, TD_DEVICE_NONE, -1, &wide));
  TD_DO(td_tensor_copy_to(wide, values, count * sizeof(double)));
}

static void check_near(const td_tensordict *td, const char *name, const double *want,
                       size_t count) {
  double have[16];
  doubles_of(td, name, have, count);
  for (size_t i = 0; i < count; i++) {
    if (fabs(have[i] - want[i]) > 1e-4)
      td_test_fail(__FILE__, __LINE__, "%s[%zu] is %f, not %f", name, i, have[i], want[i]);
  }
}
#define NEAR(td, name, ...)                           \
  check_near(td, name, (const double[]){__VA_ARGS__}, \
             sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

TD_TEST(values_of_normal_distributions) {
  td_tensordict *td = numbers(1), *result;
  td_module *module = sampler(normal, TD_INTERACTION_MEAN);
  result = td_called(td, module);
  NEAR(result, "x", 1, 2);
  NEAR(result, "x_log_prob", -0.9189385, -0.2257914);
  td_free(result);
  td_module_free(module);
  module = sampler(tanh_normal, TD_INTERACTION_DETERMINISTIC);
  result = td_called(td, module);
  NEAR(result, "x", 0.7615942, 0.9640276);
  NEAR(result, "x_log_prob", 2.3728373); /* both, and the slope of the tangent */
  td_free(result);
  td_module_free(module);
  module = sampler(truncated, TD_INTERACTION_MODE);
  result = td_called(td, module);
  NEAR(result, "x", 1, 2);
  NEAR(result, "x_log_prob", -1.0751491);
}

/* Python has no formula for it and averages 1000 samples, as does the library. */
TD_TEST(a_mean_between_bounds_is_estimated) {
  td_tensordict *td = numbers(1);
  td_module *module = sampler(tanh_normal, TD_INTERACTION_MEAN);
  double have[2];
  doubles_of(td_called(td, module), "x", have, 2);
  TD_CHECK(fabs(have[0] - 0.6) < 0.1 && fabs(have[1] - 0.94) < 0.05);
}

TD_TEST(values_of_classes) {
  td_tensordict *td = numbers(1), *result;
  const part kinds[] = {{TD_DISTRIBUTION_CATEGORICAL, {"logits", NULL}, "x", 0, 0},
                        {TD_DISTRIBUTION_ONE_HOT_CATEGORICAL, {"logits", NULL}, "x", 0, 0},
                        {TD_DISTRIBUTION_BERNOULLI, {"logits", NULL}, "x", 0, 0}};
  for (int i = 0; i < 3; i++) {
    td_module *module = sampler(kinds[i], TD_INTERACTION_MODE);
    if (i == 2) {
      td_tensor *given = NULL;
      const float odds[] = {-1, 1, 2};
      TD_DO(td_tensor_from_data(odds, sizeof odds, TD_SIZES(1, 3), TD_DTYPE_FLOAT32, &given));
      td_put(td, TD_KEY("logits"), given);
    }
    result = td_called(td, module);
    if (i == 0) NEAR(result, "x", 1);
    if (i == 1) NEAR(result, "x", 0, 1, 0);
    if (i < 2) NEAR(result, "x_log_prob", -0.5514447);
    if (i == 2) NEAR(result, "x", 0, 1, 1);
    if (i == 2) NEAR(result, "x_log_prob", -0.3132617, -0.3132617, -0.1269280);
    td_free(result);
    td_module_free(module);
  }
}

TD_TEST(samples_have_the_mean_of_their_distribution) {
  enum { N = 20000 };
  td_module_probabilistic_options options = TD_MODULE_PROBABILISTIC_OPTIONS_INIT;
  const part kinds[] = {normal, truncated, categorical};
  const double means[] = {1.5, 1.5, 1};
  static double values[2 * N];
  options.interaction = TD_INTERACTION_RANDOM;
  options.flags = TD_MODULE_PROBABILISTIC_SEED;
  options.seed = 3;
  td_tensordict *td = numbers(N);
  for (int i = 0; i < 3; i++) {
    td_module *module = sampler_with(kinds[i], &options);
    td_tensordict *result = td_called(td, module);
    const size_t count = i == 2 ? N : 2 * N;
    double sum = 0;
    doubles_of(result, "x", values, count);
    for (size_t k = 0; k < count; k++) {
      sum += values[k];
      if (i == 1) TD_CHECK(values[k] >= -1 && values[k] <= 3);
    }
    if (fabs(sum / (double)count - means[i]) > 0.05)
      td_test_fail(__FILE__, __LINE__, "mean %d is %f", i, sum / (double)count);
    td_free(result);
    td_module_free(module);
  }
}

TD_TEST(a_seed_repeats_a_stream) {
  td_module_probabilistic_options options = TD_MODULE_PROBABILISTIC_OPTIONS_INIT;
  td_tensordict *td = numbers(4), *first[2], *second[2];
  options.interaction = TD_INTERACTION_RANDOM;
  options.flags = TD_MODULE_PROBABILISTIC_SEED;
  options.seed = 11;
  for (int i = 0; i < 2; i++) {
    td_module *module = sampler_with(normal, &options);
    first[i] = td_called(td, module);
    second[i] = td_called(td, module);
    td_module_free(module);
  }
  TD_CHECK_EQUAL(first[0], first[1]);
  TD_CHECK_EQUAL(second[0], second[1]);
  TD_CHECK(!td_equals(first[0], second[0]));
  for (int i = 0; i < 2; i++) {
    td_free(first[i]);
    td_free(second[i]);
  }
}

TD_TEST(a_seed_in_the_dictionary_is_replaced) {
  td_module_probabilistic_options options = TD_MODULE_PROBABILISTIC_OPTIONS_INIT;
  const td_key seed = {TD_KEY("rng")};
  td_tensordict *one = numbers(2), *two = numbers(2);
  options.interaction = TD_INTERACTION_RANDOM;
  options.seed_key = &seed;
  td_module *module = sampler_with(normal, &options);
  TD_EXPECT(td_module_call_inplace(one, module, NULL), TD_ERR_KEY_NOT_FOUND);
  td_put(one, TD_KEY("rng"), td_filled(TD_DTYPE_INT64, 5, TD_SIZES(2)));
  td_put(two, TD_KEY("rng"), td_filled(TD_DTYPE_INT64, 5, TD_SIZES(2)));
  for (int i = 0; i < 3; i++) {
    td_tensor *before = td_take(one, TD_KEY("rng"));
    TD_DO(td_module_call_inplace(one, module, NULL));
    TD_DO(td_module_call_inplace(two, module, NULL));
    TD_CHECK_EQUAL(one, two);
    td_tensor *after = td_take(one, TD_KEY("rng"));
    TD_CHECK(!td_tensor_equals(before, after));
  }
  td_put(one, TD_KEY("rng"), td_filled(TD_DTYPE_FLOAT32, 5, TD_SIZES(2)));
  TD_EXPECT(td_module_call_inplace(one, module, NULL), TD_ERR_WRONG_ENTRY);
}

/* The seed of a result has the dimension of the samples, too; one that is written in place stays as it is. */
TD_TEST(several_samples_with_a_seed_in_the_dictionary) {
  td_module_probabilistic_options options = TD_MODULE_PROBABILISTIC_OPTIONS_INIT;
  const td_key seed = {TD_KEY("rng")};
  options.interaction = TD_INTERACTION_RANDOM;
  options.seed_key = &seed;
  options.num_samples = 3;
  td_module *module = sampler_with(normal, &options);
  for (int batched = 0; batched < 2; batched++) {
    td_tensordict *td = numbers(2), *made = NULL;
    if (!batched) TD_DO(td_set_batch_size(td, TD_NO_SIZES));
    td_put(td, TD_KEY("rng"),
           td_filled(TD_DTYPE_INT64, 5, batched ? (const int64_t[]){2} : NULL, (size_t)batched));
    TD_DO(td_module_call(td, module, NULL, &made));
    td_tensor *x = td_take(made, TD_KEY("x")), *rng = td_take(made, TD_KEY("rng"));
    TD_CHECK_SIZES(x, 3, 2, 2);
    int64_t next[6], first = 0;
    size_t bytes = 0;
    TD_DO(td_tensor_nbytes(rng, &bytes));
    TD_CHECK_INT(bytes, batched ? 48 : 24);
    TD_DO(td_tensor_copy_to(rng, next, bytes));
    for (size_t i = 0; i < bytes / 8; i++) TD_CHECK(next[i] == next[0] && next[i] != 5);
    first = next[0];
    td_tensor_free(x);
    td_tensor_free(rng);
    td_free(made);
    td_module_call_options plain = TD_MODULE_CALL_OPTIONS_INIT;
    plain.output = TD_MODULE_OUTPUT_PLAIN;
    TD_DO(td_module_call(td, module, &plain, &made));
    rng = td_take(made, TD_KEY("rng"));
    TD_DO(td_tensor_nbytes(rng, &bytes));
    TD_CHECK_INT(bytes, batched ? 16 : 8);
    TD_DO(td_tensor_copy_to(rng, next, bytes));
    TD_CHECK_INT(next[0], first);
    td_tensor_free(rng);
    td_free(made);
    if (batched) {
      /* Three samples of each of two elements are no entry of a batch of two. */
      TD_EXPECT(td_module_call_inplace(td, module, NULL), TD_ERR_SHAPE);
    } else {
      for (int i = 0; i < 3; i++) TD_DO(td_module_call_inplace(td, module, NULL));
      rng = td_take(td, TD_KEY("rng"));
      TD_DO(td_tensor_nbytes(rng, &bytes));
      TD_CHECK_INT(bytes, 8);
    }
  }
}

TD_TEST(several_samples_for_each_element) {
  td_module_probabilistic_options options = TD_MODULE_PROBABILISTIC_OPTIONS_INIT;
  td_tensordict *td = numbers(3);
  options.num_samples = 5;
  options.interaction = TD_INTERACTION_RANDOM;
  options.flags = TD_MODULE_PROBABILISTIC_LOG_PROB;
  td_module *module = sampler_with(normal, &options);
  td_tensordict *result = td_called(td, module);
  TD_CHECK_BATCH(result, 5, 3);
  td_tensor *tensor = td_take(result, TD_KEY("x_log_prob"));
  TD_CHECK_SIZES(tensor, 5, 3, 2);
  td_free(result);
  td_module_free(module);
  module = sampler_with(categorical, &options);
  result = td_called(td, module);
  tensor = td_take(result, TD_KEY("x_log_prob"));
  TD_CHECK_SIZES(tensor, 5, 3);
  td_free(result);
  TD_EXPECT(td_module_call_inplace(td, module, NULL), TD_ERR_SHAPE);
}

/* With the module's own given for the call: the same; with zeros: another; nothing stays behind. */
static void a_log_probability_takes_parameters(const td_tensordict *td, td_module *row,
                                               const td_tensordict *want) {
  td_module_call_options call = TD_MODULE_CALL_OPTIONS_INIT;
  td_tensordict *own = NULL, *zeros = NULL, *batched = NULL, *result = NULL;
  TD_DO(td_module_params(row, &own));
  call.params = own;
  TD_DO(td_module_log_prob(td, row, &call, &result));
  td_check_close(result, want);
  td_free(result);
  TD_DO(td_clone(own, 0, &zeros));
  TD_DO(td_call_inplace(zeros, "zero_", NULL, 0));
  call.params = zeros;
  TD_DO(td_module_log_prob(td, row, &call, &result));
  TD_CHECK(!td_equals(result, want));
  td_free(result);
  TD_DO(td_module_log_prob(td, row, NULL, &result));
  td_check_close(result, want);
  td_free(result);

  result = NULL;
  TD_DO(td_stack((const td_tensordict *const[]){own, zeros}, 2, 0, &batched));
  call.params = batched;
  TD_EXPECT_NULL(td_module_log_prob(td, row, &call, &result), TD_ERR_UNSUPPORTED, result);
  call.params = NULL;
  call.interaction = TD_INTERACTION_MEAN;
  TD_EXPECT_NULL(td_module_log_prob(td, row, &call, &result), TD_ERR_INVALID_ARGUMENT, result);
  call.interaction = 0;
  td_put(zeros, TD_KEY("extra"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
  call.params = zeros;
  TD_EXPECT_NULL(td_module_log_prob(td, row, &call, &result), TD_ERR_KEY_INVALID, result);
  td_free(own);
  td_free(zeros);
  td_free(batched);
}

TD_TEST(a_network_that_samples) {
  td_module *network = td_loaded_module("sequence.pt"), *sample = NULL, *row = NULL;
  td_module_call_options call = TD_MODULE_CALL_OPTIONS_INIT;
  td_tensordict *td = td_observations(4), *result = NULL, *stored = NULL;
  part one = normal;
  one.kind = TD_DISTRIBUTION_INDEPENDENT_NORMAL;
  one.out = "action";
  sample = sampler(one, TD_INTERACTION_DEFAULT);
  TD_DO(td_module_sequence((const td_module *const[]){network, sample}, 2, NULL, &row));
  call.interaction = TD_INTERACTION_RANDOM;
  TD_DO(td_module_call(td, row, &call, &result));
  td_tensor *action = td_take(result, TD_KEY("action"));
  TD_CHECK_SIZES(action, 4, 2);
  td_put(td, TD_KEY("action"), action);
  TD_DO(td_module_log_prob(td, row, NULL, &stored));
  td_tensordict *want = NULL;
  TD_DO(td_select(result, TD_KEYS({TD_KEY("action_log_prob")}), NULL, &want));
  td_check_close(stored, want);
  td_free(stored);
  a_log_probability_takes_parameters(td, row, want);
  td_free(want);
  td_free(result);
  stored = NULL;
  TD_EXPECT_NULL(td_module_log_prob(td, network, NULL, &stored), TD_ERR_UNSUPPORTED, stored);
  TD_DO(td_remove(td, TD_KEY("action")));
  TD_EXPECT_NULL(td_module_log_prob(td, row, NULL, &stored), TD_ERR_KEY_NOT_FOUND, stored);
}

TD_TEST(two_distributions_in_one_module) {
  const td_key loc_scale[] = {{TD_KEY("loc")}, {TD_KEY("scale")}}, logits = {TD_KEY("logits")};
  const td_key outs[] = {{TD_KEY("move")}, {TD_KEY("jump")}}, lp = {TD_KEY("lp", "jump")};
  td_distribution parts[2] = {{0}, {0}};
  td_module_probabilistic_options options = TD_MODULE_PROBABILISTIC_OPTIONS_INIT;
  td_module *module = NULL;
  td_tensordict *td = numbers(1);
  parts[0].in_keys = loc_scale;
  parts[0].in_keys_len = 2;
  parts[0].out_key = outs;
  parts[1].kind = TD_DISTRIBUTION_CATEGORICAL;
  parts[1].in_keys = &logits;
  parts[1].in_keys_len = 1;
  parts[1].out_key = outs + 1;
  parts[1].log_prob_key = &lp;
  options.flags = TD_MODULE_PROBABILISTIC_LOG_PROB;
  TD_DO(td_module_probabilistic(parts, 2, &options, &module));
  td_tensordict *result = td_called(td, module), *inner = td_take_dict(result, TD_KEY("lp"));
  NEAR(result, "move", 1, 2);
  NEAR(result, "jump", 1);
  NEAR(inner, "jump", -0.5514447);
  td_free(inner);
  td_free(result);
  td_module_free(module);
  parts[1].out_key = outs;
  TD_EXPECT_NULL(td_module_probabilistic(parts, 2, NULL, &module), TD_ERR_KEY_EXISTS, module);
}

TD_TEST(halves_are_loc_and_scale) {
  td_module_normal_params_options options = TD_MODULE_NORMAL_PARAMS_OPTIONS_INIT;
  td_tensordict *td = td_empty(TD_SIZES(1)), *result;
  td_module *module = NULL;
  const float values[] = {7, 8, 0, -50};
  td_tensor *tensor = NULL;
  TD_DO(td_tensor_from_data(values, sizeof values, TD_SIZES(1, 4), TD_DTYPE_FLOAT32, &tensor));
  td_put(td, TD_KEY("h"), tensor);
  TD_DO(td_module_normal_params(TD_KEY("h"), NULL, &module));
  result = td_called(td, module);
  NEAR(result, "loc", 7, 8);
  NEAR(result, "scale", 1, 0.01);
  td_free(result);
  td_module_free(module);
  const char *const mappings[] = {"exp", "softplus", "relu", "none", "biased_softplus_0.5"};
  const double at_zero[] = {1, 0.6931472, 0.25, 0.25, 0.5};
  options.scale_lb = 0.25;
  for (int i = 0; i < 5; i++) {
    options.scale_mapping = mappings[i];
    TD_DO(td_module_normal_params(TD_KEY("h"), &options, &module));
    result = td_called(td, module);
    NEAR(result, "scale", at_zero[i], 0.25);
    td_free(result);
    td_module_free(module);
  }
  const char *const bad[] = {"", "sigmoid", "biased_softplus_", "biased_softplus_x",
                             "biased_softplus_0.01"};
  for (int i = 0; i < 5; i++) {
    options.scale_mapping = bad[i];
    TD_EXPECT_NULL(td_module_normal_params(TD_KEY("h"), &options, &module), TD_ERR_INVALID_ARGUMENT,
                   module);
  }
  TD_DO(td_module_normal_params(TD_KEY("odd"), NULL, &module));
  td_put(td, TD_KEY("odd"), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(1, 3)));
  TD_EXPECT_NULL(td_module_call(td, module, NULL, &result), TD_ERR_SHAPE, result);
}

static void refused(td_distribution one, const td_module_probabilistic_options *options,
                    td_status status, const char *text) {
  td_module *module = NULL;
  TD_EXPECT_NULL(td_module_probabilistic(&one, 1, options, &module), status, module);
  TD_CHECK_TEXT(td_last_error_message(), text);
}

TD_TEST(each_joint_has_its_bounds) {
  const td_key keys[] = {{TD_KEY("loc")}, {TD_KEY("scale")}}, out = {TD_KEY("x")};
  double lows[] = {-1, 2, 0}, highs[] = {1, 6, 9};
  td_tensordict *td = td_empty(TD_SIZES(1)), *result = NULL;
  td_distribution one = {0};
  td_module *module = NULL;
  td_put(td, TD_KEY("loc"), td_arange(TD_DTYPE_FLOAT64, 0, TD_SIZES(1, 2)));
  td_put(td, TD_KEY("scale"), td_arange(TD_DTYPE_FLOAT64, 1, TD_SIZES(1, 2)));
  one.kind = TD_DISTRIBUTION_TANH_NORMAL;
  one.in_keys = keys;
  one.in_keys_len = 2;
  one.out_key = &out;
  one.lows = lows;
  one.highs = highs;
  one.bounds_len = 2;
  TD_DO(td_module_probabilistic(&one, 1, NULL, &module));
  lows[1] = highs[1] = 100; /* they were copied */
  result = td_called(td, module);
  TD_CHECK_ENTRY(result, TD_KEY("x"), TD_SIZES(1, 2), TD_VALUES(0, 4 + 2 * tanh(1)));
  lows[1] = 2, highs[1] = 6;
  one.bounds_len = 3;
  TD_DO(td_module_probabilistic(&one, 1, NULL, &module));
  result = NULL;
  TD_EXPECT_NULL(td_module_call(td, module, NULL, &result), TD_ERR_SHAPE, result);
}

TD_TEST(distributions_that_cannot_be_made) {
  const td_key keys[] = {{TD_KEY("loc")}, {TD_KEY("scale")}}, out = {TD_KEY("x")};
  td_module_probabilistic_options options = TD_MODULE_PROBABILISTIC_OPTIONS_INIT;
  td_distribution good = {0}, one;
  td_module *module = NULL;
  good.in_keys = keys;
  good.in_keys_len = 2;
  good.out_key = &out;
  one = good;
  one.kind = 99;
  refused(one, NULL, TD_ERR_INVALID_ARGUMENT, "kind is 99");
  one.kind = TD_DISTRIBUTION_CATEGORICAL;
  refused(one, NULL, TD_ERR_INVALID_ARGUMENT,
          "Categorical has the parameters logits or probs, not loc, scale");
  one = good;
  one.in_keys_len = 1;
  refused(one, NULL, TD_ERR_INVALID_ARGUMENT, "loc, scale, not loc");
  one = good;
  one.flags = 8;
  refused(one, NULL, TD_ERR_INVALID_ARGUMENT, "flags");
  one.flags = TD_DISTRIBUTION_EVENT;
  one.kind = TD_DISTRIBUTION_TANH_NORMAL;
  refused(one, NULL, TD_ERR_INVALID_ARGUMENT,
          "TanhNormal has no elements by themselves that could be one event");
  one = good;
  one.reserved[2] = 1;
  refused(one, NULL, TD_ERR_INVALID_ARGUMENT, "reserved");
  one = good;
  one.low = 2;
  one.high = 1;
  refused(one, NULL, TD_ERR_INVALID_ARGUMENT, "from 2 to 1");
  one = good;
  one.low = NAN;
  refused(one, NULL, TD_ERR_INVALID_ARGUMENT, "holds no value");
  const double lows[] = {-1, 3}, highs[] = {1, 2};
  one = good;
  one.bounds_len = 2;
  one.lows = lows;
  one.highs = highs;
  refused(one, NULL, TD_ERR_INVALID_ARGUMENT, "Normal has no bounds, but 2 are given");
  one.kind = TD_DISTRIBUTION_TRUNCATED_NORMAL;
  refused(one, NULL, TD_ERR_INVALID_ARGUMENT, "TruncatedNormal from 3 to 2 holds no value");
  one.highs = NULL;
  refused(one, NULL, TD_ERR_NULL_ARGUMENT, "highs");
  one = good;
  one.out_key = NULL;
  refused(one, NULL, TD_ERR_NULL_ARGUMENT, "out_key");
  options.num_samples = -1;
  refused(good, &options, TD_ERR_INVALID_ARGUMENT, "num_samples is -1");
  options.num_samples = 0;
  options.seed_key = &out;
  options.flags = TD_MODULE_PROBABILISTIC_SEED;
  refused(good, &options, TD_ERR_INVALID_ARGUMENT, "exclude each other");
  TD_EXPECT_NULL(td_module_probabilistic(&good, 0, NULL, &module), TD_ERR_INVALID_ARGUMENT, module);
}

TD_TEST(values_that_a_distribution_lacks) {
  td_tensordict *td = numbers(1), *result = NULL;
  td_module_call_options call = TD_MODULE_CALL_OPTIONS_INIT;
  td_module *module = sampler(categorical, TD_INTERACTION_MEAN);
  TD_EXPECT_NULL(td_module_call(td, module, NULL, &result), TD_ERR_UNSUPPORTED, result);
  td_module_free(module);
  module = sampler(tanh_normal, TD_INTERACTION_MODE);
  TD_EXPECT_NULL(td_module_call(td, module, NULL, &result), TD_ERR_UNSUPPORTED, result);
  call.interaction = TD_INTERACTION_MEDIAN;
  TD_DO(td_module_call(td, module, &call, &result));
  td_put(td, TD_KEY("loc"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(1, 2)));
  TD_EXPECT_NULL(td_module_call(td, module, NULL, &result), TD_ERR_DTYPE, result);
  TD_DO(td_remove(td, TD_KEY("loc")));
  TD_EXPECT_NULL(td_module_call(td, module, NULL, &result), TD_ERR_KEY_NOT_FOUND, result);
}
