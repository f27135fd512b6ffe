/* Replay buffers in memory: the ring, draws with and without replacement, slices. */
#include "td_replay_test.h"

#define N 50

TD_TEST(rows_go_around) {
  const td_replay_options options = replay_options(10, TD_REPLAY_SAMPLER_RANDOM);
  td_replay *replay = replay_of(&options);
  replay_check_where(replay, 0, 10, 0, 0);
  td_tensordict *none = NULL;
  TD_DO(td_replay_dict(replay, &none));
  TD_CHECK_BATCH(none, 0);
  td_free(none);
  replay_write(replay, 0, 4);
  replay_check_where(replay, 4, 10, 4, 4);
  td_tensordict *row = td_empty(TD_NO_SIZES);
  td_put(row, TD_KEY("a"), td_filled(TD_DTYPE_INT64, 4, TD_NO_SIZES));
  td_put(row, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, 8, TD_SIZES(2)));
  TD_DO(td_replay_add(replay, row));
  td_free(row);
  replay_write(replay, 5, 8); /* around the end */
  replay_check_where(replay, 10, 10, 3, 13);
  td_tensordict *td = NULL;
  TD_DO(td_replay_dict(replay, &td));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(10), TD_VALUES(10, 11, 12, 3, 4, 5, 6, 7, 8, 9));
  replay_write(replay, 100, 25); /* more than there are places */
  replay_check_where(replay, 10, 10, 8, 38);
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(10),
                 TD_VALUES(117, 118, 119, 120, 121, 122, 123, 124, 115, 116));
  td_replay_free(replay);
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(10, 2),
                 TD_VALUES(234, 235, 236, 237, 238, 239, 240, 241, 242, 243, 244, 245, 246, 247,
                           248, 249, 230, 231, 232, 233)); /* stays */
}

TD_TEST(random_draws_are_of_rows_that_are_there) {
  const td_replay_options options = replay_options(100, TD_REPLAY_SAMPLER_AS_STORED);
  td_replay *replay = replay_of(&options);
  replay_write(replay, 0, 30);
  int64_t a[300], index[300], again[300], count[30] = {0};
  TD_CHECK_INT(replay_draw(replay, 300, a, index), 300);
  for (int i = 0; i < 300; i++) {
    TD_CHECK(a[i] >= 0 && a[i] < 30);
    TD_CHECK_INT(index[i], a[i]);
    count[a[i]]++;
  }
  for (int i = 0; i < 30; i++) TD_CHECK(count[i] > 0 && count[i] < 30);
  td_replay_free(replay);
  replay = replay_of(&options);
  replay_write(replay, 0, 30);
  replay_draw(replay, 300, again, NULL); /* the same seed */
  TD_CHECK(memcmp(a, again, sizeof a) == 0);
}

TD_TEST(each_row_once_without_replacement) {
  for (int how = 0; how < 3; how++) {
    td_replay_options options = replay_options(N, TD_REPLAY_SAMPLER_WITHOUT_REPLACEMENT);
    options.rows = 8;
    if (how == 1) options.flags = TD_REPLAY_DROP_LAST;
    if (how == 2) options.flags = TD_REPLAY_IN_ORDER;
    td_replay *replay = replay_of(&options);
    replay_write(replay, 0, N);
    for (int pass = 0; pass < 3; pass++) {
      char seen[N] = {0};
      int64_t a[8];
      const int64_t batches = how == 1 ? N / 8 : (N + 7) / 8;
      for (int64_t i = 0; i < batches; i++) {
        td_tensordict *batch = NULL;
        TD_DO(td_replay_sample(replay, 0, &batch));
        const int64_t n = replay_values(batch, TD_KEY("a"), a, 8, 8);
        td_free(batch);
        TD_CHECK_INT(n, i == N / 8 ? N % 8 : 8);
        for (int64_t k = 0; k < n; k++) {
          TD_CHECK(!seen[a[k]]);
          seen[a[k]] = 1;
          if (how == 2) TD_CHECK_INT(a[k], i * 8 + k);
        }
      }
    }
    td_replay_free(replay);
  }
  td_replay_options few = replay_options(N, TD_REPLAY_SAMPLER_WITHOUT_REPLACEMENT);
  few.flags = TD_REPLAY_DROP_LAST;
  td_replay *replay = replay_of(&few);
  replay_write(replay, 0, 3);
  td_tensordict *batch = NULL;
  TD_EXPECT_NULL(td_replay_sample(replay, 4, &batch), TD_ERR_SHAPE, batch);
}

