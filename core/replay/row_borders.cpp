#include "core/replay/row_borders.h"

#include "core/tensor/fast_path.h"

#include <algorithm>
#include <cstring>

namespace td {

namespace {

bool bits_differ(const char* a, const char* b, std::size_t bytes) noexcept {
  return std::memcmp(a, b, bytes) != 0;
}

// As libtorch compares: NaN differs from itself, and 0 does not differ from -0.
template <class Number>
bool numbers_differ(const char* a, const char* b, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += sizeof(Number)) {
    Number one, other;
    std::memcpy(&one, a + at, sizeof one);
    std::memcpy(&other, b + at, sizeof other);
    if (!(static_cast<double>(one) == static_cast<double>(other))) return true;
  }
  return false;
}

}  // namespace

std::optional<RowBorders> RowBorders::of(const RingRows& rows, const SliceOptions& options) {
  RowBorders result;
  const auto add = [&](const std::vector<std::string>& names, bool is_flag) {
    const std::vector<std::string_view> path(names.begin(), names.end());
    const at::Tensor* leaf = rows.dict().stored(path);
    if (leaf == nullptr || !fast::plain_cpu(*leaf) || !leaf->is_contiguous()) return false;
    Field field{*leaf, static_cast<const char*>(leaf->data_ptr()),
                leaf->nbytes() / static_cast<std::size_t>(leaf->size(0)), nullptr};
    if (!is_flag) {
      switch (leaf->scalar_type()) {
        case at::kComplexFloat:
        case at::kFloat: field.differ = numbers_differ<float>; break;
        case at::kComplexDouble:
        case at::kDouble: field.differ = numbers_differ<double>; break;
        case at::kHalf: field.differ = numbers_differ<c10::Half>; break;
        case at::kBFloat16: field.differ = numbers_differ<c10::BFloat16>; break;
        default: field.differ = bits_differ;
      }
      if (!c10::isIntegralType(leaf->scalar_type(), /*includeBool=*/true) &&
          field.differ == Differ(bits_differ))
        return false;
    }
    result.fields_.push_back(std::move(field));
    return true;
  };
  if (!options.episode.empty() && !add(options.episode, /*is_flag=*/false)) return std::nullopt;
  for (const std::vector<std::string>& end : options.ends) {
    if (!add(end, /*is_flag=*/true)) return std::nullopt;
  }
  return result;
}

bool RowBorders::between(std::int64_t place, std::int64_t next) const noexcept {
  for (const Field& field : fields_) {
    const char* const row = field.data + static_cast<std::size_t>(place) * field.bytes;
    if (field.differ != nullptr) {
      const char* const after = field.data + static_cast<std::size_t>(next) * field.bytes;
      if (field.differ(row, after, field.bytes)) return true;
    } else if (std::any_of(row, row + field.bytes, [](char byte) { return byte != 0; })) {
      return true;
    }
  }
  return false;
}

}  // namespace td
