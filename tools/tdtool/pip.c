/* The package of pip holds tdtool-main and the library, and not the libtorch that they are built for: that is in pip's torch. */
#include "pip.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The text of a line in a file behind `before`, up to one of `ends`. Empty if the file or the line is missing. */
static void read_line(text *to, const char *path, const char *before, const char *ends) {
  char line[200];
  FILE *file = fopen(path, "re");
  to->length = 0;
  add(to, "");
  while (file && to->length == 0 && fgets(line, sizeof line, file)) {
    const size_t length = strlen(before);
    if (strncmp(line, before, length) == 0)
      add_bytes(to, line + length, strcspn(line + length, ends));
  }
  if (file) fclose(file);
}

/* Whether minor versions are equal: C++ programs run with no other. */
static bool fits(const char *found, const char *wanted) {
  const char *major = strchr(wanted, '.');
  const char *minor = major ? strchr(major + 1, '.') : NULL;
  const size_t length = minor ? (size_t)(minor - wanted) : strlen(wanted);
  return strncmp(found, wanted, length) == 0 && (found[length] == '.' || found[length] == '\0');
}

/* Libraries are looked for where the variable LD_LIBRARY_PATH says, when the next program starts. */
static void look_there(const char *torch) {
  text folders = {NULL, 0, 0};
  const char *others = getenv("LD_LIBRARY_PATH");
  addf(&folders, "%s/lib", torch);
  if (others && *others) addf(&folders, ":%s", others);
  setenv("LD_LIBRARY_PATH", folders.data, 1);
  text_free(&folders);
}

/* Characters that have a meaning in patterns lose it. */
static void add_literally(text *to, const char *path) {
  for (; *path; path++) {
    if (strchr("*?[]\\", *path)) add(to, "\\");
    add_bytes(to, path, 1);
  }
}

static const char *const near[] = {"lib/python3*/site-packages/torch",
                                   "lib64/python3*/site-packages/torch",
                                   "lib/python3*/dist-packages/torch"};

void find_pip_torch(const char *main_program, const char *here) {
  text name = {NULL, 0, 0}, wanted = {NULL, 0, 0}, found = {NULL, 0, 0}, other = {NULL, 0, 0};
  glob_t list = {0};
  addf(&name, "%.*storch-version", (int)(strrchr(main_program, '/') + 1 - main_program),
       main_program);
  read_line(&wanted, name.data, "", "\n");
  if (wanted.length == 0) return; /* a package with its own way to libtorch */
  const char *told = getenv("LIBTORCH");
  if (told && *told) {
    look_there(told);
    return;
  }
  for (size_t i = 0; i < COUNT_OF(near); i++) {
    name.length = 0;
    add_literally(&name, here);
    addf(&name, "../%s", near[i]);
    glob(name.data, i == 0 ? 0 : GLOB_APPEND, NULL, &list);
  }
  for (size_t i = 0; i < list.gl_pathc; i++) {
    name.length = 0;
    addf(&name, "%s/version.py", list.gl_pathv[i]);
    read_line(&found, name.data, "__version__ = '", "'+\n");
    if (found.length == 0) continue;
    if (fits(found.data, wanted.data)) {
      look_there(list.gl_pathv[i]);
      globfree(&list);
      return;
    }
    other.length = 0;
    addf(&other, "; %s is %s", list.gl_pathv[i], found.data);
  }
  die("this needs torch %s beside tdtool: pip install torch==%s, or LIBTORCH=FOLDER with pip's or "
      "the zip's%s",
      wanted.data, wanted.data, other.length ? other.data : "");
}
