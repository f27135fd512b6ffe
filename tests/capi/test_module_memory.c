/* A policy with memory: its state goes from step to step, and ends where an episode begins. */
#include <math.h>
#include <stdbool.h>

#include "td_modules.h"

enum { ENVIRONMENTS = 5, STEPS = 6, SEEN = 4 };

static td_module *policy_with_memory(void) {
  td_module *policy = NULL;
  TD_DO(td_module_load(td_golden("../batches/lstm_module.pt"), NULL, &policy));
  return policy;
}

/* [begin] */
/* A memory without anything in it, for `count` environments. */
static td_status begin(int64_t count, td_tensordict **td) {
  const int64_t state[] = {count, 1, 6};
  td_tensor *h = NULL, *c = NULL;
  td_status status = td_create(&count, 1, TD_DEVICE_NONE, -1, td);
  if (!status) status = td_tensor_zeros(state, 3, TD_DTYPE_FLOAT32, TD_DEVICE_NONE, -1, &h);
  if (!status) status = td_tensor_zeros(state, 3, TD_DTYPE_FLOAT32, TD_DEVICE_NONE, -1, &c);
  if (!status) status = td_set(*td, TD_KEY("recurrent_state_h"), h);
  if (!status) status = td_set(*td, TD_KEY("recurrent_state_c"), c);
  td_tensor_free(h);
  td_tensor_free(c);
  return status;
}
/* [/begin] */

/* [act] */
/* One step of all environments. The new state takes the place of the old one; nothing is copied. */
static td_status act(td_tensordict *td, const td_module *policy, const float *seen,
                     const bool *is_init, int64_t count) {
  td_status status =
      td_set_data(td, TD_KEY("observation"), seen, sizeof(float[SEEN]) * (size_t)count,
                  TD_SIZES(count, SEEN), TD_DTYPE_FLOAT32);
  if (!status)
    status = td_set_data(td, TD_KEY("is_init"), is_init, (size_t)count, TD_SIZES(count, 1),
                         TD_DTYPE_BOOL);                          /* true: forget */
  if (!status) status = td_module_call_inplace(td, policy, NULL); /* sets "action" and "next" */
  if (!status)
    status = td_rename_key(td, TD_KEY("next", "recurrent_state_h"), TD_KEY("recurrent_state_h"), 0);
  if (!status)
    status = td_rename_key(td, TD_KEY("next", "recurrent_state_c"), TD_KEY("recurrent_state_c"), 0);
  return status;
}
/* [/act] */

static float seen_by(int step, int environment, int i) {
  return (float)((step * 7 + environment * 3 + i * 5) % 11) / 5 - 1;
}

static void look(int step, int first, int count, float *seen) {
  for (int e = 0; e < count; e++)
    for (int i = 0; i < SEEN; i++) seen[e * SEEN + i] = seen_by(step, first + e, i);
}

/* Environment e begins again in step e; each environment alone computes the same as all together. */
TD_TEST(many_environments_and_one_forget_alike) {
  td_module *policy = policy_with_memory();
  td_tensordict *all = NULL, *one = NULL;
  float seen[ENVIRONMENTS * SEEN], together[STEPS][ENVIRONMENTS][2], alone[2];
  bool is_init[ENVIRONMENTS];
  TD_DO(begin(ENVIRONMENTS, &all));
  for (int step = 0; step < STEPS; step++) {
    look(step, 0, ENVIRONMENTS, seen);
    for (int e = 0; e < ENVIRONMENTS; e++) is_init[e] = step == e;
    TD_DO(act(all, policy, seen, is_init, ENVIRONMENTS));
    TD_DO(td_get_data(all, TD_KEY("action"), TD_DTYPE_FLOAT32, together[step],
                      sizeof together[step]));
  }
  for (int e = 0; e < ENVIRONMENTS; e++) {
    TD_DO(begin(1, &one));
    for (int step = 0; step < STEPS; step++) {
      if (step == e) { /* a new episode: a new memory, and no word of it */
        td_free(one);
        TD_DO(begin(1, &one));
      }
      look(step, e, 1, seen);
      is_init[0] = false;
      TD_DO(act(one, policy, seen, is_init, 1));
      TD_DO(td_get_data(one, TD_KEY("action"), TD_DTYPE_FLOAT32, alone, sizeof alone));
      for (int i = 0; i < 2; i++) TD_CHECK(fabsf(together[step][e][i] - alone[i]) < 1e-5F);
    }
    td_free(one);
  }
}

/* Two dimensions of environments: the exporter has tried that a flattened batch computes the same. */
TD_TEST(a_memory_of_a_grid_of_environments) {
  td_module *policy = policy_with_memory();
  td_tensordict *td = NULL, *grid = NULL, *flat = NULL;
  float seen[4 * SEEN];
  const bool is_init[4] = {true, false, false, true};
  TD_DO(begin(4, &td));
  look(0, 0, 4, seen);
  TD_DO(act(td, policy, seen, (const bool[4]){false, false, false, false}, 4));
  TD_DO(td_set_data(td, TD_KEY("is_init"), is_init, 4, TD_SIZES(4, 1), TD_DTYPE_BOOL));
  TD_DO(td_reshape(td, TD_SIZES(2, 2), &grid));
  TD_DO(td_module_call_inplace(td, policy, NULL));
  TD_DO(td_module_call_inplace(grid, policy, NULL));
  TD_DO(td_reshape(grid, TD_SIZES(4), &flat));
  td_check_close(td, flat);
}

/* The state that the network made is the state of the next step: the same memory. */
TD_TEST(a_state_is_not_copied) {
  td_module *policy = policy_with_memory();
  td_tensordict *td = NULL;
  float seen[SEEN];
  const bool is_init = false;
  TD_DO(begin(1, &td));
  look(0, 0, 1, seen);
  TD_DO(td_set_data(td, TD_KEY("observation"), seen, sizeof seen, TD_SIZES(1, SEEN),
                    TD_DTYPE_FLOAT32));
  TD_DO(td_set_data(td, TD_KEY("is_init"), &is_init, 1, TD_SIZES(1, 1), TD_DTYPE_BOOL));
  TD_DO(td_module_call_inplace(td, policy, NULL));
  td_tensor *made = td_take(td, TD_KEY("next", "recurrent_state_h"));
  TD_DO(td_rename_key(td, TD_KEY("next", "recurrent_state_h"), TD_KEY("recurrent_state_h"), 0));
  td_tensor *kept = td_take(td, TD_KEY("recurrent_state_h"));
  TD_CHECK(td_same_memory(made, kept));
  td_tensor_free(made);
  td_tensor_free(kept);
}
