/* The names in a zip archive, from the directory at its end. Nothing in it is trusted: a directory that is not as it
 * should be has no names. */
#include <stdlib.h>
#include <string.h>

#include "tdtool.h"

enum { END = 22, END_64 = 56, LOCATOR = 20, ENTRY = 46, COMMENT = 65535 };
static const uint64_t most_bytes = UINT64_C(1) << 26; /* of a directory */

static uint64_t number(const unsigned char *at, size_t bytes) {
  uint64_t result = 0;
  while (bytes-- > 0) result = result << 8 | at[bytes];
  return result;
}

static bool read_at(FILE *file, uint64_t at, void *into, size_t bytes) {
  if (at > (uint64_t)INT64_MAX || fseeko(file, (off_t)at, SEEK_SET) != 0) return false;
  return fread(into, 1, bytes, file) == bytes;
}

/* Where the directory lies. Large archives say it in a record of 64 bits before the last one. */
static bool find_directory(FILE *file, uint64_t size, uint64_t *at, uint64_t *bytes) {
  unsigned char tail[COMMENT + END], wide[END_64];
  size_t length = size < sizeof tail ? (size_t)size : sizeof tail;
  if (!read_at(file, size - length, tail, length)) return false;
  for (size_t end = length >= END ? length - END + 1 : 0; end-- > 0;) {
    if (memcmp(tail + end, "PK\5\6", 4) != 0) continue;
    *bytes = number(tail + end + 12, 4);
    *at = number(tail + end + 16, 4);
    if ((*at != UINT32_MAX && *bytes != UINT32_MAX) || end < LOCATOR) return true;
    if (memcmp(tail + end - LOCATOR, "PK\6\7", 4) != 0) return true;
    if (!read_at(file, number(tail + end - LOCATOR + 8, 8), wide, sizeof wide)) return false;
    *bytes = number(wide + 40, 8);
    *at = number(wide + 48, 8);
    return memcmp(wide, "PK\6\6", 4) == 0;
  }
  return false;
}

static bool is_wanted(const unsigned char *entry, size_t length, const char *name) {
  const unsigned char *slash = memchr(entry, '/', length);
  size_t base = slash ? (size_t)(slash - entry) + 1 : length;
  return slash && length - base == strlen(name) && memcmp(entry + base, name, length - base) == 0;
}

static bool search(const unsigned char *directory, uint64_t bytes, const char *name) {
  for (uint64_t at = 0; bytes - at >= ENTRY;) {
    const unsigned char *entry = directory + at;
    uint64_t length = number(entry + 28, 2);
    if (memcmp(entry, "PK\1\2", 4) != 0 || length > bytes - at - ENTRY) return false;
    if (is_wanted(entry + ENTRY, (size_t)length, name)) return true;
    uint64_t next = ENTRY + length + number(entry + 30, 2) + number(entry + 32, 2);
    if (next > bytes - at) return false;
    at += next;
  }
  return false;
}

bool zip_holds(const char *path, const char *name) {
  FILE *file = fopen(path, "rb");
  if (!file) return false;
  off_t size = fseeko(file, 0, SEEK_END) == 0 ? ftello(file) : -1;
  uint64_t at = 0, bytes = 0;
  bool found = false;
  if (size > 0 && find_directory(file, (uint64_t)size, &at, &bytes) && bytes <= most_bytes &&
      bytes <= (uint64_t)size) {
    unsigned char *directory = xcalloc((size_t)bytes, 1);
    found = read_at(file, at, directory, (size_t)bytes) && search(directory, bytes, name);
    free(directory);
  }
  fclose(file);
  return found;
}
