/* Record a simulator without an end. After a crash, go on at the border of an episode. */
#include <sys/wait.h>
#include <unistd.h>

#include "../c/must.h"

enum { STEPS = 10 }; /* of an episode */

/* [record] */
static void record(int64_t first, int64_t episodes, int crash) {
  td_tensordict *like; /* one step: names, sizes and dtypes */
  td_writer *writer;
  int32_t state, done;
  must(td_create(TD_SIZES(1), TD_DEVICE_NONE, -1, &like));
  must(td_set_data(like, TD_KEY("state"), (float[2]){0}, 8, TD_SIZES(1, 2), TD_DTYPE_FLOAT32));
  must(td_set_data(like, TD_KEY("done"), (char[1]){0}, 1, TD_SIZES(1), TD_DTYPE_BOOL));
  must(td_writer_open_append("rollout", like, NULL, &writer));
  must(td_writer_bind(writer, TD_KEY("state"), &state));
  must(td_writer_bind(writer, TD_KEY("done"), &done));
  for (int64_t episode = first; episode < first + episodes; episode++)
    for (int step = 0; step < STEPS; step++) {
      must(td_writer_put(writer, state, (float[2]){(float)episode, (float)step}, 8));
      must(td_writer_put(writer, done, (char[1]){step == STEPS - 1}, 1));
      must(td_writer_next(writer));
      if (!crash || episode < first + episodes - 1 || step < STEPS / 2) continue;
      must(td_writer_flush(writer)); /* in the middle of the last episode: nothing is closed */
      _exit(EXIT_FAILURE);
    }
  must(td_writer_close(writer));
  td_writer_free(writer);
  td_free(like);
}
/* [/record] */
/* [resume] */
static int64_t whole_episodes(void) {
  int64_t rows, stored, end;
  td_tensordict *all;
  td_tensor *done;
  void *ended;
  must(td_memmap_length("rollout", &rows, &stored, NULL));
  must(td_memmap_truncate("rollout", stored, NULL)); /* publishes what the dead writer has left */
  must(td_memmap_load("rollout", NULL, &all));
  must(td_get(all, TD_KEY("done"), &done));
  must(td_tensor_data(done, &ended));
  for (end = stored; end > 0 && !((const char *)ended)[end - 1];) end--;
  td_tensor_free(done);
  td_free(all);
  must(td_memmap_truncate("rollout", end, NULL)); /* half an episode goes */
  return end / STEPS;
}
/* [/resume] */

int main(void) {
  const pid_t simulator = fork();
  if (simulator == 0) record(0, 3, 1);
  if (waitpid(simulator, NULL, 0) != simulator) return EXIT_FAILURE;
  const int whole = (int)whole_episodes();
  record(whole, 2, 0);
  printf("%d whole episodes after the crash, %d at the end\n", whole, (int)whole_episodes());
}
