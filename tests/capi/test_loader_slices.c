/* Slices of consecutive rows: no slice crosses the border of an episode, however that is told. */
#include "td_loader_test.h"

/* {"a": [n] of 0…, "episode": int64 [n], "done": bool [n, 1], "cut": bool [n]}; lengths of the episodes. */
static td_tensordict *steps(const int64_t *lengths, size_t episodes, int64_t n) {
  td_tensordict *td = loader_line(n);
  int64_t *id = calloc((size_t)n, 8), row = 0;
  char *done = calloc(1, (size_t)n), *cut = calloc(1, (size_t)n);
  for (size_t e = 0; e < episodes; e++) {
    for (int64_t k = 0; k < lengths[e]; k++)
      id[row++] = e % 2 ? 7 : (int64_t)e; /* ids come again */
    *(e % 2 ? &done[row - 1] : &cut[row - 1]) = 1;
  }
  TD_CHECK_INT(row, n);
  td_tensor *tensor = NULL;
  TD_DO(td_tensor_from_data(id, (size_t)n * 8, TD_SIZES(n), TD_DTYPE_INT64, &tensor));
  td_put(td, TD_KEY("episode"), tensor);
  TD_DO(td_tensor_from_data(done, (size_t)n, TD_SIZES(n, 1), TD_DTYPE_BOOL, &tensor));
  td_put(td, TD_KEY("next", "done"), tensor);
  TD_DO(td_tensor_from_data(cut, (size_t)n, TD_SIZES(n), TD_DTYPE_BOOL, &tensor));
  td_put(td, TD_KEY("cut"), tensor);
  free(id);
  free(done);
  free(cut);
  return td;
}

#define N 40
static const int64_t lengths[] = {7, 1, 12, 3, 4, 13};

/* The episode that a row is of. */
static int episode_of(int64_t row) {
  int episode = 0;
  for (int64_t end = lengths[0]; row >= end; end += lengths[++episode]) {
  }
  return episode;
}

static const td_key by_id = {TD_KEY("episode")};
static const td_key by_end[] = {{TD_KEY("next", "done")}, {TD_KEY("cut")}};

static td_loader_options slices(int64_t count, int64_t len, int ends, td_loader_flags flags) {
  td_loader_options options = loader_options(count, flags);
  options.slice_len = len;
  if (ends) {
    options.ends = by_end;
    options.ends_len = 2;
  } else {
    options.episode = &by_id;
  }
  return options;
}

TD_TEST(slices_keep_to_their_episode) {
  td_tensordict *td = steps(lengths, 6, N);
  for (int how = 0; how < 8; how++) {
    for (int64_t len = 1; len <= 14; len++) {
      td_loader_options options = slices(3, len, how & 1, how & 2 ? TD_LOADER_SHUFFLE : 0);
      options.slice_step = how & 4 ? 1 : 0;
      options.num_workers = how & 1 ? 2 : 0;
      int64_t want = 0, rows[N * 14], got = 0;
      for (int e = 0; e < 6; e++)
        if (lengths[e] >= len) want += (lengths[e] - len) / (how & 4 ? 1 : len) + 1;
      td_loader *loader = NULL;
      if (want == 0) {
        TD_EXPECT_NULL(td_loader_create(td, &options, &loader), TD_ERR_INVALID_ARGUMENT, loader);
        TD_CHECK_TEXT(td_last_error_message(), "no episode has 1");
        continue;
      }
      loader = loader_of(td, &options);
      got = loader_epoch(loader, rows, N * 14);
      TD_CHECK_INT(got, want * len);
      char seen[N] = {0};
      for (int64_t s = 0; s < want; s++) {
        const int64_t *slice = rows + s * len;
        TD_CHECK(!seen[slice[0]]);
        seen[slice[0]] = 1;
        for (int64_t k = 1; k < len; k++) {
          TD_CHECK_INT(slice[k], slice[0] + k);
          TD_CHECK_INT(episode_of(slice[k]), episode_of(slice[0]));
        }
      }
      td_loader_free(loader);
    }
  }
}

