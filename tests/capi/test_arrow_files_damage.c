/* Damaged files of Parquet and Arrow: whatever they say, the call ends with a status or a dictionary that can be read. */
#include <stdio.h>
#include <stdlib.h>
#if defined(__linux__)
#include <sys/mount.h>
#endif

#include "td_arrow_files.h"
#include "td_random.h"

static const char *const names[] = {"a.parquet", "a.arrow", "c.arrow"};
enum { FILES = sizeof names / sizeof *names };

static char *make(const char *name, size_t *size) {
  td_tensordict *td = td_empty(TD_SIZES(5)), *n = td_empty(TD_SIZES(5));
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.deflate = name[0] == 'c';
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(5, 2)));
  td_put(td, TD_KEY("b"), td_arange(TD_DTYPE_BOOL, 0, TD_SIZES(5)));
  td_put(n, TD_KEY("y"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(5)));
  td_put_dict(td, TD_KEY("n"), n);
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("t"), "[\"a\", null, \"bc\", \"\", \"d\"]"));
  TD_DO(td_file_save(td, file_named(name), &options));
  td_free(td);
  return td_read_file(file_named(name), size);
}

static int try(const char *name, const char *bytes, size_t size) {
  td_tensordict *td = TD_POISON, *copy = NULL;
  td_write_file(file_named(name), bytes, size);
  const td_status status = td_file_load(file_named(name), NULL, &td);
  if (status == TD_OK) {
    TD_DO(td_clone(td, 0, &copy));
    free(td_printed(copy));
    td_free(copy);
    td_free(td);
    return 1;
  }
  TD_CHECK(td == NULL);
  if (status != TD_ERR_FORMAT && status != TD_ERR_DTYPE && status != TD_ERR_UNSUPPORTED &&
      status != TD_ERR_KEY_EXISTS && status != TD_ERR_KEY_INVALID && status != TD_ERR_WRONG_ENTRY)
    td_test_fail(__FILE__, __LINE__, "status %d: %s", (int)status, td_last_error_message());
  TD_CHECK(strchr(td_last_error_message(), '\n') == NULL);
  return 0;
}

TD_TEST(each_truncation) {
  need_arrow();
  for (int i = 0; i < FILES; i++) {
    size_t size = 0;
    char *bytes = make(names[i], &size);
    TD_CHECK(try(names[i], bytes, size));
    for (size_t n = 0; n < size; n++) TD_CHECK_INT(try(names[i], bytes, n), 0);
    free(bytes);
  }
}

TD_TEST(each_byte) {
  need_arrow();
  static const unsigned char masks[] = {0xff, 0x01};
  const size_t tries = TD_TEST_SANITIZED ? 1 : sizeof masks;
  for (int i = 0; i < FILES; i++) {
    size_t size = 0;
    char *bytes = make(names[i], &size);
    for (size_t n = 0; n < size; n++) {
      for (size_t k = 0; k < tries; k++) {
        bytes[n] ^= (char)masks[k];
        try(names[i], bytes, size);
        bytes[n] ^= (char)masks[k];
      }
    }
    free(bytes);
  }
}

TD_TEST(bytes_at_random) {
  need_arrow();
  td_random random = td_random_begin();
  for (int i = 0; i < FILES; i++) {
    size_t size = 0;
    char *bytes = make(names[i], &size), *changed = malloc(size);
    for (int round = 0; round < 1000; round++) {
      memcpy(changed, bytes, size);
      for (int64_t edits = td_random_between(&random, 1, 8); edits > 0; edits--)
        changed[td_random_between(&random, 0, (int64_t)size - 1)] = (char)td_random_next(&random);
      if (td_random_one_in(&random, 4)) { /* a part stands in another place */
        const int64_t length = td_random_between(&random, 1, (int64_t)size / 4);
        memmove(changed + td_random_between(&random, 0, (int64_t)size - length),
                changed + td_random_between(&random, 0, (int64_t)size - length), (size_t)length);
      }
      try(names[i], changed, size);
    }
    free(changed);
    free(bytes);
  }
}

/* A file of Parquet without rows, whose only column is nested so deep: a footer in Thrift's compact protocol. */
static int nested(size_t depth) {
  static const char group[] = {0x35, 0, 0x18, 1, 'n', 0x15, 2, 0},
                    leaf[] = {0x15, 4, 0x25, 0, 0x18, 1, 'x', 0}, end[] = {0x16, 0, 0x19, 0x0c, 0};
  char *bytes = malloc(100 + sizeof group * depth), *at = bytes;
  memcpy(at, "PAR1\x15\2\x19\xfc", 8);
  at += 8;
  for (size_t rest = depth + 1, more = 1; more; rest >>= 7) {
    more = rest > 127;
    *at++ = (char)(rest % 128 + (more ? 128 : 0));
  }
  for (size_t i = 0; i < depth; i++, at += sizeof group) memcpy(at, group, sizeof group);
  memcpy(at, leaf, sizeof leaf);
  memcpy(at + sizeof leaf, end, sizeof end);
  at += sizeof leaf + sizeof end;
  const uint32_t length = (uint32_t)(at - bytes - 4);
  memcpy(at, &length, 4);
  memcpy(at + 4, "PAR1", 4);
  const int answer = try("n.parquet", bytes, (size_t)(at + 8 - bytes));
  free(bytes);
  return answer;
}

/* The libraries of Arrow would use up the stack. */
TD_TEST(columns_that_are_nested_deep) {
  need_arrow();
  TD_CHECK_INT(nested(2), 1);
  TD_CHECK_INT(nested(900), 1);
  for (size_t depth = 1100; depth < 1000000; depth *= 4) {
    TD_CHECK_INT(nested(depth), 0);
    TD_CHECK_TEXT(td_last_error_message(), "nested deeper than 1000 levels");
  }
}

/* The old file stays, and nothing half-written beside it. */
TD_TEST(a_full_disk) {
  need_arrow();
#if defined(__linux__)
  const char *disk = file_named("disk");
  td_make_folder(disk);
  if (mount("none", disk, "tmpfs", 0, "size=1m") != 0) td_test_skip("mount is not permitted");
  td_tensordict *td = td_empty(TD_SIZES(4)), *small = td_empty(TD_SIZES(1));
  td_put(td, TD_KEY("big"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4, 1 << 18)));
  td_put(small, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(1)));
  td_status statuses[FILES];
  int left[FILES], same[FILES];
  char messages[FILES][1024];
  for (int i = 0; i < FILES; i++) {
    const char *path = td_path(disk, names[i]);
    td_tensordict *again = NULL;
    int32_t equal = 0;
    TD_DO(td_file_save(small, path, NULL));
    statuses[i] = td_file_save(td, path, NULL);
    snprintf(messages[i], sizeof messages[i], "%s", td_last_error_message());
    left[i] = td_count_entries(disk);
    if (td_file_load(path, NULL, &again) == TD_OK && td_equal(again, small, &equal) != TD_OK)
      equal = 0;
    same[i] = equal;
    td_free(again);
    remove(path);
  }
  umount(disk);
  td_free(td);
  td_free(small);
  for (int i = 0; i < FILES; i++) {
    TD_CHECK_INT(statuses[i], TD_ERR_IO);
    TD_CHECK_TEXT(messages[i], "No space left");
    TD_CHECK_INT(left[i], 1);
    TD_CHECK_INT(same[i], 1);
  }
#else
  td_test_skip("only on Linux");
#endif
}
