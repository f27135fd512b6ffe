// The text of an index: "..., 1::2, None".
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  const std::string text(reinterpret_cast<const char *>(data), size);
  std::vector<td_index_item> items(size + 1);
  std::size_t count = 0;
  if (!fuzz::done(td_index_parse(text.c_str(), items.data(), items.size(), &count))) return 0;
  FUZZ_CHECK(count <= items.size());
  static td_tensordict *const td = [] {
    const std::int64_t batch[] = {4, 1, 3}, sizes[] = {4, 1, 3, 2};
    const char *const path[] = {"n", "a"};
    td_tensordict *dict = nullptr;
    td_tensor *tensor = nullptr;
    FUZZ_DO(td_create(batch, 3, TD_DEVICE_CPU, -1, &dict));
    FUZZ_DO(td_tensor_zeros(sizes, 4, TD_DTYPE_INT16, TD_DEVICE_CPU, -1, &tensor));
    FUZZ_DO(td_set(dict, path, 2, tensor));
    td_tensor_free(tensor);
    return dict;
  }();
  fuzz::Dict part;
  if (fuzz::done(td_index(td, items.data(), count, part.out()))) fuzz::read_all(part.get());
  return 0;
}
