/* Data sets that are damaged, or contradict themselves, and what a repair makes of them. */
#include "td_dataset_files.h"
#include "td_tool.h"

static char steps[8192];

static void take_step(void *user, int32_t what, const td_tool_problem *step) {
  static const char *const kinds[] = {"problem", "mended", "lost", "left"};
  (void)user;
  const size_t used = strlen(steps);
  TD_CHECK(*step->text != '\0' && strchr(step->text, '\n') == NULL);
  snprintf(steps + used, sizeof steps - used, "%s %s: %s\n", kinds[what], step->file, step->text);
}

static void no_problem(void *user, const td_tool_problem *problem) {
  (void)user;
  if (!problem->is_note) td_test_fail(__FILE__, __LINE__, "%s: %s", problem->file, problem->text);
}

static td_tool_repair repaired(const char *path, const char *to) {
  td_tool_repair how = {.dry = 0};
  steps[0] = '\0';
  TD_DO(td_tool_repair_set(path, to, &how, take_step, NULL));
  return how;
}

/* Repaired into `to`, in which nothing is wrong; so many episodes and steps, with so many things lost. */
static void check_repair(const char *path, const char *to, int64_t episodes, int64_t rows,
                         int64_t lost) {
  td_tool_repair dry = {.dry = 1};
  steps[0] = '\0';
  TD_DO(td_tool_repair_set(path, to, &dry, take_step, NULL));
  if (strcmp(path, to) != 0) TD_CHECK(!td_exists(to));
  const td_tool_repair done = repaired(path, to);
  if (done.episodes != episodes || done.steps != rows || done.lost != lost || done.left != 0)
    td_test_fail(__FILE__, __LINE__, "%s: %d episodes, %d steps, %d lost, %d left:\n%s", path,
                 (int)done.episodes, (int)done.steps, (int)done.lost, (int)done.left, steps);
  TD_CHECK_INT(dry.episodes, episodes);
  TD_CHECK_INT(dry.is_written, 0);
  TD_CHECK_INT(done.is_written, 1);
  TD_DO(td_tool_verify(to, no_problem, NULL));
  td_tool_repair again = repaired(to, to);
  TD_CHECK_INT(again.found, 0);
  TD_CHECK_INT(again.is_written, 0);
}

static char *text_of_file(const char *path) {
  size_t size = 0;
  char *bytes = td_read_file(path, &size);
  char *text = calloc(1, size + 1);
  memcpy(text, bytes, size);
  free(bytes);
  return text;
}

/* A copy of a set, in one file of which a text is another. */
static const char *lying(const char *set, const char *name, const char *file, const char *from,
                         const char *to) {
  const char *copy = kept(file_named(name));
  td_copy_tree(data_of(set), copy);
  char path[1024], *text, *at;
  snprintf(path, sizeof path, "%s/%s", copy, file);
  text = text_of_file(path);
  at = strstr(text, from);
  if (at == NULL) td_test_fail(__FILE__, __LINE__, "no %s in %s", from, path);
  char *made = calloc(1, strlen(text) + strlen(to) + 1);
  snprintf(made, strlen(text) + strlen(to) + 1, "%.*s%s%s", (int)(at - text), text, to,
           at + strlen(from));
  td_write_file(path, made, strlen(made));
  free(made);
  free(text);
  return copy;
}

static void cut_file(const char *folder, const char *file, double share) {
  char path[1024];
  size_t size = 0;
  snprintf(path, sizeof path, "%s/%s", folder, file);
  char *bytes = td_read_file(path, &size);
  td_write_file(path, bytes, (size_t)((double)size * share));
  free(bytes);
}

static void need_hdf5(void) {
  td_dataset *set = NULL;
  const td_status status = td_dataset_open(data_of("d4rl/chunks.hdf5"), NULL, &set);
  td_dataset_free(set);
  if (status == TD_ERR_UNSUPPORTED) td_test_skip("%s", td_last_error_message());
}

