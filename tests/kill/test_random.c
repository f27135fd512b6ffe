/* A program that stores one state after the other is killed at random moments. After each, what is stored
 * is a state that was whole: the last one of which the program knows that it was stored, or the one that it
 * was about to store. TD_KILLS says how often in all; see run. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scenarios.h"
#include "td_files.h"
#include "td_random.h"
#include "td_values.h"

typedef struct told {
  volatile int64_t begun, done; /* states; written by the child */
} told;

static void store_until_killed(const scenario *it, const char *place, told *shared) {
  for (int64_t state = shared->done + 1;; state++) {
    td_tensordict *source = it->source(state);
    shared->begun = state;
    if (it->step(place, source, state) != TD_OK) {
      fprintf(stderr, "%s: %s\n", it->name, td_last_error_message());
      _exit(1);
    }
    shared->done = state;
    td_free(source);
  }
}

/* What look() gives for a state. */
static int64_t seen(const scenario *it, int64_t state) {
  return it->repeats == 0 ? state : state % it->repeats;
}

static td_status first(const scenario *it, const char *parent, char *place, size_t room,
                       int number) {
  char name[20];
  snprintf(name, sizeof name, "m%d", number);
  snprintf(place, room, "%s", td_path(parent, name));
  td_tensordict *source = it->source(0);
  const td_status status = it->step(place, source, 0);
  td_free(source);
  return status;
}

/* What is unfinished has a name that no key can have. */
static void check_no_leftovers(const char *parent, const char *place) {
  char command[3000], line[2000] = "";
  const char *name = strrchr(place, '/') + 1;
  snprintf(command, sizeof command, "find '%s' '%s/.%s.%%tmp'* -name '*%%tmp*' 2>/dev/null", place,
           parent, name);
  FILE *found = popen(command, "r");
  TD_CHECK(found != NULL);
  if (fgets(line, sizeof line, found) != NULL) td_test_fail(__FILE__, __LINE__, "left: %s", line);
  pclose(found);
}

static void kill_at_random(const scenario *it, int kills, told *shared) {
  char parent[1000], place[1000];
  td_random random = td_random_begin();
  snprintf(parent, sizeof parent, "%s", td_test_folder());
  for (int i = 0; i < kills; i++) {
    int ended = 0;
    /* What grows is never long, so that looking at it takes no time. */
    if (i == 0 || shared->done > 300) {
      TD_DO(first(it, parent, place, sizeof place, i));
      shared->begun = shared->done = 0;
    }
    fflush(stdout);
    const pid_t child = fork();
    TD_CHECK(child >= 0);
    if (child == 0) store_until_killed(it, place, shared);
    /* Some die in their first save, others after many. */
    const int64_t longest = td_random_one_in(&random, 2) ? 3000 : 30000;
    const struct timespec wait = {0, td_random_between(&random, 0, longest) * 1000};
    nanosleep(&wait, NULL);
    kill(child, SIGKILL);
    TD_CHECK(waitpid(child, &ended, 0) == child && WIFSIGNALED(ended));
    const int64_t state = it->look(place);
    if (state == seen(it, shared->begun))
      shared->done = shared->begun;
    else if (state != seen(it, shared->done))
      td_test_fail(__FILE__, __LINE__, "%s: state %lld, after %lld was stored and %lld begun",
                   it->name, (long long)state, (long long)shared->done, (long long)shared->begun);
  }
  /* Whoever stores next takes away what the others have left. */
  const int before = td_count_entries(parent);
  td_tensordict *source = it->source(shared->done + 1);
  TD_DO(it->step(place, source, shared->done + 1));
  td_free(source);
  TD_CHECK_INT(it->look(place), seen(it, shared->done + 1));
  check_no_leftovers(parent, place);
  printf("# %s: %d kills, %d files and folders, then %d\n", it->name, kills, before,
         td_count_entries(parent));
}

static void kill_often(const char *name) {
  const char *given = getenv("TD_KILLS");
  const int kills = given == NULL ? 60 : atoi(given);
  const scenario *it = scenarios;
  while (strcmp(it->name, name) != 0) it++;
  told *shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  TD_CHECK(shared != MAP_FAILED);
  kill_at_random(it, (kills + scenario_count - 1) / scenario_count, shared);
  munmap(shared, sizeof *shared);
}

TD_TEST(save) { kill_often("save"); }
TD_TEST(save_durably) { kill_often("save_durably"); }
TD_TEST(save_by_threads) { kill_often("save_by_threads"); }
TD_TEST(save_inplace) { kill_often("save_inplace"); }
TD_TEST(append) { kill_often("append"); }
TD_TEST(append_durably) { kill_often("append_durably"); }
TD_TEST(append_by_default) { kill_often("append_by_default"); }
TD_TEST(append_by_writer) { kill_often("append_by_writer"); }
TD_TEST(append_counted) { kill_often("append_counted"); }
TD_TEST(append_in_background) { kill_often("append_in_background"); }
TD_TEST(append_and_truncate) { kill_often("append_and_truncate"); }
TD_TEST(archive) { kill_often("archive"); }
TD_TEST(consolidated) { kill_often("consolidated"); }
TD_TEST(safetensors) { kill_often("safetensors"); }
TD_TEST(npz) { kill_often("npz"); }
TD_TEST(append_and_truncate_durably) { kill_often("append_and_truncate_durably"); }
TD_TEST(append_flat_durably) { kill_often("append_flat_durably"); }
TD_TEST(append_to_stack) { kill_often("append_to_stack"); }
TD_TEST(append_to_stack_durably) { kill_often("append_to_stack_durably"); }
TD_TEST(truncate_stack) { kill_often("truncate_stack"); }
TD_TEST(names_of_ours) { kill_often("names_of_ours"); }
TD_TEST(archive_durably) { kill_often("archive_durably"); }
TD_TEST(consolidated_durably) { kill_often("consolidated_durably"); }
TD_TEST(safetensors_durably) { kill_often("safetensors_durably"); }
#ifdef TD_TEST_HDF5
TD_TEST(hdf5) { kill_often("hdf5"); }
#endif
#ifdef TD_TEST_ARROW
TD_TEST(lerobot) { kill_often("lerobot"); }
#ifdef TD_TEST_VIDEO
TD_TEST(lerobot_video) { kill_often("lerobot_video"); }
#endif
TD_TEST(parquet) { kill_often("parquet"); }
TD_TEST(arrow) { kill_often("arrow"); }
#endif
TD_TEST(replay_save) { kill_often("replay_save"); }
TD_TEST(replay_write) { kill_often("replay_write"); }
