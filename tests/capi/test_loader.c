/* Minibatches: every row once, one order for one seed whatever the threads, ranks, states, memory. */
#include <stdlib.h>
#include <string.h>

#include "td_files.h"
#include "td_loader_test.h"

/* How many keys there are, nested ones among them. */
static void check_keys(const td_tensordict *td, size_t want) {
  td_keys *keys = NULL;
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  options.include_nested = 1;
  TD_DO(td_keys_of(td, &options, &keys));
  TD_CHECK_INT(td_keys_len(keys), want);
  td_keys_free(keys);
}

TD_TEST(every_row_once_in_order) {
  td_tensordict *td = loader_line(10), *batch = NULL;
  for (int workers = 0; workers < 3; workers++) {
    td_loader_options options = loader_options(4, 0);
    options.num_workers = workers;
    td_loader *loader = loader_of(td, &options);
    int64_t epoch = -1, at = -1, batches = -1;
    TD_DO(td_loader_where(loader, &epoch, &at, &batches));
    TD_CHECK(epoch == 0 && at == 0 && batches == 3);
    for (int round = 0; round < 2; round++) {
      TD_DO(td_loader_next(loader, &batch));
      TD_CHECK_BATCH(batch, 4);
      TD_CHECK_ENTRY(batch, TD_KEY("a"), TD_SIZES(4), TD_VALUES(0, 1, 2, 3));
      TD_CHECK_ENTRY(batch, TD_KEY("n", "b"), TD_SIZES(4, 2), TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7));
      TD_CHECK_DTYPE(batch, TD_KEY("n", "b"), TD_DTYPE_INT64);
      td_free(batch);
      TD_DO(td_loader_next(loader, &batch));
      TD_CHECK_ENTRY(batch, TD_KEY("a"), TD_SIZES(4), TD_VALUES(4, 5, 6, 7));
      td_free(batch);
      TD_DO(td_loader_next(loader, &batch));
      TD_CHECK_ENTRY(batch, TD_KEY("a"), TD_SIZES(2), TD_VALUES(8, 9));
      TD_CHECK_ENTRY(batch, TD_KEY("n", "b"), TD_SIZES(2, 2), TD_VALUES(16, 17, 18, 19));
      td_free(batch);
      TD_DO(td_loader_where(loader, &epoch, &at, NULL));
      TD_CHECK(epoch == round && at == 3);
      batch = TD_POISON;
      TD_DO(td_loader_next(loader, &batch));
      TD_CHECK(batch == NULL);
      TD_DO(td_loader_where(loader, &epoch, NULL, &batches));
      TD_CHECK(epoch == round + 1 && batches == 0);
    }
    td_loader_free(loader);
  }
}

/* One order for one seed: of small sources, which keep a table, and of large ones, which compute it. */
TD_TEST(each_seed_has_its_order) {
  static const int64_t sizes[] = {1, 2, 3, 100, 65536, 65537, 100000};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const int64_t n = sizes[k];
    td_tensordict *td = loader_line(n);
    int64_t *first = malloc((size_t)n * 2 * 8), *other = malloc((size_t)n * 2 * 8);
    for (int workers = 0; workers <= 4; workers += workers == 0 ? 1 : 3) {
      td_loader_options options = loader_options(n / 7 + 1, TD_LOADER_SHUFFLE);
      options.seed = 7;
      options.num_workers = workers;
      int64_t *to = workers == 0 ? first : other;
      td_loader *loader = loader_of(td, &options);
      TD_CHECK_INT(loader_epoch(loader, to, n), n);
      loader_check_all(to, n, n);
      TD_CHECK_INT(loader_epoch(loader, to + n, n), n);
      loader_check_all(to + n, n, n);
      td_loader_free(loader);
      if (workers != 0) TD_CHECK(memcmp(first, other, (size_t)n * 2 * 8) == 0);
    }
    if (n >= 100) {
      TD_CHECK(memcmp(first, first + n, (size_t)n * 8) != 0); /* another epoch */
      td_loader_options options = loader_options(n, TD_LOADER_SHUFFLE);
      options.seed = 8;
      td_loader *loader = loader_of(td, &options);
      TD_CHECK_INT(loader_epoch(loader, other, n), n);
      TD_CHECK(memcmp(first, other, (size_t)n * 8) != 0);
      td_loader_free(loader);
    }
    free(first);
    free(other);
    td_free(td);
  }
}

