/* Proximal policy optimisation, from the first step to a policy that balances: ppo NETWORK OUT [--until N] [--curve]
 *
 * NETWORK is cartpole.pt of this folder. Eight poles are balanced at once; what they did becomes minibatches, and the
 * network learns from them, until the last 50 episodes lasted N steps on average (475). Then it is written to OUT.
 * --curve prints how long they last on the way. Fails if the network has not learnt after 500,000 steps. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <time.h>

#include "../c/must.h"
#include "cartpole.h"

enum { POLES = 8, STEPS = 64, ROWS = 128, EPOCHS = 8, EPISODES = 50, MOST = 500000 };
static const double gamma_ = 0.99, lambda = 0.95, clip = 0.2, learning_rate = 1e-3;

/* [x] */
/* Arithmetic on one entry: {"x": …} of the batch size of `td`. */
static td_tensordict *x_of(const td_tensordict *td, const char *name) {
  td_tensordict *x;
  td_tensor *tensor;
  must(td_get(td, TD_KEY(name), &tensor));
  must(td_empty_like(td, 0, &x));
  must(td_set(x, TD_KEY("x"), tensor));
  td_tensor_free(tensor);
  return x;
}

/* Both consume `a`; `b` is freed with it. */
static td_tensordict *with(td_tensordict *a, td_binary_op op, td_tensordict *b) {
  td_tensordict *result;
  must(td_binary(a, op, TD_BY(TD_O_DICT(b)), NULL, &result));
  td_free(a);
  td_free(b);
  return result;
}

static td_tensordict *by(td_tensordict *a, td_binary_op op, double number) {
  td_tensordict *result;
  must(td_binary(a, op, TD_BY(TD_O_DOUBLE(number)), NULL, &result));
  td_free(a);
  return result;
}
/* [/x] */

static td_tensordict *unary(td_tensordict *a, td_unary_op op) {
  td_tensordict *result;
  must(td_unary(a, op, &result));
  td_free(a);
  return result;
}

static td_tensordict *reduced(const td_tensordict *a, td_reduce_op op, td_reduce_over over) {
  td_reduce_options options = TD_REDUCE_OPTIONS_INIT;
  td_tensordict *result;
  options.over = over;
  must(td_reduce(a, op, &options, &result));
  return result;
}

static td_tensordict *mean(td_tensordict *a) {
  td_tensordict *result = reduced(a, TD_REDUCE_MEAN, TD_REDUCE_OVER_ALL);
  td_free(a);
  return result;
}

static void put(td_tensordict *td, const char *name, td_tensordict *x) {
  td_tensor *tensor;
  must(td_get(x, TD_KEY("x"), &tensor));
  must(td_set(td, TD_KEY(name), tensor));
  td_tensor_free(tensor);
  td_free(x);
}

static td_tensordict *at(const td_tensordict *td, int64_t step) {
  td_tensordict *row;
  must(td_index(td, (const td_index_item[]){TD_I_INT(step)}, 1, &row));
  return row;
}

/* [poles] */
/* What the poles show and get, in memory of this program, and a dictionary over it. */
typedef struct poles {
  cartpole each[POLES];
  float observation[POLES][CARTPOLE_OBSERVED], reward[POLES], goes_on[POLES];
  td_tensordict *step;
} poles;

static void share(td_tensordict *td, const char *name, float *data, size_t dims) {
  const int64_t sizes[] = {POLES, CARTPOLE_OBSERVED};
  td_tensor *tensor;
  must(td_tensor_from_blob(data, sizes, NULL, dims, TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, NULL, NULL,
                           &tensor));
  must(td_set(td, TD_KEY(name), tensor));
  td_tensor_free(tensor);
}
/* [/poles] */

static void poles_open(poles *of) {
  memset(of, 0, sizeof *of);
  must(td_create((const int64_t[]){POLES}, 1, TD_DEVICE_NONE, -1, &of->step));
  share(of->step, "observation", of->observation[0], 2);
  share(of->step, "reward", of->reward, 1);
  share(of->step, "goes_on", of->goes_on, 1);
  for (int i = 0; i < POLES; i++) {
    of->each[i].random = (unsigned)i + 1;
    cartpole_reset(&of->each[i]);
    cartpole_observe(&of->each[i], of->observation[i]);
  }
}

