/* Folders that cannot be written or read: no permission, no space. Nothing half-written stays. */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/mount.h>
#endif

#include "td_files.h"
#include "td_values.h"

static td_tensordict *four_megabytes(void) {
  td_tensordict *td = td_empty(TD_SIZES(4));
  td_tensor *big = NULL;
  td_put(td, TD_KEY("n", "small"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4)));
  TD_DO(td_tensor_zeros(TD_SIZES(4, 1 << 18), TD_DTYPE_FLOAT32, TD_DEVICE_CPU, -1, &big));
  td_put(td, TD_KEY("big"), big);
  return td;
}

/* What every call that saves must do when there is no room: say so and leave everything as it was. */
static void check_no_room(const char *folder) {
  td_tensordict *td = four_megabytes(), *mapped;
  TD_EXPECT_NULL(td_memmap(td, folder, NULL, &mapped), TD_ERR_IO, mapped);
  TD_CHECK(td_last_error_message()[0] != '\0');
  TD_CHECK(!td_exists(td_path(folder, "meta.json")));
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  options.num_threads = 3;
  TD_EXPECT_NULL(td_memmap(td, folder, &options, &mapped), TD_ERR_IO, mapped);
  TD_CHECK(!td_exists(td_path(folder, "meta.json")));
  TD_EXPECT(td_memmap_inplace(td, folder, NULL), TD_ERR_IO);
  TD_CHECK_FLAG(td_is_locked, td, 0);
  TD_CHECK_FLAG(td_is_memmap, td, 0);
  TD_CHECK_ENTRY(td, TD_KEY("n", "small"), TD_SIZES(4), TD_VALUES(0, 1, 2, 3));
  td_put(td, TD_KEY("more"), td_arange(TD_DTYPE_INT8, 0, TD_SIZES(4)));
  td_free(td);
}

TD_TEST(a_full_disk) {
#if defined(__linux__)
  const char *disk = td_here("disk");
  td_make_folder(disk);
  if (mount("none", disk, "tmpfs", 0, "size=1m") != 0) td_test_skip("mount is not permitted");
  const char *folder = td_path(disk, "m");
  td_tensordict *td = four_megabytes();
  td_tensordict *mapped = TD_POISON;
  const td_status status = td_memmap(td, folder, NULL, &mapped);
  const int meta = td_exists(td_path(folder, "meta.json"));
  const int left = td_count_entries(disk);
  char message[1100];
  snprintf(message, sizeof message, "%s", td_last_error_message());
  td_tensordict *like = TD_POISON;
  const td_status like_status = td_memmap_like(td, td_path(disk, "like"), NULL, &like);
  if (like_status == TD_OK) td_free(like);
  const td_status inplace = td_memmap_inplace(td, folder, NULL);
  umount2(disk, MNT_DETACH);
  TD_CHECK_INT(status, TD_ERR_IO);
  TD_CHECK(mapped == NULL);
  TD_CHECK(!meta);
  TD_CHECK(left <= 1); /* at most the empty folder */
  TD_CHECK_TEXT(message, "No space left");
  TD_CHECK_INT(like_status, TD_ERR_IO);
  TD_CHECK_INT(inplace, TD_ERR_IO);
  TD_CHECK_FLAG(td_is_locked, td, 0);
  td_free(td);
#else
  td_test_skip("needs tmpfs");
#endif
}

TD_TEST(a_limit_on_the_size_of_files) {
  struct rlimit before;
  TD_CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const char *folder = td_here("m");
  struct rlimit limit = before;
  limit.rlim_cur = 1 << 20;
  signal(SIGXFSZ, SIG_IGN);
  TD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  check_no_room(folder);
  TD_CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
  signal(SIGXFSZ, SIG_DFL);
}

TD_TEST(an_older_save_survives_a_failed_one) {
  struct rlimit before, limit;
  td_tensordict *old = td_empty(TD_SIZES(4)), *mapped = NULL, *loaded = NULL;
  td_put(old, TD_KEY("big"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4)));
  const char *folder = td_here("m");
  TD_DO(td_memmap(old, folder, NULL, &mapped));
  td_free(mapped);
  TD_CHECK(getrlimit(RLIMIT_FSIZE, &before) == 0);
  limit = before;
  limit.rlim_cur = 1 << 20;
  signal(SIGXFSZ, SIG_IGN);
  TD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  td_tensordict *td = four_megabytes();
  const td_status status = td_memmap(td, folder, NULL, &mapped);
  TD_CHECK(setrlimit(RLIMIT_FSIZE, &before) == 0);
  signal(SIGXFSZ, SIG_DFL);
  TD_CHECK_INT(status, TD_ERR_IO);
  TD_DO(td_memmap_load(folder, NULL, &loaded));
  TD_CHECK_ENTRY(loaded, TD_KEY("big"), TD_SIZES(4), TD_VALUES(0, 1, 2, 3));
}

TD_TEST(a_file_where_a_folder_is_needed) {
  td_tensordict *td = td_sample(), *mapped;
  td_write_text(td_here("file"), "x");
  TD_EXPECT_NULL(td_memmap(td, td_here("file"), NULL, &mapped), TD_ERR_IO, mapped);
  TD_EXPECT_NULL(td_memmap(td, td_here("file/below"), NULL, &mapped), TD_ERR_IO, mapped);
  TD_EXPECT_NULL(td_memmap_load(td_here("file"), NULL, &mapped), TD_ERR_FORMAT, mapped);
  TD_CHECK_INT(td_file_size(td_here("file")), 1);
}

TD_TEST(no_permission) {
  if (geteuid() == 0) td_test_skip("root has every permission");
  td_tensordict *td = td_sample(), *mapped = NULL;
  td_make_folder(td_here("closed"));
  TD_DO(td_memmap(td, td_here("closed/m"), NULL, &mapped));
  td_free(mapped);
  TD_CHECK(chmod(td_here("closed/m/meta.json"), 0) == 0);
  TD_EXPECT_NULL(td_memmap_load(td_here("closed/m"), NULL, &mapped), TD_ERR_IO, mapped);
  TD_CHECK_TEXT(td_last_error_message(), "ermission");
  TD_CHECK(chmod(td_here("closed"), 0) == 0);
  TD_EXPECT_NULL(td_memmap_load(td_here("closed/m"), NULL, &mapped), TD_ERR_IO, mapped);
  TD_EXPECT_NULL(td_memmap(td, td_here("closed/n"), NULL, &mapped), TD_ERR_IO, mapped);
  TD_CHECK(chmod(td_here("closed"), 0700) == 0);
}
