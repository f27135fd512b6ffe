/* The printed form, to the letter. */
#include <stdlib.h>
#include <string.h>

#include "td_files.h"
#include "td_values.h"

static void check_printed(const td_tensordict *td, const char *want) {
  char *text = td_printed(td);
  TD_CHECK_SAME_TEXT(text, want);
  free(text);
}

TD_TEST(nested) {
  td_tensordict *td = td_empty(TD_SIZES(10));
  td_put(td, TD_KEY("b", "c"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(10, 2)));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(10, 3)));
  check_printed(
      td,
      "TensorDict(\n"
      "    fields={\n"
      "        a: Tensor(shape=torch.Size([10, 3]), device=cpu, dtype=torch.float32, "
      "is_shared=False),\n"
      "        b: TensorDict(\n"
      "            fields={\n"
      "                c: Tensor(shape=torch.Size([10, 2]), device=cpu, dtype=torch.float32, "
      "is_shared=False)},\n"
      "            batch_size=torch.Size([10]),\n"
      "            device=None,\n"
      "            is_shared=False)},\n"
      "    batch_size=torch.Size([10]),\n"
      "    device=None,\n"
      "    is_shared=False)");
}

TD_TEST(without_fields) {
  td_tensordict *td = NULL;
  TD_DO(td_create(TD_NO_SIZES, TD_DEVICE_CPU, -1, &td));
  check_printed(td,
                "TensorDict(\n"
                "    fields={\n"
                "    },\n"
                "    batch_size=torch.Size([]),\n"
                "    device=cpu,\n"
                "    is_shared=False)");
  td_put_dict(td, TD_KEY("n"), td_empty(TD_NO_SIZES));
  check_printed(td,
                "TensorDict(\n"
                "    fields={\n"
                "        n: TensorDict(\n"
                "            fields={\n"
                "            },\n"
                "            batch_size=torch.Size([]),\n"
                "            device=cpu,\n"
                "            is_shared=False)},\n"
                "    batch_size=torch.Size([]),\n"
                "    device=cpu,\n"
                "    is_shared=False)");
}

TD_TEST(fields_are_sorted_by_their_line) {
  td_tensordict *td = td_empty(TD_NO_SIZES);
  td_put(td, TD_KEY("B"), td_arange(TD_DTYPE_BOOL, 0, TD_NO_SIZES));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_NO_SIZES));
  td_put(td, TD_KEY("a b"), td_arange(TD_DTYPE_UINT8, 0, TD_NO_SIZES));
  td_put(td, TD_KEY("a1"), td_arange(TD_DTYPE_FLOAT64, 0, TD_NO_SIZES));
  char *text = td_printed(td);
  const char *last = text;
  static const char *const order[] = {
      "        B: Tensor(shape=torch.Size([]), device=cpu, dtype=torch.bool, is_shared=False),",
      "        a b: Tensor(shape=torch.Size([]), device=cpu, dtype=torch.uint8, is_shared=False),",
      "        a1: Tensor(shape=torch.Size([]), device=cpu, dtype=torch.float64, is_shared=False),",
      "        a: Tensor(shape=torch.Size([]), device=cpu, dtype=torch.int64, is_shared=False)},"};
  for (size_t i = 0; i < 4; i++) {
    const char *found = strstr(text, order[i]);
    if (found == NULL || found < last)
      td_test_fail(__FILE__, __LINE__, "\"%s\" is not at its place in\n%s", order[i], text);
    last = found;
  }
  free(text);
}

TD_TEST(meta_and_mapped_tensors) {
  td_tensordict *td = td_empty(TD_SIZES(2)), *mapped = NULL, *anonymous = NULL;
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT16, 0, TD_SIZES(2)));
  TD_DO(td_memmap(td, td_path(td_test_folder(), "m"), NULL, &mapped));
  check_printed(mapped,
                "TensorDict(\n"
                "    fields={\n"
                "        a: MemoryMappedTensor(shape=torch.Size([2]), device=cpu, "
                "dtype=torch.int16, is_shared=True)},\n"
                "    batch_size=torch.Size([2]),\n"
                "    device=cpu,\n"
                "    is_shared=False)");
  TD_DO(td_memmap(td, NULL, NULL, &anonymous));
  check_printed(anonymous,
                "TensorDict(\n"
                "    fields={\n"
                "        a: MemoryMappedTensor(shape=torch.Size([2]), device=cpu, "
                "dtype=torch.int16, is_shared=False)},\n"
                "    batch_size=torch.Size([2]),\n"
                "    device=cpu,\n"
                "    is_shared=False)");
  td_free(anonymous);
  td_free(mapped);
  TD_DO(td_to_device(td, TD_DEVICE_META, -1, NULL, &mapped));
  check_printed(mapped,
                "TensorDict(\n"
                "    fields={\n"
                "        a: Tensor(shape=torch.Size([2]), device=meta, dtype=torch.int16, "
                "is_shared=False)},\n"
                "    batch_size=torch.Size([2]),\n"
                "    device=meta,\n"
                "    is_shared=False)");
}

