/* Keys, folders and files that are named as the unfinished work of a save is, or was in earlier versions: all of
 * them stay what they are. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "td_files.h"
#include "td_values.h"

static const char *const names[] = {".tmp-save-x", ".tmp-save", ".tmp-1-2",  ".m.tmp-save",
                                    "%tmp",        ".%tmp",     ".%tmp-1-2", ".m.%tmp",
                                    "%checksums",  ".tmp-",     "checksums", ".a.memmap.%tmp"};
enum { NAMES = sizeof names / sizeof *names };

/* A tensor under each name, and under each a dictionary, one level down. */
static td_tensordict *named(int64_t rows) {
  td_tensordict *td = td_empty(TD_SIZES(rows));
  for (int i = 0; i < NAMES; i++) {
    td_put(td, (const char *[]){names[i]}, 1, td_arange(TD_DTYPE_INT64, i, TD_SIZES(rows)));
    td_put(td, (const char *[]){"n", names[i], "a"}, 3,
           td_arange(TD_DTYPE_INT32, 2 * i, TD_SIZES(rows)));
  }
  return td;
}

static void save(const td_tensordict *td, const char *folder, int32_t checksums) {
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  td_tensordict *mapped = NULL;
  options.checksums = checksums;
  TD_DO(td_memmap(td, folder, &options, &mapped));
  td_free(mapped);
}

static void check_stored(const char *path, td_tensordict *want) {
  td_tensordict *found = NULL;
  size_t damaged = 99;
  TD_DO(td_memmap_verify(path, NULL, &damaged));
  TD_CHECK_INT(damaged, 0);
  TD_DO(td_memmap_load(path, NULL, &found));
  TD_CHECK_EQUAL(found, want);
  td_free(found);
}

TD_TEST(keys_are_saved_appended_packed_and_unpacked) {
  for (int32_t checksums = 0; checksums < 2; checksums++) {
    td_tensordict *two = named(2), *four = NULL, *pair[2];
    const char *folder = td_here(checksums ? "c" : "m");
    save(two, folder, checksums);
    check_stored(folder, two);
    save(two, folder, checksums); /* over itself */
    TD_DO(td_memmap_append(folder, two, NULL));
    TD_DO(td_memmap_append(folder, two, NULL));
    TD_DO(td_memmap_truncate(folder, 4, NULL));
    pair[0] = pair[1] = two;
    TD_DO(td_cat((const td_tensordict *const *)pair, 2, 0, &four));
    check_stored(folder, four);
    TD_DO(td_memmap_pack(folder, td_here("a.tdz"), NULL));
    check_stored(td_here("a.tdz"), four);
    TD_DO(td_memmap_unpack(td_here("a.tdz"), td_here(checksums ? "cu" : "mu"), NULL));
    check_stored(td_here(checksums ? "cu" : "mu"), four);
    TD_CHECK_SAME_TREE(td_here(checksums ? "cu" : "mu"), folder);
  }
}

TD_TEST(a_save_beside_them_leaves_them) {
  td_tensordict *td = named(3), *other = td_sample();
  save(td, td_here("x"), 0);
  save(other, td_here("x/n/b"), 0); /* beside "x/n/.b.tmp-save" */
  td_make_folder(td_here("p"));
  static const char *const beside[] = {".y.tmp-save", ".y.%tmp", ".tmp-save", ".%tmp", ".y.%tmp-1"};
  for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
    save(td, td_path(td_here("p"), beside[i]), 0);
  td_make_folder(td_here("p/.z.%tmp"));
  td_write_text(td_here("p/.z.%tmp/mine"), "text");
  td_write_text(td_here("p/.%tmp-1-2"), "text");
  for (int again = 0; again < 2; again++) {
    td_tensordict *mapped = NULL;
    save(other, td_here("p/y"), 0);
    save(other, td_here("p/z"), 0);
    TD_DO(td_consolidate(other, td_here("p/c"), NULL, &mapped));
    td_free(mapped);
    TD_DO(td_memmap_append(td_here("p/y"), other, NULL));
  }
  check_stored(td_here("x"), td);
  for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
    check_stored(td_path(td_here("p"), beside[i]), td);
  TD_CHECK_INT(td_file_size(td_here("p/.z.%tmp/mine")), 4);
  TD_CHECK_INT(td_file_size(td_here("p/.%tmp-1-2")), 4);
  check_stored(td_here("p/z"), other);
}

