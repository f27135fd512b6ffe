/* Nested tensors: parts of different shapes as one entry. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "td_files.h"
#include "td_values.h"

#define PARTS(...)                           \
  ((const td_tensor *const[]){__VA_ARGS__}), \
      sizeof((const td_tensor *const[]){__VA_ARGS__}) / sizeof(void *)

/* Parts of shapes [2, 3], [1, 3] and [4, 3], with 0…5, 10…12 and 20…31. */
static td_tensordict *nested_tensor(void) {
  td_tensor *one = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3));
  td_tensor *two = td_arange(TD_DTYPE_FLOAT32, 10, TD_SIZES(1, 3));
  td_tensor *three = td_arange(TD_DTYPE_FLOAT32, 20, TD_SIZES(4, 3));
  td_tensordict *result = NULL;
  TD_DO(td_nested_tensor_from_tensors(PARTS(one, two, three), &result));
  return result;
}

/* Batch [3]: "r" nested, "x" int64, "n" with another one. */
static td_tensordict *sample(void) {
  td_tensordict *td = td_empty(TD_SIZES(3));
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(3)));
  td_put_dict(td, TD_KEY("r"), nested_tensor());
  td_put_dict(td, TD_KEY("n"), td_empty(TD_SIZES(3)));
  td_put_dict(td, TD_KEY("n", "r"), nested_tensor());
  return td;
}

static td_tensordict *take(const td_tensordict *td, const char *const *path, size_t path_len) {
  td_tensordict *result = NULL;
  TD_DO(td_get_nested_tensor(td, path, path_len, &result));
  return result;
}

static void check_tensors(const td_tensordict *nested_tensor, const int64_t *sizes, size_t dims,
                          const double *table, size_t table_len, const double *all,
                          size_t all_len) {
  td_tensor *values = NULL, *rows = NULL;
  TD_DO(td_nested_tensor_values(nested_tensor, &values, &rows));
  td_check_sizes(__FILE__, __LINE__, rows, sizes, dims);
  td_check_values(__FILE__, __LINE__, rows, table, table_len);
  td_check_values(__FILE__, __LINE__, values, all, all_len);
  td_tensor_free(rows);
  td_tensor_free(values);
}

/* The call fails with this status and a message that says so. */
#define TD_FAILS(call, status, part)                \
  do {                                              \
    TD_EXPECT(call, status);                        \
    TD_CHECK_TEXT(td_last_error_message(), (part)); \
  } while (0)

#define ALL_VALUES \
  TD_VALUES(0, 1, 2, 3, 4, 5, 10, 11, 12, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31)

static void check_nested_tensor(const td_tensordict *td, const char *const *path, size_t path_len) {
  td_tensordict *entry = take(td, path, path_len);
  check_tensors(entry, TD_SIZES(3, 2), TD_VALUES(2, 3, 1, 3, 4, 3), ALL_VALUES);
}

TD_TEST(an_entry_of_its_own_kind) {
  td_tensordict *td = sample(), *entry = take(td, TD_KEY("r"));
  td_tensor *part = NULL;
  td_entry_kind kind = 0;
  td_dict_kind dict = 0;
  TD_DO(td_get_kind(td, TD_KEY("r"), &kind));
  TD_CHECK_INT(kind, TD_ENTRY_NESTED_TENSOR);
  TD_DO(td_kind(entry, &dict));
  TD_CHECK_INT(dict, TD_DICT_NESTED_TENSOR);
  TD_CHECK_BATCH(entry, 3);
  check_nested_tensor(td, TD_KEY("r"));
  check_nested_tensor(td, TD_KEY("n", "r"));
  TD_DO(td_nested_tensor_at(entry, 1, &part));
  TD_CHECK_SIZES(part, 1, 3);
  TD_CHECK_VALUES(part, 10, 11, 12);
  TD_DO(td_nested_tensor_at(entry, -1, &part));
  TD_CHECK_SIZES(part, 4, 3);
  TD_FAILS(td_nested_tensor_at(entry, 3, &part), TD_ERR_INDEX, "part 3 is out of range");
  TD_CHECK(part == NULL);
  TD_FAILS(td_nested_tensor_at(td, 0, &part), TD_ERR_WRONG_ENTRY, "not a nested tensor");
  TD_FAILS(td_get(td, TD_KEY("r"), &part), TD_ERR_WRONG_ENTRY, "is a nested tensor, not a tensor");
  TD_FAILS(td_get_nested_tensor(td, TD_KEY("x"), &entry), TD_ERR_WRONG_ENTRY,
           "is a tensor, not a nested tensor");
  TD_CHECK(entry == NULL);
  TD_FAILS(td_get_dict(td, TD_KEY("r"), &entry), TD_ERR_WRONG_ENTRY, "not a dictionary");
  TD_FAILS(td_get_nested_tensor(td, TD_KEY("none"), &entry), TD_ERR_KEY_NOT_FOUND, "none");
}

