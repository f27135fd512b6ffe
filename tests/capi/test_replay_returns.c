/* Returns of several steps, and goals that were reached. The numbers are those of MultiStep and MultiStepTransform of
   TorchRL 0.14.1 on the same rows. */
#include <math.h>
#include <stdio.h>

#include "td_replay_test.h"

static const char *const done_path[] = {"next", "done"}, *const id_path[] = {"id"};
static const td_key by_end = {done_path, 2}, by_id = {id_path, 1};

enum { most = 20 };
static const float rewards[most] = {0, 5, 10, 4, 9, 3, 8, 2, 7, 1, 6, 0, 5, 10, 4, 9, 3, 8, 2, 7};
static const int64_t steps_of[most] = {3, 3, 3, 3, 3, 3, 3, 2, 1, 3, 3, 3, 3, 3, 3, 3, 2, 1, 2, 1};
static const float returns[most] = {12.6F,  17.24F, 20.89F, 14.53F, 18.18F, 11.82F, 15.47F,
                                    8.3F,   7,      6.4F,   10.05F, 12.6F,  17.24F, 20.89F,
                                    14.53F, 18.18F, 10.2F,  8,      8.3F,   7};

/* Rows from `first` on, in episodes of nine, whose reward is 5 k % 11; "mask" is false in every fifth. */
static td_tensordict *played(int64_t first, int64_t n) {
  td_tensordict *td = td_empty(TD_SIZES(n));
  td_tensor *all[4] = {
      td_filled(TD_DTYPE_BOOL, 0, TD_SIZES(n, 1)), td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(n, 1)),
      td_filled(TD_DTYPE_BOOL, 0, TD_SIZES(n)), td_filled(TD_DTYPE_INT64, 0, TD_SIZES(n))};
  void *data[4];
  for (int i = 0; i < 4; i++) TD_DO(td_tensor_data(all[i], &data[i]));
  for (int64_t i = 0; i < n; i++) {
    const int64_t k = first + i;
    ((char *)data[0])[i] = k % 9 == 8;
    ((float *)data[1])[i] = (float)(k * 5 % 11);
    ((char *)data[2])[i] = k % 5 != 2;
    ((int64_t *)data[3])[i] = k / 9;
  }
  td_put(td, TD_KEY("next", "done"), all[0]);
  td_put(td, TD_KEY("next", "reward"), all[1]);
  td_put(td, TD_KEY("mask"), all[2]);
  td_put(td, TD_KEY("id"), all[3]);
  td_put(td, TD_KEY("obs"), td_arange(TD_DTYPE_FLOAT32, first, TD_SIZES(n, 1)));
  td_put(td, TD_KEY("next", "obs"), td_arange(TD_DTYPE_FLOAT32, first + 1, TD_SIZES(n, 1)));
  return td;
}

static td_replay *filled(const td_replay_options *options, int64_t first, int64_t n) {
  td_replay *replay = replay_of(options);
  td_tensordict *td = played(first, n);
  TD_DO(td_replay_extend(replay, td));
  td_free(td);
  return replay;
}

static td_replay_options returns_of(int64_t n_steps) {
  td_replay_options options = replay_options(most, TD_REPLAY_SAMPLER_WITHOUT_REPLACEMENT);
  options.flags = TD_REPLAY_IN_ORDER;
  options.n_steps = n_steps;
  options.gamma = 0.9;
  return options;
}

static td_tensordict *drawn(td_replay *replay, int64_t rows) {
  td_tensordict *batch = NULL;
  TD_DO(td_replay_sample(replay, rows, &batch));
  return batch;
}

static void check_floats(const td_tensordict *td, const char *const *path, size_t len,
                         const float *want, int64_t n) {
  float got[64];
  TD_CHECK_INT(replay_values(td, path, len, got, 4, 64), n);
  for (int64_t i = 0; i < n; i++) TD_CHECK(fabsf(got[i] - want[i]) < 1e-5F);
}