/* The number of a row says its episode (hundreds) and its place in it. */
static td_tensordict *episode(int64_t number, int64_t steps) {
  td_tensordict *td = replay_rows(100 * number, steps);
  td_put(td, TD_KEY("episode"), td_filled(TD_DTYPE_INT64, (double)number, TD_SIZES(steps)));
  td_tensor *done = td_filled(TD_DTYPE_BOOL, 0, TD_SIZES(steps, 1));
  void *data = NULL;
  TD_DO(td_tensor_data(done, &data));
  ((char *)data)[steps - 1] = 1;
  td_put(td, TD_KEY("next", "done"), done);
  return td;
}

TD_TEST(slices_cross_no_border_and_not_the_cursor) {
  const td_key by_id = {TD_KEY("episode")}, by_end = {TD_KEY("next", "done")};
  for (int how = 0; how < 4; how++) {
    td_replay_options options = replay_options(64, TD_REPLAY_SAMPLER_SLICES);
    options.slice_len = 6;
    if (how & 1) {
      options.ends = &by_end;
      options.ends_len = 1;
    } else {
      options.episode = &by_id;
    }
    if (how & 2) options.flags = TD_REPLAY_SHORT;
    td_replay *replay = replay_of(&options);
    int64_t a[60], index[60], around = 0, shorter = 0;
    for (int64_t e = 0; e < 30; e++) {
      td_tensordict *steps = episode(e, 2 + e * 7 % 23);
      TD_DO(td_replay_extend(replay, steps));
      td_free(steps);
      int64_t len = 0, cursor = 0;
      TD_DO(td_replay_where(replay, &len, NULL, &cursor, NULL));
      if (len < 30) continue; /* there may be no episode as long as a slice */
      for (int times = 0; times < 20; times++) {
        const int64_t n = replay_draw(replay, 60, a, index);
        if (!(how & 2)) TD_CHECK_INT(n, 60);
        shorter += n < 60;
        int64_t first = 0;
        for (int64_t i = 1; i < n; i++) {
          const int follows = a[i] == a[i - 1] + 1 && index[i] == (index[i - 1] + 1) % 64;
          if (how & 2 ? !follows : i - first == 6) {
            first = i;
            continue;
          }
          TD_CHECK(follows);
          TD_CHECK(a[i] / 100 == a[i - 1] / 100);
          TD_CHECK(len < 64 || index[i] != cursor);
          around += index[i] == 0;
        }
      }
    }
    TD_CHECK(around > 0); /* some slice runs over the end of the memory */
    TD_CHECK((shorter > 0) == ((how & 2) != 0));
    td_tensordict *batch = NULL;
    TD_EXPECT_NULL(td_replay_sample(replay, 61, &batch), TD_ERR_INVALID_ARGUMENT, batch);
    td_replay_free(replay);
  }
}