TD_TEST(made_of_values_and_sizes) {
  td_tensor *values = td_arange(TD_DTYPE_INT32, 0, TD_SIZES(9));
  td_tensor *sizes = td_arange(TD_DTYPE_INT64, 2, TD_SIZES(2, 2)); /* [2, 3], [4, 5] */
  td_tensor *flat = NULL, *own = NULL, *rows = NULL;
  td_tensordict *result = NULL;
  TD_FAILS(td_nested_tensor_create(values, sizes, &result), TD_ERR_SHAPE, "has 26 elements, got 9");
  TD_CHECK(result == NULL);
  TD_FAILS(td_nested_tensor_create(values, values, &result), TD_ERR_SHAPE,
           "int64 of shape [parts, dimensions]");
  values = td_arange(TD_DTYPE_INT32, 0, TD_SIZES(26));
  TD_DO(td_nested_tensor_create(values, sizes, &result));
  TD_DO(td_nested_tensor_values(result, &own, &rows));
  TD_CHECK(td_same_memory(values, own));
  TD_CHECK(!td_same_memory(sizes, rows));
  TD_FAILS(td_nested_tensor_from_tensors(NULL, 0, &result), TD_ERR_INVALID_ARGUMENT,
           "at least one part");
  flat = td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2, 1));
  TD_FAILS(td_nested_tensor_from_tensors(PARTS(values, flat), &result), TD_ERR_SHAPE,
           "same number of dimensions");
  flat = td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2));
  TD_FAILS(td_nested_tensor_from_tensors(PARTS(values, flat), &result), TD_ERR_DTYPE, "one dtype");
  TD_CHECK(result == NULL);
}

TD_TEST(the_batch_size_is_checked) {
  td_tensordict *two = td_empty(TD_SIZES(2)), *none = td_empty(TD_NO_SIZES),
                *entry = nested_tensor();
  td_tensordict *wide = td_empty(TD_SIZES(3, 3));
  TD_FAILS(td_set_dict(two, TD_KEY("r"), entry), TD_ERR_SHAPE, "shape [3, -1, 3]");
  TD_FAILS(td_set_dict(wide, TD_KEY("r"), entry), TD_ERR_SHAPE, "batch size [3, 3]");
  TD_DO(td_set_dict(none, TD_KEY("r"), entry));
  check_nested_tensor(none, TD_KEY("r"));
  TD_DO(td_set_batch_size(none, TD_SIZES(3)));
  TD_FAILS(td_set_batch_size(none, TD_SIZES(3, 3)), TD_ERR_SHAPE, "[3, 3]");
  TD_CHECK_BATCH(none, 3);
}

TD_TEST(an_index_picks_parts) {
  td_tensordict *td = sample(), *at = NULL, *entry = NULL;
  td_tensor *positions = td_positions((const int64_t[]){2, 0}, 2);
  td_tensor *mask = td_mask((const int64_t[]){1, 0, 1}, 3);
  TD_DO(td_index(td, TD_AT(TD_I_INT(1)), &at));
  TD_CHECK_NO_BATCH(at);
  TD_CHECK_ENTRY(at, TD_KEY("r"), TD_SIZES(1, 3), TD_VALUES(10, 11, 12));
  TD_CHECK_ENTRY(at, TD_KEY("n", "r"), TD_SIZES(1, 3), TD_VALUES(10, 11, 12));
  TD_DO(td_index(td, TD_AT(TD_I_SLICE(0, 2)), &at));
  entry = take(at, TD_KEY("r"));
  check_tensors(entry, TD_SIZES(2, 2), TD_VALUES(2, 3, 1, 3),
                TD_VALUES(0, 1, 2, 3, 4, 5, 10, 11, 12));
  TD_DO(td_index(td, TD_AT(TD_I_TENSOR(positions)), &at));
  entry = take(at, TD_KEY("n", "r"));
  check_tensors(entry, TD_SIZES(2, 2), TD_VALUES(4, 3, 2, 3),
                TD_VALUES(20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 0, 1, 2, 3, 4, 5));
  TD_DO(td_index(td, TD_AT(TD_I_TENSOR(mask)), &at));
  TD_CHECK_BATCH(at, 2);
  TD_FAILS(td_index(td, TD_AT(TD_I_NONE), &at), TD_ERR_UNSUPPORTED, "one batch dimension");
  TD_CHECK(at == NULL);
}