static void check_same(const char *one, const char *other) {
  td_dataset *set = NULL;
  td_tensordict *was = NULL, *is = NULL;
  int32_t same = 0;
  TD_DO(td_dataset_open(one, NULL, &set));
  TD_DO(td_dataset_flat(set, &was));
  td_dataset_free(set);
  TD_DO(td_dataset_open(other, NULL, &set));
  TD_DO(td_dataset_flat(set, &is));
  td_dataset_free(set);
  TD_DO(td_equal(was, is, &same));
  TD_CHECK_INT(same, 1);
  td_free(was);
  td_free(is);
}

TD_TEST(minari_that_counts_wrong) {
  need_hdf5();
  const char *to = kept(file_named("counted"));
  const char *set = lying("minari/cartpole", "totals", "data/metadata.json", "\"total_steps\": 113",
                          "\"total_steps\": 9");
  check_repair(set, to, 5, 113, 0);
  TD_CHECK_TEXT(steps, "");
  check_same(data_of("minari/cartpole"), to);
  repaired(set, kept(file_named("again")));
  TD_CHECK_TEXT(steps, "total_steps is 9");
  TD_CHECK_TEXT(steps, "gets 1e999 for Infinity");
  check_repair(set, set, 5, 113, 0); /* in place */
  check_same(data_of("minari/cartpole"), set);
  set = lying("minari/cartpole", "space", "data/metadata.json", "\"action_space\": \"{",
              "\"action_space\": \"[");
  check_repair(set, kept(file_named("space_made")), 5, 113, 0);
  set = lying("minari/cartpole", "few", "data/metadata.json", "\"total_episodes\": 5",
              "\"episodes\": 5");
  check_repair(set, kept(file_named("few_made")), 5, 113, 0);
}

/* Changes the dictionary of an HDF5 file, and its attributes. */
static void change_hdf5(const char *from, const char *to, const char *const *path, size_t path_len,
                        int64_t rows, const char *name, const char *other) {
  td_tensordict *td = NULL;
  td_file_options options = TD_FILE_OPTIONS_INIT;
  size_t length = 0;
  TD_DO(td_file_load(from, NULL, &td));
  TD_DO(td_file_metadata(from, NULL, NULL, 0, &length));
  char *text = calloc(1, length + 1), *at;
  TD_DO(td_file_metadata(from, NULL, text, length + 1, &length));
  if (rows >= 0) {
    td_tensor *values = td_take(td, path, path_len), *part = NULL;
    const td_index_item first = TD_I_SLICE(0, rows);
    TD_DO(td_tensor_index(values, &first, 1, &part));
    for (size_t n = 0; n < path_len; n++) {
      td_tensordict *group = NULL;
      if (n > 0) TD_DO(td_get_dict(td, path, n, &group));
      TD_DO(td_set_batch_size(n > 0 ? group : td, NULL, 0));
      td_free(group);
    }
    TD_DO(td_set(td, path, path_len, part));
    td_tensor_free(values);
    td_tensor_free(part);
  }
  if (name != NULL) {
    at = strstr(text, name);
    TD_CHECK(at != NULL);
    memcpy(at, other, strlen(other));
  }
  options.metadata = text;
  TD_DO(td_file_save(td, to, &options));
  free(text);
  td_free(td);
}

TD_TEST(robomimic_that_was_cut_off) {
  need_hdf5();
  const char *from = data_of("robomimic/low_dim.hdf5"), *to = kept(file_named("made.hdf5"));
  const char *set = kept(file_named("short.hdf5"));
  td_dataset *was = NULL;
  int64_t lengths[8], all = 0;
  size_t count = 0;
  TD_DO(td_dataset_open(from, NULL, &was));
  TD_DO(td_dataset_lengths(was, lengths, 8, &count));
  td_dataset_free(was);
  for (size_t i = 0; i < count; i++) all += lengths[i];
  change_hdf5(from, set, TD_KEY("data", "demo_1", "rewards"), 2, NULL, NULL);
  check_repair(set, to, (int64_t)count, all - lengths[1] + 2, 0);
  change_hdf5(from, set, NULL, 0, -1, "num_samples", "num_simples");
  const char *attributes = kept(file_named("attributes.hdf5"));
  check_repair(set, attributes, (int64_t)count, all, 0);
  check_same(from, attributes);
}

