/* A program that has no memory says so once, and ends with its status. It is compiled with the sources of tdtool, in
 * which calloc and realloc are these. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plain.h"

void *no_calloc(size_t count, size_t size) {
  (void)count;
  (void)size;
  return NULL;
}
void *no_realloc(void *old, size_t size) {
  (void)old;
  (void)size;
  return NULL;
}

/* Of terminal.c, which needs the options of a command. */
bool terminal_utf8(void) { return true; }

static void grow_a_text(void) {
  text name = {NULL, 0, 0};
  add(&name, "x");
}
static void take_memory(void) { xcalloc(1, 1); }
static void fail_for_another_reason(void) { die("\"%s\" is missing", "a"); }

static int check(const char *name, void (*call)(void)) {
  int ends[2], status = 0;
  char said[200] = "";
  if (pipe(ends) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    call();
    _exit(0);
  }
  close(ends[1]);
  const ssize_t length = read(ends[0], said, sizeof said - 1);
  close(ends[0]);
  waitpid(child, &status, 0);
  if (length > 0 && strcmp(said, "tdtool: out of memory\n") == 0 && WIFEXITED(status) &&
      WEXITSTATUS(status) == TOOL_FAILED)
    return 0;
  printf("%s: status %d, said: %s\n", name, status, said);
  return 1;
}

int main(void) {
  return check("a text", grow_a_text) + check("memory", take_memory) +
         check("another failure", fail_for_another_reason);
}
