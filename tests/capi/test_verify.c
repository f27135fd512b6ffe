/* Which file of a folder is damaged, and the checksums that tell. */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "td_files.h"
#include "td_values.h"

enum { most = 16 };

/* What a verification has told. */
typedef struct report {
  size_t count;
  td_damage_kind kinds[most];
  char paths[most][128];
  uint64_t expected[most], found[most];
  size_t told, done, total;
  size_t stop_at; /* the progress after which it is to end; 0: none */
} report;

static td_status take(void *user, const td_damage *damage) {
  report *to = user;
  if (damage->struct_size < sizeof *damage || damage->message[0] == '\0') return TD_ERR_INTERNAL;
  if (to->count == most) return TD_ERR_CAPACITY;
  snprintf(to->paths[to->count], sizeof to->paths[0], "%s", damage->path);
  to->expected[to->count] = damage->expected;
  to->found[to->count] = damage->found;
  to->kinds[to->count++] = damage->kind;
  return TD_OK;
}

static td_status count_bytes(void *user, size_t done, size_t total) {
  report *to = user;
  to->told++;
  to->done = done;
  to->total = total;
  return to->stop_at != 0 && to->told >= to->stop_at ? -10007 : TD_OK;
}

static report verify(const char *folder, int threads) {
  report result;
  memset(&result, 0, sizeof result);
  td_verify_options options = TD_VERIFY_OPTIONS_INIT;
  options.num_threads = threads;
  options.damage = take;
  options.user = &result;
  options.progress = count_bytes;
  options.progress_user = &result;
  size_t damaged = 99;
  TD_DO(td_memmap_verify(folder, &options, &damaged));
  TD_CHECK_INT(damaged, result.count);
  TD_DO(td_memmap_verify(folder, NULL, &damaged));
  TD_CHECK_INT(damaged, result.count);
  return result;
}

#define CHECK_ONE(folder, kind, path)               \
  do {                                              \
    const report td_report = verify((folder), 1);   \
    TD_CHECK_INT(td_report.count, 1);               \
    TD_CHECK_INT(td_report.kinds[0], (kind));       \
    TD_CHECK_SAME_TEXT(td_report.paths[0], (path)); \
  } while (0)

static void save(const td_tensordict *td, const char *folder, int checksums) {
  td_tensordict *mapped = NULL;
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  options.checksums = checksums;
  options.num_threads = 2;
  TD_DO(td_memmap(td, folder, &options, &mapped));
}

/* td_sample() in a folder of this name. */
static void save_sample(const char *folder, int checksums) {
  td_tensordict *td = td_sample();
  save(td, folder, checksums);
}

static void change_byte(const char *path, long at) {
  FILE *file = fopen(path, "r+b");
  TD_CHECK(file != NULL && fseek(file, at, SEEK_SET) == 0);
  TD_CHECK(fputc(0x55, file) != EOF && fclose(file) == 0);
}

TD_TEST(a_good_folder) {
  save_sample(td_here("m"), 0);
  report without = verify(td_here("m"), 1);
  TD_CHECK_INT(without.count, 0);
  save_sample(td_here("m"), 1);
  report with = verify(td_here("m"), 3);
  TD_CHECK_INT(with.count, 0);
  TD_CHECK_INT(with.done, with.total);
  TD_CHECK(with.total > 96 + 96);
  TD_CHECK(with.told > 1);
  save_sample(td_here("m"), 0); /* old ones do not stay */
  TD_CHECK(!td_exists(td_here("m/checksums")));
}

TD_TEST(the_text_is_that_of_xxh128sum) {
  size_t size = 0;
  save_sample(td_here("m"), 1);
  char *text = td_read_file(td_here("m/checksums"), &size);
  TD_CHECK(text[0] == '#');
  TD_CHECK_TEXT(text, "\n# 96 bytes\n");
  TD_CHECK_TEXT(text, "  meta.json\n");
  TD_CHECK_TEXT(text, "  n/meta.json\n");
  /* xxh128sum of int64 0 to 11 */
  TD_CHECK_TEXT(text, "\ne45cf10b1af62eebd62534dab1a83fdf  n/b.memmap\n");
  TD_DO(td_memmap_write_checksums(td_here("m"), NULL));
  char *again = td_read_file(td_here("m/checksums"), &size);
  TD_CHECK_TEXT(again, "\ne45cf10b1af62eebd62534dab1a83fdf  n/b.memmap\n");
  TD_CHECK_INT(strlen(again), strlen(text));
  free(again);
  free(text);
}

