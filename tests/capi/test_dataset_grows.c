/* Data sets of LeRobot that are written episode by episode: after each episode the set is whole on the disk. */
#include <unistd.h>

#include "td_dataset_files.h"
#include "td_mutations.h"
#include "td_tool.h"

static td_dataset_writer *open_writer(const char *path, td_dataset_save_flags flags, double fps) {
  td_dataset_save_options options = TD_DATASET_SAVE_OPTIONS_INIT;
  td_dataset_writer *writer = NULL;
  options.flags = flags;
  options.fps = fps;
  TD_DO(td_dataset_writer_open(path, TD_DATASET_KIND_LEROBOT, NULL, &options, &writer));
  return writer;
}

/* Steps of episode `number`, as a simulator has them. */
static td_tensordict *steps_of(int64_t number) {
  const int64_t steps = 3 + number % 4;
  td_tensordict *td = td_empty(TD_SIZES(steps));
  td_put(td, STATE, td_arange(TD_DTYPE_FLOAT32, (double)(10 * number), TD_SIZES(steps, 4)));
  td_put(td, TD_KEY("action"), td_arange(TD_DTYPE_FLOAT32, (double)-number, TD_SIZES(steps, 2)));
  td_put(td, TD_KEY("next", "reward"), td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(steps)));
  td_put(td, TD_KEY("count"), td_arange(TD_DTYPE_INT64, (double)number, TD_SIZES(steps)));
  char *const text = number % 3 == 2 ? "lift the cube" : "push the cube";
  char json[256] = "[";
  for (int64_t i = 0; i < steps; i++) {
    strcat(json, i ? ",\"" : "\"");
    strcat(json, text);
    strcat(json, "\"");
  }
  strcat(json, "]");
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("language_instruction"), json));
  return td;
}

static void take_problem(void *user, const td_tool_problem *problem) {
  *(int64_t *)user += !problem->is_note;
  if (!problem->is_note) printf("# %s: %s\n", problem->file, problem->text);
}

static int64_t problems_of(const char *path) {
  int64_t problems = 0;
  TD_DO(td_tool_verify(path, take_problem, &problems));
  return problems;
}

/* The set has these episodes, in this order. */
static void must_hold(const char *path, const int64_t *numbers, int64_t count) {
  td_dataset *set = open_set(path);
  int64_t episodes = 0, steps = 0, want_steps = 0;
  TD_DO(td_dataset_about(set, NULL, &episodes, &steps));
  TD_CHECK_INT(episodes, count);
  for (int64_t i = 0; i < count; i++) {
    td_tensordict *is = NULL, *want = steps_of(numbers[i]);
    TD_DO(td_dataset_episode(set, i, &is));
    td_tensor *index = td_take(is, TD_KEY("index"));
    const int64_t *rows = NULL;
    TD_DO(td_tensor_data(index, (void **)&rows));
    TD_CHECK_INT(rows[0], want_steps);
    td_tensor_free(index);
    static const char *const made[] = {"episode", "frame", "index", "timestamp", "task_index"};
    for (size_t name = 0; name < sizeof made / sizeof *made; name++)
      TD_DO(td_remove(is, &made[name], 1));
    TD_CHECK_EQUAL(is, want);
    want_steps += 3 + numbers[i] % 4;
    td_free(is);
    td_free(want);
  }
  TD_CHECK_INT(steps, want_steps);
  td_dataset_free(set);
  TD_CHECK_INT(problems_of(path), 0);
}

static void add(td_dataset_writer *writer, int64_t number) {
  td_tensordict *td = steps_of(number);
  TD_DO(td_dataset_writer_add(writer, td, NULL));
  td_free(td);
}

static const int64_t counted[] = {0, 1, 2, 3, 4, 5, 6, 7};

