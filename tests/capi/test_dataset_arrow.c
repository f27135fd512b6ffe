#define _XOPEN_SOURCE 700
/* Data sets of LeRobot, and those of Minari in Arrow and Parquet: read, damaged, and ones that lie. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "td_dataset_files.h"
#include "td_random.h"

static void check_about(const char *path, td_dataset_kind kind, const char *version, int64_t steps,
                        int64_t first_length) {
  td_dataset *set = open_set(path);
  td_dataset_kind found = 0;
  int64_t episodes = 0, count = 0, lengths[3] = {0};
  size_t length = 0;
  char text[16];
  TD_DO(td_dataset_about(set, &found, &episodes, &count));
  TD_CHECK_INT(found, kind);
  TD_CHECK_INT(episodes, 3);
  TD_CHECK_INT(count, steps);
  TD_DO(td_dataset_version(set, text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, version);
  TD_DO(td_dataset_lengths(set, lengths, 3, &length));
  TD_CHECK_INT(lengths[0], first_length);
  td_dataset_free(set);
}

TD_TEST(what_handles_tell) {
  check_about(data_of("lerobot/arm"), TD_DATASET_KIND_LEROBOT, "v3.0", 14, 5);
  check_about(data_of("lerobot/arm_v21"), TD_DATASET_KIND_LEROBOT, "v2.1", 14, 5);
  check_about(data_of("minari/mixed_arrow"), TD_DATASET_KIND_MINARI, "0.5.4", 15, 3);
  check_about(data_of("minari/mixed_parquet"), TD_DATASET_KIND_MINARI, "0.5.4", 15, 3);
}

TD_TEST(lerobot_with_many_episodes_in_a_file) {
  td_tensordict *flat = flat_of(data_of("lerobot/arm")), *part = NULL, *one = NULL;
  td_dataset *set = open_set(data_of("lerobot/arm"));
  check_arm(flat);
  TD_DO(td_dataset_structure(set, &part));
  TD_CHECK_BATCH(part, 0);
  td_tensor *matrix = td_take(part, TD_KEY("observation", "matrix"));
  TD_CHECK_SIZES(matrix, 0, 2, 3);
  matrix = td_take(part, TD_KEY("next", "reward"));
  TD_CHECK_SIZES(matrix, 0, 1);
  td_entry_kind entry = 0;
  TD_DO(td_get_kind(part, FRONT, &entry));
  TD_CHECK_INT(entry, TD_ENTRY_NON_TENSOR);
  td_free(part);
  TD_DO(td_dataset_episode(set, 1, &one));
  TD_DO(td_index(flat, TD_AT(TD_I_SLICE(5, 8)), &part));
  TD_CHECK_EQUAL(one, part);
  TD_DO(td_dataset_rows(set, 3, 7, &part)); /* over the borders of episodes */
  TD_DO(td_index(flat, TD_AT(TD_I_SLICE(3, 10)), &one));
  TD_CHECK_EQUAL(one, part);
}

TD_TEST(lerobot_with_a_file_for_each_episode) {
  td_tensordict *flat = flat_of(data_of("lerobot/arm_v21"));
  check_lerobot(flat);
  check_hash(flat, STATE, "61a6535d81e1cc4589f570a8b1310e5d2b3c90944903e3fc299658b4ccde5ac7");
  check_hash(flat, TD_KEY("count"),
             "25c8dc69a575960ad657685b3cd30634e6e3bfd5dddea996aa1f6a856a8d8bf0");
}

