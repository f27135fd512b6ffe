/* A folder beside a place, for a while. It goes when the program ends early, too. */
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tdtool.h"

static char *scratch;

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
  if (!promised) atexit(scratch_remove);
  promised = true;
  return scratch;
}