static void check_returns(const td_tensordict *batch, int has_mask) {
  int64_t steps[most];
  char nonterminal[most], done[most];
  float gammas[most], last[most];
  TD_CHECK_BATCH(batch, most);
  check_floats(batch, TD_KEY("next", "reward"), returns, most);
  check_floats(batch, TD_KEY("next", "original_reward"), rewards, most);
  TD_CHECK_INT(replay_values(batch, TD_KEY("steps_to_next_obs"), steps, 8, most), most);
  TD_CHECK_INT(replay_values(batch, TD_KEY("nonterminal"), nonterminal, 1, most), most);
  TD_CHECK_INT(replay_values(batch, TD_KEY("next", "done"), done, 1, most), most);
  for (int64_t i = 0; i < most; i++) {
    TD_CHECK_INT(steps[i], steps_of[i]);
    gammas[i] = (float)pow(0.9, (double)steps[i]);
    last[i] = (float)(i + steps[i]);
    TD_CHECK_INT(nonterminal[i], steps[i] != 1 && (!has_mask || i % 5 != 2));
    TD_CHECK_INT(done[i], i % 9 == 8); /* as it was */
  }
  check_floats(batch, TD_KEY("gamma"), gammas, most);
  check_floats(batch, TD_KEY("next", "obs"), last, most);
  for (int64_t i = 0; i < most; i++) last[i] = (float)i;
  check_floats(batch, TD_KEY("obs"), last, most);
}

TD_TEST(returns_are_those_of_python) {
  td_replay_options options = returns_of(3);
  td_replay *replay = filled(&options, 0, most);
  td_tensordict *batch = drawn(replay, most);
  check_returns(batch, 1);
  TD_CHECK_DTYPE(batch, TD_KEY("next", "reward"), TD_DTYPE_FLOAT32);
  TD_CHECK_DTYPE(batch, TD_KEY("gamma"), TD_DTYPE_FLOAT32);
  td_free(batch);
  batch = drawn(replay, most); /* the memory of the batch is used again */
  check_returns(batch, 1);
  td_free(batch);
  td_tensordict *stored = NULL;
  TD_DO(td_replay_dict(replay, &stored)); /* what is stored stays as it was */
  check_floats(stored, TD_KEY("next", "reward"), rewards, most);
  td_free(stored);
  td_replay_free(replay);
  options.ends = &by_end, options.ends_len = 1;
  options.mask = &by_end; /* another mask */
  replay = filled(&options, 0, most);
  batch = drawn(replay, most);
  char nonterminal[most];
  TD_CHECK_INT(replay_values(batch, TD_KEY("nonterminal"), nonterminal, 1, most), most);
  for (int64_t i = 0; i < most; i++)
    TD_CHECK_INT(nonterminal[i], 0); /* the last row has one step */
  td_free(batch);
  td_replay_free(replay);
  options.ends = NULL, options.ends_len = 0, options.mask = NULL;
  options.episode = &by_id;
  replay = filled(&options, 0, most);
  batch = drawn(replay, most);
  check_returns(batch, 1);
  td_free(batch);
  td_replay_free(replay);
}

TD_TEST(one_step_and_more_than_there_are) {
  td_replay_options options = returns_of(1);
  td_replay *replay = filled(&options, 0, most);
  td_tensordict *batch = drawn(replay, most);
  check_floats(batch, TD_KEY("next", "reward"), rewards, most);
  check_floats(batch, TD_KEY("next", "original_reward"), rewards, most);
  int64_t steps[most];
  replay_values(batch, TD_KEY("steps_to_next_obs"), steps, 8, most);
  for (int64_t i = 0; i < most; i++) TD_CHECK_INT(steps[i], 1);
  td_free(batch);
  td_replay_free(replay);
  options.n_steps = INT64_MAX;
  options.gamma = 1;
  replay = filled(&options, 0, most);
  batch = drawn(replay, most);
  float sums[most];
  for (int64_t i = most, sum = 0; i-- > 0;) {
    sum = (i % 9 == 8 ? 0 : sum) + (int64_t)rewards[i];
    sums[i] = (float)sum;
  }
  check_floats(batch, TD_KEY("next", "reward"), sums, most);
  td_free(batch);
  td_replay_free(replay);
}