/* What a seed means stays: a checkpoint of this version must go on in the next one. */
TD_TEST(an_order_is_the_same_in_every_version) {
  static const struct {
    int64_t rows, order[8]; /* as it begins */
  } cases[] = {{8, {4, 2, 6, 7, 3, 0, 1, 5}}, {100000, {86643, 44851, 14746, 96198}}};
  for (size_t k = 0; k < 2; k++) {
    td_tensordict *td = loader_line(cases[k].rows);
    td_loader_options options = loader_options(k == 0 ? 8 : 4, TD_LOADER_SHUFFLE);
    options.seed = 42;
    td_loader *loader = loader_of(td, &options);
    int64_t rows[8];
    const int64_t got = loader_some(loader, rows, 8);
    for (int64_t i = 0; i < got; i++) TD_CHECK_INT(rows[i], cases[k].order[i]);
    td_loader_free(loader);
    td_free(td);
  }
}

/* Each place is equally likely for each row: a chi-square test of a row's place over many epochs, and of
 * the places of neighbours in a long order. */
TD_TEST(orders_have_no_favourites) {
  td_tensordict *td = loader_line(6);
  td_loader_options options = loader_options(6, TD_LOADER_SHUFFLE);
  td_loader *loader = loader_of(td, &options);
  double counts[6][6] = {{0}};
  for (int epoch = 0; epoch < 6000; epoch++) {
    int64_t rows[6];
    TD_CHECK_INT(loader_epoch(loader, rows, 6), 6);
    for (int i = 0; i < 6; i++) counts[i][rows[i]]++;
  }
  double chi = 0;
  for (int i = 0; i < 36; i++)
    chi += (counts[i / 6][i % 6] - 1000) * (counts[i / 6][i % 6] - 1000) / 1000;
  TD_CHECK(chi < 60); /* 25 degrees of freedom: above once in 10,000 seeds */
  td_loader_free(loader);
  td_free(td);

  const int64_t n = 200000;
  int64_t *rows = malloc((size_t)n * 8);
  td = loader_line(n);
  options = loader_options(1000, TD_LOADER_SHUFFLE);
  loader = loader_of(td, &options);
  TD_CHECK_INT(loader_epoch(loader, rows, n), n);
  double pairs[100] = {0};
  for (int64_t i = 0; i + 1 < n; i++) pairs[rows[i] * 10 / n * 10 + rows[i + 1] * 10 / n]++;
  chi = 0;
  for (int i = 0; i < 100; i++)
    chi += (pairs[i] - n / 100.0) * (pairs[i] - n / 100.0) / (n / 100.0);
  TD_CHECK(chi < 160); /* 99 degrees of freedom */
  td_loader_free(loader);
  td_free(td);
  free(rows);
}

TD_TEST(ranks_share_each_epoch) {
  const int64_t n = 103;
  td_tensordict *td = loader_line(n);
  for (int64_t world = 1; world <= 5; world++) {
    for (int drop = 0; drop < 2; drop++) {
      int64_t rows[103], got = 0;
      for (int64_t rank = 0; rank < world; rank++) {
        td_loader_options options =
            loader_options(10, TD_LOADER_SHUFFLE | (drop ? TD_LOADER_DROP_LAST : 0));
        options.rank = rank;
        options.world_size = world;
        td_loader *loader = loader_of(td, &options);
        int64_t batches = 0;
        TD_DO(td_loader_where(loader, NULL, NULL, &batches));
        if (drop) TD_CHECK_INT(batches, n / world / 10);
        got += loader_epoch(loader, rows + got, n - got);
        td_loader_free(loader);
      }
      if (!drop) {
        TD_CHECK_INT(got, n);
        loader_check_all(rows, n, n);
      } else {
        TD_CHECK_INT(got, n / world / 10 * 10 * world);
        loader_check_distinct(rows, got, n);
      }
    }
  }
}

