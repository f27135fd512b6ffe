/* Input damaged at random: whatever happens, it ends with a status, and nothing stays open. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "td_dlpack.h"
#include "td_files.h"
#include "td_random.h"
#include "td_values.h"

enum { ROUNDS = 600, LONGEST = 4096 };

static const char *const files[] = {"meta.json", "b/meta.json", "b/d/meta.json"};

/* Pieces that a reader of such files may stumble over. */
static const char *const pieces[] = {"-1",        "4611686018427387904",
                                     "1e999",     "[",
                                     "]",         "{",
                                     "}",         "null",
                                     "\"..\"",    "\"torch.int64\"",
                                     "\"\"",      ":",
                                     ",",         "\\u0000",
                                     "\\ud800",   "\xff",
                                     "[[[[4]]]]", "{\"type\":\"TensorDict\"}",
                                     "\"shape\"", "\"type\"",
                                     "\"dtype\"", "0",
                                     "4",         "true"};

/* Changes a text of `length` bytes, in place, by one random edit; the new length. */
static size_t edit(td_random *random, char *text, size_t length) {
  const size_t at = (size_t)td_random_between(random, 0, (int64_t)length - 1);
  const size_t rest = length - at;
  size_t cut = (size_t)td_random_between(random, 0, 12);
  if (cut > rest) cut = rest;
  if (td_random_one_in(random, 3)) {
    text[at] = (char)td_random_next(random);
    return length;
  }
  if (td_random_one_in(random, 20)) return at; /* the end is missing */
  const char *piece = td_random_one_in(random, 4)
                          ? ""
                          : pieces[td_random_next(random) % (sizeof pieces / sizeof *pieces)];
  const size_t added = strlen(piece);
  if (length + added - cut >= LONGEST) return length;
  memmove(text + at + added, text + at + cut, rest - cut);
  memcpy(text + at, piece, added);
  return length + added - cut;
}

/* Reads every value, which must be possible once a folder was accepted. */
static void read_all(const td_tensordict *td) {
  td_tensordict *copy = NULL;
  int32_t equal = -1;
  TD_DO(td_clone(td, 0, &copy));
  TD_DO(td_equal(td, copy, &equal));
  free(td_printed(copy));
  td_free(copy);
}

TD_TEST(damaged_folders) {
  td_random random = td_random_begin();
  const char *golden = td_golden("basic");
  int accepted = 0;
  td_copy_tree(golden, td_path(td_test_folder(), "m"));
  for (int round = 0; round < ROUNDS; round++) {
    const char *name = files[round % 3];
    char text[LONGEST], folder[LONGEST], path[LONGEST];
    size_t length = 0;
    snprintf(folder, sizeof folder, "%s", td_path(td_test_folder(), "m"));
    snprintf(path, sizeof path, "%s", td_path(folder, name));
    char *good = td_read_file(path, &length);
    const size_t good_length = length;
    memcpy(text, good, length);
    for (int edits = (int)td_random_between(&random, 1, 4); edits > 0 && length > 0; edits--)
      length = edit(&random, text, length);
    td_write_file(path, text, length);
    td_tensordict *td = TD_POISON;
    const td_status status = td_memmap_load(folder, NULL, &td);
    if (status == TD_OK) {
      accepted++;
      read_all(td);
      td_free(td);
    } else {
      TD_CHECK(td == NULL);
      TD_CHECK(status != TD_ERR_INTERNAL && status != TD_ERR_TORCH);
      TD_CHECK(td_last_error_message()[0] != '\0');
    }
    td_write_file(path, good, good_length);
    free(good);
  }
  TD_CHECK(accepted > 0 && accepted < ROUNDS);
}

TD_TEST(truncated_values) {
  td_random random = td_random_begin();
  const char bytes[48] = {0};
  char folder[LONGEST], path[LONGEST];
  snprintf(folder, sizeof folder, "%s", td_path(td_test_folder(), "m"));
  snprintf(path, sizeof path, "%s", td_path(folder, "a.memmap"));
  td_copy_tree(td_golden("basic"), folder);
  for (int round = 0; round < 40; round++) {
    td_tensordict *td;
    td_write_file(path, bytes, (size_t)td_random_between(&random, 0, 47));
    TD_EXPECT_NULL(td_memmap_load(folder, NULL, &td), TD_ERR_FORMAT, td);
  }
}

static int released;

static void count_release(struct DLManagedTensorVersioned *self) {
  (void)self;
  released++;
}

static int64_t odd_number(td_random *random) {
  static const int64_t odd[] = {-1, 0, INT64_MAX, INT64_MIN, INT64_MAX / 2, (int64_t)1 << 32};
  return td_random_one_in(random, 3) ? odd[td_random_next(random) % 6]
                                     : td_random_between(random, 0, 4);
}

TD_TEST(damaged_dlpack) {
  td_random random = td_random_begin();
  for (int round = 1; round <= 3000; round++) {
    static char memory[4096];
    int64_t sizes[4], strides[4];
    struct DLManagedTensorVersioned source = {1, 0, NULL, count_release, 0, {0}};
    td_tensor *tensor = TD_POISON;
    for (int i = 0; i < 4; i++) {
      sizes[i] = odd_number(&random);
      strides[i] = odd_number(&random);
    }
    source.major = td_random_one_in(&random, 8) ? td_random_next(&random) : 1;
    source.tensor.data = td_random_one_in(&random, 8) ? NULL : memory;
    source.tensor.device_type = td_random_one_in(&random, 8) ? (int32_t)td_random_next(&random) : 1;
    source.tensor.dims =
        (int32_t)td_random_between(&random, td_random_one_in(&random, 9) ? -2 : 0, 4);
    source.tensor.code = (uint8_t)td_random_between(&random, 0, 17);
    source.tensor.bits = (uint8_t)(td_random_one_in(&random, 4) ? td_random_next(&random) : 32);
    source.tensor.lanes = (uint16_t)(td_random_one_in(&random, 8) ? td_random_next(&random) : 1);
    source.tensor.sizes = td_random_one_in(&random, 16) ? NULL : sizes;
    source.tensor.strides = td_random_one_in(&random, 2) ? NULL : strides;
    const td_status status = td_tensor_from_dlpack(&source, &tensor);
    TD_CHECK(status != TD_ERR_INTERNAL);
    TD_CHECK((status == TD_OK) == (tensor != NULL));
    if (status == TD_OK) td_tensor_free(tensor);
    TD_CHECK_INT(released, round);
  }
}

TD_TEST(texts_that_may_be_an_index) {
  static const char letters[] = "0123456789-+:,. ...NoneTrueFalse[]x\t\n";
  td_random random = td_random_begin();
  td_tensordict *td = td_sample();
  for (int round = 0; round < 3000; round++) {
    char text[32];
    td_index_item items[32];
    size_t count = 0;
    const int64_t length = td_random_between(&random, 0, 12);
    for (int64_t i = 0; i < length; i++)
      text[i] = letters[td_random_next(&random) % (sizeof letters - 1)];
    text[length] = '\0';
    const td_status status = td_index_parse(text, items, 32, &count);
    TD_CHECK(status == TD_OK || status == TD_ERR_INDEX);
    if (status != TD_OK) continue;
    td_tensordict *part = NULL;
    const td_status indexed = td_index(td, items, count, &part);
    TD_CHECK(indexed == TD_OK || indexed == TD_ERR_INDEX);
    td_free(part);
  }
}
