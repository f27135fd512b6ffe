/* Folders of lazy stacks, of values for each element, and of classes that only Python has. */
#include <stdio.h>
#include <string.h>

#include "td_files.h"
#include "td_values.h"

#define LIST(...)                                \
  ((const td_tensordict *const[]){__VA_ARGS__}), \
      sizeof((const td_tensordict *const[]){__VA_ARGS__}) / sizeof(void *)

static td_tensordict *load(const char *dir) {
  td_tensordict *td = NULL;
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.private_mapping = 1;
  TD_DO(td_memmap_load(dir, &options, &td));
  return td;
}

static void check_kind(const td_tensordict *td, td_dict_kind want) {
  td_dict_kind kind = 0;
  TD_DO(td_kind(td, &kind));
  TD_CHECK_INT(kind, want);
}

static void check_json(const td_tensordict *td, const char *key, const char *want) {
  char text[128];
  size_t length = 0;
  TD_DO(td_get_non_tensor_json(td, TD_KEY(key), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, want);
}

static const char *folder(const char *name) {
  static char path[2][4096];
  static int turn;
  turn = !turn;
  snprintf(path[turn], sizeof path[turn], "%s/%s", td_test_folder(), name);
  return path[turn];
}

TD_TEST(lazy_stacks_of_python) {
  td_tensordict *td = load(td_golden("lazy_hetero")), *one = NULL;
  int64_t dim = -1;
  size_t elements = 0;
  check_kind(td, TD_DICT_LAZY_STACK);
  TD_DO(td_lazy_info(td, &dim, &elements));
  TD_CHECK_INT(elements, 3);
  TD_CHECK_BATCH(td, 3);
  TD_DO(td_index(td, TD_AT(TD_I_INT(2)), &one));
  td_tensor *tensor = td_take(one, TD_KEY("only2"));
  TD_CHECK_SIZES(tensor, 1);
  td_tensor_free(tensor);
  td_free(one);
  td_free(td);
  td = load(td_golden("lazy_nested"));
  one = td_take_dict(td, TD_KEY("lazy"));
  check_kind(one, TD_DICT_LAZY_STACK);
}

TD_TEST(values_for_each_element_of_python) {
  td_tensordict *td = load(td_golden("nontensor_stack")), *part = NULL;
  check_json(td, "names", "[\"n0\", \"n1\", \"n2\"]");
  TD_DO(td_index(td, TD_AT(TD_I_INT(1)), &part));
  check_json(part, "names", "\"n1\"");
}

TD_TEST(classes_of_python_are_dictionaries) {
  td_tensordict *td = load(td_golden("tensorclass"));
  td_tensor *image = td_take(td, TD_KEY("s", "image"));
  TD_CHECK_SIZES(image, 4, 3, 8, 8);
}

TD_TEST(there_and_back) {
  td_tensordict *one = td_empty(TD_SIZES(2)), *two = td_empty(TD_SIZES(2)), *lazy = NULL;
  td_tensordict *td = td_empty(TD_NO_SIZES), *saved = NULL, *back = NULL;
  td_put(one, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3)));
  td_put(two, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 9, TD_SIZES(2, 1)));
  td_put(two, TD_KEY("own"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(2)));
  TD_DO(td_set_non_tensor_stack_json(two, TD_KEY("names"), "[\"a\", [1, 2]]"));
  TD_DO(td_lazy_stack(LIST(one, two), 0, &lazy));
  TD_DO(td_set_dict(td, TD_KEY("lazy"), lazy));
  TD_DO(td_memmap(td, folder("there"), NULL, &saved));
  back = load(folder("there"));
  TD_CHECK_EQUAL(saved, back);
  TD_CHECK_EQUAL(td, back);
  td_free(back);
  td_free(saved);
  TD_DO(td_memmap(lazy, folder("root"), NULL, &saved)); /* a lazy stack by itself */
  check_kind(saved, TD_DICT_LAZY_STACK);
  TD_CHECK_FLAG(td_is_locked, saved, 1);
  back = load(folder("root"));
  TD_CHECK_EQUAL(lazy, back);
  td_free(back);
  td_free(saved);
  td_free(lazy);
  TD_DO(td_lazy_stack(LIST(one), 0, &lazy)); /* a shorter one over it */
  TD_DO(td_memmap(lazy, folder("root"), NULL, &saved));
  back = load(folder("root"));
  TD_CHECK_BATCH(back, 1, 2);
  td_free(back);
  td_free(saved);
  TD_DO(td_memmap_inplace(td, folder("inplace"), NULL));
  back = load(folder("inplace"));
  TD_CHECK_EQUAL(td, back);
}

