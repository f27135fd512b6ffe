/* Slices of replay buffers: without replacement, by priority, with their ends marked, one by one in a dimension. The
   numbers are those of TorchRL 0.14.1 on the same rows. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "td_replay_test.h"

static const char *const done_path[] = {"next", "done"};
static const td_key by_end = {done_path, 2};

/* Rows from `first` on, in episodes of nine; "is_init" is true in the first one of each. */
static td_tensordict *steps(int64_t first, int64_t n) {
  td_tensordict *td = replay_rows(first, n);
  td_tensor *done = td_filled(TD_DTYPE_BOOL, 0, TD_SIZES(n, 1));
  td_tensor *init = td_filled(TD_DTYPE_BOOL, 0, TD_SIZES(n, 1));
  void *ends = NULL, *begins = NULL;
  TD_DO(td_tensor_data(done, &ends));
  TD_DO(td_tensor_data(init, &begins));
  for (int64_t i = 0; i < n; i++) {
    ((char *)ends)[i] = (first + i) % 9 == 8;
    ((char *)begins)[i] = (first + i) % 9 == 0;
  }
  td_put(td, TD_KEY("next", "done"), done);
  td_put(td, TD_KEY("is_init"), init);
  return td;
}

static td_replay_options slices_of(td_replay_sampler sampler, int64_t slice_len) {
  td_replay_options options = replay_options(40, sampler);
  options.slice_len = slice_len;
  options.ends = &by_end;
  options.ends_len = 1;
  return options;
}

static td_replay *filled(const td_replay_options *options, int64_t rows) {
  td_replay *replay = replay_of(options);
  for (int64_t first = 0; first < rows; first += 40) {
    td_tensordict *td = steps(first, rows - first < 40 ? rows - first : 40);
    TD_DO(td_replay_extend(replay, td));
    td_free(td);
  }
  return replay;
}

static void prioritize(td_replay *replay, int64_t rows) { /* row k has priority k + 1 */
  td_tensor *index = td_arange(TD_DTYPE_INT64, 0, TD_SIZES(rows));
  td_tensor *priority = td_arange(TD_DTYPE_FLOAT32, 1, TD_SIZES(rows));
  TD_DO(td_replay_update_priority(replay, index, priority));
  td_tensor_free(index);
  td_tensor_free(priority);
}

/* The batches until each episode was taken once: how often each of the first `n` was. */
static void take_all(td_replay *replay, int64_t batches, int64_t slice, int *count, int64_t n) {
  memset(count, 0, (size_t)n * sizeof *count);
  for (int64_t k = 0; k < batches; k++) {
    int64_t a[40];
    const int64_t rows = replay_draw(replay, 2 * slice, a, NULL);
    TD_CHECK_INT(rows % slice, 0);
    for (int64_t i = 0; i < rows; i++) {
      if (i % slice != 0) TD_CHECK_INT(a[i], a[i - 1] + 1);
      if (i % slice == 0) count[a[i] / 9]++;
      TD_CHECK_INT(a[i] / 9, a[i - i % slice] / 9);
    }
  }
}

TD_TEST(each_episode_has_one_slice_without_replacement) {
  int count[5];
  td_replay_options options = slices_of(TD_REPLAY_SAMPLER_SLICES_WITHOUT_REPLACEMENT, 4);
  td_replay *replay =
      filled(&options, 30); /* episodes of 9, 9, 9 and 3 rows: the last is too short */
  for (int pass = 0; pass < 3; pass++) {
    take_all(replay, 2, 4, count, 4);
    for (int i = 0; i < 4; i++) TD_CHECK_INT(count[i], i < 3);
  }
  td_replay_free(replay);
  options.slice_len = 3;
  replay = filled(&options, 30);
  take_all(replay, 2, 3, count, 4);
  for (int i = 0; i < 4; i++) TD_CHECK_INT(count[i], 1);
  td_replay_free(replay);
  options.flags = TD_REPLAY_IN_ORDER;
  replay = filled(&options, 45); /* a full ring, whose oldest row is 5 */
  int64_t a[6];
  TD_CHECK_INT(replay_draw(replay, 6, a, NULL), 6); /* in the order of the places of last rows */
  TD_CHECK_INT(a[0] / 9, 4);
  TD_CHECK_INT(a[3] / 9, 0);
  td_replay_free(replay);
  options.flags = TD_REPLAY_DROP_LAST;
  replay = filled(&options, 27);
  take_all(replay, 1, 3, count, 3);
  td_tensordict *batch = NULL;
  TD_EXPECT_NULL(td_replay_sample(replay, 12, &batch), TD_ERR_SHAPE, batch);
  TD_CHECK_TEXT(td_last_error_message(), "4 slices");
  td_replay_free(replay);
  options = slices_of(TD_REPLAY_SAMPLER_SLICES_WITHOUT_REPLACEMENT, 10);
  replay = filled(&options, 30);
  TD_EXPECT_NULL(td_replay_sample(replay, 10, &batch), TD_ERR_SHAPE, batch);
  TD_CHECK_TEXT(td_last_error_message(), "10 rows");
}

