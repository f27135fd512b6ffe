/* Saving over what is there, and saving what is mapped already. */
#include "td_files.h"
#include "td_values.h"

TD_TEST(a_shorter_save_cuts_the_old_file) {
  td_tensordict *td = td_sample(), *part = NULL, *mapped = NULL;
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  TD_DO(td_memmap(td, td_here("m"), NULL, &mapped));
  td_free(mapped);
  TD_DO(td_index(td, TD_AT(TD_I_UNTIL(1)), &part));
  options.fail_if_exists = 1;
  TD_EXPECT_NULL(td_memmap(part, td_here("m"), &options, &mapped), TD_ERR_IO, mapped);
  TD_CHECK_INT(td_file_size(td_here("m/n/b.memmap")), 96);
  TD_DO(td_memmap(part, td_here("m"), NULL, &mapped));
  TD_CHECK_INT(td_file_size(td_here("m/n/b.memmap")), 24);
}

TD_TEST(a_mapping_outlives_a_new_save) {
  td_tensordict *td = td_sample(), *part = NULL, *old = NULL, *mapped = NULL;
  TD_DO(td_memmap(td, td_here("m"), NULL, &old));
  TD_DO(td_index(td, TD_AT(TD_I_UNTIL(1)), &part));
  TD_DO(
      td_memmap(part, td_here("m"), NULL, &mapped)); /* shorter: the old pages must stay readable */
  td_tensor *b = td_take(old, TD_KEY("n", "b"));
  int64_t values[12];
  TD_DO(td_tensor_copy_to(b, values, sizeof values));
  TD_CHECK_INT(values[11], 11);
}

TD_TEST(mapped_elsewhere_needs_copy_existing) {
  td_tensordict *td = td_sample(), *mapped = NULL, *again;
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  TD_DO(td_memmap(td, td_here("one"), NULL, &mapped));
  TD_DO(td_memmap(mapped, td_here("one"), NULL, &again)); /* there already */
  td_free(again);
  again = TD_POISON;
  TD_CHECK(td_memmap(mapped, td_here("two"), NULL, &again) != TD_OK);
  TD_CHECK(again == NULL);
  options.copy_existing = 1;
  TD_DO(td_memmap(mapped, td_here("two"), &options, &again));
  TD_CHECK_SAME_TREE(td_here("two"), td_here("one"));
}

TD_TEST(a_part_saved_over_its_own_folder) {
  td_tensordict *td = td_sample(), *mapped = NULL, *loaded = NULL, *part = NULL;
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  TD_DO(td_memmap(td, td_here("m"), NULL, &mapped));
  td_free(mapped);
  TD_DO(td_memmap_load(td_here("m"), NULL, &loaded));
  TD_DO(td_index(loaded, TD_AT(TD_I_SLICE(2, 4)), &part));
  options.copy_existing = 1;
  TD_DO(td_memmap(part, td_here("m"), &options, &mapped));
  TD_CHECK_ENTRY(mapped, TD_KEY("n", "b"), TD_SIZES(2, 3), TD_VALUES(6, 7, 8, 9, 10, 11));
  td_free(mapped);
  TD_CHECK_ENTRY(loaded, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)); /* still readable */
  td_free(part);
  td_free(loaded);
  TD_DO(td_memmap_load(td_here("m"), NULL, &loaded));
  TD_CHECK_BATCH(loaded, 2, 3);
  TD_CHECK_ENTRY(loaded, TD_KEY("n", "b"), TD_SIZES(2, 3), TD_VALUES(6, 7, 8, 9, 10, 11));
}

TD_TEST(private_changes_are_saved_over_the_folder) {
  td_tensordict *td = td_sample(), *mapped = NULL, *loaded = NULL;
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  td_memmap_options copy = TD_MEMMAP_OPTIONS_INIT;
  td_tensor *nine = td_filled(TD_DTYPE_INT64, 9, TD_NO_SIZES);
  TD_DO(td_memmap(td, td_here("m"), NULL, &mapped));
  td_free(mapped);
  options.private_mapping = copy.copy_existing = 1;
  TD_DO(td_memmap_load(td_here("m"), &options, &loaded));
  TD_DO(td_fill_at(loaded, TD_AT(TD_I_FROM(1)), nine));
  TD_DO(td_memmap(loaded, td_here("m"), &copy, &mapped));
  td_free(mapped);
  td_free(loaded);
  TD_DO(td_memmap_load(td_here("m"), NULL, &loaded));
  TD_CHECK_ENTRY(loaded, TD_KEY("n", "b"), TD_SIZES(4, 3),
                 TD_VALUES(0, 1, 2, 9, 9, 9, 9, 9, 9, 9, 9, 9));
}