TD_TEST(a_state_goes_on_at_the_same_batch) {
  const int64_t n = 50;
  td_tensordict *td = loader_line(n), *state = NULL, *loaded = NULL;
  for (int workers = 0; workers < 3; workers++) {
    for (int before = 0; before <= 13; before++) { /* 5 batches an epoch, and its end */
      td_loader_options options = loader_options(10, TD_LOADER_SHUFFLE);
      options.seed = 3;
      options.num_workers = workers;
      td_loader *one = loader_of(td, &options);
      int64_t rows[50], again[50];
      for (int i = 0; i < before; i++) loader_some(one, rows, n);
      TD_DO(td_loader_state(one, &state));
      TD_DO(td_memmap(state, td_path(td_test_folder(), "state"), NULL, &loaded));
      options.seed = 99; /* that of the state counts */
      td_loader *other = loader_of(td, &options);
      loader_some(other, again, n); /* workers are ahead of the wrong place */
      TD_DO(td_loader_load_state(other, loaded));
      for (int i = 0; i < 8; i++) {
        const int64_t got = loader_some(one, rows, n);
        TD_CHECK_INT(loader_some(other, again, n), got);
        TD_CHECK(memcmp(rows, again, (size_t)got * 8) == 0);
      }
      td_free(loaded);
      td_free(state);
      td_loader_free(one);
      td_loader_free(other);
    }
  }
}

TD_TEST(a_state_of_another_loader_is_refused) {
  td_tensordict *td = loader_line(50), *longer = loader_line(60), *state = NULL, *bad = NULL;
  td_loader_options options = loader_options(10, TD_LOADER_SHUFFLE), wide = loader_options(20, 1);
  td_loader *loader = loader_of(td, &options), *other = loader_of(td, &wide),
            *more = loader_of(longer, &options);
  int64_t rows[60];
  loader_some(loader, rows, 50);
  TD_DO(td_loader_state(other, &state));
  TD_EXPECT(td_loader_load_state(loader, state), TD_ERR_INVALID_ARGUMENT);
  TD_CHECK_TEXT(td_last_error_message(), "rows 20; this one has 10");
  td_free(state);
  TD_DO(td_loader_state(more, &state));
  TD_EXPECT(td_loader_load_state(loader, state), TD_ERR_SHAPE);
  TD_CHECK_TEXT(td_last_error_message(), "60 rows; the dictionary has 50");
  td_free(state);
  TD_DO(td_loader_state(loader, &state));
  static const struct {
    const char *name;
    td_dtype dtype;
    int64_t value, size;
    td_status status;
  } cases[] = {{"batch", TD_DTYPE_INT64, 6, 1, TD_ERR_INVALID_ARGUMENT},
               {"batch", TD_DTYPE_INT64, -1, 1, TD_ERR_INVALID_ARGUMENT},
               {"epoch", TD_DTYPE_INT64, -1, 1, TD_ERR_INVALID_ARGUMENT},
               {"epoch", TD_DTYPE_INT32, 1, 1, TD_ERR_DTYPE},
               {"seed", TD_DTYPE_INT64, 1, 2, TD_ERR_SHAPE}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    TD_DO(td_clone(state, 0, &bad));
    td_put(bad, TD_KEY(cases[i].name),
           td_filled(cases[i].dtype, (double)cases[i].value, TD_SIZES(cases[i].size)));
    TD_EXPECT(td_loader_load_state(loader, bad), cases[i].status);
    td_free(bad);
  }
  TD_DO(td_clone(state, 0, &bad));
  TD_DO(td_remove(bad, TD_KEY("source_rows")));
  TD_EXPECT(td_loader_load_state(loader, bad), TD_ERR_KEY_NOT_FOUND);
  td_free(bad);
  int64_t at = -1, left[50];
  TD_DO(td_loader_where(loader, NULL, &at, NULL)); /* nothing has moved it */
  TD_CHECK_INT(at, 1);
  TD_CHECK_INT(loader_epoch(loader, left, 50), 40);
  memcpy(rows + 10, left, 40 * 8);
  loader_check_all(rows, 50, 50);
}

TD_TEST(a_batch_may_be_larger_than_the_dictionary) {
  td_tensordict *td = loader_line(4);
  td_loader_options options = loader_options(INT64_MAX, 0);
  td_loader *loader = loader_of(td, &options);
  int64_t rows[4];
  TD_CHECK_INT(loader_some(loader, rows, 4), 4);
  TD_CHECK_INT(loader_some(loader, rows, 4), 0);
}