/* Which rows begin slices of five, and how long these are; all of them must be drawn. */
static void check_starts(td_replay_flags flags, int64_t span, int64_t rows,
                         const int64_t (*want)[2], int n) {
  td_replay_options options = slices_of(TD_REPLAY_SAMPLER_PRIORITIZED_SLICES, 5);
  options.flags = flags | TD_REPLAY_MARK_ENDS;
  options.span_end = span;
  options.alpha = options.beta = 1;
  td_replay *replay = filled(&options, rows);
  prioritize(replay, rows < 40 ? rows : 40);
  int seen[40] = {0};
  double sum = 0, off = 0;
  for (int i = 0; i < n; i++) sum += (double)want[i][0] + 1;
  for (int k = 0; k < 1000; k++) {
    td_tensordict *batch = NULL;
    int64_t index[20];
    char ends[20];
    float weight[20];
    TD_DO(td_replay_sample(replay, 20, &batch));
    const int64_t m = replay_values(batch, TD_KEY("index"), index, 8, 20);
    replay_values(batch, TD_KEY("priority_weight"), weight, 4, 20);
    replay_values(batch, TD_KEY("next", "truncated"), ends, 1, 20);
    td_free(batch);
    int64_t first = 0, slices = 0;
    for (int64_t i = 0; i < m; i++) {
      TD_CHECK_INT(index[i], (index[first] + i - first) % 40);
      TD_CHECK(fabs(weight[i] * (double)(index[first] + 1) - 1) < 1e-5); /* (p / least)^-1 */
      if (!ends[i]) continue;
      int at = 0;
      while (at < n && want[at][0] != index[first]) at++;
      TD_CHECK(at < n);
      TD_CHECK_INT(i + 1 - first, want[at][1]);
      seen[at]++;
      slices++;
      first = i + 1;
    }
    TD_CHECK_INT(first, m);
    TD_CHECK_INT(slices, 4);
  }
  for (int i = 0; i < n; i++) { /* chi-squared of less than 40 cells */
    const double expected = 4000 * ((double)want[i][0] + 1) / sum;
    off += (seen[i] - expected) * (seen[i] - expected) / expected;
    TD_CHECK(seen[i] > 0);
  }
  TD_CHECK(off < 90);
  td_replay_free(replay);
}