/* Whatever has been stored where unfinished work is made would be taken for it. */
TD_TEST(nothing_is_stored_in_the_place_of_unfinished_work) {
  td_tensordict *td = td_sample(), *mapped;
  td_make_folder(td_here(".y.%tmp"));
  TD_EXPECT_NULL(td_memmap(td, td_here(".y.%tmp/%tmp"), NULL, &mapped), TD_ERR_IO, mapped);
  TD_CHECK_TEXT(td_last_error_message(), "where unfinished work is removed");
  TD_EXPECT_NULL(td_memmap(td, td_here(".y.%tmp/%tmp/m"), NULL, &mapped), TD_ERR_IO, mapped);
  TD_EXPECT_NULL(td_consolidate(td, td_here(".y.%tmp/%tmp"), NULL, &mapped), TD_ERR_IO, mapped);
  save(td, td_here("%tmp"), 0);
  check_stored(td_here("%tmp"), td);
}

/* What earlier versions have left has names that keys can have: it stays. */
TD_TEST(leftovers_of_earlier_versions_stay) {
  td_tensordict *td = td_sample();
  save(td, td_here("p/m"), 0);
  td_make_folder(td_here("p/.m.tmp-save"));
  td_write_text(td_here("p/.m.tmp-save/a.memmap"), "half");
  td_write_text(td_here("p/m/.tmp-123-4"), "half");
  save(td, td_here("p/m"), 0);
  TD_DO(td_memmap_append(td_here("p/m"), td, NULL));
  TD_CHECK_INT(td_file_size(td_here("p/.m.tmp-save/a.memmap")), 4);
  TD_CHECK_INT(td_file_size(td_here("p/m/.tmp-123-4")), 4);
}

TD_TEST(a_nested_dictionary_called_checksums) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *more = NULL, *pair[2];
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  td_put(td, TD_KEY("checksums", "b"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  save(td, td_here("m"), 0);
  check_stored(td_here("m"), td);
  save(td, td_here("m"), 1);
  TD_CHECK(td_exists(td_here("m/%checksums")));
  TD_CHECK(td_exists(td_here("m/checksums/b.memmap")));
  check_stored(td_here("m"), td);
  TD_DO(td_memmap_append(td_here("m"), td, NULL));
  pair[0] = pair[1] = td;
  TD_DO(td_cat((const td_tensordict *const *)pair, 2, 0, &more));
  check_stored(td_here("m"), more);
  TD_DO(td_memmap_write_checksums(td_here("m"), NULL));
  check_stored(td_here("m"), more);
  /* they see damage */
  size_t damaged = 0;
  td_write_text(td_here("m/checksums/b.memmap"), "01234567012345670123456701234567");
  TD_DO(td_memmap_verify(td_here("m"), NULL, &damaged));
  TD_CHECK_INT(damaged, 1);
  /* and come and go with the entry */
  td_tensordict *plain = td_sample();
  save(plain, td_here("m"), 1);
  TD_CHECK(!td_exists(td_here("m/%checksums")));
  TD_CHECK(td_exists(td_here("m/checksums")));
  check_stored(td_here("m"), plain);
  save(td, td_here("m"), 1);
  check_stored(td_here("m"), td);
}

TD_TEST(names_that_are_not_escaped) {
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  td_load_options load = TD_LOAD_OPTIONS_INIT;
  td_tensordict *td = named(2), *mapped = NULL, *found = NULL;
  options.verbatim_names = load.verbatim_names = 1;
  for (int again = 0; again < 2; again++) {
    TD_DO(td_memmap(td, td_here("m"), &options, &mapped));
  }
  TD_DO(td_memmap_append(td_here("m"), td, NULL));
  TD_DO(td_memmap_truncate(td_here("m"), 2, NULL));
  TD_DO(td_memmap_load(td_here("m"), &load, &found));
  TD_CHECK_EQUAL(found, td);
}