/* How often each row of an episode of 8 (and of one of 2) was drawn, in slices of 4. */
static void count_rows(td_replay_flags flags, int64_t counts[2][8], int64_t lengths[5]) {
  const td_key by_id = {TD_KEY("episode")};
  td_replay_options options = replay_options(64, TD_REPLAY_SAMPLER_SLICES);
  options.slice_len = 4;
  options.episode = &by_id;
  options.flags = flags;
  td_replay *replay = replay_of(&options);
  td_tensordict *longer = episode(0, 8), *shorter = episode(1, 2);
  TD_DO(td_replay_extend(replay, longer));
  TD_DO(td_replay_extend(replay, shorter));
  memset(counts, 0, 16 * sizeof counts[0][0]);
  memset(lengths, 0, 5 * sizeof lengths[0]);
  for (int times = 0; times < 6000; times++) {
    int64_t a[4];
    const int64_t n = replay_draw(replay, 4, a, NULL);
    TD_CHECK(n >= 1 && n <= 4);
    lengths[n]++;
    for (int64_t i = 0; i < n; i++) {
      TD_CHECK_INT(a[i], a[0] + i);
      counts[a[i] / 100][a[i] % 100]++;
    }
  }
  td_free(longer);
  td_free(shorter);
  td_replay_free(replay);
}

static int about(int64_t count, double want) {
  return (double)count > 0.85 * want && (double)count < 1.15 * want;
}

TD_TEST(slices_that_span_borders) {
  int64_t counts[2][8], lengths[5];
  count_rows(0, counts, lengths);
  TD_CHECK_INT(lengths[4], 6000); /* of 5 places in the longer one, which has the only slices */
  TD_CHECK(about(counts[0][0], 1200) && about(counts[0][3], 4800) && about(counts[0][7], 1200));
  count_rows(TD_REPLAY_SPAN_BEGIN, counts, lengths); /* 3 more places */
  TD_CHECK(about(lengths[1], 750) && about(lengths[2], 750) && about(lengths[4], 3750));
  TD_CHECK(about(counts[0][0], 3000) && about(counts[0][3], 3000) && about(counts[0][7], 750));
  count_rows(TD_REPLAY_SPAN_BEGIN | TD_REPLAY_SPAN_END, counts, lengths); /* 11 places */
  for (int row = 0; row < 8; row++) TD_CHECK(about(counts[0][row], 6000 * 4 / 11.0));
  TD_CHECK_INT(counts[1][0], 0);
  count_rows(TD_REPLAY_SPAN_BEGIN | TD_REPLAY_SPAN_END | TD_REPLAY_SHORT, counts, lengths);
  for (int row = 0; row < 8; row++) TD_CHECK(about(counts[0][row], 3000 * 4 / 11.0));
  for (int row = 0; row < 2; row++) TD_CHECK(about(counts[1][row], 3000 * 2 / 3.0)); /* 3 places */
  td_replay_options options = replay_options(64, TD_REPLAY_SAMPLER_RANDOM);
  td_replay *replay = NULL;
  options.flags = TD_REPLAY_SPAN_END;
  TD_EXPECT_NULL(td_replay_create(&options, &replay), TD_ERR_INVALID_ARGUMENT, replay);
}

TD_TEST(an_unfinished_episode_has_slices) {
  const td_key by_end = {TD_KEY("next", "done")};
  td_replay_options options = replay_options(64, TD_REPLAY_SAMPLER_SLICES);
  options.slice_len = 4;
  options.ends = &by_end;
  options.ends_len = 1;
  td_replay *replay = replay_of(&options);
  td_tensordict *steps = episode(0, 10), *part = NULL, *batch = NULL;
  const td_index_item head = TD_I_SLICE(0, 3), rest = TD_I_SLICE(3, 7);
  TD_DO(td_index(steps, &head, 1, &part));
  TD_DO(td_replay_extend(replay, part));
  td_free(part);
  TD_EXPECT_NULL(td_replay_sample(replay, 4, &batch), TD_ERR_SHAPE, batch);
  TD_DO(td_index(steps, &rest, 1, &part));
  TD_DO(td_replay_extend(replay, part));
  td_free(part);
  int64_t a[4];
  TD_CHECK_INT(replay_draw(replay, 4, a, NULL), 4);
  TD_CHECK(a[0] >= 0 && a[3] < 7 && a[3] == a[0] + 3);
}