TD_TEST(slices_begin_by_priority) {
  static const int64_t strict[][2] = {{0, 5},  {1, 5},  {2, 5},  {3, 5},  {4, 5},
                                      {9, 5},  {10, 5}, {11, 5}, {12, 5}, {13, 5},
                                      {18, 5}, {19, 5}, {20, 5}, {21, 5}, {22, 5}};
  static const int64_t shorter[][2] = {{0, 5},  {1, 5},  {2, 5},  {3, 5},  {4, 5},  {9, 5},
                                       {10, 5}, {11, 5}, {12, 5}, {13, 5}, {18, 5}, {19, 5},
                                       {20, 5}, {21, 5}, {22, 5}, {27, 3}};
  static const int64_t span_2[][2] = {{0, 5},  {1, 5},  {2, 5},  {3, 5},  {4, 5},  {5, 4},
                                      {6, 3},  {9, 5},  {10, 5}, {11, 5}, {12, 5}, {13, 5},
                                      {14, 4}, {15, 3}, {18, 5}, {19, 5}, {20, 5}, {21, 5},
                                      {22, 5}, {23, 4}, {24, 3}, {27, 3}};
  static const int64_t span[][2] = {{0, 5},  {1, 5},  {2, 5},  {3, 5},  {4, 5},  {5, 4},  {6, 3},
                                    {7, 2},  {9, 5},  {10, 5}, {11, 5}, {12, 5}, {13, 5}, {14, 4},
                                    {15, 3}, {16, 2}, {18, 5}, {19, 5}, {20, 5}, {21, 5}, {22, 5},
                                    {23, 4}, {24, 3}, {25, 2}, {27, 3}, {28, 2}};
  static const int64_t around[][2] = {{4, 5},  {9, 5},  {10, 5}, {11, 5}, {12, 5}, {13, 5}, {18, 5},
                                      {19, 5}, {20, 5}, {21, 5}, {22, 5}, {27, 5}, {28, 5}, {29, 5},
                                      {30, 5}, {31, 5}, {36, 5}, {37, 5}, {38, 5}, {39, 5}};
  check_starts(0, 0, 30, strict, 15);
  check_starts(TD_REPLAY_SHORT, 0, 30, shorter, 16);
  check_starts(0, 2, 30, span_2, 22);
  check_starts(TD_REPLAY_SPAN_END, 0, 30, span, 26);
  check_starts(TD_REPLAY_SPAN_END | TD_REPLAY_SHORT, 0, 30, span, 26);
  check_starts(0, 0, 44, around, 20); /* a full ring: rows 36 to 43 are one episode */
}

TD_TEST(priorities_of_slices_change) {
  td_replay_options options = slices_of(TD_REPLAY_SAMPLER_PRIORITIZED_SLICES, 5);
  options.alpha = 1;
  td_replay *replay = filled(&options, 30);
  td_tensordict *batch = NULL;
  int64_t a[5];
  td_tensor *all = td_arange(TD_DTYPE_INT64, 0, TD_SIZES(30));
  td_tensor *least = td_filled(TD_DTYPE_FLOAT32, 1e-6, TD_SIZES(1));
  td_tensor *most = td_filled(TD_DTYPE_FLOAT32, 1e9, TD_SIZES(1));
  TD_DO(td_replay_update_priority(replay, all, least));
  for (int64_t row = 9; row < 18; row++) { /* the last four begin no slice */
    td_tensor *one = td_positions(&row, 1);
    TD_DO(td_replay_update_priority(replay, one, most));
    TD_CHECK_INT(replay_draw(replay, 5, a, NULL), 5);
    if (row < 14) TD_CHECK_INT(a[0], row);
    if (row >= 14) TD_CHECK(a[0] % 9 < 5);
    TD_DO(td_replay_update_priority(replay, one, least));
  }
  td_tensordict *more = steps(30, 6); /* now the last episode is as long as its others */
  TD_DO(td_replay_extend(replay, more));
  TD_CHECK_INT(replay_draw(replay, 5, a, NULL), 5); /* new rows have the largest priority so far */
  TD_CHECK(a[0] >= 30 && a[0] < 32);
  td_tensor *zero = td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(1));
  td_replay_free(replay);
  options.eps = 0;
  options.flags = TD_REPLAY_BATCH_WEIGHTS;
  replay = filled(&options, 30);
  TD_DO(td_replay_update_priority(replay, all, zero));
  const int64_t last = 8;
  td_tensor *one = td_positions(&last, 1);
  TD_DO(td_replay_update_priority(replay, one, most));
  TD_EXPECT_NULL(td_replay_sample(replay, 5, &batch), TD_ERR_SHAPE, batch); /* 8 begins none */
  options.slice_len = 10;
  td_replay_free(replay);
  replay = filled(&options, 30);
  TD_EXPECT_NULL(td_replay_sample(replay, 10, &batch), TD_ERR_SHAPE, batch);
  TD_CHECK_TEXT(td_last_error_message(), "10 rows");
}

