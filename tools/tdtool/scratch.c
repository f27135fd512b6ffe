/* A temporary folder beside a path, removed even if the program ends early. */
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tdtool.h"

static char *scratch;
static volatile sig_atomic_t stopped;

/* After the first Ctrl-C, the current call of the library ends and the folder is removed; the second one ends the program. */
static void stop(int number) {
  (void)number;
  stopped = 1;
}

void scratch_check(void) {
  if (stopped) die("interrupted");
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place) {
  (void)about, (void)kind, (void)place;
  return remove(path);
}

void scratch_remove(void) {
  if (scratch) nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  free(scratch);
  scratch = NULL;
}

const char *scratch_path(void) { return scratch; }

const char *scratch_begin(const char *beside) {
  static bool promised;
  text name = {NULL, 0, 0};
  size_t length = strlen(beside);
  while (length > 1 && beside[length - 1] == '/') length--;
  size_t base = length;
  while (base > 0 && beside[base - 1] != '/') base--;
  add_bytes(&name, beside, base);
  add(&name, ".");
  add_bytes(&name, beside + base, length - base);
  addf(&name, ".tdtool-%ld", (long)getpid());
  scratch_remove();
  scratch = name.data;
  if (!promised) {
    const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
    struct sigaction action = {0};
    action.sa_handler = stop;
    action.sa_flags = (int)SA_RESETHAND;
    for (size_t i = 0; i < COUNT_OF(numbers); i++) sigaction(numbers[i], &action, NULL);
    atexit(scratch_remove);
  }
  promised = true;
  return scratch;
}

/* A folder is renamed; another format is written from it. */
td_tensordict *scratch_keep(const char *out, form as) {
  struct stat about;
  td_tensordict *kept;
  bool there = stat(out, &about) == 0;
  if (as == FORM_FOLDER && !there && !saving.durable && !saving.checksums) {
    if (rename(scratch, out) != 0) die("%s: %s", out, strerror(errno));
    kept = open_any(out, true);
  } else {
    kept = open_any(scratch, false);
    save_any(kept, out, as, "save");
  }
  return kept;
}