/* The first rows of an episode, by its name in another set. */
static void check_begins(const td_dataset *was, const td_dataset *is, int64_t episode,
                         int64_t rows) {
  td_tensordict *about = NULL, *whole = NULL, *part = NULL, *begin = NULL;
  char name[64] = "", other[64] = "";
  size_t length = 0;
  int64_t episodes = 0, of = 0;
  TD_DO(td_dataset_about(was, NULL, &episodes, NULL));
  TD_DO(td_dataset_episode_metadata(is, episode, &about));
  if (td_get_text(about, TD_KEY("name"), name, sizeof name, &length) == TD_OK) {
    for (of = 0; of < episodes && strcmp(name, other) != 0; of++) {
      td_free(about);
      TD_DO(td_dataset_episode_metadata(was, of, &about));
      TD_DO(td_get_text(about, TD_KEY("name"), other, sizeof other, &length));
    }
    of -= 1;
    TD_CHECK_SAME_TEXT(name, other);
  } else {
    of = episode;
  }
  td_free(about);
  TD_DO(td_dataset_episode(was, of, &whole));
  TD_DO(td_dataset_episode(is, episode, &part));
  TD_DO(td_index(whole, TD_AT(TD_I_SLICE(0, rows)), &begin));
  TD_DO(td_remove(part, TD_KEY("episode")));
  td_keys *keys = NULL; /* some may be lost */
  td_keys_options leaves = TD_KEYS_OPTIONS_INIT;
  leaves.include_nested = leaves.leaves_only = 1;
  TD_DO(td_keys_of(part, &leaves, &keys));
  TD_CHECK(td_keys_len(keys) >= 2);
  for (size_t i = 0; i < td_keys_len(keys); i++) {
    const char *const *path;
    size_t path_len;
    int32_t same = 0;
    TD_DO(td_keys_at(keys, i, &path, &path_len));
    td_tensor *one = td_take(begin, path, path_len), *found = td_take(part, path, path_len);
    TD_DO(td_tensor_equal(one, found, &same));
    if (!same) td_test_fail(__FILE__, __LINE__, "%s differs", path[path_len - 1]);
    td_tensor_free(one);
    td_tensor_free(found);
  }
  td_keys_free(keys);
  td_free(whole);
  td_free(part);
  td_free(begin);
}

/* A file that was cut off anywhere: what is left is values that were there, and nothing is wrong with it. */
static void cut_anywhere(const char *name, int64_t least_saved) {
  size_t size = 0;
  int64_t saved = 0, most = 0;
  const char *from = kept(data_of(name)), *cut = kept(file_named("cut.hdf5"));
  const char *to = kept(file_named("saved.hdf5"));
  char *bytes = td_read_file(from, &size);
  td_dataset *was = NULL, *is = NULL;
  TD_DO(td_dataset_open(from, NULL, &was));
  TD_DO(td_dataset_about(was, NULL, NULL, &most));
  for (size_t length = size - 1; length > 200; length -= length < size / 37 ? length : size / 37) {
    td_write_file(cut, bytes, length);
    td_tool_repair how = {.dry = 0};
    steps[0] = '\0';
    const td_status status = td_tool_repair_set(cut, to, &how, take_step, NULL);
    if (status != TD_OK) {
      TD_CHECK(status == TD_ERR_FORMAT || status == TD_ERR_UNSUPPORTED ||
               status == TD_ERR_KEY_NOT_FOUND);
      continue;
    }
    TD_CHECK_TEXT(steps, "bytes of the file are missing");
    TD_CHECK(how.lost > 0 && how.steps <= most);
    TD_DO(td_dataset_open(to, NULL, &is));
    int64_t lengths[64];
    size_t count = 0;
    TD_DO(td_dataset_lengths(is, lengths, 64, &count));
    TD_CHECK_INT(count, how.episodes);
    for (size_t i = 0; i < count; i++) {
      if (strncmp(name, "d4rl", 4) != 0 || i + 1 < count)
        check_begins(was, is, (int64_t)i, lengths[i]);
    }
    td_dataset_free(is);
    saved += how.steps;
  }
  TD_CHECK(saved >= least_saved);
  td_dataset_free(was);
  free(bytes);
}

