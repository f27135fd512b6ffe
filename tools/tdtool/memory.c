/* Allocations that end the program if they fail. */
#include <stdlib.h>
#include <string.h>

#include "plain.h"

void *xcalloc(size_t count, size_t size) {
  void *result = calloc(count ? count : 1, size ? size : 1);
  if (!result) die_without_memory();
  return result;
}

void *xrealloc(void *old, size_t bytes) {
  void *result = realloc(old, bytes ? bytes : 1);
  if (!result) die_without_memory();
  return result;
}

char *xstrdup(const char *string) {
  size_t bytes = strlen(string) + 1;
  return memcpy(xcalloc(bytes, 1), string, bytes);
}
