// Imports and exports both forms of DLPack.
#include "core/tensor/device.h"
#include "core/tensor/dtype.h"
#include "core/tensor/foreign.h"

#include <ATen/ATen.h>

namespace td {

namespace {

constexpr std::uint32_t our_major = 1;
constexpr std::uint32_t our_minor = 0;

enum DeviceCode : std::int32_t {
  dl_cpu = 1,
  dl_cuda = 2,
  dl_cuda_host = 3,
  dl_metal = 8,
  dl_rocm = 10,
  dl_cuda_managed = 13,
  dl_oneapi = 14
};

c10::Device device_from(const dlpack::Device& device) {
  switch (device.type) {
    case dl_cpu:
    case dl_cuda_host: return c10::Device(c10::DeviceType::CPU);
    case dl_cuda:
    case dl_cuda_managed:
    case dl_rocm: return make_device(c10::DeviceType::CUDA, device.id);
    case dl_oneapi: return make_device(c10::DeviceType::XPU, device.id);
    default: fail(Code::device, "DLPack device type ", device.type, " is not supported");
  }
}

dlpack::Device device_to(c10::Device device) {
  const std::int32_t id = device.has_index() ? device.index() : 0;
  switch (device.type()) {
    case c10::DeviceType::CPU: return {dl_cpu, 0};
    case c10::DeviceType::CUDA: return {dl_cuda, id};
    case c10::DeviceType::XPU: return {dl_oneapi, id};
    default:
      fail(Code::device, "device \"", device.str(), "\" has no memory that DLPack can export");
  }
}

c10::ScalarType dtype_from(const dlpack::DataType& type) {
  for (const DTypeRow& row : dtype_rows) {
    const c10::ScalarType dtype = scalar_type(row.dtype);
    if (row.dlpack == type.code && row.bytes * 8 == type.bits && type.lanes == 1 &&
        dtype != c10::ScalarType::Undefined) {
      return dtype;
    }
  }
  fail(Code::dtype, "DLPack type code ", static_cast<int>(type.code), " of ",
       static_cast<int>(type.bits), " bits and ", type.lanes, " lanes is not supported");
}

dlpack::DataType dtype_to(c10::ScalarType dtype) {
  const DTypeRow* const row = find_dtype(dtype_of(dtype));
  if (row == nullptr || row->dlpack < 0)
    fail(Code::dtype, "DLPack has no type for ", dtype_name(dtype));
  return {static_cast<std::uint8_t>(row->dlpack), static_cast<std::uint8_t>(row->bytes * 8), 1};
}

// Copies the description, so that what is checked is what is used, whatever the producer does meanwhile.
at::Tensor import(const dlpack::Tensor source, std::shared_ptr<void> owner) {
  if (source.ndim < 0 || (source.ndim > 0 && source.shape == nullptr)) {
    fail(Code::shape, "a DLPack tensor of ", source.ndim, " dimensions without a shape");
  }
  const auto dims = static_cast<std::size_t>(source.ndim);
  require_dims(dims);
  const Sizes sizes(source.shape, source.shape + dims);
  Sizes steps;
  std::optional<SizesView> strides;
  if (source.strides != nullptr) strides = steps = Sizes(source.strides, source.strides + dims);
  char* data = static_cast<char*>(source.data);
  if (data != nullptr) data += source.byte_offset;
  return from_memory(data, dtype_from(source.dtype), sizes, strides, device_from(source.device),
                     std::move(owner));
}

// Calls the deleter, even if the import fails.
template <class Managed>
std::shared_ptr<void> own(Managed* source) {
  return std::shared_ptr<void>(source, [](void* raw) {
    auto* managed = static_cast<Managed*>(raw);
    if (managed->deleter != nullptr) managed->deleter(managed);
  });
}

template <class Managed>
struct Loan {
  Managed managed;
  at::Tensor tensor;
  Sizes sizes, strides;
};

template <class Managed>
Managed* lend(const at::Tensor& tensor) {
  if (tensor.layout() != c10::Layout::Strided || tensor.is_conj() || tensor.is_neg()) {
    fail(Code::unsupported, "DLPack can export only plain strided tensors");
  }
  const dlpack::DataType dtype = dtype_to(tensor.scalar_type());
  const dlpack::Device device = device_to(tensor.device());
  auto loan = std::make_unique<Loan<Managed>>();
  loan->tensor = tensor;
  loan->sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
  loan->strides.assign(tensor.strides().begin(), tensor.strides().end());
  loan->managed.context = loan.get();
  loan->managed.deleter = [](Managed* self) { delete static_cast<Loan<Managed>*>(self->context); };
  loan->managed.tensor = {tensor.data_ptr(),
                          device,
                          static_cast<std::int32_t>(tensor.dim()),
                          dtype,
                          loan->sizes.data(),
                          loan->strides.data(),
                          0};
  return &loan.release()->managed;
}

}  // namespace

at::Tensor from_dlpack(dlpack::ManagedTensorVersioned* source) {
  std::shared_ptr<void> owner = own(source);
  if (source->version.major != our_major) {
    fail(Code::version, "DLPack version ", source->version.major, ".", source->version.minor,
         "; this library supports version ", our_major);
  }
  const bool read_only = (source->flags & dlpack::flag_read_only) != 0;
  at::Tensor tensor = import(source->tensor, std::move(owner));
  return read_only ? tensor.clone() : tensor;
}

at::Tensor from_dlpack(dlpack::ManagedTensor* source) {
  return import(source->tensor, own(source));
}

dlpack::ManagedTensorVersioned* to_dlpack_versioned(const at::Tensor& tensor) {
  auto* managed = lend<dlpack::ManagedTensorVersioned>(tensor);
  managed->version = {our_major, our_minor};
  managed->flags = 0;
  return managed;
}

dlpack::ManagedTensor* to_dlpack(const at::Tensor& tensor) {
  return lend<dlpack::ManagedTensor>(tensor);
}

}  // namespace td
