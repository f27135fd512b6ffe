/* Minibatches of a data set, whose steps are read when a batch is made: those of a loader over all steps in memory. */
#include <string.h>

#include "td_files.h"
#include "td_values.h"

/* The batches of two epochs; the set is closed before. */
static void compare(const char *name, td_loader_options options, int batches) {
  td_dataset *set = td_golden_set(name);
  td_tensordict *flat = NULL, *read = NULL, *wanted = NULL;
  td_loader *of_set = NULL, *of_flat = NULL;
  TD_DO(td_dataset_flat(set, &flat));
  options.epochs = 2;
  TD_DO(td_loader_create_from_dataset(set, &options, &of_set));
  td_dataset_free(set);
  const td_key episode = {(const char *const[]){"episode"}, 1};
  if (options.slice_len > 0) options.episode = &episode;
  TD_DO(td_loader_create(flat, &options, &of_flat));
  int count = 0;
  for (int ends = 0; ends < 2;) {
    TD_DO(td_loader_next(of_set, &read));
    TD_DO(td_loader_next(of_flat, &wanted));
    TD_CHECK((read == NULL) == (wanted == NULL));
    if (read == NULL) {
      ends++;
      continue;
    }
    count++;
    TD_CHECK_EQUAL(read, wanted);
    td_free(read);
    td_free(wanted);
  }
  TD_CHECK_INT(count, batches);
  td_loader_free(of_set);
  td_loader_free(of_flat);
  td_free(flat);
}

static td_loader_options of_rows(int64_t rows, td_loader_flags flags) {
  td_loader_options options = TD_LOADER_OPTIONS_INIT;
  options.rows = rows;
  options.flags = flags;
  options.seed = 5;
  return options;
}

TD_TEST(rows_of_a_set) {
  compare("minari/cartpole", of_rows(50, 0), 2 * 3);
  compare("minari/mixed", of_rows(4, TD_LOADER_SHUFFLE | TD_LOADER_DROP_LAST), 2 * 3);
  compare("robomimic/low_dim.hdf5", of_rows(5, TD_LOADER_REPLACEMENT), 2 * 4);
  td_loader_options options = of_rows(10, TD_LOADER_SHUFFLE);
  options.num_workers = 3;
  compare("minari/cartpole", options, 2 * 12);
}

TD_TEST(slices_of_episodes) {
  td_loader_options options = of_rows(4, TD_LOADER_SHUFFLE);
  options.slice_len = 6;
  options.num_workers = 2;
  compare("minari/cartpole", options, 2 * 5);
  options.flags = TD_LOADER_CONCATENATE | TD_LOADER_SHORT;
  compare("minari/cartpole", options, 2 * 6);
}

TD_TEST(keys_and_states) {
  td_dataset *set = td_golden_set("minari/cartpole");
  td_loader *loader = NULL, *other = NULL;
  td_tensordict *batch = NULL, *again = NULL, *state = NULL;
  td_loader_options options = of_rows(8, TD_LOADER_SHUFFLE);
  const td_key keys[] = {{(const char *const[]){"action"}, 1},
                         {(const char *const[]){"next", "reward"}, 2}};
  options.keys = keys;
  options.keys_len = 2;
  TD_DO(td_loader_create_from_dataset(set, &options, &loader));
  TD_DO(td_loader_create_from_dataset(set, &options, &other));
  TD_DO(td_loader_next(loader, &batch));
  TD_CHECK_BATCH(batch, 8);
  td_entry_kind kind = 0;
  TD_DO(td_get_kind(batch, TD_KEY("action"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_TENSOR);
  TD_DO(td_get_kind(batch, TD_KEY("observation"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
  td_free(batch);
  TD_DO(td_loader_state(loader, &state));
  TD_DO(td_loader_load_state(other, state));
  TD_DO(td_loader_next(loader, &batch));
  TD_DO(td_loader_next(other, &again));
  TD_CHECK_EQUAL(batch, again);
  td_free(batch);
  td_free(again);
  td_free(state);
  td_loader_free(loader);
  td_loader_free(other);
  td_dataset_free(set);
}

TD_TEST(what_a_loader_of_a_set_refuses) {
  td_dataset *set = td_golden_set("minari/cartpole");
  td_loader *loader = NULL;
  td_tensordict *batch = NULL;
  td_loader_options options = of_rows(8, TD_LOADER_REFRESH);
  TD_EXPECT(td_loader_create_from_dataset(set, &options, &loader), TD_ERR_INVALID_ARGUMENT);
  options = of_rows(8, 0);
  const td_key episode = {(const char *const[]){"episode"}, 1};
  options.slice_len = 2;
  options.episode = &episode;
  TD_EXPECT(td_loader_create_from_dataset(set, &options, &loader), TD_ERR_INVALID_ARGUMENT);
  TD_CHECK_TEXT(td_last_error_message(), "knows its episodes");
  options = of_rows(0, 0);
  TD_EXPECT(td_loader_create_from_dataset(set, &options, &loader), TD_ERR_INVALID_ARGUMENT);
  options = of_rows(8, 0);
  const td_key none = {(const char *const[]){"none"}, 1};
  options.keys = &none;
  options.keys_len = 1;
  TD_DO(td_loader_create_from_dataset(set, &options, &loader));
  TD_EXPECT(td_loader_next(loader, &batch), TD_ERR_KEY_NOT_FOUND);
  TD_CHECK(batch == NULL);
  td_loader_free(loader);
  td_dataset_free(set);
}
