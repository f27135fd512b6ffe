/* Simulates a juggling tray with MuJoCo and records every step into a folder that Python can load.
 *
 *   rollout [--episodes N] [--steps N] [--model FILE] [--policy FILE] [--nudge N] DIR
 *
 * The script of juggler.c plays, or with --policy a network. --nudge disturbs what is done in one of N steps,
 * and records what the player wanted to do: so a learner sees how to recover.
 */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "juggler.h"
#include "policy.h"

#ifndef JUGGLER_MODEL
#define JUGGLER_MODEL "examples/models/juggler.xml"
#endif

typedef struct options {
  int64_t episodes, steps, nudge;
  const char *model, *policy, *dir;
} options;

/* What is recorded of one step, and under which number the writer knows it. */
typedef struct recorder {
  td_writer *writer;
  int32_t position, velocity, sensor, action, reward, done, step, contacts, episode;
  float *action_row, *sensor_row; /* MuJoCo computes in double, the folder keeps float */
  double seconds;                 /* spent in the writer */
} recorder;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void usage(FILE *to) {
  fprintf(
      to,
      "usage: rollout [--episodes N] [--steps N] [--model FILE] [--policy FILE] [--nudge N] DIR\n");
}

static int64_t count(const char *name, const char *text) {
  char *end;
  long long value = text ? strtoll(text, &end, 10) : 0;
  if (!text || *end || value < 1) {
    fprintf(stderr, "rollout: %s wants a number of at least 1, not \"%s\"\n", name,
            text ? text : "");
    exit(2);
  }
  return value;
}

static options read_options(int argc, char **argv) {
  options given = {200, 250, 0, JUGGLER_MODEL, NULL, NULL};
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (!strcmp(argv[i], "--help")) {
      usage(stdout);
      exit(0);
    } else if (!strcmp(argv[i], "--episodes")) {
      given.episodes = count(argv[i++], value);
    } else if (!strcmp(argv[i], "--steps")) {
      given.steps = count(argv[i++], value);
    } else if (!strcmp(argv[i], "--nudge")) {
      given.nudge = count(argv[i++], value);
    } else if (!strcmp(argv[i], "--policy") && value) {
      given.policy = argv[++i];
    } else if (!strcmp(argv[i], "--model") && value) {
      given.model = argv[++i];
    } else if (argv[i][0] != '-' && !given.dir) {
      given.dir = argv[i];
    } else {
      usage(stderr);
      exit(2);
    }
  }
  if (!given.dir) {
    usage(stderr);
    exit(2);
  }
  return given;
}

/* [preallocate] */
/* One step, as zeros: it says names, sizes and dtypes, and takes no part of the data. */
static void add(td_tensordict *step, const char *const *path, size_t path_len, int64_t size,
                td_dtype dtype) {
  td_tensor *zeros;
  must(td_tensor_zeros(&size, 1, dtype, TD_DEVICE_CPU, -1, &zeros));
  must(td_set(step, path, path_len, zeros));
  td_tensor_free(zeros);
}

static td_tensordict *preallocate(const mjModel *model, const options *given) {
  td_tensordict *step, *all, *stored;
  must(td_create(NULL, 0, TD_DEVICE_NONE, -1, &step));
  add(step, TD_KEY("observation", "position"), model->nq, TD_DTYPE_FLOAT64);
  add(step, TD_KEY("observation", "velocity"), model->nv, TD_DTYPE_FLOAT64);
  add(step, TD_KEY("observation", "sensor"), model->nsensordata, TD_DTYPE_FLOAT32);
  add(step, TD_KEY("action"), model->nu, TD_DTYPE_FLOAT32);
  add(step, TD_KEY("next", "reward"), 1, TD_DTYPE_FLOAT32);
  add(step, TD_KEY("next", "done"), 1, TD_DTYPE_BOOL);
  add(step, TD_KEY("step"), 1, TD_DTYPE_INT32);
  add(step, TD_KEY("info", "contacts"), 1, TD_DTYPE_UINT8);
  add(step, TD_KEY("info", "episode"), 1, TD_DTYPE_INT64);

  /* Expanding takes no memory; memmap_like makes files of the expanded size. */
  must(td_expand(step, (const int64_t[]){given->episodes, given->steps}, 2, &all));
  must(td_memmap_like(all, given->dir, NULL, &stored));
  td_free(step);
  td_free(all);
  return stored;
}
/* [/preallocate] */

/* [bind] */
static recorder open_recorder(td_tensordict *stored, const mjModel *model) {
  recorder to = {0};
  must(td_writer_open(stored, NULL, &to.writer));
  must(td_writer_bind(to.writer, TD_KEY("observation", "position"), &to.position));
  must(td_writer_bind(to.writer, TD_KEY("observation", "velocity"), &to.velocity));
  must(td_writer_bind(to.writer, TD_KEY("observation", "sensor"), &to.sensor));
  must(td_writer_bind(to.writer, TD_KEY("action"), &to.action));
  must(td_writer_bind(to.writer, TD_KEY("next", "reward"), &to.reward));
  must(td_writer_bind(to.writer, TD_KEY("next", "done"), &to.done));
  must(td_writer_bind(to.writer, TD_KEY("step"), &to.step));
  must(td_writer_bind(to.writer, TD_KEY("info", "contacts"), &to.contacts));
  must(td_writer_bind(to.writer, TD_KEY("info", "episode"), &to.episode));
  to.action_row = calloc((size_t)model->nu, sizeof(float));
  to.sensor_row = calloc((size_t)model->nsensordata, sizeof(float));
  return to;
}
/* [/bind] */

