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
  TD_CHECK_EQUAL(td, result);
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

/* One step of a long sequence: reads an entry, and writes one more than it under another key. */
typedef struct step {
  const char *in[2], *out[2];
  size_t in_len, out_len;
} step;

static td_status one_more(void *user, td_tensordict *source, td_tensordict **result) {
  const step *it = user;
  td_tensor *value = NULL, *more = NULL;
  int64_t number = 0;
  td_status status = td_get(source, it->in, it->in_len, &value);
  if (status == TD_OK) status = td_tensor_copy_to(value, &number, sizeof number);
  number++;
  if (status == TD_OK)
    status = td_tensor_from_data(&number, sizeof number, TD_SIZES(1), TD_DTYPE_INT64, &more);
  if (status == TD_OK) status = td_create(TD_SIZES(1), TD_DEVICE_NONE, -1, result);
  if (status == TD_OK) status = td_set(*result, it->out, it->out_len, more);
  td_tensor_free(value);
  td_tensor_free(more);
  return status;
}

/* What a module reads is what was written last, through however many modules. */
TD_TEST(a_long_sequence_reads_what_was_written_last) {
  enum { steps = 300, places = 12 };
  static const char *const names[places] = {"a", "b", "c", "d", "e", "f",
                                            "g", "h", "i", "j", "k", "l"};
  step all[steps];
  td_module *modules[steps], *sequence = NULL;
  int64_t want[2][places], got = 0; /* at "x" and at ("n", "x") */
  td_tensordict *td = td_empty(TD_SIZES(1)), *made = NULL;
  for (int i = 0; i < places; i++) {
    td_put(td, TD_KEY(names[i]), td_filled(TD_DTYPE_INT64, i, TD_SIZES(1)));
    td_put(td, TD_KEY("n", names[i]), td_filled(TD_DTYPE_INT64, 100 * i, TD_SIZES(1)));
    want[0][i] = i;
    want[1][i] = 100 * i;
  }
  for (int i = 0; i < steps; i++) {
    const int from = i * 7 % places, to = i * 5 % 11, nested_from = i % 3 == 0, nested_to = i % 2;
    all[i] = (step){{nested_from ? "n" : names[from], names[from]},
                    {nested_to ? "n" : names[to], names[to]},
                    (size_t)nested_from + 1,
                    (size_t)nested_to + 1};
    const td_key in = {all[i].in, all[i].in_len}, out = {all[i].out, all[i].out_len};
    td_module_function_options options = TD_MODULE_FUNCTION_OPTIONS_INIT;
    options.in_keys = &in;
    options.out_keys = &out;
    options.in_keys_len = options.out_keys_len = 1;
    TD_DO(td_module_from_function(&options, one_more, &all[i], NULL, &modules[i]));
    want[nested_to][to] = want[nested_from][from] + 1;
  }
  TD_DO(td_module_sequence((const td_module *const *)modules, steps, NULL, &sequence));
  for (int again = 0; again < 2; again++) {
    if (again) TD_DO(td_module_call_inplace(td, sequence, NULL));
    made = again ? td : td_called(td, sequence);
    for (int i = 0; i < 11; i++) {
      td_tensor *value = td_take(made, TD_KEY(names[i]));
      TD_DO(td_tensor_copy_to(value, &got, sizeof got));
      td_tensor_free(value);
      TD_CHECK_INT(got, want[0][i]);
      value = td_take(made, TD_KEY("n", names[i]));
      TD_DO(td_tensor_copy_to(value, &got, sizeof got));
      td_tensor_free(value);
      TD_CHECK_INT(got, want[1][i]);
    }
    if (!again) td_free(made);
  }
  td_module_free(sequence);
  for (int i = 0; i < steps; i++) td_module_free(modules[i]);
  td_free(td);
}
