/* Sub-tensordicts: what is written to them reaches it. */
#include "td_values.h"

/* batch [4]: "a" of 0 to 3, "n" / "b" of shape [4, 2] */
static td_tensordict *whole(void) {
  td_tensordict *td = td_empty(TD_SIZES(4));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4)));
  td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4, 2)));
  return td;
}

static void write_and_check(td_tensordict *sub, td_tensordict *td) {
  td_tensor *value = td_arange(TD_DTYPE_INT64, 50, TD_SIZES(2));
  TD_DO(td_set_inplace(sub, TD_KEY("a"), value));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(4), TD_VALUES(50, 1, 51, 3));
  TD_CHECK_ENTRY(sub, TD_KEY("a"), TD_SIZES(2), TD_VALUES(50, 51));
  TD_EXPECT(td_set(sub, TD_KEY("a"), value), TD_ERR_KEY_EXISTS);
  TD_EXPECT(td_set_inplace(sub, TD_KEY("q"), value), TD_ERR_KEY_NOT_FOUND);
  TD_DO(td_set(sub, TD_KEY("m", "new"), value)); /* gets room in the whole */
  TD_CHECK_ENTRY(td, TD_KEY("m", "new"), TD_SIZES(4), TD_VALUES(50, 0, 51, 0));
}

TD_TEST(through_a_view) {
  td_tensordict *td = whole(), *sub = NULL, *parent = NULL;
  td_dict_kind kind = 0;
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_STEP(0, 4, 2)), &sub));
  TD_DO(td_kind(sub, &kind));
  TD_CHECK_INT(kind, TD_DICT_SUB_TENSORDICT);
  TD_CHECK_BATCH(sub, 2);
  write_and_check(sub, td);
  TD_DO(td_sub_tensordict_parent(sub, &parent));
  TD_CHECK(td_is_same_dict(parent, td));
  TD_EXPECT_NULL(td_sub_tensordict_parent(td, &parent), TD_ERR_WRONG_ENTRY, parent);
}

TD_TEST(through_index_tensors) {
  td_tensordict *td = whole(), *sub = NULL;
  td_tensor *rows = td_positions((const int64_t[]){0, 2}, 2);
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_TENSOR(rows)), &sub));
  write_and_check(sub, td);
}

TD_TEST(nested_and_parts_of_parts) {
  td_tensordict *td = whole(), *sub = NULL, *inner = NULL, *part = NULL;
  td_tensor *rows = td_positions((const int64_t[]){1, 3}, 2), *nine;
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_TENSOR(rows)), &sub));
  TD_DO(td_get_dict(sub, TD_KEY("n"), &inner));
  TD_CHECK_ENTRY(inner, TD_KEY("b"), TD_SIZES(2, 2), TD_VALUES(2, 3, 6, 7));
  nine = td_filled(TD_DTYPE_FLOAT32, 9, TD_NO_SIZES);
  TD_DO(td_set_inplace(inner, TD_KEY("b"), nine));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4, 2), TD_VALUES(0, 1, 9, 9, 4, 5, 9, 9));
  TD_DO(td_index(sub, TD_AT(TD_I_INT(1)), &part));
  TD_DO(td_fill_at(part, NULL, 0, nine));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(4), TD_VALUES(0, 1, 2, 9));
}

TD_TEST(looked_up_each_time) {
  td_tensordict *td = whole(), *sub = NULL, *copy = NULL, *view = NULL;
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_UNTIL(2)), &sub));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 7, TD_SIZES(4)));
  TD_CHECK_ENTRY(sub, TD_KEY("a"), TD_SIZES(2), TD_VALUES(7, 8));
  TD_DO(td_remove(sub, TD_KEY("a")));
  td_entry_kind kind = 9;
  TD_DO(td_get_kind(td, TD_KEY("a"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NONE);
  td_free(td); /* the sub-tensordict keeps it */
  TD_DO(td_clone(sub, 0, &copy));
  TD_CHECK_ENTRY(copy, TD_KEY("n", "b"), TD_SIZES(2, 2), TD_VALUES(0, 1, 2, 3));
  td_dict_kind dict = 0;
  TD_DO(td_kind(copy, &dict));
  TD_CHECK_INT(dict, TD_DICT_DENSE);
  TD_DO(td_unsqueeze(sub, 0, &view));
  TD_CHECK_BATCH(view, 1, 2);
}

TD_TEST(locks_are_those_of_the_whole) {
  td_tensordict *td = whole(), *sub = NULL, *holder = td_empty(TD_NO_SIZES), *lazy;
  td_tensor *value = td_arange(TD_DTYPE_INT64, 5, TD_SIZES(2));
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_UNTIL(2)), &sub));
  TD_EXPECT(td_lock(sub), TD_ERR_UNSUPPORTED);
  TD_EXPECT(td_set_batch_size(sub, TD_SIZES(1)), TD_ERR_UNSUPPORTED);
  TD_DO(td_lock(td));
  TD_CHECK_FLAG(td_is_locked, sub, 1);
  TD_DO(td_lock(sub));
  TD_EXPECT(td_unlock(sub), TD_ERR_UNSUPPORTED);
  TD_DO(td_set_inplace(sub, TD_KEY("a"), value));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(4), TD_VALUES(5, 6, 2, 3));
  TD_EXPECT(td_set(sub, TD_KEY("new"), value), TD_ERR_LOCKED);
  TD_EXPECT_NULL(td_lazy_stack((const td_tensordict *const[]){sub}, 1, 0, &lazy),
                 TD_ERR_UNSUPPORTED, lazy);
  TD_DO(td_set_dict(holder, TD_KEY("part"), sub)); /* as it reads: a view of the part */
  TD_CHECK_ENTRY(holder, TD_KEY("part", "a"), TD_SIZES(2), TD_VALUES(5, 6));
}

