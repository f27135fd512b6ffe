/* Files of data sets, changed at random: bytes, ends, values of JSON, links. Whatever they say, each call ends with a status or
 * with what can be read, and nothing is written. TD_MUTATIONS asks for more than the usual number for each set. HDF5's own
 * parser does not stand damaged files (SECURITY.md): their bytes are changed in processes of their own, which may end inside it
 * and nowhere else. What sound HDF5 files say is changed, too. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "td_arrow_files.h"
#include "td_mutations.h"
#include "td_tool.h"

static int rounds(void) {
  const char *asked = getenv("TD_MUTATIONS");
  return asked != NULL ? atoi(asked) : TD_TEST_SANITIZED ? 30 : 200;
}

static int has_arrow_here(void) {
  td_tensordict *td = td_empty(TD_NO_SIZES);
  const td_status status = td_file_save(td, file_named("probe.arrow"), NULL);
  td_free(td);
  return status == TD_OK;
}

static int says_no_memory; /* SQLite and HDF5 do when a length lies */

static void judge(const char *what, td_status status) {
  if (status == TD_OK || (says_no_memory && status == TD_ERR_OUT_OF_MEMORY)) return;
  static const td_status allowed[] = {TD_ERR_FORMAT,     TD_ERR_UNSUPPORTED, TD_ERR_KEY_NOT_FOUND,
                                      TD_ERR_KEY_EXISTS, TD_ERR_KEY_INVALID, TD_ERR_BUSY,
                                      TD_ERR_IO,         TD_ERR_SHAPE};
  int good = 0;
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) good |= status == allowed[i];
  const char *message = td_last_error_message();
  if (!good || *message == '\0' || strchr(message, '\n') != NULL)
    td_test_fail(__FILE__, __LINE__, "%s: status %d: %s", what, (int)status, message);
}

static void take_problem(void *user, const td_tool_problem *problem) {
  *(int64_t *)user += 1;
  TD_CHECK(*problem->text != '\0' && strchr(problem->text, '\n') == NULL);
}

static void take_step(void *user, int32_t what, const td_tool_problem *step) {
  take_problem(user, step);
  TD_CHECK(what >= 0 && what <= 3);
}

/* A dictionary that was read, with so many rows. */
static void read_all(const char *what, td_status status, td_tensordict **read, int64_t rows) {
  td_tensordict *td = *read;
  *read = NULL;
  judge(what, status);
  if (status != TD_OK) {
    TD_CHECK(td == NULL);
    return;
  }
  td_tensordict *copy = NULL;
  if (rows >= 0) TD_CHECK_BATCH(td, rows);
  TD_DO(td_clone(td, 0, &copy)); /* reads every value */
  td_free(copy);
  td_free(td);
}

/* Whether it was opened. */
static int look_at(const char *path) {
  td_dataset_options options = TD_DATASET_OPTIONS_INIT;
  td_dataset *set = NULL;
  td_tensordict *td = NULL;
  int64_t problems = 0, episodes = 0, steps = 0;
  td_dataset_kind kind;
  judge("kind", td_tool_kind(path, &kind));
  judge("verify", td_tool_verify(path, take_problem, &problems));
  td_tool_repair how = {.dry = 1};
  if (problems > 0) judge("repair", td_tool_repair_set(path, "x", &how, take_step, &problems));
  options.max_bytes = (uint64_t)1 << 26;
  options.flags = TD_DATASET_VIDEOS;
  td_status status = td_dataset_open(path, &options, &set);
  judge("open", status);
  if (status != TD_OK) return 0;
  read_all("metadata", td_dataset_metadata(set, &td), &td, -1);
  read_all("structure", td_dataset_structure(set, &td), &td, 0);
  status = td_dataset_about(set, NULL, &episodes, &steps);
  judge("about", status);
  if (status == TD_OK) {
    int64_t lengths[64];
    size_t count = 0;
    status = td_dataset_lengths(set, lengths, 64, &count);
    for (int64_t i = 0; status == TD_OK && i < episodes; i++) {
      read_all("episode", td_dataset_episode(set, i, &td), &td, lengths[i]);
      read_all("episode metadata", td_dataset_episode_metadata(set, i, &td), &td, -1);
    }
    read_all("flat", td_dataset_flat(set, &td), &td, steps);
    if (steps > 2) read_all("rows", td_dataset_rows(set, steps / 2, 2, &td), &td, 2);
  }
  td_dataset_free(set);
  return 1;
}

