/* One replay buffer, two processes: an engine writes rows while a learner draws. */
#include <inttypes.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../c/must.h"

enum { CAPACITY = 100, STEPS = 1000, BATCH = 32 };

/* [play] */
static void play(void) {
  td_replay *replay;
  td_tensordict *row;
  must(td_replay_open("replay", NULL, &replay));
  must(td_create(NULL, 0, TD_DEVICE_NONE, -1, &row));
  for (int step = 0; step < STEPS; step++) {
    const float observation[2] = {(float)step, (float)-step};
    must(td_set_data(row, TD_KEY("observation"), observation, sizeof observation, TD_SIZES(2),
                     TD_DTYPE_FLOAT32));
    must(td_replay_add(replay, row));
  }
  td_free(row);
  td_replay_free(replay);
}
/* [/play] */

/* [learn] */
static int learn(void) {
  td_replay *replay;
  int64_t rows = 0, written = 0;
  must(td_replay_open("replay", NULL, &replay));
  while (written < STEPS) {
    float drawn[BATCH][2];
    td_tensordict *batch;
    must(td_replay_where(replay, &rows, NULL, NULL, &written));
    if (rows < BATCH) continue;
    must(td_replay_sample(replay, BATCH, &batch));
    must(td_get_data(batch, TD_KEY("observation"), TD_DTYPE_FLOAT32, drawn, sizeof drawn));
    for (int i = 0; i < BATCH; i++)
      if (drawn[i][0] != -drawn[i][1]) return EXIT_FAILURE; /* half a row: never */
    td_free(batch);
  }
  printf("%" PRId64 " rows of %" PRId64 " written\n", rows, written);
  td_replay_free(replay);
  return EXIT_SUCCESS;
}
/* [/learn] */

int main(void) {
  /* [create] */
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  td_replay *replay;
  options.capacity = CAPACITY;
  options.folder = "replay";
  must(td_replay_create(&options, &replay));
  td_replay_free(replay);
  /* [/create] */
  const pid_t engine = fork();
  if (engine == 0) {
    play();
    return EXIT_SUCCESS;
  }
  const int result = learn();
  return waitpid(engine, NULL, 0) == engine ? result : EXIT_FAILURE;
}
