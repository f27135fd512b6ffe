/* Archives that are damaged or lie, and disks that are full: a status, and nothing half-written. */
#define _DEFAULT_SOURCE
#include <errno.h>
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

/* What may come of a damaged archive. */
static void check_status(td_status status) {
  TD_CHECK(status == TD_OK || status == TD_ERR_FORMAT || status == TD_ERR_UNSUPPORTED ||
           status == TD_ERR_DTYPE || status == TD_ERR_IO || status == TD_ERR_SHAPE);
}

/* Loads, unpacks, and asks; reads every value of what comes. */
static td_status use(const char *path) {
  td_tensordict *td = TD_POISON;
  int32_t is = -1;
  TD_DO(td_memmap_is_archive(path, &is));
  const td_status status = td_memmap_load(path, NULL, &td);
  check_status(status);
  if (status == TD_OK) {
    td_tensordict *copy = NULL;
    TD_CHECK_INT(is, 1);
    TD_DO(td_clone(td, 0, &copy));
    td_free(copy);
    td_free(td);
  } else {
    TD_CHECK(td == NULL);
    TD_CHECK(td_last_error_message()[0] != '\0');
  }
  return status;
}

/* Each byte of a small archive set to other values, and each truncation. */
static void damage(const char *golden) {
  size_t size = 0, n = 0, loaded = 0, unpacked = 0;
  char *bytes = td_read_file(td_golden(golden), &size);
  for (size_t i = 0; i < size; i++) {
    static const unsigned char flips[] = {0x01, 0x80, 0xff};
    for (size_t k = 0; k < sizeof flips; k++) {
      const char kept = bytes[i];
      bytes[i] = (char)(bytes[i] ^ flips[k]);
      td_write_file(td_here("d.tdz"), bytes, size);
      if (use(td_here("d.tdz")) == TD_OK) loaded++;
      if (k == 0) {
        const td_status status = td_memmap_unpack(td_here("d.tdz"), td_here("out"), NULL);
        check_status(status);
        if (status == TD_OK) {
          char command[1100];
          snprintf(command, sizeof command, "rm -r '%s'", td_here("out"));
          TD_CHECK(system(command) == 0);
          unpacked++;
        }
        TD_CHECK(!td_exists(td_here("out")));
      }
      bytes[i] = kept;
      n++;
    }
  }
  for (size_t i = 0; i < size; i++) {
    td_write_file(td_here("d.tdz"), bytes, i);
    TD_CHECK_INT(use(td_here("d.tdz")), TD_ERR_FORMAT);
  }
  TD_CHECK_INT(td_count_entries(td_test_folder()), 1); /* d.tdz */
  TD_CHECK(loaded > 0 && loaded < n); /* times, and values that no checksum guards */
  TD_CHECK(unpacked > 0 && unpacked < size / 2);
  free(bytes);
}

TD_TEST(damage_to_a_stored_archive) { damage("archive_stored.tdz"); }

TD_TEST(damage_to_a_compressed_archive) { damage("archive_deflate.tdz"); }

/* A zip archive of stored entries, written by hand. */
typedef struct bytes {
  unsigned char data[1 << 17];
  size_t size;
} bytes;

static void put(bytes *to, uint64_t value, int width) {
  for (int i = 0; i < width; i++) to->data[to->size++] = (unsigned char)(value >> (8 * i));
}

static void put_text(bytes *to, const char *text) {
  memcpy(to->data + to->size, text, strlen(text));
  to->size += strlen(text);
}

