/* Optimisers: the numbers of each rule against the rule written out, their state, and what they refuse. */
#include <math.h>
#include <string.h>

#include "td_modules.h"

#define N 3

/* {"n": {"w": float64 [3] that requires gradients}, "count": int64 []}. */
static td_tensordict *make_params(void) {
  td_tensordict *td = td_empty(TD_NO_SIZES), *inner = td_empty(TD_NO_SIZES);
  td_tensor *w = td_arange(TD_DTYPE_FLOAT64, 1, TD_SIZES(N));
  TD_DO(td_tensor_set_requires_grad(w, 1));
  td_put(inner, TD_KEY("w"), w);
  td_put_dict(td, TD_KEY("n"), inner);
  td_put(td, TD_KEY("count"), td_filled(TD_DTYPE_INT64, 7, TD_NO_SIZES));
  return td;
}

/* The gradient of step `t`: the same for the library and for the reference. */
static double slope(int t, int i) { return (i - 1.0) * 0.5 + 0.1 * t; }

static double *numbers(const td_tensordict *td, const char *const *path, size_t path_len) {
  void *data = NULL;
  td_tensor *tensor = td_take(td, path, path_len);
  TD_DO(td_tensor_data(tensor, &data));
  return data;
}

static void set_slopes(td_tensordict *params, int t) {
  td_tensordict *gradients = td_empty(TD_NO_SIZES), *inner = td_empty(TD_NO_SIZES);
  td_put(inner, TD_KEY("w"), td_filled(TD_DTYPE_FLOAT64, 0, TD_SIZES(N)));
  for (int i = 0; i < N; i++) numbers(inner, TD_KEY("w"))[i] = slope(t, i);
  td_put_dict(gradients, TD_KEY("n"), inner);
  TD_DO(td_set_grad(params, gradients));
}

/* Steps `from` to `to`, without the latter. */
static void walk(td_tensordict *params, td_optimizer *optimizer, int from, int to) {
  for (int t = from; t < to; t++) {
    set_slopes(params, t);
    TD_DO(td_optimizer_step(optimizer));
    TD_DO(td_optimizer_zero_grad(optimizer, 0));
  }
}

static td_optimizer *optimizer_of(const td_tensordict *params, td_optimizer_kind kind,
                                  const td_optimizer_options *options) {
  td_optimizer *optimizer = NULL;
  TD_DO(td_optimizer_create(params, kind, options, &optimizer));
  return optimizer;
}

static double sgd(double w, int i, int steps, const td_optimizer_options *o) {
  double buffer = 0;
  for (int t = 0; t < steps; t++) {
    double g = slope(t, i) + o->weight_decay * w;
    buffer = t == 0 ? g : o->momentum * buffer + (1 - o->dampening) * g;
    if (o->momentum != 0) g = o->flags & TD_OPTIMIZER_NESTEROV ? g + o->momentum * buffer : buffer;
    w -= o->lr * g;
  }
  return w;
}

static double adam(double w, int i, int steps, const td_optimizer_options *o, int decoupled) {
  double m = 0, v = 0, most = 0;
  for (int t = 0; t < steps; t++) {
    double g = slope(t, i);
    if (decoupled) {
      w *= 1 - o->lr * o->weight_decay;
    } else {
      g += o->weight_decay * w;
    }
    m = o->beta1 * m + (1 - o->beta1) * g;
    v = o->beta2 * v + (1 - o->beta2) * g * g;
    most = v > most ? v : most;
    const double second = o->flags & TD_OPTIMIZER_AMSGRAD ? most : v;
    const double first = m / (1 - pow(o->beta1, t + 1));
    w -= o->lr * first / (sqrt(second / (1 - pow(o->beta2, t + 1))) + o->eps);
  }
  return w;
}

static void check_rule(td_optimizer_kind kind, const td_optimizer_options *given) {
  td_optimizer_options used = TD_OPTIMIZER_OPTIONS_INIT;
  if (given != NULL) used = *given;
  if (given == NULL && kind == TD_OPTIMIZER_ADAMW) used.weight_decay = 0.01;
  td_tensordict *params = make_params();
  td_optimizer *optimizer = optimizer_of(params, kind, given);
  walk(params, optimizer, 0, 5);
  for (int i = 0; i < N; i++) {
    const double want = kind == TD_OPTIMIZER_SGD
                            ? sgd(i + 1, i, 5, &used)
                            : adam(i + 1, i, 5, &used, kind == TD_OPTIMIZER_ADAMW);
    const double got = numbers(params, TD_KEY("n", "w"))[i];
    if (!(fabs(got - want) <= 1e-12))
      td_test_fail(__FILE__, __LINE__, "kind %d: %.17g, not %.17g", (int)kind, got, want);
  }
  TD_CHECK_ENTRY(params, TD_KEY("count"), TD_NO_SIZES, TD_VALUES(7));
  td_optimizer_free(optimizer);
}

