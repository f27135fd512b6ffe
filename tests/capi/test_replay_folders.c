/* Folders of replay buffers: saved and loaded, in use, and hostile ones. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "td_replay_test.h"

static td_replay_options options_of(int kind) {
  static const char *const done[] = {"done"};
  static const td_key by_end = {done, 1};
  td_replay_options options = replay_options(40, (td_replay_sampler)kind);
  options.rows = 8;
  if (kind == TD_REPLAY_SAMPLER_SLICES) {
    options.slice_len = 2;
    options.ends = &by_end;
    options.ends_len = 1;
  }
  return options;
}

static void write_steps(td_replay *replay, int64_t first, int64_t n) {
  td_tensordict *td = replay_rows(first, n);
  td_put(td, TD_KEY("done"), td_arange(TD_DTYPE_BOOL, first, TD_SIZES(n)));
  TD_DO(td_replay_extend(replay, td));
  td_free(td);
}

static void prioritize(td_replay *replay) {
  td_tensor *index = td_positions((const int64_t[]){1, 5, 7}, 3), *priority = NULL;
  TD_DO(td_tensor_from_data((const double[]){3, 0.25, 8}, 24, TD_SIZES(3), TD_DTYPE_FLOAT64,
                            &priority));
  TD_DO(td_replay_update_priority(replay, index, priority));
  td_tensor_free(index);
  td_tensor_free(priority);
}

/* Whether two buffers draw the same, several times. */
static void check_same_draws(td_replay *one, td_replay *other) {
  for (int i = 0; i < 20; i++) {
    int64_t a[8], b[8];
    const int64_t n = replay_draw(one, 8, a, NULL);
    TD_CHECK_INT(replay_draw(other, 8, b, NULL), n);
    TD_CHECK(memcmp(a, b, (size_t)n * 8) == 0);
  }
}

TD_TEST(a_loaded_buffer_goes_on_with_the_same_draws) {
  for (int kind = TD_REPLAY_SAMPLER_RANDOM; kind <= TD_REPLAY_SAMPLER_PRIORITIZED; kind++) {
    for (int64_t rows = 30; rows <= 75; rows += 45) {
      const td_replay_options options = options_of(kind);
      td_replay *replay = replay_of(&options);
      write_steps(replay, 0, rows);
      if (kind == TD_REPLAY_SAMPLER_PRIORITIZED) prioritize(replay);
      int64_t a[8];
      for (int i = 0; i < 3; i++) replay_draw(replay, 8, a, NULL);
      TD_DO(td_replay_save(replay, td_here("saved"), kind % 2 ? TD_REPLAY_SAVE_DURABLE : 0));
      td_replay_options other = options; /* what the folder says comes first */
      other.seed = 99;
      other.capacity = 0;
      other.alpha = other.beta = 0.9;
      if (kind != TD_REPLAY_SAMPLER_SLICES) other.sampler = TD_REPLAY_SAMPLER_AS_STORED;
      td_replay *loaded = replay_loaded(td_here("saved"), &other), *opened = NULL;
      replay_check_where(loaded, rows > 40 ? 40 : rows, 40, rows % 40, rows);
      TD_DO(td_replay_save(loaded, td_here("again"), 0));
      TD_CHECK_SAME_TREE(td_here("again"), td_here("saved"));
      TD_DO(td_replay_open(td_here("again"), &other, &opened));
      check_same_draws(replay, loaded);
      write_steps(replay, 1000, 6);
      write_steps(loaded, 1000, 6);
      check_same_draws(replay, loaded);
      td_replay_free(loaded);
      write_steps(opened, 1000, 6);
      int64_t b[8];
      for (int i = 0; i < 20; i++) replay_draw(opened, 8, b, NULL);
      TD_DO(td_replay_save(opened, NULL, 0));
      td_replay_free(opened);
      td_replay_free(replay);
    }
  }
}

