/* A process that makes a folder longer is killed at random moments. After each, the folder loads, holds
 * rows that are whole and at least those that had been published, and grows on. TD_GROW_KILLS says how
 * often; see run. */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "append_rows.h"
#include "td_files.h"

static int kills(void) {
  const char *given = getenv("TD_GROW_KILLS");
  return (given != NULL ? atoi(given) : 100) / 4;
}

/* How many rows the child has published for sure, for its parent. */
static void tell(int file, int64_t rows) {
  GROW_CHECK(pwrite(file, &rows, sizeof rows, 0) == (ssize_t)sizeof rows, "cannot tell");
}

static void grow_until_killed(const char *folder, int nested, int by_writer, int64_t row,
                              int file) {
  if (!by_writer) {
    for (;;) {
      td_tensordict *td = grow_rows(row, 1 + row % 30, nested);
      GROW_DO(td_memmap_append(folder, td, NULL));
      td_free(td);
      tell(file, row += 1 + row % 30);
    }
  }
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  options.buffer_bytes = 1000;
  for (;;) {
    td_writer *writer = grow_open(folder, nested, &options);
    GROW_DO(td_memmap_length(folder, &row, NULL, NULL)); /* after what the last one has left */
    for (int i = 0; i < 40; i++) {
      for (int k = 0; k < 1 + row % 60; k++) grow_write(writer, row + k);
      row += 1 + row % 60;
      GROW_DO(td_writer_flush(writer));
      tell(file, row);
    }
    GROW_DO(td_writer_close(writer));
    td_writer_free(writer);
  }
}

static void kill_often(int nested, int by_writer) {
  const char *folder = td_path(td_test_folder(), "m");
  const int file = open(td_path(td_test_folder(), "told"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  int64_t rows = 0, told = 0;
  unsigned random = 12345;
  TD_CHECK(file >= 0);
  td_writer_free(grow_open(folder, nested, NULL));
  for (int i = 0; i < kills(); i++) {
    tell(file, rows);
    fflush(stdout);
    const pid_t child = fork();
    TD_CHECK(child >= 0);
    if (child == 0) grow_until_killed(folder, nested, by_writer, rows, file);
    random = random * 1103515245 + 12345;
    const struct timespec pause = {0, (long)(random >> 8) % 12000000};
    nanosleep(&pause, NULL);
    int status = 0;
    TD_CHECK(kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child);
    TD_CHECK(WIFSIGNALED(status)); /* it had not failed before */

    TD_CHECK(pread(file, &told, sizeof told, 0) == (ssize_t)sizeof told);
    td_tensordict *td = NULL;
    TD_DO(td_memmap_load(folder, NULL, &td));
    rows = grow_check(td, 0, nested);
    TD_CHECK(rows >= told);
    td_free(td);
    int64_t stored = -1, spare = -1;
    TD_DO(td_memmap_length(folder, &rows, &stored, &spare));
    TD_CHECK(stored >= rows);
    if (rows > 5000) {
      rows = (int64_t)(random >> 8) % 100;
      TD_DO(td_memmap_truncate(folder, rows, NULL));
    }
  }
  /* whoever writes next goes on after all that is whole, and leaves nothing unfinished */
  int64_t published = 0;
  TD_DO(td_memmap_length(folder, &published, &rows, NULL));
  td_tensordict *td = grow_rows(rows, 3, nested);
  TD_DO(td_memmap_append(folder, td, NULL));
  td_free(td);
  TD_DO(td_memmap_load(folder, NULL, &td));
  TD_CHECK_INT(grow_check(td, 0, nested), rows + 3);
  TD_CHECK_INT(td_count_entries(td_test_folder()), nested ? 12 : 6);
  td_free(td);
  close(file);
}

TD_TEST(a_writer_over_one_dictionary) { kill_often(0, 1); }
TD_TEST(a_writer_over_nested_ones) { kill_often(1, 1); }
TD_TEST(dictionaries_that_are_appended) { kill_often(0, 0); }
TD_TEST(nested_ones_that_are_appended) { kill_often(1, 0); }