TD_TEST(each_rule) {
  for (td_optimizer_kind kind = TD_OPTIMIZER_SGD; kind <= TD_OPTIMIZER_ADAMW; kind++) {
    td_optimizer_options options = TD_OPTIMIZER_OPTIONS_INIT;
    check_rule(kind, NULL);
    options.lr = 0.1;
    options.weight_decay = 0.3;
    check_rule(kind, &options);
    options.momentum = 0.9;
    options.flags = kind == TD_OPTIMIZER_SGD ? TD_OPTIMIZER_NESTEROV : TD_OPTIMIZER_AMSGRAD;
    check_rule(kind, &options);
    options.flags = 0;
    options.dampening = 0.25;
    options.beta1 = 0.5;
    options.beta2 = 0;
    options.eps = 0.125;
    check_rule(kind, &options);
  }
}

/* A checkpoint in a folder: the second half of a run is the same as without a break. */
TD_TEST(a_run_goes_on_from_a_checkpoint) {
  const char *folder = td_path(td_test_folder(), "state");
  for (td_optimizer_kind kind = TD_OPTIMIZER_SGD; kind <= TD_OPTIMIZER_ADAMW; kind++) {
    td_optimizer_options options = TD_OPTIMIZER_OPTIONS_INIT;
    options.lr = 0.1;
    options.momentum = 0.9;
    options.flags = kind == TD_OPTIMIZER_SGD ? 0 : TD_OPTIMIZER_AMSGRAD;
    td_tensordict *whole = make_params(), *half = make_params(), *state = NULL, *saved = NULL;
    td_optimizer *first = optimizer_of(whole, kind, &options);
    td_optimizer *second = optimizer_of(half, kind, &options), *third = NULL;
    walk(whole, first, 0, 6);
    walk(half, second, 0, 3);
    TD_DO(td_optimizer_state(second, &state));
    TD_DO(td_memmap(state, folder, NULL, &saved));
    td_free(saved);
    td_free(state);
    td_optimizer_free(second);
    TD_DO(td_memmap_load(folder, NULL, &saved));
    third = optimizer_of(half, kind, &options);
    TD_DO(td_optimizer_load_state(third, saved));
    td_free(saved);
    walk(half, third, 3, 6);
    for (int i = 0; i < N; i++)
      TD_CHECK(numbers(whole, TD_KEY("n", "w"))[i] == numbers(half, TD_KEY("n", "w"))[i]);
    td_optimizer_free(first);
    td_optimizer_free(third);
    td_free(whole);
    td_free(half);
  }
}

TD_TEST(the_state_stands_where_the_parameters_stand) {
  td_tensordict *params = make_params(), *state = NULL;
  td_optimizer *optimizer = optimizer_of(params, TD_OPTIMIZER_ADAM, NULL);
  TD_DO(td_optimizer_state(optimizer, &state));
  TD_CHECK_FLAG(td_is_empty, state, 1);
  walk(params, optimizer, 0, 2);
  TD_DO(td_optimizer_state(optimizer, &state));
  TD_CHECK_ENTRY(state, TD_KEY("n", "w", "step"), TD_NO_SIZES, TD_VALUES(2));
  TD_CHECK(fabs(numbers(state, TD_KEY("n", "w", "exp_avg"))[0] - (0.9 * 0.1 * -0.5 - 0.1 * 0.4)) <
           1e-15);
}