/* How long the last episodes were. */
typedef struct score {
  int lengths[EPISODES];
  long long count;
} score;

static double average(const score *of) {
  double sum = 0;
  if (of->count < EPISODES) return 0;
  for (int i = 0; i < EPISODES; i++) sum += of->lengths[i];
  return sum / EPISODES;
}

/* What the network expects from where a pole is. */
static float value_of(const cartpole *pole, const td_module *network) {
  float observation[CARTPOLE_OBSERVED], value = 0;
  const int64_t sizes[] = {1, CARTPOLE_OBSERVED};
  td_tensordict *here;
  td_tensor *tensor;
  cartpole_observe(pole, observation);
  must(td_create(sizes, 1, TD_DEVICE_NONE, -1, &here));
  must(td_tensor_from_data(observation, sizeof observation, sizes, 2, TD_DTYPE_FLOAT32, &tensor));
  must(td_set(here, TD_KEY("observation"), tensor));
  td_tensor_free(tensor);
  must(td_module_call_inplace(here, network, NULL));
  must(td_get(here, TD_KEY("value"), &tensor));
  must(td_tensor_copy_to(tensor, &value, sizeof value));
  td_tensor_free(tensor);
  td_free(here);
  return value;
}

/* [act] */
/* STEPS steps of all poles, with actions that the policy draws, into `rollout`. */
static void act(poles *of, const td_module *policy, const td_module *network,
                td_tensordict *rollout, score *scored) {
  int64_t actions[POLES];
  float next[POLES][CARTPOLE_OBSERVED];
  td_tensor *action;
  for (int64_t step = 0; step < STEPS; step++) {
    must(td_module_call_inplace(of->step, policy, NULL));
    must(td_get(of->step, TD_KEY("action"), &action));
    must(td_tensor_copy_to(action, actions, sizeof actions));
    td_tensor_free(action);
    for (int i = 0; i < POLES; i++) {
      cartpole *pole = &of->each[i];
      const int over = cartpole_step(pole, (int)actions[i]);
      of->reward[i] = 1;
      of->goes_on[i] = over ? 0 : 1;
      if (over) {
        scored->lengths[scored->count++ % EPISODES] = pole->steps;
        /* A pole that still stands after the longest episode would have gone on. */
        if (pole->steps == CARTPOLE_LONGEST)
          of->reward[i] += (float)gamma_ * value_of(pole, network);
        cartpole_reset(pole);
      }
      cartpole_observe(pole, next[i]);
    }
    must(td_set_at(rollout, (const td_index_item[]){TD_I_INT(step)}, 1, of->step));
    memcpy(of->observation, next, sizeof next);
  }
  must(td_module_call_inplace(of->step, policy, NULL)); /* the value of where they are now */
}
/* [/act] */

/* [advantage] */
/* Generalised advantages: from the last step to the first, how much better it went than expected. */
static void judge(td_tensordict *rollout, const td_tensordict *now) {
  td_tensordict *value = x_of(rollout, "value"), *goes_on = x_of(rollout, "goes_on");
  td_tensordict *reward = x_of(rollout, "reward"), *after = x_of(now, "value"), *later = NULL;
  td_tensordict *advantage;
  must(td_clone(reward, 0, &advantage)); /* written below */
  for (int64_t step = STEPS - 1; step >= 0; step--) {
    td_tensordict *before = at(value, step), *alive = at(goes_on, step), *got = at(reward, step);
    td_tensordict *delta;
    must(td_ternary(got, TD_TERNARY_ADDCMUL, TD_BY(TD_O_DICT(alive)), TD_BY(TD_O_DICT(after)),
                    gamma_, &delta));
    must(td_binary_inplace(delta, TD_BINARY_SUB, TD_BY(TD_O_DICT(before)), NULL));
    if (later) {
      must(td_ternary_inplace(delta, TD_TERNARY_ADDCMUL, TD_BY(TD_O_DICT(alive)),
                              TD_BY(TD_O_DICT(later)), gamma_ * lambda));
    }
    must(td_set_at(advantage, (const td_index_item[]){TD_I_INT(step)}, 1, delta));
    td_free(later);
    later = delta;
    td_free(got);
    td_free(alive);
    td_free(after);
    after = before;
  }
  td_free(later);
  td_free(after);
  td_free(goes_on);
  td_free(reward);
  must(td_binary(advantage, TD_BINARY_ADD, TD_BY(TD_O_DICT(value)), NULL, &later));
  td_free(value);
  put(rollout, "advantage", advantage);
  put(rollout, "returns", later);
}
/* [/advantage] */