TD_TEST(epochs_end) {
  td_tensordict *td = loader_line(4), *batch = NULL;
  td_loader_options options = loader_options(3, TD_LOADER_DROP_LAST);
  options.epochs = 2;
  options.num_workers = 1;
  td_loader *loader = loader_of(td, &options);
  int64_t rows[4];
  TD_CHECK_INT(loader_epoch(loader, rows, 4), 3);
  TD_CHECK_INT(loader_epoch(loader, rows, 4), 3);
  for (int i = 0; i < 3; i++) {
    TD_DO(td_loader_next(loader, &batch));
    TD_CHECK(batch == NULL);
  }
}

/* The memory of what is freed comes back; what is held stays as it is. */
TD_TEST(memory_is_used_again_when_nobody_holds_it) {
  td_tensordict *td = loader_line(100), *batch = NULL, *kept = NULL;
  for (int workers = 0; workers < 2; workers++) {
    td_loader_options options = loader_options(1, 0);
    options.num_workers = workers;
    td_loader *loader = loader_of(td, &options);
    void *seen[64], *data = NULL;
    int distinct = 0;
    for (int i = 0; i < 50; i++) {
      TD_DO(td_loader_next(loader, &batch));
      td_tensor *a = td_take(batch, TD_KEY("a"));
      TD_DO(td_tensor_data(a, &data));
      td_tensor_free(a);
      td_free(batch);
      int known = 0;
      for (int k = 0; k < distinct; k++) known |= seen[k] == data;
      if (!known) seen[distinct++] = data;
    }
    TD_CHECK(distinct <= 6); /* those ahead, those being made, this one */
    TD_DO(td_loader_next(loader, &kept));
    td_tensor *row = td_take(kept, TD_KEY("a")), *inner = NULL;
    td_free(kept);
    TD_DO(td_loader_next(loader, &kept));
    td_tensordict *n = td_take_dict(kept, TD_KEY("n"));
    td_free(kept);
    TD_DO(td_loader_next(loader, &kept)); /* changed, and freed: the next one is as it should be */
    TD_DO(td_remove(kept, TD_KEY("a")));
    td_put(kept, TD_KEY("n", "c"), td_filled(TD_DTYPE_INT64, 5, TD_SIZES(1)));
    TD_DO(td_lock(kept));
    td_free(kept);
    TD_DO(td_loader_next(loader, &kept));
    TD_DO(td_set_batch_size(kept, TD_NO_SIZES));
    td_free(kept);
    for (int i = 54; i < 100; i++) {
      TD_DO(td_loader_next(loader, &batch));
      TD_CHECK_BATCH(batch, 1);
      TD_CHECK_ENTRY(batch, TD_KEY("a"), TD_SIZES(1), TD_VALUES(i));
      check_keys(batch, 3);
      TD_EXPECT_NULL(td_get(batch, TD_KEY("n", "c"), &inner), TD_ERR_KEY_NOT_FOUND, inner);
      TD_CHECK_FLAG(td_is_locked, batch, 0);
      td_free(batch);
    }
    TD_CHECK_VALUES(row, 50);
    TD_CHECK_ENTRY(n, TD_KEY("b"), TD_SIZES(1, 2), TD_VALUES(102, 103));
    td_tensor_free(row);
    td_free(n);
    td_loader_free(loader);
  }
}

TD_TEST(the_dictionary_may_go) {
  td_tensordict *td = loader_line(5), *batch = NULL;
  td_loader_options options = loader_options(2, 0);
  options.num_workers = 2;
  td_loader *loader = loader_of(td, &options);
  TD_DO(td_remove(td, TD_KEY("a"))); /* not seen */
  td_free(td);
  int64_t rows[5];
  TD_CHECK_INT(loader_epoch(loader, rows, 5), 5);
  loader_check_all(rows, 5, 5);
  TD_DO(td_loader_next(loader, &batch));
  td_loader_free(loader); /* with batches ahead */
  TD_CHECK_ENTRY(batch, TD_KEY("a"), TD_SIZES(2), TD_VALUES(0, 1));
}

TD_TEST(a_part_of_the_keys) {
  td_tensordict *td = loader_line(3), *batch = NULL;
  td_loader_options options = loader_options(3, 0);
  const td_key keys[] = {{TD_KEY("n", "b")}};
  options.keys = keys;
  options.keys_len = 1;
  td_loader *loader = loader_of(td, &options);
  TD_DO(td_loader_next(loader, &batch));
  check_keys(batch, 2);
  TD_CHECK_ENTRY(batch, TD_KEY("n", "b"), TD_SIZES(3, 2), TD_VALUES(0, 1, 2, 3, 4, 5));
}