/* HDF5 before 1.14 does not open such files. */
static void need_hdf5_for_cuts(void) {
  size_t size = 0;
  const char *cut = kept(file_named("probe.hdf5")), *to = kept(file_named("probed.hdf5"));
  char *bytes = td_read_file(data_of("d4rl/hop-medium-v2.hdf5"), &size);
  td_tool_repair how = {.dry = 1};
  td_write_file(cut, bytes, size - 1);
  free(bytes);
  if (td_tool_repair_set(cut, to, &how, take_step, NULL) == TD_OK) return;
  TD_CHECK_TEXT(td_last_error_message(), "no data set of a known kind");
  cut_anywhere("robomimic/low_dim.hdf5", 0);
  td_test_skip("HDF5 1.14 opens files that were cut off; this one is older");
}

TD_TEST(hdf5_that_was_cut_off) {
  need_hdf5();
  need_hdf5_for_cuts();
  cut_anywhere("robomimic/low_dim.hdf5", 18);
  cut_anywhere("robomimic/image.hdf5", 7);
  cut_anywhere("d4rl/hop-medium-v2.hdf5", 200);
  const char *set = kept(file_named("cartpole")), *to = kept(file_named("cartpole-v0"));
  td_copy_tree(data_of("minari/cartpole"), set);
  cut_file(set, "data/main_data.hdf5", 0.99);
  td_tool_repair how = repaired(set, to);
  TD_CHECK_TEXT(steps, "lost data/main_data.hdf5: the last ");
  TD_CHECK(how.is_written && how.episodes >= 1 && how.left == 0);
  TD_DO(td_tool_verify(to, no_problem, NULL));
  TD_EXPECT(td_tool_repair_set(set, set, &how, take_step, NULL), TD_ERR_FORMAT);
  TD_CHECK_TEXT(td_last_error_message(), "would be gone");
}

/* HDF5 refuses a file whose writer has not closed it. */
TD_TEST(hdf5_whose_writer_was_killed) {
  need_hdf5();
  const char *from = kept(data_of("robomimic/killed.hdf5")), *to = kept(file_named("mended.hdf5"));
  td_dataset *set = NULL;
  td_tensordict *rows = NULL;
  TD_EXPECT(td_dataset_open(from, NULL, &set), TD_ERR_FORMAT);
  check_repair(from, to, 2, 7, 0);
  repaired(from, kept(file_named("again.hdf5")));
  TD_CHECK_TEXT(steps, "problem : cannot open it as an HDF5 file");
  TD_CHECK_TEXT(steps, "mended : its head says that it is open for writing");
  TD_DO(td_dataset_open(to, NULL, &set));
  TD_DO(td_dataset_flat(set, &rows));
  td_tensor *state = td_take(rows, STATE);
  TD_CHECK_VALUES(state, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 100, 101, 102, 103, 104, 105, 106,
                  107, 108);
  td_tensor_free(state);
  td_free(rows);
  td_dataset_free(set);
}