TD_TEST(saving_replaces_a_buffer_and_keeps_other_files) {
  td_replay_options options = options_of(TD_REPLAY_SAMPLER_PRIORITIZED);
  td_replay *replay = replay_of(&options);
  td_replay *empty = replay_of(&options);
  TD_EXPECT(td_replay_save(empty, td_here("saved"), 0), TD_ERR_SHAPE);
  TD_EXPECT(td_replay_save(empty, NULL, 0), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_replay_save(empty, td_here("saved"), 2), TD_ERR_INVALID_ARGUMENT);
  TD_CHECK(!td_exists(td_here("saved")));
  td_replay_free(empty);
  write_steps(replay, 0, 30);
  TD_DO(td_replay_save(replay, td_here("saved"), 0));
  TD_CHECK(td_exists(td_here("saved/sampler/sumtree.memmap")));
  TD_CHECK_INT(td_file_size(td_here("saved/sampler/mintree.memmap")), 40 * 8);
  td_replay_free(replay);
  td_write_text(td_here("saved/prefetch.pkl"), "never read");
  td_write_text(td_here("saved/notes.txt"), "mine");
  options = options_of(TD_REPLAY_SAMPLER_RANDOM);
  replay = replay_of(&options);
  write_steps(replay, 0, 50);
  TD_DO(td_replay_save(replay, td_here("saved"), 0));
  TD_CHECK(!td_exists(td_here("saved/sampler/sumtree.memmap")));
  TD_CHECK(!td_exists(td_here("saved/prefetch.pkl")));
  TD_CHECK(td_exists(td_here("saved/notes.txt")));
  td_replay_free(replay);
  /* What only TorchRL has goes along. */
  td_make_folder(td_here("saved/rng_state"));
  td_write_text(td_here("saved/rng_state/meta.json"), "{}");
  td_write_text(td_here("saved/transform.t"), "bytes");
  replay = replay_loaded(td_here("saved"), NULL);
  TD_DO(td_replay_save(replay, td_here("again"), 0));
  TD_CHECK_SAME_TREE(td_here("again"), td_here("saved"));
  td_replay_free(replay);
  /* A folder that is no buffer keeps what it has. */
  td_make_folder(td_here("other"));
  td_write_text(td_here("other/mine"), "mine");
  replay = replay_loaded(td_here("saved"), NULL);
  TD_DO(td_replay_save(replay, td_here("other"), 0));
  td_replay_free(replay);
  TD_CHECK(td_exists(td_here("other/mine")));
  replay = replay_loaded(td_here("other"), NULL);
  replay_check_where(replay, 40, 40, 10, 50);
  td_replay_free(replay);
}

TD_TEST(a_folder_in_use) {
  td_replay_options options = options_of(TD_REPLAY_SAMPLER_RANDOM);
  options.folder = td_test_folder();
  td_make_folder(td_here("x"));
  td_replay *writer = NULL, *reader = NULL, *alone = NULL;
  TD_EXPECT_NULL(td_replay_create(&options, &writer), TD_ERR_IO, writer); /* not empty */
  options.folder = td_here("live");
  writer = replay_of(&options);
  TD_DO(td_replay_open(td_here("live"), NULL, &reader));
  replay_check_where(reader, 0, 40, 0, 0);
  td_tensordict *batch = NULL;
  TD_EXPECT_NULL(td_replay_sample(reader, 4, &batch), TD_ERR_SHAPE, batch);
  write_steps(writer, 0, 10);
  replay_check_where(reader, 10, 40, 10, 10);
  int64_t a[64], index[64];
  replay_draw(reader, 64, a, index);
  for (int i = 0; i < 64; i++) TD_CHECK(a[i] == index[i] && a[i] < 10);
  write_steps(reader, 10, 40); /* both may write */
  replay_check_where(writer, 40, 40, 10, 50);
  replay_draw(writer, 64, a, index);
  for (int i = 0; i < 64; i++) TD_CHECK_INT(a[i], index[i] < 10 ? index[i] + 40 : index[i]);
  /* Nobody replaces it meanwhile. */
  TD_DO(td_replay_load(td_here("live"), NULL, &alone));
  replay_check_where(alone, 40, 40, 10, 50);
  TD_EXPECT(td_replay_save(alone, td_here("live"), 0), TD_ERR_BUSY);
  TD_DO(td_replay_save(writer, NULL, TD_REPLAY_SAVE_DURABLE));
  write_steps(writer, 50, 5);
  td_replay_free(alone);
  td_replay_free(writer);
  td_replay_free(reader);
  /* Without a save before the end: the rows are there all the same. */
  TD_DO(td_replay_open(td_here("live"), NULL, &reader));
  replay_check_where(reader, 40, 40, 15, 55);
  td_replay_free(reader);
  alone = replay_loaded(td_here("live"), NULL);
  replay_check_where(alone, 40, 40, 15, 55);
  TD_DO(td_replay_save(alone, td_here("copy"), 0));
  TD_DO(td_replay_save(alone, td_here("live"), 0)); /* nobody has it open now */
  TD_CHECK(!td_exists(td_here("live/live.bin")));
  td_replay_free(alone);
  TD_CHECK_SAME_TREE(td_here("live"), td_here("copy"));
  options.folder = td_here("live");
  TD_EXPECT_NULL(td_replay_open(td_here("live"), &options, &reader), TD_ERR_INVALID_ARGUMENT,
                 reader);
}