TD_TEST(copied_converted_and_taken_apart) {
  td_tensordict *td = sample(), *copy = NULL, *parts[3] = {NULL}, *both = NULL, *entry = NULL;
  size_t n = 0, bytes = 0;
  td_tensor *values = NULL, *rows = NULL;
  TD_DO(td_clone(td, 0, &copy));
  check_nested_tensor(copy, TD_KEY("n", "r"));
  TD_CHECK_EQUAL(td, copy);
  TD_DO(td_nbytes(td, &bytes));
  TD_CHECK_INT(bytes, 3 * 8 + 2 * 21 * 4);
  TD_DO(td_unbind(td, 0, parts, 3, &n));
  TD_CHECK_INT(n, 3);
  TD_CHECK_ENTRY(parts[1], TD_KEY("r"), TD_SIZES(1, 3), TD_VALUES(10, 11, 12));
  for (size_t i = 0; i < n; ++i) td_free(parts[i]);
  TD_DO(td_cat((const td_tensordict *const[]){td, copy}, 2, 0, &both));
  TD_CHECK_BATCH(both, 6);
  entry = take(both, TD_KEY("r"));
  TD_DO(td_nested_tensor_values(entry, &values, &rows));
  TD_CHECK_SIZES(values, 42);
  TD_CHECK_SIZES(rows, 6, 2);
  td_free(entry);
  td_free(both);
  TD_FAILS(td_stack((const td_tensordict *const[]){td, copy}, 2, 0, &both), TD_ERR_UNSUPPORTED,
           "nested tensors cannot be stacked");
  td_free(copy);
  TD_DO(td_to(td, NULL, TD_DTYPE_FLOAT64, TD_DEVICE_NONE, -1, NULL, &copy));
  entry = take(copy, TD_KEY("r"));
  check_tensors(entry, TD_SIZES(3, 2), TD_VALUES(2, 3, 1, 3, 4, 3), ALL_VALUES);
  td_free(entry);
  TD_CHECK(!td_equals(td, copy));
  td_free(copy);
  TD_DO(td_lock(td));
  TD_DO(td_unlock(td));
}

TD_TEST(prints_as_nested_tensors_do) {
  td_tensordict *td = td_empty(TD_SIZES(3));
  char *text = NULL;
  td_put_dict(td, TD_KEY("r"), nested_tensor());
  text = td_printed(td);
  TD_CHECK_SAME_TEXT(
      text,
      "TensorDict(\n"
      "    fields={\n"
      "        r: Tensor(shape=torch.Size([3, -1, 3]), device=cpu, dtype=torch.float32, "
      "is_shared=False)},\n"
      "    batch_size=torch.Size([3]),\n"
      "    device=None,\n"
      "    is_shared=False)");
  free(text);
}

