#define _POSIX_C_SOURCE 200809L /* readlink, setenv */

#include "td_process.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const char variable[] = "TD_TEST_ROLE";

int td_spawn(const char *test, const char *role) {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  TD_CHECK(length > 0);
  path[length] = '\0';
  setenv(variable, role, 1);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    if (getenv("TD_TEST_SHOW_CHILD") == NULL) dup2(nowhere, STDOUT_FILENO);
    const char *emulator =
        getenv("MESON_EXE_WRAPPER"); /* a command, where meson tests a cross build */
    if (emulator != NULL)
      execl("/bin/sh", "sh", "-c", "exec $0 \"$1\" \"$2\"", emulator, path, test, (char *)NULL);
    execl(path, path, test, (char *)NULL);
    _exit(127);
  }
  unsetenv(variable);
  TD_CHECK(child > 0);
  return (int)child;
}

int td_join(int process) {
  int status = 0;
  if (waitpid(process, &status, 0) != process) return 0;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

const char *td_role(void) {
  const char *role = getenv(variable);
  if (role == NULL) td_test_skip("it runs in a process that another test starts");
  return role;
}