/* A writer of TorchRL that works in a folder (scratch_dir) and has not dumped its counts. */
TD_TEST(rows_that_nothing_counts) {
  td_tensordict *rows = replay_rows(0, 8), *mapped = NULL;
  td_make_folder(td_here("unsaved"));
  TD_DO(td_memmap(rows, td_here("unsaved/storage"), NULL, &mapped));
  td_free(rows);
  td_free(mapped);
  td_replay *replay = NULL;
  TD_EXPECT_NULL(td_replay_load(td_here("unsaved"), NULL, &replay), TD_ERR_IO, replay);
  TD_CHECK_TEXT(td_last_error_message(), "its writer has not saved it");
  TD_EXPECT_NULL(td_replay_open(td_here("unsaved"), NULL, &replay), TD_ERR_IO, replay);
  TD_CHECK(!td_exists(td_here("unsaved/live.bin")));
  TD_DO(td_memmap_load(td_here("unsaved/storage"), NULL, &rows)); /* what the message advises */
  TD_CHECK_BATCH(rows, 8);
}

/* A process that died in the middle of a save: the JSON files are new, and the live file has not heard of it.
   The rows that others write afterwards must not be forgotten. */
TD_TEST(a_save_that_was_cut_off_forgets_no_rows) {
  td_replay_options options = options_of(TD_REPLAY_SAMPLER_RANDOM);
  options.folder = td_here("live");
  td_replay *replay = replay_of(&options), *other = NULL;
  write_steps(replay, 0, 10);
  TD_DO(td_replay_save(replay, NULL, 0));
  size_t size = 0;
  char *bytes = td_read_file(td_here("live/live.bin"), &size);
  write_steps(replay, 10, 5);
  TD_DO(td_replay_save(replay, NULL, 0));
  const int64_t marks[] = {15, 15}; /* the cursor and the rows that the save was about to tell */
  const int64_t counts[] = {40, 15, 15, 15, 0};
  TD_CHECK_INT(size, 88);
  memcpy(bytes + 8, counts, sizeof counts);
  memcpy(bytes + 64, marks, sizeof marks);
  td_write_file(td_here("live/live.bin"), bytes, size);
  write_steps(replay, 15, 7);
  TD_DO(td_replay_open(td_here("live"), NULL, &other));
  replay_check_where(other, 22, 40, 22, 22);
  replay_check_where(replay, 22, 40, 22, 22);
  td_replay_free(other);
  td_replay_free(replay);
  td_write_file(td_here("live/live.bin"), bytes, 64); /* as 0.2.0 writes it: of other JSON files */
  TD_DO(td_replay_open(td_here("live"), NULL, &other));
  replay_check_where(other, 15, 40, 15, 15);
  td_replay_free(other);
  free(bytes);
}