TD_TEST(padded_with_a_mask) {
  td_tensordict *entry = nested_tensor();
  td_padding_options options = TD_PADDING_OPTIONS_INIT;
  td_tensor *all = NULL, *mask = NULL;
  options.left = 1;
  options.value = -1;
  TD_DO(td_nested_tensor_to_padded(entry, NULL, &all, &mask));
  TD_CHECK_SIZES(all, 3, 4, 3);
  TD_CHECK_SIZES(mask, 3, 4);
  TD_CHECK_VALUES(mask, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1);
  TD_CHECK_VALUES(all, 0, 1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 10, 11, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                  20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
  TD_DO(td_nested_tensor_to_padded(entry, &options, &all, &mask));
  TD_CHECK_VALUES(mask, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1);
}

TD_TEST(lazy_stacks_become_nested_tensor_and_back) {
  td_tensordict *one = td_empty(TD_NO_SIZES), *two = td_empty(TD_NO_SIZES), *lazy = NULL,
                *td = NULL;
  td_tensordict *holder = NULL, *back = NULL, *entry = NULL;
  td_padding_options options = TD_PADDING_OPTIONS_INIT;
  td_put(one, TD_KEY("v"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  td_put(two, TD_KEY("v"), td_arange(TD_DTYPE_INT64, 5, TD_SIZES(3)));
  td_put(one, TD_KEY("n", "same"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  td_put(two, TD_KEY("n", "same"), td_arange(TD_DTYPE_INT64, 2, TD_SIZES(2)));
  TD_DO(td_lazy_stack((const td_tensordict *const[]){one, two}, 2, 0, &lazy));
  TD_FAILS(td_densify(lazy, &options, &td), TD_ERR_SHAPE, "differ in shape");
  options.pad = 2;
  TD_DO(td_densify(lazy, &options, &td));
  entry = take(td, TD_KEY("v"));
  check_tensors(entry, TD_SIZES(2, 1), TD_VALUES(2, 3), TD_VALUES(0, 1, 5, 6, 7));
  TD_CHECK_ENTRY(td, TD_KEY("n", "same"), TD_SIZES(2, 2), TD_VALUES(0, 1, 2, 3));
  TD_DO(td_to_lazy_stack(td, 0, &back));
  TD_DO(td_index(back, TD_AT(TD_I_INT(1)), &td));
  TD_CHECK_ENTRY(td, TD_KEY("v"), TD_SIZES(3), TD_VALUES(5, 6, 7));
  /* Below a dictionary, and nested entries themselves. */
  holder = td_empty(TD_SIZES(2));
  TD_DO(td_set_dict(holder, TD_KEY("lazy"), lazy));
  TD_DO(td_densify(holder, &options, &td));
  options.pad = 1;
  TD_DO(td_densify(td, &options, &back));
  TD_CHECK_ENTRY(back, TD_KEY("lazy", "v"), TD_SIZES(2, 3), TD_VALUES(0, 1, 0, 5, 6, 7));
}

TD_TEST(a_folder_keeps_it_byte_for_byte) {
  const char *dir = td_test_folder();
  const char *golden = td_golden("ragged"), *again = td_path(dir, "again");
  td_tensordict *td = NULL, *saved = NULL, *entry = NULL;
  td_tensor *values = NULL, *rows = NULL;
  TD_DO(td_memmap_load(golden, NULL, &td));
  entry = take(td, TD_KEY("r"));
  TD_DO(td_nested_tensor_values(entry, &values, &rows));
  TD_CHECK_SIZES(rows, 3, 2);
  TD_CHECK_VALUES(rows, 2, 3, 1, 3, 4, 3);
  TD_CHECK_SIZES(values, 21);
  td_free(entry);
  td_free(td);
  TD_DO(td_memmap_load(golden, NULL, &td));
  {
    td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
    options.copy_existing = 1;
    TD_DO(td_memmap(td, again, &options, &saved));
  }
  TD_CHECK_SAME_TREE(again, golden);
  td_free(saved);
  td_free(td);
  td = sample();
  TD_DO(td_memmap_inplace(td, td_path(dir, "own"), NULL));
  check_nested_tensor(td, TD_KEY("n", "r"));
  TD_DO(td_memmap(td, NULL, NULL, &saved)); /* as it lies there */
  td_free(td);
  TD_DO(td_memmap_load(td_path(dir, "own"), NULL, &td));
  check_nested_tensor(td, TD_KEY("n", "r"));
}

TD_TEST(names_that_would_meet_on_the_disk_are_refused) {
  const char *dir = td_path(td_test_folder(), "clash");
  td_tensordict *td = sample(), *saved = NULL;
  td_put(td, TD_KEY("r.shape"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(3)));
  TD_FAILS(td_memmap(td, dir, NULL, &saved), TD_ERR_KEY_INVALID, "called the same");
  TD_CHECK(saved == NULL);
  TD_CHECK(!td_exists(dir));
}

TD_TEST(one_file_keeps_it_in_jagged_form) {
  const char *path = td_path(td_test_folder(), "one");
  td_tensordict *td = sample(), *loaded = NULL, *uneven = NULL;
  td_tensor *one = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3));
  td_tensor *two = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(1, 2));
  td_tensor *three = td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(1, 1));
  size_t first = 0, second = 0;
  char *text = NULL, *again = NULL;
  TD_DO(td_consolidate(td, path, NULL, &loaded));
  check_nested_tensor(loaded, TD_KEY("n", "r"));
  TD_CHECK_FLAG(td_is_consolidated, loaded, 1);
  td_free(loaded);
  text = td_read_file(path, &first);
  TD_DO(td_consolidated_load(path, NULL, &loaded));
  check_nested_tensor(loaded, TD_KEY("r"));
  {
    td_tensordict *third = NULL;
    TD_DO(td_consolidate(loaded, td_path(td_test_folder(), "two"), NULL, &third));
  }
  again = td_read_file(td_path(td_test_folder(), "two"), &second);
  TD_CHECK_INT(first, second);
  TD_CHECK(memcmp(text, again, first) == 0);
  free(again);
  free(text);
  td_free(loaded);
  TD_DO(td_consolidate(td, NULL, NULL, &loaded));
  TD_CHECK_FLAG(td_is_consolidated, loaded, 1);
  check_nested_tensor(loaded, TD_KEY("n", "r"));
  td_free(loaded);
  TD_DO(td_share_memory(td));
  check_nested_tensor(td, TD_KEY("n", "r"));
  TD_DO(td_nested_tensor_from_tensors(PARTS(one, two, three), &uneven));
  td_free(td);
  td = td_empty(TD_NO_SIZES);
  td_put_dict(td, TD_KEY("r"), uneven);
  TD_FAILS(td_consolidate(td, path, NULL, &loaded), TD_ERR_UNSUPPORTED,
           "differ in more than their first dimension");
  TD_CHECK(loaded == NULL);
}

/* With gradients off td_zero() took them, with gradients on it did not. */
TD_TEST(its_values_are_filled_whether_gradients_are_recorded_or_not) {
  for (int32_t enabled = 0; enabled < 2; enabled++) {
    const int32_t before = td_set_grad_enabled(enabled);
    td_tensordict *td = sample(), *filled = NULL;
    const double zeros[21] = {0};
    double sevens[21];
    for (size_t i = 0; i < 21; i++) sevens[i] = 7;
    TD_DO(td_zero(td));
    filled = take(td, TD_KEY("n", "r"));
    check_tensors(filled, TD_SIZES(3, 2), TD_VALUES(2, 3, 1, 3, 4, 3), zeros, 21);
    td_free(filled);
    TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(3), TD_VALUES(0, 0, 0));
    TD_DO(td_fill(td, TD_KEY("r"), TD_BY(TD_O_DOUBLE(7))));
    filled = take(td, TD_KEY("r"));
    check_tensors(filled, TD_SIZES(3, 2), TD_VALUES(2, 3, 1, 3, 4, 3), sevens, 21);
    td_free(filled);
    TD_DO(td_fill(td, TD_KEY("n"), TD_BY(TD_O_DOUBLE(7))));
    filled = take(td, TD_KEY("n", "r"));
    check_tensors(filled, TD_SIZES(3, 2), TD_VALUES(2, 3, 1, 3, 4, 3), sevens, 21);
    td_free(filled);
    td_free(td);
    td_set_grad_enabled(before);
  }
}