TD_TEST(the_entry_index_says_the_place) {
  const td_replay_options options = replay_options(4, TD_REPLAY_SAMPLER_RANDOM);
  td_replay *replay = replay_of(&options);
  td_tensordict *rows = replay_rows(0, 3), *td = NULL;
  td_put(rows, TD_KEY("index"), td_filled(TD_DTYPE_INT64, -1, TD_SIZES(3)));
  TD_DO(td_replay_extend(replay, rows));
  TD_DO(td_replay_extend(replay, rows));
  TD_DO(td_replay_dict(replay, &td));
  TD_CHECK_ENTRY(td, TD_KEY("index"), TD_SIZES(4), TD_VALUES(0, 1, 2, 3));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(4), TD_VALUES(1, 2, 2, 0));
  TD_DO(td_replay_extend(replay, td)); /* rows of its own */
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(4), TD_VALUES(2, 0, 1, 2));
  td_free(td);
  td_free(rows);
  rows = replay_rows(7, 1); /* it need not be there */
  TD_DO(td_replay_extend(replay, rows));
}

TD_TEST(rows_that_do_not_fit) {
  const td_replay_options options = replay_options(10, TD_REPLAY_SAMPLER_RANDOM);
  td_replay *replay = replay_of(&options);
  td_tensordict *bad = td_empty(TD_NO_SIZES), *batch = NULL;
  TD_EXPECT_NULL(td_replay_sample(replay, 4, &batch), TD_ERR_SHAPE, batch);
  TD_EXPECT(td_replay_add(replay, bad), TD_ERR_INVALID_ARGUMENT); /* no entries */
  TD_EXPECT(td_replay_extend(replay, bad), TD_ERR_SHAPE);
  td_free(bad);
  replay_write(replay, 0, 3);
  TD_EXPECT_NULL(td_replay_sample(replay, 0, &batch), TD_ERR_INVALID_ARGUMENT, batch);
  TD_EXPECT_NULL(td_replay_sample(replay, -1, &batch), TD_ERR_INVALID_ARGUMENT, batch);
  bad = td_empty(TD_SIZES(2));
  td_put(bad, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  TD_EXPECT(td_replay_extend(replay, bad), TD_ERR_KEY_NOT_FOUND);
  TD_CHECK_TEXT(td_last_error_message(), "\"n\"/\"b\"");
  td_put(bad, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 3)));
  TD_EXPECT(td_replay_extend(replay, bad), TD_ERR_SHAPE);
  td_put(bad, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 2)));
  TD_EXPECT(td_replay_extend(replay, bad), TD_ERR_DTYPE);
  td_put(bad, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 2)));
  td_put(bad, TD_KEY("more"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  TD_EXPECT(td_replay_extend(replay, bad), TD_ERR_WRONG_ENTRY);
  TD_DO(td_set_non_tensor_json(bad, TD_KEY("more"), "1"));
  TD_EXPECT(td_replay_extend(replay, bad), TD_ERR_UNSUPPORTED);
  td_free(bad);
  replay_check_where(replay, 3, 10, 3, 3);
}

TD_TEST(options_that_make_no_sense) {
  td_replay *replay = NULL;
  td_replay_options good = replay_options(10, TD_REPLAY_SAMPLER_RANDOM), bad = good;
  const td_key key = {TD_KEY("a")};
#define REFUSED TD_EXPECT_NULL(td_replay_create(&bad, &replay), TD_ERR_INVALID_ARGUMENT, replay)
  bad.capacity = 0;
  REFUSED;
  TD_CHECK_TEXT(td_last_error_message(), "capacity is 0");
  bad.capacity = -5;
  REFUSED;
  bad = good, bad.sampler = 7;
  REFUSED;
  bad = good, bad.flags = 16;
  REFUSED;
  bad = good, bad.flags = TD_REPLAY_DROP_LAST;
  REFUSED;
  bad = good, bad.rows = -1;
  REFUSED;
  bad = good, bad.reserved = 1;
  REFUSED;
  bad = good, bad.slice_len = 3;
  REFUSED;
  bad = good, bad.sampler = TD_REPLAY_SAMPLER_SLICES;
  REFUSED;
  bad.slice_len = 3; /* nothing tells episodes apart */
  REFUSED;
  bad.slice_len = -3, bad.episode = &key;
  REFUSED;
  bad = good, bad.sampler = TD_REPLAY_SAMPLER_PRIORITIZED, bad.alpha = -1;
  REFUSED;
  bad.alpha = 1, bad.beta = -1;
  REFUSED;
  bad.beta = 1, bad.capacity = INT64_C(1) << 40;
  REFUSED;
#undef REFUSED
  good.sampler = TD_REPLAY_SAMPLER_SLICES;
  good.slice_len = 2;
  good.episode = &key;
  replay = replay_of(&good);
  td_tensordict *rows = td_empty(TD_SIZES(4)), *batch = NULL;
  td_put(rows, TD_KEY("b"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4)));
  TD_DO(td_replay_extend(replay, rows));
  TD_EXPECT_NULL(td_replay_sample(replay, 2, &batch), TD_ERR_KEY_NOT_FOUND, batch);
}

