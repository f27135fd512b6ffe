/* Data sets written episode by episode: after each episode the set is whole on the disk. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "td_files.h"
#include "td_values.h"

static const char *file_named(const char *name) {
  static char paths[8][512];
  static int next = 0;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof *paths, "%s", td_path(td_test_folder(), name));
  return path;
}

static td_dataset *cartpole(void) { return td_golden_set("minari/cartpole"); }

static td_dataset_writer *open_writer(const char *path, td_dataset_kind kind,
                                      const td_tensordict *metadata, td_dataset_save_flags flags) {
  td_dataset_save_options options = TD_DATASET_SAVE_OPTIONS_INIT;
  td_dataset_writer *writer = NULL;
  options.flags = flags;
  TD_DO(td_dataset_writer_open(path, kind, metadata, &options, &writer));
  return writer;
}

static void check_episodes(const td_dataset_writer *writer, int64_t want) {
  int64_t episodes = -1;
  TD_DO(td_dataset_writer_episodes(writer, &episodes));
  TD_CHECK_INT(episodes, want);
}

static void add(td_dataset_writer *writer, const td_dataset *from, int64_t episode, int about) {
  td_tensordict *rows = NULL, *metadata = NULL;
  TD_DO(td_dataset_episode(from, episode, &rows));
  TD_DO(td_dataset_episode_metadata(from, episode, &metadata));
  TD_DO(td_dataset_writer_add(writer, rows, about ? metadata : NULL));
  td_free(metadata);
  td_free(rows);
}

/* The first episodes of `from`, read anew. */
static void must_hold(const char *path, const td_dataset *from, td_dataset_kind kind,
                      int64_t count) {
  td_dataset *set = td_opened_set(path);
  td_dataset_kind found = 0;
  int64_t episodes = -1;
  TD_DO(td_dataset_about(set, &found, &episodes, NULL));
  TD_CHECK_INT(found, kind);
  TD_CHECK_INT(episodes, count);
  for (int64_t i = 0; i < count; i++) {
    td_tensordict *is = NULL, *want = NULL;
    int32_t same = 0;
    TD_DO(td_dataset_episode(set, i, &is));
    TD_DO(td_dataset_episode(from, i, &want));
    TD_DO(td_equal(is, want, &same));
    if (!same) td_test_fail(__FILE__, __LINE__, "episode %d: %s", (int)i, td_printed(is));
    td_free(is);
    td_free(want);
  }
  td_dataset_free(set);
}

static const char *text_of(const td_tensordict *td, const char *name) {
  static char texts[2][4000];
  static int next = 0;
  char *text = texts[next++ % 2];
  size_t length = 0;
  TD_DO(td_get_text(td, TD_KEY(name), text, sizeof *texts, &length));
  return text;
}

/* The writer stays open, and another one goes on. */
static void written(td_dataset_kind kind, const char *name, int about) {
  td_dataset *from = cartpole();
  td_tensordict *metadata = NULL;
  const char *place = file_named(name);
  const td_dataset_save_flags durable = about ? TD_DATASET_SAVE_DURABLE : 0;
  if (kind != TD_DATASET_KIND_TORCHRL) TD_DO(td_dataset_metadata(from, &metadata));
  td_dataset_writer *writer = open_writer(place, kind, metadata, TD_DATASET_SAVE_RESUME | durable);
  td_free(metadata);
  TD_CHECK(!td_exists(place));
  for (int64_t i = 0; i < 3; i++) {
    check_episodes(writer, i);
    add(writer, from, i, about);
    must_hold(place, from, kind, i + 1);
  }
  td_dataset_writer_free(writer);
  must_hold(place, from, kind, 3);
  const int files = td_count_entries(td_test_folder());
  writer = open_writer(place, kind, NULL, TD_DATASET_SAVE_RESUME | durable);
  check_episodes(writer, 3);
  add(writer, from, 3, about);
  add(writer, from, 4, about);
  must_hold(place, from, kind, 5);
  TD_DO(td_dataset_writer_close(writer));
  TD_DO(td_dataset_writer_close(writer));
  TD_CHECK_INT(td_count_entries(td_test_folder()), files);
  check_episodes(writer, 5);
  must_hold(place, from, kind, 5);
  td_tensordict *rows = NULL;
  TD_DO(td_dataset_episode(from, 0, &rows));
  TD_EXPECT(td_dataset_writer_add(writer, rows, NULL), TD_ERR_INVALID_ARGUMENT);
  TD_CHECK_SAME_TEXT(td_last_error_message(), "the writer of a data set is closed");
  td_free(rows);
  td_dataset_writer_free(writer);
  /* Without the flag, the first episode replaces the set. */
  writer = open_writer(place, kind, NULL, 0);
  check_episodes(writer, 0);
  must_hold(place, from, kind, 5);
  add(writer, from, 0, 0);
  must_hold(place, from, kind, 1);
  td_dataset_writer_free(writer);
  TD_CHECK_INT(td_count_entries(td_test_folder()), files);
  td_dataset_free(from);
}

