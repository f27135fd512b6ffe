#include "core/tensor/bundle.h"

#include <cstring>

namespace td {

namespace {

constexpr std::size_t bundle_alignment = 64;

bool is_common(c10::ScalarType dtype) noexcept {
  switch (dtype) {
    case c10::ScalarType::Float:
    case c10::ScalarType::Double:
    case c10::ScalarType::Long:
    case c10::ScalarType::Int:
    case c10::ScalarType::Short:
    case c10::ScalarType::Char:
    case c10::ScalarType::Byte:
    case c10::ScalarType::Bool: return true;
    default: return false;
  }
}

// Repeats each of `count` elements until `bytes` are filled.
template <class Item>
void spread(void* to, const void* source, std::size_t count, std::size_t bytes) noexcept {
  const std::size_t times = bytes / (sizeof(Item) * count);
  Item* next = static_cast<Item*>(to);
  for (std::size_t i = 0; i < count; ++i)
    next = std::fill_n(next, times, static_cast<const Item*>(source)[i]);
}

void spread(void* to, const at::Tensor& source, std::size_t bytes) noexcept {
  const auto count = static_cast<std::size_t>(source.numel());
  switch (source.itemsize()) {
    case 1: return spread<std::uint8_t>(to, source.data_ptr(), count, bytes);
    case 2: return spread<std::uint16_t>(to, source.data_ptr(), count, bytes);
    case 4: return spread<std::uint32_t>(to, source.data_ptr(), count, bytes);
    default: return spread<std::uint64_t>(to, source.data_ptr(), count, bytes);
  }
}

char* first_byte(const at::Tensor& tensor) noexcept {
  return static_cast<char*>(tensor.data_ptr());
}

}  // namespace

bool Bundle::suits(const at::Tensor& tensor) noexcept {
  return fast::plain_cpu(tensor) && is_common(tensor.scalar_type()) && tensor.dim() != 0 &&
         tensor.is_contiguous() && tensor.numel() != 0 && tensor.nbytes() <= tensor_bytes;
}

void Bundle::add(const at::Tensor& tensor) {
  places_.push_back({bytes_, tensor.nbytes()});
  bytes_ += (tensor.nbytes() + bundle_alignment - 1) / bundle_alignment * bundle_alignment;
}

at::Tensor Bundle::empty() const {
  return fast::make_dense({static_cast<std::int64_t>(bytes_ / c10::elementSize(dtype_))}, dtype_);
}

void Bundle::put(const at::Tensor& all, std::size_t i, const at::Tensor& source) const noexcept {
  const Place& place = places_[i];
  char* const to = first_byte(all) + place.offset;
  if (source.nbytes() == place.bytes) {
    std::memcpy(to, source.data_ptr(), place.bytes);
  } else {
    spread(to, source, place.bytes);
  }
  const std::size_t end = i + 1 < places_.size() ? places_[i + 1].offset : bytes_;
  std::memset(to + place.bytes, 0, end - place.offset - place.bytes);
}

void Bundle::copy_back(const at::Tensor& all, std::size_t i,
                       const at::Tensor& target) const noexcept {
  std::memcpy(target.data_ptr(), first_byte(all) + places_[i].offset, places_[i].bytes);
  fast::bump_version(target);
}

at::Tensor Bundle::part(const at::Tensor& all, std::size_t i, SizesView sizes) const {
  c10::TensorImpl* const whole = all.unsafeGetTensorImpl();
  auto impl = c10::make_intrusive<fast::Impl>(c10::Storage(whole->unsafe_storage()),
                                              whole->key_set(), whole->dtype());
  impl->set_sizes_contiguous(sizes);
  impl->set_storage_offset(static_cast<std::int64_t>(places_[i].offset / c10::elementSize(dtype_)));
  return at::Tensor(
      c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim(impl.release()));
}

}  // namespace td