/* Rows are those that all datasets have which D4RL needs. */
TD_TEST(d4rl_that_is_uneven) {
  need_hdf5();
  const char *from = data_of("d4rl/hop-medium-v2.hdf5"), *set = kept(file_named("uneven.hdf5"));
  const char *to = kept(file_named("even.hdf5"));
  change_hdf5(from, set, TD_KEY("actions"), 12, NULL, NULL);
  td_tool_repair how = repaired(set, to);
  TD_CHECK_INT(how.steps, 12);
  TD_CHECK_INT(how.left, 0);
  TD_CHECK_TEXT(steps, "lost : the rows of \"/\" from 12 on, of 25");
  td_dataset *was = NULL, *is = NULL;
  td_tensordict *first = NULL, *found = NULL;
  TD_DO(td_dataset_open(data_of("d4rl/hop-medium-v2.hdf5"), NULL, &was));
  TD_DO(td_dataset_open(to, NULL, &is));
  TD_DO(td_dataset_rows(was, 0, 12, &first));
  TD_DO(td_dataset_flat(is, &found));
  td_tensor *one = td_take(first, TD_KEY("action")), *other = td_take(found, TD_KEY("action"));
  int32_t same = 0;
  TD_DO(td_tensor_equal(one, other, &same));
  TD_CHECK_INT(same, 1);
  td_tensor_free(one);
  td_tensor_free(other);
  td_free(first);
  td_free(found);
  td_dataset_free(was);
  td_dataset_free(is);
}

TD_TEST(bags_without_an_end) {
  char from[1024];
  snprintf(from, sizeof from, "%s", td_path(td_golden("../bags"), "robot_plain.mcap"));
  const char *cut = kept(file_named("cut.mcap"));
  size_t size = 0;
  char *bytes = td_read_file(from, &size);
  td_tool_repair how = {.dry = 0};
  for (size_t length = 64; length < size; length += 1 + size / 97) {
    const char *to = file_named("whole.mcap");
    td_write_file(cut, bytes, length);
    steps[0] = '\0';
    const td_status status = td_tool_repair_set(cut, to, &how, take_step, NULL);
    if (status != TD_OK) { /* nothing to make rows of was recorded yet */
      TD_CHECK(length < size / 2);
      continue;
    }
    td_dataset *one = NULL, *other = NULL;
    int64_t before = 0, after = 0;
    if (td_dataset_open(cut, NULL, &one) == TD_OK) {
      TD_DO(td_dataset_open(to, NULL, &other));
      TD_DO(td_dataset_about(one, NULL, NULL, &before));
      TD_DO(td_dataset_about(other, NULL, NULL, &after));
      TD_CHECK(after >= before); /* also of a chunk that is cut */
    }
    td_dataset_free(one);
    td_dataset_free(other);
  }
  free(bytes);
  how = repaired(from, from);
  TD_CHECK_INT(how.found, 0);
  TD_EXPECT(
      td_tool_repair_set(td_path(td_golden("../bags"), "robot.db3"), "x", &how, take_step, NULL),
      TD_ERR_UNSUPPORTED);
}

TD_TEST(lerobot_that_counts_wrong) {
  need_arrow();
  static const struct {
    const char *file, *from, *to;
  } lies[] = {{"meta/info.json", "\"total_episodes\": 3", "\"total_episodes\": 4"},
              {"meta/info.json", "\"total_frames\": 14", "\"total_frames\": 12"},
              {"meta/stats.json", "\"count\": [", "\"count\": [Infinity, "}};
  for (size_t i = 0; i < 3; i++) {
    char name[32], made[32];
    snprintf(name, sizeof name, "lie%zu", i);
    snprintf(made, sizeof made, "made%zu", i);
    const char *to = kept(file_named(made));
    check_repair(lying("lerobot/arm", name, lies[i].file, lies[i].from, lies[i].to), to, 3, 14, 0);
    td_tensordict *td = flat_of(to);
    check_arm(td);
    td_free(td);
  }
  const char *set =
      lying("lerobot/arm_v21", "v21", "meta/episodes.jsonl", "\"length\": 3", "\"length\": 30");
  check_repair(set, set, 3, 14, 0);
  check_same(data_of("lerobot/arm_v21"), set);
}

