/* Files that are no modules, or not the ones that were meant. */
#include <stdlib.h>
#include <string.h>

#include "td_modules.h"
#include "td_random.h"
#include "td_sha256.h"

static void refused(const char *file, const td_module_load_options *options, td_status status,
                    const char *text) {
  td_module *module = NULL;
  TD_EXPECT_NULL(td_module_load(file, options, &module), status, module);
  TD_CHECK_TEXT(td_last_error_message(), text);
}

TD_TEST(no_file_and_no_archive) {
  const char *file = td_path(td_test_folder(), "a.pt");
  refused(file, NULL, TD_ERR_IO, "a.pt");
  refused(td_test_folder(), NULL, TD_ERR_IO, "");
  td_write_text(file, "");
  refused(file, NULL, TD_ERR_FORMAT, "a.pt");
  td_write_text(file,
                "this is no zip archive, however long it may be, and it has no directory at all");
  refused(file, NULL, TD_ERR_FORMAT, "a.pt");
  refused(td_golden("basic/meta.json"), NULL, TD_ERR_FORMAT, "meta.json");
}

TD_TEST(an_archive_of_something_else) {
  /* Tensors alone, as torch.save writes them, have no code. */
  td_tensordict *td = td_sample();
  const char *file = td_path(td_test_folder(), "a.npz");
  TD_DO(td_file_save(td, file, NULL));
  refused(file, NULL, TD_ERR_FORMAT, "no TorchScript archive");
  td_free(td);
}

TD_TEST(a_truncated_archive_at_every_length) {
  size_t size = 0;
  char *bytes = td_read_file(td_archive_of("sequence.pt"), &size);
  const char *file = td_path(td_test_folder(), "cut.pt");
  for (size_t n = 0; n < size; n += n < 64 || n + 64 > size ? 1 : 997) {
    td_module *module = NULL;
    td_write_file(file, bytes, n);
    TD_EXPECT_NULL(td_module_load(file, NULL, &module), TD_ERR_FORMAT, module);
  }
  free(bytes);
}

TD_TEST(a_damaged_archive) {
  size_t size = 0;
  char *bytes = td_read_file(td_archive_of("sequence.pt"), &size);
  const char *file = td_path(td_test_folder(), "damaged.pt");
  td_random random = td_random_begin();
  for (int round = 0; round < 300; round++) {
    const size_t at = (size_t)td_random_between(&random, 0, (int64_t)size - 1);
    const char before = bytes[at];
    td_module *module = NULL;
    bytes[at] = (char)(before ^ (1 << td_random_between(&random, 0, 7)));
    td_write_file(file, bytes, size);
    /* A bit in a part that no checksum covers may not matter. */
    if (td_module_load(file, NULL, &module) == TD_OK) td_module_free(module);
    TD_CHECK(td_last_error_code() != TD_ERR_INTERNAL);
    bytes[at] = before;
  }
  free(bytes);
}

TD_TEST(a_file_is_pinned_by_its_checksum) {
  td_module_load_options options = TD_MODULE_LOAD_OPTIONS_INIT;
  size_t size = 0;
  char digits[65];
  char *bytes = td_read_file(td_archive_of("mlp.pt"), &size);
  td_module *module = NULL;
  td_sha256(bytes, size, digits);
  options.sha256 = digits;
  TD_DO(td_module_load(td_archive_of("mlp.pt"), &options, &module));
  td_module_free(module);
  refused(td_archive_of("vision.pt"), &options, TD_ERR_FORMAT, "SHA-256");
  digits[0] = digits[0] == '0' ? '1' : '0';
  refused(td_archive_of("mlp.pt"), &options, TD_ERR_FORMAT, "SHA-256");
  options.sha256 = "abc";
  refused(td_archive_of("mlp.pt"), &options, TD_ERR_INVALID_ARGUMENT, "64 hexadecimal digits");
  free(bytes);
}

TD_TEST(wrong_options) {
  td_module_load_options options = TD_MODULE_LOAD_OPTIONS_INIT;
  options.flags = 64;
  refused(td_archive_of("mlp.pt"), &options, TD_ERR_INVALID_ARGUMENT, "flags");
  options.flags = 0;
  options.reserved = 1;
  refused(td_archive_of("mlp.pt"), &options, TD_ERR_INVALID_ARGUMENT, "reserved");
  options.reserved = 0;
  options.in_keys_len = 1;
  refused(td_archive_of("mlp.pt"), &options, TD_ERR_NULL_ARGUMENT, "in_keys");
  const td_key empty[] = {{NULL, 0}};
  options.in_keys = empty;
  refused(td_archive_of("mlp.pt"), &options, TD_ERR_NULL_ARGUMENT, "path");
  options.in_keys = NULL;
  options.in_keys_len = 0;
  options.device_type = TD_DEVICE_CUDA;
  td_module *module = NULL;
  if (td_module_load(td_archive_of("mlp.pt"), &options, &module) == TD_OK) {
    td_module_free(module); /* a machine with such a device */
  } else {
    TD_CHECK(module == NULL);
  }
}
