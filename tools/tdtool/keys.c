/* Keys as people type them: names with slashes between. */
#include <stdlib.h>
#include <string.h>

#include "plain.h"

static void append(key *to, const char *name) {
  to->names = xrealloc(to->names, (to->length + 1) * sizeof *to->names);
  to->names[to->length++] = xstrdup(name);
}

key key_parse(const char *typed) {
  key result = {NULL, 0};
  text name = {NULL, 0, 0};
  add(&name, "");
  for (const char *at = typed; *at; at++) {
    if (*at == '/') {
      append(&result, name.data);
      name.length = 0;
      name.data[0] = '\0';
      continue;
    }
    if (*at == '\\' && (at[1] == '/' || at[1] == '\\')) at++;
    add_bytes(&name, at, 1);
  }
  if (name.length || !result.length) append(&result, name.data); /* "a/" is "a" */
  text_free(&name);
  return result;
}

key key_copy(const char *const *path, size_t path_len) {
  key result = {NULL, 0};
  for (size_t i = 0; i < path_len; i++) append(&result, path[i]);
  return result;
}

key key_join(const char *const *path, size_t path_len, const char *name) {
  key result = key_copy(path, path_len);
  append(&result, name);
  return result;
}

void key_free(key *of) {
  for (size_t i = 0; i < of->length; i++) free((char *)of->names[i]);
  free(of->names);
  *of = (key){NULL, 0};
}

bool key_within(const char *const *path, size_t path_len, key prefix) {
  if (path_len < prefix.length) return false;
  for (size_t i = 0; i < prefix.length; i++) {
    if (strcmp(path[i], prefix.names[i]) != 0) return false;
  }
  return true;
}