/* Also what a set that was saved at once says: rows, tasks and statistics. */
TD_TEST(episode_by_episode) {
  need_arrow();
  const char *place = kept(file_named("grows")), *whole = kept(file_named("whole"));
  td_dataset_writer *writer = open_writer(place, TD_DATASET_SAVE_RESUME, 10);
  for (int64_t i = 0; i < 4; i++) {
    add(writer, i);
    must_hold(place, counted, i + 1);
  }
  TD_DO(td_dataset_writer_close(writer));
  td_dataset_writer_free(writer);
  writer = open_writer(place, TD_DATASET_SAVE_RESUME | TD_DATASET_SAVE_DURABLE, 0);
  for (int64_t i = 4; i < 8; i++) add(writer, i);
  int64_t episodes = 0;
  TD_DO(td_dataset_writer_episodes(writer, &episodes));
  TD_CHECK_INT(episodes, 8);
  td_dataset_writer_free(writer);
  must_hold(place, counted, 8);
  td_dataset *set = open_set(place);
  td_dataset_save_options options = TD_DATASET_SAVE_OPTIONS_INIT;
  TD_DO(td_dataset_convert(set, TD_DATASET_KIND_LEROBOT, whole, &options));
  td_dataset *again = open_set(whole);
  td_tensordict *a = NULL, *b = NULL;
  TD_DO(td_dataset_flat(set, &a));
  TD_DO(td_dataset_flat(again, &b));
  TD_CHECK_EQUAL(a, b);
  td_free(a);
  td_free(b);
  TD_DO(td_dataset_metadata(set, &a));
  TD_DO(td_dataset_metadata(again, &b));
  static const char *const same[] = {"fps",          "tasks",       "features", "total_episodes",
                                     "total_frames", "total_tasks", "splits"};
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    char one[4096], other[4096];
    size_t length = 0;
    TD_DO(td_get_non_tensor_json(a, TD_KEY(same[i]), one, sizeof one, &length));
    TD_DO(td_get_non_tensor_json(b, TD_KEY(same[i]), other, sizeof other, &length));
    TD_CHECK_SAME_TEXT(one, other);
  }
  td_free(a);
  td_free(b);
  td_dataset_free(again);
  td_dataset_free(set);
}

static void refused(td_dataset_writer *writer, const td_tensordict *rows, const char *message) {
  TD_EXPECT(td_dataset_writer_add(writer, rows, NULL), TD_ERR_UNSUPPORTED);
  TD_CHECK_TEXT(td_last_error_message(), message);
}

/* Nothing changes on the disk, and the next episode comes behind those that are there. */
TD_TEST(another_episode_is_refused) {
  need_arrow();
  const char *place = kept(file_named("refuses"));
  td_dataset_writer *writer = open_writer(place, 0, 10);
  td_tensordict *other = steps_of(0);
  td_put(other, TD_KEY("action"), td_filled(TD_DTYPE_FLOAT64, 0, TD_SIZES(3, 2)));
  add(writer, 0);
  const uint64_t before = state_of(place, "");
  refused(writer, other, "the episodes before have other values there");
  TD_CHECK(state_of(place, "") == before);
  add(writer, 1);
  td_dataset_writer_free(writer);
  must_hold(place, counted, 2);
  static const char *const messages[] = {
      "the column \"action\" of the episode is {\"dtype\":\"float64\"", "\"count\" of the set is",
      "in the set it is missing", "fps is 10 in the set, and 20 of the episode"};
  for (int i = 0; i < 4; i++) {
    writer = open_writer(place, TD_DATASET_SAVE_RESUME, i == 3 ? 20 : 0);
    if (i > 0) {
      td_free(other);
      other = steps_of(2);
    }
    if (i == 1) TD_DO(td_remove(other, TD_KEY("count")));
    if (i == 2) td_put(other, TD_KEY("more"), td_filled(TD_DTYPE_FLOAT64, 0, TD_SIZES(5)));
    refused(writer, other, messages[i]);
    if (i < 3) add(writer, 2 + i);
    td_dataset_writer_free(writer);
    must_hold(place, counted, i < 3 ? 3 + i : 5);
  }
  td_free(other);
}

static void copy_file(const char *from, const char *root, const char *name) {
  size_t size = 0;
  char *bytes = td_read_file(td_path(from, name), &size);
  td_write_file(td_path(root, name), bytes, size);
  free(bytes);
}

