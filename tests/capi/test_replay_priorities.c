/* Prioritized replay: how often rows are drawn, what they weigh, new priorities. */
#include <math.h>
#include <stdio.h>

#include "td_replay_test.h"

static td_tensor *numbers(const double *values, int64_t n) {
  td_tensor *tensor = NULL;
  TD_DO(td_tensor_from_data(values, (size_t)n * 8, TD_SIZES(n), TD_DTYPE_FLOAT64, &tensor));
  return tensor;
}

static void prioritize(td_replay *replay, const int64_t *places, const double *priorities,
                       int64_t n) {
  td_tensor *index = td_positions(places, (size_t)n), *priority = numbers(priorities, n);
  TD_DO(td_replay_update_priority(replay, index, priority));
  td_tensor_free(index);
  td_tensor_free(priority);
}

TD_TEST(draws_follow_priorities) {
  enum { rows = 300, batch_rows = 250, batches = 80 };
  td_replay_options options = replay_options(rows, TD_REPLAY_SAMPLER_PRIORITIZED);
  options.alpha = 0.7;
  options.beta = 0.9;
  td_replay *replay = replay_of(&options);
  replay_write(replay, 0, rows);
  int64_t places[rows], count[rows] = {0};
  double priority[rows], p[rows], sum = 0, least = 1e300;
  for (int i = 0; i < rows; i++) {
    places[i] = i;
    priority[i] = i % 10 == 0 ? 0 : i % 17 + 0.5;
    p[i] = pow(priority[i] + 1e-8, 0.7);
    sum += p[i];
    least = fmin(least, p[i]);
  }
  prioritize(replay, places, priority, rows);
  for (int k = 0; k < batches; k++) {
    td_tensordict *batch = NULL;
    int64_t index[batch_rows];
    float weight[batch_rows];
    TD_DO(td_replay_sample(replay, batch_rows, &batch));
    TD_CHECK_DTYPE(batch, TD_KEY("priority_weight"), TD_DTYPE_FLOAT32);
    replay_values(batch, TD_KEY("index"), index, 8, batch_rows);
    replay_values(batch, TD_KEY("priority_weight"), weight, 4, batch_rows);
    td_free(batch);
    for (int i = 0; i < batch_rows; i++) {
      count[index[i]]++;
      /* (N p)^-beta over the largest of these */
      const double want = pow(rows * p[index[i]] / sum, -0.9) / pow(rows * least / sum, -0.9);
      TD_CHECK(fabs(weight[i] - want) <= 1e-6 * want);
    }
  }
  double off = 0; /* chi-squared of 300 cells: 400 is far beyond what chance gives */
  for (int i = 0; i < rows; i++) {
    const double want = batches * batch_rows * p[i] / sum;
    off += (count[i] - want) * (count[i] - want) / (want < 1 ? 1 : want);
  }
  TD_CHECK(off < 400);
}

TD_TEST(the_largest_weight_of_a_batch_is_one) {
  td_replay_options options = replay_options(8, TD_REPLAY_SAMPLER_PRIORITIZED);
  options.flags = TD_REPLAY_BATCH_WEIGHTS;
  options.alpha = options.beta = 1;
  options.eps = 0;
  td_replay *replay = replay_of(&options);
  replay_write(replay, 0, 3);
  const int64_t places[] = {0, 1, 2};
  const double priority[] = {2, 4, 0};
  prioritize(replay, places, priority, 3);
  td_tensordict *batch = NULL;
  int64_t index[100];
  float weight[100];
  TD_DO(td_replay_sample(replay, 100, &batch));
  replay_values(batch, TD_KEY("index"), index, 8, 100);
  replay_values(batch, TD_KEY("priority_weight"), weight, 4, 100);
  td_free(batch);
  for (int i = 0; i < 100; i++) {
    TD_CHECK(index[i] < 2); /* never the one of priority 0 */
    TD_CHECK(weight[i] == (index[i] == 0 ? 1 : 0.5f));
  }
  TD_DO(td_replay_set_beta(replay, 2));
  TD_DO(td_replay_sample(replay, 100, &batch));
  replay_values(batch, TD_KEY("index"), index, 8, 100);
  replay_values(batch, TD_KEY("priority_weight"), weight, 4, 100);
  td_free(batch);
  for (int i = 0; i < 100; i++) TD_CHECK(weight[i] == (index[i] == 0 ? 1 : 0.25f));
  TD_EXPECT(td_replay_set_beta(replay, -1), TD_ERR_INVALID_ARGUMENT);
  const double none[] = {0, 0, 0};
  prioritize(replay, places, none, 3);
  TD_EXPECT_NULL(td_replay_sample(replay, 1, &batch), TD_ERR_SHAPE, batch);
}

