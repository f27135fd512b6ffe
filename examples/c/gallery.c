/* Policies of the usual kinds, which examples/python/gallery.py exported: gallery FOLDER [--time]
 *
 * Each gets what an engine holds in arrays of its own and gives actions back; they are held against those of Python. With
 * --time, what a step costs is printed instead. */
#include "must.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

enum {
  ROWS = 4,
  SEEN = 8,
  ACTED = 2,
  CHOICES = 5,
  AGENTS = 3,
  AGENT_SEEN = 6,
  PIXELS = 3 * 28 * 28
};

/* What an engine has for a step, and what it gets. */
typedef struct arrays {
  float observation[ROWS][SEEN], agents[ROWS][AGENTS][AGENT_SEEN];
  uint8_t pixels[ROWS][PIXELS];
  bool mask[ROWS][CHOICES], is_init[ROWS];
  float action[ROWS][ACTED], agent_action[ROWS][AGENTS][ACTED];
  int64_t choice[ROWS], one_hot[ROWS][CHOICES];
} arrays;

typedef void (*step)(td_tensordict *td, const td_module *policy, arrays *of);

/* [feed_forward] */
static void feed_forward(td_tensordict *td, const td_module *policy, arrays *of) {
  must(td_set_data(td, TD_KEY("observation"), of->observation, sizeof of->observation,
                   TD_SIZES(ROWS, SEEN), TD_DTYPE_FLOAT32));
  must(td_module_call_inplace(td, policy, NULL));
  must(td_get_data(td, TD_KEY("action"), TD_DTYPE_FLOAT32, of->action, sizeof of->action));
}
/* [/feed_forward] */

/* [recurrent] */
static void recurrent(td_tensordict *td, const td_module *policy, arrays *of) {
  must(td_set_data(td, TD_KEY("observation"), of->observation, sizeof of->observation,
                   TD_SIZES(ROWS, SEEN), TD_DTYPE_FLOAT32));
  must(td_set_data(td, TD_KEY("is_init"), of->is_init, sizeof of->is_init, TD_SIZES(ROWS, 1),
                   TD_DTYPE_BOOL));
  must(td_module_call_inplace(td, policy, NULL));
  must(td_rename_key(td, TD_KEY("next", "recurrent_state_h"), TD_KEY("recurrent_state_h"), 0));
  must(td_rename_key(td, TD_KEY("next", "recurrent_state_c"), TD_KEY("recurrent_state_c"), 0));
  must(td_get_data(td, TD_KEY("action"), TD_DTYPE_FLOAT32, of->action, sizeof of->action));
}
/* [/recurrent] */

/* [masked] */
static void masked(td_tensordict *td, const td_module *policy, arrays *of) {
  must(td_set_data(td, TD_KEY("observation"), of->observation, sizeof of->observation,
                   TD_SIZES(ROWS, SEEN), TD_DTYPE_FLOAT32));
  must(td_set_data(td, TD_KEY("mask"), of->mask, sizeof of->mask, TD_SIZES(ROWS, CHOICES),
                   TD_DTYPE_BOOL)); /* true: allowed */
  must(td_module_call_inplace(td, policy, NULL));
  must(td_get_data(td, TD_KEY("action"), TD_DTYPE_INT64, of->choice, sizeof of->choice));
}
/* [/masked] */

/* [image] */
static void image(td_tensordict *td, const td_module *policy, arrays *of) {
  must(td_set_data(td, TD_KEY("pixels"), of->pixels, sizeof of->pixels, TD_SIZES(ROWS, 3, 28, 28),
                   TD_DTYPE_UINT8));
  must(td_module_call_inplace(td, policy, NULL));
  must(td_get_data(td, TD_KEY("action"), TD_DTYPE_INT64, of->one_hot, sizeof of->one_hot));
}
/* [/image] */

/* [multi_agent] */
static void multi_agent(td_tensordict *td, const td_module *policy, arrays *of) {
  must(td_set_data(td, TD_KEY("agents", "observation"), of->agents, sizeof of->agents,
                   TD_SIZES(ROWS, AGENTS, AGENT_SEEN), TD_DTYPE_FLOAT32));
  must(td_module_call_inplace(td, policy, NULL));
  must(td_get_data(td, TD_KEY("agents", "action"), TD_DTYPE_FLOAT32, of->agent_action,
                   sizeof of->agent_action));
}
/* [/multi_agent] */

/* A policy, its inputs that do not change here, and where what it does lies. */
typedef struct kind {
  const char *name;
  step act;
} kind;

