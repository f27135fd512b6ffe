/* How the program ends: one line to stderr, and a status. */
#include <stdlib.h>
#include <string.h>

#include "plain.h"

void (*before_message)(void);

static void say(const char *format, va_list arguments) {
  char message[2000];
  vsnprintf(message, sizeof message, format, arguments);
  message[strcspn(message, "\n")] = '\0'; /* one line */
  text clean = {NULL, 0, 0};
  add_escaped(&clean, message);
  if (before_message) before_message();
  fflush(stdout);
  fprintf(stderr, "tdtool: %s\n", clean.data ? clean.data : "");
  text_free(&clean);
}

void die(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  exit(TOOL_FAILED);
}

/* Formatting a message would need memory. */
void die_without_memory(void) {
  if (before_message) before_message();
  fflush(stdout);
  fputs("tdtool: out of memory\n", stderr);
  exit(TOOL_FAILED);
}

void die_usage(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(format, arguments);
  va_end(arguments);
  exit(TOOL_USAGE);
}

/* Fails unless all output was written. */
int finish(int result) {
  if (fflush(stdout) != 0 || ferror(stdout)) die("the output could not be written");
  return result;
}