TD_TEST(what_it_cannot_do_is_refused) {
  td_tensordict *td = sample(), *result = NULL;
  td_tensor *one = td_filled(TD_DTYPE_FLOAT32, 1, TD_NO_SIZES);
  td_tensor *mask = td_mask((const int64_t[]){1, 0, 1}, 3);
  TD_FAILS(td_unary(td, TD_UNARY_NEG, &result), TD_ERR_UNSUPPORTED, "nested tensor");
  TD_CHECK(result == NULL);
  TD_FAILS(td_masked_fill(td, mask, one, &result), TD_ERR_UNSUPPORTED, "nested tensor");
  TD_FAILS(td_zero_grad(td, TD_ZERO_GRAD_KEEP), TD_ERR_UNSUPPORTED, "nested tensor");
  TD_FAILS(td_fill_at(td, TD_AT(TD_I_INT(0)), one), TD_ERR_UNSUPPORTED, "nested tensor");
  check_nested_tensor(td, TD_KEY("r"));
  TD_CHECK_ENTRY(td, TD_KEY("x"), TD_SIZES(3), TD_VALUES(0, 1, 2));
}

/* A consolidated file of 64 bytes of float32 zeros, then these offsets and lengths, described by `leaves`. */
static void make_jagged(const char *leaves, const int64_t *numbers, size_t count) {
  char bytes[4096] = {0}, text[2048];
  const size_t data = 64 + count * 8;
  int64_t length = 0;
  snprintf(text, sizeof text,
           "{\"cls\":\"TensorDict\",\"non_tensors\":{},\"leaves\":{%s},\"cls_metadata\":{"
           "\"device\":null,"
           "\"names\":[null],\"batch_size\":[2],\"is_locked\":false}}",
           leaves);
  length = (int64_t)strlen(text);
  memcpy(bytes + 64, numbers, count * 8);
  memcpy(bytes + data, text, (size_t)length);
  memcpy(bytes + data + length, &length, 8);
  td_write_file(td_path(td_test_folder(), "j"), bytes, data + (size_t)length + 8);
}