TD_TEST(lerobot_without_its_lists) {
  need_arrow();
  static const char *const files[] = {"meta/tasks.parquet", "meta/stats.json",
                                      "meta/episodes/chunk-000/file-000.parquet"};
  for (size_t i = 0; i < 3; i++) {
    char name[32], path[1024];
    snprintf(name, sizeof name, "without%zu", i);
    const char *set = kept(file_named(name));
    td_copy_tree(data_of("lerobot/arm"), set);
    snprintf(path, sizeof path, "%s/%s", set, files[i]);
    TD_CHECK(remove(path) == 0);
    if (i == 1) { /* a note alone: a set may lack it */
      TD_CHECK_INT(repaired(set, set).found, 0);
      continue;
    }
    check_repair(set, set, 3, 14, 0);
    td_tensordict *td = flat_of(set);
    check_arm(td);
    td_free(td);
  }
}

TD_TEST(parquet_without_a_footer) {
  need_arrow();
  const char *set = kept(file_named("footer")), *table = "data/chunk-000/file-000.parquet";
  td_copy_tree(data_of("lerobot/arm"), set);
  td_dataset *was = open_set(data_of("lerobot/arm"));
  int64_t lengths[64], rows = 0;
  size_t count = 0;
  TD_DO(td_dataset_lengths(was, lengths, 64, &count));
  td_dataset_free(was);
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", set, table);
  size_t size = 0;
  char *bytes = td_read_file(path, &size);
  /* The row groups alone, as a writer leaves them that was killed: the length of the footer stands before the last mark. */
  uint32_t footer = 0;
  memcpy(&footer, bytes + size - 8, 4);
  const size_t body = size - 8 - footer;
  td_write_file(path, bytes, body);
  for (size_t i = 0; i < count; i++) rows += lengths[i];
  const char *to = kept(file_named("footer_made"));
  check_repair(set, to, (int64_t)count, rows, 0);
  check_same(data_of("lerobot/arm"), to);
  /* Cut anywhere: the episodes before are whole, or nothing is written. */
  int64_t most = 0;
  for (size_t length = 4; length < body; length += 1 + body / 53) {
    td_tool_repair how = {.dry = 1};
    td_write_file(path, bytes, length);
    steps[0] = '\0';
    const td_status status = td_tool_repair_set(set, "x", &how, take_step, NULL);
    if (status != TD_OK) {
      TD_CHECK_INT(status, TD_ERR_FORMAT);
      continue;
    }
    TD_CHECK(how.episodes >= most && how.episodes <= (int64_t)count);
    most = how.episodes;
  }
  free(bytes);
}

TD_TEST(what_is_lost_stays_where_it_is) {
  need_arrow();
  const char *set = kept(file_named("lost"));
  td_copy_tree(data_of("lerobot/arm_v21"), set);
  cut_file(set, "data/chunk-000/episode_000001.parquet", 0.05);
  td_tool_repair how = {.dry = 0};
  steps[0] = '\0';
  TD_EXPECT(td_tool_repair_set(set, set, &how, take_step, NULL), TD_ERR_FORMAT);
  TD_CHECK_TEXT(td_last_error_message(), "would be gone");
  TD_CHECK_TEXT(steps, "lost data/chunk-000/episode_000001.parquet");
  how.may_lose = 1;
  TD_DO(td_tool_repair_set(set, set, &how, take_step, NULL));
  TD_CHECK_INT(how.episodes, 2);
  TD_CHECK_INT(how.left, 0);
  TD_DO(td_tool_verify(set, no_problem, NULL));
}

TD_TEST(what_cannot_be_repaired) {
  td_tool_repair how = {.dry = 0};
  TD_EXPECT(td_tool_repair_set(file_named("missing"), "x", &how, take_step, NULL), TD_ERR_IO);
  TD_EXPECT(td_tool_repair_set(td_golden("basic"), "x", &how, take_step, NULL), TD_ERR_UNSUPPORTED);
}