TD_TEST(changed_bytes) {
  save_sample(td_here("m"), 1);
  change_byte(td_here("m/n/b.memmap"), 95);
  CHECK_ONE(td_here("m"), TD_DAMAGE_CHANGED, "n/b.memmap");
  TD_DO(td_memmap_write_checksums(td_here("m"), NULL)); /* it is what was meant */
  TD_CHECK_INT(verify(td_here("m"), 1).count, 0);
  size_t size = 0;
  char *meta = td_read_file(td_here("m/n/meta.json"), &size);
  char *spaced = malloc(strlen(meta) + 2);
  sprintf(spaced, "%s ", meta);
  td_write_text(td_here("m/n/meta.json"), spaced);
  CHECK_ONE(td_here("m"), TD_DAMAGE_NOT_COVERED, "n/meta.json");
  free(spaced);
  free(meta);
}

TD_TEST(short_and_missing) {
  for (int checksums = 0; checksums < 2; checksums++) {
    save_sample(td_here("m"), checksums);
    TD_CHECK(truncate(td_here("m/n/b.memmap"), 95) == 0);
    TD_CHECK(unlink(td_here("m/a.memmap")) == 0);
    const report result = verify(td_here("m"), 2);
    TD_CHECK_INT(result.count, 2);
    TD_CHECK_SAME_TEXT(result.paths[0], "a.memmap");
    TD_CHECK_INT(result.kinds[0], TD_DAMAGE_MISSING);
    TD_CHECK_SAME_TEXT(result.paths[1], "n/b.memmap");
    TD_CHECK_INT(result.kinds[1], TD_DAMAGE_SHORT);
    TD_CHECK_INT(result.expected[1], 96);
    TD_CHECK_INT(result.found[1], 95);
    TD_EXPECT(td_memmap_write_checksums(td_here("m"), NULL), TD_ERR_FORMAT);
  }
}

TD_TEST(longer_files_are_good) {
  save_sample(td_here("m"), 1);
  TD_CHECK(truncate(td_here("m/n/b.memmap"), 1000) == 0);
  TD_CHECK_INT(verify(td_here("m"), 1).count, 0);
}

TD_TEST(no_metadata) {
  save_sample(td_here("m"), 0);
  td_write_text(td_here("m/n/meta.json"), "{\"b\"");
  CHECK_ONE(td_here("m"), TD_DAMAGE_FORMAT, "n");
  TD_CHECK(unlink(td_here("m/n/meta.json")) == 0);
  TD_CHECK_INT(verify(td_here("m"), 1).count, 1);
  td_write_text(td_here("m/meta.json"), "[]");
  CHECK_ONE(td_here("m"), TD_DAMAGE_FORMAT, "meta.json");
  TD_CHECK(unlink(td_here("m/meta.json")) == 0);
  CHECK_ONE(td_here("m"), TD_DAMAGE_MISSING, "meta.json");
}

TD_TEST(batch_sizes_that_do_not_fit) {
  size_t size = 0;
  save_sample(td_here("m"), 0);
  char *meta = td_read_file(td_here("m/n/meta.json"), &size),
       *shape = strstr(meta, "\"shape\":[4,3],\"device\"");
  TD_CHECK(shape != NULL);
  memcpy(shape, "\"shape\":[5,3]", 13);
  td_write_text(td_here("m/n/meta.json"), meta);
  TD_CHECK_INT(verify(td_here("m"), 1).count, 1);
  free(meta);
}

/* A device that is only not here is no damage: another machine can load the folder. */
TD_TEST(devices) {
  size_t size = 0;
  save_sample(td_here("m"), 0);
  char *meta = td_read_file(td_here("m/meta.json"), &size);
  char text[4096];
  const char *const names[] = {"cuda:0", "cru", "cuda:x"};
  for (size_t i = 0; i < 3; ++i) {
    const char *last = meta;
    for (const char *at = meta; (at = strstr(at, "\"device\":")) != NULL; ++at) last = at;
    const char *end = last + strcspn(last, ",}");
    TD_CHECK(snprintf(text, sizeof text, "%.*s\"device\":\"%s\"%s", (int)(last - meta), meta,
                      names[i], end) < (int)sizeof text);
    td_write_text(td_here("m/meta.json"), text);
    TD_CHECK_INT(verify(td_here("m"), 1).count, i == 0 ? 0 : 1);
  }
  free(meta);
}

TD_TEST(links_are_not_followed) {
  save_sample(td_here("m"), 1);
  save_sample(td_here("elsewhere"), 0);
  TD_CHECK(unlink(td_here("m/n/b.memmap")) == 0);
  TD_CHECK(symlink(td_here("elsewhere/n/b.memmap"), td_here("m/n/b.memmap")) == 0);
  CHECK_ONE(td_here("m"), TD_DAMAGE_REFUSED, "n/b.memmap");
}