#define JAGGED_VALUES "\"<NJT_VALUES>r\":[\"torch.float32\",[16],0,64,0]"
#define JAGGED_OFFSETS(dim) "\"<NJT_OFFSETS>r\":[\"torch.int64\",[3],64,88,0" dim "]"
#define JAGGED_LENGTHS "\"<NJT_LENGTHS>r\":[\"torch.int64\",[2],88,104,0]"

TD_TEST(jagged_forms_that_are_damaged_or_lie) {
  static const struct {
    const char *leaves;
    int64_t numbers[5];
    td_status want;
  } rows[] = {
      {JAGGED_VALUES "," JAGGED_OFFSETS(",1"), {0, 4, 16, 0, 0}, TD_OK},
      {JAGGED_VALUES "," JAGGED_OFFSETS(""), {0, 4, 16, 0, 0}, TD_OK},
      {JAGGED_VALUES "," JAGGED_LENGTHS "," JAGGED_OFFSETS(",1"), {0, 4, 16, 2, 3}, TD_OK},
      {JAGGED_VALUES "," JAGGED_OFFSETS(",1"), {0, 4, 17, 0, 0}, TD_ERR_FORMAT},
      {JAGGED_VALUES "," JAGGED_OFFSETS(",1"), {0, 4, 3, 0, 0}, TD_ERR_FORMAT},
      {JAGGED_VALUES "," JAGGED_OFFSETS(",1"), {-1, 4, 16, 0, 0}, TD_ERR_FORMAT},
      {JAGGED_VALUES "," JAGGED_OFFSETS(",1"), {INT64_MAX, INT64_MIN, 0, 0, 0}, TD_ERR_FORMAT},
      {JAGGED_VALUES "," JAGGED_OFFSETS(",0"), {0, 4, 16, 0, 0}, TD_ERR_FORMAT},
      {JAGGED_VALUES "," JAGGED_OFFSETS(",2"), {0, 4, 16, 0, 0}, TD_ERR_FORMAT},
      {JAGGED_VALUES "," JAGGED_LENGTHS "," JAGGED_OFFSETS(",1"), {0, 4, 16, 5, 12}, TD_ERR_FORMAT},
      {JAGGED_VALUES "," JAGGED_LENGTHS "," JAGGED_OFFSETS(",1"), {0, 4, 16, -1, 3}, TD_ERR_FORMAT},
      {JAGGED_VALUES "," JAGGED_LENGTHS "," JAGGED_OFFSETS(",1"), {0, 4, 16, 2, 13}, TD_ERR_FORMAT},
      {JAGGED_OFFSETS(",1"), {0, 4, 16, 0, 0}, TD_ERR_FORMAT},
      {JAGGED_LENGTHS, {0, 4, 16, 0, 0}, TD_ERR_FORMAT},
      {JAGGED_VALUES, {0, 4, 16, 0, 0}, TD_ERR_FORMAT},
      {JAGGED_VALUES "," JAGGED_VALUES, {0, 4, 16, 0, 0}, TD_ERR_FORMAT},
      {"\"<NJT_VALUES>q\":[\"torch.float32\",[16],0,64,0]," JAGGED_OFFSETS(",1"),
       {0, 4, 16, 0, 0},
       TD_ERR_FORMAT},
      {JAGGED_VALUES ",\"<NJT_OFFSETS>r\":[\"torch.float32\",[6],64,88,0,1]",
       {0, 4, 16, 0, 0},
       TD_ERR_FORMAT},
      {JAGGED_VALUES ",\"<NJT_OFFSETS>r\":[\"torch.int64\",[4],64,96,0,1]",
       {0, 4, 8, 16, 0},
       TD_ERR_FORMAT},
      {JAGGED_VALUES ",\"<NJT_OFFSETS>r\":[\"torch.int64\",[0],64,64,0,1]",
       {0, 0, 0, 0, 0},
       TD_ERR_FORMAT},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    td_tensordict *td = TD_POISON;
    make_jagged(rows[i].leaves, rows[i].numbers, 5);
    TD_EXPECT(td_consolidated_load(td_path(td_test_folder(), "j"), NULL, &td), rows[i].want);
    TD_CHECK((td == NULL) == (rows[i].want != TD_OK));
  }
}

