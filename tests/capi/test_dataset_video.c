#define _XOPEN_SOURCE 700
/* Videos in data sets of LeRobot: the frame of each row; sets whose videos are damaged, short, or lie. */
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "td_dataset_files.h"

#define HAND TD_KEY("observation", "image", "hand")
#define TOP TD_KEY("observation", "image", "top")

static td_dataset *open_videos(const char *path) {
  need_arrow();
  td_dataset_options options = TD_DATASET_OPTIONS_INIT;
  td_dataset *set = NULL;
  options.flags = TD_DATASET_VIDEOS;
  TD_DO(td_dataset_open(path, &options, &set));
  td_tensordict *one = NULL;
  const td_status status = td_dataset_rows(set, 0, 1, &one);
  td_free(one);
  if (status == TD_ERR_UNSUPPORTED) td_test_skip("%s", td_last_error_message());
  return set;
}

static double mean_of(const td_tensordict *td, const char *const *path, size_t length,
                      int64_t row) {
  td_tensor *tensor = td_take(td, path, length);
  size_t bytes = 0;
  int64_t sizes[4] = {0};
  size_t dims = 0;
  double sum = 0;
  TD_DO(td_tensor_sizes(tensor, sizes, 4, &dims));
  TD_DO(td_tensor_nbytes(tensor, &bytes));
  unsigned char *values = malloc(bytes);
  TD_DO(td_tensor_copy_to(tensor, values, bytes));
  const size_t one = bytes / (size_t)sizes[0];
  for (size_t i = 0; i < one; i++) sum += values[(size_t)row * one + i];
  free(values);
  td_tensor_free(tensor);
  return sum / (double)one;
}