TD_TEST(checksums_that_lie) {
  const char zeros[] = "00000000000000000000000000000000";
  char text[512];
  save_sample(td_here("m"), 0);
  const char *bad[] = {"nonsense\n",
                       "# 3 bytes\nxyz  a.memmap\n",
                       "%s  a.memmap\n",
                       "# 1 bytes\n%s  ../elsewhere\n",
                       "# 1 bytes\n%s  /etc/passwd\n",
                       "# 1 bytes\n%s  a/./b\n",
                       "# 1 bytes\n\\%s  a\\x\n",
                       "# 1 bytes\n%s  a\n# 1 bytes\n%s  a\n",
                       "# 1 bytes\n%s  \n"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    snprintf(text, sizeof text, bad[i], zeros, zeros);
    td_write_text(td_here("m/checksums"), text);
    CHECK_ONE(td_here("m"), TD_DAMAGE_FORMAT, "checksums");
  }
  snprintf(text, sizeof text, "# 96 bytes\n%s  gone.memmap\n", zeros);
  td_write_text(td_here("m/checksums"), text);
  const report result = verify(td_here("m"), 1);
  TD_CHECK_INT(result.count, 5); /* the four files, and one that is not there */
  TD_CHECK_SAME_TEXT(result.paths[1], "gone.memmap");
  TD_CHECK_INT(result.kinds[1], TD_DAMAGE_MISSING);
  TD_CHECK_INT(result.kinds[0], TD_DAMAGE_NOT_COVERED);
  TD_CHECK_INT(result.expected[0], 96);
  TD_CHECK_INT(result.found[0], 0);
}

TD_TEST(every_kind_of_dictionary) {
  DIR *all = opendir(td_golden(""));
  TD_CHECK(all != NULL);
  int folders = 0;
  for (struct dirent *entry; (entry = readdir(all)) != NULL;) {
    td_tensordict *td = NULL;
    if (strcmp(entry->d_name, "..") == 0 ||
        td_memmap_load(td_golden(entry->d_name), NULL, &td) != TD_OK)
      continue;
    td_free(td);
    td = NULL;
    char meta[512];
    snprintf(meta, sizeof meta, "%s/meta.json", td_golden(entry->d_name));
    if (!td_exists(meta)) continue;
    td_copy_tree(td_golden(entry->d_name), td_here(entry->d_name));
    TD_DO(td_memmap_write_checksums(td_here(entry->d_name), NULL));
    const report result = verify(td_here(entry->d_name), 2);
    if (result.count != 0)
      td_test_fail(__FILE__, __LINE__, "%s: %s", entry->d_name, result.paths[0]);
    td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
    options.checksums = options.copy_existing = 1;
    td_tensordict *again = NULL;
    TD_DO(td_memmap_load(td_here(entry->d_name), NULL, &td));
    TD_DO(td_memmap(td, td_here("again"), &options, &again));
    td_free(again);
    const report saved = verify(td_here("again"), 1);
    if (saved.count != 0) td_test_fail(__FILE__, __LINE__, "%s: %s", entry->d_name, saved.paths[0]);
    td_free(td);
    folders++;
  }
  closedir(all);
  TD_CHECK(folders > 8);
}

TD_TEST(calls_that_fail) {
  td_verify_options options = TD_VERIFY_OPTIONS_INIT;
  report result;
  memset(&result, 0, sizeof result);
  size_t damaged = 99;
  TD_EXPECT(td_memmap_verify(td_here("none"), NULL, &damaged), TD_ERR_IO);
  TD_CHECK_INT(damaged, 0);
  TD_EXPECT(td_memmap_verify("", NULL, &damaged), TD_ERR_IO);
  TD_EXPECT(td_memmap_write_checksums(td_here("none"), NULL), TD_ERR_IO);
  save_sample(td_here("m"), 1);
  options.num_threads = -1;
  TD_EXPECT(td_memmap_verify(td_here("m"), &options, &damaged), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_memmap_write_checksums(td_here("m"), &options), TD_ERR_INVALID_ARGUMENT);
  options.num_threads = 0;
  options.progress = count_bytes;
  options.progress_user = &result;
  result.stop_at = 2;
  TD_EXPECT(td_memmap_verify(td_here("m"), &options, &damaged), -10007);
  TD_CHECK_INT(damaged, 0);
  result.told = 0;
  TD_CHECK(unlink(td_here("m/checksums")) == 0);
  TD_EXPECT(td_memmap_write_checksums(td_here("m"), &options), -10007);
  TD_CHECK(!td_exists(td_here("m/checksums")));
  TD_CHECK_INT(td_count_entries(td_here("m")), 5);
  options.progress = NULL;
  options.damage = take;
  TD_EXPECT(td_memmap_write_checksums(td_here("m"), &options), TD_ERR_INVALID_ARGUMENT);
  TD_CHECK(unlink(td_here("m/a.memmap")) == 0);
  result.count = most; /* it has no room and fails */
  options.user = &result;
  TD_EXPECT(td_memmap_verify(td_here("m"), &options, &damaged), TD_ERR_CAPACITY);
}
