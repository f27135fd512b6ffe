// tensordict/td_tensor.h
#include "arguments.h"
#include "give.h"
#include "guard.h"
#include "owner.h"

#include "core/inspect/owned_nbytes.h"
#include "core/inspect/print.h"
#include "core/tensor/assign.h"
#include "core/tensor/device.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/foreign.h"
#include "core/tensor/ownership.h"
#include "core/tensor/writes.h"

#include <ATen/ATen.h>

#include <memory>

using TensorOut = Out<td_tensor>;

td_status td_tensor_from_blob(void* data, const int64_t* sizes, const int64_t* strides, size_t dims,
                              td_dtype dtype, td_device_type device_type, int32_t device_index,
                              td_release_fn release, void* user, td_tensor** result) noexcept {
  return guard(__func__, [&] {
    capi::Owner owner(release, user);
    TensorOut out(result);
    const td::Sizes shape = sizes_in(sizes, dims);
    td::Sizes steps;
    if (strides != nullptr) steps = sizes_in(strides, dims, "strides");
    out.put(td::from_memory(
        data, capi::dtype_in(dtype), shape,
        strides == nullptr ? std::nullopt : std::optional<td::SizesView>(steps),
        capi::device_in(device_type, device_index).value_or(c10::Device(at::kCPU)), owner.share()));
  });
}

td_status td_tensor_from_data(const void* data, size_t bytes, const int64_t* sizes, size_t dims,
                              td_dtype dtype, td_tensor** result) noexcept {
  return give(__func__, result, [&] {
    return td::from_bytes(data, bytes, capi::dtype_in(dtype), sizes_in(sizes, dims));
  });
}

td_status td_tensor_zeros(const int64_t* sizes, size_t dims, td_dtype dtype,
                          td_device_type device_type, int32_t device_index,
                          td_tensor** result) noexcept {
  return give(__func__, result, [&] {
    return td::zeros(sizes_in(sizes, dims), capi::dtype_in(dtype),
                     capi::device_in(device_type, device_index).value_or(c10::Device(at::kCPU)));
  });
}

td_status td_tensor_from_dlpack(struct DLManagedTensorVersioned* source,
                                td_tensor** result) noexcept {
  return guard(__func__, [&] {
    if (result != nullptr) *result = nullptr;
    at::Tensor tensor = td::from_dlpack(
        reinterpret_cast<td::dlpack::ManagedTensorVersioned*>(not_null(source, "source")));
    TensorOut(result).put(std::move(tensor));  // releases the tensor if `result` is NULL
  });
}

td_status td_tensor_from_dlpack_legacy(struct DLManagedTensor* source,
                                       td_tensor** result) noexcept {
  return guard(__func__, [&] {
    if (result != nullptr) *result = nullptr;
    at::Tensor tensor =
        td::from_dlpack(reinterpret_cast<td::dlpack::ManagedTensor*>(not_null(source, "source")));
    TensorOut(result).put(std::move(tensor));
  });
}

td_status td_tensor_to_dlpack(const td_tensor* tensor,
                              struct DLManagedTensorVersioned** result) noexcept {
  return guard_plain(__func__, [&] {
    *not_null(result, "result") = nullptr;
    *result =
        reinterpret_cast<struct DLManagedTensorVersioned*>(td::to_dlpack_versioned(in(tensor)));
  });
}

td_status td_tensor_to_dlpack_legacy(const td_tensor* tensor,
                                     struct DLManagedTensor** result) noexcept {
  return guard_plain(__func__, [&] {
    *not_null(result, "result") = nullptr;
    *result = reinterpret_cast<struct DLManagedTensor*>(td::to_dlpack(in(tensor)));
  });
}

td_status td_tensor_dup(const td_tensor* tensor, td_tensor** result) noexcept {
  return give_plain(__func__, result, [&] { return at::Tensor(*in(tensor)); });
}

void td_tensor_free(td_tensor* tensor) noexcept { capi::free_handle(tensor); }

td_status td_tensor_dtype(const td_tensor* tensor, td_dtype* result) noexcept {
  return guard_plain(
      __func__, [&] { *not_null(result, "result") = capi::dtype_out(in(tensor)->scalar_type()); });
}

td_status td_tensor_device(const td_tensor* tensor, td_device_type* result,
                           int32_t* result_index) noexcept {
  return guard_plain(__func__, [&] {
    not_null(result_index, "result_index");
    const c10::Device device = in(tensor)->device();
    *not_null(result, "result") = capi::device_type_out(device);
    *result_index = capi::device_index_out(device);
  });
}

td_status td_tensor_sizes(const td_tensor* tensor, int64_t* sizes, size_t sizes_cap,
                          size_t* dims) noexcept {
  return guard_plain(__func__,
                     [&] { capi::write_sizes(in(tensor)->sizes(), sizes, sizes_cap, dims); });
}