/* Parameters without a gradient stay, and one in two places is changed once. */
TD_TEST(only_what_has_a_gradient) {
  td_tensordict *params = make_params();
  td_tensor *w = td_take(params, TD_KEY("n", "w"));
  td_optimizer_options options = TD_OPTIMIZER_OPTIONS_INIT;
  double lr = 0;
  TD_DO(td_set(params, TD_KEY("tied"), w));
  td_tensor_free(w);
  td_optimizer *optimizer = optimizer_of(params, TD_OPTIMIZER_SGD, &options);
  TD_DO(td_optimizer_step(optimizer));
  TD_CHECK_ENTRY(params, TD_KEY("n", "w"), TD_SIZES(N), TD_VALUES(1, 2, 3));
  TD_DO(td_optimizer_set_lr(optimizer, 0.5));
  TD_DO(td_optimizer_lr(optimizer, &lr));
  TD_CHECK(lr == 0.5);
  set_slopes(params, 0);
  TD_DO(td_optimizer_step(optimizer));
  TD_CHECK_ENTRY(params, TD_KEY("tied"), TD_SIZES(N), TD_VALUES(1.25, 2, 2.75));
  TD_DO(td_optimizer_zero_grad(optimizer, TD_ZERO_GRAD_KEEP));
  TD_DO(td_optimizer_step(optimizer));
  TD_CHECK_ENTRY(params, TD_KEY("tied"), TD_SIZES(N), TD_VALUES(1.25, 2, 2.75));
}

/* The whole loop: a network learns to give zero. */
TD_TEST(a_network_learns) {
  td_module *module = td_loaded_module("mlp.pt");
  td_tensordict *params = NULL, *td = td_observations(4);
  td_optimizer_options options = TD_OPTIMIZER_OPTIONS_INIT;
  double losses[2];
  options.lr = 0.01;
  TD_DO(td_module_params(module, &params));
  TD_DO(td_set_requires_grad(params, 1));
  td_optimizer *optimizer = optimizer_of(params, TD_OPTIMIZER_ADAM, &options);
  td_set_grad_enabled(1);
  for (int i = 0; i < 60; i++) {
    const td_operand square = TD_O_INT(2);
    td_tensordict *out = td_called(td, module), *power = NULL, *loss = NULL;
    td_tensor *number = NULL;
    float value = 0;
    TD_DO(td_binary(out, TD_BINARY_POW, &square, NULL, &power));
    TD_DO(td_reduce(power, TD_REDUCE_SUM, NULL, &loss));
    TD_DO(td_backward(loss, NULL, NULL, NULL));
    TD_DO(td_optimizer_step(optimizer));
    TD_DO(td_optimizer_zero_grad(optimizer, 0));
    number = td_take(loss, TD_KEY("action"));
    TD_DO(td_tensor_copy_to(number, &value, sizeof value));
    losses[i != 0] = value;
  }
  td_set_grad_enabled(0);
  if (!(losses[1] < losses[0] / 20))
    td_test_fail(__FILE__, __LINE__, "the loss fell from %g to %g", losses[0], losses[1]);
}

static void refused(const td_tensordict *params, td_optimizer_kind kind,
                    const td_optimizer_options *options, td_status status, const char *text) {
  td_optimizer *optimizer = NULL;
  TD_EXPECT_NULL(td_optimizer_create(params, kind, options, &optimizer), status, optimizer);
  if (strstr(td_last_error_message(), text) == NULL)
    td_test_fail(__FILE__, __LINE__, "\"%s\" lacks \"%s\"", td_last_error_message(), text);
}

TD_TEST(what_cannot_be_optimised) {
  td_tensordict *params = make_params(), *plain = td_sample(), *lazy = NULL, *views = NULL;
  td_optimizer_options options = TD_OPTIMIZER_OPTIONS_INIT;
  refused(plain, TD_OPTIMIZER_SGD, NULL, TD_ERR_INVALID_ARGUMENT, "no tensor requires gradients");
  TD_DO(td_lazy_stack((const td_tensordict *const[]){params, params}, 2, 0, &lazy));
  refused(lazy, TD_OPTIMIZER_SGD, NULL, TD_ERR_UNSUPPORTED, "lazy stack");
  td_set_grad_enabled(1);
  const td_operand two = TD_O_INT(2);
  TD_DO(td_exclude(params, (const td_key[]){{TD_KEY("count")}}, 1, NULL, &views));
  td_tensordict *computed = NULL;
  TD_DO(td_binary(views, TD_BINARY_MUL, &two, NULL, &computed));
  refused(computed, TD_OPTIMIZER_ADAM, NULL, TD_ERR_TORCH, "computed from other tensors");
  td_set_grad_enabled(0);
  refused(params, 3, NULL, TD_ERR_INVALID_ARGUMENT, "kind is 3");
  options.lr = -1;
  refused(params, TD_OPTIMIZER_ADAM, &options, TD_ERR_INVALID_ARGUMENT, "lr is -1");
  options.lr = NAN;
  refused(params, TD_OPTIMIZER_SGD, &options, TD_ERR_INVALID_ARGUMENT, "lr is nan");
  options.lr = 1;
  options.beta2 = 1;
  refused(params, TD_OPTIMIZER_ADAMW, &options, TD_ERR_INVALID_ARGUMENT, "beta2 is 1");
  options.beta2 = 0;
  options.flags = TD_OPTIMIZER_NESTEROV;
  refused(params, TD_OPTIMIZER_SGD, &options, TD_ERR_INVALID_ARGUMENT, "Nesterov");
}