/* Something else in the place of a file. */
static void put_other(td_random *random, const char *path) {
  unlink(path);
  switch (td_random_between(random, 0, 3)) {
    case 0: TD_CHECK(symlink("/etc/passwd", path) == 0); return;
    case 1: TD_CHECK(symlink("/", path) == 0); return;
    case 2: td_make_folder(path); return;
    default: return; /* it is missing */
  }
}

static void mutate(const char *from, const char *name, int with_tables) {
  char root[1024], path[1400];
  set_files *files = calloc(1, sizeof *files);
  td_random random = td_random_begin();
  snprintf(root, sizeof root, "%s", file_named(name));
  td_copy_tree(from, root);
  list_files(root, "", files);
  TD_CHECK(files->count > 0);
  int opened = 0;
  for (int round = 0; round < rounds(); round++) {
    const char *file = files->names[td_random_between(&random, 0, files->count - 1)];
    if (!with_tables && (ends_with(file, ".parquet") || ends_with(file, ".arrow"))) continue;
    snprintf(path, sizeof path, "%s/%s", root, file);
    size_t size = 0;
    char *bytes = td_read_file(path, &size);
    const size_t room = size + 4096;
    char *changed = calloc(1, room);
    memcpy(changed, bytes, size);
    size_t now = size;
    if (td_random_one_in(&random, 16)) {
      put_other(&random, path);
    } else {
      const int is_json = strstr(file, ".json") != NULL;
      for (int64_t n = td_random_between(&random, 1, 2); n > 0; n--) {
        now = is_json && now > 0 && !td_random_one_in(&random, 5)
                  ? change_json(&random, changed, now, room)
                  : change_bytes(&random, changed, now, room);
      }
      td_write_file(path, changed, now);
    }
    const uint64_t before = state_of(root, "");
    opened += look_at(root);
    if (state_of(root, "") != before)
      td_test_fail(__FILE__, __LINE__, "round %d: something was written into %s", round, root);
    if (rmdir(path) != 0) unlink(path);
    td_write_file(path, bytes, size);
    free(changed);
    free(bytes);
  }
  (void)opened;
  if (with_tables || look_at(root)) TD_CHECK_INT(look_at(root), 1); /* it is as it was */
  free(files);
}

static const char *data_of(const char *name) { return td_golden(name); }

TD_TEST(folders_of_minari) { mutate(data_of("../datasets/minari/cartpole"), "cartpole", 0); }
TD_TEST(tables_of_minari) {
  mutate(data_of("../datasets/minari/pendulum"), "pendulum", has_arrow_here());
}
TD_TEST(sets_of_lerobot) {
  const int arrow = has_arrow_here();
  mutate(data_of("../datasets/lerobot/arm"), "arm", arrow);
  mutate(data_of("../datasets/lerobot/arm_v21"), "arm_v21", arrow);
  mutate(data_of("../datasets/lerobot/arm_video"), "arm_video", arrow);
  mutate(data_of("../datasets/lerobot/cams_v21"), "cams_v21", arrow);
}
TD_TEST(buffers_of_torchrl) {
  mutate(data_of("../torchrl/per_wrapped/folder"), "per_wrapped", 1);
  mutate(data_of("../torchrl/ndim2_partial/folder"), "ndim2_partial", 1);
  mutate(data_of("../torchrl/td_images/folder"), "td_images", 1);
}
TD_TEST(bags_in_folders) {
  mutate(data_of("../bags/runs"), "runs", 1);
  mutate(data_of("../bags/split"), "split", 1);
}

static void mutate_file(const char *name) {
  char from[1024], folder[1024];
  td_random random = td_random_begin();
  snprintf(from, sizeof from, "%s", td_path(data_of("../bags"), name));
  snprintf(folder, sizeof folder, "%s.folder", file_named(name));
  says_no_memory = ends_with(name, ".db3");
  td_make_folder(folder);
  char path[1400];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  size_t size = 0;
  char *bytes = td_read_file(from, &size), *changed = calloc(1, size + 4096);
  for (int round = 0; round < rounds(); round++) {
    memcpy(changed, bytes, size);
    size_t now = size;
    for (int64_t n = td_random_between(&random, 1, 3); n > 0; n--)
      now = change_bytes(&random, changed, now, size + 4096);
    td_write_file(path, changed, now);
    const uint64_t before = state_of(folder, "");
    look_at(path);
    TD_CHECK(state_of(folder, "") == before);
  }
  free(changed);
  free(bytes);
}

