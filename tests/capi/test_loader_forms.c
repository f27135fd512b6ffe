/* What a loader reads (folders that grow, shards, lazy stacks, any layout), and draws by weight. */
#include <stdio.h>

#include "td_files.h"
#include "td_loader_test.h"

/* Every row of "a" is `first` and the numbers behind it, once, with "n", "b" beside it. */
static void check_rows(const td_tensordict *td, const td_loader_options *options, int64_t rows) {
  td_loader *loader = loader_of(td, options);
  td_tensordict *batch = NULL;
  int64_t *seen = calloc((size_t)rows, 8), got = 0;
  for (;;) {
    TD_DO(td_loader_next(loader, &batch));
    if (batch == NULL) break;
    int64_t size = 0, value[2];
    size_t dims = 0;
    TD_DO(td_batch_size(batch, &size, 1, &dims));
    td_tensor *a = td_take(batch, TD_KEY("a")), *b = td_take(batch, TD_KEY("n", "b"));
    void *ad = NULL, *bd = NULL;
    TD_DO(td_tensor_data(a, &ad));
    TD_DO(td_tensor_data(b, &bd));
    TD_CHECK_FLAG(td_tensor_is_contiguous, b, 1);
    for (int64_t i = 0; i < size; i++) {
      memcpy(value, (int64_t *)bd + 2 * i, 16);
      const int64_t row = ((int64_t *)ad)[i];
      TD_CHECK(row >= 0 && row < rows);
      TD_CHECK(value[0] == 2 * row && value[1] == 2 * row + 1);
      seen[row]++;
    }
    got += size;
    td_tensor_free(a);
    td_tensor_free(b);
    td_free(batch);
  }
  TD_CHECK_INT(got, rows);
  for (int64_t i = 0; i < rows; i++) TD_CHECK_INT(seen[i], 1);
  free(seen);
  td_loader_free(loader);
}

/* Rows `from` to before `to` of a line. */
static td_tensordict *part_of(const td_tensordict *td, int64_t from, int64_t to) {
  td_tensordict *part = NULL;
  TD_DO(td_index(td, TD_AT(TD_I_SLICE(from, to)), &part));
  return part;
}

TD_TEST(any_layout_and_any_form) {
  for (int workers = 0; workers < 3; workers += 2) {
    td_loader_options options = loader_options(7, TD_LOADER_SHUFFLE);
    options.num_workers = workers;
    td_tensordict *td = loader_line(40), *mapped = NULL, *loaded = NULL, *lazy = NULL;
    check_rows(td, &options, 40);
    const char *dir = td_path(td_test_folder(), workers == 0 ? "one" : "two");
    TD_DO(td_memmap(td, dir, NULL, &mapped));
    check_rows(mapped, &options, 40);
    TD_DO(td_memmap_load(dir, NULL, &loaded));
    check_rows(loaded, &options, 40);
    td_free(loaded);
    td_free(mapped);

    /* parts of a lazy stack, and elements of one */
    td_tensordict *parts[4], *rows[40];
    for (int i = 0; i < 4; i++) parts[i] = part_of(td, 10 * i, 10 * i + 10);
    TD_DO(td_lazy_stack((const td_tensordict *const *)parts, 4, 0, &lazy));
    options.flags |= TD_LOADER_FLAT;
    check_rows(lazy, &options, 40);
    td_free(lazy);
    for (int i = 0; i < 40; i++) TD_DO(td_index(td, TD_AT(TD_I_INT(i)), &rows[i]));
    options.flags &= ~(td_loader_flags)TD_LOADER_FLAT;
    TD_DO(td_lazy_stack((const td_tensordict *const *)rows, 40, 0, &lazy));
    check_rows(lazy, &options, 40);
    td_free(lazy);
    for (int i = 0; i < 40; i++) td_free(rows[i]);

    /* parts of different lengths */
    td_loader *none = NULL;
    td_tensordict *long_one = part_of(td, 0, 25), *short_one = part_of(td, 25, 40);
    const td_tensordict *const uneven[] = {long_one, short_one};
    TD_DO(td_lazy_stack(uneven, 2, 0, &lazy));
    TD_EXPECT_NULL(td_loader_create(lazy, &options, &none), TD_ERR_SHAPE, none);
    options.flags |= TD_LOADER_FLAT;
    check_rows(lazy, &options, 40);
    td_free(lazy);
    td_free(long_one);
    td_free(short_one);
    for (int i = 0; i < 4; i++) td_free(parts[i]);

    /* rows that do not lie densely, and every second one */
    td_tensordict *wide = td_empty(TD_SIZES(40, 2)), *first = NULL;
    td_put(wide, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(40, 2)));
    TD_DO(td_index(wide, TD_AT(TD_I_ALL, TD_I_INT(0)), &first));
    options.flags = 0;
    options.rows = 3;
    td_loader *loader = loader_of(first, &options);
    int64_t got[3];
    TD_CHECK_INT(loader_some(loader, got, 3), 3);
    TD_CHECK(got[0] == 0 && got[1] == 2 && got[2] == 4);
    td_loader_free(loader);
    td_free(first);
    td_free(wide);
    td_free(td);
  }
}

