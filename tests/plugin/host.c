/* host.c: a program that knows nothing of the library but loads a plugin that uses it, as engines do:
 * dlopen with RTLD_LOCAL, threads of its own, unloading, fork, exit. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin.h"
#include "td_test.h"

static const char *plugin_path(void) { return getenv("TD_PLUGIN"); }

static void *open_library(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) fprintf(stderr, "%s\n", dlerror());
  return library;
}

static plugin_fn find(void *plugin, const char *name) {
  plugin_fn function = NULL;
  void *symbol = dlsym(plugin, name);
  memcpy(&function, &symbol, sizeof function); /* C99 has no cast between the two */
  return function;
}

static int call(const char *name, const char *folder) {
  void *plugin = open_library(plugin_path());
  if (plugin == NULL) return -1;
  const int line = find(plugin, name)(folder);
  return dlclose(plugin) == 0 ? line : -1;
}

static int count_threads(void) {
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  if (tasks == NULL) return -1;
  for (const struct dirent *entry = readdir(tasks); entry != NULL; entry = readdir(tasks))
    count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

/* Runs this program again with two arguments; what it exited with, or -1 if it was killed. */
static int run_again(const char *what, const char *argument) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "host", what, argument, (char *)NULL);
    _exit(127);
  }
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The file from which a library of this name was mapped into the process. */
static const char *mapped_from(const char *name) {
  static char line[4096];
  FILE *maps = fopen("/proc/self/maps", "r");
  if (maps == NULL) return NULL;
  const char *found = NULL;
  while (found == NULL && fgets(line, sizeof line, maps) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    if (strstr(line, name) != NULL) found = strchr(line, '/');
  }
  fclose(maps);
  return found;
}

/* First, while nothing is loaded. */
TD_TEST(the_host_does_not_link_the_library) {
  TD_CHECK(plugin_path() != NULL);
  TD_CHECK(dlsym(RTLD_DEFAULT, "td_abi_version") == NULL);
  TD_CHECK(mapped_from("libtensordict") == NULL);
}

TD_TEST(symbols_stay_local) {
  void *plugin = open_library(plugin_path());
  TD_CHECK(plugin != NULL);
  TD_CHECK(dlsym(plugin, "td_abi_version") != NULL);
  TD_CHECK(dlsym(RTLD_DEFAULT, "td_abi_version") == NULL);
  TD_CHECK(dlclose(plugin) == 0);
  TD_CHECK(mapped_from("libtensordict") != NULL); /* unloading is a no-op */
}

TD_TEST(a_hundred_times) {
  for (int i = 0; i < 100; i++) {
    const int line = call("plugin_work", i % 10 == 0 ? td_test_folder() : NULL);
    if (line != 0) td_test_fail("plugin.c", line, "round %d", i);
  }
}

TD_TEST(loading_starts_no_thread) {
  /* libtorch's BLAS may start some when it is loaded: count those first. */
  const char *torch = mapped_from("libtorch_cpu");
  TD_CHECK(torch != NULL);
  char path[4096];
  snprintf(path, sizeof path, "%s", torch);
  const int without = run_again("--count-threads", path);
  TD_CHECK(without >= 1);
  TD_CHECK_INT(run_again("--count-threads", plugin_path()), without);
}

/* A thread that fails a call, so that it has an error text, and ends after the plugin is closed. */
typedef struct visitor {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  plugin_fn work;
  int line, stage;
} visitor;

static void move_to(visitor *it, int stage) {
  pthread_mutex_lock(&it->mutex);
  it->stage = stage;
  pthread_cond_broadcast(&it->changed);
  pthread_mutex_unlock(&it->mutex);
}

static void wait_for(visitor *it, int stage) {
  pthread_mutex_lock(&it->mutex);
  while (it->stage < stage) pthread_cond_wait(&it->changed, &it->mutex);
  pthread_mutex_unlock(&it->mutex);
}

static void *visit(void *user) {
  visitor *it = user;
  it->line = it->work(NULL);
  move_to(it, 1);
  wait_for(it, 2);
  return NULL;
}

TD_TEST(a_thread_outlives_the_plugin) {
  for (int round = 0; round < 10; round++) {
    visitor it = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, -1, 0};
    pthread_t thread;
    void *plugin = open_library(plugin_path());
    TD_CHECK(plugin != NULL);
    it.work = find(plugin, "plugin_work");
    TD_CHECK(pthread_create(&thread, NULL, visit, &it) == 0);
    wait_for(&it, 1);
    TD_CHECK(dlclose(plugin) == 0);
    move_to(&it, 2);
    TD_CHECK(pthread_join(thread, NULL) == 0);
    TD_CHECK_INT(it.line, 0);
  }
}

TD_TEST(fork_and_exec) {
  TD_CHECK_INT(call("plugin_work", td_test_folder()), 0);
  TD_CHECK_INT(run_again("--work", td_test_folder()), 0);
  TD_CHECK_INT(call("plugin_work", NULL), 0); /* the parent goes on */
}

TD_TEST(exit_with_open_handles) { TD_CHECK_INT(run_again("--leave-open", td_test_folder()), 0); }

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "--count-threads") == 0)
    return open_library(argv[2]) != NULL ? count_threads() : 0;
  if (argc == 3 && strcmp(argv[1], "--work") == 0) return call("plugin_work", argv[2]) != 0;
  if (argc == 3 && strcmp(argv[1], "--leave-open") == 0)
    return call("plugin_leave_open", argv[2]) != 0;
  return td_test_run(argc, argv, NULL);
}