/* How often a row is drawn, of 1000. */
static int drawn(td_replay *replay, int64_t row) {
  int64_t a[1000];
  int count = 0;
  replay_draw(replay, 1000, a, NULL);
  for (int i = 0; i < 1000; i++) count += a[i] == row;
  return count;
}

TD_TEST(new_rows_have_the_largest_priority) {
  td_replay_options options = replay_options(20, TD_REPLAY_SAMPLER_PRIORITIZED);
  options.alpha = 1;
  td_replay *replay = replay_of(&options);
  replay_write(replay, 0, 10);
  const int64_t third = 3;
  const double nine = 9;
  prioritize(replay, &third, &nine, 1); /* 9 of 18 */
  TD_CHECK(abs(drawn(replay, 3) - 500) < 70);
  replay_write(replay, 10, 1); /* 9 of 27, too */
  TD_CHECK(abs(drawn(replay, 10) - 333) < 70);
  replay_write(replay, 20, 13); /* over rows 0 to 3: all that are written have 9 */
  int64_t len = 0;
  TD_DO(td_replay_where(replay, &len, NULL, NULL, NULL));
  TD_CHECK_INT(len, 20);
  TD_CHECK_INT(drawn(replay, 3), 0);
  TD_CHECK(abs(drawn(replay, 32) - 1000 * 9 / (14 * 9 + 6)) < 40);
}

/* As TorchRL's slices have it: one number for the one dimension of the storage. */
TD_TEST(an_index_of_several_dimensions) {
  td_replay_options options = replay_options(8, TD_REPLAY_SAMPLER_PRIORITIZED);
  options.eps = 0, options.flags = TD_REPLAY_BATCH_WEIGHTS;
  td_replay *replay = replay_of(&options);
  replay_write(replay, 0, 8);
  td_tensor *index = td_arange(TD_DTYPE_INT64, 0, TD_SIZES(8, 1));
  td_tensor *priority = td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(8, 1));
  void *data = NULL;
  TD_DO(td_tensor_data(priority, &data));
  ((float *)data)[5] = 2;
  TD_DO(td_replay_update_priority(replay, index, priority));
  TD_CHECK_INT(drawn(replay, 5), 1000);
}

TD_TEST(priorities_that_cannot_be) {
  const td_replay_options options = replay_options(8, TD_REPLAY_SAMPLER_PRIORITIZED);
  td_replay *replay = replay_of(&options);
  replay_write(replay, 0, 4);
  int64_t before[50], after[50];
  const double bad[] = {1, -1, NAN, INFINITY, 1e300};
  td_tensor *one = numbers(bad, 1);
  for (int i = 0; i < 2; i++) {
    td_tensor *index = td_positions((const int64_t[]){0, i ? -1 : 4}, 2);
    TD_EXPECT(td_replay_update_priority(replay, index, one), TD_ERR_INDEX);
  }
  td_tensor *first = td_positions((const int64_t[]){0, 1}, 2), *wrong = NULL;
  for (int i = 1; i < 4; i++) {
    td_tensor *priority = numbers(bad + i, 1);
    TD_EXPECT(td_replay_update_priority(replay, first, priority), TD_ERR_INVALID_ARGUMENT);
  }
  wrong = numbers(bad, 3);
  TD_EXPECT(td_replay_update_priority(replay, first, wrong), TD_ERR_SHAPE);
  TD_EXPECT(td_replay_update_priority(replay, one, one), TD_ERR_DTYPE);
  td_tensor_free(wrong);
  wrong = td_filled(TD_DTYPE_BOOL, 1, TD_SIZES(2));
  TD_EXPECT(td_replay_update_priority(replay, first, wrong), TD_ERR_DTYPE);
  td_tensor_free(wrong);
  TD_DO(td_tensor_zeros(TD_SIZES(2), TD_DTYPE_COMPLEX64, TD_DEVICE_CPU, -1, &wrong));
  TD_EXPECT(td_replay_update_priority(replay, first, wrong), TD_ERR_DTYPE);
  TD_CHECK_TEXT(td_last_error_message(), "complex64");
  td_tensor_free(wrong);
  td_replay_options same = options;
  td_replay *other = replay_of(&same); /* nothing has changed */
  replay_write(other, 0, 4);
  replay_draw(replay, 50, before, NULL);
  replay_draw(other, 50, after, NULL);
  TD_CHECK(memcmp(before, after, sizeof before) == 0);
  td_replay_free(other);
  same.sampler = TD_REPLAY_SAMPLER_RANDOM;
  other = replay_of(&same);
  TD_EXPECT(td_replay_update_priority(other, first, one), TD_ERR_UNSUPPORTED);
  TD_EXPECT(td_replay_set_beta(other, 1), TD_ERR_UNSUPPORTED);
}

