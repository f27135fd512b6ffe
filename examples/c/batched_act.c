/* 64 environments on two threads, and one call of the policy for all of them: batched_act MODULES [--values]; MODULES
 * is the folder with mlp.pt. Records every step into the folder "acted". */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <string.h>

#include "environments.h"
#include "must.h"

enum { ENVIRONMENTS = 64, THREADS = 2, STEPS = 50 };

/* [rows] */
/* What all environments see, want and get: a row for each, in memory of this program. */
typedef struct rows {
  float observation[ENVIRONMENTS][OBSERVED];
  float action[ENVIRONMENTS][ACTED];
  float reward[ENVIRONMENTS];
} rows;

/* A dictionary over the observations: what the environments write there, the policy reads. */
static td_tensordict *batch_of(rows *of) {
  const int64_t sizes[] = {ENVIRONMENTS, OBSERVED};
  td_tensordict *batch;
  td_tensor *observation;
  must(td_create(sizes, 1, TD_DEVICE_NONE, -1, &batch));
  must(td_tensor_from_blob(of->observation, sizes, NULL, 2, TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1,
                           NULL, NULL, &observation));
  must(td_set(batch, TD_KEY("observation"), observation));
  td_tensor_free(observation);
  return batch;
}
/* [/rows] */

typedef struct team {
  environment *environments[ENVIRONMENTS];
  rows all;
  pthread_barrier_t begin, end; /* of a step, for all threads and the one that calls the policy */
} team;

typedef struct member {
  team *of;
  int first, past;
} member;

/* [step] */
/* A thread steps its environments; each writes only its own row. */
static void *step_some(void *user) {
  const member *self = user;
  team *of = self->of;
  for (int step = 0; step < STEPS; step++) {
    pthread_barrier_wait(&of->begin);
    for (int i = self->first; i < self->past; i++) {
      of->all.reward[i] = environment_step(of->environments[i], of->all.action[i]);
      environment_observe(of->environments[i], of->all.observation[i]);
    }
    pthread_barrier_wait(&of->end);
  }
  return NULL;
}
/* [/step] */

/* [act] */
/* One call for all environments; the actions go back to their rows. */
static void act(const td_module *policy, td_tensordict *batch, rows *of) {
  td_tensor *action;
  must(td_module_call_inplace(batch, policy, NULL));
  must(td_get(batch, TD_KEY("action"), &action));
  must(td_tensor_copy_to(action, of->action, sizeof of->action));
  td_tensor_free(action);
}
/* [/act] */

/* [record] */
/* A row of the recording holds all environments: three puts a step, not three for each of them. */
typedef struct recorder {
  td_writer *writer;
  int32_t observation, action, reward;
} recorder;

static recorder open_recorder(const char *folder) {
  const int64_t sizes[] = {1, ENVIRONMENTS};
  td_tensordict *like;
  recorder made;
  must(td_create(sizes, 2, TD_DEVICE_NONE, -1, &like));
  const struct {
    const char *name;
    int64_t width;
  } fields[] = {{"observation", OBSERVED}, {"action", ACTED}, {"reward", 1}};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    td_tensor *zeros;
    must(td_tensor_zeros((const int64_t[]){1, ENVIRONMENTS, fields[i].width}, 3, TD_DTYPE_FLOAT32,
                         TD_DEVICE_CPU, -1, &zeros));
    must(td_set(like, &fields[i].name, 1, zeros));
    td_tensor_free(zeros);
  }
  must(td_writer_open_append(folder, like, NULL, &made.writer));
  must(td_writer_bind(made.writer, TD_KEY("observation"), &made.observation));
  must(td_writer_bind(made.writer, TD_KEY("action"), &made.action));
  must(td_writer_bind(made.writer, TD_KEY("reward"), &made.reward));
  td_free(like);
  return made;
}
/* [/record] */

/* [loop] */
static void run(const td_module *policy, team *of, recorder *to) {
  td_tensordict *batch = batch_of(&of->all);
  for (int i = 0; i < ENVIRONMENTS; i++)
    environment_observe(of->environments[i], of->all.observation[i]);
  for (int step = 0; step < STEPS; step++) {
    act(policy, batch, &of->all);
    must(td_writer_put(to->writer, to->observation, of->all.observation,
                       sizeof of->all.observation));
    must(td_writer_put(to->writer, to->action, of->all.action, sizeof of->all.action));
    pthread_barrier_wait(&of->begin); /* the threads step */
    pthread_barrier_wait(&of->end);
    must(td_writer_put(to->writer, to->reward, of->all.reward, sizeof of->all.reward));
    must(td_writer_next(to->writer));
  }
  td_free(batch);
}
/* [/loop] */

