/* All tensors of a dictionary in one, and back; several entries renamed at once. */
#include "td_keys_text.h"
#include "td_values.h"

/* p [2], v [2, 2] and n.s [2], batch [2]. */
static td_tensordict *sample(void) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("p"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2)));
  td_put(td, TD_KEY("v"), td_arange(TD_DTYPE_FLOAT32, 10, TD_SIZES(2, 2)));
  td_put(td, TD_KEY("n", "s"), td_arange(TD_DTYPE_FLOAT32, 100, TD_SIZES(2)));
  return td;
}

static const char *layout_of(const td_tensordict *td, int64_t dim) {
  static char text[1024];
  size_t length = 0;
  TD_DO(td_pack_layout(td, dim, text, sizeof text, &length));
  TD_CHECK_INT(strlen(text), length);
  return text;
}

TD_TEST(tensors_stand_side_by_side) {
  td_tensordict *td = sample(), *back = NULL;
  td_tensor *packed = NULL;
  TD_DO(td_pack(td, -1, NULL, &packed));
  TD_CHECK_SIZES(packed, 2, 4);
  TD_CHECK_VALUES(packed, 100, 0, 10, 11, 101, 1, 12, 13);
  const char *layout = layout_of(td, -1);
  TD_CHECK_SAME_TEXT(layout,
                     "{\"keys\":[[\"n\",\"s\"],[\"p\"],[\"v\"]],\"shapes\":[[],[],[2]],"
                     "\"dim\":-1,\"nested\":[{\"key\":[\"n\"],\"batch\":[],\"type\":null}],"
                     "\"device\":null,\"type\":null,\"offsets\":[0,1,2],\"numel\":4}");
  TD_DO(td_unpack(packed, layout, &back));
  TD_CHECK_ENTRY(back, TD_KEY("v"), TD_SIZES(2, 2), TD_VALUES(10, 11, 12, 13));
  TD_CHECK_ENTRY(back, TD_KEY("n", "s"), TD_SIZES(2), TD_VALUES(100, 101));
  td_tensor *view = td_take(back, TD_KEY("p"));
  td_tensor *seven = td_filled(TD_DTYPE_FLOAT32, 7, TD_NO_SIZES);
  TD_DO(td_tensor_copy(view, seven));
  TD_CHECK_VALUES(packed, 100, 7, 10, 11, 101, 7, 12, 13);
  TD_DO(td_pack(td, 0, NULL, &packed));
  TD_CHECK_VALUES(packed, 100, 101, 0, 1, 10, 12, 11, 13);
}

TD_TEST(a_layout_sets_the_order) {
  td_tensordict *td = sample();
  td_tensor *packed = NULL;
  const char *own = "{\"keys\": [[\"v\"], [\"p\"], [\"n\", \"s\"]], \"shapes\": [[2], [], []]}";
  TD_DO(td_pack(td, -1, own, &packed));
  TD_CHECK_VALUES(packed, 10, 11, 0, 100, 12, 13, 1, 101);
  TD_EXPECT_NULL(td_pack(td, 0, own, &packed), TD_ERR_SHAPE, packed);
  TD_EXPECT_NULL(td_pack(td, 2, NULL, &packed), TD_ERR_INDEX, packed);
  TD_EXPECT_NULL(td_pack(td, -1, "{\"keys\": [[\"v\"]], \"shapes\": [[2]]}", &packed),
                 TD_ERR_KEY_NOT_FOUND, packed);
  TD_EXPECT_NULL(
      td_pack(td, -1, "{\"keys\": [\"v\", \"p\", [\"n\", \"s\"]], \"shapes\": [[1], [], []]}",
              &packed),
      TD_ERR_SHAPE, packed);
  td_put(td, TD_KEY("i"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  TD_EXPECT_NULL(td_pack(td, -1, NULL, &packed), TD_ERR_DTYPE, packed);
  TD_DO(td_remove(td, TD_KEY("i")));
  TD_DO(td_set_non_tensor_json(td, TD_KEY("i"), "1"));
  TD_EXPECT_NULL(td_pack(td, -1, NULL, &packed), TD_ERR_WRONG_ENTRY, packed);
}

TD_TEST(other_texts_are_no_layouts) {
  td_tensor *packed = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3));
  td_tensordict *result = NULL;
  static const struct {
    const char *text;
    td_status status;
  } texts[] = {
      {"", TD_ERR_FORMAT},
      {"[]", TD_ERR_INVALID_ARGUMENT},
      {"{}", TD_ERR_INVALID_ARGUMENT},
      {"{\"keys\": [[\"a\"]], \"shapes\": []}", TD_ERR_INVALID_ARGUMENT},
      {"{\"keys\": [[\"a\"], [\"a\"]], \"shapes\": [[1], [2]]}", TD_ERR_INVALID_ARGUMENT},
      {"{\"keys\": [[]], \"shapes\": [[3]]}", TD_ERR_KEY_INVALID},
      {"{\"keys\": [[1]], \"shapes\": [[3]]}", TD_ERR_INVALID_ARGUMENT},
      {"{\"keys\": [[\"a\"]], \"shapes\": [[-3]]}", TD_ERR_INVALID_ARGUMENT},
      {"{\"keys\": [[\"a\"]], \"shapes\": [[4294967296, 4294967296]]}", TD_ERR_SHAPE},
      {"{\"keys\": [[\"a\"]], \"shapes\": [[4]]}", TD_ERR_SHAPE},
      {"{\"keys\": [[\"a\"]], \"shapes\": [[3]], \"dim\": 2}", TD_ERR_INDEX},
      {"{\"keys\": [[\"a\"]], \"shapes\": [[3]], \"dim\": 1.5}", TD_ERR_INVALID_ARGUMENT},
      {"{\"keys\": [[\"a\"]], \"shapes\": [[3]], \"nested\": [1]}", TD_ERR_INVALID_ARGUMENT},
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
    TD_EXPECT_NULL(td_unpack(packed, texts[i].text, &result), texts[i].status, result);
  TD_DO(td_unpack(packed, "{\"keys\": [\"a\"], \"shapes\": [[3]], \"dim\": 1}", &result));
  TD_CHECK_ENTRY(result, TD_KEY("a"), TD_SIZES(2, 3), TD_VALUES(0, 1, 2, 3, 4, 5));
}

TD_TEST(empty_dictionaries_pack_to_no_column) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *back = NULL;
  td_tensor *packed = NULL;
  TD_DO(td_create_nested(td, TD_KEY("e")));
  TD_DO(td_pack(td, -1, NULL, &packed));
  TD_CHECK_SIZES(packed, 2, 0);
  TD_DO(td_unpack(packed, layout_of(td, -1), &back));
  TD_CHECK_BATCH(back, 2);
  TD_CHECK_KEYS(back, "e");
}

