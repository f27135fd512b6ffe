/* The golden folders: values by hash, batch sizes, non-tensor values, and the way back to
 * the same bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "td_files.h"
#include "td_sha256.h"
#include "td_values.h"

#include "golden_table.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Folders of dictionaries and tensors only, and those with non-tensor values besides. */
static const char *const dense[] = {
    "basic", "dtypes", "keys", "empties", "batchless", "zero_batch", "longer_nested_batch",
    "views", "dataset"};
static const char *const mixed[] = {"nontensor", "digits", "nontensor_stack"};
/* Lazy stacks, by themselves and inside. */
static const char *const lazy[] = {"lazy_same", "lazy_nested", "lazy_hetero"};

/* The golden files must stay as they are. */
static td_tensordict *load(const char *folder) {
  td_tensordict *td = NULL;
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.private_mapping = 1;
  TD_DO(td_memmap_load(td_golden(folder), &options, &td));
  return td;
}

static void check_leaf(const td_tensordict *td, const golden_leaf *leaf) {
  td_tensor *tensor = td_take(td, leaf->path, leaf->path_len);
  td_dtype dtype = TD_DTYPE_OTHER;
  size_t bytes = 0;
  char digits[65];
  TD_DO(td_tensor_dtype(tensor, &dtype));
  TD_CHECK_INT(dtype, leaf->dtype);
  td_check_sizes(__FILE__, __LINE__, tensor, leaf->sizes, leaf->dims);
  TD_DO(td_tensor_nbytes(tensor, &bytes));
  void *data = malloc(bytes + 1);
  TD_CHECK(data != NULL);
  TD_DO(td_tensor_copy_to(tensor, data, bytes));
  td_sha256(data, bytes, digits);
  if (strcmp(digits, leaf->sha256) != 0)
    td_test_fail(__FILE__, __LINE__, "%s: \"%s\" has other values", leaf->folder,
                 leaf->path[leaf->path_len - 1]);
  free(data);
}

/* How many leaves of the table belong to a folder, all of them checked. */
static size_t check_leaves(const td_tensordict *td, const char *folder) {
  size_t count = 0;
  for (size_t i = 0; i < LENGTH(golden_leaves); i++) {
    if (strcmp(golden_leaves[i].folder, folder) != 0) continue;
    check_leaf(td, &golden_leaves[i]);
    count++;
  }
  return count;
}

static void check_nodes(const td_tensordict *td, const char *folder) {
  for (size_t i = 0; i < LENGTH(golden_nodes); i++) {
    const golden_node *node = &golden_nodes[i];
    if (strcmp(node->folder, folder) != 0 || strcmp(node->kind, "TensorDict") != 0) continue;
    if (node->path_len == 0) {
      td_check_batch(__FILE__, __LINE__, td, node->batch, node->dims);
      continue;
    }
    td_tensordict *entry = td_take_dict(td, node->path, node->path_len);
    td_check_batch(__FILE__, __LINE__, entry, node->batch, node->dims);
    td_free(entry);
  }
}

static size_t count_leaves(const td_tensordict *td) {
  td_keys_options options = TD_KEYS_OPTIONS_INIT;
  td_keys *keys = NULL;
  options.include_nested = options.leaves_only = 1;
  TD_DO(td_keys_of(td, &options, &keys));
  const size_t count = td_keys_len(keys);
  return count;
}

static void check_folder(const char *folder) {
  td_tensordict *td = load(folder);
  TD_CHECK_FLAG(td_is_locked, td, 0);
  TD_CHECK_FLAG(td_is_memmap, td, 0);
  check_nodes(td, folder);
  TD_CHECK_INT(check_leaves(td, folder), count_leaves(td));
}

TD_TEST(dense_folders_have_their_values) {
  for (size_t i = 0; i < LENGTH(dense); i++) check_folder(dense[i]);
}

TD_TEST(folders_with_other_values_have_their_tensors) {
  for (size_t i = 0; i < LENGTH(mixed); i++) check_folder(mixed[i]);
}

TD_TEST(other_values_are_given_as_json) {
  for (size_t i = 0; i < LENGTH(golden_values); i++) {
    const golden_data *value = &golden_values[i];
    if (strcmp(value->folder, "nontensor") != 0 && strcmp(value->folder, "digits") != 0) continue;
    td_tensordict *td = load(value->folder);
    td_entry_kind kind = 99;
    char text[256] = "";
    size_t length = 0;
    TD_DO(td_get_kind(td, value->path, value->path_len, &kind));
    TD_CHECK_INT(kind, TD_ENTRY_NON_TENSOR);
    TD_DO(td_get_non_tensor_json(td, value->path, value->path_len, text, sizeof text, &length));
    TD_CHECK_SAME_TEXT(text, value->json);
    TD_EXPECT(td_get_non_tensor_json(td, value->path, value->path_len, text, length, &length),
              TD_ERR_BUFFER_TOO_SMALL);
    td_tensor *tensor;
    TD_EXPECT_NULL(td_get(td, value->path, value->path_len, &tensor), TD_ERR_WRONG_ENTRY, tensor);
    td_free(td);
  }
}