static void run_on_threads(const td_module *policy, team *of, recorder *to) {
  pthread_t threads[THREADS];
  member members[THREADS];
  pthread_barrier_init(&of->begin, NULL, THREADS + 1);
  pthread_barrier_init(&of->end, NULL, THREADS + 1);
  for (int i = 0; i < THREADS; i++) {
    members[i] = (member){of, i * ENVIRONMENTS / THREADS, (i + 1) * ENVIRONMENTS / THREADS};
    if (pthread_create(threads + i, NULL, step_some, members + i) != 0) exit(EXIT_FAILURE);
  }
  run(policy, of, to);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&of->begin);
  pthread_barrier_destroy(&of->end);
}

static void load(const char *folder, const char *key, float *values, size_t bytes) {
  td_tensordict *td;
  td_tensor *tensor;
  must(td_memmap_load(folder, NULL, &td));
  must(td_get(td, &key, 1, &tensor));
  must(td_tensor_copy_to(tensor, values, bytes));
  td_tensor_free(tensor);
  td_free(td);
}

/* The recorded actions are those that the policy gives for the recorded observations, all at once. */
static void check(const td_module *policy, const char *folder) {
  static float recorded[STEPS][ENVIRONMENTS][ACTED], again[STEPS][ENVIRONMENTS][ACTED];
  td_tensordict *td, *result;
  td_tensor *action;
  load(folder, "action", recorded[0][0], sizeof recorded);
  must(td_memmap_load(folder, NULL, &td));
  must(td_module_call(td, policy, NULL, &result));
  must(td_get(result, TD_KEY("action"), &action));
  must(td_tensor_copy_to(action, again, sizeof again));
  int same = 0;
  for (int step = 0; step < STEPS; step++) {
    for (int i = 0; i < ENVIRONMENTS; i++) {
      const float *one = recorded[step][i], *other = again[step][i];
      same += one[0] - other[0] < 1e-5f && other[0] - one[0] < 1e-5f && one[1] - other[1] < 1e-5f &&
              other[1] - one[1] < 1e-5f;
    }
  }
  printf("%d of %d actions are those of the policy\n", same, STEPS * ENVIRONMENTS);
  td_tensor_free(action);
  td_free(result);
  td_free(td);
}

static void print_values(const char *folder) {
  static float rewards[STEPS][ENVIRONMENTS], actions[STEPS][ENVIRONMENTS][ACTED];
  load(folder, "reward", rewards[0], sizeof rewards);
  load(folder, "action", actions[0][0], sizeof actions);
  for (int step = 0; step < STEPS; step += STEPS - 1) {
    double sum = 0;
    for (int i = 0; i < ENVIRONMENTS; i++) sum += (double)rewards[step][i];
    printf("step %d: mean reward %.3f, actions of the first and last %.2f %.2f, %.2f %.2f\n", step,
           sum / ENVIRONMENTS, (double)actions[step][0][0], (double)actions[step][0][1],
           (double)actions[step][ENVIRONMENTS - 1][0], (double)actions[step][ENVIRONMENTS - 1][1]);
  }
}

int main(int argc, char **argv) {
  static team all;
  char path[512];
  td_module *policy;
  if (argc < 2) return 2;
  snprintf(path, sizeof path, "%s/mlp.pt", argv[1]);
  must(td_module_load(path, NULL, &policy));
  for (int i = 0; i < ENVIRONMENTS; i++) {
    all.environments[i] = environment_open(i);
    if (!all.environments[i]) return EXIT_FAILURE;
  }
  recorder to = open_recorder("acted");
  run_on_threads(policy, &all, &to);
  must(td_writer_close(to.writer));
  td_writer_free(to.writer);
  printf("%d environments on %d threads, %d steps, a call of the policy for each\n", ENVIRONMENTS,
         THREADS, STEPS);
  check(policy, "acted");
  if (argc > 2 && strcmp(argv[2], "--values") == 0) print_values("acted");
  for (int i = 0; i < ENVIRONMENTS; i++) environment_close(all.environments[i]);
  td_module_free(policy);
  return td_debug_live_handles() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
