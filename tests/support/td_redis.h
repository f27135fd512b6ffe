/* td_redis.h: a Redis server of the test program's own, on a socket in a folder of its own, and raw commands to it. */
#ifndef TD_REDIS_H
#define TD_REDIS_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "td_test.h"

static char td_redis_folder[64], td_redis_socket[96];
static pid_t td_redis_process;

static inline void td_redis_stop(void) {
  if (td_redis_process > 0) {
    kill(td_redis_process, SIGKILL);
    waitpid(td_redis_process, NULL, 0);
    td_redis_process = 0;
  }
  unlink(td_redis_socket);
}

static inline void td_redis_end(void) {
  td_redis_stop();
  rmdir(td_redis_folder);
}

/* A socket, or -1. */
static inline int td_redis_connected(void) {
  struct sockaddr_un address = {0};
  address.sun_family = AF_UNIX;
  strcpy(address.sun_path, td_redis_socket);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0) return fd;
  if (fd >= 0) close(fd);
  return -1;
}

enum { td_redis_most_settings = 32 };

/* Starts the server, with more settings, up to a NULL; the test is skipped where there is none to start. */
static inline void td_redis_start_with(const char *const *more) {
  if (td_redis_folder[0] == 0) {
    strcpy(td_redis_folder, "/tmp/td-redis-XXXXXX");
    TD_CHECK(mkdtemp(td_redis_folder) != NULL);
    snprintf(td_redis_socket, sizeof td_redis_socket, "%s/s", td_redis_folder);
    atexit(td_redis_end);
  }
  td_redis_stop();
  td_redis_process = fork();
  TD_CHECK(td_redis_process >= 0);
  if (td_redis_process == 0) {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that crashes leaves none behind */
#endif
    if (freopen("/dev/null", "w", stdout) == NULL) _exit(127);
    const char *all[11 + td_redis_most_settings] = {
        "redis-server", "--port", "0",     "--unixsocket", td_redis_socket, "--save", "",
        "--appendonly", "no",     "--dir", td_redis_folder};
    for (size_t i = 0; more[i] != NULL; i++) {
      if (i + 1 == td_redis_most_settings) _exit(126);
      all[11 + i] = more[i];
    }
    execvp("redis-server", (char *const *)all);
    _exit(127);
  }
  for (int i = 0; i < 1000; i++) {
    int status = 0;
    if (waitpid(td_redis_process, &status, WNOHANG) == td_redis_process) {
      td_redis_process = 0;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 127) td_test_skip("there is no redis-server");
      td_test_fail(__FILE__, __LINE__, "redis-server ended with status %d", status);
    }
    const int fd = td_redis_connected();
    if (fd >= 0) {
      close(fd);
      return;
    }
    const struct timespec pause = {0, 10000000};
    nanosleep(&pause, NULL);
  }
  td_test_fail(__FILE__, __LINE__, "redis-server does not answer");
}

static inline void td_redis_start(const char *setting, const char *value) {
  const char *const more[] = {setting, value, NULL};
  td_redis_start_with(more);
}

/* The server that all tests share. */
static inline void td_redis(void) {
  if (td_redis_process <= 0) td_redis_start("--loglevel", "warning");
}

/* Whether there is one to start; then it runs. */
static inline int td_redis_here(void) {
  static int here = -1;
  if (here < 0) here = system("command -v redis-server >/dev/null 2>&1") == 0;
  if (here) td_redis();
  return here;
}

static inline td_store_options td_redis_options(const char *id) {
  td_store_options options = TD_STORE_OPTIONS_INIT;
  options.unix_socket = td_redis_socket;
  options.id = id;
  options.timeout_ms = 120000; /* against hanging; a machine may be slow */
  return options;
}

static inline td_store *td_redis_store(const td_tensordict *td, const char *id) {
  const td_store_options options = td_redis_options(id);
  td_store *store = NULL;
  TD_DO(td_store_from(td, &options, &store));
  return store;
}

static inline td_store *td_redis_opened(const char *id) {
  const td_store_options options = td_redis_options(id);
  td_store *store = NULL;
  TD_DO(td_store_open(&options, &store));
  return store;
}

/* An answer: '+' a status, ':' a number, '$' bytes (NULL: none). free() the bytes. */
typedef struct td_redis_answer {
  char kind;
  int64_t number; /* for bytes their size */
  char *bytes;
} td_redis_answer;

/* A raw command, without the library; `lengths` may be NULL for texts. */
static inline td_redis_answer td_redis_ask(int n, const char **parts, const size_t *lengths) {
  td_redis_answer answer = {0, 0, NULL};
  char line[512];
  const int fd = td_redis_connected();
  FILE *file = fd < 0 ? NULL : fdopen(fd, "r+");
  TD_CHECK(file != NULL);
  fprintf(file, "*%d\r\n", n);
  for (int i = 0; i < n; i++) {
    const size_t length = lengths != NULL ? lengths[i] : strlen(parts[i]);
    fprintf(file, "$%zu\r\n", length);
    fwrite(parts[i], 1, length, file);
    fputs("\r\n", file);
  }
  TD_CHECK(fflush(file) == 0 && fgets(line, sizeof line, file) != NULL);
  answer.kind = line[0];
  if (answer.kind == '-') td_test_fail(__FILE__, __LINE__, "%s: %s", parts[0], line);
  if (answer.kind != '+') answer.number = strtoll(line + 1, NULL, 10);
  if (answer.kind == '$' && answer.number >= 0) {
    answer.bytes = (char *)calloc((size_t)answer.number + 1, 1);
    TD_CHECK(answer.bytes != NULL);
    TD_CHECK_INT(fread(answer.bytes, 1, (size_t)answer.number, file), answer.number);
  }
  fclose(file);
  return answer;
}

static inline void td_redis_send(int n, const char **parts) {
  free(td_redis_ask(n, parts, NULL).bytes);
}
#define TD_REDIS(...)                                                          \
  td_redis_send((int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), \
                (const char *[]){__VA_ARGS__})

/* What a GET answers is exactly these bytes. */
static inline void td_redis_check_bytes(const char *key, const void *bytes, size_t size) {
  const char *parts[] = {"GET", key};
  const td_redis_answer answer = td_redis_ask(2, parts, NULL);
  TD_CHECK(answer.bytes != NULL);
  TD_CHECK_INT(answer.number, size);
  TD_CHECK(memcmp(answer.bytes, bytes, size) == 0);
  free(answer.bytes);
}

static inline void td_redis_check_field(const char *key, const char *field, const char *want) {
  const char *parts[] = {"HGET", key, field};
  const td_redis_answer answer = td_redis_ask(3, parts, NULL);
  TD_CHECK_INT(answer.kind, '$');
  TD_CHECK((answer.bytes == NULL) == (want == NULL));
  if (want != NULL) TD_CHECK_SAME_TEXT(answer.bytes, want);
  free(answer.bytes);
}

static inline int64_t td_redis_number(const char *command, const char *key) {
  const char *parts[] = {command, key};
  const td_redis_answer answer = td_redis_ask(2, parts, NULL);
  TD_CHECK_INT(answer.kind, ':');
  return answer.number;
}

#endif