TD_TEST(a_smallest_priority_of_zero_has_no_weight) {
  td_replay_options options = replay_options(8, TD_REPLAY_SAMPLER_PRIORITIZED);
  options.eps = 0;
  td_replay *replay = replay_of(&options);
  replay_write(replay, 0, 3);
  const int64_t second = 1;
  const double zero = 0;
  prioritize(replay, &second, &zero, 1);
  td_tensordict *batch = NULL;
  TD_EXPECT_NULL(td_replay_sample(replay, 4, &batch), TD_ERR_SHAPE, batch);
  TD_CHECK_TEXT(td_last_error_message(), "priority 0");
}

TD_TEST(a_first_priority_of_one_counts) {
  td_replay_options options = replay_options(8, TD_REPLAY_SAMPLER_PRIORITIZED);
  options.alpha = 1;
  td_replay *replay = replay_of(&options);
  replay_write(replay, 0, 3);
  const int64_t places[] = {0, 1, 2};
  const double small[] = {0.001, 0.001, 0.001};
  prioritize(replay, places, small, 3);
  replay_write(replay, 10, 1); /* has 1, and not 0.001 */
  TD_CHECK(drawn(replay, 10) > 980);
}

/* Against a plain array, over several levels of the tree. */
TD_TEST(a_large_tree_finds_what_a_search_finds) {
  enum { rows = 5000 };
  td_replay_options options = replay_options(rows, TD_REPLAY_SAMPLER_PRIORITIZED);
  options.alpha = 1;
  options.eps = 0;
  options.flags = TD_REPLAY_BATCH_WEIGHTS;
  td_replay *replay = replay_of(&options);
  td_tensordict *td = td_empty(TD_SIZES(rows));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(rows)));
  TD_DO(td_replay_extend(replay, td));
  td_free(td);
  int64_t *places = calloc(rows, 8), index[512];
  double *priority = calloc(rows, 8);
  for (int i = 0; i < rows; i++) places[i] = i;
  priority[17] = 1, priority[4242] = 1, priority[4999] = 2; /* nothing else */
  prioritize(replay, places, priority, rows);
  int count[3] = {0};
  td_tensordict *batch = NULL;
  TD_DO(td_replay_sample(replay, 512, &batch));
  replay_values(batch, TD_KEY("index"), index, 8, 512);
  td_free(batch);
  for (int i = 0; i < 512; i++) {
    TD_CHECK(index[i] == 17 || index[i] == 4242 || index[i] == 4999);
    count[index[i] == 17 ? 0 : index[i] == 4242 ? 1 : 2]++;
  }
  TD_CHECK(abs(count[0] - 128) < 40 && abs(count[1] - 128) < 40 && abs(count[2] - 256) < 50);
  free(places);
  free(priority);
}

/* The weights in the folder that a buffer saves, and the largest priority there with its place. */
static void check_saved(td_replay *replay, const double *want, int64_t n, const char *largest) {
  const char *folder = td_path(td_test_folder(), "weights");
  char file[600];
  TD_DO(td_replay_save(replay, folder, 0));
  snprintf(file, sizeof file, "%s/sampler/sumtree.memmap", folder);
  size_t size = 0;
  char *tree = td_read_file(file, &size);
  TD_CHECK_INT(size, n * 8);
  for (int64_t i = 0; i < n; i++) {
    double weight = 0;
    memcpy(&weight, tree + 8 * i, 8);
    TD_CHECK(fabs(weight - want[i]) < 1e-6);
  }
  free(tree);
  snprintf(file, sizeof file, "%s/sampler/sampler_metadata.json", folder);
  char *text = td_read_file(file, &size);
  TD_CHECK_TEXT(text, largest);
  free(text);
}