/* The means of LeRobot, from the manifest of the data sets, and the values of PyAV. */
TD_TEST(many_episodes_in_a_video) {
  static const double means[14] = {80.7, 87.4, 94.6, 101.4, 107.5, 83.4,  90.0,
                                   97.3, 86.2, 92.9, 100.1, 106.9, 113.1, 119.9};
  td_dataset *set = open_videos(data_of("lerobot/arm_video"));
  td_tensordict *flat = NULL, *part = NULL, *of_flat = NULL;
  td_entry_kind kind = 0;
  TD_DO(td_dataset_flat(set, &flat));
  td_tensor *frames = td_take(flat, FRONT);
  TD_CHECK_SIZES(frames, 14, 64, 64, 3);
  check_hash(flat, FRONT, "7ede13d3dd0f83ba7821a39f09751283a6ef8e654a16f6c95409fc049093e478");
  for (int64_t row = 0; row < 14; row++) {
    const double mean = mean_of(flat, FRONT, row);
    if (mean < means[row] - 0.06 || mean > means[row] + 0.06)
      td_test_fail(__FILE__, __LINE__, "row %d: %f, not %f", (int)row, mean, means[row]);
  }
  for (int64_t from = 13; from >= 0; from--) { /* each alone, backwards */
    TD_DO(td_dataset_rows(set, from, 1, &part));
    TD_DO(td_index(flat, TD_AT(TD_I_SLICE(from, from + 1)), &of_flat));
    TD_CHECK_EQUAL(part, of_flat);
  }
  TD_DO(td_dataset_episode(set, 1, &part));
  TD_CHECK(mean_of(part, FRONT, 0) < 83.5);
  TD_DO(td_dataset_structure(set, &part));
  frames = td_take(part, FRONT);
  TD_CHECK_SIZES(frames, 0, 64, 64, 3);
  td_free(part);
  TD_DO(td_dataset_metadata(set, &part)); /* lists those that are left out */
  TD_DO(td_get_kind(part, TD_KEY("videos"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
}

typedef struct reading {
  const td_dataset *set;
  const td_tensordict *flat;
  int64_t first;
  int differ;
} reading;

static void *read_rows(void *argument) {
  reading *mine = argument;
  for (int64_t i = 0; i < 40; i++) {
    const int64_t row = (mine->first + i * 5) % 13;
    td_tensordict *part = NULL, *of_flat = NULL;
    int32_t same = 0;
    mine->differ |= td_dataset_rows(mine->set, row, 2, &part) != TD_OK ||
                    td_index(mine->flat, TD_AT(TD_I_SLICE(row, row + 2)), &of_flat) != TD_OK ||
                    td_equal(part, of_flat, &same) != TD_OK || !same;
    td_free(part);
    td_free(of_flat);
  }
  return NULL;
}

TD_TEST(several_threads_read) {
  td_dataset *set = open_videos(data_of("lerobot/arm_video"));
  td_tensordict *flat = NULL;
  pthread_t threads[4];
  reading readings[4];
  TD_DO(td_dataset_flat(set, &flat));
  for (int i = 0; i < 4; i++) {
    readings[i] = (reading){set, flat, 3 * i, 0};
    TD_CHECK(pthread_create(&threads[i], NULL, read_rows, &readings[i]) == 0);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    TD_CHECK_INT(readings[i].differ, 0);
  }
}

TD_TEST(a_video_for_each_episode) {
  td_dataset *set = open_videos(data_of("lerobot/cams_v21"));
  td_tensordict *flat = NULL;
  TD_DO(td_dataset_flat(set, &flat));
  td_tensor *frames = td_take(flat, TOP);
  TD_CHECK_SIZES(frames, 12, 32, 48, 3);
  frames = td_take(flat, HAND); /* whose channels info.json tells first */
  TD_CHECK_SIZES(frames, 12, 24, 40, 3);
  TD_CHECK(mean_of(flat, TOP, 3) != mean_of(flat, TOP, 4));
}

TD_TEST(pictures_and_videos_are_decoded_together) {
  td_dataset_free(open_videos(data_of("lerobot/arm_video")));
  td_dataset_options options = TD_DATASET_OPTIONS_INIT;
  td_dataset *set = NULL;
  td_tensordict *td = NULL;
  options.flags = TD_DATASET_DECODE;
  TD_DO(td_dataset_open(data_of("lerobot/arm_video"), &options, &set));
  TD_DO(td_dataset_episode(set, 2, &td));
  td_tensor *frames = td_take(td, FRONT);
  TD_CHECK_SIZES(frames, 6, 64, 64, 3);
  td_free(td);
  td_dataset_free(set);
  options.flags = 4;
  TD_EXPECT(td_dataset_open(data_of("lerobot/arm_video"), &options, &set), TD_ERR_INVALID_ARGUMENT);
}

TD_TEST(videos_become_pictures) {
  td_dataset *set = open_videos(data_of("lerobot/arm_video"));
  const char *to = kept(file_named("pictures"));
  td_tensordict *was = NULL, *is = NULL;
  const td_status status = td_dataset_convert(set, TD_DATASET_KIND_LEROBOT, to, NULL);
  if (status == TD_ERR_UNSUPPORTED) td_test_skip("%s", td_last_error_message());
  TD_CHECK_INT(status, TD_OK);
  TD_DO(td_dataset_flat(set, &was));
  td_dataset_free(set);
  td_dataset_options options = TD_DATASET_OPTIONS_INIT;
  options.flags = TD_DATASET_DECODE;
  TD_DO(td_dataset_open(to, &options, &set));
  TD_DO(td_dataset_flat(set, &is));
  TD_CHECK_EQUAL(was, is);
}

/* Opened without its videos, a set of LeRobot is written with them as they are. */
static void check_kept(const char *name, const char *to) {
  td_dataset_free(open_videos(data_of(name)));
  td_dataset *set = open_set(data_of(name));
  td_tensordict *was = NULL, *is = NULL;
  char version[8];
  size_t length = 0;
  TD_DO(td_dataset_convert(set, TD_DATASET_KIND_LEROBOT, to, NULL));
  td_dataset_free(set);
  set = open_videos(data_of(name));
  TD_DO(td_dataset_flat(set, &was));
  td_dataset_free(set);
  set = open_videos(to);
  TD_DO(td_dataset_version(set, version, sizeof version, &length));
  TD_CHECK_SAME_TEXT(version, "v3.0");
  TD_DO(td_dataset_flat(set, &is));
  TD_CHECK_EQUAL(was, is);
  td_free(was);
  td_free(is);
  td_dataset_free(set);
}

/* How far apart two frames are, in squares of a value. */
static double error_of(const td_tensordict *one, const td_tensordict *other,
                       const char *const *path, size_t length) {
  td_tensor *tensors[2] = {td_take(one, path, length), td_take(other, path, length)};
  unsigned char *values[2];
  size_t bytes = 0;
  double sum = 0;
  for (int i = 0; i < 2; i++) {
    size_t here = 0;
    TD_DO(td_tensor_nbytes(tensors[i], &here));
    TD_CHECK(i == 0 || here == bytes);
    bytes = here;
    values[i] = malloc(bytes);
    TD_DO(td_tensor_copy_to(tensors[i], values[i], bytes));
    td_tensor_free(tensors[i]);
  }
  for (size_t at = 0; at < bytes; at++) {
    const double differs = (double)values[0][at] - values[1][at];
    sum += differs * differs;
  }
  free(values[0]);
  free(values[1]);
  return sum / (double)bytes;
}

/* Pictures of a set become frames, each at its time; everything else stays. */
TD_TEST(pictures_become_videos) {
  td_dataset_free(open_videos(data_of("lerobot/arm_video"))); /* or skips */
  td_dataset_options decoded = TD_DATASET_OPTIONS_INIT;
  td_dataset *set = NULL;
  td_tensordict *was = NULL, *is = NULL;
  decoded.flags = TD_DATASET_DECODE;
  TD_DO(td_dataset_open(data_of("lerobot/arm"), &decoded, &set));
  TD_DO(td_dataset_flat(set, &was));
  td_dataset_free(set);
  for (int way = 0; way < 4; way++) {
    const char *to = kept(file_named(way == 0 ? "a" : way == 1 ? "b" : way == 2 ? "c" : "d"));
    td_dataset_save_options options = TD_DATASET_SAVE_OPTIONS_INIT;
    options.video = way % 2 == 0 ? TD_DATASET_VIDEO_H264 : TD_DATASET_VIDEO_AV1;
    options.video_quality = 12;
    options.flags = way < 2 ? 0 : TD_DATASET_SAVE_LEROBOT_V21;
    set = open_set(data_of("lerobot/arm")); /* its pictures are files */
    const td_status status = td_dataset_convert(set, TD_DATASET_KIND_LEROBOT, to, &options);
    if (status == TD_ERR_UNSUPPORTED && strstr(td_last_error_message(), "encoder") != NULL)
      td_test_skip("%s", td_last_error_message());
    TD_CHECK_INT(status, TD_OK);
    td_dataset_free(set);
    set = open_set(to);
    TD_DO(td_dataset_metadata(set, &is));
    check_json_of(is, "videos", "[\"observation.images.front\"]");
    char text[8192];
    size_t length = 0;
    TD_DO(td_get_non_tensor_json(is, TD_KEY("features"), text, sizeof text, &length));
    TD_CHECK_TEXT(text,
                  "\"observation.images.front\":{\"dtype\":\"video\",\"shape\":[24,32,3],\"names\":"
                  "[\"height\",\"width\",\"channels\"],\"info\":{\"video.height\":24,");
    TD_CHECK_TEXT(text, way % 2 == 0 ? "\"video.codec\":\"h264\"" : "\"video.codec\":\"av1\"");
    if (way < 2) TD_DO(td_get_non_tensor_json(is, TD_KEY("stats"), text, sizeof text, &length));
    if (way < 2)
      TD_CHECK_TEXT(text, /* those of the pictures */
                    "\"observation.images.front\":{\"min\":[[[0.0]],[[0.0]],[[0.0392156862745098");
    td_free(is);
    td_dataset_free(set);
    TD_CHECK(td_exists(
        td_path(to, way < 2 ? "videos/observation.images.front/chunk-000/file-000.mp4"
                            : "videos/chunk-000/observation.images.front/episode_000002.mp4")));
    set = open_videos(to);
    TD_DO(td_dataset_flat(set, &is));
    td_tensor *frames = td_take(is, FRONT);
    TD_CHECK_SIZES(frames, 14, 24, 32, 3);
    td_tensor_free(frames);
    const double error = error_of(was, is, FRONT);
    if (!(error > 0 && error < 255.0 * 255.0 / 100)) /* 20 dB: noise in small pictures */
      td_test_fail(__FILE__, __LINE__, "way %d: mean square error %f", way, error);
    for (int64_t row = 0; row < 14; row++) {
      const double differs = mean_of(was, FRONT, row) - mean_of(is, FRONT, row);
      if (differs < -4 || differs > 4)
        td_test_fail(__FILE__, __LINE__, "way %d, row %d: %f", way, (int)row, differs);
    }
    td_tensordict *rest = NULL;
    TD_DO(td_clone(was, TD_CLONE_SHALLOW, &rest));
    TD_DO(td_remove(rest, FRONT));
    TD_DO(td_remove(is, FRONT));
    TD_CHECK_EQUAL(rest, is);
    td_free(rest);
    td_free(is);
    td_dataset_free(set);
  }
  /* Its videos go on as they are. */
  set = open_set(file_named("a"));
  TD_DO(td_dataset_convert(set, TD_DATASET_KIND_LEROBOT, file_named("copy"), NULL));
  td_dataset_free(set);
}

TD_TEST(what_is_no_video) {
  td_dataset_free(open_videos(data_of("lerobot/arm_video"))); /* or skips */
  td_tensordict *td = td_empty(TD_SIZES(2)), *about = td_empty(TD_NO_SIZES);
  td_dataset_save_options options = TD_DATASET_SAVE_OPTIONS_INIT;
  const char *to = kept(file_named("none"));
  td_put(td, FRONT, td_arange(TD_DTYPE_UINT8, 0, TD_SIZES(2, 15, 16, 3)));
  TD_DO(td_set_non_tensor_json(about, TD_KEY("fps"), "50"));
  options.video = TD_DATASET_VIDEO_H264;
  TD_EXPECT(td_dataset_save(td, about, TD_DATASET_KIND_LEROBOT, to, &options), TD_ERR_UNSUPPORTED);
  TD_CHECK_TEXT(td_last_error_message(), "cannot have frames of 15 by 16; both must be even");
  options.video_quality = 60;
  TD_EXPECT(td_dataset_save(td, about, TD_DATASET_KIND_LEROBOT, to, &options), TD_ERR_UNSUPPORTED);
  options.video = 3;
  TD_EXPECT(td_dataset_save(td, about, TD_DATASET_KIND_LEROBOT, to, &options),
            TD_ERR_INVALID_ARGUMENT);
  TD_CHECK(!td_exists(to));
}

static void check_same_file(const char *one, const char *other) {
  size_t size = 0, size_of_other = 0;
  char *bytes = td_read_file(one, &size), *bytes_of_other = td_read_file(other, &size_of_other);
  TD_CHECK(size == size_of_other && memcmp(bytes, bytes_of_other, size) == 0);
  free(bytes);
  free(bytes_of_other);
}

TD_TEST(videos_stay_as_they_are) {
  const char *to = kept(file_named("arm"));
  check_kept("lerobot/arm_video", to);
  const char *file = "videos/observation.images.front/chunk-000/file-000.mp4";
  const char *copy = kept(td_path(to, file));
  check_same_file(copy, td_path(data_of("lerobot/arm_video"), file));
  td_dataset *set = open_set(to);
  td_tensordict *about = NULL;
  char text[8192];
  size_t length = 0;
  TD_DO(td_dataset_metadata(set, &about));
  check_json_of(about, "videos", "[\"observation.images.front\"]");
  TD_DO(td_get_non_tensor_json(about, TD_KEY("stats"), text, sizeof text, &length));
  TD_CHECK_TEXT(text,
                "\"observation.images.front\":{\"min\":[[[0.0]],[[0.0]],[[0.0]]],\"max\":[[[1.0]]");
}

TD_TEST(version_2_becomes_3) {
  const char *to = kept(file_named("cams"));
  check_kept("lerobot/cams_v21", to);
  const char *copy = kept(td_path(to, "videos/observation.images.hand/chunk-000/file-001.mp4"));
  check_same_file(copy, td_path(data_of("lerobot/cams_v21"),
                                "videos/chunk-000/observation.images.hand/episode_000001.mp4"));
}

/* A copy of a set, and the path of a file in it. */
static const char *copy_of(const char *name) {
  const char *to = kept(file_named("copy"));
  td_copy_tree(data_of(name), to);
  return to;
}

/* What an episode of the set says. */
static void expect_episode(const char *root, int64_t episode, td_status wanted, const char *text,
                           const char *place) {
  td_dataset_options options = TD_DATASET_OPTIONS_INIT;
  td_dataset *set = NULL;
  td_tensordict *td = NULL;
  options.flags = TD_DATASET_VIDEOS;
  td_status status = td_dataset_open(root, &options, &set);
  if (status == TD_OK) status = td_dataset_episode(set, episode, &td);
  const char *message = td_last_error_message();
  if (status != wanted || td != NULL || strstr(message, text) == NULL ||
      strstr(message, place) == NULL)
    td_test_fail(__FILE__, __LINE__, "status %d: %s", (int)status, message);
  td_dataset_free(set);
}

TD_TEST(videos_that_are_cut_or_missing) {
  td_dataset_free(open_videos(data_of("lerobot/cams_v21")));
  const char *root = copy_of("lerobot/cams_v21");
  const char *other =
      kept(td_path(root, "videos/chunk-000/observation.images.top/episode_000000.mp4"));
  const char *file =
      kept(td_path(root, "videos/chunk-000/observation.images.top/episode_000001.mp4"));
  size_t size = 0, shorter = 0;
  char *whole = td_read_file(other, &size);
  for (size_t cut = 0; cut < size; cut += 97) {
    td_write_file(other, whole, cut);
    expect_episode(root, 0, TD_ERR_FORMAT, "", "episode_000000.mp4");
  }
  /* The other episode is two rows shorter. */
  char *short_one = td_read_file(file, &shorter);
  td_write_file(other, short_one, shorter);
  expect_episode(root, 0, TD_ERR_FORMAT, "has no frame at 0.25 seconds", "episode 0, row 5");
  unlink(other);
  expect_episode(root, 0, TD_ERR_IO, "cannot open", "episode_000000.mp4");
  TD_CHECK(symlink("/etc/passwd", other) == 0);
  expect_episode(root, 0, TD_ERR_IO, "", "episode_000000.mp4");
  unlink(other);
  char *hand = td_read_file(
      td_path(root, "videos/chunk-000/observation.images.hand/episode_000000.mp4"), &shorter);
  td_write_file(other, hand, shorter);
  expect_episode(root, 0, TD_ERR_FORMAT, "the frames are 24 by 40, and info.json tells of 32 by 48",
                 "episode 0, row 0");
  td_write_file(other, whole, size);
  free(whole);
  free(short_one);
  free(hand);
}

static void replace_in(const char *path, const char *from, const char *to) {
  size_t size = 0;
  char *text = td_read_file(path, &size), *changed = calloc(1, size + 256);
  char *at = strstr(text, from);
  TD_CHECK(at != NULL);
  snprintf(changed, size + 256, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  td_write_file(path, changed, strlen(changed));
  free(text);
  free(changed);
}

TD_TEST(videos_that_info_lies_about) {
  td_dataset_free(open_videos(data_of("lerobot/arm_video")));
  const char *root = copy_of("lerobot/arm_video");
  const char *info = kept(td_path(root, "meta/info.json"));
  size_t size = 0;
  char *whole = td_read_file(info, &size);
  replace_in(info, "videos/{video_key}/", "../{video_key}/");
  expect_episode(root, 0, TD_ERR_FORMAT, "leads out of the data set", "../observation");
  td_write_file(info, whole, size);
  replace_in(info, "{file_index:03d}.mp4", "{other}.mp4");
  expect_episode(root, 0, TD_ERR_FORMAT, "no path of data", "info.json");
  td_write_file(info, whole, size);
  replace_in(info, "\"video_path\"", "\"video_way\"");
  expect_episode(root, 0, TD_ERR_FORMAT, "has no text \"video_path\"", "info.json");
  td_write_file(info, whole, size);
  replace_in(info, "64,\n                64,\n                3", "64,\n                64");
  expect_episode(root, 0, TD_ERR_FORMAT, "height, width, channels", "info.json");
  free(whole);
}