/* A process that died between two files of its sampler: the rows are there, and the folder opens. */
TD_TEST(a_save_that_was_cut_off_leaves_files_of_two_saves) {
  td_replay_options options = options_of(TD_REPLAY_SAMPLER_PRIORITIZED);
  options.folder = td_here("two");
  td_replay *replay = replay_of(&options);
  write_steps(replay, 0, 10);
  TD_DO(td_replay_save(replay, NULL, 0));
  size_t size = 0, live_size = 0;
  char *older = td_read_file(td_here("two/sampler/mintree.memmap"), &size);
  prioritize(replay);
  write_steps(replay, 10, 5);
  TD_DO(td_replay_save(replay, NULL, 0));
  td_replay_free(replay);
  td_write_file(td_here("two/sampler/mintree.memmap"), older, size);
  TD_EXPECT_NULL(td_replay_open(td_here("two"), NULL, &replay), TD_ERR_FORMAT, replay);
  char *live = td_read_file(td_here("two/live.bin"), &live_size);
  TD_CHECK_INT((int64_t)live_size, 88);
  live[80] = 1; /* between the beginning of a save and its end */
  td_write_file(td_here("two/live.bin"), live, live_size);
  for (int times = 0; times < 2; times++) { /* the save has ended it */
    int64_t a[8];
    TD_DO(td_replay_open(td_here("two"), NULL, &replay));
    replay_check_where(replay, 15 + times, 40, 15 + times, 15 + times);
    TD_CHECK_INT(replay_draw(replay, 8, a, NULL), 8);
    write_steps(replay, 15 + times, 1);
    TD_DO(td_replay_save(replay, NULL, 0));
    td_replay_free(replay);
  }
  td_write_file(td_here("two/sampler/mintree.memmap"), older, size);
  TD_EXPECT_NULL(td_replay_open(td_here("two"), NULL, &replay), TD_ERR_FORMAT, replay);
  free(older);
  free(live);
}

/* What is no replay folder stays as it is. */
TD_TEST(opening_another_folder_makes_no_file) {
  td_replay *replay = NULL;
  td_make_folder(td_here("other"));
  TD_EXPECT_NULL(td_replay_open(td_here("other"), NULL, &replay), TD_ERR_IO, replay);
  TD_CHECK(!td_exists(td_here("other/live.bin")));
}

/* A writer that died in the middle: rows that are being written are marked in the folder. */
TD_TEST(halves_of_rows_are_never_drawn) {
  for (int kind = TD_REPLAY_SAMPLER_RANDOM; kind <= TD_REPLAY_SAMPLER_PRIORITIZED; kind++) {
    td_replay_options options = options_of(kind);
    char file[520], saved[500];
    snprintf(saved, sizeof saved, "%s/live%d", td_test_folder(), kind);
    snprintf(file, sizeof file, "%s/live.bin", saved);
    options.folder = saved;
    td_replay *replay = replay_of(&options);
    write_steps(replay, 0, 48);
    TD_DO(td_replay_save(replay, NULL, 0));
    td_replay_free(replay);
    size_t size = 0;
    char *bytes = td_read_file(file, &size);
    const int64_t gap = 5; /* places 8 to 12 */
    memcpy(bytes + 40, &gap, 8);
    td_write_file(file, bytes, size);
    free(bytes);
    options.folder = NULL;
    TD_DO(td_replay_open(saved, &options, &replay));
    for (int i = 0; i < 50; i++) {
      int64_t a[8], index[8];
      const int64_t n = replay_draw(replay, 8, a, index);
      for (int64_t k = 0; k < n; k++) TD_CHECK(index[k] < 8 || index[k] > 12);
    }
    TD_EXPECT(td_replay_save(replay, td_here("copy"), 0), TD_ERR_BUSY);
    write_steps(replay, 100, 3); /* two of them are left */
    for (int i = 0; i < 50; i++) {
      int64_t a[8], index[8];
      const int64_t n = replay_draw(replay, 8, a, index);
      for (int64_t k = 0; k < n; k++) TD_CHECK(index[k] != 11 && index[k] != 12);
    }
    write_steps(replay, 103, 2);
    TD_DO(td_replay_save(replay, td_here("copy"), 0));
    td_replay_free(replay);
    td_replay *copy = replay_loaded(td_here("copy"), &options);
    replay_check_where(copy, 40, 40, 13, 53);
    td_replay_free(copy);
  }
}