/* What has a value for each row, or is not plain memory, is read as an index reads it. */
TD_TEST(values_that_are_no_tensors) {
  td_tensordict *td = loader_line(4), *batch = NULL;
  TD_DO(td_set_non_tensor_json(td, TD_KEY("whole"), "\"text\""));
  td_loader_options options = loader_options(3, 0);
  options.num_workers = 1;
  td_loader *loader = loader_of(td, &options);
  TD_DO(td_loader_next(loader, &batch));
  TD_CHECK_JSON(batch, TD_KEY("whole"), "\"text\"");
  TD_CHECK_ENTRY(batch, TD_KEY("a"), TD_SIZES(3), TD_VALUES(0, 1, 2));
  td_free(batch);
  td_loader_free(loader);
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("each"), "[1, 2, 3, 4]"));
  options.flags = TD_LOADER_SHUFFLE;
  loader = loader_of(td, &options);
  int64_t rows = 0;
  for (;;) {
    TD_DO(td_loader_next(loader, &batch));
    if (batch == NULL) break;
    td_tensor *a = td_take(batch, TD_KEY("a"));
    void *data = NULL;
    int64_t size = 0;
    size_t dims = 0;
    TD_DO(td_tensor_data(a, &data));
    TD_DO(td_batch_size(batch, &size, 1, &dims));
    char want[64] = "[", one[16];
    for (int64_t i = 0; i < size; i++, rows++) {
      snprintf(one, sizeof one, "%s%d", i == 0 ? "" : ", ", (int)((int64_t *)data)[i] + 1);
      strcat(want, one);
    }
    strcat(want, "]");
    char text[64];
    size_t length = 0;
    TD_DO(td_get_non_tensor_stack_json(batch, TD_KEY("each"), text, sizeof text, &length));
    TD_CHECK_SAME_TEXT(text, want);
    td_tensor_free(a);
    td_free(batch);
  }
  TD_CHECK_INT(rows, 4);
}

TD_TEST(a_growing_folder_is_seen_at_each_epoch) {
  const char *dir = td_path(td_test_folder(), "grows");
  td_tensordict *td = loader_line(10), *start = part_of(td, 0, 4), *more = part_of(td, 4, 10),
                *mapped = NULL, *loaded = NULL, *state = NULL;
  TD_DO(td_memmap(start, dir, NULL, &mapped));
  td_free(mapped);
  TD_DO(td_memmap_load(dir, NULL, &loaded));
  td_loader_options options = loader_options(3, TD_LOADER_REFRESH | TD_LOADER_SHUFFLE);
  options.num_workers = 1;
  td_loader *loader = loader_of(loaded, &options);
  int64_t rows[10], again[10];
  TD_CHECK_INT(loader_some(loader, rows, 10), 3);
  TD_DO(td_loader_state(loader, &state));
  TD_DO(td_memmap_append(dir, more, NULL));
  TD_CHECK_INT(loader_epoch(loader, rows + 3, 7), 1); /* the epoch ends as it began */
  loader_check_all(rows, 4, 4);
  TD_CHECK_INT(loader_epoch(loader, again, 10), 10);
  loader_check_all(again, 10, 10);
  TD_CHECK_BATCH(loaded, 4);                  /* the caller's own is as it was */
  TD_DO(td_loader_load_state(loader, state)); /* the first epoch had 4 rows, and has them again */
  TD_CHECK_INT(loader_epoch(loader, again, 10), 1);
  TD_CHECK_INT(again[0], rows[3]);
  td_loader_free(loader);

  /* without refresh: what is there at the beginning, and no change */
  options.flags = TD_LOADER_SHUFFLE;
  loader = loader_of(loaded, &options);
  TD_CHECK_INT(loader_epoch(loader, rows, 10), 4);
  TD_DO(td_memmap_refresh(loaded, NULL));
  TD_EXPECT_NULL(td_loader_next(loader, &mapped), TD_ERR_SHAPE, mapped);
  TD_CHECK_TEXT(td_last_error_message(), "batch size [10] now; the loader began with [4]");
}

