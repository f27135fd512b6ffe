/* A repair of a data set in its place is killed at each call to the system. Afterwards the set is whole, or a second repair makes
 * it so, with all that the first would have kept. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "td_faults.h"
#include "td_files.h"
#include "td_process.h"
#include "td_tool.h"
#include "td_values.h"

static void no_step(void *user, int32_t what, const td_tool_problem *step) {
  (void)user;
  (void)what;
  (void)step;
}

static void no_problem(void *user, const td_tool_problem *problem) {
  if (!problem->is_note) td_test_fail(__FILE__, __LINE__, "%s: %s", (char *)user, problem->text);
}

static td_tensordict *rows_of(const char *path) {
  td_dataset *set = NULL;
  td_tensordict *rows = NULL;
  TD_DO(td_dataset_open(path, NULL, &set));
  TD_DO(td_dataset_flat(set, &rows));
  td_dataset_free(set);
  return rows;
}

/* Of a process of its own: "7 /path" is a repair that is killed at the seventh call. */
TD_TEST(one_repair) {
  char *place = NULL;
  const long at = strtol(td_role(), &place, 10);
  char ended[800];
  snprintf(ended, sizeof ended, "%s.ended", ++place);
  td_tool_repair how = {.may_lose = 1};
  td_fault_begin((td_fault){TD_CALLS_ALL | TD_CALLS_CLEAN, at, TD_FAULT_KILL, 0});
  const td_status status = td_tool_repair_set(place, place, &how, no_step, NULL);
  td_fault_end();
  td_write_file(ended, "", 0);
  TD_CHECK_INT(status, TD_OK);
  TD_CHECK(how.is_written && how.left == 0);
}

/* Whether it came to its end. */
static int ended_whole(const char *place, long at) {
  char role[800], ended[800];
  snprintf(role, sizeof role, "%ld %s", at, place);
  snprintf(ended, sizeof ended, "%s.ended", place);
  const int passed = td_join(td_spawn("one_repair", role));
  const int is_whole = td_exists(ended);
  if (is_whole) TD_CHECK(passed && unlink(ended) == 0);
  return is_whole;
}

/* `damage` makes a damaged set at a path. */
static void repair_is_killed(const char *name, void (*damage)(const char *path)) {
  const char *every = getenv("TD_KILL_EVERY"), *last = getenv("TD_KILLS");
  const long step = every != NULL ? 4 * atol(every) : last != NULL ? 1 : 16;
  char parent[600], sound[700];
  td_tool_repair how = {.may_lose = 1};
  snprintf(parent, sizeof parent, "%s", td_path(td_test_folder(), "sound"));
  TD_CHECK(mkdir(parent, 0700) == 0);
  snprintf(sound, sizeof sound, "%s/%s", parent, name);
  damage(sound);
  TD_DO(td_tool_repair_set(sound, sound, &how, no_step, NULL));
  td_tensordict *want = rows_of(sound);
  const int entries = td_count_entries(parent);
  int kills = 0;
  for (long at = 1;; at += step, kills++) {
    char place[700];
    snprintf(parent, sizeof parent, "%s/%ld", td_test_folder(), at);
    TD_CHECK(mkdir(parent, 0700) == 0);
    snprintf(place, sizeof place, "%s/%s", parent, name);
    damage(place);
    const int is_whole = ended_whole(place, at);
    TD_DO(td_tool_repair_set(place, place, &how, no_step, NULL));
    TD_CHECK_INT(how.left, 0);
    if (is_whole) TD_CHECK_INT(how.found, 0);
    TD_DO(td_tool_verify(place, no_problem, place));
    td_tensordict *found = rows_of(place);
    TD_CHECK_EQUAL(found, want);
    td_free(found);
    if (how.is_written) TD_CHECK_INT(td_count_entries(parent), entries); /* nothing is left over */
    if (is_whole) break;
  }
  TD_CHECK(kills > 2);
  td_free(want);
}

/* A copy of a set with something else at the place of a text in one of its files. */
static void set_that_lies(const char *path, const char *name, const char *file, const char *text,
                          const char *instead) {
  char place[1024];
  size_t size = 0;
  td_copy_tree(td_path(td_golden("../datasets"), name), path);
  snprintf(place, sizeof place, "%s/%s", path, file);
  char *bytes = td_read_file(place, &size);
  char *at = memmem(bytes, size, text, strlen(text));
  TD_CHECK(at != NULL);
  memcpy(at, instead, strlen(instead));
  td_write_file(place, bytes, size);
  free(bytes);
}

static void minari_that_lies(const char *path) {
  set_that_lies(path, "minari/cartpole", "data/metadata.json", "\"total_steps\": 113",
                "\"total_steps\": 777");
}

static void lerobot_that_lies(const char *path) {
  set_that_lies(path, "lerobot/arm", "meta/info.json", "\"total_frames\": ", "\"total_frames\": 9");
}

static void bag_without_an_end(const char *path) {
  size_t size = 0;
  char *bytes = td_read_file(td_path(td_golden("../bags"), "robot_plain.mcap"), &size);
  td_write_file(path, bytes, size / 10 * 8);
  free(bytes);
}

TD_TEST(of_minari) {
  td_dataset_free(td_golden_set("minari/cartpole"));
  repair_is_killed("set", minari_that_lies);
}

TD_TEST(of_a_bag) { repair_is_killed("bag.mcap", bag_without_an_end); }

TD_TEST(of_lerobot) {
  td_dataset_free(td_golden_set("lerobot/arm"));
  repair_is_killed("set", lerobot_that_lies);
}