/* Rows are followed over the end of the memory, but not over the place of the next row. */
TD_TEST(returns_stop_where_the_ring_was_cut) {
  td_replay_options options = returns_of(3);
  options.capacity = 8;
  td_replay *replay = filled(&options, 0, 21); /* 13 to 20; 16 lies at place 0 */
  td_tensordict *batch = drawn(replay, 8);
  /* rewards of 16…20 are 3 8 2 7 1, of 13…15 are 10 4 9; 17 ends an episode */
  const float want[8] = {10.2F, 8, 9.11F, 7.9F, 1, 20.89F, 14.53F, 18.18F};
  const int64_t want_steps[8] = {2, 1, 3, 2, 1, 3, 3, 3};
  int64_t steps[8];
  check_floats(batch, TD_KEY("next", "reward"), want, 8);
  replay_values(batch, TD_KEY("steps_to_next_obs"), steps, 8, 8);
  for (int i = 0; i < 8; i++) TD_CHECK_INT(steps[i], want_steps[i]);
  td_free(batch);
  td_replay_free(replay);
}

TD_TEST(returns_of_slices_and_by_priority) {
  td_replay_options options = returns_of(3);
  options.flags = TD_REPLAY_MARK_ENDS | TD_REPLAY_BY_SLICE;
  options.sampler = TD_REPLAY_SAMPLER_PRIORITIZED_SLICES;
  options.slice_len = 4;
  options.ends = &by_end, options.ends_len = 1;
  td_replay *replay = filled(&options, 0, most);
  td_tensordict *batch = drawn(replay, 40);
  TD_CHECK_BATCH(batch, 10, 4);
  int64_t index[40];
  float got[40];
  replay_values(batch, TD_KEY("index"), index, 8, 40);
  replay_values(batch, TD_KEY("next", "reward"), got, 4, 40);
  for (int i = 0; i < 40; i++) TD_CHECK(fabsf(got[i] - returns[index[i]]) < 1e-5F);
  td_free(batch);
  td_replay_free(replay);
}

/* Columns of a storage of two dimensions are followed one by one. */
TD_TEST(returns_of_environments) {
  td_replay_options options = returns_of(3);
  options.capacity = 40;
  options.dims = 2;
  td_replay *replay = replay_of(&options);
  td_tensordict *td = played(0, most), *wide = NULL, *batch = NULL;
  const td_tensordict *both[] = {td, td};
  TD_DO(td_stack(both, 2, 1, &wide));
  TD_DO(td_replay_extend(replay, wide));
  td_free(td);
  td_free(wide);
  batch = drawn(replay, 40);
  float got[40];
  replay_values(batch, TD_KEY("next", "reward"), got, 4, 40);
  for (int i = 0; i < 40; i++) TD_CHECK(fabsf(got[i] - returns[i / 2]) < 1e-5F);
  td_free(batch);
  td_replay_free(replay);
}

TD_TEST(a_saved_buffer_goes_on_with_its_returns) {
  char folder[400];
  snprintf(folder, sizeof folder, "%s/saved", td_test_folder());
  td_replay_options options = returns_of(3);
  options.sampler = TD_REPLAY_SAMPLER_RANDOM;
  options.flags = 0;
  static const char *const path[] = {"next", "obs"};
  static const td_key both[] = {{path, 2}};
  options.rewards = both, options.rewards_len = 1;
  td_replay *replay = filled(&options, 0, most);
  TD_DO(td_replay_save(replay, folder, 0));
  td_replay *loaded = replay_loaded(folder, NULL);
  td_tensordict *one = drawn(replay, 32), *other = drawn(loaded, 32);
  TD_CHECK_EQUAL(one, other);
  td_replay_free(loaded);
  td_free(one);
  td_free(other);
  options.capacity = 0;
  options.n_steps = 0, options.rewards_len = 0;
  loaded = replay_loaded(folder, &options); /* a sampler was named: rows are as they were written */
  one = drawn(loaded, 32);
  td_tensor *none = NULL;
  TD_EXPECT_NULL(td_get(one, TD_KEY("gamma"), &none), TD_ERR_KEY_NOT_FOUND, none);
  td_free(one);
  td_replay_free(loaded);
  td_replay_free(replay);
}

