/* Batches of other sizes and numbers of dimensions than a module was exported for. tests/golden2 compares the values;
 * tests/python/export_all.py made the files. */
#include "td_modules.h"

static const char *batch_file(const char *name) {
  static char path[96];
  snprintf(path, sizeof path, "../batches/%s", name);
  return td_golden(path);
}

static td_module *loaded(const char *name) {
  td_module *module = NULL;
  TD_DO(td_module_load(batch_file(name), NULL, &module));
  return module;
}

static td_tensordict *with_observation(td_dtype dtype, const int64_t *batch, size_t dims,
                                       int64_t width) {
  int64_t sizes[8];
  td_tensordict *td = NULL;
  td_tensor *values;
  for (size_t i = 0; i < dims; i++) sizes[i] = batch[i];
  sizes[dims] = width;
  TD_DO(td_create(batch, dims, TD_DEVICE_NONE, -1, &td));
  TD_DO(td_tensor_zeros(sizes, dims + 1, dtype, TD_DEVICE_NONE, -1, &values));
  TD_DO(td_set(td, TD_KEY("observation"), values));
  td_tensor_free(values);
  return td;
}

static void check_action(const td_tensordict *td, const int64_t *sizes, size_t dims) {
  td_tensor *action = td_take(td, TD_KEY("action"));
  td_check_sizes(__FILE__, __LINE__, action, sizes, dims);
}

static void refused(const td_module *module, td_tensordict *td, td_status status,
                    const char *text) {
  td_tensordict *result = NULL;
  TD_EXPECT_NULL(td_module_call(td, module, NULL, &result), status, result);
  TD_CHECK_TEXT(td_last_error_message(), text);
  TD_EXPECT(td_module_call_inplace(td, module, NULL), status);
  td_keys *keys = NULL;
  TD_DO(td_keys_of(td, NULL, &keys));
  TD_CHECK_INT(td_keys_len(keys), 1); /* nothing was written */
  td_keys_free(keys);
  td_free(td);
}

TD_TEST(another_number_of_batch_dimensions_is_refused_where_it_is_not_exact) {
  td_module *module = loaded("across_the_batch.pt");
  refused(module, with_observation(TD_DTYPE_FLOAT32, TD_SIZES(3, 2), 4), TD_ERR_SHAPE,
          "the input \"observation\" has 2 batch dimensions; the module was exported for 1");
  td_tensordict *td = with_observation(TD_DTYPE_FLOAT32, TD_SIZES(3), 4);
  td_free(td_called(td, module));
  /* Its code would take another dtype, but the exporter has tried this one. */
  refused(module, with_observation(TD_DTYPE_FLOAT64, TD_SIZES(3), 4), TD_ERR_DTYPE,
          "the input \"observation\" is torch.float64 [3, 4]; the module was exported for "
          "torch.float32");
  /* What is saved keeps the record. */
  const char *file = td_path(td_test_folder(), "again.pt");
  TD_DO(td_module_save(module, file));
  td_module_free(module);
  TD_DO(td_module_load(file, NULL, &module));
  refused(module, with_observation(TD_DTYPE_FLOAT32, TD_SIZES(3, 2), 4), TD_ERR_SHAPE,
          "exported for 1");
}

TD_TEST(a_flattened_batch_is_restored) {
  td_module *module = loaded("one_step.pt");
  td_tensordict *td = with_observation(TD_DTYPE_FLOAT32, TD_SIZES(3, 2), 4), *result;
  td_tensordict *deep = with_observation(TD_DTYPE_FLOAT32, TD_SIZES(2, 1, 3, 1, 2), 4);
  result = td_called(td, module);
  TD_CHECK_BATCH(result, 3, 2);
  check_action(result, TD_SIZES(3, 2, 3));
  td_free(result);
  result = td_called(deep, module);
  check_action(result, TD_SIZES(2, 1, 3, 1, 2, 3));
  td_free(result);
  TD_DO(td_module_call_inplace(td, module, NULL));
  check_action(td, TD_SIZES(3, 2, 3));
}

TD_TEST(an_ensemble_adds_its_copies_in_front) {
  td_module *module = loaded("ensemble.pt");
  td_tensordict *td = with_observation(TD_DTYPE_FLOAT32, TD_SIZES(3, 2), 4);
  td_tensordict *result = td_called(td, module);
  TD_CHECK_BATCH(result, 3, 3, 2);
  check_action(result, TD_SIZES(3, 3, 2, 2));
  TD_EXPECT(td_module_call_inplace(td, module, NULL), TD_ERR_SHAPE); /* [3, 2] holds no [3, 3, 2] */
}

TD_TEST(what_does_not_fit_is_named_before_the_network_runs) {
  td_module *module = loaded("one_step.pt");
  refused(module, with_observation(TD_DTYPE_FLOAT32, TD_SIZES(2), 5), TD_ERR_SHAPE,
          "the input \"observation\" is torch.float32 [2, 5]; the module was exported for "
          "torch.float32 [-1, 4]");
  refused(module, with_observation(TD_DTYPE_FLOAT64, TD_SIZES(2), 4), TD_ERR_DTYPE,
          "the input \"observation\" is torch.float64 [2, 4]; the module was exported for "
          "torch.float32 [-1, 4]");
  module = loaded("cell.pt");
  td_tensordict *td = with_observation(TD_DTYPE_FLOAT32, TD_NO_SIZES, 4), *result = NULL;
  td_put(td, TD_KEY("h"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3)));
  td_put(td, TD_KEY("c"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(2, 3)));
  TD_EXPECT_NULL(td_module_call(td, module, NULL, &result), TD_ERR_SHAPE, result);
  TD_CHECK_TEXT(td_last_error_message(),
                "the inputs have different batch sizes: \"observation\" has [], \"h\" has [2]");
}

/* An archive of another program has no record: libtorch says what fails, with the inputs. */
TD_TEST(without_a_record_nothing_crashes) {
  td_module *module = loaded("one_step_bare.pt");
  td_tensordict *td = with_observation(TD_DTYPE_FLOAT32, TD_SIZES(3), 4);
  td_free(td_called(td, module));
  refused(module, with_observation(TD_DTYPE_FLOAT32, TD_SIZES(3, 5), 4), TD_ERR_TORCH,
          "a recurrent layer takes 3 dimensions, its input has 4; its inputs are "
          "\"observation\": torch.float32 [3, 5, 4]");
  refused(module, with_observation(TD_DTYPE_FLOAT32, TD_SIZES(3), 7), TD_ERR_TORCH,
          "a recurrent layer takes 4 values, its input has 7");
}