static uint32_t crc_of(const char *text) {
  uint32_t crc = ~0u;
  for (; *text != '\0'; text++) {
    crc ^= (unsigned char)*text;
    for (int i = 0; i < 8; i++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

typedef struct entry {
  const char *name, *text;
  uint32_t flags, method, claimed, offset; /* zero: what is so */
} entry;

static void write_zip(const char *path, const entry *entries, size_t n) {
  static bytes out, directory;
  out.size = directory.size = 0;
  for (size_t i = 0; i < n; i++) {
    const size_t size = strlen(entries[i].text), header = out.size;
    const uint32_t claimed = entries[i].claimed != 0 ? entries[i].claimed : (uint32_t)size;
    for (int pass = 0; pass < 2; pass++) {
      bytes *to = pass == 0 ? &out : &directory;
      put_text(to, pass == 0 ? "PK\3\4" : "PK\1\2");
      if (pass == 1) put(to, 20, 2);
      put(to, 20, 2), put(to, entries[i].flags, 2), put(to, entries[i].method, 2),
          put(to, 33u << 16, 4);
      put(to, crc_of(entries[i].text), 4), put(to, size, 4), put(to, claimed, 4);
      put(to, strlen(entries[i].name), 2), put(to, 0, 2);
      if (pass == 1) {
        put(to, 0, 2), put(to, 0, 2), put(to, 0, 2), put(to, 0, 4);
        put(to, entries[i].offset != 0 ? entries[i].offset : header, 4);
      }
      put_text(to, entries[i].name);
      if (pass == 0) put_text(to, entries[i].text);
    }
  }
  const size_t begin = out.size;
  memcpy(out.data + out.size, directory.data, directory.size);
  out.size += directory.size;
  put_text(&out, "PK\5\6");
  put(&out, 0, 4), put(&out, n, 2), put(&out, n, 2), put(&out, directory.size, 4),
      put(&out, begin, 4);
  put(&out, 0, 2);
  td_write_file(path, out.data, out.size);
}

#define META                                                                                 \
  "{\"a\":{\"device\":\"cpu\",\"shape\":[4],\"dtype\":\"torch.uint8\",\"is_nested\":false}," \
  "\"shape\":[4],\"device\":\"cpu\",\"_type\":\"<class 'tensordict._td.TensorDict'>\"}"
#define WRITE(...)                                          \
  write_zip(td_here("z.tdz"), (const entry[]){__VA_ARGS__}, \
            sizeof((const entry[]){__VA_ARGS__}) / sizeof(entry))

static void refused(td_status want, const char *why) {
  td_tensordict *td;
  TD_EXPECT_NULL(td_memmap_load(td_here("z.tdz"), NULL, &td), want, td);
  TD_CHECK_TEXT(td_last_error_message(), why);
}

TD_TEST(a_plain_zip_file_is_read) {
  td_tensordict *td = NULL;
  WRITE({"meta.json", META, 0, 0, 0, 0}, {"a.memmap", "\1\2\3\4", 0, 0, 0, 0},
        {"notes/", "", 0, 0, 0, 0}, {"notes/read me", "?", 0, 0, 0, 0});
  TD_DO(td_memmap_load(td_here("z.tdz"), NULL, &td));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(4), TD_VALUES(1, 2, 3, 4));
  td_free(td);
  TD_DO(td_memmap_unpack(td_here("z.tdz"), td_here("out"), NULL));
  TD_CHECK_INT(td_file_size(td_here("out/notes/read me")), 1);
  TD_EXPECT(td_memmap_unpack(td_here("z.tdz"), td_here("out"), NULL),
            TD_ERR_IO); /* it is not empty */
}

TD_TEST(archives_that_lie) {
  const entry meta = {"meta.json", META, 0, 0, 0, 0};
  WRITE({"other.json", META, 0, 0, 0, 0});
  refused(TD_ERR_FORMAT, "no meta.json");
  WRITE(meta, {"a.memmap", "\1\2\3", 0, 0, 0, 0});
  refused(TD_ERR_FORMAT, "too short: 4 bytes expected, 3 found");
  WRITE(meta);
  refused(TD_ERR_FORMAT, "\"a\"");
  WRITE(meta, {"a.memmap", "\1\2\3\4", 0, 0, 0, 0}, {"a.memmap", "\1\2\3\4", 0, 0, 0, 0});
  refused(TD_ERR_FORMAT, "two entries");
  WRITE(meta, {"a.memmap", "\1\2\3\4", 1, 0, 0, 0});
  refused(TD_ERR_UNSUPPORTED, "encrypted");
  WRITE(meta, {"a.memmap", "\1\2\3\4", 0, 12, 0, 0});
  refused(TD_ERR_UNSUPPORTED, "method 12");
  WRITE(meta, {"a.memmap", "\1\2\3\4", 0, 0, 5, 0});
  refused(TD_ERR_FORMAT, "instead of");
  WRITE(meta, {"a.memmap", "\1\2\3\4", 0, 8, 1u << 31, 0});
  refused(TD_ERR_FORMAT, "claims 2147483648 bytes packed in 4");
  WRITE(meta, {"a.memmap", "\1\2\3\4", 0, 8, 4, 0});
  refused(TD_ERR_FORMAT, "cannot be inflated");
  WRITE(meta, {"a.memmap", "\1\2\3\4", 0, 0, 0, 100000});
  refused(TD_ERR_FORMAT, "outside the file");
  WRITE(meta, {"a.memmap", "\1\2\3\4", 0, 0, 0, 3});
  refused(TD_ERR_FORMAT, "no header");
  /* Two names for one place: only the header's own can be true. */
  WRITE({"a.memmap", "\1\2\3\4", 0, 0, 0, 0}, {"b.memmap", "\1\2\3\4", 0, 0, 0, 0}, meta);
  size_t size = 0;
  char *zip = td_read_file(td_here("z.tdz"), &size);
  for (size_t i = 0; i + 46 < size; i++)
    if (memcmp(zip + i, "PK\1\2", 4) == 0 && zip[i + 46] == 'b') memset(zip + i + 42, 0, 4);
  td_write_file(td_here("z.tdz"), zip, size);
  free(zip);
  refused(TD_ERR_FORMAT, "another name or compression");
}

TD_TEST(names_that_lead_out_of_the_folder) {
  static const char *const names[] = {"../x",  "/x",        "a/../../x", "a//x", "./x",
                                      "..\\x", "C:/x",      "a/.",       "..",   "a\nb",
                                      "/",     "a/b/../..", "a\\..\\x"};
  td_make_folder(td_here("in"));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const int folder = names[i][strlen(names[i]) - 1] == '/';
    WRITE({"meta.json", META, 0, 0, 0, 0}, {names[i], folder ? "" : "evil", 0, 0, 0, 0});
    TD_EXPECT(td_memmap_unpack(td_here("z.tdz"), td_here("in/out"), NULL), TD_ERR_FORMAT);
    TD_CHECK_TEXT(td_last_error_message(), "leads out of the folder");
    TD_CHECK_INT(td_count_entries(td_here("in")), 0);
  }
  WRITE({"meta.json", META, 0, 0, 0, 0}, {"a", "x", 0, 0, 0, 0}, {"a/b", "x", 0, 0, 0, 0});
  TD_EXPECT(td_memmap_unpack(td_here("z.tdz"), td_here("in/out"), NULL), TD_ERR_IO);
  TD_CHECK_INT(td_count_entries(td_here("in")), 0);
}

TD_TEST(deep_names_take_no_memory) {
  static char name[40001];
  for (size_t i = 0; i < 40000; i++) name[i] = i % 2 == 0 ? 'd' : '/';
  WRITE({"meta.json", META, 0, 0, 0, 0}, {"a.memmap", "\1\2\3\4", 0, 0, 0, 0},
        {name, "", 0, 0, 0, 0});
  td_tensordict *td = NULL;
  TD_DO(td_memmap_load(td_here("z.tdz"), NULL, &td));
  td_free(td);
  TD_EXPECT(td_memmap_unpack(td_here("z.tdz"), td_here("out"), NULL), TD_ERR_IO);
  TD_CHECK(!td_exists(td_here("out")));
}

TD_TEST(links_and_folders_in_the_way) {
  td_tensordict *td = td_sample(), *saved;
  TD_DO(td_memmap(td, td_here("m"), NULL, &saved));
  td_free(saved);
  td_write_text(td_here("text"), "x");
  TD_CHECK(symlink("text", td_here("link.tdz")) == 0);
  TD_EXPECT_NULL(td_memmap(td, td_here("link.tdz"), NULL, &saved), TD_ERR_IO, saved);
  TD_EXPECT(td_memmap_pack(td_here("m"), td_here("link.tdz"), NULL), TD_ERR_IO);
  TD_EXPECT(td_memmap_pack(td_here("m"), td_here("m"), NULL), TD_ERR_IO);
  TD_EXPECT(td_memmap_pack(td_here("text"), td_here("x.tdz"), NULL), TD_ERR_IO);
  TD_EXPECT(td_memmap_pack(td_here("nothing"), td_here("x.tdz"), NULL), TD_ERR_IO);
  TD_EXPECT(td_memmap_pack(td_test_folder(), td_here("x.tdz"), NULL), TD_ERR_IO); /* no meta.json */
  TD_EXPECT(td_memmap_unpack(td_here("nothing"), td_here("x"), NULL), TD_ERR_IO);
  TD_EXPECT(td_memmap_unpack(td_here("text"), td_here("x"), NULL), TD_ERR_FORMAT);
  TD_EXPECT(td_memmap_write_archive_checksums(td_here("nothing")), TD_ERR_IO);
  TD_EXPECT(td_memmap_write_archive_checksums(td_here("text")), TD_ERR_FORMAT);
  TD_CHECK(symlink("meta.json", td_here("m/more")) == 0);
  TD_EXPECT(td_memmap_pack(td_here("m"), td_here("x.tdz"), NULL), TD_ERR_IO);
  TD_CHECK(!td_exists(td_here("x.tdz")));
  TD_CHECK(!td_exists(td_here("x")));
  TD_CHECK_INT(td_file_size(td_here("text")), 1);
}

static td_tensordict *four_megabytes(void) {
  td_tensordict *td = td_empty(TD_SIZES(4));
  td_put(td, TD_KEY("n", "small"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4)));
  td_put(td, TD_KEY("big"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4, 1 << 18)));
  return td;
}

