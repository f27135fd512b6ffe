#include "core/tensor/buffer.h"

#include "core/io/shared_memory.h"

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>

namespace td {

namespace {

// Keeps a storage's memory alive. The address of release() marks our storages.
struct Holder {
  std::shared_ptr<void> owner;
  std::shared_ptr<SharedMemory> shared;
  c10::Storage before;
  bool mapped = false;
};

void release(void* context) { delete static_cast<Holder*>(context); }

// The allocator is only a mark for owned_nbytes(); it never resizes.
c10::Storage storage_of(void* data, std::size_t bytes, c10::Device device, Holder holder,
                        c10::Allocator* allocator = nullptr) {
  auto context = std::make_unique<Holder>(std::move(holder));
  at::DataPtr pointer(data, context.get(), &release, device);
  context.release();  // NOLINT: owned by the pointer above
  return c10::Storage(c10::Storage::use_byte_size_t(), bytes, std::move(pointer), allocator,
                      /*resizable=*/false);
}

const Holder* holder_of(const at::Tensor& tensor) noexcept {
  if (!tensor.defined() || !tensor.has_storage()) return nullptr;
  try {
    const at::DataPtr& pointer = tensor.storage().data_ptr();
    if (pointer.get_deleter() != &release) return nullptr;
    return static_cast<const Holder*>(pointer.get_context());
  } catch (...) {
    return nullptr;  // the storage hides its memory, so it is not ours
  }
}

}  // namespace

at::Tensor Buffer::row(std::size_t bytes) {
  return view(make(bytes, c10::Device(c10::DeviceType::CPU)), 0, {static_cast<std::int64_t>(bytes)},
              at::kByte);
}

c10::Storage Buffer::make(std::size_t bytes, c10::Device device, bool pinned) {
  if (device.type() == c10::DeviceType::CPU && !pinned) {
    auto memory = std::make_shared<at::DataPtr>(c10::GetCPUAllocator()->allocate(bytes));
    void* data = memory->get();
    return storage_of(data, bytes, device, {std::move(memory), nullptr, {}, false},
                      c10::GetCPUAllocator());
  }
  const auto options = at::TensorOptions(at::kByte).device(device).pinned_memory(pinned);
  auto memory =
      std::make_shared<at::Tensor>(at::empty({static_cast<std::int64_t>(bytes)}, options));
  void* data = bytes == 0 ? nullptr : memory->data_ptr();
  const c10::Device where = memory->device();  // with its index
  c10::Allocator* allocator = memory->storage().allocator();
  return storage_of(data, bytes, where, {std::move(memory), nullptr, {}, false}, allocator);
}

c10::Storage Buffer::over(void* data, std::size_t bytes, std::shared_ptr<void> owner) {
  return storage_of(data, bytes, c10::Device(c10::DeviceType::CPU),
                    {std::move(owner), nullptr, {}, true});
}

c10::Storage Buffer::over(std::shared_ptr<SharedMemory> memory, std::size_t bytes,
                          c10::Storage before) {
  void* data = memory->data();
  return storage_of(data, bytes, c10::Device(c10::DeviceType::CPU),
                    {nullptr, std::move(memory), std::move(before), true});
}

at::Tensor Buffer::view(const c10::Storage& buffer, std::size_t start, SizesView sizes,
                        c10::ScalarType dtype) {
  const c10::DispatchKey key =
      at::TensorOptions(dtype).device(buffer.device()).computeDispatchKey();
  auto impl = c10::make_intrusive<c10::TensorImpl>(c10::Storage(buffer), c10::DispatchKeySet(key),
                                                   c10::scalarTypeToTypeMeta(dtype));
  impl->set_sizes_contiguous(sizes);
  impl->set_storage_offset(static_cast<std::int64_t>(start / c10::elementSize(dtype)));
  return at::Tensor(std::move(impl));
}

const void* Buffer::of(const at::Tensor& tensor) noexcept {
  const Holder* holder = holder_of(tensor);
  if (holder == nullptr) return nullptr;
  return holder->shared ? static_cast<const void*>(holder->shared.get()) : holder;
}

bool Buffer::over_mapping(const at::Tensor& tensor) noexcept {
  const Holder* holder = holder_of(tensor);
  return holder != nullptr && holder->mapped;
}

std::shared_ptr<SharedMemory> Buffer::shared(const at::Tensor& tensor) noexcept {
  const Holder* holder = holder_of(tensor);
  return holder == nullptr ? nullptr : holder->shared;
}

}  // namespace td
