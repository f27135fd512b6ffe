/* Stands for tdtool-main in tests: has the server beside it run the command (forking.c), and ends as that does. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forked.h"

static int server = -1;

static void expect(int holds, const char *what) {
  if (holds) return;
  perror(what);
  exit(70);
}

static void pass_on(int number) {
  if (write(server, &number, sizeof number) < 0) _exit(70);
}

static void connect_beside(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const ssize_t length = readlink("/proc/self/exe", address.sun_path, sizeof address.sun_path - 8);
  expect(length > 0, "/proc/self/exe");
  strcpy(strrchr(address.sun_path, '/') + 1, "server");
  server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  expect(connect(server, (struct sockaddr *)&address, sizeof address) == 0, address.sun_path);
}

static void ask(char **argv) {
  request asked = {0, 0, 0, 0};
  const mode_t mask = umask(0);
  umask(mask);
  asked.umask = mask;
  for (char **each = argv; *each; each++, asked.arguments++)
    asked.bytes += (uint32_t)strlen(*each) + 1;
  for (char **each = environ; *each; each++, asked.variables++)
    asked.bytes += (uint32_t)strlen(*each) + 1;
  const int files[FILES] = {0, 1, 2, open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  char control[CMSG_SPACE(sizeof files)] = {0};
  struct iovec part = {&asked, sizeof asked};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr *const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof files);
  memcpy(CMSG_DATA(head), files, sizeof files);
  expect(sendmsg(server, &message, 0) == sizeof asked, "sendmsg");
  FILE *texts = fdopen(dup(server), "w");
  for (char **each = argv; *each; each++) fwrite(*each, 1, strlen(*each) + 1, texts);
  for (char **each = environ; *each; each++) fwrite(*each, 1, strlen(*each) + 1, texts);
  expect(fclose(texts) == 0, "send");
}

int main(int argc, char **argv) {
  static const int passed_on[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};
  int status = 0;
  (void)argc;
  connect_beside();
  ask(argv);
  for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++) signal(passed_on[i], pass_on);
  ssize_t got;
  while ((got = read(server, &status, sizeof status)) < 0 && errno == EINTR) continue;
  expect(got == sizeof status, "the server has ended");
  if (!WIFSIGNALED(status)) return WEXITSTATUS(status);
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}