TD_TEST(a_batch_has_a_number_of_slices) {
  td_replay_options options = slices_of(TD_REPLAY_SAMPLER_SLICES, 0);
  options.num_slices = 3;
  td_replay *replay = filled(&options, 27);
  for (int64_t length = 1; length < 10; length++) {
    int64_t a[27];
    TD_CHECK_INT(replay_draw(replay, 3 * length, a, NULL), 3 * length);
    for (int64_t i = 0; i < 3 * length; i++) TD_CHECK_INT(a[i], a[i - i % length] + i % length);
  }
  td_tensordict *batch = NULL;
  TD_EXPECT_NULL(td_replay_sample(replay, 10, &batch), TD_ERR_INVALID_ARGUMENT, batch);
  TD_CHECK_TEXT(td_last_error_message(), "3 slices");
  TD_EXPECT_NULL(td_replay_sample(replay, 30, &batch), TD_ERR_SHAPE, batch); /* 10 rows each */
}

static int about(int64_t count, double want) {
  return (double)count > 0.85 * want && (double)count < 1.15 * want;
}

TD_TEST(a_slice_spans_so_many_rows) {
  int64_t lengths[5] = {0};
  td_replay_options options = slices_of(TD_REPLAY_SAMPLER_SLICES, 4);
  options.span_begin = 2;
  options.span_end = 1;
  td_replay *replay = filled(&options, 9);
  for (int times = 0; times < 9000; times++) {
    int64_t a[4];
    const int64_t n = replay_draw(replay, 4, a, NULL);
    lengths[n]++;
    if (n == 2) TD_CHECK_INT(a[0], 0); /* two rows are before the episode */
    if (n == 3) TD_CHECK(a[0] == 0 || a[2] == 8);
  }
  TD_CHECK_INT(lengths[0] + lengths[1], 0); /* six whole places, two before, one behind */
  TD_CHECK(about(lengths[2], 1000) && about(lengths[3], 2000) && about(lengths[4], 6000));
}

TD_TEST(ends_of_slices_are_marked) {
  td_replay_options options = slices_of(TD_REPLAY_SAMPLER_SLICES, 4);
  options.flags = TD_REPLAY_SHORT | TD_REPLAY_MARK_ENDS;
  td_replay *replay = filled(&options, 11); /* an episode of 9 rows, and one of 2 */
  for (int times = 0; times < 50; times++) {
    td_tensordict *batch = NULL;
    TD_DO(td_replay_sample(replay, 12, &batch));
    int64_t a[12], first = 0;
    char done[12], truncated[12], terminated[12], init[12];
    const int64_t n = replay_values(batch, TD_KEY("a"), a, 8, 12);
    TD_CHECK_INT(replay_values(batch, TD_KEY("next", "done"), done, 1, 12), n);
    TD_CHECK_INT(replay_values(batch, TD_KEY("next", "truncated"), truncated, 1, 12), n);
    TD_CHECK_INT(replay_values(batch, TD_KEY("next", "terminated"), terminated, 1, 12), n);
    TD_CHECK_INT(replay_values(batch, TD_KEY("is_init"), init, 1, 12), n);
    td_free(batch);
    for (int64_t i = 0; i < n; i++) {
      const int is_last = a[i] == 10 || i - first == 3;
      TD_CHECK_INT(a[i], a[first] + i - first);
      TD_CHECK_INT(truncated[i], is_last);
      TD_CHECK_INT(done[i], is_last || a[i] == 8);
      TD_CHECK_INT(terminated[i], 0);
      TD_CHECK_INT(init[i], i == first || a[i] == 0 || a[i] == 9);
      if (is_last) first = i + 1;
    }
    TD_CHECK_INT(first, n);
  }
  td_replay_free(replay);
  /* Rows without these entries get what says where slices end. */
  static const char *const name[] = {"episode"};
  const td_key by_id = {name, 1};
  options.ends = NULL;
  options.ends_len = 0;
  options.episode = &by_id;
  replay = replay_of(&options);
  td_tensordict *td = replay_rows(0, 8), *batch = NULL;
  td_put(td, TD_KEY("episode"), td_filled(TD_DTYPE_INT64, 3, TD_SIZES(8)));
  TD_DO(td_replay_extend(replay, td));
  TD_DO(td_replay_sample(replay, 8, &batch));
  TD_CHECK_ENTRY(batch, TD_KEY("next", "done"), TD_SIZES(8, 1), TD_VALUES(0, 0, 0, 1, 0, 0, 0, 1));
  TD_CHECK_ENTRY(batch, TD_KEY("next", "truncated"), TD_SIZES(8, 1),
                 TD_VALUES(0, 0, 0, 1, 0, 0, 0, 1));
  td_free(batch);
  td_free(td);
  td_replay_free(replay);
  replay = replay_of(&options);
  td = replay_rows(0, 8);
  td_put(td, TD_KEY("episode"), td_filled(TD_DTYPE_INT64, 3, TD_SIZES(8)));
  td_put(td, TD_KEY("next", "done"), td_filled(TD_DTYPE_INT64, 0, TD_SIZES(8)));
  TD_DO(td_replay_extend(replay, td));
  TD_EXPECT_NULL(td_replay_sample(replay, 8, &batch), TD_ERR_DTYPE, batch);
}