/* A writer that was killed had put some of an episode's files in their places; info.json is the last. */
TD_TEST(killed_between_two_files) {
  need_arrow();
  static const char *const files[] = {"data/chunk-000/file-002.parquet", "meta/tasks.parquet",
                                      "meta/episodes/chunk-000/file-002.parquet",
                                      "meta/stats.json"};
  for (size_t done = 1; done <= sizeof files / sizeof *files; done++) {
    char names[3][32];
    snprintf(names[0], sizeof *names, "before%d", (int)done);
    snprintf(names[1], sizeof *names, "behind%d", (int)done);
    const char *place = kept(file_named(names[0])), *behind = kept(file_named(names[1]));
    td_dataset_writer *writer = open_writer(place, 0, 10);
    add(writer, 0);
    add(writer, 1);
    td_dataset_writer_free(writer);
    td_copy_tree(place, behind);
    writer = open_writer(behind, TD_DATASET_SAVE_RESUME, 0);
    add(writer, 5); /* with another task */
    td_dataset_writer_free(writer);
    for (size_t i = 0; i < done; i++) copy_file(behind, place, files[i]);
    td_dataset *set = open_set(place);
    int64_t episodes = 0, steps = 0;
    TD_DO(td_dataset_about(set, NULL, &episodes, &steps));
    TD_CHECK_INT(episodes, 2);
    TD_CHECK_INT(steps, 7);
    td_dataset_free(set);
    TD_CHECK(problems_of(place) > 0);
    writer = open_writer(place, TD_DATASET_SAVE_RESUME, 0);
    add(writer, 2);
    add(writer, 3);
    td_dataset_writer_free(writer);
    must_hold(place, counted, 4);
  }
}

/* Those that LeRobot wrote itself. */
TD_TEST(a_set_of_lerobot_grows) {
  const char *place = kept(file_named("arm"));
  td_copy_tree(data_of("lerobot/arm"), place);
  td_dataset *set = open_set(place);
  td_tensordict *rows = NULL, *is = NULL, *want = NULL;
  TD_DO(td_dataset_episode(set, 1, &rows));
  td_dataset_free(set);
  td_dataset_writer *writer = open_writer(place, TD_DATASET_SAVE_RESUME, 0);
  const td_status status = td_dataset_writer_add(writer, rows, NULL);
  if (status == TD_ERR_UNSUPPORTED && strstr(td_last_error_message(), "libspng") != NULL)
    td_test_skip("%s", td_last_error_message());
  TD_DO(status);
  TD_DO(td_dataset_writer_add(writer, rows, NULL));
  td_dataset_writer_free(writer);
  set = open_set(place);
  for (int64_t i = 3; i < 5; i++) {
    TD_DO(td_dataset_episode(set, i, &is));
    TD_DO(td_dataset_episode(set, 1, &want));
    static const char *const names[] = {"episode", "index"};
    for (size_t name = 0; name < 2; name++) {
      TD_DO(td_remove(is, &names[name], 1));
      TD_DO(td_remove(want, &names[name], 1));
    }
    TD_CHECK_EQUAL(is, want);
    td_free(is);
    td_free(want);
  }
  td_dataset_free(set);
  td_free(rows);
  TD_CHECK_INT(problems_of(place), 0);
}

TD_TEST(what_cannot_grow) {
  need_arrow();
  td_dataset_save_options options = TD_DATASET_SAVE_OPTIONS_INIT;
  td_dataset_writer *writer = NULL;
  options.flags = TD_DATASET_SAVE_RESUME;
  const char *place = kept(file_named("old"));
  td_copy_tree(data_of("lerobot/arm_v21"), place);
  TD_EXPECT(td_dataset_writer_open(place, TD_DATASET_KIND_LEROBOT, NULL, &options, &writer),
            TD_ERR_UNSUPPORTED);
  TD_CHECK_TEXT(td_last_error_message(), "cannot grow: v2.1");
  const char *named = kept(file_named("named"));
  td_copy_tree(data_of("lerobot/arm"), named);
  TD_CHECK(rename(td_path(named, "data/chunk-000/file-000.parquet"),
                  kept(td_path(named, "data/chunk-000/rows.parquet"))) == 0);
  TD_EXPECT(td_dataset_writer_open(named, TD_DATASET_KIND_LEROBOT, NULL, &options, &writer),
            TD_ERR_UNSUPPORTED);
  TD_CHECK_TEXT(td_last_error_message(), "cannot grow: its file \"data/chunk-000/rows.parquet\"");
  const char *bare = kept(file_named("bare"));
  td_copy_tree(data_of("lerobot/arm"), bare);
  unlink(td_path(bare, "meta/stats.json"));
  TD_DO(td_dataset_writer_open(bare, TD_DATASET_KIND_LEROBOT, NULL, &options, &writer));
  td_dataset_writer_free(writer); /* its episodes have statistics */
  static const double bad[] = {-1, 0.0 / 0.0, 1.0 / 0.0};
  for (size_t i = 0; i < 3; i++) {
    options.fps = bad[i];
    TD_EXPECT(td_dataset_writer_open(place, TD_DATASET_KIND_LEROBOT, NULL, &options, &writer),
              TD_ERR_INVALID_ARGUMENT);
  }
}