static td_tensordict *renamed(const td_tensordict *td, const td_key *from, const td_key *to,
                              size_t count) {
  td_tensordict *result = NULL;
  TD_DO(td_rename_keys(td, from, to, count, 0, &result));
  return result;
}

TD_TEST(keys_change_places) {
  td_tensordict *td = sample(), *result = NULL;
  TD_DO(td_lock(td));
  const td_key from[] = {{TD_KEY("p")}, {TD_KEY("v")}}, to[] = {{TD_KEY("v")}, {TD_KEY("p")}};
  result = renamed(td, from, to, 2);
  TD_CHECK_ENTRY(result, TD_KEY("v"), TD_SIZES(2), TD_VALUES(0, 1));
  TD_CHECK_ENTRY(result, TD_KEY("p"), TD_SIZES(2, 2), TD_VALUES(10, 11, 12, 13));
  TD_CHECK_FLAG(td_is_locked, result, 0);
  td_tensor *before = td_take(td, TD_KEY("p")), *after = td_take(result, TD_KEY("v"));
  TD_CHECK(td_same_memory(before, after));
  TD_CHECK_ENTRY(td, TD_KEY("p"), TD_SIZES(2), TD_VALUES(0, 1)); /* it is as it was */
  const td_key emptied[] = {{TD_KEY("n", "s")}}, top[] = {{TD_KEY("s")}};
  result = renamed(td, emptied, top, 1);
  TD_CHECK_KEYS(result, "p v s");
  const td_key node[] = {{TD_KEY("n")}}, inside[] = {{TD_KEY("n", "k")}};
  result = renamed(td, node, inside, 1);
  TD_CHECK_ENTRY(result, TD_KEY("n", "k", "s"), TD_SIZES(2), TD_VALUES(100, 101));
  result = renamed(td, emptied, node, 1);
  TD_CHECK_ENTRY(result, TD_KEY("n"), TD_SIZES(2), TD_VALUES(100, 101));
  result = renamed(td, NULL, NULL, 0);
  TD_CHECK_KEYS(result, "p v n n/s");
}

TD_TEST(keys_that_stand_in_the_way_are_refused) {
  td_tensordict *td = sample(), *result = NULL;
  const td_key p[] = {{TD_KEY("p")}, {TD_KEY("p")}}, v[] = {{TD_KEY("v")}, {TD_KEY("w")}};
  const td_key outer[] = {{TD_KEY("n")}, {TD_KEY("n", "s")}}, below[] = {{TD_KEY("v", "x")}};
  const td_key none[] = {{TD_KEY("none")}};
  TD_EXPECT_NULL(td_rename_keys(td, p, v, 1, 0, &result), TD_ERR_KEY_EXISTS, result);
  TD_EXPECT_NULL(td_rename_keys(td, p, below, 1, 0, &result), TD_ERR_KEY_EXISTS, result);
  TD_EXPECT_NULL(td_rename_keys(td, p, v, 2, 0, &result), TD_ERR_INVALID_ARGUMENT, result);
  TD_EXPECT_NULL(td_rename_keys(td, v, p, 2, 0, &result), TD_ERR_INVALID_ARGUMENT, result);
  TD_EXPECT_NULL(td_rename_keys(td, outer, v, 2, 0, &result), TD_ERR_INVALID_ARGUMENT, result);
  TD_EXPECT_NULL(td_rename_keys(td, none, below, 1, 0, &result), TD_ERR_KEY_NOT_FOUND, result);
  TD_DO(td_rename_keys(td, none, below, 1, TD_RENAME_KEYS_IGNORE_MISSING, &result));
  TD_CHECK_KEYS(result, "p v n n/s");
}