TD_TEST(a_full_disk) {
#if defined(__linux__)
  const char *disk = td_here("disk");
  td_make_folder(disk);
  td_tensordict *td = four_megabytes(), *saved = TD_POISON, *like = TD_POISON, *whole = NULL;
  td_tensordict *small = td_sample(), *old = NULL;
  TD_DO(td_memmap(td, td_here("whole.tdz"), NULL, &whole));
  if (mount("none", disk, "tmpfs", 0, "size=1m") != 0) td_test_skip("mount is not permitted");
  const char *path = td_path(disk, "m.tdz");
  const td_status first = td_memmap(small, path, NULL, &old);
  const td_status status = td_memmap(td, path, NULL, &saved);
  char message[1100];
  snprintf(message, sizeof message, "%s", td_last_error_message());
  const td_status like_status = td_memmap_like(td, path, NULL, &like);
  const td_status unpacked = td_memmap_unpack(td_here("whole.tdz"), td_path(disk, "out"), NULL);
  const int left = td_count_entries(disk);
  td_tensordict *again = NULL;
  const td_status loaded = td_memmap_load(path, NULL, &again);
  int32_t same = 0;
  if (loaded == TD_OK) TD_DO(td_equal(again, small, &same));
  umount2(disk, MNT_DETACH);
  TD_CHECK_INT(first, TD_OK);
  TD_CHECK_INT(status, TD_ERR_IO);
  TD_CHECK(saved == NULL);
  TD_CHECK_TEXT(message, "No space left");
  TD_CHECK_INT(like_status, TD_ERR_IO);
  TD_CHECK_INT(unpacked, TD_ERR_IO);
  TD_CHECK_INT(left, 1); /* the old archive */
  TD_CHECK_INT(loaded, TD_OK);
  TD_CHECK_INT(same, 1);
  td_free(again);
  td_free(old);
  td_free(small);
  td_free(whole);
  td_free(td);
#else
  td_test_skip("needs tmpfs");
#endif
}