/* As Python writes it: other spaces, members that we do not know, trees of float32. */
TD_TEST(settings_stay_as_another_program_wrote_them) {
  const td_replay_options options = options_of(TD_REPLAY_SAMPLER_PRIORITIZED);
  td_replay *replay = replay_of(&options);
  write_steps(replay, 0, 30);
  TD_DO(td_replay_save(replay, td_here("saved"), 0));
  td_replay_free(replay);
  double tree[40] = {0};
  for (int i = 0; i < 30; i++) tree[i] = powf(i % 5 + 0.5f, 0.7f);
  td_write_file(td_here("saved/sampler/sumtree.memmap"), tree, sizeof tree);
  for (int i = 30; i < 40; i++) tree[i] = FLT_MAX;
  td_write_file(td_here("saved/sampler/mintree.memmap"), tree, sizeof tree);
  static const char settings[] =
      "{\"_alpha\": 0.7,\"_beta\":  0.9, \"_eps\": 1e-08, \"_max_priority\": [4.5, 29], "
      "\"_new\": [{\"a\": \"}\\\"]\"}], \"_max_capacity\": 40}";
  td_write_text(td_here("saved/sampler/sampler_metadata.json"), settings);
  td_write_text(td_here("saved/writer/metadata.json"), "{\"cursor\":30,\"write_count\":30}");
  replay = replay_loaded(td_here("saved"), NULL);
  TD_DO(td_replay_save(replay, td_here("again"), 0));
  TD_CHECK_SAME_TREE(td_here("again"), td_here("saved"));
  TD_DO(td_replay_set_beta(replay, 1));
  TD_DO(td_replay_save(replay, td_here("again"), 0));
  size_t size = 0;
  char *text = td_read_file(td_here("again/sampler/sampler_metadata.json"), &size);
  TD_CHECK_SAME_TEXT(text,
                     "{\"_alpha\": 0.7, \"_beta\": 1.0, \"_eps\": 1e-08, \"_max_priority\": "
                     "[4.5, 29], \"_new\": [{\"a\": \"}\\\"]\"}], \"_max_capacity\": 40}");
  free(text);
  /* The largest priority is that of the file: a new row counts (4.5 + eps)^0.7. */
  write_steps(replay, 30, 1);
  td_tensordict *batch = NULL;
  int64_t index[400];
  float weight[400];
  int found = 0;
  TD_DO(td_replay_sample(replay, 400, &batch));
  replay_values(batch, TD_KEY("index"), index, 8, 400);
  replay_values(batch, TD_KEY("priority_weight"), weight, 4, 400);
  td_free(batch);
  for (int i = 0; i < 400; i++) {
    if (index[i] != 30) continue;
    TD_CHECK(fabs(weight[i] - pow(4.5 / 0.5, -0.7)) < 1e-5);
    found++;
  }
  TD_CHECK(found > 0);
}

/* As TorchRL writes it: every number is a float. */
TD_TEST(settings_may_be_floats) {
  const td_replay_options options = options_of(TD_REPLAY_SAMPLER_PRIORITIZED);
  td_replay *replay = replay_of(&options);
  write_steps(replay, 0, 30);
  TD_DO(td_replay_save(replay, td_here("saved"), 0));
  td_replay_free(replay);
  td_write_text(td_here("saved/sampler/sampler_metadata.json"),
                "{\"_alpha\": 0.7, \"_beta\": 0.9, \"_eps\": 1e-08, \"_max_priority\": "
                "[12.125, 4.0], \"_max_capacity\": 40.0}");
  replay = replay_loaded(td_here("saved"), NULL);
  TD_DO(td_replay_save(replay, td_here("again"), 0));
  TD_CHECK_SAME_TREE(td_here("again"), td_here("saved"));
  td_replay_free(replay);
}

/* A storage of several dimensions, as TorchRL keeps environments side by side: the length counts elements, the
   cursor rows. */