/* [loss] */
/* The clipped loss of the policy, that of the values, and a bonus for trying things: {"x": []}. */
static td_tensordict *loss_of(td_tensordict *batch, const td_module *network,
                              const td_module *drawn) {
  td_tensordict *log_prob, *ratio, *clipped, *log, *chances, *entropy, *wrong;
  td_tensordict *advantage = x_of(batch, "advantage"), *again;
  td_tensordict *before = x_of(batch, "action_log_prob");
  must(td_module_call_inplace(batch, network, NULL));
  must(td_module_log_prob(batch, drawn, NULL, &log_prob));
  ratio = unary(with(x_of(log_prob, "action_log_prob"), TD_BINARY_SUB, before), TD_UNARY_EXP);
  td_free(log_prob);
  advantage =
      with(advantage, TD_BINARY_SUB, reduced(advantage, TD_REDUCE_MEAN, TD_REDUCE_OVER_ALL));
  advantage = with(advantage, TD_BINARY_DIV,
                   by(reduced(advantage, TD_REDUCE_STD, TD_REDUCE_OVER_ALL), TD_BINARY_ADD, 1e-8));
  must(td_clone(advantage, 0, &again));
  must(td_ternary(ratio, TD_TERNARY_CLAMP, TD_BY(TD_O_DOUBLE(1 - clip)),
                  TD_BY(TD_O_DOUBLE(1 + clip)), 0, &clipped));
  clipped = with(clipped, TD_BINARY_MUL, again);
  ratio = with(with(ratio, TD_BINARY_MUL, advantage), TD_BINARY_MINIMUM, clipped);

  wrong = with(x_of(batch, "value"), TD_BINARY_SUB, x_of(batch, "returns"));
  wrong = by(mean(by(wrong, TD_BINARY_POW, 2)), TD_BINARY_MUL, 0.5);

  td_tensordict *logits = x_of(batch, "logits");
  size_t count;
  must(td_call(logits, "log_softmax",
               (const td_call_argument[]){TD_ARG_LEAF(NULL), TD_ARG_INT("dim", -1)}, 2, NULL, &log,
               1, &count));
  td_free(logits);
  must(td_unary(log, TD_UNARY_EXP, &chances));
  chances = with(chances, TD_BINARY_MUL, log);
  entropy = reduced(chances, TD_REDUCE_SUM, TD_REDUCE_OVER_FEATURES); /* less than 0 */
  td_free(chances);
  return with(with(wrong, TD_BINARY_SUB, mean(ratio)), TD_BINARY_ADD,
              by(mean(entropy), TD_BINARY_MUL, 0.01));
}
/* [/loss] */

/* [learn] */
/* Some epochs of minibatches of what was done. */
static void learn(const td_tensordict *rollout, const td_module *network, const td_module *drawn,
                  td_tensordict *params, td_optimizer *optimizer, uint64_t seed) {
  td_loader_options options = TD_LOADER_OPTIONS_INIT;
  td_loader *loader;
  td_tensordict *batch, *loss;
  options.flags = TD_LOADER_SHUFFLE | TD_LOADER_FLAT;
  options.rows = ROWS;
  options.epochs = EPOCHS;
  options.seed = seed;
  must(td_loader_create(rollout, &options, &loader));
  for (int epoch = 0; epoch < EPOCHS;) {
    must(td_loader_next(loader, &batch));
    if (!batch) { /* the end of an epoch */
      epoch++;
      continue;
    }
    td_set_grad_enabled(1);
    loss = loss_of(batch, network, drawn);
    must(td_backward(loss, NULL, NULL, NULL));
    td_set_grad_enabled(0);
    must(td_clip_grad_norm(params, 0.5, NULL));
    must(td_optimizer_step(optimizer));
    must(td_optimizer_zero_grad(optimizer, 0));
    td_free(loss);
    td_free(batch);
  }
  td_loader_free(loader);
}
/* [/learn] */

