/* Draws from a data set, whose steps are read when they are drawn: those of a full buffer that holds them. */
#include "td_replay_test.h"

static const td_key episode = {(const char *const[]){"episode"}, 1};

/* A buffer of the set, which is closed, and one that holds its rows. */
typedef struct Pair {
  td_replay *of_set, *of_rows;
  int64_t rows;
} Pair;

static Pair pair_of(const char *name, td_replay_options options) {
  Pair pair = {NULL, NULL, 0};
  td_dataset *set = td_golden_set(name);
  td_tensordict *flat = NULL;
  TD_DO(td_dataset_flat(set, &flat));
  TD_DO(td_dataset_about(set, NULL, NULL, &pair.rows));
  TD_DO(td_replay_create_from_dataset(set, &options, &pair.of_set));
  td_dataset_free(set);
  options.capacity = pair.rows;
  if (options.slice_len != 0 || options.num_slices != 0) options.episode = &episode;
  TD_DO(td_replay_create(&options, &pair.of_rows));
  TD_DO(td_replay_extend(pair.of_rows, flat));
  td_free(flat);
  return pair;
}

static void free_pair(Pair pair) {
  td_replay_free(pair.of_set);
  td_replay_free(pair.of_rows);
}

static void draws_alike(Pair pair, int64_t rows, int draws) {
  for (int i = 0; i < draws; i++) {
    td_tensordict *batch = NULL, *wanted = NULL;
    TD_DO(td_replay_sample(pair.of_set, rows, &batch));
    TD_DO(td_replay_sample(pair.of_rows, rows, &wanted));
    TD_CHECK_EQUAL(batch, wanted);
    td_free(batch);
    td_free(wanted);
  }
}

static td_replay_options of_sampler(td_replay_sampler sampler, td_replay_flags flags) {
  td_replay_options options = TD_REPLAY_OPTIONS_INIT;
  options.sampler = sampler;
  options.flags = flags;
  options.seed = 11;
  return options;
}

static void compare(const char *name, td_replay_options options, int64_t rows, int draws) {
  const Pair pair = pair_of(name, options);
  draws_alike(pair, rows, draws);
  free_pair(pair);
}

TD_TEST(rows_of_a_set) {
  compare("minari/cartpole", of_sampler(TD_REPLAY_SAMPLER_AS_STORED, 0), 50, 3);
  compare("minari/cartpole", of_sampler(TD_REPLAY_SAMPLER_RANDOM, 0), 300, 2);
  compare("robomimic/low_dim.hdf5", of_sampler(TD_REPLAY_SAMPLER_WITHOUT_REPLACEMENT, 0), 5, 9);
  compare("d4rl/hop-medium-v2.hdf5",
          of_sampler(TD_REPLAY_SAMPLER_WITHOUT_REPLACEMENT, TD_REPLAY_IN_ORDER), 7, 4);
}

/* The rows of a slice: of one episode, one behind the other. */
static void stay_in_an_episode(const Pair *pair, int64_t slice) {
  enum { rows = 240 };
  td_tensordict *batch = NULL;
  TD_DO(td_replay_sample(pair->of_set, rows, &batch));
  int64_t numbers[rows], places[rows];
  TD_CHECK_INT(replay_values(batch, TD_KEY("episode"), numbers, 8, rows), rows);
  TD_CHECK_INT(replay_values(batch, TD_KEY("index"), places, 8, rows), rows);
  for (int64_t i = 0; i < rows; i++) {
    if (i % slice == 0) continue;
    TD_CHECK_INT(numbers[i], numbers[i - 1]);
    TD_CHECK_INT(places[i], places[i - 1] + 1);
  }
  td_free(batch);
}

TD_TEST(slices_of_episodes) {
  td_replay_options options = of_sampler(TD_REPLAY_SAMPLER_SLICES, TD_REPLAY_MARK_ENDS);
  options.slice_len = 6;
  Pair pair = pair_of("minari/cartpole", options);
  draws_alike(pair, 24, 3);
  stay_in_an_episode(&pair, 6);
  free_pair(pair);
  options = of_sampler(TD_REPLAY_SAMPLER_SLICES_WITHOUT_REPLACEMENT,
                       TD_REPLAY_BY_SLICE | TD_REPLAY_SHORT);
  options.slice_len = 5;
  compare("minari/cartpole", options, 10, 4);
  options = of_sampler(TD_REPLAY_SAMPLER_PRIORITIZED_SLICES, 0);
  options.num_slices = 3;
  compare("minari/cartpole", options, 12, 3);
}

TD_TEST(rows_by_priority) {
  const Pair pair = pair_of("minari/cartpole", of_sampler(TD_REPLAY_SAMPLER_PRIORITIZED, 0));
  draws_alike(pair, 16, 2);
  const double priorities[] = {5000, 4000};
  td_tensor *index = td_positions((const int64_t[]){3, 70}, 2), *priority = NULL;
  TD_DO(td_tensor_from_data(priorities, 16, TD_SIZES(2), TD_DTYPE_FLOAT64, &priority));
  TD_DO(td_replay_update_priority(pair.of_set, index, priority));
  TD_DO(td_replay_update_priority(pair.of_rows, index, priority));
  draws_alike(pair, 16, 3);
  td_tensor_free(index);
  index = td_positions((const int64_t[]){113, 0}, 2);
  TD_EXPECT(td_replay_update_priority(pair.of_set, index, priority), TD_ERR_INDEX);
  td_tensor_free(index);
  td_tensor_free(priority);
  free_pair(pair);
}

