/* td_mutations.h: files of a folder, and bytes of them that change at random. */
#ifndef TD_MUTATIONS_H
#define TD_MUTATIONS_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "td_random.h"

enum { MOST_FILES = 64 };

/* The files of a set, below its folder. */
typedef struct set_files {
  char names[MOST_FILES][256];
  int count;
} set_files;

static inline int ends_with(const char *name, const char *end) {
  const size_t length = strlen(name), want = strlen(end);
  return length >= want && strcmp(name + length - want, end) == 0;
}

static inline void list_files(const char *root, const char *below, set_files *to) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", root, below);
  DIR *folder = opendir(path);
  for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    char name[512];
    struct stat about;
    snprintf(name, sizeof name, "%s%s%s", below, *below ? "/" : "", entry->d_name);
    snprintf(path, sizeof path, "%s/%s", root, name);
    if (lstat(path, &about) != 0) continue;
    if (S_ISDIR(about.st_mode)) {
      list_files(root, name, to);
    } else if (!ends_with(name, ".hdf5") && to->count < MOST_FILES) {
      snprintf(to->names[to->count++], sizeof *to->names, "%.255s", name);
    }
  }
  if (folder != NULL) closedir(folder);
}

/* What changes when somebody writes: names, sizes and times. */
static inline uint64_t state_of(const char *root, const char *below) {
  char path[1024];
  uint64_t state = 0;
  snprintf(path, sizeof path, "%s/%s", root, below);
  DIR *folder = opendir(path);
  for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    char name[512];
    struct stat about;
    snprintf(name, sizeof name, "%s%s%s", below, *below ? "/" : "", entry->d_name);
    snprintf(path, sizeof path, "%s/%s", root, name);
    if (lstat(path, &about) != 0) continue;
    uint64_t here = 1469598103934665603u;
    for (const char *at = name; *at; at++) here = (here ^ (unsigned char)*at) * 1099511628211u;
    here = (here ^ (uint64_t)about.st_size) * 1099511628211u;
    here = (here ^ (uint64_t)about.st_mtim.tv_nsec) * 1099511628211u;
    here = (here ^ (uint64_t)about.st_mtim.tv_sec) * 1099511628211u;
    state += here;
    if (S_ISDIR(about.st_mode)) state += state_of(root, name);
  }
  if (folder != NULL) closedir(folder);
  return state;
}

/* Bytes that change: flipped, set, cut, doubled, taken out. */
static inline size_t change_bytes(td_random *random, char *bytes, size_t size, size_t room) {
  if (size == 0) return 0;
  const size_t at = (size_t)td_random_between(random, 0, (int64_t)size - 1);
  const size_t left = size - at, some = (size_t)td_random_between(random, 1, 16);
  switch (td_random_between(random, 0, 6)) {
    case 0: bytes[at] ^= (char)(1 << td_random_between(random, 0, 7)); return size;
    case 1: bytes[at] = (char)td_random_between(random, 0, 255); return size;
    case 2:
      memset(bytes + at, td_random_one_in(random, 2) ? 0xFF : 0, some < left ? some : left);
      return size;
    case 3: return at; /* cut */
    case 4:            /* doubled */
      if (size + some > room || some > left) return size;
      memmove(bytes + at + some, bytes + at, left);
      return size + some;
    case 5: /* taken out */
      if (some > left) return at;
      memmove(bytes + at, bytes + at + some, left - some);
      return size - some;
    default: /* a number that lies */
      if (left >= 8) {
        const uint64_t lies[] = {0, 1, UINT64_MAX, INT64_MAX, (uint64_t)1 << 32, (uint64_t)1 << 62};
        memcpy(bytes + at, lies + td_random_between(random, 0, 5), 8);
      }
      return size;
  }
}

/* A value of JSON that becomes another. */
static inline size_t change_json(td_random *random, char *bytes, size_t size, size_t room) {
  static const char *const others[] = {"-1",
                                       "0",
                                       "2",
                                       "9223372036854775807",
                                       "-9223372036854775808",
                                       "99999999999999999999",
                                       "1e999",
                                       "1.5",
                                       "NaN",
                                       "-Infinity",
                                       "null",
                                       "true",
                                       "\"x\"",
                                       "\"\"",
                                       "[]",
                                       "{}",
                                       "[1, [2, [3]]]",
                                       "\"../../../etc/passwd\"",
                                       "\"/etc/passwd\"",
                                       "\"v3.0\"",
                                       "\"float16\"",
                                       "{\"dtype\": \"int64\", \"shape\": [-1]}",
                                       "\"\\ud800\"",
                                       "\"a\\u0000b\""};
  size_t begin = 0, end = 0;
  for (int tries = 0; tries < 50 && end == begin; tries++) {
    begin = (size_t)td_random_between(random, 0, (int64_t)size - 1);
    while (begin < size && strchr("0123456789-tfn\"[{", bytes[begin]) == NULL) begin++;
    if (begin == size) continue;
    end = begin + 1;
    if (bytes[begin] == '"') {
      while (end < size && bytes[end] != '"') end += bytes[end] == '\\' ? 2 : 1;
      end++;
    } else if (bytes[begin] == '[' || bytes[begin] == '{') {
      int depth = 1;
      for (; end < size && depth > 0; end++)
        depth +=
            (bytes[end] == '[' || bytes[end] == '{') - (bytes[end] == ']' || bytes[end] == '}');
    } else {
      while (end < size && strchr("0123456789-+.eEtrufalsn", bytes[end]) != NULL) end++;
    }
    if (end > size) end = begin;
  }
  const char *other = others[td_random_between(random, 0, sizeof others / sizeof *others - 1)];
  const size_t length = strlen(other);
  if (end == begin || size - (end - begin) + length > room) return size;
  memmove(bytes + begin + length, bytes + end, size - end);
  memcpy(bytes + begin, other, length);
  return size - (end - begin) + length;
}

#endif
