/* Sub-tensordicts, in folders: what they are a part of, and the index. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "td_files.h"
#include "td_values.h"

#define SUB "\"_type\":\"<class 'tensordict._td._SubTensorDict'>\""

/* Batch [4]: "a" of 0 to 3, "n" / "b" of shape [4, 2]. */
static td_tensordict *whole(void) {
  td_tensordict *td = td_empty(TD_SIZES(4));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4, 2)));
  return td;
}

static void check_kind(const td_tensordict *td, td_dict_kind want) {
  td_dict_kind kind = 0;
  TD_DO(td_kind(td, &kind));
  TD_CHECK_INT(kind, want);
}

static void check_meta(const char *dir, const char *want) {
  size_t size = 0;
  char *text = td_read_file(td_path(dir, "meta.json"), &size);
  TD_CHECK_SAME_TEXT(text, want);
  free(text);
}

TD_TEST(saved_with_what_it_is_a_part_of) {
  td_tensordict *td = whole(), *sub = NULL, *saved = NULL, *parent = NULL;
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_SLICE(1, 3)), &sub));
  TD_DO(td_memmap(sub, td_here("w"), NULL, &saved));
  check_kind(saved, TD_DICT_SUB_TENSORDICT);
  TD_CHECK_FLAG(td_is_memmap, saved, 1);
  TD_CHECK_ENTRY(saved, TD_KEY("a"), TD_SIZES(2), TD_VALUES(1, 2));
  TD_CHECK(td_exists(td_here("w/_source/n/b.memmap")));
  check_meta(td_here("w"),
             "{" SUB
             ",\"index\":[\"tuple\",[[\"slice\",{\"start\":1,\"stop\":3,\"step\":null}]]]}");
  td_free(saved);
  TD_DO(td_memmap_load(td_here("w"), NULL, &saved));
  check_kind(saved, TD_DICT_SUB_TENSORDICT);
  TD_CHECK_BATCH(saved, 2);
  TD_CHECK_ENTRY(saved, TD_KEY("n", "b"), TD_SIZES(2, 2), TD_VALUES(2, 3, 4, 5));
  TD_DO(td_sub_tensordict_parent(saved, &parent));
  TD_CHECK_ENTRY(parent, TD_KEY("a"), TD_SIZES(4), TD_VALUES(0, 1, 2, 3));
  td_free(parent);
  td_free(saved);
  TD_EXPECT(td_memmap_inplace(sub, td_here("in"), NULL), TD_ERR_UNSUPPORTED);
  TD_CHECK(!td_exists(td_here("in")));
}

TD_TEST(saved_densely_when_asked_for) {
  td_tensordict *td = whole(), *sub = NULL, *saved = NULL;
  td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
  options.dense_sub_tensordicts = 1;
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_SLICE(1, 3)), &sub));
  TD_DO(td_memmap(sub, td_here("d"), &options, &saved));
  check_kind(saved, TD_DICT_DENSE);
  TD_CHECK(!td_exists(td_here("d/_source")));
  TD_CHECK_ENTRY(saved, TD_KEY("a"), TD_SIZES(2), TD_VALUES(1, 2));
}

TD_TEST(a_sub_tensordict_on_a_sub_tensordict_through_positions) {
  td_tensordict *td = whole(), *sub = NULL, *inner = NULL, *saved = NULL;
  td_tensor *positions = td_positions((const int64_t[]){3, 0, 1}, 3);
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_TENSOR(positions)), &sub));
  TD_DO(td_sub_tensordict(sub, TD_AT(TD_I_INT(-1)), &inner));
  TD_DO(td_memmap(inner, td_here("ww"), NULL, &saved));
  td_free(saved);
  check_meta(td_here("ww"), "{" SUB ",\"index\":[\"tuple\",[1]]}");
  TD_CHECK(td_exists(
      td_here("ww/_source/a.memmap"))); /* one index into the whole: a chain is flattened */
  TD_DO(td_memmap_load(td_here("ww"), NULL, &saved));
  TD_CHECK_NO_BATCH(saved);
  TD_CHECK_ENTRY(saved, TD_KEY("a"), TD_NO_SIZES, TD_VALUES(1));
}

/* A folder "s" with a sub-tensordict on whole() that has this index. */
static void make(const char *index) {
  char text[2048];
  td_tensordict *td = whole(), *saved = NULL;
  snprintf(text, sizeof text, "{" SUB ", \"index\": %s}", index);
  if (!td_exists(td_here("s"))) td_make_folder(td_here("s"));
  TD_DO(td_memmap(td, td_here("s/_source"), NULL, &saved));
  td_free(saved);
  td_free(td);
  td_write_text(td_here("s/meta.json"), text);
}