TD_TEST(minari_by_episodes) { written(TD_DATASET_KIND_MINARI, "mine-v0", 1); }
TD_TEST(robomimic_by_episodes) { written(TD_DATASET_KIND_ROBOMIMIC, "demos.hdf5", 1); }
TD_TEST(d4rl_by_episodes) { written(TD_DATASET_KIND_D4RL, "rows.hdf5", 0); }
TD_TEST(torchrl_by_episodes) { written(TD_DATASET_KIND_TORCHRL, "buffer", 0); }

/* Metadata of the set and of its episodes are those that were given. */
TD_TEST(metadata_are_kept) {
  td_dataset *from = cartpole(), *set = NULL;
  td_tensordict *metadata = NULL, *is = NULL, *want = NULL;
  const char *place = file_named("kept-v0");
  TD_DO(td_dataset_metadata(from, &metadata));
  td_dataset_writer *writer = open_writer(place, TD_DATASET_KIND_MINARI, metadata, 0);
  add(writer, from, 0, 1);
  add(writer, from, 1, 1);
  td_dataset_writer_free(writer);
  set = td_opened_set(place);
  TD_DO(td_dataset_episode_metadata(set, 1, &is));
  TD_DO(td_dataset_episode_metadata(from, 1, &want));
  TD_CHECK_EQUAL(is, want);
  td_free(is);
  td_free(want);
  TD_DO(td_dataset_metadata(set, &is));
  const char *const members[] = {"observation_space", "env_spec", "algorithm_name"};
  for (int i = 0; i < 3; i++) {
    TD_CHECK_SAME_TEXT(text_of(is, members[i]), text_of(metadata, members[i]));
  }
}

static td_tensordict *steps_of(int64_t count, int ends) {
  td_tensordict *td = td_empty(TD_SIZES(count));
  td_put(td, TD_KEY("observation"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(count, 2)));
  td_put(td, TD_KEY("next", "observation"), td_arange(TD_DTYPE_FLOAT32, 2, TD_SIZES(count, 2)));
  td_put(td, TD_KEY("action"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(count)));
  td_put(td, TD_KEY("next", "reward"), td_filled(TD_DTYPE_FLOAT64, 1, TD_SIZES(count, 1)));
  td_tensor *done = td_filled(TD_DTYPE_BOOL, 0, TD_SIZES(count, 1));
  uint8_t *flags = NULL;
  TD_DO(td_tensor_data(done, (void **)&flags));
  flags[count - 1] = (uint8_t)ends;
  td_put(td, TD_KEY("next", "terminated"), done);
  return td;
}

static void refused(td_dataset_writer *writer, const td_tensordict *rows, td_status want,
                    const char *message) {
  TD_EXPECT(td_dataset_writer_add(writer, rows, NULL), want);
  if (strstr(td_last_error_message(), message) == NULL)
    td_test_fail(__FILE__, __LINE__, "%s", td_last_error_message());
}

