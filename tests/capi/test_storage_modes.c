/* Permissions of files that are written anew: they stay. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "td_files.h"
#include "td_values.h"

static int mode_of(const char *path) {
  struct stat info;
  TD_CHECK(stat(path, &info) == 0);
  return (int)(info.st_mode & 07777);
}

static td_tensordict *flat(void) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  return td;
}

static void save(const td_tensordict *td, const char *path, int32_t archive, int32_t durable) {
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  td_tensordict *mapped = NULL;
  options.archive = archive ? TD_ARCHIVE_YES : TD_ARCHIVE_BY_NAME;
  options.durable = durable;
  options.checksums = !archive;
  TD_DO(td_memmap(td, path, &options, &mapped));
  td_free(mapped);
}

static void consolidate(const td_tensordict *td, const char *path, int32_t durable) {
  td_consolidate_options options = TD_CONSOLIDATE_OPTIONS_INIT;
  td_tensordict *mapped = NULL;
  options.durable = durable;
  TD_DO(td_consolidate(td, path, &options, &mapped));
  td_free(mapped);
}

static void file(const td_tensordict *td, const char *path, td_file_format format) {
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.format = format;
  TD_DO(td_file_save(td, path, &options));
}

/* 0600 is less than new files have, 0666 more than the usual umask leaves. */
static const int modes[] = {0600, 0666, 0640};

TD_TEST(files_of_their_own) {
  td_tensordict *td = flat();
  static const char *const paths[] = {"a.tdz", "c", "s.safetensors", "n.npz", "t.csv"};
  umask(022);
  for (int i = 0; i < 3; i++) {
    for (int32_t durable = 0; durable < 2; durable++) {
      for (int round = 0; round < 2; round++) {
        save(td, td_here(paths[0]), 1, durable);
        consolidate(td, td_here(paths[1]), durable);
        file(td, td_here(paths[2]), TD_FILE_SAFETENSORS);
        file(td, td_here(paths[3]), TD_FILE_NPZ);
        TD_DO(td_table_save(td, td_here(paths[4]), NULL));
        for (int k = 0; k < 5; k++) {
          if (round == 0)
            TD_CHECK(chmod(td_here(paths[k]), (mode_t)modes[i]) == 0);
          else
            TD_CHECK_INT(mode_of(td_here(paths[k])), modes[i]);
        }
      }
    }
  }
}

TD_TEST(files_of_a_folder) {
  td_tensordict *td = td_sample(), *again = td_sample();
  static const char *const paths[] = {"m/meta.json", "m/a.memmap", "m/checksums", "m/n/meta.json"};
  umask(022);
  save(td, td_here("m"), 0, 0);
  TD_CHECK_INT(mode_of(td_here("m/a.memmap")), 0644);
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 4; k++) TD_CHECK(chmod(td_here(paths[k]), (mode_t)modes[i]) == 0);
    save(again, td_here("m"), 0, i == 1);
    for (int k = 0; k < 4; k++) TD_CHECK_INT(mode_of(td_here(paths[k])), modes[i]);
    TD_DO(td_memmap_append(td_here("m"), again, NULL));
    for (int k = 0; k < 4; k++) TD_CHECK_INT(mode_of(td_here(paths[k])), modes[i]);
    TD_DO(td_memmap_write_checksums(td_here("m"), NULL));
    for (int k = 0; k < 4; k++) TD_CHECK_INT(mode_of(td_here(paths[k])), modes[i]);
  }
}

/* Rows of a dictionary without nested ones are published by one file. */
TD_TEST(the_meta_json_of_an_append) {
  td_tensordict *td = flat(), *mapped = NULL;
  td_append_options options = TD_APPEND_OPTIONS_INIT;
  umask(022);
  TD_DO(td_memmap(td, td_here("m"), NULL, &mapped));
  td_free(mapped);
  for (int i = 0; i < 3; i++) {
    TD_CHECK(chmod(td_here("m/meta.json"), (mode_t)modes[i]) == 0);
    options.durable = i == 1;
    TD_DO(td_memmap_append(td_here("m"), td, &options));
    TD_CHECK_INT(mode_of(td_here("m/meta.json")), modes[i]);
  }
}