TD_TEST(saving_gives_the_same_bytes_again) {
  for (size_t i = 0; i < LENGTH(dense); i++) {
    td_tensordict *td = load(dense[i]), *saved = NULL;
    const char *folder = td_path(td_test_folder(), dense[i]);
    td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
    options.copy_existing = 1; /* the tensors are mapped from the golden folder */
    TD_DO(td_memmap(td, folder, &options, &saved));
    TD_CHECK_SAME_TREE(td_path(td_test_folder(), dense[i]), td_golden(dense[i]));
    td_free(saved);
    td_free(td);
  }
}

TD_TEST(saving_keeps_values_that_are_no_tensors) {
  for (size_t i = 0; i < LENGTH(mixed); i++) {
    td_tensordict *td = load(mixed[i]), *saved = NULL;
    td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
    options.copy_existing = 1;
    TD_DO(td_memmap(td, td_path(td_test_folder(), mixed[i]), &options, &saved));
    td_free(saved);
    TD_CHECK_SAME_TREE(td_path(td_test_folder(), mixed[i]), td_golden(mixed[i]));
    td_free(td);
  }
}

TD_TEST(saving_keeps_lazy_stacks) {
  for (size_t i = 0; i < LENGTH(lazy); i++) {
    td_tensordict *td = load(lazy[i]), *saved = NULL;
    td_memmap_options options = TD_MEMMAP_OPTIONS_INIT;
    options.copy_existing = 1;
    TD_DO(td_memmap(td, td_path(td_test_folder(), lazy[i]), &options, &saved));
    td_free(saved);
    TD_CHECK_SAME_TREE(td_path(td_test_folder(), lazy[i]), td_golden(lazy[i]));
    td_free(td);
  }
}

TD_TEST(a_clone_saves_as_the_original_does) {
  for (size_t i = 0; i < LENGTH(dense); i++) {
    td_tensordict *td = load(dense[i]), *clone = NULL;
    TD_DO(td_clone(td, 0, &clone));
    TD_DO(td_memmap_inplace(clone, td_path(td_test_folder(), dense[i]), NULL));
    TD_CHECK_SAME_TREE(td_path(td_test_folder(), dense[i]), td_golden(dense[i]));
    td_free(clone);
    td_free(td);
  }
}

TD_TEST(a_nested_folder_can_be_loaded_alone) {
  td_tensordict *td = load("basic/b");
  TD_CHECK_BATCH(td, 4);
  TD_CHECK_ENTRY(td, TD_KEY("c"), TD_SIZES(4), TD_VALUES(12824, 7841, 17269, 20969));
}

TD_TEST(wide_unsigned_numbers_need_a_newer_torch) {
  int major = 0, minor = 0;
  sscanf(td_torch_version(), "%d.%d", &major, &minor);
  if (major > 2 || (major == 2 && minor >= 3)) {
    check_folder("wide_unsigned");
    return;
  }
  td_tensordict *td;
  TD_EXPECT_NULL(td_memmap_load(td_golden("wide_unsigned"), NULL, &td), TD_ERR_DTYPE, td);
  TD_CHECK_TEXT(td_last_error_message(), "uint16");
}

TD_TEST(archives) {
  static const char *const archives[] = {"archive_stored.tdz", "archive_deflate.tdz"};
  for (size_t i = 0; i < LENGTH(archives); i++) {
    td_tensordict *td = load(archives[i]);
    TD_CHECK_INT(check_leaves(td, archives[i]), 3);
    td_free(td);
  }
}

TD_TEST(files_that_are_no_folders) {
  td_tensordict *td;
  TD_EXPECT_NULL(td_memmap_load(td_golden("consolidated"), NULL, &td), TD_ERR_FORMAT, td);
}

TD_TEST(loading_to_meta_opens_no_values) {
  td_tensordict *td = NULL;
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  td_device_type device = 99;
  int32_t device_index = 99;
  options.device_type = TD_DEVICE_META;
  TD_DO(td_memmap_load(td_golden("basic"), &options, &td));
  TD_DO(td_device(td, &device, &device_index));
  TD_CHECK_INT(device, TD_DEVICE_META);
  td_tensor *e = td_take(td, TD_KEY("b", "d", "e"));
  TD_CHECK_SIZES(e, 4, 2, 2);
  TD_DO(td_tensor_device(e, &device, &device_index));
  TD_CHECK_INT(device, TD_DEVICE_META);
}

TD_TEST(digits_count_to_1797) {
  td_tensordict *td = load("digits"), *batch = NULL;
  static const int counts[10] = {178, 182, 177, 183, 181, 182, 181, 179, 174, 180};
  int64_t labels[1797];
  int seen[10] = {0};
  td_tensor *label = td_take(td, TD_KEY("label"));
  TD_DO(td_tensor_copy_to(label, labels, sizeof labels));
  for (size_t i = 0; i < 1797; i++) seen[labels[i]]++;
  for (int digit = 0; digit < 10; digit++) TD_CHECK_INT(seen[digit], counts[digit]);
  td_tensor *some = td_positions((const int64_t[]){1796, 0, 17}, 3);
  TD_DO(td_index(td, TD_AT(TD_I_TENSOR(some)), &batch));
  TD_CHECK_BATCH(batch, 3);
  TD_CHECK_ENTRY(batch, TD_KEY("label"), TD_SIZES(3),
                 TD_VALUES((double)labels[1796], (double)labels[0], (double)labels[17]));
  char text[64];
  size_t length = 0;
  TD_DO(td_get_non_tensor_json(batch, TD_KEY("source"), text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, "\"UCI optical digits\"");
}