static void refuse_draw(td_replay *replay, td_status status, const char *text) {
  td_tensordict *batch = NULL;
  TD_EXPECT_NULL(td_replay_sample(replay, 4, &batch), status, batch);
  TD_CHECK_TEXT(td_last_error_message(), text);
  td_replay_free(replay);
}

TD_TEST(returns_that_cannot_be) {
  td_replay *replay = NULL;
  td_replay_options options = returns_of(-1);
  TD_EXPECT_NULL(td_replay_create(&options, &replay), TD_ERR_INVALID_ARGUMENT, replay);
  TD_CHECK_TEXT(td_last_error_message(), "n_steps is -1");
  const double gammas[] = {0, -1, 1.5, NAN, INFINITY};
  for (int i = 0; i < 5; i++) {
    options = returns_of(2);
    options.gamma = gammas[i];
    TD_EXPECT_NULL(td_replay_create(&options, &replay), TD_ERR_INVALID_ARGUMENT, replay);
  }
  options = returns_of(0);
  options.rewards = &by_end, options.rewards_len = 1;
  TD_EXPECT_NULL(td_replay_create(&options, &replay), TD_ERR_INVALID_ARGUMENT, replay);
  options = returns_of(2);
  options.rewards_len = 1;
  TD_EXPECT_NULL(td_replay_create(&options, &replay), TD_ERR_NULL_ARGUMENT, replay);
  options = returns_of(2);
  options.rewards = &by_end, options.rewards_len = 1;
  refuse_draw(filled(&options, 0, most), TD_ERR_DTYPE, "floating-point");
  static const char *const none_path[] = {"none"}, *const obs_path[] = {"obs"};
  const td_key none = {none_path, 1}, obs = {obs_path, 1};
  options.rewards = &none;
  refuse_draw(filled(&options, 0, most), TD_ERR_KEY_NOT_FOUND, "none");
  options = returns_of(2);
  options.mask = &none;
  refuse_draw(filled(&options, 0, most), TD_ERR_KEY_NOT_FOUND, "none");
  options = returns_of(2);
  options.ends = &obs, options.ends_len = 1;
  refuse_draw(filled(&options, 0, most), TD_ERR_DTYPE, "bool");
  options = returns_of(2);
  replay = replay_of(&options);
  td_tensordict *td = played(0, 8);
  td_put(td, TD_KEY("next", "done"), td_filled(TD_DTYPE_BOOL, 0, TD_SIZES(8, 2, 1)));
  TD_DO(td_replay_extend(replay, td));
  refuse_draw(replay, TD_ERR_SHAPE, "one flag for each row");
  td_free(td);
  replay = replay_of(&options);
  td_tensordict *one = played(0, 8), *wide = NULL;
  const td_tensordict *both[] = {one, one};
  TD_DO(td_stack(both, 2, 1, &wide));
  TD_DO(td_replay_extend(replay, wide));
  refuse_draw(replay, TD_ERR_UNSUPPORTED, "dims");
}

