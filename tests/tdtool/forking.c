/* tdtool-main, loaded once for many commands. With ASan, loading libtorch takes a second, most of what a command
 * costs. This program loads it and listens at a socket; each request runs main() in a child process, with the
 * arguments, environment, folder and streams of its client (forked.c). */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forked.h"

int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv); /* -Wl,--wrap=main */

static void expect(int holds, const char *what) {
  if (holds) return;
  perror(what);
  _exit(70);
}

static void receive(int from, void *to, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t count = read(from, (char *)to + done, bytes - done);
    expect(count > 0, "a request ends early");
    done += (size_t)count;
  }
}

/* Pointers to `count` strings that lie one behind the other, and NULL. */
static char **strings(char **text, uint32_t count) {
  char **result = calloc(count + 1, sizeof *result);
  for (uint32_t i = 0; i < count; i++) {
    result[i] = *text;
    *text += strlen(*text) + 1;
  }
  return result;
}

static int run(const request *asked, char *text, const int *files) {
  signal(SIGCHLD, SIG_DFL);
  for (int i = 0; i < 3; i++) expect(dup2(files[i], i) == i, "dup2");
  expect(fchdir(files[3]) == 0, "fchdir");
  for (int i = 0; i < FILES; i++) close(files[i]);
  umask((mode_t)asked->umask);
  char **argv = strings(&text, asked->arguments);
  environ = strings(&text, asked->variables);
  return __real_main((int)asked->arguments, argv);
}

/* Passes signals of the client to the child, and the status of the child to the client. */
static void attend(int client, pid_t child) {
  const int ended = (int)syscall(SYS_pidfd_open, child, 0);
  struct pollfd on[] = {{client, POLLIN, 0}, {ended, POLLIN, 0}};
  expect(ended >= 0, "pidfd_open");
  int signal_number, status;
  while (poll(on, 2, -1) < 0 || !on[1].revents) {
    if (!on[0].revents) continue;
    if (read(client, &signal_number, sizeof signal_number) != sizeof signal_number) {
      signal_number = SIGKILL; /* the client was killed */
      on[0].fd = -1;
    }
    kill(child, signal_number);
  }
  expect(waitpid(child, &status, 0) == child, "waitpid");
  if (write(client, &status, sizeof status) < 0) perror("a client does not wait");
}

static int serve(int client) {
  request asked;
  int files[FILES];
  char control[CMSG_SPACE(sizeof files)];
  struct iovec part = {&asked, sizeof asked};
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  expect(recvmsg(client, &message, MSG_WAITALL) == sizeof asked && CMSG_FIRSTHDR(&message),
         "recvmsg");
  memcpy(files, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof files);
  char *text = malloc(asked.bytes);
  receive(client, text, asked.bytes);
  signal(SIGCHLD, SIG_DFL);
  const pid_t child = fork();
  expect(child >= 0, "fork");
  if (child == 0) {
    close(client);
    return run(&asked, text, files);
  }
  for (int i = 0; i < FILES; i++) close(files[i]);
  attend(client, child);
  _exit(0);
}

int __wrap_main(int argc, char **argv) {
  if (argc != 3 || strcmp(argv[1], "--listen") != 0) return __real_main(argc, argv);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", argv[2]);
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  expect(bind(listener, (struct sockaddr *)&address, sizeof address) == 0, address.sun_path);
  expect(listen(listener, 64) == 0, "listen");
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  signal(SIGCHLD, SIG_IGN); /* no zombies */
  puts("ready");
  fflush(stdout);
  for (;;) {
    const int client = accept(listener, NULL, NULL);
    expect(client >= 0, "accept");
    if (fork() == 0) {
      close(listener);
      return serve(client);
    }
    close(client);
  }
}