TD_TEST(a_sharded_folder_is_read_row_by_row) {
  const char *dir = td_path(td_test_folder(), "shards");
  td_append_options how = TD_APPEND_OPTIONS_INIT;
  how.shard = TD_SHARD_NEW;
  td_tensordict *td = loader_line(10), *none = part_of(td, 0, 0), *loaded = NULL;
  td_writer *writers[2];
  const int64_t lengths[2] = {3, 7};
  int64_t row = 0;
  for (int i = 0; i < 2; i++) {
    int32_t a = -1, b = -1;
    TD_DO(td_writer_open_append(dir, none, &how, &writers[i]));
    TD_DO(td_writer_bind(writers[i], TD_KEY("a"), &a));
    TD_DO(td_writer_bind(writers[i], TD_KEY("n", "b"), &b));
    for (int64_t k = 0; k < lengths[i]; k++, row++) {
      const int64_t pair[2] = {2 * row, 2 * row + 1};
      TD_DO(td_writer_put(writers[i], a, &row, 8));
      TD_DO(td_writer_put(writers[i], b, pair, 16));
      TD_DO(td_writer_next(writers[i]));
    }
    TD_DO(td_writer_close(writers[i]));
    td_writer_free(writers[i]);
  }
  TD_DO(td_memmap_load(dir, NULL, &loaded));
  td_loader_options options = loader_options(4, TD_LOADER_SHUFFLE | TD_LOADER_FLAT);
  options.num_workers = 2;
  check_rows(loaded, &options, 10);
  options.flags |= TD_LOADER_REFRESH;
  check_rows(loaded, &options, 10);
}

TD_TEST(weights_say_how_often_a_row_is_drawn) {
  td_tensordict *td = loader_line(5);
  td_tensor *weights = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(5)); /* 0, 1, 2, 3, 4 of 10 */
  double counts[3][5] = {{0}};
  int64_t *rows[3];
  const int64_t draws = 50000;
  for (int k = 0; k < 3; k++) {
    td_loader_options options = loader_options(500, 0);
    options.weights = k < 2 ? weights : NULL;
    options.flags = k < 2 ? 0 : TD_LOADER_REPLACEMENT;
    options.draws = draws;
    options.num_workers = k;
    td_loader *loader = loader_of(td, &options);
    rows[k] = malloc((size_t)draws * 8);
    TD_CHECK_INT(loader_epoch(loader, rows[k], draws), draws);
    for (int64_t i = 0; i < draws; i++) counts[k][rows[k][i]]++;
    td_loader_free(loader);
  }
  TD_CHECK(memcmp(rows[0], rows[1], (size_t)draws * 8) == 0);
  TD_CHECK(counts[0][0] == 0);
  double by_weight = 0, alike = 0;
  for (int i = 0; i < 5; i++) {
    const double want = (double)draws * i / 10, same = (double)draws / 5;
    if (i != 0) by_weight += (counts[0][i] - want) * (counts[0][i] - want) / want;
    alike += (counts[2][i] - same) * (counts[2][i] - same) / same;
    free(i < 3 ? rows[i] : NULL);
  }
  TD_CHECK(by_weight < 21); /* 3 degrees of freedom */
  TD_CHECK(alike < 23);
}
