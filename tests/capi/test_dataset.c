/* Data sets of other libraries: opened, read by episodes and rows; damaged ones and ones that lie. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "td_files.h"
#include "td_random.h"
#include "td_values.h"

static const char *data_of(const char *name) { return td_path(td_golden("../datasets"), name); }

TD_TEST(what_a_handle_tells) {
  td_dataset *set = td_golden_set("minari/mixed");
  td_dataset_kind kind = 0;
  int64_t episodes = 0, steps = 0, lengths[3] = {0};
  size_t count = 0;
  char version[8];
  TD_DO(td_dataset_about(set, &kind, &episodes, &steps));
  TD_CHECK_INT(kind, TD_DATASET_KIND_MINARI);
  TD_CHECK_INT(episodes, 3);
  TD_CHECK_INT(steps, 15);
  TD_DO(td_dataset_about(set, NULL, NULL, NULL));
  TD_DO(td_dataset_lengths(set, NULL, 0, &count));
  TD_CHECK_INT(count, 3);
  TD_EXPECT(td_dataset_lengths(set, lengths, 2, &count), TD_ERR_BUFFER_TOO_SMALL);
  TD_DO(td_dataset_lengths(set, lengths, 3, &count));
  TD_CHECK(lengths[0] == 3 && lengths[1] == 7 && lengths[2] == 5);
  TD_EXPECT(td_dataset_version(set, version, 2, &count), TD_ERR_BUFFER_TOO_SMALL);
  TD_DO(td_dataset_version(set, version, sizeof version, &count));
  TD_CHECK_SAME_TEXT(version, "0.5.4");
}

TD_TEST(keys_with_dtypes_and_sizes) {
  td_dataset *set = td_golden_set("minari/mixed");
  td_tensordict *td = NULL;
  TD_DO(td_dataset_structure(set, &td));
  TD_CHECK_BATCH(td, 0);
  TD_CHECK_DTYPE(td, TD_KEY("observation", "joints"), TD_DTYPE_FLOAT32);
  TD_CHECK_DTYPE(td, TD_KEY("next", "observation", "pair", "0"), TD_DTYPE_INT64);
  TD_CHECK_DTYPE(td, TD_KEY("info", "deep", "matrix"), TD_DTYPE_INT16);
  TD_CHECK_DTYPE(td, TD_KEY("next", "done"), TD_DTYPE_BOOL);
  TD_CHECK_DTYPE(td, TD_KEY("episode"), TD_DTYPE_INT64);
  td_tensor *matrix = td_take(td, TD_KEY("info", "deep", "matrix"));
  TD_CHECK_SIZES(matrix, 0, 2, 2);
  td_entry_kind entry = 0;
  TD_DO(td_get_kind(td, TD_KEY("observation", "camera"), &entry));
  TD_CHECK_INT(entry, TD_ENTRY_NON_TENSOR);
}

TD_TEST(episodes_and_rows) {
  td_dataset *set = td_golden_set("minari/mixed");
  td_tensordict *flat = NULL, *stack = NULL, *one = NULL, *part = NULL;
  char text[64];
  size_t length = 0;
  TD_DO(td_dataset_flat(set, &flat));
  TD_CHECK_BATCH(flat, 15);
  TD_DO(td_dataset_episodes(set, 0, 3, &stack));
  TD_CHECK_BATCH(stack, 3, -1);
  TD_DO(td_dataset_episode(set, 1, &one));
  TD_CHECK_BATCH(one, 7);
  TD_DO(td_dataset_rows(set, 3, 7, &part));
  TD_CHECK_EQUAL(one, part);
  TD_DO(td_get_row_text(one, TD_KEY("observation", "say"), 2, text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "gogogo");
  td_free(one);

  TD_DO(td_dataset_rows(set, 15, 0, &part));
  TD_CHECK_BATCH(part, 0);
  td_free(part);
  TD_EXPECT(td_dataset_rows(set, 15, 1, &part), TD_ERR_INDEX);
  TD_CHECK(part == NULL);
  TD_EXPECT(td_dataset_rows(set, -1, 1, &part), TD_ERR_INDEX);
  TD_EXPECT(td_dataset_rows(set, 0, -1, &part), TD_ERR_INDEX);
  TD_EXPECT(td_dataset_rows(set, INT64_MAX, INT64_MAX, &part), TD_ERR_INDEX);
  TD_EXPECT(td_dataset_episode(set, 3, &part), TD_ERR_INDEX);
  TD_EXPECT(td_dataset_episodes(set, 0, 4, &part), TD_ERR_INDEX);
  TD_EXPECT(td_dataset_episodes(set, 0, 0, &part), TD_ERR_INDEX);
  TD_EXPECT(td_dataset_episode_metadata(set, -1, &part), TD_ERR_INDEX);
}

TD_TEST(pictures_are_decoded) {
  td_dataset *set = td_golden_set("minari/mixed");
  td_dataset_free(set);
  td_dataset_options options = TD_DATASET_OPTIONS_INIT;
  options.flags = TD_DATASET_DECODE;
  td_tensordict *flat = NULL, *td = NULL;
  TD_DO(td_dataset_open(data_of("minari/mixed"), &options, &set));
  const td_status status = td_dataset_flat(set, &flat);
  if (status == TD_ERR_UNSUPPORTED) td_test_skip("%s", td_last_error_message());
  TD_CHECK_INT(status, TD_OK);
  td_tensor *camera = td_take(flat, TD_KEY("observation", "camera"));
  TD_CHECK_SIZES(camera, 15, 32, 36, 3);
  const uint8_t *pixels = NULL;
  TD_DO(td_tensor_data(camera, (void **)&pixels));
  int64_t sum = 0;
  for (int i = 0; i < 15 * 32 * 36 * 3; ++i) sum += pixels[i];
  TD_CHECK_INT(sum, 4640391); /* as Pillow has it */
  TD_CHECK(pixels[0] == 1 && pixels[1] == 0 && pixels[2] == 6);
  td_tensor_free(camera);
  camera = td_take(flat, TD_KEY("next", "observation", "camera"));
  TD_CHECK_SIZES(camera, 15, 32, 36, 3);
  TD_DO(td_tensor_data(camera, (void **)&pixels));
  pixels += 15 * 32 * 36 * 3 - 3;
  TD_CHECK(pixels[0] == 185 && pixels[1] == 235 && pixels[2] == 112);
  td_tensor_free(camera);
  td_free(flat);

  TD_DO(td_dataset_structure(set, &td));
  camera = td_take(td, TD_KEY("observation", "camera"));
  TD_CHECK_SIZES(camera, 0, 32, 36, 3);
  td_free(td);
  TD_DO(td_dataset_rows(set, 2, 2, &td)); /* of two episodes */
  camera = td_take(td, TD_KEY("observation", "camera"));
  TD_CHECK_SIZES(camera, 2, 32, 36, 3);
  td_free(td);
  td_dataset_free(set);
  options.max_bytes = 20000; /* enough for the files, too little for all their pixels */
  TD_DO(td_dataset_open(data_of("minari/mixed"), &options, &set));
  TD_EXPECT(td_dataset_episode(set, 1, &td), TD_ERR_FORMAT);
  TD_CHECK(td == NULL && strstr(td_last_error_message(), "pictures of [32, 36, 3]") != NULL);
}