/* A rate that is told wins over that of the metadata; times that are others are lost by name. */
TD_TEST(steps_in_a_second) {
  need_arrow();
  const char *place = kept(file_named("rate"));
  td_tensordict *td = steps_of(0), *metadata = td_empty(TD_NO_SIZES);
  td_dataset_save_options options = TD_DATASET_SAVE_OPTIONS_INIT;
  TD_EXPECT(td_dataset_save(td, NULL, TD_DATASET_KIND_LEROBOT, place, &options),
            TD_ERR_UNSUPPORTED);
  TD_CHECK_TEXT(td_last_error_message(), "rows of an unknown number in a second");
  TD_DO(td_set_non_tensor_json(metadata, TD_KEY("fps"), "30"));
  options.fps = 12.5;
  TD_DO(td_dataset_save(td, metadata, TD_DATASET_KIND_LEROBOT, place, &options));
  td_dataset *set = open_set(place);
  td_tensordict *is = NULL;
  TD_DO(td_dataset_metadata(set, &is));
  check_json_of(is, "fps", "12.5");
  td_free(is);
  const char *other = kept(file_named("other"));
  options.fps = 25;
  TD_EXPECT(td_dataset_convert(set, TD_DATASET_KIND_LEROBOT, other, &options), TD_ERR_UNSUPPORTED);
  TD_CHECK_TEXT(td_last_error_message(), "\"timestamp\", which is not the frame divided by fps");
  td_dataset_free(set);
  td_free(metadata);
  td_free(td);
}

/* Each episode has a video of its own. */
TD_TEST(cameras_become_videos) {
  need_arrow();
  const char *place = kept(file_named("cameras"));
  td_dataset_save_options options = TD_DATASET_SAVE_OPTIONS_INIT;
  options.flags = TD_DATASET_SAVE_RESUME;
  options.fps = 10;
  options.video = TD_DATASET_VIDEO_H264;
  for (int64_t number = 0; number < 3; number++) {
    td_dataset_writer *writer = NULL;
    td_status status =
        td_dataset_writer_open(place, TD_DATASET_KIND_LEROBOT, NULL, &options, &writer);
    if (status == TD_ERR_UNSUPPORTED) td_test_skip("%s", td_last_error_message());
    TD_DO(status);
    for (int64_t more = 0; more < 2; more++) {
      td_tensordict *td = steps_of(2 * number + more);
      const int64_t steps = 3 + (2 * number + more) % 4;
      td_put(td, FRONT,
             td_filled(TD_DTYPE_UINT8, (double)(40 * number), TD_SIZES(steps, 16, 16, 3)));
      status = td_dataset_writer_add(writer, td, NULL);
      if (status == TD_ERR_UNSUPPORTED) td_test_skip("%s", td_last_error_message());
      TD_DO(status);
      td_free(td);
    }
    td_dataset_writer_free(writer);
  }
  td_dataset_options opened = TD_DATASET_OPTIONS_INIT;
  opened.flags = TD_DATASET_VIDEOS;
  td_dataset *set = NULL;
  TD_DO(td_dataset_open(place, &opened, &set));
  for (int64_t number = 0; number < 6; number++) {
    td_tensordict *td = NULL;
    TD_DO(td_dataset_episode(set, number, &td));
    td_tensor *front = td_take(td, FRONT);
    const uint8_t *pixels = NULL;
    TD_DO(td_tensor_data(front, (void **)&pixels));
    TD_CHECK(abs(pixels[0] - (int)(40 * (number / 2))) < 12);
    td_tensor_free(front);
    td_free(td);
  }
  td_dataset_free(set);
  TD_CHECK(td_exists(td_path(place, "videos/observation.images.front/chunk-000/file-005.mp4")));
  TD_CHECK_INT(problems_of(place), 0);
}