/* An episode that cannot be held changes nothing, and the next one can. */
TD_TEST(what_cannot_be_held_is_refused) {
  td_dataset_free(cartpole());
  const char *place = file_named("refused-v0");
  td_dataset_writer *writer = open_writer(place, TD_DATASET_KIND_MINARI, NULL, 0);
  td_tensordict *rows = steps_of(3, 1), *lacks = steps_of(3, 1), *none = td_empty(TD_NO_SIZES);
  TD_DO(td_remove(lacks, TD_KEY("next", "reward")));
  refused(writer, lacks, TD_ERR_UNSUPPORTED, "rewards that are missing in episode 0");
  refused(writer, none, TD_ERR_SHAPE, "batch dimension");
  TD_CHECK(!td_exists(place));
  TD_DO(td_dataset_writer_add(writer, rows, NULL));
  refused(writer, lacks, TD_ERR_UNSUPPORTED, "rewards that are missing in episode 1");
  check_episodes(writer, 1);
  TD_DO(td_dataset_writer_add(writer, rows, NULL));
  check_episodes(writer, 2);
  td_dataset_writer_free(writer);
  td_dataset *set = td_opened_set(place);
  int64_t steps = 0;
  TD_DO(td_dataset_about(set, NULL, NULL, &steps));
  TD_CHECK_INT(steps, 6);
}

/* Spaces that are made of the values grow with them, also in another writer. */
TD_TEST(spaces_grow) {
  td_dataset_free(cartpole());
  const char *place = file_named("grown-v0");
  for (int64_t count = 3; count < 6; count++) {
    td_dataset_writer *writer =
        open_writer(place, TD_DATASET_KIND_MINARI, NULL, TD_DATASET_SAVE_RESUME);
    td_tensordict *rows = steps_of(count, 1), *metadata = NULL;
    char want[100];
    TD_DO(td_dataset_writer_add(writer, rows, NULL));
    td_dataset_writer_free(writer);
    td_dataset *set = td_opened_set(place);
    TD_DO(td_dataset_metadata(set, &metadata));
    const char *space = text_of(metadata, "action_space");
    snprintf(want, sizeof want, "\"start\": 0, \"n\": %d", (int)count);
    if (strstr(space, want) == NULL) td_test_fail(__FILE__, __LINE__, "%s", space);
    td_free(metadata);
    td_free(rows);
    td_dataset_free(set);
  }
}

/* Of D4RL's rows, only the last episode may just stop. */
TD_TEST(d4rl_has_no_episode_that_just_stops) {
  td_dataset_free(cartpole());
  const char *place = file_named("stops.hdf5");
  td_tensordict *stops = steps_of(2, 0), *ends = steps_of(3, 1), *found = NULL;
  for (int round = 0; round < 2; round++) {
    td_dataset_writer *writer =
        open_writer(place, TD_DATASET_KIND_D4RL, NULL, TD_DATASET_SAVE_RESUME);
    if (round == 0) {
      TD_DO(td_dataset_writer_add(writer, ends, NULL));
      TD_DO(td_dataset_writer_add(writer, stops, NULL));
    }
    refused(writer, ends, TD_ERR_UNSUPPORTED, "the end of episode 1, which is neither");
    check_episodes(writer, 2);
    td_dataset_writer_free(writer);
  }
  td_dataset_writer *writer = open_writer(place, TD_DATASET_KIND_D4RL, NULL,
                                          TD_DATASET_SAVE_RESUME | TD_DATASET_SAVE_LOSSY);
  TD_DO(td_dataset_writer_add(writer, ends, NULL));
  TD_DO(td_dataset_writer_close(writer));
  td_dataset_writer_free(writer);
  td_dataset *set = td_opened_set(place);
  int64_t lengths[3] = {0};
  size_t count = 0;
  TD_DO(td_dataset_lengths(set, lengths, 3, &count));
  TD_CHECK(count == 3 && lengths[0] == 3 && lengths[1] == 2 && lengths[2] == 3);
  TD_DO(td_dataset_episode(set, 1, &found));
  td_tensor *cut = td_take(found, TD_KEY("next", "truncated"));
  const uint8_t *flags = NULL;
  TD_DO(td_tensor_data(cut, (void **)&flags));
  TD_CHECK(flags[0] == 0 && flags[1] == 1);
}

