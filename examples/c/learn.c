/* A policy goes on learning where it acts: learn MODULES, the folder with mlp.pt. A demonstrator shows an action
 * for each observation; the policy comes to do the same, and is saved with what it has learnt. */
#include "must.h"

enum { ROWS = 256, STEPS = 300 };

/* {"observation": float32 [256,4], "expert": float32 [256,2]}: numbers from -1 to 1, and what to do. */
static td_tensordict *demonstration(void) {
  static float observations[ROWS * 4], actions[ROWS * 2];
  unsigned random = 1;
  td_tensordict *td;
  for (int i = 0; i < ROWS * 4; i++) {
    random = random * 1664525u + 1013904223u;
    observations[i] = (float)(random >> 8) / (float)(1 << 23) - 1;
  }
  for (int i = 0; i < ROWS; i++) {
    const float *o = observations + 4 * i;
    actions[2 * i] = 0.5f * (o[0] - o[1]);
    actions[2 * i + 1] = o[2] > 0 ? o[3] : -o[3];
  }
  must(td_create((const int64_t[]){ROWS}, 1, TD_DEVICE_NONE, -1, &td));
  must(td_set_data(td, TD_KEY("observation"), observations, sizeof observations, TD_SIZES(ROWS, 4),
                   TD_DTYPE_FLOAT32));
  must(td_set_data(td, TD_KEY("expert"), actions, sizeof actions, TD_SIZES(ROWS, 2),
                   TD_DTYPE_FLOAT32));
  return td;
}

/* The mean square of how far the actions are from the demonstrator's, as {"action": []}. */
static td_tensordict *loss_of(const td_module *policy, const td_tensordict *td) {
  const td_operand two = TD_O_INT(2);
  td_tensordict *out, *expert, *apart, *square, *loss;
  td_tensor *wanted;
  must(td_module_call(td, policy, NULL, &out));
  must(td_get(td, TD_KEY("expert"), &wanted));
  must(td_empty_like(out, 0, &expert));
  must(td_set(expert, TD_KEY("action"), wanted));
  must(td_binary(out, TD_BINARY_SUB, &(td_operand)TD_O_DICT(expert), NULL, &apart));
  must(td_binary(apart, TD_BINARY_POW, &two, NULL, &square));
  must(td_reduce(square, TD_REDUCE_MEAN, NULL, &loss));
  td_tensor_free(wanted);
  td_free(square);
  td_free(apart);
  td_free(expert);
  td_free(out);
  return loss;
}

static double number_of(const td_tensordict *loss) {
  double number;
  must(td_get_double(loss, TD_KEY("action"), &number));
  return number;
}

static void learn(td_module *policy, const td_tensordict *td) {
  /* [learn] */
  td_tensordict *params;
  td_optimizer *optimizer;
  td_optimizer_options options = TD_OPTIMIZER_OPTIONS_INIT;
  options.lr = 0.01;
  must(td_module_params(policy, &params)); /* the policy's own tensors */
  must(td_set_requires_grad(params, 1));
  must(td_optimizer_create(params, TD_OPTIMIZER_ADAM, &options, &optimizer));
  for (int step = 0; step < STEPS; step++) {
    td_set_grad_enabled(1);
    td_tensordict *loss = loss_of(policy, td);
    must(td_backward(loss, NULL, NULL, NULL));
    td_set_grad_enabled(0);
    must(td_optimizer_step(optimizer)); /* the next call uses what was learnt */
    must(td_optimizer_zero_grad(optimizer, 0));
    td_free(loss);
  }
  /* [/learn] */
  td_optimizer_free(optimizer);
  td_free(params);
}

int main(int argc, char **argv) {
  char path[512];
  td_module *policy, *again;
  if (argc != 2) return 2;
  snprintf(path, sizeof path, "%s/mlp.pt", argv[1]);
  must(td_module_load(path, NULL, &policy));
  td_tensordict *td = demonstration(), *loss = loss_of(policy, td);
  const double before = number_of(loss);
  td_free(loss);
  learn(policy, td);

  must(td_module_save(policy, "learnt.pt"));
  must(td_module_load("learnt.pt", NULL, &again));
  remove("learnt.pt");
  loss = loss_of(again, td);
  printf("before: about %.1f\n", before);
  printf("after: %s\n", number_of(loss) < 0.02 ? "below 0.02" : "not learnt");
  td_free(loss);
  td_free(td);
  td_module_free(again);
  td_module_free(policy);
  return td_debug_live_handles() == 0 ? 0 : 1;
}