TD_TEST(slices_lie_side_by_side_or_one_behind_the_other) {
  td_tensordict *td = steps(lengths, 6, N), *batch = NULL;
  td_loader_options options = slices(2, 3, 0, 0);
  td_loader *loader = loader_of(td, &options);
  TD_DO(td_loader_next(loader, &batch));
  TD_CHECK_BATCH(batch, 2, 3);
  TD_CHECK_ENTRY(batch, TD_KEY("a"), TD_SIZES(2, 3), TD_VALUES(0, 1, 2, 3, 4, 5));
  td_free(batch);
  TD_DO(td_loader_next(loader, &batch));
  TD_CHECK_ENTRY(batch, TD_KEY("a"), TD_SIZES(2, 3), TD_VALUES(8, 9, 10, 11, 12, 13));
  td_tensordict *n = td_take_dict(batch, TD_KEY("n"));
  TD_CHECK_BATCH(n, 2, 3);
  TD_CHECK_ENTRY(n, TD_KEY("b"), TD_SIZES(2, 3, 2),
                 TD_VALUES(16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27));
  td_free(n);
  td_free(batch);
  td_loader_free(loader);

  options = slices(4, 5, 0, TD_LOADER_CONCATENATE | TD_LOADER_SHORT);
  loader = loader_of(td, &options);
  TD_DO(td_loader_next(loader, &batch));
  TD_CHECK_BATCH(batch, 13); /* 5 + 2, 1, 5 */
  TD_CHECK_ENTRY(batch, TD_KEY("a"), TD_SIZES(13),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
  td_free(batch);
  int64_t rows[N];
  TD_CHECK_INT(loader_epoch(loader, rows, N), 27); /* all rows, in the end */
  for (int i = 0; i < 27; i++) TD_CHECK_INT(rows[i], 13 + i);
}

/* Rows of one environment are never followed by those of another one. */
TD_TEST(a_batch_of_two_dimensions_has_borders) {
  td_tensordict *td = td_empty(TD_SIZES(3, 5)), *lazy = NULL;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(3, 5)));
  td_loader_options options = loader_options(1, TD_LOADER_FLAT | TD_LOADER_SHUFFLE);
  options.slice_len = 4;
  options.slice_step = 1;
  td_tensordict *parts[3];
  for (int64_t i = 0; i < 3; i++) TD_DO(td_index(td, TD_AT(TD_I_INT(i)), &parts[i]));
  TD_DO(td_lazy_stack((const td_tensordict *const *)parts, 3, 0, &lazy));
  for (int form = 0; form < 2; form++) {
    td_loader *loader = loader_of(form ? lazy : td, &options);
    int64_t rows[24], firsts[6];
    TD_CHECK_INT(loader_epoch(loader, rows, 24), 24);
    for (int s = 0; s < 6; s++) {
      firsts[s] = rows[4 * s] / 5 * 2 + rows[4 * s] % 5;
      TD_CHECK(rows[4 * s] % 5 < 2 && rows[4 * s + 3] == rows[4 * s] + 3);
    }
    loader_check_all(firsts, 6, 6);
    td_loader_free(loader);
  }
}

/* A weight is that of the first row of a slice; an entry that tells episodes apart need not be in batches. */
TD_TEST(slices_by_weight_and_by_keys) {
  td_tensordict *td = steps(lengths, 6, N), *batch = NULL;
  td_tensor *weights = td_filled(TD_DTYPE_FLOAT64, 0, TD_SIZES(N));
  void *data = NULL;
  TD_DO(td_tensor_data(weights, &data));
  ((double *)data)[9] = 2;
  ((double *)data)[7] = 5; /* no slice begins there: its episode is too short */
  td_loader_options options = slices(2, 3, 1, 0);
  const td_key only = {TD_KEY("a")};
  options.slice_step = 1;
  options.weights = weights;
  options.keys = &only;
  options.keys_len = 1;
  td_loader *loader = loader_of(td, &options);
  TD_DO(td_loader_next(loader, &batch));
  TD_CHECK_ENTRY(batch, TD_KEY("a"), TD_SIZES(2, 3), TD_VALUES(9, 10, 11, 9, 10, 11));
  td_free(batch);
  td_loader_free(loader);
  ((double *)data)[9] = 0;
  TD_EXPECT_NULL(td_loader_create(td, &options, &loader), TD_ERR_INVALID_ARGUMENT, loader);
  TD_CHECK_TEXT(td_last_error_message(), "sum of the weights is 0");
}

TD_TEST(what_tells_no_episodes_apart_is_refused) {
  td_tensordict *td = steps(lengths, 6, N);
  td_loader *loader = NULL;
  const td_key missing = {TD_KEY("nope")}, dict = {TD_KEY("n")}, numbers = {TD_KEY("a")};
  td_loader_options options = slices(2, 3, 0, 0);
  options.episode = &missing;
  TD_EXPECT_NULL(td_loader_create(td, &options, &loader), TD_ERR_KEY_NOT_FOUND, loader);
  options.episode = &dict;
  TD_EXPECT_NULL(td_loader_create(td, &options, &loader), TD_ERR_WRONG_ENTRY, loader);
  options.episode = NULL;
  options.ends = &numbers;
  options.ends_len = 1;
  TD_EXPECT_NULL(td_loader_create(td, &options, &loader), TD_ERR_DTYPE, loader);
  TD_CHECK_TEXT(td_last_error_message(), "must be bool");
  td_put(td, TD_KEY("none"), td_filled(TD_DTYPE_INT64, 0, TD_SIZES(N, 0)));
  const td_key none = {TD_KEY("none")};
  options.ends_len = 0;
  options.episode = &none;
  TD_EXPECT_NULL(td_loader_create(td, &options, &loader), TD_ERR_SHAPE, loader);
  options = slices(2, 0, 0, 0);
  TD_EXPECT_NULL(td_loader_create(td, &options, &loader), TD_ERR_INVALID_ARGUMENT, loader);
  options = slices(2, 3, 0, TD_LOADER_SHORT);
  TD_EXPECT_NULL(td_loader_create(td, &options, &loader), TD_ERR_INVALID_ARGUMENT, loader);
  options = slices(2, -1, 0, 0);
  TD_EXPECT_NULL(td_loader_create(td, &options, &loader), TD_ERR_INVALID_ARGUMENT, loader);
  options = slices(2, 3, 0, 0);
  options.slice_step = -1;
  TD_EXPECT_NULL(td_loader_create(td, &options, &loader), TD_ERR_INVALID_ARGUMENT, loader);
}