/* A folder with this table of sizes for "r", and `bytes` of values. */
static void make_folder(const char *shape, const int64_t *table, size_t rows, size_t bytes) {
  static const char zeros[256] = {0};
  char text[512];
  if (!td_exists(td_path(td_test_folder(), "f"))) td_make_folder(td_path(td_test_folder(), "f"));
  snprintf(
      text, sizeof text,
      "{\"r\":{\"device\":\"cpu\",\"shape\":%s,\"dtype\":\"torch.float32\",\"is_nested\":true},"
      "\"shape\":[2],\"device\":\"cpu\",\"_type\":\"<class 'tensordict._td.TensorDict'>\"}",
      shape);
  td_write_text(td_path(td_test_folder(), "f/meta.json"), text);
  td_write_file(td_path(td_test_folder(), "f/r.shape.memmap"), table, rows * 8);
  td_write_file(td_path(td_test_folder(), "f/r.memmap"), zeros, bytes);
}

TD_TEST(folders_that_are_damaged_or_lie) {
  static const struct {
    const char *shape;
    int64_t table[4];
    size_t rows, bytes;
    td_status want;
  } rows[] = {
      {"[2,1]", {2, 3, 0, 0}, 2, 20, TD_OK},
      {"[2,1]", {2, 3, 0, 0}, 2, 24, TD_OK}, /* a tail is allowed */
      {"[2,1]", {2, 3, 0, 0}, 2, 16, TD_ERR_FORMAT},
      {"[2,1]", {2, 3, 0, 0}, 1, 20, TD_ERR_FORMAT},
      {"[2,1]", {-2, 3, 0, 0}, 2, 20, TD_ERR_FORMAT},
      {"[2,1]", {INT64_MAX, INT64_MAX, 0, 0}, 2, 20, TD_ERR_FORMAT},
      {"[2,2]", {INT64_MAX, 4, 1, 1}, 4, 20, TD_ERR_FORMAT},
      {"[3,1]", {1, 1, 1, 0}, 3, 12, TD_ERR_FORMAT}, /* the batch size is 2 */
      {"[2]", {2, 3, 0, 0}, 2, 20, TD_ERR_FORMAT},
      {"[1000000000000,0]", {0, 0, 0, 0}, 0, 20, TD_ERR_FORMAT},
      {"[2,4611686018427387904]", {0, 0, 0, 0}, 4, 20, TD_ERR_FORMAT},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    td_tensordict *td = TD_POISON;
    make_folder(rows[i].shape, rows[i].table, rows[i].rows, rows[i].bytes);
    TD_EXPECT(td_memmap_load(td_path(td_test_folder(), "f"), NULL, &td), rows[i].want);
    TD_CHECK((td == NULL) == (rows[i].want != TD_OK));
  }
}
