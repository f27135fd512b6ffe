#define _XOPEN_SOURCE 700
#include "td_files.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATHS = 8, LONGEST = 4096 };

const char *td_path(const char *folder, const char *name) {
  static char paths[PATHS][LONGEST];
  static int next;
  char *path = paths[next++ % PATHS];
  if (snprintf(path, LONGEST, "%s/%s", folder, name) >= LONGEST)
    td_test_fail(__FILE__, __LINE__, "a path is too long: %s", name);
  return path;
}

const char *td_golden(const char *name) {
  const char *data = getenv("TD_TEST_DATA");
  if (data == NULL) td_test_fail(__FILE__, __LINE__, "TD_TEST_DATA is not set");
  return td_path(td_path(data, "golden"), name);
}

void td_write_file(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  if (file == NULL) td_test_fail(__FILE__, __LINE__, "%s: %s", path, strerror(errno));
  const size_t written = fwrite(bytes, 1, size, file);
  if (fclose(file) != 0 || written != size)
    td_test_fail(__FILE__, __LINE__, "%s: %s", path, strerror(errno));
}

void td_write_text(const char *path, const char *text) { td_write_file(path, text, strlen(text)); }

char *td_read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) td_test_fail(__FILE__, __LINE__, "%s: %s", path, strerror(errno));
  fseek(file, 0, SEEK_END);
  const long end = ftell(file);
  rewind(file);
  char *bytes = malloc((size_t)end + 1);
  *size = bytes == NULL ? 0 : fread(bytes, 1, (size_t)end, file);
  fclose(file);
  if (bytes == NULL || *size != (size_t)end)
    td_test_fail(__FILE__, __LINE__, "%s cannot be read", path);
  bytes[*size] = '\0';
  return bytes;
}

int td_exists(const char *path) {
  struct stat status;
  return lstat(path, &status) == 0;
}

int64_t td_file_size(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 ? (int64_t)status.st_size : -1;
}

void td_make_folder(const char *path) {
  if (mkdir(path, 0777) != 0) td_test_fail(__FILE__, __LINE__, "%s: %s", path, strerror(errno));
}

/* nftw gives no argument to its function, hence these; copies, since td_path() forgets. */
static char walked[LONGEST], opposite[LONGEST];
static int entries;

static int walks(const char *tree, const char *other,
                 int (*visit)(const char *, const struct stat *, int, struct FTW *)) {
  snprintf(walked, sizeof walked, "%s", tree);
  snprintf(opposite, sizeof opposite, "%s", other);
  return nftw(walked, visit, 16, FTW_PHYS) == 0;
}

static void walk(const char *tree, const char *other,
                 int (*visit)(const char *, const struct stat *, int, struct FTW *)) {
  if (!walks(tree, other, visit)) td_test_fail(__FILE__, __LINE__, "%s cannot be walked", walked);
}

static int copy_entry(const char *path, const struct stat *status, int flag, struct FTW *at) {
  (void)status;
  (void)flag;
  (void)at;
  const char *to = td_path(opposite, path + strlen(walked));
  struct stat now; /* a writer may be at work: nftw looked earlier */
  if (stat(path, &now) != 0) return 0;
  if (S_ISDIR(now.st_mode)) {
    mkdir(to, 0777);
  } else {
    size_t size = 0;
    char *bytes = td_read_file(path, &size);
    td_write_file(to, bytes, size);
    free(bytes);
  }
  return 0;
}

/* A writer at work may put another folder in the place of the one that is walked. */
void td_copy_tree(const char *from, const char *to) {
  for (int again = 0; again < 20; again++) {
    if (walks(from, to, copy_entry)) return;
  }
  walk(from, to, copy_entry);
}

static int count_entry(const char *path, const struct stat *status, int flag, struct FTW *at) {
  (void)path;
  (void)status;
  (void)flag;
  (void)at;
  entries++;
  return 0;
}

int td_count_entries(const char *path) {
  entries = -1; /* the folder itself */
  nftw(path, count_entry, 16, FTW_PHYS);
  return entries;
}

/* 0 for the member of a tensor, 1 for that of a dictionary or a value, 2 for another one. */
static int member_group(const char *member, const char *end) {
  const char *value = member + 1;
  while (value < end && *value != '"') value += *value == '\\' ? 2 : 1;
  value += 2; /* behind the quote and the colon */
  if (value >= end || *value != '{') return 2;
  return strncmp(value, "{\"type\":", 8) == 0;
}

char *td_loaded_order(const char *meta) {
  const size_t length = strlen(meta);
  char *result = calloc(length + 1, 1);
  size_t used = 0;
  result[used++] = '{';
  for (int group = 0; group < 3; group++) {
    int depth = 0, quoted = 0;
    const char *member = meta + 1;
    for (const char *at = meta; *at != '\0'; at++) {
      if (*at == '"') quoted = !quoted;
      if (quoted && *at == '\\') at++;
      if (quoted) continue;
      if (*at == '{' || *at == '[') depth++;
      if (*at == '}' || *at == ']') depth--;
      if (depth > 1 || (depth == 1 && *at != ',')) continue;
      if (member_group(member, at) == group) {
        if (used > 1) result[used++] = ',';
        memcpy(result + used, member, (size_t)(at - member));
        used += (size_t)(at - member);
      }
      member = at + 1;
    }
  }
  result[used++] = '}';
  TD_CHECK(used == length);
  return result;
}

static const char *compare_file;
static int compare_line;

static int compare_entry(const char *path, const struct stat *status, int flag, struct FTW *at) {
  (void)status;
  (void)at;
  if (flag == FTW_D) return 0;
  const char *got_path = td_path(opposite, path + strlen(walked));
  if (!td_exists(got_path)) td_test_fail(compare_file, compare_line, "no file %s", got_path);
  size_t got_size = 0, want_size = 0;
  char *want = td_read_file(path, &want_size), *got = td_read_file(got_path, &got_size);
  int same = got_size == want_size && memcmp(got, want, got_size) == 0;
  if (!same && got_size == want_size && strstr(path, "/meta.json") != NULL) {
    char *loaded = td_loaded_order(want);
    same = memcmp(got, loaded, got_size) == 0;
    free(loaded);
  }
  if (!same && strstr(path, ".json") != NULL)
    td_test_fail(compare_file, compare_line, "%s\nis %s\nnot %s", got_path, got, want);
  if (!same)
    td_test_fail(compare_file, compare_line, "%s has %zu bytes, %zu are wanted, and they differ",
                 got_path, got_size, want_size);
  free(want);
  free(got);
  return 0;
}

void td_check_same_tree(const char *file, int line, const char *got, const char *want) {
  compare_file = file;
  compare_line = line;
  walk(want, got, compare_entry);
  const int found = td_count_entries(opposite), wanted = td_count_entries(walked);
  if (found != wanted)
    td_test_fail(file, line, "%s holds %d entries, not %d", opposite, found, wanted);
}
