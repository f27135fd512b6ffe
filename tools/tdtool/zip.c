/* The directory of a zip archive. */
#include "zip.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "plain.h"

enum { END = 22, WIDE_END = 56, LOCATOR = 20, RECORD = 46, COMMENT = 65535 };
enum { WIDE_FIELD = 1, ENCRYPTED = 0x2041, MOST_ENTRIES = 1000000 };
static const uint64_t most_bytes = UINT64_C(1) << 26; /* of a directory */

uint64_t zip_number(const unsigned char *at, size_t bytes) {
  uint64_t result = 0;
  while (bytes-- > 0) result = result << 8 | at[bytes];
  return result;
}

bool zip_bytes(const zip *of, uint64_t at, void *into, size_t bytes) {
  if (at > of->bytes || bytes > of->bytes - at) return false;
  for (size_t done = 0; done < bytes;) {
    ssize_t count = pread(of->file, (char *)into + done, bytes - done, (off_t)(at + done));
    if (count <= 0) return false;
    done += (size_t)count;
  }
  return true;
}

typedef struct place {
  uint64_t at, bytes, count;
} place;

/* Large archives say in a record of 64 bits, which a locator before the end leads to, where the directory lies. */
static bool find_wide(const zip *of, const unsigned char *locator, uint64_t end, place *found) {
  unsigned char record[WIDE_END];
  uint64_t here = end - LOCATOR, at = zip_number(locator + 8, 8);
  if (here < WIDE_END || at > here - WIDE_END || !zip_bytes(of, at, record, sizeof record))
    return false;
  if (memcmp(record, "PK\6\6", 4) != 0 || zip_number(record + 4, 8) != here - at - 12) return false;
  if (zip_number(locator + 4, 4) != 0 || zip_number(record + 16, 8) != 0) return false; /* disks */
  *found =
      (place){zip_number(record + 48, 8), zip_number(record + 40, 8), zip_number(record + 32, 8)};
  return found->at <= at && found->bytes == at - found->at;
}

/* The end is found by its mark, and by a comment that takes just the rest of the file. */
static bool find_directory(const zip *of, place *found) {
  unsigned char tail[LOCATOR + END + COMMENT];
  size_t length = of->bytes < sizeof tail ? (size_t)of->bytes : sizeof tail;
  if (!zip_bytes(of, of->bytes - length, tail, length)) return false;
  for (size_t comment = 0; comment <= COMMENT && comment + END <= length; comment++) {
    size_t at = length - END - comment;
    const unsigned char *end = tail + at;
    if (memcmp(end, "PK\5\6", 4) != 0 || zip_number(end + 20, 2) != comment) continue;
    uint64_t here = of->bytes - (length - at);
    if (at >= LOCATOR && memcmp(end - LOCATOR, "PK\6\7", 4) == 0)
      return find_wide(of, end - LOCATOR, here, found);
    *found = (place){zip_number(end + 16, 4), zip_number(end + 12, 4), zip_number(end + 10, 2)};
    return zip_number(end + 4, 4) == 0 && found->at <= here && found->bytes == here - found->at;
  }
  return false;
}

/* Numbers of 64 bits, of those that have no room in the record, in this order. */
static bool read_extra(zip_entry *entry, const unsigned char *extra, uint64_t left) {
  while (left >= 4) {
    uint64_t length = zip_number(extra + 2, 2), used = 0;
    if (length > left - 4) return false;
    uint64_t *numbers[] = {&entry->bytes, &entry->packed, &entry->header};
    for (size_t i = 0; zip_number(extra, 2) == WIDE_FIELD && i < COUNT_OF(numbers); i++) {
      if (*numbers[i] != UINT32_MAX) continue;
      if (length - used < 8) return false;
      *numbers[i] = zip_number(extra + 4 + used, 8);
      used += 8;
    }
    extra += 4 + length;
    left -= 4 + length;
  }
  return true;
}

/* Reads a record and returns its bytes; 0 if it is invalid. */
static uint64_t read_record(zip_entry *entry, const unsigned char *record, uint64_t room) {
  if (room < RECORD || memcmp(record, "PK\1\2", 4) != 0) return 0;
  uint64_t name = zip_number(record + 28, 2), extra = zip_number(record + 30, 2);
  uint64_t bytes = RECORD + name + extra + zip_number(record + 32, 2);
  if (bytes > room || name == 0 || memchr(record + RECORD, 0, (size_t)name)) return 0;
  if (zip_number(record + 8, 2) & ENCRYPTED) return 0;
  entry->method = (unsigned)zip_number(record + 10, 2);
  entry->crc = (uint32_t)zip_number(record + 16, 4);
  entry->packed = zip_number(record + 20, 4);
  entry->bytes = zip_number(record + 24, 4);
  entry->header = zip_number(record + 42, 4);
  if (!read_extra(entry, record + RECORD + name, extra)) return 0;
  entry->name = memcpy(xcalloc((size_t)name + 1, 1), record + RECORD, (size_t)name);
  return bytes;
}

static bool read_records(zip *of, const unsigned char *directory, place found) {
  uint64_t at = 0;
  of->entries = xcalloc((size_t)found.count, sizeof *of->entries);
  while (of->length < found.count) {
    uint64_t bytes = read_record(of->entries + of->length, directory + at, found.bytes - at);
    if (bytes == 0) return false;
    of->length++;
    at += bytes;
  }
  return at == found.bytes;
}

bool zip_open(zip *of, int file) {
  place found;
  off_t bytes = lseek(file, 0, SEEK_END);
  *of = (zip){.file = file};
  if (bytes < END) return false;
  of->bytes = (uint64_t)bytes;
  if (!find_directory(of, &found) || found.bytes > most_bytes || found.count > MOST_ENTRIES ||
      found.count > found.bytes / RECORD)
    return false;
  of->directory = found.at;
  unsigned char *directory = xcalloc((size_t)found.bytes, 1);
  bool fine =
      zip_bytes(of, found.at, directory, (size_t)found.bytes) && read_records(of, directory, found);
  free(directory);
  if (!fine) zip_close(of);
  return fine;
}

void zip_close(zip *of) {
  for (size_t i = 0; i < of->length; i++) free(of->entries[i].name);
  free(of->entries);
  *of = (zip){.file = -1};
}

bool zip_holds(const char *path, const char *name) {
  zip archive;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool found = false;
  if (zip_open(&archive, file)) {
    for (size_t i = 0; !found && i < archive.length; i++) {
      const char *slash = strchr(archive.entries[i].name, '/');
      found = slash && strcmp(slash + 1, name) == 0;
    }
    zip_close(&archive);
  }
  close(file);
  return found;
}