td_status td_tensor_strides(const td_tensor* tensor, int64_t* strides, size_t strides_cap,
                            size_t* dims) noexcept {
  return guard_plain(__func__,
                     [&] { capi::write_sizes(in(tensor)->strides(), strides, strides_cap, dims); });
}

td_status td_tensor_data(const td_tensor* tensor, void** result) noexcept {
  return guard_plain(__func__, [&] {
    *not_null(result, "result") = nullptr;
    *result = td::data_of(in(tensor));
  });
}

td_status td_tensor_nbytes(const td_tensor* tensor, size_t* result) noexcept {
  return guard_plain(__func__, [&] { *not_null(result, "result") = td::bytes_of(in(tensor)); });
}

td_status td_tensor_owned_nbytes(const td_tensor* tensor, size_t* result) noexcept {
  return guard_plain(__func__, [&] { *not_null(result, "result") = td::owned_nbytes(in(tensor)); });
}

td_status td_tensor_is_contiguous(const td_tensor* tensor, int32_t* result) noexcept {
  return guard_plain(__func__,
                     [&] { *not_null(result, "result") = in(tensor)->is_contiguous() ? 1 : 0; });
}

td_status td_tensor_is_uniquely_owned(const td_tensor* tensor, int32_t* result) noexcept {
  return guard_plain(
      __func__, [&] { *not_null(result, "result") = td::solely_owned(in(tensor), 1) ? 1 : 0; });
}

td_status td_tensor_is_memmap(const td_tensor* tensor, int32_t* result) noexcept {
  return guard_plain(__func__,
                     [&] { *not_null(result, "result") = td::in_mapping(in(tensor)) ? 1 : 0; });
}

td_status td_tensor_requires_grad(const td_tensor* tensor, int32_t* result) noexcept {
  return guard_plain(__func__,
                     [&] { *not_null(result, "result") = in(tensor)->requires_grad() ? 1 : 0; });
}

td_status td_tensor_set_requires_grad(td_tensor* tensor, int32_t required) noexcept {
  return guard(__func__, [&] { td::set_requires_grad(in(tensor), required != 0); });
}

td_status td_tensor_copy_to(const td_tensor* tensor, void* data, size_t bytes) noexcept {
  return guard(__func__, [&] { td::copy_out(in(tensor), data, bytes); });
}

td_status td_tensor_copy_from(td_tensor* tensor, const void* data, size_t bytes) noexcept {
  return guard(__func__, [&] { td::copy_in(in(tensor), data, bytes); });
}

td_status td_tensor_copy(td_tensor* tensor, const td_tensor* source) noexcept {
  return guard(__func__, [&] { td::write_values(in(tensor), in(source)); });
}

td_status td_tensor_clone(const td_tensor* tensor, td_tensor** result) noexcept {
  return give(__func__, result,
              [&] { return td::copy_of(in(tensor), td::fast::can_skip_dispatcher()); });
}

td_status td_tensor_contiguous(const td_tensor* tensor, td_tensor** result) noexcept {
  return give(__func__, result, [&] { return at::Tensor(in(tensor)->contiguous()); });
}

td_status td_tensor_to(const td_tensor* tensor, td_dtype dtype, td_device_type device_type,
                       int32_t device_index, td_tensor** result) noexcept {
  return give(__func__, result, [&] {
    std::optional<c10::ScalarType> type;
    if (dtype != TD_DTYPE_OTHER) type = capi::dtype_in(dtype);
    return td::convert(in(tensor), type, capi::device_in(device_type, device_index));
  });
}

td_status td_tensor_equal(const td_tensor* tensor, const td_tensor* other,
                          int32_t* result) noexcept {
  return guard(__func__, [&] {
    *not_null(result, "result") = td::equal_tensors(in(tensor), in(other)) ? 1 : 0;
  });
}

td_status td_tensor_to_string(const td_tensor* tensor, char* text, size_t text_cap,
                              size_t* length) noexcept {
  return guard_plain(__func__,
                     [&] { capi::write_text(td::describe(in(tensor)), text, text_cap, length); });
}

int32_t td_device_available(td_device_type device_type) noexcept {
  try {
    const auto device = capi::device_in(device_type, -1);
    return device && td::device_available(device->type()) ? 1 : 0;
  } catch (...) {
    return 0;
  }
}

const char* td_dtype_name(td_dtype dtype) noexcept { return capi::dtype_text(dtype); }

size_t td_dtype_size(td_dtype dtype) noexcept {
  try {
    return c10::elementSize(capi::dtype_in(dtype));
  } catch (...) {
    return 0;
  }
}
