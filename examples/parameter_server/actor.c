/* An actor: acts with the weights that it has, sends records of what happened, and takes newer weights when they have come.
 *
 *   actor URL NAME      NAME is the group that it has with the learner
 */
#include <stdint.h>

#include "../c/must.h"
#include "protocol.h"

enum { ON_THE_WAY = 4 }; /* records at a time: more would only be older when they arrive */

typedef struct weights {
  int64_t version;
  float values[OBSERVED];
} weights;

typedef struct steps {
  float observation[STEPS][OBSERVED], noise[STEPS], action[STEPS], reward[STEPS];
} steps;

/* From -1 to 1. */
static float uniform(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (float)(*state >> 40) / (float)(1 << 23) - 1;
}

/* The task: actions that are close to what these weights would give. */
static void act(const weights *with, uint64_t *state, steps *made) {
  static const float wanted[OBSERVED] = {1, -2, 3, -4};
  for (int i = 0; i < STEPS; i++) {
    float target = 0;
    made->noise[i] = made->action[i] = uniform(state) / 2;
    for (int k = 0; k < OBSERVED; k++) {
      const float seen = made->observation[i][k] = uniform(state);
      made->action[i] += seen * with->values[k];
      target += seen * wanted[k];
    }
    made->reward[i] = -(made->action[i] - target) * (made->action[i] - target);
  }
}

static void put(td_tensordict *td, const char *name, const void *data, size_t bytes,
                const int64_t *sizes, size_t dims, td_dtype dtype) {
  td_tensor *tensor;
  must(td_tensor_from_data(data, bytes, sizes, dims, dtype, &tensor));
  must(td_set(td, TD_KEY(name), tensor));
  td_tensor_free(tensor);
}

static td_tensordict *record_of(const steps *made, int64_t number, int64_t version) {
  const int64_t each[] = {STEPS}, wide[] = {STEPS, OBSERVED};
  td_tensordict *td;
  must(td_create(NULL, 0, TD_DEVICE_NONE, -1, &td));
  put(td, "observation", made->observation, sizeof made->observation, wide, 2, TD_DTYPE_FLOAT32);
  put(td, "noise", made->noise, sizeof made->noise, each, 1, TD_DTYPE_FLOAT32);
  put(td, "action", made->action, sizeof made->action, each, 1, TD_DTYPE_FLOAT32);
  put(td, "reward", made->reward, sizeof made->reward, each, 1, TD_DTYPE_FLOAT32);
  put(td, "number", &number, sizeof number, NULL, 0, TD_DTYPE_INT64);
  put(td, "version", &version, sizeof version, NULL, 0, TD_DTYPE_INT64);
  return td;
}

static void take(const td_tensordict *td, const char *name, void *to, size_t bytes) {
  td_tensor *tensor;
  must(td_get(td, TD_KEY(name), &tensor));
  must(td_tensor_copy_to(tensor, to, bytes));
  td_tensor_free(tensor);
}

/* Whether the learner is there. When it frees the group, or ends, calls return TD_ERR_IO: so ends an actor too. */
static int there(td_status status) {
  if (status == TD_ERR_IO) return 0;
  must(status);
  return 1;
}

/* [take] */
/* Takes weights if they have come, and asks for the next ones. */
static int take_newer(td_group *group, int64_t wait_ms, td_future **coming, weights *own) {
  int32_t done;
  must(td_future_wait(*coming, wait_ms, &done)); /* 0 only asks */
  if (!done) return 1;
  td_tensordict *td;
  if (!there(td_future_result(*coming, &td))) return 0;
  take(td, "version", &own->version, sizeof own->version);
  take(td, "values", own->values, sizeof own->values);
  td_free(td);
  td_future_free(*coming);
  return there(td_group_irecv_message(group, LEARNER, NULL, coming));
}
/* [/take] */

/* [send] */
/* Sends a record as soon as there is room for it on the way. */
static int send_record(td_group *group, const td_tensordict *record, td_future **sent) {
  td_tensordict *before;
  if (*sent) {
    if (!there(td_future_result(*sent, &before))) return 0;
    td_free(before);
    td_future_free(*sent);
  }
  return there(td_group_isend_message(group, record, LEARNER, NULL, sent));
}
/* [/send] */

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  /* [open] */
  td_group_options options = TD_GROUP_OPTIONS_INIT;
  options.url = argv[1];  /* tcp://HOST:PORT, the same for all actors */
  options.name = argv[2]; /* a group of two: this actor and the learner */
  options.rank = ACTOR;
  options.world_size = 2;
  td_group *group;
  must(td_group_open(&options, &group));
  /* [/open] */
  td_future *coming = NULL, *sent[ON_THE_WAY] = {NULL};
  weights own = {-1, {0}};
  uint64_t state = 1;
  for (const char *c = argv[2]; *c; c++) state = state * 31 + (unsigned char)*c;
  int acts = there(td_group_irecv_message(group, LEARNER, NULL, &coming)) &&
             take_newer(group, -1, &coming, &own);
  for (int64_t number = 0; acts; number++) {
    steps made;
    act(&own, &state, &made);
    td_tensordict *record = record_of(&made, number, own.version);
    acts = send_record(group, record, &sent[number % ON_THE_WAY]) &&
           take_newer(group, 0, &coming, &own);
    td_free(record);
  }
  for (int i = 0; i < ON_THE_WAY; i++) td_future_free(sent[i]);
  td_future_free(coming);
  td_group_free(group);
  return td_debug_live_handles() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