static const kind kinds[] = {{"feed_forward", feed_forward},
                             {"recurrent", recurrent},
                             {"masked", masked},
                             {"image", image},
                             {"multi_agent", multi_agent}};

static td_tensordict *loaded(const char *folder, const char *name, const char *what) {
  char path[600];
  td_tensordict *td;
  snprintf(path, sizeof path, "%s/%s_%s", folder, name, what);
  must(td_memmap_load(path, NULL, &td));
  return td;
}

/* What Python had before it, and the state, into arrays and a dictionary as an engine has them. */
static td_tensordict *begin(const char *folder, const char *name, arrays *of) {
  td_tensordict *given = loaded(folder, name, "data"), *td;
  const td_key state[] = {{TD_KEY("recurrent_state_h")}, {TD_KEY("recurrent_state_c")}};
  if (strcmp(name, "image") == 0) {
    must(td_get_data(given, TD_KEY("pixels"), TD_DTYPE_UINT8, of->pixels, sizeof of->pixels));
  } else if (strcmp(name, "multi_agent") == 0) {
    must(td_get_data(given, TD_KEY("agents", "observation"), TD_DTYPE_FLOAT32, of->agents,
                     sizeof of->agents));
  } else {
    must(td_get_data(given, TD_KEY("observation"), TD_DTYPE_FLOAT32, of->observation,
                     sizeof of->observation));
  }
  if (strcmp(name, "masked") == 0)
    must(td_get_data(given, TD_KEY("mask"), TD_DTYPE_BOOL, of->mask, sizeof of->mask));
  if (strcmp(name, "recurrent") == 0) {
    must(td_get_data(given, TD_KEY("is_init"), TD_DTYPE_BOOL, of->is_init, sizeof of->is_init));
    must(td_select(given, state, 2, NULL, &td));
  } else {
    must(td_create((const int64_t[]){ROWS}, 1, TD_DEVICE_NONE, -1, &td));
  }
  td_free(given);
  return td;
}

/* The largest difference between the actions here and those of Python. */
static double difference(const char *folder, const char *name, const td_tensordict *td) {
  const bool agents = strcmp(name, "multi_agent") == 0;
  const char *const path[] = {"agents", "action"};
  td_tensordict *expected = loaded(folder, name, "expected");
  td_tensor *want, *have, *wide[2];
  double values[2][ROWS * AGENTS * CHOICES], largest = 0;
  size_t bytes;
  must(td_get(expected, agents ? path : path + 1, agents ? 2 : 1, &want));
  must(td_get(td, agents ? path : path + 1, agents ? 2 : 1, &have));
  must(td_tensor_to(want, TD_DTYPE_FLOAT64, TD_DEVICE_NONE, -1, &wide[0]));
  must(td_tensor_to(have, TD_DTYPE_FLOAT64, TD_DEVICE_NONE, -1, &wide[1]));
  must(td_tensor_nbytes(wide[0], &bytes));
  for (int i = 0; i < 2; i++) must(td_tensor_copy_to(wide[i], values[i], bytes));
  for (size_t i = 0; i < bytes / sizeof(double); i++)
    largest = fmax(largest, fabs(values[0][i] - values[1][i]));
  for (int i = 0; i < 2; i++) td_tensor_free(wide[i]);
  td_tensor_free(want);
  td_tensor_free(have);
  td_free(expected);
  return largest;
}

/* Microseconds of a step: the best of twenty rounds of 300. */
static double cost(td_tensordict *td, const td_module *policy, step act, arrays *of) {
  double best = 1e9;
  for (int round = 0; round < 20; round++) {
    const clock_t from = clock();
    for (int i = 0; i < 300; i++) act(td, policy, of);
    best = fmin(best, (double)(clock() - from) / CLOCKS_PER_SEC / 300 * 1e6);
  }
  return best;
}

int main(int argc, char **argv) {
  static arrays of;
  if (argc < 2) return 2;
  const bool timed = argc == 3 && strcmp(argv[2], "--time") == 0;
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char path[600];
    td_module *policy;
    snprintf(path, sizeof path, "%s/%s.pt", argv[1], kinds[i].name);
    must(td_module_load(path, NULL, &policy));
    td_tensordict *td = begin(argv[1], kinds[i].name, &of);
    kinds[i].act(td, policy, &of);
    if (timed) {
      printf("%s %.1f\n", kinds[i].name, cost(td, policy, kinds[i].act, &of));
    } else {
      printf("%s: %s\n", kinds[i].name,
             difference(argv[1], kinds[i].name, td) < 1e-5 ? "as in Python" : "another action");
    }
    td_free(td);
    td_module_free(policy);
  }
  return td_debug_live_handles() == 0 ? 0 : 1;
}