/* A sub-tensordict looked its rows up in the caller's tensor each time: out of bounds once that had changed. */
TD_TEST(the_index_is_its_own) {
  td_tensordict *td = whole(), *picked = NULL, *masked = NULL, *copy = NULL;
  td_tensor *rows = td_positions((const int64_t[]){1, 3}, 2);
  td_tensor *mask = td_mask((const int64_t[]){1, 1, 1, 0}, 4);
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_TENSOR(rows)), &picked));
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_TENSOR(mask)), &masked));
  const int64_t beyond[] = {(int64_t)1 << 40, 0};
  TD_DO(td_tensor_copy_from(rows, beyond, sizeof beyond));
  TD_DO(td_tensor_copy_from(mask, "\1\0\0\0", 4));
  TD_CHECK_ENTRY(picked, TD_KEY("a"), TD_SIZES(2), TD_VALUES(1, 3));
  TD_CHECK_ENTRY(masked, TD_KEY("a"), TD_SIZES(3), TD_VALUES(0, 1, 2));
  TD_DO(td_unsqueeze(masked, 0, &copy));
  TD_CHECK_BATCH(copy, 1, 3);
}

/* Rows that are written through the sub-tensordict are those of its index, an entry of the dictionary or not. */
TD_TEST(the_index_was_an_entry) {
  td_tensordict *td = td_empty(TD_SIZES(4)), *sub = NULL, *values = td_empty(TD_SIZES(4));
  td_put(td, TD_KEY("i"), td_positions((const int64_t[]){1, 0, 3, 2}, 4));
  td_put(values, TD_KEY("i"), td_arange(TD_DTYPE_INT64, (int64_t)1 << 33, TD_SIZES(4)));
  td_tensor *index = td_take(td, TD_KEY("i"));
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_TENSOR(index)), &sub));
  TD_DO(td_set_at(sub, TD_AT(TD_I_ELLIPSIS), values));
  const double first = (double)((int64_t)1 << 33);
  TD_CHECK_ENTRY(sub, TD_KEY("i"), TD_SIZES(4), TD_VALUES(first, first + 1, first + 2, first + 3));
  TD_CHECK_ENTRY(td, TD_KEY("i"), TD_SIZES(4), TD_VALUES(first + 1, first, first + 3, first + 2));
}

TD_TEST(the_dictionary_behind_it_has_changed) {
  td_tensordict *td = td_empty(TD_SIZES(4, 2)), *sub = NULL, *result = NULL;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4, 2)));
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_INT(1)), &sub));
  TD_CHECK_BATCH(sub, 2);
  TD_DO(td_set_batch_size(td, TD_SIZES(4)));
  TD_EXPECT_NULL(td_clone(sub, 0, &result), TD_ERR_SHAPE, result);
  TD_EXPECT_NULL(td_unsqueeze(sub, 0, &result), TD_ERR_SHAPE, result);
  TD_EXPECT(td_zero(sub), TD_ERR_SHAPE);
  TD_DO(td_set_batch_size(td, TD_SIZES(4, 2)));
  TD_CHECK_ENTRY(sub, TD_KEY("a"), TD_SIZES(2), TD_VALUES(2, 3));
}