TD_TEST(storages_of_several_dimensions) {
  for (int64_t rows = 5; rows <= 15; rows += 10) {
    char folder[400], file[500], copy[400];
    snprintf(folder, sizeof folder, "%s/nd%d", td_test_folder(), (int)rows);
    snprintf(copy, sizeof copy, "%s/copy%d", td_test_folder(), (int)rows);
    td_tensordict *td = td_empty(TD_SIZES(15, 4)), *saved = NULL, *batch = NULL;
    td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(15, 4)));
    td_put(td, TD_KEY("index"), td_filled(TD_DTYPE_INT64, 0, TD_SIZES(15, 4)));
    td_make_folder(folder);
    snprintf(file, sizeof file, "%s/storage", folder);
    TD_DO(td_memmap(td, file, NULL, &saved));
    td_free(saved);
    td_free(td);
    char text[100];
    snprintf(text, sizeof text, "{\"is_pytree\": false, \"len\": %d}", (int)rows * 4);
    snprintf(file, sizeof file, "%s/storage/storage_metadata.json", folder);
    td_write_text(file, text);
    snprintf(file, sizeof file, "%s/writer", folder);
    td_make_folder(file);
    snprintf(file, sizeof file, "%s/writer/metadata.json", folder);
    td_write_text(file, rows == 5 ? "{\"cursor\": 5, \"write_count\": 5}"
                                  : "{\"cursor\": 3, \"write_count\": 18}");
    td_replay *replay = replay_loaded(folder, NULL);
    replay_check_where(replay, rows * 4, 60, rows == 5 ? 5 : 3, rows == 5 ? 5 : 18);
    TD_DO(td_replay_dict(replay, &batch));
    TD_CHECK_BATCH(batch, rows, 4);
    td_free(batch);
    TD_DO(td_replay_sample(replay, 200, &batch));
    TD_CHECK_BATCH(batch, 200);
    int64_t a[200], index[400], largest = 0;
    TD_CHECK_INT(replay_values(batch, TD_KEY("a"), a, 8, 200), 200);
    TD_CHECK_INT(replay_values(batch, TD_KEY("index"), index, 8, 400), 400);
    for (int i = 0; i < 200; i++) {
      TD_CHECK_INT(a[i], 4 * index[2 * i] + index[2 * i + 1]);
      if (a[i] > largest) largest = a[i];
    }
    TD_CHECK(largest > rows * 4 - 10 && largest < rows * 4);
    td_free(batch);
    /* Two more rows of four elements. */
    td = td_empty(TD_SIZES(2, 4));
    td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 1000, TD_SIZES(2, 4)));
    TD_DO(td_replay_extend(replay, td));
    td_free(td);
    td = td_empty(TD_SIZES(4));
    td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 1008, TD_SIZES(4)));
    TD_DO(td_replay_add(replay, td));
    TD_EXPECT(td_replay_extend(replay, td), TD_ERR_SHAPE);
    td_free(td);
    TD_DO(td_replay_save(replay, copy, 0));
    td_replay_free(replay);
    replay = replay_loaded(copy, NULL);
    replay_check_where(replay, rows == 5 ? 32 : 60, 60, rows == 5 ? 8 : 6, rows == 5 ? 8 : 21);
    TD_DO(td_replay_dict(replay, &batch));
    int64_t all[60], places[60];
    const int64_t n = replay_values(batch, TD_KEY("a"), all, 8, 60);
    TD_CHECK_INT(replay_values(batch, TD_KEY("index"), places, 8, 60), n);
    TD_CHECK_INT(n, rows == 5 ? 32 : 60);
    for (int i = 0; i < 12; i++) {
      const int at = (rows == 5 ? 20 : 12) + i;
      TD_CHECK_INT(all[at], 1000 + i);
      TD_CHECK_INT(places[at], at / 4);
    }
    td_free(batch);
    td_replay_free(replay);
    const td_replay_options slices = options_of(TD_REPLAY_SAMPLER_SLICES);
    TD_EXPECT_NULL(td_replay_load(copy, &slices, &replay), TD_ERR_INVALID_ARGUMENT, replay);
  }
}

static void refuse(const char *file, const char *text, td_status status, const char *message) {
  const char *path = td_here(file);
  size_t size = 0;
  char *before = td_read_file(path, &size);
  td_write_text(path, text);
  td_replay *replay = NULL;
  TD_EXPECT_NULL(td_replay_load(td_here("bad"), NULL, &replay), status, replay);
  TD_CHECK_TEXT(td_last_error_message(), message);
  TD_EXPECT_NULL(td_replay_open(td_here("bad"), NULL, &replay), status, replay);
  td_write_file(path, before, size);
  free(before);
}