TD_TEST(a_batch_is_slices_by_time) {
  td_replay_options options = slices_of(TD_REPLAY_SAMPLER_SLICES, 4);
  options.flags = TD_REPLAY_SHORT | TD_REPLAY_MARK_ENDS | TD_REPLAY_BY_SLICE;
  td_replay *replay = filled(&options, 11);
  int short_ones = 0;
  for (int times = 0; times < 50; times++) {
    td_tensordict *batch = NULL;
    TD_DO(td_replay_sample(replay, 12, &batch));
    TD_CHECK_BATCH(batch, 3, 4);
    int64_t a[12], index[12], b[24];
    char mask[12], truncated[12], done[12];
    TD_CHECK_INT(replay_values(batch, TD_KEY("a"), a, 8, 12), 12);
    TD_CHECK_INT(replay_values(batch, TD_KEY("n", "b"), b, 8, 24), 24);
    TD_CHECK_INT(replay_values(batch, TD_KEY("index"), index, 8, 12), 12);
    TD_CHECK_INT(replay_values(batch, TD_KEY("collector", "mask"), mask, 1, 12), 12);
    TD_CHECK_INT(replay_values(batch, TD_KEY("next", "truncated"), truncated, 1, 12), 12);
    TD_CHECK_INT(replay_values(batch, TD_KEY("next", "done"), done, 1, 12), 12);
    td_free(batch);
    for (int64_t i = 0; i < 12; i++) {
      const int64_t first = a[i - i % 4], length = first == 9 ? 2 : 4, k = i % 4;
      TD_CHECK_INT(mask[i], k < length);
      TD_CHECK_INT(a[i], first + (k < length ? k : length - 1));
      TD_CHECK_INT(index[i], a[i]);
      TD_CHECK_INT(b[2 * i], 2 * a[i]);
      TD_CHECK_INT(truncated[i], k == length - 1);
      TD_CHECK_INT(done[i], k == length - 1 || a[i] == 8);
      short_ones += k == 2 && length == 2;
    }
  }
  TD_CHECK(short_ones > 0);
  td_replay_free(replay);
  options = slices_of(TD_REPLAY_SAMPLER_PRIORITIZED_SLICES, 0);
  options.num_slices = 2;
  options.flags = TD_REPLAY_SHORT | TD_REPLAY_BY_SLICE;
  replay = filled(&options, 11);
  td_tensordict *batch = NULL;
  TD_DO(td_replay_sample(replay, 6, &batch));
  TD_CHECK_BATCH(batch, 2, 3);
  float weight[6];
  TD_CHECK_INT(replay_values(batch, TD_KEY("priority_weight"), weight, 4, 6), 6);
  for (int i = 0; i < 6; i++) TD_CHECK(weight[i] == 1);
}

