/* Growing text, and sizes, shapes and keys as people read them. */
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "plain.h"

void add_bytes(text *to, const char *bytes, size_t count) {
  if (to->length + count + 1 > to->capacity) {
    to->capacity = 2 * (to->length + count + 1);
    to->data = xrealloc(to->data, to->capacity);
  }
  memcpy(to->data + to->length, bytes, count);
  to->length += count;
  to->data[to->length] = '\0';
}

void add(text *to, const char *string) { add_bytes(to, string, strlen(string)); }

void addf(text *to, const char *format, ...) {
  char room[400];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(room, sizeof room, format, arguments);
  va_end(arguments);
  if (length < 0) return;
  if ((size_t)length < sizeof room) {
    add_bytes(to, room, (size_t)length);
    return;
  }
  char *longer = xcalloc((size_t)length + 1, 1);
  va_start(arguments, format);
  vsnprintf(longer, (size_t)length + 1, format, arguments);
  va_end(arguments);
  add_bytes(to, longer, (size_t)length);
  free(longer);
}

void text_free(text *of) {
  free(of->data);
  *of = (text){NULL, 0, 0};
}

/* One character of UTF-8; an invalid byte counts as a character. */
static size_t decode(const char *from, uint32_t *result) {
  const unsigned char *at = (const unsigned char *)from;
  size_t more = at[0] < 0x80 ? 0 : at[0] < 0xC0 ? 9 : at[0] < 0xE0 ? 1 : at[0] < 0xF0 ? 2 : 3;
  *result = 0xFFFD;
  if (more == 0) *result = at[0];
  if (more == 0 || more == 9) return 1;
  uint32_t code = at[0] & (0x3Fu >> more);
  for (size_t i = 1; i <= more; i++) {
    if ((at[i] & 0xC0) != 0x80) return 1;
    code = code << 6 | (at[i] & 0x3Fu);
  }
  *result = code;
  return more + 1;
}

static size_t width_of(uint32_t code) {
  int width = terminal_utf8() ? wcwidth((wchar_t)code) : 1;
  return width < 0 ? 1 : (size_t)width;
}

size_t text_columns(const char *utf8) {
  size_t columns = 0;
  uint32_t code;
  for (const char *at = utf8; *at;) {
    at += decode(at, &code);
    columns += width_of(code);
  }
  return columns;
}

size_t text_fit(const char *utf8, size_t columns) {
  size_t used = 0;
  uint32_t code;
  const char *at = utf8;
  while (*at) {
    size_t bytes = decode(at, &code), width = width_of(code);
    if (used + width > columns) break;
    used += width;
    at += bytes;
  }
  return (size_t)(at - utf8);
}

void add_escaped(text *to, const char *utf8) {
  uint32_t code;
  for (const char *at = utf8; *at;) {
    size_t bytes = decode(at, &code);
    bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
    bool direction = (code >= 0x200E && code <= 0x200F) || (code >= 0x202A && code <= 0x202E) ||
                     (code >= 0x2066 && code <= 0x2069);
    if (control)
      addf(to, "\\x%02x", (unsigned)code);
    else if (direction)
      addf(to, "\\u%04x", (unsigned)code);
    else
      add_bytes(to, at, bytes);
    at += bytes;
  }
}

void add_size(text *to, uint64_t bytes) {
  static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) {
    addf(to, "%u B", (unsigned)bytes);
    return;
  }
  double value = (double)bytes;
  size_t unit = 0;
  for (value /= 1000; value >= 999.5 && unit + 1 < COUNT_OF(units); value /= 1000) unit++;
  addf(to, value < 9.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

void add_shape(text *to, const int64_t *sizes, size_t dims) {
  add(to, "[");
  for (size_t i = 0; i < dims; i++) addf(to, "%s%lld", i ? ", " : "", (long long)sizes[i]);
  add(to, "]");
}

void add_key(text *to, const char *const *path, size_t path_len) {
  text plain = {NULL, 0, 0};
  for (size_t i = 0; i < path_len; i++) {
    if (i) add(&plain, "/");
    for (const char *at = path[i]; *at; at++) {
      if (*at == '/' || *at == '\\') add(&plain, "\\");
      add_bytes(&plain, at, 1);
    }
  }
  add_escaped(to, plain.length ? plain.data : "\"\"");
  text_free(&plain);
}