TD_TEST(bags_in_files) {
  mutate_file("robot.mcap");
  mutate_file("robot_lz4.mcap");
  mutate_file("robot_zstd.mcap");
  mutate_file("robot.db3");
}

/* Groups around a dataset take any sizes. */
static void any_batch(td_tensordict *td, const char *const *path, size_t path_len) {
  for (size_t length = 0; length < path_len; length++) {
    td_tensordict *group = NULL;
    td_entry_kind kind = TD_ENTRY_DICT;
    if (length > 0) TD_DO(td_get_kind(td, path, length, &kind));
    if (kind != TD_ENTRY_DICT) continue;
    if (length > 0) TD_DO(td_get_dict(td, path, length, &group));
    TD_DO(td_set_batch_size(group != NULL ? group : td, NULL, 0));
    td_free(group);
  }
}

/* Sound HDF5 files that lie: an entry less, other rows, other dtypes, other attributes. */
static void lie(const char *name) {
  td_random random = td_random_begin();
  td_file_options options = TD_FILE_OPTIONS_INIT;
  td_tensordict *all = NULL;
  char from[1024];
  snprintf(from, sizeof from, "%s", td_path(data_of("../datasets"), name));
  const td_status status = td_file_load(from, NULL, &all);
  if (status == TD_ERR_UNSUPPORTED) td_test_skip("%s", td_last_error_message());
  TD_DO(status);
  size_t length = 0;
  TD_DO(td_file_metadata(from, NULL, NULL, 0, &length));
  const size_t room = length + 4096;
  char *text = calloc(1, room + 1), *changed = calloc(1, room + 1);
  TD_DO(td_file_metadata(from, NULL, text, length + 1, &length));
  td_keys *keys = NULL;
  td_keys_options leaves = TD_KEYS_OPTIONS_INIT;
  leaves.include_nested = leaves.leaves_only = 1;
  TD_DO(td_keys_of(all, &leaves, &keys));
  for (int round = 0; round < rounds(); round++) {
    td_tensordict *td = NULL;
    TD_DO(td_clone(all, 1, &td));
    memset(changed, 0, room + 1);
    memcpy(changed, text, length);
    size_t now = length;
    for (int64_t n = td_random_between(&random, 1, 2); n > 0; n--) {
      const char *const *path;
      size_t path_len;
      TD_DO(td_keys_at(keys, (size_t)td_random_between(&random, 0, (int64_t)td_keys_len(keys) - 1),
                       &path, &path_len));
      td_tensor *made = NULL;
      const int64_t sizes[] = {td_random_between(&random, 0, 60), td_random_between(&random, 0, 4)};
      static const td_dtype dtypes[] = {TD_DTYPE_FLOAT32, TD_DTYPE_BOOL, TD_DTYPE_UINT8,
                                        TD_DTYPE_INT64};
      td_entry_kind kind = TD_ENTRY_NONE;
      switch (td_random_between(&random, 0, 3)) {
        case 0:
          TD_DO(td_get_kind(td, path, path_len, &kind));
          if (kind != TD_ENTRY_NONE) TD_DO(td_remove(td, path, path_len));
          break;
        case 1:
          TD_DO(td_tensor_zeros(sizes, (size_t)td_random_between(&random, 0, 2),
                                dtypes[td_random_between(&random, 0, 3)], TD_DEVICE_CPU, -1,
                                &made));
          any_batch(td, path, path_len);
          TD_DO(td_set(td, path, path_len, made));
          td_tensor_free(made);
          break;
        default: now = change_json(&random, changed, now, room); break;
      }
      changed[now] = '\0';
    }
    options.metadata = changed;
    if (td_file_save(td, file_named("lies.hdf5"), &options) == TD_OK) {
      look_at(file_named("lies.hdf5"));
      unlink(file_named("lies.hdf5"));
    }
    td_free(td);
  }
  td_keys_free(keys);
  td_free(all);
  free(changed);
  free(text);
}