TD_TEST(a_folder_says_how_slices_are_drawn) {
  for (int kind = TD_REPLAY_SAMPLER_SLICES; kind <= TD_REPLAY_SAMPLER_PRIORITIZED_SLICES; kind++) {
    if (kind == TD_REPLAY_SAMPLER_PRIORITIZED) continue;
    td_replay_options options = slices_of((td_replay_sampler)kind, kind % 2 ? 5 : 0);
    if (options.slice_len == 0) options.num_slices = 2;
    options.flags = TD_REPLAY_SHORT | TD_REPLAY_MARK_ENDS | TD_REPLAY_BY_SLICE;
    options.rows = 10;
    options.span_end = 1;
    td_replay *replay = filled(&options, 38);
    if (kind == TD_REPLAY_SAMPLER_PRIORITIZED_SLICES) prioritize(replay, 38);
    td_tensordict *batch = NULL;
    TD_DO(td_replay_sample(replay, 0, &batch));
    td_free(batch);
    const char *folder = td_path(td_test_folder(), kind == 3 ? "a" : kind == 5 ? "b" : "c");
    TD_DO(td_replay_save(replay, folder, 0));
    td_replay *stored = replay_loaded(folder, NULL), *named = replay_loaded(folder, &options);
    for (int times = 0; times < 20; times++) { /* all three go on alike */
      td_replay *const all[] = {replay, stored, named};
      int64_t a[3][10];
      for (int i = 0; i < 3; i++) {
        TD_DO(td_replay_sample(all[i], 0, &batch));
        int64_t sizes[2] = {0};
        size_t dims = 0;
        TD_DO(td_batch_size(batch, sizes, 2, &dims));
        TD_CHECK_INT(dims, 2);
        TD_CHECK_INT(sizes[1], 5);
        const int64_t n = replay_values(batch, TD_KEY("a"), a[i], 8, 10);
        TD_CHECK(memcmp(a[0], a[i], (size_t)n * 8) == 0);
        td_free(batch);
      }
    }
    td_replay_free(stored);
    td_replay_free(named);
    td_replay_free(replay);
    td_replay_options other = replay_options(0, TD_REPLAY_SAMPLER_RANDOM);
    replay = replay_loaded(folder, &other); /* the caller may name another */
    TD_DO(td_replay_sample(replay, 7, &batch));
    TD_CHECK_BATCH(batch, 7);
    td_free(batch);
    td_replay_free(replay);
  }
  const char *bad[][2] = {{"[]", "name"},
                          {"{\"name\": \"other\"}", "name"},
                          {"{\"name\": \"slices\", \"slice_len\": \"5\"}", "slice_len"},
                          {"{\"name\": \"slices\", \"slice_len\": 5, \"ends\": [[1]]}", "ends"},
                          {"{\"name\": \"slices\", \"slice_len\": 5, \"short\": 1}", "short"},
                          {"{\"name\": \"slices\", \"slice_len\": -5}", "slice_len is -5"},
                          {"{\"name\": \"slices\", \"slice_len\": 5}", "tell episodes apart"}};
  const char *folder = td_path(td_test_folder(), "a");
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char text[300], file[500];
    const int length =
        snprintf(text, sizeof text, "{\"seed\": 1, \"drawn\": 2, \"sampler\": %s}", bad[i][0]);
    snprintf(file, sizeof file, "%s/draws.json", folder);
    td_write_file(file, text, (size_t)length);
    td_replay *replay = NULL;
    TD_EXPECT_NULL(td_replay_load(folder, NULL, &replay), TD_ERR_FORMAT, replay);
    TD_CHECK_TEXT(td_last_error_message(), bad[i][1]);
  }
}

TD_TEST(slices_that_make_no_sense) {
  td_replay *replay = NULL;
  td_replay_options good = slices_of(TD_REPLAY_SAMPLER_SLICES, 5), bad = good;
#define REFUSED TD_EXPECT_NULL(td_replay_create(&bad, &replay), TD_ERR_INVALID_ARGUMENT, replay)
  bad.num_slices = 2; /* and slice_len */
  REFUSED;
  bad = good, bad.slice_len = 0;
  REFUSED;
  bad = good, bad.slice_len = 0, bad.num_slices = -1;
  REFUSED;
  bad = good, bad.span_begin = 5;
  REFUSED;
  TD_CHECK_TEXT(td_last_error_message(), "5 outside");
  bad = good, bad.span_end = -1;
  REFUSED;
  bad = good, bad.sampler = TD_REPLAY_SAMPLER_PRIORITIZED_SLICES, bad.span_begin = 1;
  REFUSED;
  bad = good, bad.flags = TD_REPLAY_DROP_LAST; /* without replacement only */
  REFUSED;
  bad = good, bad.flags = TD_REPLAY_LARGEST_WITHIN;
  REFUSED;
  bad = good, bad.priority_key = &by_end;
  REFUSED;
  bad = replay_options(40, TD_REPLAY_SAMPLER_RANDOM), bad.flags = TD_REPLAY_MARK_ENDS;
  REFUSED;
  bad.flags = TD_REPLAY_BY_SLICE;
  REFUSED;
  bad.flags = 2 * TD_REPLAY_BY_SLICE;
  REFUSED;
  bad.flags = 0, bad.num_slices = 3;
  REFUSED;
  bad.num_slices = 0, bad.dims = -1;
  REFUSED;
  bad.dims = 65;
  REFUSED;
#undef REFUSED
}

