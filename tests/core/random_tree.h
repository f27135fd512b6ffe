// Trees that no one would write down: any shape, dtype and layout.
#pragma once

#include "core/apply/apply.h"
#include "core/keys/entries.h"
#include "trees.h"

#include <random>

namespace td::test {

// The layouts of a tensor come from here; the same seed gives the same trees everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(n));
  }
  bool chance(int percent) { return below(100) < percent; }
  std::vector<std::int64_t> order(std::size_t n) {
    std::vector<std::int64_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::int64_t>(i);
    for (std::size_t i = n; i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))]);
    return order;
  }
  std::vector<std::int64_t> sizes(std::int64_t most_dims) {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(below(most_dims + 1)));
    for (std::int64_t& size : sizes) size = chance(6) ? 0 : 1 + below(3);
    return sizes;
  }

 private:
  std::mt19937_64 engine_;
};

// Every dtype of plain numbers that this libtorch has.
inline const std::vector<c10::ScalarType>& dtypes() {
  static const auto* const all = new std::vector<c10::ScalarType> {
    at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf, at::kFloat, at::kDouble,
        at::kComplexHalf, at::kComplexFloat, at::kComplexDouble, at::kBool, at::kBFloat16,
#if TD_TORCH_HAS_WIDE_UNSIGNED
        c10::ScalarType::UInt16, c10::ScalarType::UInt32, c10::ScalarType::UInt64,
        c10::ScalarType::Float8_e4m3fn, c10::ScalarType::Float8_e5m2,
#endif
  };
  return *all;
}

// Uninitialised memory filled with small whole numbers of the dtype.
inline at::Tensor numbers_of(Random& random, std::int64_t n, c10::ScalarType dtype) {
  constexpr std::int64_t room = 1 << 15;
  static auto* const pools = new std::map<c10::ScalarType, at::Tensor>;
  at::Tensor& pool = (*pools)[dtype];
  if (!pool.defined()) pool = at::arange(2 * room, at::kInt).remainder(113).to(dtype);
  at::Tensor tensor = at::empty({n}, dtype);
  if (n != 0) {
    const auto item = tensor.element_size();
    std::memcpy(tensor.data_ptr(),
                static_cast<const char*>(pool.data_ptr()) +
                    random.below(room) * static_cast<std::int64_t>(item),
                static_cast<std::size_t>(n) * item);
  }
  return tensor;
}

// A tensor of these sizes in some layout: dense, at an offset, transposed, sliced or expanded.
inline at::Tensor random_tensor(Random& random, SizesView sizes, c10::ScalarType dtype) {
  const auto n = sizes.size();
  const std::int64_t kind = random.below(6);
  std::vector<std::int64_t> inner = list(sizes);
  std::vector<std::int64_t> order = random.order(n);
  if (kind < 3) std::sort(order.begin(), order.end());  // row-major
  std::vector<std::int64_t> steps(n, 1);
  if (kind > 3 && n != 0) {
    const auto i = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(n)));
    if (sizes[i] > 0) steps[i] = kind == 4 ? 2 + random.below(2) : 0;
  }
  std::vector<std::int64_t> strides(n);
  std::int64_t stride = 1;
  for (std::size_t k = n; k-- > 0;) {
    const auto i = static_cast<std::size_t>(order[k]);
    strides[i] = stride * steps[i];
    stride *= std::max<std::int64_t>(1, inner[i] * steps[i]);
  }
  const std::int64_t offset = random.chance(40) ? random.below(7) : 0;
  return numbers_of(random, stride + offset, dtype).as_strided(inner, strides, offset);
}

inline c10::ScalarType random_dtype(Random& random) {
  return dtypes()[static_cast<std::size_t>(
      random.below(static_cast<std::int64_t>(dtypes().size())))];
}

inline std::vector<std::int64_t> joined(SizesView front, SizesView back) {
  std::vector<std::int64_t> sizes = list(front);
  sizes.insert(sizes.end(), back.begin(), back.end());
  return sizes;
}

// One to `levels` levels of one to three leaves; deeper nodes may have more batch dimensions.
inline TensorDict random_tree(Random& random, SizesView batch, std::int64_t levels) {
  TensorDict td(batch);
  const std::int64_t leaves = 1 + random.below(3);
  for (std::int64_t i = 0; i < leaves; ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    td.set(std::string_view(name),
           random_tensor(random, joined(batch, random.sizes(2)), random_dtype(random)));
  }
  if (levels > 1 && random.chance(70)) {
    td.set({"n"}, random_tree(random, joined(batch, random.sizes(1)), levels - 1));
  }
  return td;
}

// The same keys and shapes with another batch size, in other layouts and with other values.
inline TensorDict random_like(Random& random, const TensorDict& td, SizesView batch,
                              int other_dtype_percent) {
  const auto dims = td.batch_size().size();
  TensorDict result(batch);
  for (const KeyList::Key& key : list_keys(td).keys) {
    const std::string_view name = key.path[0];
    if (key.kind == EntryKind::dict) {
      const TensorDict inner = td.get_dict(name);
      result.set(name, random_like(random, inner, joined(batch, inner.batch_size().slice(dims)),
                                   other_dtype_percent));
      continue;
    }
    const at::Tensor& leaf = td.get(name);
    const auto dtype =
        random.chance(other_dtype_percent) ? random_dtype(random) : leaf.scalar_type();
    result.set(name, random_tensor(random, joined(batch, leaf.sizes().slice(dims)), dtype));
  }
  return result;
}

// The same tree in memory of its own, of the same layout.
inline TensorDict twin(const TensorDict& td) {
  return apply(td, {}, [](Path, const at::Tensor& leaf) {
    const auto item = static_cast<std::int64_t>(leaf.element_size());
    const auto bytes = static_cast<std::int64_t>(leaf.storage().nbytes());
    at::Tensor memory = at::empty({bytes / item}, leaf.scalar_type());
    if (bytes != 0) {
      const auto* from =
          static_cast<const char*>(leaf.unsafeGetTensorImpl()->unsafe_storage().data_ptr().get());
      std::memcpy(memory.data_ptr(), from, static_cast<std::size_t>(bytes));
    }
    return memory.as_strided(leaf.sizes(), leaf.strides(), leaf.storage_offset());
  });
}

}  // namespace td::test