TD_TEST(minari_that_lies) { lie("minari/attributes/data/main_data.hdf5"); }
TD_TEST(robomimic_that_lies) {
  lie("robomimic/low_dim.hdf5");
  lie("robomimic/raw.hdf5");
}
TD_TEST(d4rl_that_lies) {
  lie("d4rl/hop-medium-v2.hdf5");
  lie("d4rl/chunks.hdf5");
}

/* Where a process ended that was in HDF5, however it came there from. */
enum { INSIDE_HDF5 = 42 };

static void on_signal(int signal_number) {
  void *frames[128];
  const int count = backtrace(frames, 128);
  for (int i = 0; i < count; i++) {
    Dl_info about;
    if (dladdr(frames[i], &about) && about.dli_fname && strstr(about.dli_fname, "libhdf5"))
      _exit(INSIDE_HDF5);
  }
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

/* Bytes of an HDF5 file are changed, or its end is cut off. */
static void change_in_processes(const char *name) {
  char from[1024];
  const char *path = file_named("mutated.hdf5");
  td_random random = td_random_begin();
  snprintf(from, sizeof from, "%s", td_path(data_of("../datasets"), name));
  td_dataset *set = NULL;
  const td_status status = td_dataset_open(from, NULL, &set); /* loads the library once */
  td_dataset_free(set);
  if (status == TD_ERR_UNSUPPORTED) td_test_skip("%s", td_last_error_message());
  TD_DO(status);
  size_t size = 0;
  char *bytes = td_read_file(from, &size), *changed = calloc(1, size + 4096);
  int inside = 0, heaps = 0;
  void *frames[4];
  (void)backtrace(frames, 4); /* the first call needs memory, which a damaged heap lacks */
  const int all = getenv("TD_MUTATIONS") != NULL ? rounds() : rounds() / 5; /* a process is slow */
  for (int round = 0; round < all; round++) {
    memcpy(changed, bytes, size);
    size_t now = size;
    for (int64_t n = td_random_between(&random, 1, 3); n > 0; n--)
      now = change_bytes(&random, changed, now, size + 4096);
    td_write_file(path, changed, now);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
      static const int ends[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGPROF};
      for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) signal(ends[i], on_signal);
      const struct itimerval most = {.it_value = {.tv_sec = 10}}; /* of the processor's time */
      setitimer(ITIMER_PROF, &most, NULL);                        /* HDF5 may go round in circles */
      says_no_memory = 1;
      look_at(path);
      fflush(NULL);
      _exit(0);
    }
    int ended = 0;
    TD_CHECK(child > 0 && waitpid(child, &ended, 0) == child);
    /* Memory that HDF5 damaged may be found later, by whoever uses some; with ASan that is found at once. */
    const int heap = !TD_TEST_SANITIZED && WIFSIGNALED(ended) &&
                     (WTERMSIG(ended) == SIGABRT || WTERMSIG(ended) == SIGSEGV);
    heaps += heap;
    if (heap && heaps <= 1 + all / 500) continue;
    inside += WIFEXITED(ended) && WEXITSTATUS(ended) == INSIDE_HDF5;
    const int good =
        WIFEXITED(ended) && (WEXITSTATUS(ended) == 0 || WEXITSTATUS(ended) == INSIDE_HDF5);
    if (!good)
      td_test_fail(__FILE__, __LINE__, "%s, round %d: a process ended with %d", name, round, ended);
  }
  if (heaps > 0) printf("# %s: %d of %d found damaged memory\n", name, heaps, all);
  if (inside > 0) printf("# %s: %d of %d ended inside HDF5\n", name, inside, all);
  free(changed);
  free(bytes);
}

TD_TEST(bytes_of_minari) { change_in_processes("minari/attributes/data/main_data.hdf5"); }
TD_TEST(bytes_of_robomimic) {
  change_in_processes("robomimic/low_dim.hdf5");
  change_in_processes("robomimic/image.hdf5");
  change_in_processes("robomimic/raw.hdf5");
}
TD_TEST(bytes_of_d4rl) {
  change_in_processes("d4rl/hop-medium-v2.hdf5");
  change_in_processes("d4rl/chunks.hdf5");
}
