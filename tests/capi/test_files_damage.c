/* Files of other programs with bytes cut off, changed and moved. */
#include "td_hostile_files.h"
#include "td_random.h"

static const struct {
  const char *name;
  int rounds; /* of damage at random */
} files[] = {{"model.safetensors", 182},
             {"unaligned.safetensors", 182},
             {"f4.npy", 182},
             {"big.npy", 182},
             {"packed.npy", 182},
             {"records.npy", 182},
             {"stored.npz", 182},
             {"deflated.npz", 182},
             {"checkpoint.pt", 182},
             {"deflated.pt", 182},
             {"big.pt", 182},
             {"dict15.pt", 100},
             {"consolidated15.pt", 100},
             {"a.parquet", 1000},
             {"a.arrow", 1000},
             {"compressed.arrow", 1000}};
enum { FILES = sizeof files / sizeof *files };

/* The bytes of a file: one that Python wrote, or a table that is written now. NULL if this build has no tables. */
static char *content(const char *name, size_t *size) {
  if (!is_table(name)) return td_read_file(td_path(td_golden("../files"), name), size);
  if (!has_arrow()) return NULL;
  td_tensordict *td = td_empty(TD_SIZES(5));
  td_file_options options = TD_FILE_OPTIONS_INIT;
  options.deflate = name[0] == 'c';
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(5, 2)));
  td_put(td, TD_KEY("b"), td_arange(TD_DTYPE_BOOL, 0, TD_SIZES(5)));
  td_put(td, TD_KEY("n", "y"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(5)));
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("t"), "[\"a\", null, \"bc\", \"\", \"d\"]"));
  TD_DO(td_file_save(td, file_named(name), &options));
  return td_read_file(file_named(name), size);
}

TD_TEST(each_truncation) {
  for (int i = 0; i < FILES; i++) {
    size_t size = 0;
    char *bytes = content(files[i].name, &size);
    if (bytes == NULL) continue;
    TD_CHECK(try(files[i].name, bytes, size));
    for (size_t n = 0; n < size; n++) {
      const int accepted = try(files[i].name, bytes, n);
      if (is_table(files[i].name)) TD_CHECK_INT(accepted, 0);
    }
    free(bytes);
  }
}

TD_TEST(each_byte) {
  static const unsigned char masks[] = {0xff, 0x01, 0x80};
  for (int i = 0; i < FILES; i++) {
    const size_t tries = TD_TEST_SANITIZED ? 1 : is_table(files[i].name) ? 2 : sizeof masks;
    size_t size = 0;
    char *bytes = content(files[i].name, &size);
    for (size_t n = 0; bytes != NULL && n < size; n++) {
      for (size_t k = 0; k < tries; k++) {
        bytes[n] ^= (char)masks[k];
        try(files[i].name, bytes, size);
        bytes[n] ^= (char)masks[k];
      }
    }
    free(bytes);
  }
}

TD_TEST(bytes_at_random) {
  td_random random = td_random_begin();
  for (int i = 0; i < FILES; i++) {
    size_t size = 0;
    char *bytes = content(files[i].name, &size);
    if (bytes == NULL) continue;
    char *changed = malloc(size);
    for (int round = 0; round < files[i].rounds; round++) {
      memcpy(changed, bytes, size);
      for (int64_t edits = td_random_between(&random, 1, 8); edits > 0; edits--)
        changed[td_random_between(&random, 0, (int64_t)size - 1)] = (char)td_random_next(&random);
      if (td_random_one_in(&random, 4)) { /* a part is copied elsewhere */
        const int64_t length = td_random_between(&random, 1, (int64_t)size / 4);
        memmove(changed + td_random_between(&random, 0, (int64_t)size - length),
                changed + td_random_between(&random, 0, (int64_t)size - length), (size_t)length);
      }
      try(files[i].name, changed, size);
    }
    free(changed);
    free(bytes);
  }
}