/* Options of a program that was built before there were more. */
TD_TEST(shorter_options) {
  td_replay_options options = slices_of(TD_REPLAY_SAMPLER_SLICES, 5);
  options.struct_size = offsetof(td_replay_options, num_slices);
  options.num_slices = 99; /* not looked at */
  td_replay *replay = filled(&options, 30);
  int64_t a[5];
  TD_CHECK_INT(replay_draw(replay, 5, a, NULL), 5);
  td_replay *none = NULL;
  options.struct_size -= 8;
  TD_EXPECT_NULL(td_replay_create(&options, &none), TD_ERR_INVALID_ARGUMENT, none);
}

/* A storage of time and four environments, as TorchRL's with ndim=2. */
TD_TEST(a_storage_of_two_dimensions) {
  static const char *const done[] = {"done"};
  static const td_key ends = {done, 1};
  td_replay_options options = replay_options(60, TD_REPLAY_SAMPLER_PRIORITIZED_SLICES);
  options.slice_len = 3;
  options.ends = &ends;
  options.ends_len = 1;
  options.dims = 2;
  options.alpha = options.beta = 1;
  td_replay *replay = replay_of(&options);
  td_tensordict *bad = td_empty(TD_SIZES(7)), *td = td_empty(TD_SIZES(7, 4)), *batch = NULL;
  td_put(bad, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(7)));
  TD_EXPECT(td_replay_extend(replay, bad), TD_ERR_SHAPE);
  td_free(bad);
  bad = td_empty(TD_SIZES(7, 8));
  td_put(bad, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(7, 8)));
  TD_EXPECT(td_replay_extend(replay, bad), TD_ERR_SHAPE); /* 60 is no whole number of rows of 8 */
  TD_CHECK_TEXT(td_last_error_message(), "capacity of 60");
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(7, 4)));
  td_put(td, TD_KEY("done"), td_filled(TD_DTYPE_BOOL, 0, TD_SIZES(7, 4)));
  TD_DO(td_replay_extend(replay, td));
  replay_check_where(replay, 28, 60, 7, 7);
  td_tensor *index = NULL, *priority = td_filled(TD_DTYPE_FLOAT32, 1e9, TD_SIZES(1));
  const int64_t one[] = {2, 3};
  TD_DO(td_tensor_from_data(one, 16, TD_SIZES(1, 2), TD_DTYPE_INT64, &index));
  TD_DO(td_replay_update_priority(replay, index, priority)); /* time 2 of environment 3 */
  td_tensor_free(index);
  td_tensor_free(priority);
  for (int saved = 0; saved < 2; saved++) {
    TD_DO(td_replay_sample(replay, 6, &batch));
    TD_CHECK_ENTRY(batch, TD_KEY("index"), TD_SIZES(6, 2),
                   TD_VALUES(2, 3, 3, 3, 4, 3, 2, 3, 3, 3, 4, 3));
    TD_CHECK_ENTRY(batch, TD_KEY("a"), TD_SIZES(6), TD_VALUES(11, 15, 19, 11, 15, 19));
    td_free(batch);
    if (saved) break;
    TD_DO(td_replay_save(replay, td_path(td_test_folder(), "saved"), 0));
    td_replay_free(replay);
    replay = replay_loaded(td_path(td_test_folder(), "saved"), NULL);
    replay_check_where(replay, 28, 60, 7, 7);
  }
  td_tensordict *row = td_empty(TD_SIZES(4)); /* one step of all environments */
  td_put(row, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 100, TD_SIZES(4)));
  td_put(row, TD_KEY("done"), td_filled(TD_DTYPE_BOOL, 0, TD_SIZES(4)));
  TD_DO(td_replay_add(replay, row));
  replay_check_where(replay, 32, 60, 8, 8);
  td_free(row);
  TD_DO(td_replay_dict(replay, &batch));
  TD_CHECK_BATCH(batch, 8, 4);
  td_free(batch);
  td_replay_free(replay);
  td_replay_options other = replay_options(0, TD_REPLAY_SAMPLER_RANDOM);
  other.dims = 3;
  TD_EXPECT_NULL(td_replay_load(td_path(td_test_folder(), "saved"), &other, &replay),
                 TD_ERR_INVALID_ARGUMENT, replay);
  TD_CHECK_TEXT(td_last_error_message(), "dims is 3");
  options.folder = td_path(td_test_folder(), "folder");
  TD_EXPECT_NULL(td_replay_create(&options, &replay), TD_ERR_UNSUPPORTED, replay);
  options = replay_options(8, TD_REPLAY_SAMPLER_RANDOM);
  options.dims = 2;
  replay = replay_of(&options);
  row = td_empty(TD_SIZES(4, 1)); /* one environment: the counts do not say it */
  td_put(row, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4, 1)));
  TD_DO(td_replay_extend(replay, row));
  td_free(row);
  TD_DO(td_replay_save(replay, td_path(td_test_folder(), "one"), 0));
  for (int64_t dims = 0; dims <= 2; dims += 2) {
    td_replay_free(replay);
    options.capacity = 0;
    options.dims = dims;
    replay = replay_loaded(td_path(td_test_folder(), "one"), &options);
    TD_DO(td_replay_sample(replay, 3, &batch));
    int64_t places[6];
    TD_CHECK_INT(replay_values(batch, TD_KEY("index"), places, 8, 6), dims == 2 ? 6 : 3);
  }
}