TD_TEST(hostile_folders) {
  td_replay *replay = NULL;
  TD_EXPECT_NULL(td_replay_load(td_here("none"), NULL, &replay), TD_ERR_IO, replay);
  TD_EXPECT_NULL(td_replay_load("", NULL, &replay), TD_ERR_IO, replay);
  const td_replay_options options = options_of(TD_REPLAY_SAMPLER_PRIORITIZED);
  replay = replay_of(&options);
  write_steps(replay, 0, 30);
  prioritize(replay);
  TD_DO(td_replay_save(replay, td_here("bad"), 0));
  td_replay_free(replay);
#define WRITER "bad/writer/metadata.json"
  refuse(WRITER, "", TD_ERR_FORMAT, "metadata.json");
  refuse(WRITER, "[1, 2]", TD_ERR_FORMAT, "no JSON object");
  refuse(WRITER, "{\"cursor\": 30}", TD_ERR_FORMAT, "write_count");
  refuse(WRITER, "{\"cursor\": \"30\", \"write_count\": 30}", TD_ERR_FORMAT, "cursor");
  refuse(WRITER, "{\"cursor\": 40, \"write_count\": 30}", TD_ERR_FORMAT, "place 40 of 40");
  refuse(WRITER, "{\"cursor\": -1, \"write_count\": 30}", TD_ERR_FORMAT, "place -1 of 40");
  refuse(WRITER, "{\"cursor\": 30, \"write_count\": -7}", TD_ERR_FORMAT, "-7 rows were ever");
  refuse(WRITER, "{\"cursor\": 30, \"write_count\": 30, \"cursor\": 30}", TD_ERR_FORMAT, "twice");
#define STORAGE "bad/storage/storage_metadata.json"
  refuse(STORAGE, "{\"len\": 41}", TD_ERR_FORMAT, "41 of 40 places");
  refuse(STORAGE, "{\"len\": -1}", TD_ERR_FORMAT, "-1 of 40 places");
  refuse(STORAGE, "{\"len\": 1e3}", TD_ERR_FORMAT, "len");
  refuse(STORAGE, "{}", TD_ERR_FORMAT, "len");
  refuse(STORAGE, "{\"len\": 30, \"is_pytree\": true}", TD_ERR_UNSUPPORTED, "a pytree");
  refuse("bad/buffer_metadata.json", "{\"batch_size\": 0}", TD_ERR_FORMAT, "batch_size 0");
  refuse("bad/draws.json", "{\"seed\": 1}", TD_ERR_FORMAT, "drawn");
#define SETTINGS "bad/sampler/sampler_metadata.json"
  refuse(SETTINGS, "{\"_alpha\": 1, \"_beta\": 1}", TD_ERR_FORMAT, "_eps");
  refuse(SETTINGS, "{\"_alpha\": -1, \"_beta\": 1, \"_eps\": 0}", TD_ERR_FORMAT, "_alpha is -1");
  refuse(SETTINGS, "{\"_alpha\": 1, \"_beta\": 1e999, \"_eps\": 0}", TD_ERR_FORMAT,
         "no finite number");
  refuse(SETTINGS, "{\"_alpha\": 1, \"_beta\": NaN, \"_eps\": 0}", TD_ERR_FORMAT,
         "no finite number");
  refuse(SETTINGS, "{\"_alpha\": 1, \"_beta\": 1, \"_eps\": 0, \"_max_capacity\": 41}",
         TD_ERR_FORMAT, "41 places");
  refuse(SETTINGS, "{\"_alpha\": 1, \"_beta\": 1, \"_eps\": 0, \"_max_priority\": [\"x\", 1]}",
         TD_ERR_FORMAT, "_max_priority");
  refuse("bad/sampler/sumtree.memmap", "short", TD_ERR_FORMAT, "too short");
  refuse("bad/sampler/mintree.memmap", "", TD_ERR_FORMAT, "too short");
  refuse("bad/storage/a.memmap", "short", TD_ERR_FORMAT, "too short");
  const double values[] = {NAN, -1, INFINITY, 1};
  for (int i = 0; i < 4; i++) {
    size_t size = 0;
    char *tree = td_read_file(td_here("bad/sampler/sumtree.memmap"), &size);
    memcpy(tree + (i == 3 ? 35 : 3) * 8, &values[i], 8); /* row 35 holds nothing */
    char other[500], file[600];
    snprintf(other, sizeof other, "%s/mad%d", td_test_folder(), i);
    snprintf(file, sizeof file, "%s/sampler/sumtree.memmap", other);
    td_copy_tree(td_here("bad"), other);
    td_write_file(file, tree, size);
    TD_EXPECT_NULL(td_replay_load(other, NULL, &replay), TD_ERR_FORMAT, replay);
    free(tree);
  }
  td_replay_options other = options;
  other.capacity = 41;
  TD_EXPECT_NULL(td_replay_load(td_here("bad"), &other, &replay), TD_ERR_INVALID_ARGUMENT, replay);
  TD_CHECK_TEXT(td_last_error_message(), "capacity is 41");
  replay = replay_loaded(td_here("bad"), &options); /* still good */
}