/* Goals. Row k has reached (k, k + 0.5) and wants (-1, -1). */
static td_tensordict *reaching(int64_t first, int64_t n) {
  td_tensordict *td = played(first, n);
  td_tensor *reached = td_filled(TD_DTYPE_FLOAT32, 0, TD_SIZES(n, 2));
  void *data = NULL;
  TD_DO(td_tensor_data(reached, &data));
  for (int64_t i = 0; i < 2 * n; i++)
    ((float *)data)[i] = (float)(first + i / 2) + (i % 2 ? 0.5F : 0);
  td_put(td, TD_KEY("achieved_goal"), reached);
  td_put(td, TD_KEY("desired_goal"), td_filled(TD_DTYPE_FLOAT32, -1, TD_SIZES(n, 2)));
  td_put(td, TD_KEY("next", "desired_goal"), td_filled(TD_DTYPE_FLOAT32, -1, TD_SIZES(n, 2)));
  return td;
}

static td_replay *reached(const td_replay_options *options, int64_t first, int64_t n) {
  td_replay *replay = replay_of(options);
  td_tensordict *td = reaching(first, n);
  TD_DO(td_replay_extend(replay, td));
  td_free(td);
  return replay;
}

/* The reward of a row is twice the first number of its goal. `user`: how many rows it must get. */
static td_status twice_the_goal(void *user, td_tensordict *source, td_tensordict **result) {
  float goals[200], doubled[100];
  (void)result;
  const int64_t n = replay_values(source, TD_KEY("desired_goal"), goals, 4, 200) / 2;
  TD_CHECK_INT(n, *(int64_t *)user);
  TD_CHECK_BATCH(source, n);
  for (int64_t i = 0; i < n; i++) doubled[i] = 2 * goals[2 * i];
  return td_set_data(source, TD_KEY("next", "reward"), doubled, (size_t)n * 4, TD_SIZES(n),
                     TD_DTYPE_FLOAT32);
}

static td_module *rewarding(td_module_fn function, void *user) {
  td_module *module = NULL;
  TD_DO(td_module_from_function(NULL, function, user, NULL, &module));
  return module;
}

/* Draws, and notes which rows' goals the rows got: seen[row][source]. The rest is as it was written. */
static void note_goals(td_replay *replay, const td_replay_hindsight_options *options, int64_t rows,
                       int64_t first, int seen[40][40]) {
  td_module *module = rewarding(twice_the_goal, &first);
  for (int times = 0; times < 60; times++) {
    td_tensordict *batch = NULL;
    float goals[100], next[100], obs[50], reward[50];
    TD_DO(td_replay_sample_hindsight(replay, rows, options, module, &batch));
    replay_values(batch, TD_KEY("desired_goal"), goals, 4, 100);
    replay_values(batch, TD_KEY("next", "desired_goal"), next, 4, 100);
    replay_values(batch, TD_KEY("obs"), obs, 4, 50);
    replay_values(batch, TD_KEY("next", "reward"), reward, 4, 50);
    td_free(batch);
    for (int64_t i = 0; i < rows; i++) {
      const int row = (int)obs[i];
      TD_CHECK(goals[2 * i] == next[2 * i] && goals[2 * i + 1] == next[2 * i + 1]);
      if (i >= first) {
        TD_CHECK(goals[2 * i] == -1 && reward[i] == (float)(row * 5 % 11));
        continue;
      }
      TD_CHECK(goals[2 * i + 1] == goals[2 * i] + 0.5F);
      TD_CHECK(reward[i] == 2 * goals[2 * i]);
      seen[row][(int)goals[2 * i]]++;
    }
  }
  td_module_free(module);
}

TD_TEST(goals_that_were_reached) {
  const td_replay_options buffer = replay_options(20, TD_REPLAY_SAMPLER_RANDOM);
  for (int32_t strategy = 0; strategy <= TD_REPLAY_HINDSIGHT_RANDOM; strategy++) {
    td_replay_hindsight_options options = TD_REPLAY_HINDSIGHT_OPTIONS_INIT;
    options.strategy = strategy;
    options.ratio = 0.9;
    int seen[40][40] = {{0}};
    td_replay *replay =
        reached(&buffer, 0, 27); /* 7 to 26 lie in a ring: episodes 7, 8; 9…17; 18…26 */
    note_goals(replay, &options, 50, 45, seen);
    for (int row = 7; row < 27; row++) {
      for (int from = 7; from < 27; from++) {
        const int same = row / 9 == from / 9;
        const int may = strategy == TD_REPLAY_HINDSIGHT_FUTURE    ? same && from >= row
                        : strategy == TD_REPLAY_HINDSIGHT_FINAL   ? same && from % 9 == 8
                        : strategy == TD_REPLAY_HINDSIGHT_EPISODE ? same
                                                                  : 1;
        TD_CHECK(may || seen[row][from] == 0);
        if (may && strategy != TD_REPLAY_HINDSIGHT_RANDOM) TD_CHECK(seen[row][from] > 0);
      }
    }
    td_replay_free(replay);
  }
}

