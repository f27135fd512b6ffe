/* td_redis.h: a Redis server of the test program's own, on a socket in a folder of its own, and raw commands to it. */
#ifndef TD_REDIS_H
#define TD_REDIS_H

#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static inline redisContext *td_redis_connected(void) {
  redisContext *context = redisConnectUnix(td_redis_socket);
  if (context != NULL && context->err == 0) return context;
  if (context != NULL) redisFree(context);
  return NULL;
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
    redisContext *context = td_redis_connected();
    if (context != NULL) {
      redisFree(context);
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
  return options;
}

/* A raw command, without the library. freeReplyObject() what it returns. */
static inline redisReply *td_redis_reply(int n, const char **parts, const size_t *lengths) {
  redisContext *context = td_redis_connected();
  TD_CHECK(context != NULL);
  redisReply *reply = (redisReply *)redisCommandArgv(context, n, parts, lengths);
  redisFree(context);
  TD_CHECK(reply != NULL);
  TD_CHECK(reply->type != REDIS_REPLY_ERROR);
  return reply;
}

static inline void td_redis_send(int n, const char **parts) {
  freeReplyObject(td_redis_reply(n, parts, NULL));
}
#define TD_REDIS(...)                                                          \
  td_redis_send((int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), \
                (const char *[]){__VA_ARGS__})

/* What a GET answers is exactly these bytes. */
static inline void td_redis_check_bytes(const char *key, const void *bytes, size_t size) {
  const char *parts[] = {"GET", key};
  redisReply *reply = td_redis_reply(2, parts, NULL);
  TD_CHECK_INT(reply->type, REDIS_REPLY_STRING);
  TD_CHECK_INT(reply->len, size);
  TD_CHECK(memcmp(reply->str, bytes, size) == 0);
  freeReplyObject(reply);
}

static inline void td_redis_check_field(const char *key, const char *field, const char *want) {
  const char *parts[] = {"HGET", key, field};
  redisReply *reply = td_redis_reply(3, parts, NULL);
  if (want == NULL) {
    TD_CHECK_INT(reply->type, REDIS_REPLY_NIL);
  } else {
    TD_CHECK_INT(reply->type, REDIS_REPLY_STRING);
    TD_CHECK_SAME_TEXT(reply->str, want);
  }
  freeReplyObject(reply);
}

static inline int64_t td_redis_number(const char *command, const char *key) {
  const char *parts[] = {command, key};
  redisReply *reply = td_redis_reply(2, parts, NULL);
  TD_CHECK_INT(reply->type, REDIS_REPLY_INTEGER);
  const int64_t number = reply->integer;
  freeReplyObject(reply);
  return number;
}

#endif