static void extend_by(td_replay *replay, const double *priorities, int64_t n) {
  td_tensordict *td = replay_rows(0, n);
  td_put(td, TD_KEY("p"), numbers(priorities, n));
  TD_DO(td_replay_extend(replay, td));
  td_free(td);
}

/* As TorchRL 0.14.1 has it: TensorDictReplayBuffer(priority_key="p"), alpha 1, eps 0. */
TD_TEST(new_rows_have_the_priority_in_their_entry) {
  static const char *const name[] = {"p"};
  const td_key key = {name, 1};
  for (int within = 0; within < 2; within++) {
    td_replay_options options = replay_options(6, TD_REPLAY_SAMPLER_PRIORITIZED);
    options.alpha = options.beta = 1;
    options.eps = 0;
    options.priority_key = &key;
    options.flags = within ? TD_REPLAY_LARGEST_WITHIN : 0;
    td_replay *replay = replay_of(&options);
    extend_by(replay, (const double[]){0.5, 0.25}, 2);
    check_saved(replay, (const double[]){0.5, 0.25, 0, 0, 0, 0}, 6,
                within ? "[0.5, 0]" : "[1.0, 0]");
    extend_by(replay, (const double[]){3, 2}, 2);
    check_saved(replay, (const double[]){0.5, 0.25, 3, 2, 0, 0}, 6, "[3.0, 2]");
    const int64_t third = 2;
    const double eighth = 0.125;
    prioritize(replay, &third, &eighth, 1);
    check_saved(replay, (const double[]){0.5, 0.25, 0.125, 2, 0, 0}, 6,
                within ? "[2.0, 3]" : "[3.0, 2]");
    extend_by(replay, (const double[]){7, 4, 1}, 3); /* over the first row */
    check_saved(replay, (const double[]){1, 0.25, 0.125, 2, 7, 4}, 6, "[7.0, 4]");
    extend_by(replay, (const double[]){1, 1, 1, 0.5}, 4);
    check_saved(replay, (const double[]){1, 1, 1, 1, 0.5, 4}, 6, within ? "[4.0, 5]" : "[7.0, 4]");
    td_tensordict *row = td_empty(TD_NO_SIZES);
    td_put(row, TD_KEY("a"), td_filled(TD_DTYPE_INT64, 4, TD_NO_SIZES));
    td_put(row, TD_KEY("n", "b"), td_arange(TD_DTYPE_INT64, 8, TD_SIZES(2)));
    td_put(row, TD_KEY("p"), td_filled(TD_DTYPE_FLOAT64, 6, TD_NO_SIZES));
    TD_DO(td_replay_add(replay, row));
    check_saved(replay, (const double[]){1, 1, 1, 1, 0.5, 6}, 6, within ? "[6.0, 5]" : "[7.0, 4]");
    td_put(row, TD_KEY("p"), td_filled(TD_DTYPE_FLOAT64, -6, TD_NO_SIZES));
    TD_EXPECT(td_replay_add(replay, row), TD_ERR_INVALID_ARGUMENT);
    td_free(row);
    row = replay_rows(0, 2);
    TD_EXPECT(td_replay_extend(replay, row), TD_ERR_KEY_NOT_FOUND);
    td_free(row);
    replay_check_where(replay, 6, 6, 0, 12);
    check_saved(replay, (const double[]){1, 1, 1, 1, 0.5, 6}, 6, within ? "[6.0, 5]" : "[7.0, 4]");
    td_replay_free(replay);
  }
  td_replay_options options = replay_options(6, TD_REPLAY_SAMPLER_PRIORITIZED);
  options.priority_key = &key;
  td_replay *replay = replay_of(&options);
  td_tensordict *td = replay_rows(0, 2);
  TD_EXPECT(td_replay_extend(replay, td),
            TD_ERR_KEY_NOT_FOUND); /* the first rows say nothing of it */
  td_put(td, TD_KEY("p"), td_filled(TD_DTYPE_FLOAT32, 1, TD_SIZES(2, 2)));
  TD_EXPECT(td_replay_extend(replay, td), TD_ERR_SHAPE);
  td_put(td, TD_KEY("p"), td_filled(TD_DTYPE_BOOL, 1, TD_SIZES(2)));
  TD_EXPECT(td_replay_extend(replay, td), TD_ERR_DTYPE);
  td_put(td, TD_KEY("p"), td_filled(TD_DTYPE_FLOAT32, NAN, TD_SIZES(2)));
  TD_EXPECT(td_replay_extend(replay, td), TD_ERR_INVALID_ARGUMENT);
  replay_check_where(replay, 0, 6, 0, 0);
  td_put(td, TD_KEY("p"), td_filled(TD_DTYPE_FLOAT32, 2, TD_SIZES(2, 1)));
  TD_DO(td_replay_extend(replay, td));
}