TD_TEST(a_folder_that_is_not_opened_stays_as_it_was) {
  const td_replay_options options = options_of(TD_REPLAY_SAMPLER_RANDOM);
  td_replay *replay = replay_of(&options);
  write_steps(replay, 0, 30);
  TD_DO(td_replay_save(replay, td_here("saved"), 0));
  td_replay_options other = options;
  other.capacity = 41;
  TD_EXPECT_NULL(td_replay_open(td_here("saved"), &other, &replay), TD_ERR_INVALID_ARGUMENT,
                 replay);
  TD_CHECK(!td_exists(td_here("saved/live.bin")));
  TD_DO(td_replay_open(td_here("saved"), NULL, &replay));
  TD_CHECK(td_exists(td_here("saved/live.bin")));
  td_replay *again = NULL;
  TD_EXPECT_NULL(td_replay_open(td_here("saved"), &other, &again), TD_ERR_INVALID_ARGUMENT, again);
  TD_CHECK(td_exists(td_here("saved/live.bin"))); /* the buffer above uses it */
}

/* TorchRL makes a list before it refuses a batch of more rows than there are, and the folder still says that none was drawn. */
TD_TEST(a_list_that_no_batch_was_drawn_from) {
  td_replay_options options = options_of(TD_REPLAY_SAMPLER_WITHOUT_REPLACEMENT);
  td_replay *replay = replay_of(&options);
  write_steps(replay, 0, 30);
  int64_t a[30];
  replay_draw(replay, 8, a, NULL);
  TD_DO(td_replay_save(replay, td_here("saved"), 0));
  td_replay_free(replay);
  const int64_t none = 0;
  td_write_file(td_here("saved/sampler/len_storage.memmap"), (const char *)&none, sizeof none);
  replay = replay_loaded(td_here("saved"), &options);
  TD_CHECK_INT(replay_draw(replay, 30, a, NULL), 30); /* all rows: another list was made */
  for (int i = 0; i < 30; i++) {
    for (int k = 0; k < i; k++) TD_CHECK(a[i] != a[k]);
  }
}

TD_TEST(a_hostile_list_of_rows) {
  const td_replay_options options = options_of(TD_REPLAY_SAMPLER_WITHOUT_REPLACEMENT);
  td_replay *replay = replay_of(&options);
  write_steps(replay, 0, 30);
  int64_t a[8];
  replay_draw(replay, 8, a, NULL);
  TD_DO(td_replay_save(replay, td_here("bad"), 0));
  td_replay_free(replay);
  const int64_t bad[] = {-1, 30, INT64_MAX, 0};
  for (int i = 0; i < 4; i++) {
    size_t size = 0;
    char *list = td_read_file(td_here("bad/sampler/_sample_list.memmap"), &size);
    TD_CHECK_INT(size, 22 * 8);
    int64_t value = bad[i];
    if (i == 3) memcpy(&value, list, 8); /* twice */
    memcpy(list + 8, &value, 8);
    char other[500];
    snprintf(other, sizeof other, "%s/mad%d", td_test_folder(), i);
    td_copy_tree(td_here("bad"), other);
    char file[600];
    snprintf(file, sizeof file, "%s/sampler/_sample_list.memmap", other);
    td_write_file(file, list, size);
    free(list);
    TD_EXPECT_NULL(td_replay_load(other, NULL, &replay), TD_ERR_FORMAT, replay);
  }
}
