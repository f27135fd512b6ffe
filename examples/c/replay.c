/* Replay: a recorder and a learner in two processes, over one buffer in a folder. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include <inttypes.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "must.h"

enum { CAPACITY = 500, STEPS = 1200, EPISODE = 40, BATCH = 64 };

/* In the engine: each step is a row. */
static void record(const char *folder) {
  /* [record] */
  td_replay *replay;
  td_tensordict *row;
  float observation[4] = {0};
  unsigned char done;
  must(td_replay_open(folder, NULL, &replay));
  must(td_create(NULL, 0, TD_DEVICE_NONE, -1, &row)); /* a row has no batch dimension */
  for (int64_t step = 0; step < STEPS; step++) {
    const int64_t episode = step / EPISODE;
    for (int i = 0; i < 4; i++) observation[i] = (float)step;
    done = step % EPISODE == EPISODE - 1;
    must(td_set_data(row, TD_KEY("observation"), observation, sizeof observation, TD_SIZES(4),
                     TD_DTYPE_FLOAT32));
    must(td_set_data(row, TD_KEY("episode"), &episode, sizeof episode, NULL, 0, TD_DTYPE_INT64));
    must(td_set_data(row, TD_KEY("next", "done"), &done, sizeof done, TD_SIZES(1), TD_DTYPE_BOOL));
    must(td_replay_add(replay, row)); /* from now on the learner may draw it */
  }
  /* [/record] */
  td_free(row);
  td_replay_free(replay);
}

/* How far off the learner is, for each row of a batch: here just a number. */
static td_tensor *errors_of(const td_tensordict *batch) {
  static double errors[BATCH];
  td_tensor *observation, *result;
  void *data;
  must(td_get(batch, TD_KEY("observation"), &observation));
  must(td_tensor_data(observation, &data));
  for (int i = 0; i < BATCH; i++) {
    const float *row = (const float *)data + 4 * i;
    errors[i] = row[0] / STEPS;
    if (row[0] != row[1] || row[0] != row[3]) printf("half a row!\n"); /* never */
  }
  td_tensor_free(observation);
  must(td_tensor_from_data(errors, sizeof errors, TD_SIZES(BATCH), TD_DTYPE_FLOAT64, &result));
  return result;
}

static void learn(const char *folder) {
  int64_t written = 0, batches = 0;
  /* [learn] */
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  options.sampler = TD_REPLAY_SAMPLER_PRIORITIZED;
  options.alpha = 0.7;
  td_replay *replay;
  must(td_replay_open(folder, &options, &replay));
  while (written < STEPS) {
    must(td_replay_where(replay, NULL, NULL, NULL, &written));
    if (written < BATCH) {
      nanosleep(&(struct timespec){0, 1000000}, NULL); /* the recorder has just begun */
      continue;
    }
    td_tensordict *batch;
    td_tensor *index, *errors;
    must(td_replay_sample(replay, BATCH, &batch));
    errors = errors_of(batch); /* learn; "priority_weight" says how much each row counts */
    must(td_get(batch, TD_KEY("index"), &index));
    must(td_replay_update_priority(replay, index, errors));
    td_tensor_free(index);
    td_tensor_free(errors);
    td_free(batch);
    batches++;
  }
  must(td_replay_save(replay, "checkpoint", TD_REPLAY_SAVE_DURABLE));
  /* [/learn] */
  printf("%s batches\n", batches > 0 ? "the learner drew" : "no");
  td_replay_free(replay);
}

/* From the checkpoint: slices of whole episodes. */
static void slices(void) {
  /* [slices] */
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  const td_key done = {TD_KEY("next", "done")};
  options.sampler = TD_REPLAY_SAMPLER_SLICES;
  options.slice_len = 16;
  options.ends = &done;
  options.ends_len = 1;
  options.seed = 42;
  td_replay *replay;
  td_tensordict *batch; /* 8 slices, one behind the other: batch size [128] */
  must(td_replay_load("checkpoint", &options, &replay));
  must(td_replay_sample(replay, 8 * 16, &batch));
  /* [/slices] */
  int64_t len, capacity, written, rows;
  size_t dims;
  must(td_replay_where(replay, &len, &capacity, NULL, &written));
  must(td_batch_size(batch, &rows, 1, &dims));
  printf("%" PRId64 " of %" PRId64 " rows, %" PRId64 " ever written\n", len, capacity, written);
  printf("slices: %" PRId64 " rows\n", rows);
  td_free(batch);
  td_replay_free(replay);
}

/* Rows in memory, for this process alone. */
static void in_memory(void) {
  td_tensordict *steps;
  float observation[100];
  for (int i = 0; i < 100; i++) observation[i] = (float)i;
  must(td_create(TD_SIZES(100), TD_DEVICE_NONE, -1, &steps));
  must(td_set_data(steps, TD_KEY("observation"), observation, sizeof observation, TD_SIZES(100),
                   TD_DTYPE_FLOAT32));
  /* [sample] */
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  options.capacity = CAPACITY;
  td_replay *replay;
  td_tensordict *batch;
  must(td_replay_create(&options, &replay));
  must(td_replay_extend(replay, steps));         /* steps of batch size [100]: 100 rows */
  must(td_replay_sample(replay, BATCH, &batch)); /* "index" has their places */
  /* [/sample] */
  int64_t rows;
  size_t dims;
  must(td_batch_size(batch, &rows, 1, &dims));
  printf("drawn from memory: %" PRId64 " rows\n", rows);
  td_free(batch);
  td_free(steps);
  td_replay_free(replay);
}

int main(void) {
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  options.capacity = CAPACITY;
  options.folder = "replay";
  td_replay *replay;
  must(td_replay_create(&options, &replay));
  td_replay_free(replay); /* the folder stays: each process opens it */
  const pid_t recorder = fork();
  if (recorder == 0) {
    record("replay");
    return EXIT_SUCCESS;
  }
  learn("replay");
  int ended;
  if (waitpid(recorder, &ended, 0) != recorder || ended != 0) return EXIT_FAILURE;
  slices();
  in_memory();
  return EXIT_SUCCESS;
}
