/* Data sets of LeRobot that are written: there and back, of other kinds, and what cannot be held. */
#include "td_dataset_files.h"

static void convert(const char *from, const char *to, td_dataset_save_flags flags) {
  td_dataset *set = open_set(from);
  td_dataset_save_options options = TD_DATASET_SAVE_OPTIONS_INIT;
  options.flags = flags;
  const td_status status = td_dataset_convert(set, TD_DATASET_KIND_LEROBOT, to, &options);
  td_dataset_free(set);
  if (status == TD_ERR_UNSUPPORTED && strstr(td_last_error_message(), "libspng") != NULL)
    td_test_skip("%s", td_last_error_message());
  TD_CHECK_INT(status, TD_OK);
}

TD_TEST(lerobot_there_and_back) {
  const char *copy = kept(file_named("arm"));
  convert(data_of("lerobot/arm"), copy, 0);
  td_tensordict *was = flat_of(data_of("lerobot/arm")), *is = flat_of(copy);
  check_arm(is);
  TD_CHECK_EQUAL(was, is);
  td_free(is);
  td_dataset *set = open_set(copy);
  char text[8192];
  size_t length = 0;
  TD_DO(td_dataset_metadata(set, &is));
  check_json_of(is, "fps", "10");
  TD_DO(td_get_non_tensor_json(is, TD_KEY("features"), text, sizeof text, &length));
  TD_CHECK_TEXT(text,
                "\"observation.state\":{\"dtype\":\"float32\",\"shape\":[4],\"names\":[\"a\","
                "\"b\",\"c\",\"d\"]}");
  TD_DO(td_get_non_tensor_json(is, TD_KEY("stats"), text, sizeof text, &length));
  TD_CHECK_TEXT(text, "\"next.done\":{\"min\":[false],\"max\":[true],\"mean\":[0.2142857142857142");
  TD_CHECK_TEXT(text,
                "\"index\":{\"min\":[0],\"max\":[13],\"mean\":[6.5],\"std\":[4.0311288741492");
  TD_CHECK_TEXT(text,
                "\"observation.images.front\":{\"min\":[[[0.0]],[[0.0]],[[0.0392156862745098");
  td_free(is);
  td_dataset_free(set);
  convert(copy, copy, 0); /* replaces it */
  td_free(flat_of(copy));
}