TD_TEST(a_state_that_does_not_fit) {
  td_tensordict *params = make_params(), *state = NULL, *before = NULL, *after = NULL;
  td_optimizer *optimizer = optimizer_of(params, TD_OPTIMIZER_ADAM, NULL);
  walk(params, optimizer, 0, 2);
  TD_DO(td_optimizer_state(optimizer, &after));
  TD_DO(td_clone(after, 0, &before));
  td_free(after);
  TD_DO(td_clone(before, 0, &state));
  td_put(state, TD_KEY("n", "w", "more"), td_filled(TD_DTYPE_FLOAT64, 0, TD_SIZES(N)));
  TD_EXPECT(td_optimizer_load_state(optimizer, state), TD_ERR_KEY_INVALID);
  TD_DO(td_remove(state, TD_KEY("n", "w", "more")));
  td_put(state, TD_KEY("n", "other"), td_filled(TD_DTYPE_FLOAT64, 0, TD_SIZES(N)));
  TD_EXPECT(td_optimizer_load_state(optimizer, state), TD_ERR_KEY_INVALID);
  TD_DO(td_remove(state, TD_KEY("n", "other")));
  td_put(state, TD_KEY("n", "w", "exp_avg"), td_filled(TD_DTYPE_FLOAT64, 0, TD_SIZES(N + 1)));
  TD_EXPECT(td_optimizer_load_state(optimizer, state), TD_ERR_SHAPE);
  td_put(state, TD_KEY("n", "w", "exp_avg"), td_filled(TD_DTYPE_INT64, 0, TD_SIZES(N)));
  TD_EXPECT(td_optimizer_load_state(optimizer, state), TD_ERR_DTYPE);
  TD_DO(td_remove(state, TD_KEY("n", "w", "exp_avg")));
  TD_EXPECT(td_optimizer_load_state(optimizer, state), TD_ERR_KEY_NOT_FOUND);
  td_put(state, TD_KEY("n", "w", "exp_avg"), td_filled(TD_DTYPE_FLOAT64, 0, TD_SIZES(N)));
  for (int i = 0; i < 5; i++) {
    static const double no_steps[] = {1.5, -1, NAN, INFINITY, 1e300};
    td_put(state, TD_KEY("n", "w", "step"), td_filled(TD_DTYPE_FLOAT64, no_steps[i], TD_NO_SIZES));
    TD_EXPECT(td_optimizer_load_state(optimizer, state), TD_ERR_INVALID_ARGUMENT);
    TD_CHECK_TEXT(td_last_error_message(), "which is no number of steps");
  }
  td_put(state, TD_KEY("n", "w", "step"), td_filled(TD_DTYPE_BOOL, 1, TD_NO_SIZES));
  TD_EXPECT(td_optimizer_load_state(optimizer, state), TD_ERR_SHAPE);
  td_put(state, TD_KEY("n", "w"), td_filled(TD_DTYPE_FLOAT32, 1.5, TD_NO_SIZES));
  TD_EXPECT(td_optimizer_load_state(optimizer, state), TD_ERR_WRONG_ENTRY);
  TD_DO(td_optimizer_state(optimizer, &after));
  td_check_close(before, after);
  td_free(after);
  td_free(state);
  TD_DO(td_clone(before, 0, &state));
  td_put(state, TD_KEY("n", "w", "step"), td_filled(TD_DTYPE_FLOAT32, 40, TD_NO_SIZES));
  TD_DO(td_optimizer_load_state(optimizer, state)); /* as Python writes it */
  td_free(state);
  TD_DO(td_optimizer_state(optimizer, &state));
  TD_CHECK_ENTRY(state, TD_KEY("n", "w", "step"), TD_NO_SIZES, TD_VALUES(40));
}