static td_status each_damage(void *user, const td_damage *damage) {
  char *seen = user;
  snprintf(seen + strlen(seen), 200 - strlen(seen), "%s:%d ", damage->path, (int)damage->kind);
  return TD_OK;
}

TD_TEST(damage_is_named) {
  td_tensordict *td = td_sample(), *saved = NULL;
  char seen[200] = "";
  td_verify_options options = TD_VERIFY_OPTIONS_INIT;
  options.damage = each_damage;
  options.user = seen;
  size_t damaged = 9, size = 0;
  TD_DO(td_memmap(td, td_here("m.tdz"), NULL, &saved));
  TD_DO(td_memmap_verify(td_here("m.tdz"), &options, &damaged));
  TD_CHECK_INT(damaged, 0);
  td_free(saved);
  char *bytes = td_read_file(td_here("m.tdz"), &size);
  for (size_t i = 0; i + 64 < size; i += 64) /* the first byte of what lies aligned */
    if (memcmp(bytes + i - (i == 0 ? 0 : 20), "\1\0\20\0", 4) == 0) bytes[i] ^= 1;
  td_write_file(td_here("m.tdz"), bytes, size);
  free(bytes);
  options.num_threads = 2;
  TD_DO(td_memmap_verify(td_here("m.tdz"), &options, &damaged));
  TD_CHECK_INT(damaged, 2);
  TD_CHECK(strcmp(seen, "a.memmap:3 n/b.memmap:3 ") == 0);
  td_write_text(td_here("m.tdz"), "no archive");
  seen[0] = '\0';
  TD_DO(td_memmap_verify(td_here("m.tdz"), &options, &damaged));
  TD_CHECK_INT(damaged, 1);
  TD_CHECK(strcmp(seen, "meta.json:5 ") == 0);
}

TD_TEST(a_nested_tensor_archive_is_written_to) {
  td_tensordict *td = NULL, *through = NULL;
  TD_DO(td_memmap_pack(td_golden("ragged"), td_here("r.tdz"), NULL));
  TD_DO(td_memmap_load(td_here("r.tdz"), NULL, &td));
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.write_through = 1;
  TD_DO(td_memmap_load(td_here("r.tdz"), &options, &through));
  TD_CHECK_EQUAL(td, through);
}