/* Sets that hold texts, which no buffer of its own memory does, and buffers that are sets. */
static void read_in_order(const char *name) {
  td_dataset *set = td_golden_set(name);
  td_replay_options options = of_sampler(TD_REPLAY_SAMPLER_WITHOUT_REPLACEMENT, TD_REPLAY_IN_ORDER);
  td_replay *replay = NULL;
  td_tensordict *flat = NULL, *batch = NULL;
  int64_t rows = 0;
  TD_DO(td_dataset_flat(set, &flat));
  TD_DO(td_dataset_about(set, NULL, NULL, &rows));
  TD_DO(td_replay_create_from_dataset(set, &options, &replay));
  TD_DO(td_replay_sample(replay, rows, &batch));
  td_put(flat, TD_KEY("index"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(rows)));
  TD_CHECK_EQUAL(batch, flat);
  td_free(batch);
  td_free(flat);
  td_replay_free(replay);
  td_dataset_free(set);
}

TD_TEST(texts_and_buffers) {
  read_in_order("minari/mixed");
  read_in_order("../torchrl/memmap_wrapped/folder");
}

TD_TEST(sets_in_tables) {
  read_in_order("lerobot/arm"); /* its "index" is the place, too */
  read_in_order("minari/mixed_arrow");
}

TD_TEST(what_the_buffer_of_a_set_is) {
  const Pair pair = pair_of("robomimic/low_dim.hdf5", of_sampler(TD_REPLAY_SAMPLER_RANDOM, 0));
  replay_check_where(pair.of_set, pair.rows, pair.rows, 0, pair.rows);
  td_tensordict *all = NULL, *wanted = NULL, *batch = NULL;
  TD_DO(td_replay_dict(pair.of_set, &all));
  TD_DO(td_replay_dict(pair.of_rows, &wanted));
  TD_CHECK_EQUAL(all, wanted);
  TD_EXPECT(td_replay_extend(pair.of_set, all), TD_ERR_UNSUPPORTED);
  TD_CHECK_TEXT(td_last_error_message(), "only read");
  TD_EXPECT(td_replay_add(pair.of_set, all), TD_ERR_UNSUPPORTED);
  TD_EXPECT(td_replay_save(pair.of_set, td_path(td_test_folder(), "saved"), 0), TD_ERR_UNSUPPORTED);
  TD_CHECK_TEXT(td_last_error_message(), "td_dataset_convert");
  TD_EXPECT(td_replay_save(pair.of_set, NULL, 0), TD_ERR_UNSUPPORTED);
  TD_EXPECT(td_replay_sample_hindsight(pair.of_set, 4, NULL, NULL, &batch), TD_ERR_UNSUPPORTED);
  TD_CHECK(batch == NULL);
  TD_EXPECT(td_replay_sample(pair.of_set, 0, &batch), TD_ERR_INVALID_ARGUMENT);
  TD_CHECK(batch == NULL);
  td_free(all);
  td_free(wanted);
  free_pair(pair);
}

TD_TEST(what_it_refuses) {
  td_dataset *set = td_golden_set("minari/cartpole");
  td_replay *replay = NULL;
  td_replay_options good = of_sampler(TD_REPLAY_SAMPLER_SLICES, 0), options = good;
  good.slice_len = 4;
  const struct {
    td_status status;
    const char *text;
  } wanted[] = {{TD_ERR_INVALID_ARGUMENT, "knows its episodes"},
                {TD_ERR_INVALID_ARGUMENT, "knows its episodes"},
                {TD_ERR_INVALID_ARGUMENT, "lie in the data set"},
                {TD_ERR_INVALID_ARGUMENT, "takes none"},
                {TD_ERR_INVALID_ARGUMENT, "has 113 rows"},
                {TD_ERR_INVALID_ARGUMENT, "dims is 2"},
                {TD_ERR_UNSUPPORTED, "n_steps"},
                {TD_ERR_INVALID_ARGUMENT, "slice_len or num_slices"},
                {TD_ERR_INVALID_ARGUMENT, "rows is -1"}};
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    options = good;
    if (i == 0) options.episode = &episode;
    if (i == 1) options.ends = &episode, options.ends_len = 1;
    if (i == 2) options.folder = "anywhere";
    if (i == 3)
      options.priority_key = &episode, options.sampler = TD_REPLAY_SAMPLER_PRIORITIZED_SLICES;
    if (i == 4) options.capacity = 112;
    if (i == 5) options.dims = 2;
    if (i == 6) options.n_steps = 3;
    if (i == 7) options.slice_len = 0;
    if (i == 8) options.rows = -1;
    TD_EXPECT(td_replay_create_from_dataset(set, &options, &replay), wanted[i].status);
    TD_CHECK_TEXT(td_last_error_message(), wanted[i].text);
    TD_CHECK(replay == NULL);
  }
  good.capacity = 113;
  TD_DO(td_replay_create_from_dataset(set, &good, &replay));
  td_replay_free(replay);
  TD_DO(td_replay_create_from_dataset(set, NULL, &replay));
  td_replay_free(replay);
  td_dataset_free(set);
}