TD_TEST(rows_of_a_bag) {
  const char *path = data_of("../bags/robot_plain.mcap");
  td_dataset_options options = TD_DATASET_OPTIONS_INIT;
  td_dataset *set = NULL;
  td_tensordict *td = NULL;
  td_dataset_kind kind = 0;
  int64_t steps = 0;
  TD_DO(td_dataset_open(path, NULL, &set));
  TD_DO(td_dataset_about(set, &kind, NULL, &steps));
  TD_CHECK(kind == TD_DATASET_KIND_ROS && steps == 19);
  td_dataset_free(set);

  options.clock = "/cmd_vel";
  TD_DO(td_dataset_open(path, &options, &set));
  TD_DO(td_dataset_rows(set, 6, 2, &td));
  td_tensor *speed = td_take(td, TD_KEY("cmd_vel", "linear", "x"));
  const double *values = NULL;
  TD_DO(td_tensor_data(speed, (void **)&values));
  TD_CHECK(values[0] == 6 && values[1] == 7);
  td_tensor_free(speed);
  td_tensor *time = td_take(td, TD_KEY("timestamp"));
  const int64_t *times = NULL;
  TD_DO(td_tensor_data(time, (void **)&times));
  TD_CHECK_INT(times[0], 1700000000750000000);
  td_tensor_free(time);
  td_free(td);
  td_dataset_free(set);

  options.rate = 10;
  TD_EXPECT(td_dataset_open(path, &options, &set), TD_ERR_INVALID_ARGUMENT);
  options.clock = NULL;
  TD_DO(td_dataset_open(path, &options, &set));
  TD_DO(td_dataset_about(set, NULL, NULL, &steps));
  TD_CHECK_INT(steps, 10);
  td_dataset_free(set);
  options.rate = -1;
  TD_EXPECT(td_dataset_open(path, &options, &set), TD_ERR_INVALID_ARGUMENT);
  options.rate = 0;
  options.clock = "/none";
  TD_EXPECT(td_dataset_open(path, &options, &set), TD_ERR_KEY_NOT_FOUND);
  options.clock = NULL;
  options.max_bytes = 1000;
  TD_EXPECT(td_dataset_open(path, &options, &set), TD_ERR_FORMAT);
}