TD_TEST(a_set_without_episodes) {
  td_dataset_free(cartpole());
  const char *place = file_named("none-v0");
  td_dataset_writer *writer = open_writer(place, TD_DATASET_KIND_MINARI, NULL, 0);
  TD_CHECK(!td_exists(place));
  TD_DO(td_dataset_writer_close(writer));
  td_dataset_writer_free(writer);
  td_dataset *set = td_opened_set(place);
  int64_t episodes = -1;
  TD_DO(td_dataset_about(set, NULL, &episodes, NULL));
  TD_CHECK_INT(episodes, 0);
}

TD_TEST(what_a_writer_needs) {
  td_dataset_free(cartpole());
  td_dataset_save_options options = TD_DATASET_SAVE_OPTIONS_INIT;
  td_dataset_writer *writer = TD_POISON;
  td_tensordict *rows = steps_of(3, 1);
  const char *place = file_named("needs");
  options.flags = TD_DATASET_SAVE_LEROBOT_V21;
  TD_EXPECT(td_dataset_writer_open(place, TD_DATASET_KIND_LEROBOT, NULL, &options, &writer),
            TD_ERR_UNSUPPORTED);
  TD_CHECK(writer == NULL);
  TD_CHECK(strstr(td_last_error_message(), "not written episode by episode") != NULL);
  TD_EXPECT(td_dataset_writer_open(place, TD_DATASET_KIND_ROS, NULL, NULL, &writer),
            TD_ERR_UNSUPPORTED);
  TD_EXPECT(td_dataset_writer_open(place, 0, NULL, NULL, &writer), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_dataset_writer_open("", TD_DATASET_KIND_MINARI, NULL, NULL, &writer), TD_ERR_IO);
  td_make_folder(place);
  TD_EXPECT(td_dataset_writer_open(place, TD_DATASET_KIND_MINARI, NULL, NULL, &writer), TD_ERR_IO);
  TD_EXPECT(td_dataset_writer_open(place, TD_DATASET_KIND_TORCHRL, NULL, NULL, &writer), TD_ERR_IO);
  options.flags = TD_DATASET_SAVE_RESUME;
  TD_EXPECT(td_dataset_save(rows, NULL, TD_DATASET_KIND_ROBOMIMIC, file_named("x.hdf5"), &options),
            TD_ERR_INVALID_ARGUMENT);
  td_write_text(file_named("text.hdf5"), "no HDF5");
  TD_EXPECT(td_dataset_writer_open(file_named("text.hdf5"), TD_DATASET_KIND_D4RL, NULL, &options,
                                   &writer),
            TD_ERR_FORMAT);
}

/* Another writer that took the place is noticed, and keeps it. */
TD_TEST(two_writers) {
  td_dataset *from = cartpole();
  const char *place = file_named("two.hdf5");
  const td_dataset_kind kind = TD_DATASET_KIND_ROBOMIMIC;
  td_dataset_writer *first = open_writer(place, kind, NULL, 0);
  add(first, from, 0, 0);
  add(first, from, 1, 0);
  td_dataset_writer *second = open_writer(place, kind, NULL, 0);
  add(second, from, 0, 0);
  td_tensordict *rows = NULL;
  TD_DO(td_dataset_episode(from, 2, &rows));
  refused(first, rows, TD_ERR_BUSY, "was replaced by another writer");
  add(second, from, 1, 0);
  must_hold(place, from, kind, 2);
  td_free(rows);
  td_dataset_writer_free(first);
  td_dataset_writer_free(second);
  must_hold(place, from, kind, 2);
}
