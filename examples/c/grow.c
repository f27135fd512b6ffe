/* Recording without an end: one process writes, another follows. It ends after 2,000 steps here; one
 * that was broken off goes on where it was published last. */
#define _XOPEN_SOURCE 700
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "must.h"

enum { steps = 2000 };

/* [like] */
/* One step, as zeros: names, sizes and dtypes. The first dimension is the one that grows. */
static td_tensordict *one_step(void) {
  td_tensordict *step;
  td_tensor *position, *time;
  must(td_create((const int64_t[]){1}, 1, TD_DEVICE_NONE, -1, &step));
  must(td_tensor_zeros((const int64_t[]){1, 3}, 2, TD_DTYPE_FLOAT64, TD_DEVICE_CPU, -1, &position));
  must(td_tensor_zeros((const int64_t[]){1}, 1, TD_DTYPE_FLOAT64, TD_DEVICE_CPU, -1, &time));
  must(td_set(step, TD_KEY("observation", "position"), position));
  must(td_set(step, TD_KEY("time"), time));
  must(td_set_text(step, TD_KEY("robot"), "arm 7")); /* one for the whole recording */
  td_tensor_free(position);
  td_tensor_free(time);
  return step;
}
/* [/like] */

/* [record] */
static void record(const char *folder) {
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  td_tensordict *like = one_step();
  td_writer *writer;
  int32_t position, time;
  options.publish_rows = 100; /* who follows is at most as many steps behind */
  must(td_writer_open_append(folder, like, &options, &writer));
  must(td_writer_bind(writer, TD_KEY("observation", "position"), &position));
  must(td_writer_bind(writer, TD_KEY("time"), &time));
  for (int step = 0; step < steps; step++) {
    const double now = 0.001 * step, at[3] = {now, 2 * now, 3 * now};
    must(td_writer_put(writer, position, at, sizeof at));
    must(td_writer_put(writer, time, &now, sizeof now));
    must(td_writer_next(writer));
  }
  must(td_writer_close(writer));
  td_writer_free(writer);
  td_free(like);
}
/* [/record] */

/* [follow] */
static void follow(const char *folder) {
  int64_t seen = 0;
  while (seen < steps) {
    td_tensordict *all;
    int64_t rows;
    size_t dims;
    must(td_memmap_load(folder, NULL, &all)); /* mapped: nothing is read yet */
    must(td_batch_size(all, &rows, 1, &dims));
    if (rows < seen) exit(EXIT_FAILURE); /* never */
    seen = rows;                         /* here: look at the new rows */
    td_free(all);
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  }
}
/* [/follow] */

int main(void) {
  char folder[] = "/tmp/td_grow_XXXXXX", command[64];
  if (mkdtemp(folder) == NULL) return EXIT_FAILURE;
  char recording[64];
  snprintf(recording, sizeof recording, "%s/recording", folder);
  td_tensordict *like = one_step(), *all;
  td_writer *writer;
  must(td_writer_open_append(recording, like, NULL, &writer)); /* made, without steps */
  td_writer_free(writer);
  td_free(like);

  const pid_t reader = fork();
  if (reader == 0) {
    follow(recording);
    _exit(EXIT_SUCCESS);
  }
  record(recording);
  int status = -1;
  waitpid(reader, &status, 0);
  printf("the reader %s\n", status == 0 ? "saw all" : "failed");

  int64_t rows;
  must(td_memmap_truncate(recording, 1500, NULL)); /* the end was no good */
  must(td_memmap_length(recording, &rows, NULL, NULL));
  printf("%lld steps are left\n", (long long)rows);
  must(td_memmap_load(recording, NULL, &all));
  must(td_memmap_append(recording, all, NULL)); /* or whole dictionaries at a time */
  td_free(all);
  must(td_memmap_length(recording, &rows, NULL, NULL));
  printf("%lld steps after all\n", (long long)rows);

  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