TD_TEST(every_index_that_python_writes) {
  static const struct {
    const char *index;
    double first, last;
    int64_t count;
  } rows[] = {
      {"[[\"slice\", {\"start\": 1, \"stop\": 3, \"step\": null}]]", 1, 2, 2}, /* without tag */
      {"[\"slice\", {\"start\": null, \"stop\": null, \"step\": 2}]", 0, 2, 2},
      {"[\"tuple\", [[\"list\", [2, 0, -1]]]]", 2, 3, 3},
      {"[\"tuple\", [[\"list\", [true, false, true, true]]]]", 0, 3, 3},
      {"[\"tuple\", [[\"tensor\", [1, 1], \"cpu\"]]]", 1, 1, 2},
      {"[\"tuple\", [[\"range\", {\"start\": 3, \"stop\": -1, \"step\": -1}]]]", 3, 0, 4},
      {"[\"tuple\", [[\"ellipsis\"]]]", 0, 3, 4},
      {"[]", 0, 3, 4}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    td_tensordict *td = NULL, *dense = NULL;
    td_tensor *tensor = NULL;
    void *data = NULL;
    make(rows[i].index);
    TD_DO(td_memmap_load(td_here("s"), NULL, &td));
    TD_CHECK_BATCH(td, rows[i].count);
    TD_DO(td_densify(td, NULL, &dense));
    tensor = td_take(dense, TD_KEY("a"));
    td_free(dense);
    TD_DO(td_tensor_contiguous(tensor, (td_tensor **)&data));
    td_tensor_free(tensor);
    tensor = data;
    TD_DO(td_tensor_data(tensor, &data));
    TD_CHECK_INT(((const int64_t *)data)[0], rows[i].first);
    TD_CHECK_INT(((const int64_t *)data)[rows[i].count - 1], rows[i].last);
  }
}

TD_TEST(an_index_that_is_none_is_refused) {
  static const char *const bad[] = {
      "7",
      "[\"tuple\", [4]]",
      "[\"tuple\", [0, 0]]",
      "\"x\"",
      "1.5",
      "[\"what\", [1]]",
      "[\"slice\"]",
      "[\"slice\", {\"start\": \"a\"}]",
      "[\"tuple\", [[\"slice\", {\"step\": 0}]]]",
      "[\"tuple\", [[\"tensor\", [[1], [2, 3]], \"cpu\"]]]",
      "[\"tuple\", [[\"tensor\", [9], \"cpu\"]]]",
      "[\"tuple\", [[\"list\", [1, true]]]]",
      "[\"tuple\", {}]",
      "[\"tuple\"]",
      "[\"tuple\", [123456789012345678901234567890]]",
      "[\"tuple\", [[\"range\", {\"start\": 0, \"stop\": 9000000000000000000, \"step\": 1}]]]",
      "[\"range\", {\"start\": 0, \"stop\": 3, \"step\": 0}]",
      "{}",
      "null7"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    td_tensordict *td;
    make(bad[i]);
    TD_EXPECT_NULL(td_memmap_load(td_here("s"), NULL, &td), TD_ERR_FORMAT, td);
    TD_CHECK_TEXT(td_last_error_message(), "meta.json");
  }
}

TD_TEST(what_is_missing_behind_it) {
  td_tensordict *td;
  td_make_folder(td_here("none"));
  td_write_text(td_here("none/meta.json"), "{" SUB ",\"index\":[]}");
  TD_EXPECT_NULL(td_memmap_load(td_here("none"), NULL, &td), TD_ERR_IO, td);
  td_write_text(td_here("none/meta.json"), "{" SUB "}");
  TD_EXPECT_NULL(td_memmap_load(td_here("none"), NULL, &td), TD_ERR_FORMAT, td);
}

TD_TEST(below_a_dictionary_it_is_read_out) {
  td_tensordict *td = NULL, *inner = NULL;
  make("[\"tuple\", [[\"slice\", {\"start\": 0, \"stop\": 2, \"step\": null}]]]");
  td_make_folder(td_here("top"));
  td_copy_tree(td_here("s"), td_here("top/s"));
  td_write_text(td_here("top/meta.json"),
                "{\"s\":{\"type\":\"_SubTensorDict\"},\"shape\":[2],\"device\":\"cpu\","
                "\"_type\":\"<class 'tensordict._td.TensorDict'>\"}");
  TD_DO(td_memmap_load(td_here("top"), NULL, &td));
  inner = td_take_dict(td, TD_KEY("s"));
  check_kind(inner, TD_DICT_DENSE);
  TD_CHECK_ENTRY(td, TD_KEY("s", "a"), TD_SIZES(2), TD_VALUES(0, 1));
}