static void close_recorder(recorder *from) {
  must(td_writer_close(from->writer));
  td_writer_free(from->writer);
  free(from->action_row);
  free(from->sensor_row);
}

/* The state before the step; the reward and the end come after it. */
static void put_state(recorder *to, const juggler *task) {
  const mjModel *model = task->model;
  const mjData *data = task->data;
  uint8_t contacts = (uint8_t)(data->ncon < 255 ? data->ncon : 255);
  for (int i = 0; i < model->nu; i++) to->action_row[i] = (float)data->ctrl[i];
  for (int i = 0; i < model->nsensordata; i++) to->sensor_row[i] = (float)data->sensordata[i];

  double start = now();
  must(td_writer_put(to->writer, to->position, data->qpos, sizeof(double) * (size_t)model->nq));
  must(td_writer_put(to->writer, to->velocity, data->qvel, sizeof(double) * (size_t)model->nv));
  must(td_writer_put(to->writer, to->sensor, to->sensor_row,
                     sizeof(float) * (size_t)model->nsensordata));
  must(td_writer_put(to->writer, to->action, to->action_row, sizeof(float) * (size_t)model->nu));
  must(td_writer_put(to->writer, to->contacts, &contacts, sizeof contacts));
  to->seconds += now() - start;
}

/* [put] */
static void put_outcome(recorder *to, float reward, bool done, int32_t step, int64_t episode) {
  double start = now();
  uint8_t ended = done;
  must(td_writer_put(to->writer, to->reward, &reward, sizeof reward));
  must(td_writer_put(to->writer, to->done, &ended, sizeof ended));
  must(td_writer_put(to->writer, to->step, &step, sizeof step));
  must(td_writer_put(to->writer, to->episode, &episode, sizeof episode));
  must(td_writer_next(to->writer));
  to->seconds += now() - start;
}
/* [/put] */

/* One line, drawn anew on a terminal; four lines where nobody watches. On stderr, so that the summary
 * can go to a file. */
static void show_progress(int64_t finished, const options *given, double seconds) {
  double rate = (double)(finished * given->steps) / seconds;
  if (isatty(STDERR_FILENO)) {
    char bar[31];
    int filled = (int)(30 * finished / given->episodes);
    memset(bar, '.', 30);
    memset(bar, '#', (size_t)filled);
    bar[30] = 0;
    fprintf(stderr, "\r  [%s] episode %lld of %lld, %.0f steps/s ", bar, (long long)finished,
            (long long)given->episodes, rate);
    if (finished == given->episodes) fprintf(stderr, "\n");
  } else if (finished == given->episodes ||
             4 * finished / given->episodes != 4 * (finished - 1) / given->episodes) {
    fprintf(stderr, "  episode %lld of %lld, %.0f steps/s\n", (long long)finished,
            (long long)given->episodes, rate);
  }
}

int main(int argc, char **argv) {
  options given = read_options(argc, argv);
  char error[1000] = "";
  juggler task;
  if (!juggler_open(&task, given.model, error, sizeof error)) {
    fprintf(stderr, "rollout: %s\n", error);
    return EXIT_FAILURE;
  }
  td_tensordict *stored = preallocate(task.model, &given);
  recorder to = open_recorder(stored, task.model);
  policy player = {0};
  if (given.policy) policy_open(&player, given.policy, &task);
  int64_t drops = 0;
  double start = now();

  for (int64_t episode = 0; episode < given.episodes; episode++) {
    juggler_serve(&task);
    for (int64_t step = 0; step < given.steps; step++) {
      if (given.policy) {
        policy_control(&player, &task);
      } else {
        juggler_control(&task);
      }
      put_state(&to, &task);
      if (given.nudge && step % given.nudge == 0) juggler_nudge(&task);
      juggler_step(&task);
      bool dropped = juggler_dropped(&task);
      put_outcome(&to, juggler_reward(&task), dropped || step + 1 == given.steps, (int32_t)step,
                  episode);
      drops += dropped;
      if (dropped) juggler_serve(&task); /* the next ball, in the same row of the batch */
    }
    show_progress(episode + 1, &given, now() - start);
  }
  double seconds = now() - start;
  close_recorder(&to);

  int64_t steps = given.episodes * given.steps;
  size_t bytes;
  must(td_nbytes(stored, &bytes));
  printf("  %lld steps, %.1f MB, %.2f s with the simulation: %.0f steps/s\n", (long long)steps,
         1e-6 * (double)bytes, seconds, (double)steps / seconds);
  printf("  in the writer %.3f s: %.0f ns a step of 9 fields\n", to.seconds,
         1e9 * to.seconds / (double)steps);
  printf("  the ball fell %lld times\n", (long long)drops);
  printf("  folder: %s\n", given.dir);
  printf("  in Python: from tensordict import TensorDict; td = TensorDict.load_memmap(\"%s\")\n",
         given.dir);
  td_free(stored);
  if (given.policy) policy_close(&player);
  juggler_close(&task);
  return EXIT_SUCCESS;
}
