/* A network that was trained in Python, run here: act MODULES, the folder with mlp.pt and its data. */
#include "must.h"

enum { ROWS = 2 };

static void print_rows(const char *title, const td_tensordict *td, const char *key) {
  td_tensor *tensor;
  float values[64];
  size_t bytes;
  must(td_get(td, &key, 1, &tensor));
  must(td_tensor_nbytes(tensor, &bytes));
  must(td_tensor_copy_to(tensor, values, bytes));
  printf("%s:", title);
  for (size_t i = 0; i < bytes / sizeof *values; i++) printf(" %.2f", values[i]);
  printf("\n");
  td_tensor_free(tensor);
}

/* [function] */
/* Halves the action: any function of a dictionary can stand in a sequence. */
static td_status halve(void *user, td_tensordict *source, td_tensordict **result) {
  const td_operand half = TD_O_DOUBLE(0.5);
  (void)user;
  return td_binary(source, TD_BINARY_MUL, &half, NULL, result);
}
/* [/function] */

static void act(const td_module *policy, td_tensordict *td) {
  /* [call] */
  must(td_module_call_inplace(td, policy, NULL)); /* reads "observation", sets "action" */
  /* [/call] */
  print_rows("action", td, "action");
}

static void act_gently(const td_module *policy, const td_tensordict *td) {
  /* [sequence] */
  const td_key action = {TD_KEY("action")};
  td_module_function_options options = TD_MODULE_FUNCTION_OPTIONS_INIT;
  td_module *gentle, *both;
  td_tensordict *result;
  options.in_keys = options.out_keys = &action;
  options.in_keys_len = options.out_keys_len = 1;
  must(td_module_from_function(&options, halve, NULL, NULL, &gentle));
  must(td_module_sequence((const td_module *const[]){policy, gentle}, 2, NULL, &both));
  must(td_module_call(td, both, NULL, &result)); /* a new dictionary, {"action": …} */
  /* [/sequence] */
  print_rows("half of it", result, "action");
  td_free(result);
  td_module_free(both);
  td_module_free(gentle);
}

static void act_at_random(const td_module *policy, const td_tensordict *td) {
  /* [sample] */
  const td_key action = {TD_KEY("action")}, choice = {TD_KEY("choice")};
  td_module_probabilistic_options options = TD_MODULE_PROBABILISTIC_OPTIONS_INIT;
  td_distribution classes = {0};
  td_module *sample, *both;
  td_tensordict *result;
  classes.kind = TD_DISTRIBUTION_CATEGORICAL;
  classes.in_keys = &action; /* the actions serve as logits here */
  classes.in_keys_len = 1;
  classes.names = (const char *const[]){"logits"};
  classes.names_len = 1;
  classes.out_key = &choice;
  options.flags = TD_MODULE_PROBABILISTIC_LOG_PROB;
  must(td_module_probabilistic(&classes, 1, &options, &sample));
  must(td_module_sequence((const td_module *const[]){policy, sample}, 2, NULL, &both));
  must(td_module_call(td, both, NULL, &result)); /* TD_INTERACTION_RANDOM would draw */
  /* [/sample] */
  print_rows("log-probability of the likeliest choice", result, "choice_log_prob");
  td_free(result);
  td_module_free(both);
  td_module_free(sample);
}

static void swap(td_module *policy, const td_tensordict *td, const char *folder) {
  /* [params] */
  td_tensordict *sets, *one, *result;
  td_module_call_options options = TD_MODULE_CALL_OPTIONS_INIT;
  must(td_memmap_load(folder, NULL, &sets)); /* the parameters of three networks, stacked */
  options.params = sets;
  must(td_module_call(td, policy, &options, &result)); /* all three at once, as under vmap */
  must(td_index(sets, (const td_index_item[]){TD_I_INT(1)}, 1, &one));
  must(td_module_set_params(policy, NULL, one)); /* and one of them from now on */
  /* [/params] */
  print_rows("three networks", result, "action");
  td_free(result);
  td_free(one);
  td_free(sets);
}

int main(int argc, char **argv) {
  char path[512];
  td_tensordict *td;
  td_tensor *observation;
  const float values[ROWS * 4] = {0.1f, 0.2f, 0.3f, 0.4f, -0.1f, -0.2f, -0.3f, -0.4f};
  if (argc != 2) return 2;

  /* [load] */
  td_module *policy;
  snprintf(path, sizeof path, "%s/mlp.pt", argv[1]);
  must(td_module_load(path, NULL, &policy));
  /* [/load] */

  must(td_create((const int64_t[]){ROWS}, 1, TD_DEVICE_NONE, -1, &td));
  must(td_tensor_from_data(values, sizeof values, (const int64_t[]){ROWS, 4}, 2, TD_DTYPE_FLOAT32,
                           &observation));
  must(td_set(td, TD_KEY("observation"), observation));
  td_tensor_free(observation);

  act(policy, td);
  act_gently(policy, td);
  act_at_random(policy, td);
  snprintf(path, sizeof path, "%s/mlp_ensemble_params", argv[1]);
  swap(policy, td, path);
  act(policy, td);

  td_free(td);
  td_module_free(policy);
  return td_debug_live_handles() == 0 ? 0 : 1;
}