TD_TEST(lerobot_metadata) {
  td_dataset *set = open_set(data_of("lerobot/arm"));
  td_tensordict *td = NULL;
  TD_DO(td_dataset_metadata(set, &td));
  check_json_of(td, "fps", "10");
  check_json_of(td, "robot_type", "\"arm\"");
  check_json_of(td, "tasks", "[\"push the cube\",\"lift the cube\"]");
  td_entry_kind kind = 0;
  TD_DO(td_get_kind(td, TD_KEY("stats"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NON_TENSOR);
  td_free(td);
  TD_DO(td_dataset_episode_metadata(set, 2, &td));
  check_json_of(td, "tasks", "[\"push the cube\"]");
  check_json_of(td, "length", "6");
  check_json_of(td, "data", "{\"chunk_index\":0,\"file_index\":0}");
  td_free(td);
  td_dataset_free(set);
  set = open_set(data_of("lerobot/arm_v21"));
  TD_DO(td_dataset_episode_metadata(set, 1, &td));
  check_json_of(td, "tasks", "[\"lift the cube\"]");
  TD_DO(td_get_kind(td, TD_KEY("stats"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NON_TENSOR);
}

TD_TEST(lerobot_without_its_videos) {
  td_tensordict *td = flat_of(data_of("lerobot/arm_video"));
  td_entry_kind kind = TD_ENTRY_DICT;
  check_hash(td, STATE, "ac4a0d9c380a336b2dc2faae82de03dead487fab6618b7ad4f973702cc3e910c");
  TD_DO(td_get_kind(td, FRONT, &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
  td_free(td);
  td_dataset *set = open_set(data_of("lerobot/arm_video"));
  TD_DO(td_dataset_metadata(set, &td));
  check_json_of(td, "videos", "[\"observation.images.front\"]");
}

static td_tensordict *decoded(const char *path) {
  td_dataset_options options = TD_DATASET_OPTIONS_INIT;
  td_dataset *set = NULL;
  td_tensordict *td = NULL;
  options.flags = TD_DATASET_DECODE;
  TD_DO(td_dataset_open(path, &options, &set));
  const td_status status = td_dataset_flat(set, &td);
  td_dataset_free(set);
  if (status == TD_ERR_UNSUPPORTED) td_test_skip("%s", td_last_error_message());
  TD_CHECK_INT(status, TD_OK);
  return td;
}

TD_TEST(lerobot_pictures) {
  need_arrow();
  td_tensordict *td = decoded(data_of("lerobot/arm"));
  check_hash(td, FRONT, "9be35695fcaa266ef0dcfe983b4170d5a4dc23c5a3d84df2bbb40f07ec667535");
  td_free(td);
  td = decoded(data_of("minari/mixed_arrow"));
  td_tensor *camera = td_take(td, TD_KEY("next", "observation", "camera"));
  TD_CHECK_SIZES(camera, 15, 32, 36, 3);
}

TD_TEST(minari_is_the_same_in_all_formats) {
  td_tensordict *arrow = flat_of(data_of("minari/mixed_arrow")),
                *parquet = flat_of(data_of("minari/mixed_parquet")), *hdf5 = NULL;
  TD_CHECK_EQUAL(arrow, parquet);
  td_dataset *set = NULL;
  const td_status status = td_dataset_open(data_of("minari/mixed"), NULL, &set);
  if (status == TD_ERR_UNSUPPORTED) td_test_skip("%s", td_last_error_message());
  TD_DO(td_dataset_flat(set, &hdf5));
  TD_CHECK_EQUAL(arrow, hdf5);
  TD_DO(td_dataset_structure(set, &hdf5));
  td_dataset_free(set);
  set = open_set(data_of("minari/mixed_arrow"));
  td_free(arrow);
  TD_DO(td_dataset_structure(set, &arrow));
  TD_CHECK_EQUAL(arrow, hdf5);
}

TD_TEST(minari_metadata_of_episodes) {
  td_dataset *set = open_set(data_of("minari/mixed_arrow"));
  td_tensordict *td = NULL;
  TD_DO(td_dataset_episode_metadata(set, 1, &td));
  check_json_of(td, "options", "{\"difficulty\":2,\"start\":{\"x\":0.5}}");
  td_free(td);
  TD_DO(td_dataset_episode(set, 2, &td));
  TD_CHECK_BATCH(td, 5);
  td_dataset_free(set);
  td = flat_of(data_of("minari/pendulum"));
  check_hash(td, TD_KEY("action"),
             "8cd972916e78bc9a43dfcda6a2bca2c7489c997607e821dd03c9b8163f631df5");
  check_hash(td, TD_KEY("next", "reward"),
             "a299512f4e9a7891c9f039fdefbe6047e13c50d0b51ee57cf1d84945690b19df");
  check_hash(td, TD_KEY("next", "truncated"),
             "a731baf323ebe05522b0eb22d2e9e53a5374a3ed5205f0ac8817526524b41147");
}

/* Sets that lie. */

/* A copy of a set in which the first `was` of a text file is `is`. */
static const char *changed(const char *name, const char *file, const char *was, const char *is) {
  static int number = 0;
  char folder[32], path[128];
  snprintf(folder, sizeof folder, "lie%d", number++);
  const char *copy = kept(file_named(folder));
  td_copy_tree(data_of(name), copy);
  snprintf(path, sizeof path, "%s/%s", folder, file);
  size_t size = 0;
  char *text = td_read_file(file_named(path), &size);
  char *at = strstr(text, was);
  if (at == NULL) td_test_fail(__FILE__, __LINE__, "%s has no %s", file, was);
  char *other = malloc(size + strlen(is) + 1);
  const size_t before = (size_t)(at - text), after = size - before - strlen(was);
  memcpy(other, text, before);
  memcpy(other + before, is, strlen(is));
  memcpy(other + before + strlen(is), at + strlen(was), after);
  td_write_file(file_named(path), other, before + strlen(is) + after);
  free(other);
  free(text);
  return copy;
}

/* The status of opening a set and of reading all of it, whichever fails. */
static td_status all_of(const char *path) {
  td_dataset *set = NULL;
  td_tensordict *td = NULL;
  int64_t episodes = 0;
  td_status status = td_dataset_open(path, NULL, &set);
  if (status != TD_OK) return status;
  if (status == TD_OK) status = td_dataset_about(set, NULL, &episodes, NULL);
  if (status == TD_OK) status = td_dataset_structure(set, &td);
  td_free(td);
  td = NULL;
  if (status == TD_OK) status = td_dataset_metadata(set, &td);
  td_free(td);
  td = NULL;
  for (int64_t i = 0; status == TD_OK && i < episodes; i++) {
    status = td_dataset_episode_metadata(set, i, &td);
    td_free(td);
    td = NULL;
  }
  if (status == TD_OK) status = td_dataset_flat(set, &td);
  td_free(td);
  td_dataset_free(set);
  return status;
}

static void check_lie(const char *name, const char *file, const char *was, const char *is,
                      td_status want, const char *part) {
  const td_status status = all_of(changed(name, file, was, is));
  if (status != want) {
    td_test_fail(__FILE__, __LINE__, "%s: %s in place of %s: status %d: %s", name, is, was,
                 (int)status, td_last_error_message());
  }
  if (want != TD_OK) TD_CHECK_TEXT(td_last_error_message(), part);
}

TD_TEST(sets_that_lie) {
  need_arrow();
  static const char info[] = "meta/info.json";
  check_lie("lerobot/arm", info, "\"total_episodes\": 3", "\"total_episodes\": 4", TD_ERR_FORMAT,
            "total_episodes is 4");
  check_lie("lerobot/arm", info, "\"total_frames\": 14", "\"total_frames\": 15", TD_ERR_FORMAT,
            "total_frames is 15");
  check_lie("lerobot/arm", info, "\"total_frames\": 14", "\"total_frames\": -1", TD_ERR_FORMAT,
            "total_frames is -1");
  check_lie("lerobot/arm", info, "\"v3.0\"", "\"v1.6\"", TD_ERR_UNSUPPORTED, "v1.6");
  check_lie("lerobot/arm", info, "\"v3.0\"", "3", TD_ERR_FORMAT, "codebase_version");
  check_lie("lerobot/arm", info, "\"v3.0\"", "\"v2.1\"", TD_ERR_IO, "episodes.jsonl");
  check_lie("lerobot/arm", info, "\"note\"", "\"other\"", TD_ERR_FORMAT, "\"other\"");
  check_lie("lerobot/arm", info, "\"float32\"", "\"float99\"", TD_ERR_UNSUPPORTED, "float99");
  check_lie("lerobot/arm", info, "\"float32\"", "\"int64\"", TD_ERR_FORMAT, "observation.state");
  check_lie("lerobot/arm", info, "\"float32\"", "\"string\"", TD_ERR_FORMAT, "observation.state");
  check_lie("lerobot/arm", info, "\"float32\"", "\"float64\"", TD_OK, NULL);
  check_lie("lerobot/arm", info, "\"image\"", "\"float32\"", TD_ERR_FORMAT,
            "observation.images.front");
  check_lie("lerobot/arm", info, "                4\n", "                5\n", TD_ERR_FORMAT,
            "[14, 4]");
  check_lie("lerobot/arm", info, "                4\n", "                -4\n", TD_ERR_FORMAT,
            "shape");
  check_lie("lerobot/arm", info, "                4\n", "                4611686018427387904, 4\n",
            TD_ERR_FORMAT, "shape");
  check_lie("lerobot/arm", info, "\"features\": {", "\"features\": [], \"x\": {", TD_ERR_FORMAT,
            "features");
  check_lie("lerobot/arm", info, "{", "[", TD_ERR_FORMAT, "info.json");
  check_lie("lerobot/arm", info, "\"fps\": 10", "\"fps\": Infinity", TD_OK, NULL);
  check_lie("lerobot/arm_v21", info, "data/chunk-", "../chunk-", TD_ERR_FORMAT, "leads out");
  check_lie("lerobot/arm_v21", info, "data/chunk-", "/data/chunk-", TD_ERR_FORMAT, "leads out");
  check_lie("lerobot/arm_v21", info, "{episode_index:06d}", "{episode_index:99d}", TD_ERR_FORMAT,
            "no path");
  check_lie("lerobot/arm_v21", info, "{episode_index:06d}", "{0.__class__}", TD_ERR_FORMAT,
            "no path");
  check_lie("lerobot/arm_v21", info, "{episode_index:06d}", "{episode_index", TD_ERR_FORMAT,
            "no path");
  check_lie("lerobot/arm_v21", info, "{episode_index:06d}", "x", TD_ERR_IO, "episode_x");
  check_lie("lerobot/arm_v21", info, "\"chunks_size\": 1000", "\"chunks_size\": 0", TD_ERR_FORMAT,
            "chunks_size");
  static const char lines[] = "meta/episodes.jsonl";
  check_lie("lerobot/arm_v21", lines, "\"length\": 5", "\"length\": 4", TD_ERR_FORMAT, "13 rows");
  check_lie("lerobot/arm_v21", lines, "\"length\": 5", "\"length\": -5", TD_ERR_FORMAT,
            "length -5");
  check_lie("lerobot/arm_v21", lines, "\"length\": 5", "\"length\": 6", TD_ERR_FORMAT, "15 rows");
  check_lie("lerobot/arm_v21", lines, "\"episode_index\": 1", "\"episode_index\": 7", TD_ERR_FORMAT,
            "episode_index 2");
  check_lie("lerobot/arm_v21", lines, "{", "7", TD_ERR_FORMAT, "line 1");
  check_lie("lerobot/arm_v21", lines, "{\"episode_index\": 0", "{\"episode_index\": 9",
            TD_ERR_FORMAT, "episode_index 1");
  check_lie("lerobot/arm_v21", "meta/tasks.jsonl", "{\"task_index\": 1", "{\"task_index\": 2",
            TD_ERR_FORMAT, "task_index 2");
  check_lie("minari/pendulum", "data/1/metadata.json", "20", "19", TD_ERR_FORMAT,
            "total_steps is 60");
  check_lie("minari/pendulum", "data/1/metadata.json", "20", "\"x\"", TD_ERR_FORMAT,
            "total_steps is");
  check_lie("minari/pendulum", "data/metadata.json", "\"total_episodes\": 3",
            "\"total_episodes\": 2", TD_ERR_FORMAT, "total_episodes is 2");
  check_lie("minari/pendulum", "data/metadata.json", "\"arrow\"", "\"zarr\"", TD_ERR_UNSUPPORTED,
            "zarr");
  check_lie("minari/pendulum", "data/metadata.json", "\"arrow\"", "\"parquet\"", TD_ERR_FORMAT,
            "part-0.arrow");
  check_lie("minari/pendulum", "data/metadata.json", "[3]", "[4]", TD_ERR_FORMAT, "observations");
}

TD_TEST(links_are_not_followed) {
  need_arrow();
  const char *set = changed("lerobot/arm", "meta/info.json", "{", "{");
  char file[512], outside[512];
  snprintf(file, sizeof file, "%s/data/chunk-000/file-000.parquet", set);
  snprintf(outside, sizeof outside, "%s", file_named("outside.parquet"));
  TD_CHECK_INT(rename(file, outside), 0);
  TD_CHECK_INT(symlink(outside, file), 0);
  TD_CHECK_INT(all_of(set), TD_ERR_IO);
  set = changed("lerobot/arm_v21", "meta/info.json", "{", "{");
  snprintf(file, sizeof file, "%s/data/chunk-000", set);
  snprintf(outside, sizeof outside, "%s", file_named("outside"));
  TD_CHECK_INT(rename(file, outside), 0);
  TD_CHECK_INT(symlink(outside, file), 0);
  TD_CHECK_INT(all_of(set), TD_ERR_IO);
  set = changed("minari/pendulum", "data/metadata.json", "{", "{");
  snprintf(file, sizeof file, "%s/data/1/part-0.arrow", set);
  TD_CHECK_INT(unlink(file), 0);
  TD_CHECK_INT(all_of(set), TD_ERR_FORMAT);
}

/* Tables that end early or have other bytes: a status, never more. */
static void damage(const char *name, const char *file) {
  const char *set = changed(name, file, "", "");
  const char *path = kept(td_path(set, file));
  size_t size = 0;
  char *bytes = td_read_file(path, &size);
  td_random random = td_random_begin();
  const int rounds = TD_TEST_SANITIZED ? 15 : 60;
  for (int round = 0; round < 2 * rounds; round++) {
    char *other = malloc(size);
    memcpy(other, bytes, size);
    size_t length = size;
    if (round < rounds) {
      length = (size_t)td_random_between(&random, 0, (int64_t)size - 1);
    } else {
      for (int i = 0; i < 3; i++)
        other[td_random_between(&random, 0, (int64_t)size - 1)] = (char)td_random_next(&random);
    }
    td_write_file(path, other, length);
    free(other);
    const td_status status = all_of(set);
    if (status == TD_OK || status == TD_ERR_FORMAT || status == TD_ERR_UNSUPPORTED ||
        status == TD_ERR_KEY_EXISTS || status == TD_ERR_KEY_INVALID || status == TD_ERR_DTYPE)
      continue;
    td_test_fail(__FILE__, __LINE__, "%s: status %d: %s", file, (int)status,
                 td_last_error_message());
  }
  free(bytes);
}

TD_TEST(damaged_tables) {
  need_arrow();
  damage("lerobot/arm", "data/chunk-000/file-000.parquet");
  damage("lerobot/arm", "meta/episodes/chunk-000/file-000.parquet");
  damage("lerobot/arm", "meta/tasks.parquet");
  damage("minari/mixed_arrow", "data/0/part-0.arrow");
  damage("minari/mixed_parquet", "data/2/part-0.parquet");
}