/* [policy] */
/* Draws an action from the network's logits, and says how likely it was. */
static td_module *drawn_from_logits(void) {
  static const char *const logits[] = {"logits"}, *const action[] = {"action"};
  const td_key in = {logits, 1}, out = {action, 1};
  td_distribution part;
  td_module_probabilistic_options options = TD_MODULE_PROBABILISTIC_OPTIONS_INIT;
  td_module *result;
  memset(&part, 0, sizeof part);
  part.kind = TD_DISTRIBUTION_CATEGORICAL;
  part.in_keys = &in;
  part.in_keys_len = 1;
  part.out_key = &out;
  options.flags = TD_MODULE_PROBABILISTIC_LOG_PROB | TD_MODULE_PROBABILISTIC_SEED;
  options.interaction = TD_INTERACTION_RANDOM;
  options.seed = 1;
  must(td_module_probabilistic(&part, 1, &options, &result));
  return result;
}
/* [/policy] */

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
  int wanted = 475, curve = 0;
  if (argc < 3) return 2;
  for (int i = 3; i < argc; i++) {
    if (strcmp(argv[i], "--curve") == 0)
      curve = 1;
    else if (strcmp(argv[i], "--until") == 0 && i + 1 < argc)
      wanted = atoi(argv[++i]);
    else
      return 2;
  }
  td_module *network, *drawn = drawn_from_logits(), *policy;
  td_tensordict *params, *wide, *rollout;
  td_optimizer *optimizer;
  td_optimizer_options options = TD_OPTIMIZER_OPTIONS_INIT;
  poles all;
  score scored = {{0}, 0};
  long long steps = 0;
  must(td_module_load(argv[1], NULL, &network));
  must(td_module_sequence((const td_module *const[]){network, drawn}, 2, NULL, &policy));
  must(td_module_params(network, &params));
  must(td_set_requires_grad(params, 1));
  options.lr = learning_rate;
  must(td_optimizer_create(params, TD_OPTIMIZER_ADAM, &options, &optimizer));
  poles_open(&all);
  must(td_module_call_inplace(all.step, policy, NULL)); /* now a step has all its entries */
  must(td_expand(all.step, (const int64_t[]){STEPS, POLES}, 2, &wide));
  must(td_clone(wide, 0, &rollout));
  td_free(wide);

  const double began = seconds();
  double acting = 0;
  for (int round = 0; steps < MOST && average(&scored) < wanted; round++) {
    const double before = seconds();
    act(&all, policy, network, rollout, &scored);
    acting += seconds() - before;
    steps += STEPS * POLES;
    judge(rollout, all.step);
    learn(rollout, network, drawn, params, optimizer, (uint64_t)round);
    if (curve) printf("%lld %.0f\n", steps, average(&scored));
  }
  must(td_module_save(network, argv[2]));
  const double took = seconds() - began;
  fprintf(stderr, "%.1f s for %lld steps: %.0f steps a second, %.0f of acting alone\n", took, steps,
          (double)steps / took, (double)steps / acting);
  const int learnt = average(&scored) >= wanted;
  printf("it %s for %d steps\n", learnt ? "balances" : "does not balance", wanted);
  td_optimizer_free(optimizer);
  td_free(rollout);
  td_free(params);
  td_free(all.step);
  td_module_free(policy);
  td_module_free(drawn);
  td_module_free(network);
  return td_debug_live_handles() == 0 && learnt ? 0 : 1;
}
