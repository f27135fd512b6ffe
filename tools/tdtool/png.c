/* Pictures as PNG in an address ("data:image/png;base64,…"). */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "report.h"

typedef struct bytes {
  unsigned char *data;
  size_t length;
} bytes;

static void put_32(unsigned char *at, uint32_t value) {
  for (int i = 0; i < 4; i++) at[i] = (unsigned char)(value >> (24 - 8 * i));
}

static void add_chunk(bytes *to, const char *name, const unsigned char *data, size_t length) {
  unsigned char *at = to->data + to->length;
  put_32(at, (uint32_t)length);
  memcpy(at + 4, name, 4);
  if (length) memcpy(at + 8, data, length);
  put_32(at + 8 + length, (uint32_t)crc32(crc32(0, NULL, 0), at + 4, (uInt)(length + 4)));
  to->length += length + 12;
}

static void print_base64(const bytes *of) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < of->length; i += 3) {
    size_t count = of->length - i < 3 ? of->length - i : 3;
    uint32_t bits = 0;
    for (size_t at = 0; at < 3; at++) bits = bits << 8 | (at < count ? of->data[i + at] : 0);
    for (size_t at = 0; at < 4; at++)
      putchar(at <= count ? digits[bits >> (18 - 6 * at) & 63] : '=');
  }
}

bool png_address(const unsigned char *dots, size_t width, size_t height, size_t channels) {
  static const unsigned char signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  size_t row = width * channels;
  unsigned char *raw = xcalloc(height, row + 1); /* each line begins with its filter: none */
  for (size_t y = 0; y < height; y++) memcpy(raw + y * (row + 1) + 1, dots + y * row, row);
  uLongf packed = compressBound((uLong)(height * (row + 1)));
  unsigned char *data = xcalloc(packed, 1), head[13] = {0};
  bool done = compress2(data, &packed, raw, (uLong)(height * (row + 1)), 9) == Z_OK;
  bytes file = {xcalloc(packed + 100, 1), sizeof signature};
  memcpy(file.data, signature, sizeof signature);
  put_32(head, (uint32_t)width);
  put_32(head + 4, (uint32_t)height);
  head[8] = 8;
  head[9] = channels == 1 ? 0 : channels == 3 ? 2 : 6;
  if (done) {
    add_chunk(&file, "IHDR", head, sizeof head);
    add_chunk(&file, "IDAT", data, packed);
    add_chunk(&file, "IEND", NULL, 0);
    fputs("data:image/png;base64,", stdout);
    print_base64(&file);
  }
  free(file.data);
  free(data);
  free(raw);
  return done;
}