TD_TEST(metadata_keep_their_text) {
  td_dataset *set = td_golden_set("minari/cartpole");
  td_tensordict *td = NULL;
  char text[256];
  size_t length = 0;
  TD_DO(td_dataset_metadata(set, &td));
  TD_DO(td_get_non_tensor_json(td, TD_KEY("author"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "[\"C. Dee\",\"A. Bee\"]");
  TD_DO(td_get_text(td, TD_KEY("action_space"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text,
                     "{\"type\": \"Discrete\", \"dtype\": \"int64\", \"start\": 0, \"n\": 2}");
  td_free(td);
  TD_DO(td_dataset_episode_metadata(set, 4, &td));
  TD_DO(td_get_non_tensor_json(td, TD_KEY("seed"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "4");
}

TD_TEST(options_are_checked) {
  td_dataset *set = td_golden_set("d4rl/chunks.hdf5");
  td_dataset_free(set);
  td_dataset_options options = TD_DATASET_OPTIONS_INIT;
  const char *path = data_of("d4rl/chunks.hdf5");
  options.kind = 99;
  TD_EXPECT(td_dataset_open(path, &options, &set), TD_ERR_INVALID_ARGUMENT);
  TD_CHECK(set == NULL);
  options.kind = TD_DATASET_KIND_ROBOMIMIC;
  TD_EXPECT(td_dataset_open(path, &options, &set), TD_ERR_FORMAT);
  options.kind = TD_DATASET_KIND_D4RL;
  options.max_episode_steps = -1;
  TD_EXPECT(td_dataset_open(path, &options, &set), TD_ERR_INVALID_ARGUMENT);
  options.max_episode_steps = 0;
  options.flags = 4;
  TD_EXPECT(td_dataset_open(path, &options, &set), TD_ERR_INVALID_ARGUMENT);
  options.flags = 0;
  options.max_entries = 2;
  TD_EXPECT(td_dataset_open(path, &options, &set), TD_ERR_FORMAT);
  options.max_entries = 0;
  options.max_bytes = 4;
  TD_EXPECT(td_dataset_open(path, &options, &set), TD_ERR_FORMAT);
  options.struct_size = 4;
  TD_EXPECT(td_dataset_open(path, &options, &set), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_dataset_open(td_here("none"), NULL, &set), TD_ERR_IO);
  TD_EXPECT(td_dataset_open(td_test_folder(), NULL, &set), TD_ERR_FORMAT);
  TD_EXPECT(td_dataset_open("", NULL, &set), TD_ERR_IO);
}

/* A data set of Minari with another metadata.json. */
static td_status with_metadata(const char *json, td_dataset **set) {
  if (!td_exists(td_here("lies"))) td_make_folder(td_here("lies"));
  td_write_text(td_here("lies/metadata.json"), json);
  if (!td_exists(td_here("lies/main_data.hdf5"))) {
    size_t size = 0;
    char *bytes = td_read_file(data_of("minari/cartpole/data/main_data.hdf5"), &size);
    td_write_file(td_here("lies/main_data.hdf5"), bytes, size);
    free(bytes);
  }
  return td_dataset_open(td_here("lies"), NULL, set);
}

TD_TEST(metadata_that_lie) {
  td_dataset *set = td_golden_set("minari/cartpole");
  td_dataset_free(set);
  TD_CHECK_INT(with_metadata("{\"total_episodes\": 6}", &set), TD_ERR_FORMAT);
  TD_CHECK(strstr(td_last_error_message(), "total_episodes is 6") != NULL);
  TD_CHECK_INT(with_metadata("[1]", &set), TD_ERR_FORMAT);
  TD_CHECK_INT(with_metadata("{", &set), TD_ERR_FORMAT);
  TD_CHECK_INT(with_metadata("{\"observation_space\": \"{\"}", &set), TD_ERR_FORMAT);
  TD_CHECK_INT(with_metadata("{\"data_format\": \"zarr\"}", &set), TD_ERR_UNSUPPORTED);
  TD_CHECK_INT(with_metadata("{\"total_steps\": 114}", &set), TD_OK);
  int64_t steps = -5;
  TD_EXPECT(td_dataset_about(set, NULL, NULL, &steps), TD_ERR_FORMAT);
  TD_CHECK(strstr(td_last_error_message(), "total_steps is 114") != NULL);
  TD_CHECK_INT(steps, -5);
  td_dataset_free(set);
  TD_CHECK_INT(with_metadata("{\"unknown\": [NaN, Infinity]}", &set), TD_OK);
  td_tensordict *td = NULL;
  TD_DO(td_dataset_metadata(set, &td));
}

static td_tensordict *demo(int64_t rows) {
  td_tensordict *td = td_empty(TD_SIZES(rows));
  td_put(td, TD_KEY("actions"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(rows, 2)));
  td_put(td, TD_KEY("rewards"), td_arange(TD_DTYPE_FLOAT64, 0, TD_SIZES(rows)));
  return td;
}

/* Demonstrations written as robomimic has them. */
static td_status with_demos(const td_tensordict *const *demos, size_t count, td_dataset **set) {
  td_hdf5_save_options options = TD_HDF5_SAVE_OPTIONS_INIT;
  td_tensordict *stack = NULL;
  TD_DO(td_lazy_stack(demos, count, 0, &stack));
  options.flags = TD_HDF5_SAVE_STACK;
  options.group = "data";
  TD_DO(td_hdf5_save(stack, td_here("demos.hdf5"), &options));
  return td_dataset_open(td_here("demos.hdf5"), NULL, set);
}

TD_TEST(episodes_that_differ) {
  td_dataset *set = td_golden_set("robomimic/raw.hdf5");
  td_dataset_free(set);
  td_tensordict *first = demo(3), *second = demo(2), *td = NULL;
  const td_tensordict *const both[] = {first, second};
  td_put(second, TD_KEY("more"), td_arange(TD_DTYPE_FLOAT64, 0, TD_SIZES(2)));
  TD_CHECK_INT(with_demos(both, 2, &set), TD_OK);
  TD_DO(td_dataset_episode(set, 1, &td));
  TD_DO(td_dataset_episodes(set, 0, 2, &td));
  TD_EXPECT(td_dataset_flat(set, &td), TD_ERR_FORMAT);
  TD_CHECK(strstr(td_last_error_message(), "/data/demo_1/more") != NULL);
  td_dataset_free(set);

  TD_DO(td_remove(second, TD_KEY("more")));
  TD_DO(td_remove(second, TD_KEY("rewards")));
  TD_CHECK_INT(with_demos(both, 2, &set), TD_OK);
  TD_EXPECT(td_dataset_flat(set, &td), TD_ERR_FORMAT);
  td_dataset_free(set);

  td_put(second, TD_KEY("rewards"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
  TD_CHECK_INT(with_demos(both, 2, &set), TD_OK);
  TD_EXPECT(td_dataset_flat(set, &td), TD_ERR_FORMAT);
  TD_CHECK(strstr(td_last_error_message(), "float32") != NULL);
  td_dataset_free(set);

  /* Two datasets that would be one entry. */
  td_put(first, TD_KEY("obs", "x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(3)));
  td_put(first, TD_KEY("observation"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(3)));
  TD_CHECK_INT(with_demos(both, 2, &set), TD_OK);
  TD_EXPECT(td_dataset_episode(set, 0, &td), TD_ERR_KEY_EXISTS);
}

TD_TEST(written_as_another_kind) {
  td_dataset *set = td_golden_set("minari/cartpole"), *again = NULL;
  td_dataset_save_options options = TD_DATASET_SAVE_OPTIONS_INIT;
  td_tensordict *flat = NULL, *back = NULL, *metadata = NULL;
  const char *file = td_here("copy.hdf5");
  options.deflate = 1;
  TD_DO(td_dataset_convert(set, TD_DATASET_KIND_ROBOMIMIC, file, &options));
  TD_DO(td_dataset_open(file, NULL, &again));
  TD_DO(td_dataset_flat(set, &flat));
  TD_DO(td_dataset_flat(again, &back));
  TD_CHECK_EQUAL(flat, back);
  td_dataset_free(again);

  /* What cannot be held is named, and nothing is written. */
  TD_EXPECT(td_dataset_convert(set, TD_DATASET_KIND_D4RL, td_here("none.hdf5"), NULL),
            TD_ERR_UNSUPPORTED);
  TD_CHECK_TEXT(td_last_error_message(), "the metadata of episodes");
  TD_CHECK(!td_exists(td_here("none.hdf5")));
  options.flags = TD_DATASET_SAVE_LOSSY | TD_DATASET_SAVE_DURABLE;
  TD_DO(td_dataset_convert(set, TD_DATASET_KIND_D4RL, file, &options));
  TD_DO(td_dataset_open(file, NULL, &again));
  td_dataset_free(again);

  TD_DO(td_dataset_metadata(set, &metadata));
  TD_DO(td_dataset_save(flat, metadata, TD_DATASET_KIND_MINARI, td_here("copy-v1"), NULL));
  TD_DO(td_dataset_open(td_here("copy-v1"), NULL, &again));
  TD_DO(td_dataset_flat(again, &back));
  TD_CHECK_EQUAL(flat, back);
  td_dataset_free(again);

  options.flags = 4;
  TD_EXPECT(td_dataset_save(flat, NULL, 1, file, &options), TD_ERR_INVALID_ARGUMENT);
  options.flags = 0, options.deflate = 10;
  TD_EXPECT(td_dataset_save(flat, NULL, 2, file, &options), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_dataset_save(flat, NULL, TD_DATASET_KIND_DETECT, file, NULL),
            TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_dataset_save(flat, NULL, 99, file, NULL), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_dataset_save(flat, NULL, TD_DATASET_KIND_ROS, file, NULL), TD_ERR_UNSUPPORTED);
  TD_EXPECT(td_dataset_save(flat, NULL, 2, "", NULL), TD_ERR_IO);
  char below[1024];
  td_write_file(td_here("file"), "x", 1);
  snprintf(below, sizeof below, "%s", td_here("file/set"));
  TD_EXPECT(td_dataset_save(flat, NULL, 2, below, NULL), TD_ERR_IO);
  for (int kind = TD_DATASET_KIND_ROBOMIMIC; kind <= TD_DATASET_KIND_D4RL; kind++) {
    snprintf(below, sizeof below, "%s%d/set", td_here("new/parent"), kind);
    td_dataset_save_options lossy = TD_DATASET_SAVE_OPTIONS_INIT;
    lossy.flags = TD_DATASET_SAVE_LOSSY;
    TD_DO(td_dataset_save(flat, NULL, kind, below, &lossy));
  }
}

static const char *const sets[] = {"minari/attributes/data/main_data.hdf5", "robomimic/raw.hdf5",
                                   "robomimic/low_dim.hdf5", "d4rl/chunks.hdf5",
                                   "d4rl/maze-v0.hdf5"};
enum { SETS = sizeof sets / sizeof *sets };

static void judge(td_status status) {
  if (status == TD_OK) return;
  if (status != TD_ERR_FORMAT && status != TD_ERR_UNSUPPORTED && status != TD_ERR_KEY_NOT_FOUND &&
      status != TD_ERR_KEY_EXISTS && status != TD_ERR_KEY_INVALID && status != TD_ERR_BUSY)
    td_test_fail(__FILE__, __LINE__, "status %d: %s", (int)status, td_last_error_message());
  TD_CHECK(strchr(td_last_error_message(), '\n') == NULL);
}

/* Whatever the file says, each call ends with a status or with what can be read. Whether it was opened. */
static int try(const char *place, td_dataset_kind kind) {
  td_dataset_options options = TD_DATASET_OPTIONS_INIT;
  td_dataset *set = TD_POISON;
  td_tensordict *td = NULL;
  int64_t episodes = 0, steps = 0;
  options.kind = kind;
  td_status status = td_dataset_open(place, &options, &set);
  judge(status);
  if (status != TD_OK) {
    TD_CHECK(set == NULL);
    return 0;
  }
  status = td_dataset_metadata(set, &td);
  judge(status);
  if (status == TD_OK) td_free(td);
  status = td_dataset_about(set, NULL, &episodes, &steps);
  judge(status);
  if (status == TD_OK) {
    status = td_dataset_flat(set, &td);
    judge(status);
    if (status == TD_OK) {
      td_tensordict *copy = NULL;
      TD_CHECK_BATCH(td, steps);
      TD_DO(td_clone(td, 0, &copy)); /* reads every value */
    }
    if (episodes != 0) {
      status = td_dataset_episode_metadata(set, episodes - 1, &td);
      judge(status);
      if (status == TD_OK) td_free(td);
    }
  }
  td_dataset_free(set);
  return 1;
}

TD_TEST(truncated_files) {
  td_dataset_free(td_golden_set("robomimic/raw.hdf5"));
  for (int i = 0; i < SETS; i++) {
    size_t size = 0;
    char *bytes = td_read_file(data_of(sets[i]), &size);
    for (size_t n = 0; n < size; n += 1 + size / (TD_TEST_SANITIZED ? 20 : 200)) {
      td_write_file(td_here("damaged.hdf5"), bytes, n);
      try(td_here("damaged.hdf5"), TD_DATASET_KIND_DETECT);
    }
    free(bytes);
  }
}

static const char *one_of(td_random *random, const char *const *list, int count) {
  return list[td_random_between(random, 0, count - 1)];
}

/* An entry with rows that may not be those of the episode. */
static void put_any(td_tensordict *td, td_random *random, const char *const *path,
                    size_t path_len) {
  static const td_dtype dtypes[] = {TD_DTYPE_FLOAT32, TD_DTYPE_BOOL, TD_DTYPE_UINT8,
                                    TD_DTYPE_INT64};
  const int64_t sizes[] = {td_random_between(random, 2, 4) - td_random_one_in(random, 9),
                           td_random_between(random, 0, 3), td_random_between(random, 1, 2)};
  const size_t dims = (size_t)td_random_between(random, 0, 12);
  if (td_random_one_in(random, 9)) {
    td_status status = td_set_text(td, path, path_len, "text");
    if (status != TD_ERR_KEY_INVALID && status != TD_ERR_WRONG_ENTRY) TD_CHECK_INT(status, TD_OK);
    return;
  }
  td_tensor *tensor = NULL;
  TD_DO(td_tensor_zeros(sizes, dims > 3 ? 1 + dims % 2 : dims,
                        dtypes[td_random_between(random, 0, 3)], TD_DEVICE_CPU, -1, &tensor));
  TD_DO(td_set(td, path, path_len, tensor));
  td_tensor_free(tensor);
}

/* Sets made of the right names and of wrong ones, in the right places and in others. A file with damaged bytes is a
 * matter of HDF5's parser; what a sound file says is one of ours. */
TD_TEST(sets_at_random) {
  td_dataset_free(td_golden_set("robomimic/raw.hdf5"));
  static const char *const groups[] = {"episode_0", "episode_1", "episode_2", "data", "demo_0",
                                       "demo_1",    "virtual",   "0",         "1",    "mask"};
  static const char *const names[] = {"observations",
                                      "actions",
                                      "rewards",
                                      "terminations",
                                      "truncations",
                                      "infos",
                                      "obs",
                                      "next_obs",
                                      "dones",
                                      "terminals",
                                      "timeouts",
                                      "next_observations",
                                      "_index_0",
                                      "next",
                                      "episode",
                                      "metadata",
                                      "x"};
  static const char *const attributes[] = {"total_steps", "num_samples", "total_episodes",
                                           "options/a",   "options",     "minari_version"};
  static const char *const values[] = {"2", "3", "-1", "4294967296", "[1, 2]", "\"3\"", "1.5", "0"};
  td_random random = td_random_begin();
  int opened = 0;
  for (int round = 0; round < (TD_TEST_SANITIZED ? 100 : 1500); round++) {
    td_tensordict *td = td_empty(TD_NO_SIZES);
    const int kind = (int)td_random_between(&random, 1, 3);
    /* What makes it look like that kind. */
    static const char *const first[][2] = {
        {"episode_0", NULL}, {"data", "demo_0"}, {"virtual", "0"}};
    for (int64_t n = td_random_between(&random, 2, 16); n > 0; n--) {
      const char *path[4];
      size_t length = 0;
      for (size_t i = 0; i < 2 && first[kind - 1][i] != NULL; i++) {
        const int other = td_random_one_in(&random, 8);
        if (kind != TD_DATASET_KIND_D4RL || other)
          path[length++] = other ? one_of(&random, groups, 10) : first[kind - 1][i];
      }
      path[length++] = one_of(&random, names, 17);
      if (td_random_one_in(&random, 4)) path[length++] = one_of(&random, names, 17);
      td_entry_kind above = TD_ENTRY_NONE;
      if (length > 1) TD_DO(td_get_kind(td, path, length - 1, &above));
      if (above == TD_ENTRY_NONE || above == TD_ENTRY_DICT) put_any(td, &random, path, length);
    }
    char metadata[256];
    snprintf(metadata, sizeof metadata, "{\"%s\": %s, \"/%s\": {\"%s\": %s}}",
             one_of(&random, attributes, 6), one_of(&random, values, 8),
             kind == 2 ? "data/demo_0" : "episode_0", one_of(&random, attributes, 6),
             one_of(&random, values, 8));
    td_file_options options = TD_FILE_OPTIONS_INIT;
    options.metadata = metadata;
    const td_status saved = td_file_save(td, td_here("random.hdf5"), &options);
    if (saved == TD_OK) {
      opened += try(td_here("random.hdf5"), TD_DATASET_KIND_DETECT);
      opened += try(td_here("random.hdf5"), kind);
    } else if (saved != TD_ERR_KEY_EXISTS) {
      TD_CHECK_INT(saved, TD_OK);
    }
    td_free(td);
  }
  TD_CHECK(opened > 50);
}

/* metadata.json with bytes changed. */
TD_TEST(metadata_at_random) {
  td_dataset_free(td_golden_set("robomimic/raw.hdf5"));
  td_random random = td_random_begin();
  size_t size = 0;
  char *json = td_read_file(data_of("minari/cartpole/data/metadata.json"), &size);
  for (int round = 0; round < (TD_TEST_SANITIZED ? 30 : 300); round++) {
    td_dataset *set = NULL;
    char *changed = malloc(size + 1);
    memcpy(changed, json, size + 1);
    for (int64_t edits = td_random_between(&random, 1, 4); edits > 0; edits--)
      changed[td_random_between(&random, 0, (int64_t)size - 1)] =
          (char)td_random_between(&random, 32, 126);
    const td_status status = with_metadata(changed, &set);
    judge(status);
    if (status == TD_OK) {
      td_tensordict *td = NULL;
      judge(td_dataset_flat(set, &td));
      td_free(td);
      td_dataset_free(set);
    }
    free(changed);
  }
  free(json);
}
