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

static void check_text(const td_module *module, const char *want) {
  char text[400];
  size_t length = 0;
  TD_DO(td_module_to_string(module, text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, want);
}

TD_TEST(what_follows_a_network_is_loaded_and_saved) {
  static const char *const text =
      "Sequential(ScriptModule(in_keys=[\"observation\"], out_keys=[\"params\"]), "
      "NormalParamExtractor(in_keys=[\"params\"], out_keys=[\"d\"/\"loc\", \"d\"/\"scale\"]), "
      "ProbabilisticModule(Normal, in_keys=[\"d\"/\"loc\", \"d\"/\"scale\"], "
      "out_keys=[\"action\", \"action_log_prob\"]))";
  td_module *module = NULL, *again = NULL;
  td_tensordict *td = NULL, *params = NULL, *one, *two, *probability = NULL;
  TD_DO(td_module_load(td_exported("normal.pt"), NULL, &module));
  check_text(module, text);
  TD_DO(td_module_params(module, &params)); /* as TensorDict.from_module() names them */
  td_tensor *weight = NULL;
  TD_DO(td_get(params, TD_KEY("module", "0", "module", "2", "weight"), &weight));
  td_tensor_free(weight);

  TD_DO(td_memmap_load(td_exported("normal_data"), NULL, &td));
  one = td_called(td, module);
  const char *file = td_path(td_test_folder(), "again.pt");
  TD_DO(td_module_save(module, file));
  TD_DO(td_module_load(file, NULL, &again));
  check_text(again, text);
  two = td_called(td, again);
  td_check_close(one, two);
  td_free(two);
  TD_DO(td_clone(td, 0, &two));
  TD_DO(td_module_call_inplace(two, again, NULL));
  TD_DO(td_module_log_prob(two, again, NULL, &probability));
  td_tensordict *want = NULL, *have = NULL;
  const td_key key = {TD_KEY("action_log_prob")};
  TD_DO(td_select(one, &key, 1, NULL, &want));
  TD_DO(td_select(probability, &key, 1, NULL, &have));
  td_check_close(want, have);
}

TD_TEST(a_followed_network_takes_options_and_parameters) {
  td_module_load_options options = TD_MODULE_LOAD_OPTIONS_INIT;
  td_module *module = NULL;
  td_tensordict *td = NULL, *params = NULL, *result;
  options.flags = TD_MODULE_LOAD_FREEZE;
  options.dtype = TD_DTYPE_FLOAT64;
  TD_DO(td_module_load(td_exported("one_hot.pt"), &options, &module));
  TD_DO(td_module_params(module, &params));
  TD_EXPECT(td_module_set_params(module, NULL, params), TD_OK); /* none, and none are wanted */
  td_free(params);
  td_module_free(module);
  options.flags = 0;
  options.dtype = TD_DTYPE_OTHER;
  const td_key key = {TD_KEY("elsewhere")};
  options.out_keys = &key;
  options.out_keys_len = 1;
  TD_DO(td_module_load(td_exported("one_hot.pt"), &options, &module));
  TD_DO(td_memmap_load(td_exported("one_hot_data"), NULL, &td));
  result = NULL;
  TD_EXPECT_NULL(td_module_call(td, module, NULL, &result), TD_ERR_KEY_NOT_FOUND, result);
  TD_CHECK_TEXT(td_last_error_message(), "scores");
}

/* tests/golden2 compares the statistics with those of Python. */
TD_TEST(an_archive_trains_if_it_can) {
  td_module_load_options options = TD_MODULE_LOAD_OPTIONS_INIT;
  td_module *module = NULL;
  td_tensordict *result = NULL, *td = td_observations(2), *deep = NULL;
  options.flags = TD_MODULE_LOAD_TRAIN;
  refused(td_archive_of("mlp.pt"), &options, TD_ERR_UNSUPPORTED,
          "the archive has no training mode; export it with train=True");
  TD_DO(td_module_load(td_golden("../trained/in_training.pt"), &options, &module));
  td_free(td_called(td, module));
  TD_DO(td_reshape(td, TD_SIZES(1, 2), &deep));
  TD_EXPECT_NULL(td_module_call(deep, module, NULL, &result), TD_ERR_SHAPE, result);
  TD_CHECK_TEXT(td_last_error_message(), "2 batch dimensions; the module was exported for 1");
  options.flags |= TD_MODULE_LOAD_FREEZE;
  refused(td_golden("../trained/in_training.pt"), &options, TD_ERR_INVALID_ARGUMENT,
          "a module that trains cannot be frozen");
  /* What is saved can train again, and otherwise takes other batches as before. */
  const char *file = td_path(td_test_folder(), "again.pt");
  TD_DO(td_module_save(module, file));
  td_module_free(module);
  options.flags = TD_MODULE_LOAD_TRAIN;
  TD_DO(td_module_load(file, &options, &module));
  td_module_free(module);
  TD_DO(td_module_load(file, NULL, &module));
  td_free(td_called(deep, module));
}
