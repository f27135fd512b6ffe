/* Several machines record into one folder, each into a shard of its own; a learner reads all of them. */
#include <inttypes.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../c/must.h"

enum { MACHINES = 3 };

/* [shard] */
static void record(int machine) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  td_tensordict *like;
  td_writer *writer;
  int32_t reward;
  options.shard = TD_SHARD_NEW; /* recording/0, recording/1 … whichever is free */
  must(td_create(TD_SIZES(1), TD_DEVICE_NONE, -1, &like));
  must(td_set_data(like, TD_KEY("reward"), (float[1]){0}, 4, TD_SIZES(1), TD_DTYPE_FLOAT32));
  must(td_writer_open_append("recording", like, &options, &writer));
  must(td_writer_bind(writer, TD_KEY("reward"), &reward));
  for (int step = 0; step < 100 * (machine + 1); step++) {
    const float value = (float)machine;
    must(td_writer_put(writer, reward, &value, sizeof value));
    must(td_writer_next(writer));
  }
  must(td_writer_close(writer));
  td_writer_free(writer);
  td_free(like);
}
/* [/shard] */

int main(void) {
  pid_t machines[MACHINES]; /* here they are processes; there, a folder that all of them mount */
  for (int i = 0; i < MACHINES; i++) {
    machines[i] = fork();
    if (machines[i] == 0) {
      record(i);
      _exit(EXIT_SUCCESS);
    }
  }
  for (int i = 0; i < MACHINES; i++)
    if (waitpid(machines[i], NULL, 0) != machines[i]) return EXIT_FAILURE;

  /* [read] */
  td_tensordict *shards, *each[MACHINES], *rows;
  size_t count, dims;
  int64_t steps;
  must(td_memmap_load("recording", NULL, &shards)); /* a lazy stack; lengths differ */
  must(td_unbind(shards, 0, each, MACHINES, &count));
  must(td_cat((const td_tensordict *const *)each, count, 0, &rows));
  must(td_batch_size(rows, &steps, 1, &dims));
  /* [/read] */
  printf("%zu shards, %" PRId64 " steps\n", count, steps);
  for (size_t i = 0; i < count; i++) td_free(each[i]);
  td_free(rows);
  td_free(shards);
  return EXIT_SUCCESS;
}