TD_TEST(goals_without_a_module_and_of_slices) {
  td_replay_options buffer = replay_options(20, TD_REPLAY_SAMPLER_SLICES);
  buffer.slice_len = 4, buffer.ends = &by_end, buffer.ends_len = 1;
  td_replay *replay = reached(&buffer, 0, 20);
  td_replay_hindsight_options options = TD_REPLAY_HINDSIGHT_OPTIONS_INIT;
  options.ratio = 1;
  options.strategy = TD_REPLAY_HINDSIGHT_FINAL;
  td_tensordict *batch = NULL;
  TD_DO(td_replay_sample_hindsight(replay, 8, &options, NULL, &batch));
  float goals[16], obs[8], reward[8];
  replay_values(batch, TD_KEY("desired_goal"), goals, 4, 16);
  replay_values(batch, TD_KEY("obs"), obs, 4, 8);
  replay_values(batch, TD_KEY("next", "reward"), reward, 4, 8);
  for (int i = 0; i < 8; i++) {
    TD_CHECK(goals[2 * i] == (obs[i] < 9 ? 8 : 17)); /* the last episode is shorter than a slice */
    TD_CHECK(reward[i] == (float)((int)obs[i] * 5 % 11));
  }
  td_free(batch);
  options.ratio = 0; /* nothing but a draw: the module is not called */
  td_module *module = rewarding(twice_the_goal, NULL);
  TD_DO(td_replay_sample_hindsight(replay, 8, &options, module, &batch));
  replay_values(batch, TD_KEY("desired_goal"), goals, 4, 16);
  for (int i = 0; i < 16; i++) TD_CHECK(goals[i] == -1);
  td_free(batch);
  td_module_free(module);
  td_replay_free(replay);
}

static td_status uses_the_buffer(void *user, td_tensordict *source, td_tensordict **result) {
  td_replay **replay = user;
  (void)result;
  td_tensordict *batch = NULL;
  TD_DO(td_replay_sample(*replay, 4, &batch));
  td_free(batch);
  td_replay_free(*replay); /* and no longer needs it */
  *replay = NULL;
  td_tensor *reward = td_filled(TD_DTYPE_FLOAT64, 3, TD_SIZES(4, 1));
  const td_status status = td_set(source, TD_KEY("next", "reward"), reward);
  td_tensor_free(reward);
  return status;
}

TD_TEST(the_function_of_rewards_may_use_the_buffer) {
  const td_replay_options buffer = replay_options(20, TD_REPLAY_SAMPLER_RANDOM);
  td_replay *replay = reached(&buffer, 0, 20);
  td_module *module = rewarding(uses_the_buffer, &replay);
  td_tensordict *batch = NULL;
  TD_DO(td_replay_sample_hindsight(replay, 5, NULL, module, &batch));
  TD_CHECK(replay == NULL);
  float reward[5];
  TD_CHECK_DTYPE(batch, TD_KEY("next", "reward"), TD_DTYPE_FLOAT32);
  replay_values(batch, TD_KEY("next", "reward"), reward, 4, 5);
  for (int i = 0; i < 4; i++) TD_CHECK(reward[i] == 3);
}

static td_status fails(void *user, td_tensordict *source, td_tensordict **result) {
  (void)user, (void)source, (void)result;
  td_set_error(-12345, "no reward");
  return -12345;
}