/* Rows that are batches themselves: each element has the number and the weight of its row. */
TD_TEST(rows_of_several_dimensions) {
  static const char *const done[] = {"done"};
  static const td_key by_end = {done, 1};
  for (int kind = TD_REPLAY_SAMPLER_RANDOM; kind <= TD_REPLAY_SAMPLER_PRIORITIZED; kind++) {
    td_replay_options options = replay_options(16, (td_replay_sampler)kind);
    if (kind == TD_REPLAY_SAMPLER_SLICES) {
      options.slice_len = 2;
      options.ends = &by_end;
      options.ends_len = 1;
    }
    td_replay *replay = replay_of(&options);
    td_tensordict *td = td_empty(TD_SIZES(8, 3)), *batch = NULL;
    td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(8, 3)));
    td_put(td, TD_KEY("index"), td_filled(TD_DTYPE_INT64, 99, TD_SIZES(8, 3)));
    if (kind == TD_REPLAY_SAMPLER_SLICES)
      td_put(td, TD_KEY("done"), td_filled(TD_DTYPE_BOOL, 0, TD_SIZES(8, 3)));
    TD_DO(td_replay_extend(replay, td));
    td_free(td);
    TD_DO(td_replay_dict(replay, &batch));
    int64_t a[24], index[24];
    TD_CHECK_INT(replay_values(batch, TD_KEY("index"), index, 8, 24), 24);
    for (int i = 0; i < 24; i++) TD_CHECK_INT(index[i], i / 3);
    td_free(batch);
    TD_DO(td_replay_sample(replay, 4, &batch));
    TD_CHECK_BATCH(batch, 4, 3);
    TD_CHECK_INT(replay_values(batch, TD_KEY("a"), a, 8, 24), 12);
    TD_CHECK_INT(replay_values(batch, TD_KEY("index"), index, 8, 24), 12);
    for (int i = 0; i < 12; i++) {
      TD_CHECK_INT(a[i], 3 * index[i] + i % 3);
      TD_CHECK_INT(index[i], index[i - i % 3]);
    }
    if (kind == TD_REPLAY_SAMPLER_PRIORITIZED) {
      float weight[12];
      TD_CHECK_INT(replay_values(batch, TD_KEY("priority_weight"), weight, 4, 12), 12);
      for (int i = 0; i < 12; i++) TD_CHECK(weight[i] == 1);
      td_tensor *places = td_take(batch, TD_KEY("index"));
      td_tensor *priority = td_filled(TD_DTYPE_FLOAT32, 3, TD_SIZES(4, 3));
      TD_DO(td_replay_update_priority(replay, places, priority));
      td_tensor_free(places);
      td_tensor_free(priority);
    }
    td_free(batch);
    td_replay_free(replay);
  }
}