/* One link leads to the whole, however long the chain: 6,500 of them overflowed the stack. */
TD_TEST(a_chain_of_100000) {
  td_tensordict *td = whole(), *sub = NULL, *parent = NULL;
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_SLICE(1, 4)), &sub));
  for (int i = 0; i < 100000; i++) {
    td_tensordict *next = NULL;
    if (i % 2 == 0) {
      TD_DO(td_sub_tensordict(sub, TD_AT(TD_I_NONE, TD_I_SLICE(0, 3)), &next));
    } else {
      TD_DO(td_sub_tensordict(sub, TD_AT(TD_I_INT(0)), &next));
    }
    td_free(sub);
    sub = next;
  }
  TD_DO(td_sub_tensordict_parent(sub, &parent));
  TD_CHECK(td_is_same_dict(parent, td));
  TD_CHECK_ENTRY(sub, TD_KEY("a"), TD_SIZES(3), TD_VALUES(1, 2, 3));
}

/* Each pair of indices against the same two on a copy. */
TD_TEST(parts_of_parts_are_parts_of_the_whole) {
  td_tensor *rows = td_positions((const int64_t[]){3, 0, -2}, 3);
  td_tensor *pair = td_positions((const int64_t[]){1, 0}, 2);
  td_tensor *one = td_positions((const int64_t[]){0}, 1);
  td_tensor *mask = td_mask((const int64_t[]){1, 0, 1, 1}, 4);
  td_tensor *three = td_mask((const int64_t[]){0, 1, 1}, 3);
  const struct {
    td_index_item items[3];
    size_t n;
  } firsts[] = {
      {{TD_I_STEP(1, 4, 2)}, 1},          {{TD_I_ALL, TD_I_INT(1)}, 2},
      {{TD_I_NONE, TD_I_SLICE(0, 2)}, 2}, {{TD_I_TENSOR(rows)}, 1},
      {{TD_I_TENSOR(mask)}, 1},           {{TD_I_INT(2), TD_I_NONE}, 2},
      {{TD_I_ALL, TD_I_TENSOR(pair)}, 2}, {{TD_I_ELLIPSIS, TD_I_SLICE(1, 3)}, 2},
  };
  const struct {
    td_index_item items[3];
    size_t n;
  } seconds[] = {
      {{TD_I_INT(0)}, 1},
      {{TD_I_STEP(0, 3, 2)}, 1},
      {{TD_I_TENSOR(pair)}, 1},
      {{TD_I_TENSOR(one)}, 1},
      {{TD_I_NONE, TD_I_ELLIPSIS}, 2},
      {{TD_I_SLICE(0, 0)}, 1},
      {{TD_I_ALL, TD_I_TENSOR(pair)}, 2},
      {{TD_I_TENSOR(three)}, 1},
      {{TD_I_ELLIPSIS, TD_I_INT(0)}, 2},
  };
  for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
    for (size_t k = 0; k < sizeof seconds / sizeof *seconds; k++) {
      td_tensordict *td = td_empty(TD_SIZES(4, 3)), *copy = NULL;
      td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4, 3)));
      td_put(td, TD_KEY("n", "b"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(4, 3, 2)));
      TD_DO(td_clone(td, 0, &copy));
      td_tensordict *sub = NULL, *deep = NULL, *part = NULL, *want = NULL;
      TD_DO(td_sub_tensordict(td, firsts[i].items, firsts[i].n, &sub));
      TD_DO(td_index(copy, firsts[i].items, firsts[i].n, &part));
      const td_status asked = td_index(part, seconds[k].items, seconds[k].n, &want);
      TD_CHECK_INT(td_sub_tensordict(sub, seconds[k].items, seconds[k].n, &deep), asked);
      if (asked == TD_OK) {
        td_tensordict *read = NULL;
        TD_DO(td_clone(deep, 0, &read));
        TD_CHECK_EQUAL(read, want);
        TD_DO(td_zero(deep)); /* and the same is written */
        td_free(read);
        TD_DO(td_zero(want));
        TD_DO(td_set_at(part, seconds[k].items, seconds[k].n, want));
        TD_DO(td_set_at(copy, firsts[i].items, firsts[i].n, part));
        TD_CHECK_EQUAL(td, copy);
      }
    }
  }
}