TD_TEST(version_3_becomes_2) {
  const char *older = kept(file_named("older")), *newer = kept(file_named("newer"));
  convert(data_of("lerobot/arm"), older, TD_DATASET_SAVE_LEROBOT_V21);
  td_tensordict *td = flat_of(older);
  check_arm(td);
  td_free(td);
  td_dataset *set = open_set(older);
  char text[16];
  size_t length = 0;
  TD_DO(td_dataset_version(set, text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "v2.1");
  TD_DO(td_dataset_metadata(set, &td));
  check_json_of(td, "total_chunks", "1");
  check_json_of(td, "total_videos", "0");
  td_entry_kind kind;
  TD_DO(td_get_kind(td, TD_KEY("data_files_size_in_mb"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
  td_free(td);
  td_dataset_free(set);
  TD_CHECK(td_exists(td_path(older, "data/chunk-000/episode_000002.parquet")));
  TD_CHECK(td_exists(td_path(older, "meta/episodes_stats.jsonl")));
  TD_CHECK(!td_exists(td_path(older, "meta/episodes")));
  convert(older, newer, 0); /* and back */
  td = flat_of(newer);
  check_arm(td);
  td_free(td);
  TD_CHECK(td_exists(td_path(newer, "meta/episodes/chunk-000/file-000.parquet")));
  /* Videos: one of an episode alone goes with it, one of several is an error. */
  convert(data_of("lerobot/cams_v21"), older, TD_DATASET_SAVE_LEROBOT_V21);
  TD_CHECK(td_exists(older));
  set = open_set(data_of("lerobot/arm_video"));
  td_dataset_save_options options = TD_DATASET_SAVE_OPTIONS_INIT;
  options.flags = TD_DATASET_SAVE_LEROBOT_V21;
  TD_EXPECT(td_dataset_convert(set, TD_DATASET_KIND_LEROBOT, newer, &options), TD_ERR_UNSUPPORTED);
  TD_CHECK_TEXT(td_last_error_message(), "videos are not cut");
  td_dataset_free(set);
}

TD_TEST(minari_as_lerobot) {
  const char *to = kept(file_named("mixed"));
  td_dataset *set = open_set(data_of("minari/pendulum"));
  td_dataset_save_options options = TD_DATASET_SAVE_OPTIONS_INIT;
  TD_EXPECT(td_dataset_convert(set, TD_DATASET_KIND_LEROBOT, to, &options), TD_ERR_UNSUPPORTED);
  TD_CHECK_TEXT(td_last_error_message(), "fps");
  TD_CHECK_TEXT(td_last_error_message(), "the metadata of episodes");
  TD_CHECK(!td_exists(to));
  td_dataset_free(set);
  convert(data_of("minari/pendulum"), to, TD_DATASET_SAVE_LOSSY);
  td_tensordict *was = flat_of(data_of("minari/pendulum")), *is = flat_of(to);
  static const char *const more[] = {"frame", "index", "timestamp", "task_index",
                                     "language_instruction"};
  for (size_t i = 0; i < 5; i++) TD_DO(td_remove(is, TD_KEY(more[i])));
  TD_CHECK_EQUAL(was, is);
}

TD_TEST(times_and_numbers_of_tasks_suffice) {
  const char *to = kept(file_named("timed"));
  td_tensordict *rows = flat_of(data_of("lerobot/arm")), *is = NULL;
  TD_DO(td_dataset_save(rows, NULL, TD_DATASET_KIND_LEROBOT, to, NULL));
  td_dataset *set = open_set(to);
  TD_DO(td_dataset_metadata(set, &is));
  check_json_of(is, "fps", "10");
  check_json_of(is, "tasks", "[\"push the cube\",\"lift the cube\"]");
  td_dataset_free(set);
  TD_DO(td_remove(rows, TD_KEY("language_instruction")));
  TD_DO(td_dataset_save(rows, NULL, TD_DATASET_KIND_LEROBOT, to, NULL));
  set = open_set(to);
  TD_DO(td_dataset_metadata(set, &is));
  check_json_of(is, "tasks", "[\"task 0\",\"task 1\"]");
  td_dataset_free(set);
  is = flat_of(to);
  TD_DO(td_remove(is, TD_KEY("language_instruction")));
  TD_CHECK_EQUAL(rows, is);
}

/* Numbers of each dtype that its tables can have, in shapes of up to five dimensions. */
TD_TEST(each_dtype_comes_back) {
  static const td_dtype dtypes[] = {TD_DTYPE_FLOAT16, TD_DTYPE_FLOAT32, TD_DTYPE_FLOAT64,
                                    TD_DTYPE_BOOL,    TD_DTYPE_UINT8,   TD_DTYPE_INT8,
                                    TD_DTYPE_INT16,   TD_DTYPE_INT32,   TD_DTYPE_INT64};
  static const int64_t shapes[][6] = {
      {4}, {4, 1}, {4, 3}, {4, 2, 3}, {4, 2, 1, 2}, {4, 1, 2, 1, 2}, {4, 2, 1, 1, 2, 1}};
  need_arrow();
  td_tensordict *td = td_empty(TD_SIZES(4)), *about = td_empty(TD_NO_SIZES), *is = NULL;
  char name[16];
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
    for (size_t dims = 1; dims <= 7; dims++) {
      const size_t length = dims < 3 ? dims : dims - 1; /* two of them have one dimension */
      snprintf(name, sizeof name, "x%zu %zu", i, dims);
      td_tensor *values = td_arange(TD_DTYPE_FLOAT32, 0, shapes[dims - 1], length), *made = NULL;
      TD_DO(td_tensor_to(values, dtypes[i], TD_DEVICE_CPU, -1, &made));
      td_tensor_free(values);
      td_put(td, TD_KEY(name), made);
    }
  }
  TD_DO(td_set_non_tensor_json(about, TD_KEY("fps"), "50"));
  td_dataset_save_options options = TD_DATASET_SAVE_OPTIONS_INIT;
  for (int older = 0; older < 2; older++) {
    const char *to = kept(file_named(older ? "older" : "newer"));
    options.flags = older ? TD_DATASET_SAVE_LEROBOT_V21 : 0;
    TD_DO(td_dataset_save(td, about, TD_DATASET_KIND_LEROBOT, to, &options));
    is = flat_of(to);
    static const char *const more[] = {"frame",      "index",   "timestamp",
                                       "task_index", "episode", "language_instruction"};
    for (size_t i = 0; i < 6; i++) TD_DO(td_remove(is, TD_KEY(more[i])));
    TD_CHECK_EQUAL(td, is);
    td_free(is);
  }
}

TD_TEST(what_lerobot_cannot_hold_is_named) {
  need_arrow();
  td_tensordict *td = td_empty(TD_SIZES(4)), *about = td_empty(TD_NO_SIZES);
  const char *to = kept(file_named("none"));
  td_put(td, TD_KEY("action"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4, 2)));
  td_tensor *wave = NULL;
  TD_DO(td_tensor_zeros(TD_SIZES(4, 2), TD_DTYPE_COMPLEX64, TD_DEVICE_CPU, -1, &wave));
  td_put(td, TD_KEY("wave"), wave);
  td_put(td, TD_KEY("a/b"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4)));
  TD_DO(td_set_non_tensor_json(about, TD_KEY("fps"), "50"));
  TD_EXPECT(td_dataset_save(td, about, TD_DATASET_KIND_LEROBOT, to, NULL), TD_ERR_UNSUPPORTED);
  TD_CHECK_TEXT(td_last_error_message(), "wave");
  TD_CHECK_TEXT(td_last_error_message(), "slash");
  TD_CHECK(!td_exists(to));
  td_dataset_save_options options = TD_DATASET_SAVE_OPTIONS_INIT;
  options.flags = TD_DATASET_SAVE_LOSSY;
  TD_DO(td_dataset_save(td, about, TD_DATASET_KIND_LEROBOT, to, &options));
  td_free(td);
  td_free(about);
  td = flat_of(to);
  td_tensor *action = td_take(td, TD_KEY("action"));
  TD_CHECK_VALUES(action, 0, 1, 2, 3, 4, 5, 6, 7);
  td_tensor_free(action);
  td_tensor *times = td_take(td, TD_KEY("timestamp"));
  TD_CHECK_SIZES(times, 4, 1);
  td_free(td);
  td_make_folder(file_named("taken"));
  td = td_empty(TD_SIZES(1));
  td_put(td, TD_KEY("action"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(1, 2)));
  TD_EXPECT(td_dataset_save(td, NULL, TD_DATASET_KIND_LEROBOT, file_named("taken"), &options),
            TD_ERR_IO);
}
