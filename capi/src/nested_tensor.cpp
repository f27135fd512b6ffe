// tensordict/td_nested_tensor.h
#include "arguments.h"
#include "give.h"
#include "guard.h"

#include "core/tree/lazy_ops.h"
#include "core/tree/nested_tensor.h"

namespace {

using TensorOut = Out<td_tensor>;

const td::NestedTensorNode& nested_tensor_in(const td_tensordict* handle) {
  return td::require_nested_tensor(in(handle)->node());
}

std::vector<at::Tensor> tensors_in(const td_tensor* const* tensors, std::size_t n) {
  std::vector<at::Tensor> result;
  if (n != 0) not_null(tensors, "parts");
  for (std::size_t i = 0; i < n; ++i) result.push_back(in(tensors[i]));
  return result;
}

}  // namespace

td_status td_nested_tensor_create(const td_tensor* values, const td_tensor* sizes,
                                  td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    return td::TensorDict(td::NodePtr(td::make_nested_tensor(in(values), in(sizes))));
  });
}

td_status td_nested_tensor_from_tensors(const td_tensor* const* parts, size_t parts_len,
                                        td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    return td::TensorDict(td::NodePtr(td::make_nested_tensor(tensors_in(parts, parts_len))));
  });
}

td_status td_get_nested_tensor(const td_tensordict* td, const char* const* path, size_t path_len,
                               td_tensordict** result) noexcept {
  return give(__func__, result,
              [&] { return td::get_nested_tensor(in(td), PathIn(path, path_len)); });
}

td_status td_nested_tensor_values(const td_tensordict* nested, td_tensor** values,
                                  td_tensor** sizes) noexcept {
  return guard(__func__, [&] {
    capi::clear_results(values, sizes);
    TensorOut values_out(values);  // refuses NULL before anything is made
    TensorOut sizes_out(sizes);
    const td::NestedTensorNode& node = nested_tensor_in(nested);
    at::Tensor copy = node.sizes().clone();
    values_out.put(at::Tensor(node.values()));
    sizes_out.put(std::move(copy));
  });
}

td_status td_nested_tensor_at(const td_tensordict* nested, int64_t position,
                              td_tensor** result) noexcept {
  return give(__func__, result, [&] { return td::part_at(nested_tensor_in(nested), position); });
}

td_status td_nested_tensor_to_padded(const td_tensordict* nested, const td_padding_options* options,
                                     td_tensor** result, td_tensor** mask) noexcept {
  return guard(__func__, [&] {
    capi::clear_results(result, mask);
    TensorOut out(result);
    TensorOut mask_out(mask);
    const td_padding_options given =
        capi::options_in(options, td_padding_options TD_PADDING_OPTIONS_INIT);
    const td::NestedTensorNode& node = nested_tensor_in(nested);
    at::Tensor where = td::padding_mask(node, given.left != 0);
    out.put(td::padded(node, given.value, given.left != 0));
    mask_out.put(std::move(where));
  });
}
