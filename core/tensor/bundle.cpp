#include "core/tensor/bundle.h"

#include "core/tensor/torch_compat.h"

#include <ATen/ops/cat.h>
#if TD_TORCH_AT_LEAST(2, 2)
#include <ATen/ops/_foreach_copy.h>
#endif

#include <cstring>

namespace td {

namespace {

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

bool Bundle::suits_on_gpu(const at::Tensor& tensor) noexcept {
  if (!fast::plain(tensor) || !tensor.is_cuda()) return false;
  const c10::ScalarType dtype = tensor.scalar_type();
  const bool common = c10::isIntegralType(dtype, /*includeBool=*/true) || dtype == at::kFloat ||
                      dtype == at::kDouble || dtype == at::kHalf || dtype == at::kBFloat16;
  return common && tensor.is_contiguous() && tensor.numel() != 0 &&
         tensor.nbytes() <= gpu_tensor_bytes;
}

void Bundle::add(const at::Tensor& tensor) {
  places_.push_back({bytes_, tensor.nbytes()});
  bytes_ += is_cpu() ? Blocks::place_bytes(tensor.nbytes()) : tensor.nbytes();
}

at::Tensor Bundle::joined(std::vector<at::Tensor> sources) const {
  for (at::Tensor& source : sources)
    source = fast::make_view(source, {source.numel()}, {1}, source.storage_offset());
  return at::cat(sources);
}

void Bundle::copy_back(const at::Tensor& all, const std::vector<at::Tensor>& targets) const {
  std::vector<at::Tensor> parts;
  parts.reserve(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i)
    parts.push_back(part(all, i, targets[i].sizes()));
#if TD_TORCH_AT_LEAST(2, 2)
  at::_foreach_copy_(targets, parts);
#else
  for (std::size_t i = 0; i < targets.size(); ++i) targets[i].copy_(parts[i]);
#endif
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
  std::memset(to + place.bytes, 0, end_of(i) - place.offset - place.bytes);
}

void Bundle::repeat(const at::Tensor& all, std::size_t i) const noexcept {
  char* const to = first_byte(all) + places_[i].offset;
  std::memcpy(to, first_byte(all) + places_[i - 1].offset, end_of(i) - places_[i].offset);
}

void Bundle::copy_back(const at::Tensor& all, std::size_t i,
                       const at::Tensor& target) const noexcept {
  std::memcpy(target.data_ptr(), first_byte(all) + places_[i].offset, places_[i].bytes);
  fast::bump_version(target);
}

at::Tensor Bundle::part(const at::Tensor& all, std::size_t i, SizesView sizes) const {
  const std::size_t element = places_[i].offset / c10::elementSize(dtype_);
  return fast::make_part(all.storage(), all.scalar_type(), element * all.itemsize(), sizes,
                         all.key_set());
}

}  // namespace td