static void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  TD_CHECK(file != NULL);
  TD_CHECK(fwrite(text, 1, strlen(text), file) == strlen(text));
  TD_CHECK(fclose(file) == 0);
}

TD_TEST(what_is_damaged) {
  td_tensordict *td = td_empty(TD_NO_SIZES), *lazy = NULL, *saved = NULL, *back = NULL;
  char path[4200];
  td_put(td, TD_KEY("x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(3)));
  TD_DO(td_lazy_stack(LIST(td, td, td), 0, &lazy));
  TD_DO(td_memmap(lazy, folder("gap"), NULL, &saved));
  td_free(saved);
  snprintf(path, sizeof path, "%s/1", folder("gap"));
  char moved[4200];
  snprintf(moved, sizeof moved, "%s/7", folder("gap"));
  TD_CHECK(rename(path, moved) == 0);
  TD_EXPECT_NULL(td_memmap_load(folder("gap"), NULL, &back), TD_ERR_FORMAT, back);
  TD_CHECK_TEXT(td_last_error_message(), "element 1 of the lazy stack is missing");
  TD_CHECK(rename(moved, path) == 0);
  const char *const wrong[] = {
      "{\"_type\":\"<class 'tensordict._lazy.LazyStackedTensorDict'>\"}",
      "{\"_type\":\"<class 'tensordict._lazy.LazyStackedTensorDict'>\",\"stack_dim\":-1}",
      "{\"_type\":\"<class 'tensordict._lazy.LazyStackedTensorDict'>\",\"stack_dim\":\"0\"}",
      "{\"_type\":\"<class 'tensordict._lazy.LazyStackedTensorDict'>\",\"stack_dim\":[0]}",
      "{\"_type\":\"<class 'tensordict._lazy.LazyStackedTensorDict'>\",\"stack_dim\":5}"};
  snprintf(path, sizeof path, "%s/meta.json", folder("gap"));
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    write_text(path, wrong[i]);
    TD_EXPECT_NULL(td_memmap_load(folder("gap"), NULL, &back), TD_ERR_FORMAT, back);
  }
  td_free(lazy);
  td_free(td);
  td = td_empty(TD_SIZES(2));
  TD_DO(td_set_non_tensor_stack_json(td, TD_KEY("v"), "[1, 2]"));
  TD_DO(td_memmap(td, folder("values"), NULL, &saved));
  td_free(saved);
  snprintf(path, sizeof path, "%s/v/meta.json", folder("values"));
  write_text(path,
             "{\"_type\":\"<class "
             "'tensordict.tensorclass.NonTensorStack'>\",\"stack_dim\":0,\"data\":[1]}");
  TD_EXPECT_NULL(td_memmap_load(folder("values"), NULL, &back), TD_ERR_FORMAT, back);
  write_text(path,
             "{\"_type\":\"<class "
             "'tensordict.tensorclass.NonTensorStack'>\",\"stack_dim\":0,\"data\":\"pickle.pkl\"}");
  TD_EXPECT_NULL(td_memmap_load(folder("values"), NULL, &back), TD_ERR_UNSUPPORTED, back);
  write_text(path, "{\"_type\":\"<class 'nobody.Knows'>\"}");
  TD_EXPECT_NULL(td_memmap_load(folder("values"), NULL, &back), TD_ERR_UNSUPPORTED, back);
}