/* Other entries are not written: they may be what cannot be, or share memory with those that are. */
TD_TEST(nothing_beside_what_is_given_is_written) {
  td_tensordict *td = td_empty(TD_SIZES(4)), *row = td_empty(TD_SIZES(1)), *sub = NULL;
  td_tensor *shared = td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4));
  td_tensor *positions = td_positions((const int64_t[]){3, 1}, 2);
  td_tensor *one = td_filled(TD_DTYPE_INT64, 9, TD_NO_SIZES), *wide = NULL, *seven;
  TD_DO(td_set(td, TD_KEY("a"), shared));
  TD_DO(td_set(td, TD_KEY("b"), shared));
  td_put(row, TD_KEY("a"), td_filled(TD_DTYPE_INT64, 8, TD_SIZES(1)));
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_TENSOR(positions)), &sub));
  TD_DO(td_set_at(sub, TD_AT(TD_I_SLICE(1, 2)), row));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(4), TD_VALUES(0, 8, 2, 3));
  TD_DO(td_tensor_expand_right(one, TD_SIZES(4), &wide));
  TD_DO(td_set(td, TD_KEY("c"), wide));
  TD_DO(td_set_at(sub, TD_AT(TD_I_SLICE(0, 1)), row));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(4), TD_VALUES(0, 8, 2, 8));
  td_free(sub);
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_SLICE(1, 3)), &sub));
  TD_DO(td_set_at(sub, TD_AT(TD_I_SLICE(1, 2)), row));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(4), TD_VALUES(0, 8, 8, 8));
  TD_CHECK_ENTRY(td, TD_KEY("c"), TD_SIZES(4), TD_VALUES(9, 9, 9, 9));
  /* One number fills the expanded entry as well, or nothing is written. */
  seven = td_filled(TD_DTYPE_INT64, 7, TD_NO_SIZES);
  TD_DO(td_fill_at(sub, TD_AT(TD_I_SLICE(0, 1)), seven));
  TD_CHECK_ENTRY(td, TD_KEY("b"), TD_SIZES(4), TD_VALUES(0, 7, 8, 8));
  TD_CHECK_ENTRY(td, TD_KEY("c"), TD_SIZES(4), TD_VALUES(7, 7, 7, 7));
}

TD_TEST(an_entry_that_is_filled_alone) {
  td_tensordict *td = td_empty(TD_SIZES(4)), *sub = NULL, *by = NULL;
  td_tensor *shared = td_arange(TD_DTYPE_INT64, 0, TD_SIZES(4));
  td_tensor *positions = td_positions((const int64_t[]){3, 1}, 2);
  td_tensor *one = td_filled(TD_DTYPE_INT64, 9, TD_NO_SIZES), *wide = NULL;
  TD_DO(td_set(td, TD_KEY("n", "a"), shared));
  TD_DO(td_set(td, TD_KEY("n", "b"), shared));
  TD_DO(td_tensor_expand_right(one, TD_SIZES(4), &wide));
  TD_DO(td_set(td, TD_KEY("c"), wide));
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_TENSOR(positions)), &sub));
  const td_operand seven = TD_O_INT(7);
  TD_DO(td_fill(sub, TD_KEY("n", "a"), &seven));
  TD_CHECK_ENTRY(td, TD_KEY("n", "a"), TD_SIZES(4), TD_VALUES(0, 7, 2, 7));
  by = td_empty(TD_SIZES(2));
  td_put(by, TD_KEY("n", "a"), td_filled(TD_DTYPE_INT64, 10, TD_SIZES(2)));
  const td_operand more = TD_O_DICT(by);
  td_binary_options some = TD_BINARY_OPTIONS_INIT;
  some.missing = TD_MISSING_INTERSECT;
  TD_DO(td_binary_inplace(sub, TD_BINARY_ADD, &more, &some));
  TD_CHECK_ENTRY(td, TD_KEY("n", "b"), TD_SIZES(4), TD_VALUES(0, 17, 2, 17));
  TD_CHECK_ENTRY(td, TD_KEY("c"), TD_SIZES(4), TD_VALUES(9, 9, 9, 9));
}

/* What a list picks twice is one place, and so are its parts. */
TD_TEST(a_row_that_is_picked_twice) {
  td_tensordict *td = whole(), *sub = NULL;
  td_tensor *twice = td_positions((const int64_t[]){2, 2, 0}, 3);
  td_tensor *nine = td_filled(TD_DTYPE_INT64, 9, TD_NO_SIZES);
  TD_DO(td_sub_tensordict(td, TD_AT(TD_I_TENSOR(twice)), &sub));
  TD_DO(td_fill_at(sub, TD_AT(TD_I_INT(0)), nine));
  TD_CHECK_ENTRY(td, TD_KEY("a"), TD_SIZES(4), TD_VALUES(0, 1, 9, 3));
  TD_CHECK_ENTRY(sub, TD_KEY("a"), TD_SIZES(3), TD_VALUES(9, 9, 0));
}