static td_status rewards_one_row(void *user, td_tensordict *source, td_tensordict **result) {
  const float one = 1;
  (void)user, (void)result;
  return td_set_data(source, TD_KEY("next", "reward"), &one, 4, TD_SIZES(1, 1), TD_DTYPE_FLOAT32);
}

TD_TEST(goals_that_cannot_be) {
  td_replay_options buffer = replay_options(20, TD_REPLAY_SAMPLER_RANDOM);
  td_replay *replay = reached(&buffer, 0, 20);
  td_tensordict *batch = NULL;
  td_replay_hindsight_options good = TD_REPLAY_HINDSIGHT_OPTIONS_INIT, bad = good;
  td_module *module = NULL;
#define REFUSED(status, text)                                                                 \
  TD_EXPECT_NULL(td_replay_sample_hindsight(replay, 8, &bad, module, &batch), status, batch); \
  TD_CHECK_TEXT(td_last_error_message(), text)
  const double ratios[] = {-0.1, 1.1, NAN};
  for (int i = 0; i < 3; i++) {
    bad.ratio = ratios[i];
    REFUSED(TD_ERR_INVALID_ARGUMENT, "ratio");
  }
  bad = good, bad.strategy = 4;
  REFUSED(TD_ERR_INVALID_ARGUMENT, "strategy");
  bad = good, bad.struct_size = 8;
  REFUSED(TD_ERR_INVALID_ARGUMENT, "8 bytes");
  static const char *const none_path[] = {"none"}, *const obs_path[] = {"obs"};
  const td_key none = {none_path, 1}, obs = {obs_path, 1};
  bad = good, bad.goal = &none;
  REFUSED(TD_ERR_KEY_NOT_FOUND, "none");
  bad = good, bad.achieved_goal = &none;
  REFUSED(TD_ERR_KEY_NOT_FOUND, "none");
  bad = good, bad.achieved_goal = &obs;
  REFUSED(TD_ERR_SHAPE, "what was reached");
  bad = good, bad.achieved_goal = &by_id;
  REFUSED(TD_ERR_DTYPE, "what was reached");
  bad = good;
  module = rewarding(fails, NULL);
  REFUSED(-12345, "no reward");
  td_module_free(module);
  module = rewarding(rewards_one_row, NULL);
  REFUSED(TD_ERR_SHAPE, "batch dimension mismatch");
  td_module_free(module);
  const td_key wanted = {TD_KEY("obs")};
  td_module_function_options keys = TD_MODULE_FUNCTION_OPTIONS_INIT;
  keys.out_keys = &wanted, keys.out_keys_len = 1;
  TD_DO(td_module_from_function(&keys, fails, NULL, NULL, &module));
  REFUSED(TD_ERR_INVALID_ARGUMENT, "does not write");
  td_module_free(module);
  module = NULL;
  TD_EXPECT_NULL(td_replay_sample_hindsight(replay, -1, NULL, NULL, &batch),
                 TD_ERR_INVALID_ARGUMENT, batch);
  TD_EXPECT_NULL(td_replay_sample_hindsight(replay, 0, NULL, NULL, &batch), TD_ERR_INVALID_ARGUMENT,
                 batch);
  td_replay_free(replay);
  buffer.n_steps = 2;
  replay = reached(&buffer, 0, 20);
  REFUSED(TD_ERR_UNSUPPORTED, "n_steps");
  td_replay_free(replay);
  buffer.n_steps = 0;
  replay = replay_of(&buffer);
  td_tensordict *one = reaching(0, 8), *wide = NULL;
  const td_tensordict *both[] = {one, one};
  TD_DO(td_stack(both, 2, 1, &wide));
  TD_DO(td_replay_extend(replay, wide));
  REFUSED(TD_ERR_UNSUPPORTED, "dims");
  td_free(one);
  td_free(wide);
  td_replay_free(replay);
#undef REFUSED
}
