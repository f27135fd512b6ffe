/* What the entries of a zip archive hold. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "plain.h"
#include "zip.h"

enum { HEADER = 30, STORED = 0, DEFLATED = 8, ENCRYPTED = 0x2041 };
enum { MOST_RATIO = 1032 }; /* no content is longer than its packed form times this */
enum { PIECE = 1 << 16 };

/* The header before the content says again what the directory says, and where the content begins. */
static bool check_header(const zip *of, zip_entry *entry) {
  unsigned char header[HEADER + UINT16_MAX];
  size_t name = strlen(entry->name);
  if (of->directory < HEADER || entry->header > of->directory - HEADER) return false;
  uint64_t room = of->directory - entry->header - HEADER;
  if (name > room || !zip_bytes(of, entry->header, header, HEADER + name)) return false;
  uint64_t before = name + zip_number(header + 28, 2);
  if (memcmp(header, "PK\3\4", 4) != 0 || zip_number(header + 26, 2) != name || before > room)
    return false;
  if (memcmp(header + HEADER, entry->name, name) != 0 ||
      zip_number(header + 8, 2) != entry->method || (zip_number(header + 6, 2) & ENCRYPTED))
    return false;
  entry->offset = entry->header + HEADER + before;
  if (entry->packed > room - before) return false;
  if (entry->method == STORED && entry->packed != entry->bytes) return false;
  if (entry->method == DEFLATED && entry->bytes / MOST_RATIO > entry->packed) return false;
  return entry->name[name - 1] != '/' || entry->bytes == 0;
}

static int by_place(const void *left, const void *right) {
  const zip_entry *one = *(zip_entry *const *)left, *other = *(zip_entry *const *)right;
  return (one->header > other->header) - (one->header < other->header);
}

static int by_name(const void *left, const void *right) {
  return strcmp((*(zip_entry *const *)left)->name, (*(zip_entry *const *)right)->name);
}

bool zip_check(zip *of) {
  bool fine = true;
  zip_entry **order = xcalloc(of->length, sizeof(*order));
  for (size_t i = 0; fine && i < of->length; i++) {
    order[i] = of->entries + i;
    fine = check_header(of, order[i]);
  }
  if (fine) qsort(order, of->length, sizeof(*order), by_place);
  for (size_t i = 1; fine && i < of->length; i++)
    fine = order[i]->header >= order[i - 1]->offset + order[i - 1]->packed;
  if (fine) qsort(order, of->length, sizeof(*order), by_name);
  for (size_t i = 1; fine && i < of->length; i++) fine = by_name(order + i - 1, order + i) != 0;
  free(order);
  return fine;
}

/* Where the bytes of a content go: the first ones to memory, all into the checksum. */
typedef struct sink {
  unsigned char *into;
  uint64_t wanted, done; /* bytes */
  uLong crc;
} sink;

static void take(sink *to, const unsigned char *bytes, size_t count) {
  if (to->done < to->wanted) {
    uint64_t room = to->wanted - to->done;
    memcpy(to->into + to->done, bytes, count < room ? count : (size_t)room);
  }
  to->crc = crc32(to->crc, bytes, (uInt)count);
  to->done += count;
}

static bool read_stored(const zip *of, const zip_entry *entry, uint64_t bytes, sink *to) {
  unsigned char piece[PIECE];
  while (to->done < bytes) {
    uint64_t left = bytes - to->done;
    size_t count = left < sizeof piece ? (size_t)left : sizeof piece;
    if (!zip_bytes(of, entry->offset + to->done, piece, count)) return false;
    take(to, piece, count);
  }
  return true;
}

/* Inflates `bytes` bytes; with `all`, the whole content, which must have exactly this length. */
static bool read_deflated(const zip *of, const zip_entry *entry, uint64_t bytes, bool all,
                          sink *to) {
  unsigned char in[PIECE], out[PIECE];
  uint64_t taken = 0;
  int status = Z_OK;
  z_stream stream = {0};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) die("out of memory");
  while (status == Z_OK && (all || to->done < bytes)) {
    if (stream.avail_in == 0) {
      uint64_t left = entry->packed - taken;
      size_t count = left < sizeof in ? (size_t)left : sizeof in;
      if (!zip_bytes(of, entry->offset + taken, in, count)) break;
      stream.next_in = in;
      stream.avail_in = (uInt)count;
      taken += count;
    }
    stream.next_out = out;
    stream.avail_out = sizeof out;
    status = inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END) break;
    size_t count = sizeof out - stream.avail_out;
    if (count > entry->bytes - to->done) break;
    take(to, out, count);
  }
  bool ended = status == Z_STREAM_END && stream.avail_in == 0 && taken == entry->packed;
  inflateEnd(&stream);
  return all ? ended && to->done == entry->bytes : to->done >= bytes;
}

static bool read_content(const zip *of, const zip_entry *entry, uint64_t bytes, bool all,
                         sink *to) {
  to->crc = crc32(0, NULL, 0);
  if (entry->method == STORED) return read_stored(of, entry, bytes, to);
  return entry->method == DEFLATED && read_deflated(of, entry, bytes, all, to);
}

bool zip_head(const zip *of, const zip_entry *entry, void *into, size_t bytes) {
  sink to = {into, bytes, 0, 0};
  return bytes <= entry->bytes && read_content(of, entry, bytes, false, &to);
}

bool zip_whole(const zip *of, const zip_entry *entry, void *into) {
  sink to = {into, into ? entry->bytes : 0, 0, 0};
  return read_content(of, entry, entry->bytes, true, &to) && to.crc == entry->crc;
}
