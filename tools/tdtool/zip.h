/* Zip archives, by the directory at their end. Nothing in them is trusted: one that is not as the library wants it is
 * refused. */
#ifndef TDTOOL_ZIP_H
#define TDTOOL_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zip_entry {
  char *name; /* no NUL in it */
  unsigned method;
  uint32_t crc;    /* CRC-32 of the content */
  uint64_t bytes;  /* of the content */
  uint64_t packed; /* in the file */
  uint64_t header; /* where its own header lies */
  uint64_t offset; /* where the packed content lies; zip_check() finds it */
} zip_entry;
typedef struct zip {
  int file;
  uint64_t bytes, directory; /* of the file, and where its directory begins */
  zip_entry *entries;        /* in the order of the directory */
  size_t length;
} zip;

/* zip.c: reads the directory. The file stays the caller's. */
bool zip_open(zip *of, int file);
void zip_close(zip *of);
bool zip_bytes(const zip *of, uint64_t at, void *into, size_t bytes);
uint64_t zip_number(const unsigned char *at, size_t bytes);
/* Whether an archive has an entry of this name in a folder at its top. */
bool zip_holds(const char *path, const char *name);

/* zip_content.c: compares the entries with their own headers and with one another. */
bool zip_check(zip *of);
/* The first bytes of a content, at most as many as it has. */
bool zip_head(const zip *of, const zip_entry *entry, void *into, size_t bytes);
/* All of it, and its checksum; `into` may be NULL. */
bool zip_whole(const zip *of, const zip_entry *entry, void *into);

#ifdef __cplusplus
}
#endif

#endif
