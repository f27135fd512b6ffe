/* JSON to stdout. The functions here place the commas. */
#include <math.h>
#include <string.h>

#include "plain.h"

static int depth;
static bool begun; /* this level has a value before */
static bool named; /* a name was written, its value follows */

/* Members of the outermost object and objects in lists begin a new line. */
static void place(bool line) {
  if (!named && begun) fputs(line ? ",\n" : ", ", stdout);
  if (!named && begun && line) printf("%*s", depth, "");
  named = false;
  begun = true;
}

static void before(void) { place(depth == 1); }

bool json_is_open(void) { return depth > 0; }

void json_begin(char bracket) {
  place(depth == 1 || bracket == '{');
  putchar(bracket);
  depth++;
  begun = false;
}

void json_end(char bracket) {
  putchar(bracket);
  depth--;
  begun = true;
}

void add_quoted(text *to, const char *utf8) {
  add(to, "\"");
  for (const char *at = utf8; *at; at++) {
    unsigned char byte = (unsigned char)*at;
    if (*at == '"' || *at == '\\') {
      addf(to, "\\%c", *at);
    } else if (byte < 0x20 || byte == 0x7F) {
      addf(to, "\\u%04x", byte);
    } else {
      add_bytes(to, at, 1);
    }
  }
  add(to, "\"");
}

static void quoted(const char *utf8) {
  text line = {NULL, 0, 0};
  add_quoted(&line, utf8);
  fputs(line.data, stdout);
  text_free(&line);
}

void json_name(const char *name) {
  before();
  quoted(name);
  fputs(": ", stdout);
  named = true;
}

void json_text(const char *utf8) {
  before();
  quoted(utf8);
}

void json_raw(const char *json) {
  before();
  fputs(json, stdout);
}

void json_int(int64_t value) {
  before();
  printf("%lld", (long long)value);
}

void json_size(uint64_t value) {
  before();
  printf("%llu", (unsigned long long)value);
}

void json_real(double value) {
  before();
  if (isfinite(value))
    printf("%.17g", value);
  else
    fputs("null", stdout);
}

void json_bool(bool value) {
  before();
  fputs(value ? "true" : "false", stdout);
}

void json_sizes(const int64_t *sizes, size_t dims) {
  json_begin('[');
  for (size_t i = 0; i < dims; i++) json_int(sizes[i]);
  json_end(']');
}

void json_path(const char *const *path, size_t path_len) {
  text key = {NULL, 0, 0};
  add_key(&key, path, path_len);
  json_member(text, "key", key.data ? key.data : "");
  json_member(begin, "path", '[');
  for (size_t i = 0; i < path_len; i++) json_text(path[i]);
  json_end(']');
  text_free(&key);
}

void json_finish(void) {
  putchar('\n');
  begun = false;
}