TD_TEST(values_that_are_no_tensors) {
  td_tensordict *td = NULL;
  td_load_options options = TD_LOAD_OPTIONS_INIT;
  options.private_mapping = 1;
  TD_DO(td_memmap_load(td_golden("digits"), &options, &td));
  char *text = td_printed(td);
  TD_CHECK_TEXT(text,
                "        source: NonTensorData(data=UCI optical digits, "
                "batch_size=torch.Size([1797]), device=cpu)},\n");
  free(text);
}

static void check_print(const td_tensordict *td, const td_print_options *options,
                        const char *want) {
  char text[1024];
  size_t length = 0;
  TD_DO(td_print(td, options, text, sizeof text, &length));
  TD_CHECK_INT(strlen(text), length);
  TD_CHECK_SAME_TEXT(text, want);
}

TD_TEST(the_compact_form_is_the_default) {
  td_tensordict *td = td_empty(TD_SIZES(3));
  td_put(td, TD_KEY("n", "x"), td_arange(TD_DTYPE_FLOAT32, 0, TD_SIZES(3)));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 0, TD_SIZES(3, 2)));
  const char *compact = "TensorDict(batch_size=[3], fields={a: i64[2], n: {x: f32[]}})";
  char text[128];
  size_t length = 0;
  TD_DO(td_to_string(td, text, sizeof text, &length));
  TD_CHECK_SAME_TEXT(text, compact);
  check_print(td, NULL, compact);
  td_print_options options = TD_PRINT_OPTIONS_INIT;
  options.hide = TD_PRINT_PART_DTYPE;
  check_print(td, &options, "TensorDict(batch_size=[3], fields={a: [2], n: {x: []}})");
  options.unsorted = 1;
  options.hide = TD_PRINT_PART_BATCH_SIZE;
  check_print(td, &options, "TensorDict(fields={n: {x: f32[]}, a: i64[2]})");
  options.form = TD_PRINT_COMPACT;
  options.brief = 1;
  options.hide = TD_PRINT_PART_SHAPE;
  check_print(td, &options, "TensorDict(batch_size=[3], fields={n: {x: []}, a: [2]})");
}

TD_TEST(the_detailed_form_shows_more) {
  td_tensordict *td = td_empty(TD_SIZES(2));
  td_put(td, TD_KEY("a"), td_arange(TD_DTYPE_INT64, 3, TD_SIZES(2)));
  td_print_options options = TD_PRINT_OPTIONS_INIT;
  options.brief = 1;
  options.show = TD_PRINT_PART_GRAD | TD_PRINT_PART_PLAIN | TD_PRINT_PART_STORAGE_SIZE;
  check_print(td, &options,
              "TensorDict(\n"
              "    fields={\n"
              "        a: Tensor(shape=torch.Size([2]), requires_grad=False, storage_size=16, "
              "min=3, max=4)},\n"
              "    batch_size=torch.Size([2]))");
}

TD_TEST(print_options_are_checked) {
  td_tensordict *td = td_empty(TD_NO_SIZES);
  td_print_options options = TD_PRINT_OPTIONS_INIT;
  size_t length = 0;
  options.form = 3;
  TD_EXPECT(td_print(td, &options, NULL, 0, &length), TD_ERR_INVALID_ARGUMENT);
  options.form = 0;
  options.show = 4096;
  TD_EXPECT(td_print(td, &options, NULL, 0, &length), TD_ERR_INVALID_ARGUMENT);
  options.show = options.hide = TD_PRINT_PART_SHAPE;
  TD_EXPECT(td_print(td, &options, NULL, 0, &length), TD_ERR_INVALID_ARGUMENT);
  options = (td_print_options)TD_PRINT_OPTIONS_INIT;
  options.struct_size = 0;
  TD_EXPECT(td_print(td, &options, NULL, 0, &length), TD_ERR_INVALID_ARGUMENT);
  TD_EXPECT(td_print(td, NULL, NULL, 0, NULL), TD_ERR_NULL_ARGUMENT);
}

TD_TEST(text_needs_room) {
  td_tensordict *td = td_empty(TD_NO_SIZES);
  size_t length = 0;
  char text[8] = "1234567";
  TD_EXPECT(td_to_string(td, text, sizeof text, &length), TD_ERR_BUFFER_TOO_SMALL);
  TD_CHECK_INT(length, strlen("TensorDict(batch_size=[], fields={})"));
  TD_CHECK_SAME_TEXT(text, "1234567");
  TD_EXPECT(td_to_string(td, NULL, 8, &length), TD_ERR_NULL_ARGUMENT);
}