/* TorchRL, too, counts the priorities of rows that do not stay. */
TD_TEST(more_rows_than_places_have_their_priorities) {
  static const char *const name[] = {"p"};
  const td_key key = {name, 1};
  td_replay_options options = replay_options(3, TD_REPLAY_SAMPLER_PRIORITIZED);
  options.alpha = options.beta = 1;
  options.eps = 0;
  options.priority_key = &key;
  td_replay *replay = replay_of(&options);
  extend_by(replay, (const double[]){2, 9, 3, 4, 5, 6, 7}, 7);
  check_saved(replay, (const double[]){7, 5, 6}, 3, "[9.0, 1]");
}

/* The largest within the buffer, of rows without priorities of their own, as TorchRL 0.14.1 has it. */
TD_TEST(the_largest_priority_of_rows_that_are_there) {
  td_replay_options options = replay_options(6, TD_REPLAY_SAMPLER_PRIORITIZED);
  options.alpha = 1;
  options.eps = 0;
  options.flags = TD_REPLAY_LARGEST_WITHIN;
  td_replay *replay = replay_of(&options);
  replay_write(replay, 0, 6);
  const int64_t places[] = {1, 5};
  const double priorities[] = {4, 9};
  prioritize(replay, places, priorities, 2);
  check_saved(replay, (const double[]){1, 4, 1, 1, 1, 9}, 6, "[9.0, 5]");
  replay_write(replay, 6, 2);
  check_saved(replay, (const double[]){9, 9, 1, 1, 1, 9}, 6, "[9.0, 5]");
  replay_write(replay, 8, 4); /* over the largest: another place has it now */
  check_saved(replay, (const double[]){9, 9, 9, 9, 9, 9}, 6, "[9.0, 0]");
  replay_write(replay, 12, 1); /* over that one: none is told of */
  check_saved(replay, (const double[]){9, 9, 9, 9, 9, 9}, 6, "[null, null]");
  replay_write(replay, 13, 1);
  check_saved(replay, (const double[]){9, 1, 9, 9, 9, 9}, 6, "[9.0, 0]");
  td_replay_free(replay);
  /* One call that goes round twice: all its rows have what was the largest before it. */
  replay = replay_of(&options);
  replay_write(replay, 0, 1);
  prioritize(replay, (const int64_t[]){0}, (const double[]){9}, 1);
  replay_write(replay, 1, 13);
  check_saved(replay, (const double[]){9, 9, 9, 9, 9, 9}, 6, "[null, null]");
}

/* Another process has the rows of this one, and their entry gives it their priorities. */
TD_TEST(rows_of_others_have_the_priority_in_their_entry) {
  static const char *const name[] = {"p"};
  const td_key key = {name, 1};
  td_replay_options options = replay_options(6, TD_REPLAY_SAMPLER_RANDOM);
  options.folder = td_path(td_test_folder(), "shared");
  td_replay *writer = replay_of(&options), *learner = NULL;
  extend_by(writer, (const double[]){0.5, 0.25, -1, NAN}, 4); /* it has no priorities */
  options = replay_options(0, TD_REPLAY_SAMPLER_PRIORITIZED);
  options.alpha = 1;
  options.eps = 0;
  options.priority_key = &key;
  TD_DO(td_replay_open(td_path(td_test_folder(), "shared"), &options, &learner));
  int64_t a[4];
  TD_CHECK_INT(replay_draw(learner, 4, a, NULL), 4);
  extend_by(writer, (const double[]){8, 2}, 2);
  check_saved(learner, (const double[]){0.5, 0.25, 1, 1, 8, 2}, 6, "[8.0, 4]");
  td_replay_free(learner);
  td_replay_free(writer);
  options.priority_key = NULL;
  options.flags = TD_REPLAY_LARGEST_WITHIN;
  learner =
      replay_loaded(td_path(td_test_folder(), "weights"), NULL); /* the folder knows its key */
  extend_by(learner, (const double[]){3}, 1);
  check_saved(learner, (const double[]){3, 0.25, 1, 1, 8, 2}, 6, "[8.0, 4]");
}