/* In one order the episodes of a full batch are always the same: if none is long enough, none can be drawn. */
TD_TEST(no_batch_in_order_has_a_slice) {
  td_replay_options options = slices_of(TD_REPLAY_SAMPLER_SLICES_WITHOUT_REPLACEMENT, 9);
  options.flags = TD_REPLAY_IN_ORDER | TD_REPLAY_DROP_LAST;
  td_replay *replay = replay_of(&options);
  const int64_t first[] = {6, 7, 0}, rows[] = {3, 2, 9}; /* a batch has the first two episodes */
  for (int i = 0; i < 3; i++) {
    td_tensordict *td = steps(first[i], rows[i]);
    TD_DO(td_replay_extend(replay, td));
  }
  td_tensordict *batch = NULL;
  TD_EXPECT_NULL(td_replay_sample(replay, 18, &batch), TD_ERR_SHAPE, batch);
  TD_CHECK_TEXT(td_last_error_message(), "9 rows");
  td_replay_free(replay);
}

/* Numbers that no memory holds, and those at the ends of what is valid. */
TD_TEST(numbers_that_are_too_large) {
  td_tensordict *batch = NULL;
  for (int32_t kind = TD_REPLAY_SAMPLER_RANDOM; kind <= TD_REPLAY_SAMPLER_PRIORITIZED_SLICES;
       kind++) {
    td_replay_options options = slices_of(kind, 1);
    if (kind != TD_REPLAY_SAMPLER_SLICES && kind < TD_REPLAY_SAMPLER_SLICES_WITHOUT_REPLACEMENT)
      options.slice_len = 0;
    td_replay *replay = filled(&options, 30);
    TD_EXPECT_NULL(td_replay_sample(replay, INT64_MAX, &batch), TD_ERR_OUT_OF_MEMORY, batch);
    if (!TD_TEST_SANITIZED) /* whose operator new ends the process */
      TD_EXPECT_NULL(td_replay_sample(replay, INT64_C(1) << 50, &batch), TD_ERR_OUT_OF_MEMORY,
                     batch);
    TD_DO(td_replay_sample(replay, 1, &batch));
    td_free(batch);
    td_replay_free(replay);
    if (options.slice_len == 0) continue;
    const int64_t lengths[] = {INT64_C(1) << 31, INT64_MAX};
    for (int i = 0; i < 2; i++) {
      options.slice_len = lengths[i];
      options.flags = TD_REPLAY_SHORT;
      replay = filled(&options, 30);
      TD_EXPECT_NULL(td_replay_sample(replay, 30, &batch), TD_ERR_INVALID_ARGUMENT, batch);
      td_replay_free(replay);
      options.slice_len = 0, options.num_slices = lengths[i];
      replay = filled(&options, 30);
      TD_EXPECT_NULL(td_replay_sample(replay, 30, &batch), TD_ERR_INVALID_ARGUMENT, batch);
      td_replay_free(replay);
      options.num_slices = 0;
    }
  }
}
