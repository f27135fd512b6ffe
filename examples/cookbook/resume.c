/* Record a simulator without an end. After a crash, go on at the border of an episode. */
#include <sys/wait.h>
#include <unistd.h>

#include "../c/must.h"

enum { STEPS = 10 }; /* of an episode */

static int whole_episodes(void) {
  int64_t rows;
  must(td_memmap_length("rollout", &rows, NULL, NULL));
  return (int)(rows / STEPS);
}

/* [record] */
static void record(int64_t episodes, int crash) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  td_tensordict *like; /* one step: names, sizes and dtypes */
  td_writer *writer;
  int32_t state, done;
  options.resume_at = (const char *const[]){"done"}; /* half an episode goes */
  options.resume_at_len = 1;
  must(td_create(TD_SIZES(1), TD_DEVICE_NONE, -1, &like));
  must(td_set_data(like, TD_KEY("state"), (float[2]){0}, 8, TD_SIZES(1, 2), TD_DTYPE_FLOAT32));
  must(td_set_data(like, TD_KEY("done"), (char[1]){0}, 1, TD_SIZES(1), TD_DTYPE_BOOL));
  must(td_writer_open_append("rollout", like, &options, &writer));
  must(td_writer_bind(writer, TD_KEY("state"), &state));
  must(td_writer_bind(writer, TD_KEY("done"), &done));
  for (int64_t episode = whole_episodes(); episode < episodes; episode++)
    for (int step = 0; step < STEPS; step++) {
      must(td_writer_put(writer, state, (float[2]){(float)episode, (float)step}, 8));
      must(td_writer_put(writer, done, (char[1]){step == STEPS - 1}, 1));
      must(td_writer_next(writer));
      if (!crash || episode < episodes - 1 || step < STEPS / 2) continue;
      must(td_writer_flush(writer)); /* in the middle of the last episode: nothing is closed */
      _exit(EXIT_FAILURE);
    }
  must(td_writer_close(writer));
  td_writer_free(writer);
  td_free(like);
}
/* [/record] */

int main(void) {
  const pid_t simulator = fork();
  if (simulator == 0) record(3, 1);
  if (waitpid(simulator, NULL, 0) != simulator) return EXIT_FAILURE;
  record(4, 0);
  printf("%d whole episodes at the end\n", whole_episodes());
}
