// Applies a compiled index to a leaf: copies rows if its memory allows, else calls libtorch.
#include "core/tensor/assign.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/index.h"
#include "core/tensor/rows.h"
#include "core/tensor/torch_compat.h"

#include <ATen/ATen.h>
#include <ATen/MemoryOverlap.h>

#include <new>
#include <string_view>

namespace td {

bool IndexPlan::row_shape(const ViewPlan::Layout& at, std::int64_t& outer, std::int64_t& row,
                          std::int64_t& step) const {
  const Gather& gather = *gather_;
  if (!gather.adjacent) return false;
  const auto first = static_cast<std::size_t>(gather.dims.front());
  const auto last = static_cast<std::size_t>(gather.dims.back());
  row = 1;
  for (std::size_t i = at.sizes.size(); i-- > last + 1;) {
    if (at.sizes[i] != 1 && at.strides[i] != row) return false;
    row *= at.sizes[i];
  }
  for (std::size_t i = first; i < last; ++i) {
    if (at.strides[i] != at.strides[i + 1] * at.sizes[i + 1]) return false;
  }
  step = at.strides[last];
  outer = 1;
  for (std::size_t i = 0; i < first; ++i) outer *= at.sizes[i];
  return true;
}

namespace {

// The offset, in elements, of the `position`-th combination of the first `n` dimensions.
std::int64_t outer_offset(const ViewPlan::Layout& at, std::size_t n, std::int64_t position) {
  std::int64_t offset = 0;
  for (std::size_t i = n; i-- > 0;) {
    offset += position % at.sizes[i] * at.strides[i];
    position /= at.sizes[i];
  }
  return offset;
}

// Calls `move(leaf, dense)` for each combination of the dimensions before the gather, with the offsets of its
// rows in the leaf and in contiguous memory, where it takes `block` elements.
template <class Leaf, class Dense, class Move>
void over_outer(const ViewPlan::Layout& at, std::size_t dims, std::int64_t outer,
                std::int64_t block, std::int64_t item, Leaf* leaf, Dense* dense, Move&& move) {
  for (std::int64_t o = 0; o < outer; ++o) {
    move(leaf + outer_offset(at, dims, o) * item, dense + o * block * item);
  }
}

}  // namespace

bool IndexPlan::gather_rows(const at::Tensor& leaf, at::Tensor& result) const {
  ViewPlan::Layout at;
  view_.layout(leaf, at);
  std::int64_t outer, row, step;
  if (!row_shape(at, outer, row, step)) return false;
  result = fast::make_dense(sizes(leaf.sizes()), leaf.scalar_type());
  if (result.numel() == 0) return true;
  const auto item = static_cast<std::int64_t>(leaf.element_size());
  over_outer(at, static_cast<std::size_t>(gather_->dims[0]), outer, gather_->count * row, item,
             static_cast<const char*>(leaf.storage().data()) + at.offset * item,
             static_cast<char*>(result.data_ptr()), [&](const char* from, char* to) {
               rows::gather(to, from, gather_->linear.data_ptr<std::int64_t>(),
                            static_cast<std::size_t>(gather_->count),
                            static_cast<std::size_t>(row * item),
                            static_cast<std::size_t>(step * item));
             });
  return true;
}

bool IndexPlan::scatter_rows(const at::Tensor& leaf, const at::Tensor& source) const {
  ViewPlan::Layout at;
  view_.layout(leaf, at);
  std::int64_t outer, row, step;
  if (!row_shape(at, outer, row, step)) return false;
  if (source.numel() == 0) return true;
  const auto item = static_cast<std::int64_t>(leaf.element_size());
  char* base = static_cast<char*>(leaf.unsafeGetTensorImpl()->unsafe_storage().data_ptr().get());
  over_outer(at, static_cast<std::size_t>(gather_->dims[0]), outer, gather_->count * row, item,
             base + at.offset * item, static_cast<const char*>(source.data_ptr()),
             [&](char* to, const char* from) {
               rows::scatter(to, from, gather_->linear.data_ptr<std::int64_t>(),
                             static_cast<std::size_t>(gather_->count),
                             static_cast<std::size_t>(row * item),
                             static_cast<std::size_t>(step * item));
             });
  return true;
}

namespace {

c10::List<c10::optional<at::Tensor>> aten_indices(const c10::SmallVector<std::int64_t, 4>& dims,
                                                  const std::vector<at::Tensor>& index) {
  c10::List<c10::optional<at::Tensor>> list;
  std::size_t next = 0;
  for (std::int64_t i = 0; next < dims.size(); ++i) {
    if (dims[next] == i) {
      list.push_back(index[next++]);
    } else {
      list.push_back(c10::optional<at::Tensor>());
    }
  }
  return list;
}

// The same memory with a dtype that libtorch's kernels support.
at::Tensor movable(const at::Tensor& tensor) {
  const c10::ScalarType dtype = compat::kernel_dtype(tensor.scalar_type());
  return dtype == tensor.scalar_type() ? tensor : tensor.view(dtype);
}

// libtorch reports every failure, even a lack of memory, as index tensors that do not broadcast. The plan has
// checked that they do.
template <class Call>
auto indexed(Call&& call) {
  try {
    return call();
  } catch (const c10::IndexError& error) {
    if (std::string_view(error.what_without_backtrace()).find("indexing tensors could not be") ==
        std::string_view::npos)
      throw;
    throw std::bad_alloc();
  }
}

}  // namespace

const std::vector<at::Tensor>& IndexPlan::index_for(const at::Tensor& leaf) const {
  const Gather& gather = *gather_;
  if (leaf.device().type() == c10::DeviceType::CPU || leaf.is_meta()) return gather.index;
  if (gather.elsewhere.empty() || gather.elsewhere[0].device() != leaf.device()) {
    const at::NoGradGuard no_grad;
    gather.elsewhere.clear();
    for (const at::Tensor& one : gather.index) gather.elsewhere.push_back(one.to(leaf.device()));
  }
  return gather.elsewhere;
}

at::Tensor IndexPlan::read(const at::Tensor& leaf, bool fast) const {
  if (!gather_) {
    const at::Tensor part = view_.apply(leaf, fast);
    return copies_ ? copy_of(part, fast) : part;
  }
  at::Tensor result;
  if (fast && fast::plain_cpu(leaf) && gather_rows(leaf, result)) return result;
  result = indexed([&] {
    return at::index(movable(view_.apply(leaf, fast)),
                     aten_indices(gather_->dims, index_for(leaf)));
  });
  return result.scalar_type() == leaf.scalar_type() ? result : result.view(leaf.scalar_type());
}

bool IndexPlan::fills_block(const at::Tensor& leaf, const at::Tensor& source) const {
  return is_block_ && fast::plain_cpu(leaf) && leaf.is_contiguous() && fast::plain_cpu(source) &&
         source.is_contiguous() && source.scalar_type() == leaf.scalar_type() &&
         view_.gives(leaf.sizes(), source.sizes());
}

// Inlined, as ViewPlan::apply() is.
[[gnu::flatten]] void IndexPlan::write_block(const at::Tensor& leaf,
                                             const at::Tensor& source) const {
  const std::size_t bytes = source.nbytes();
  char* base = static_cast<char*>(leaf.unsafeGetTensorImpl()->unsafe_storage().data_ptr().get());
  const auto first = static_cast<std::size_t>(view_.offset(leaf)) * leaf.element_size();
  rows::copy(base + first, static_cast<const char*>(source.data_ptr()), bytes);
  fast::bump_version(leaf);
}

void IndexPlan::write(const at::Tensor& leaf, const at::Tensor& source, bool fast) const {
  const Sizes part = sizes(leaf.sizes());
  const at::Tensor& from = source;
  const bool plain = fast && fast::writable_rows(leaf) && fast::plain_cpu(from) &&
                     from.scalar_type() == leaf.scalar_type() && from.sizes() == SizesView(part);
  if (plain && from.numel() == 0) {
    fast::bump_version(leaf);
    return;
  }
  if (plain && !gather_) {
    ViewPlan::Layout at;
    view_.layout(leaf, at);
    const std::size_t item = leaf.element_size();
    char* base = static_cast<char*>(leaf.unsafeGetTensorImpl()->unsafe_storage().data_ptr().get());
    rows::copy_strided(base + at.offset * static_cast<std::int64_t>(item), at.strides,
                       static_cast<const char*>(from.data_ptr()), from.strides(), at.sizes, item);
    fast::bump_version(leaf);
    return;
  }
  if (plain && from.is_contiguous() && scatter_rows(leaf, from)) {
    fast::bump_version(leaf);
    return;
  }
  const at::Tensor target = view_.apply(leaf, fast);
  if (!gather_) {
    if (from.dim() == 0 && at::has_internal_overlap(target) == at::MemOverlap::Yes) {
      const at::Tensor value = from.to(leaf.options());
      // Newer libtorch refuses to fill elements that share memory by a tensor.
      value.requires_grad() ? target.fill_(value) : target.fill_(value.item());
    } else {
      target.copy_(from.expand(part));
    }
    return;
  }
  indexed([&] {
    return movable(target).index_put_(aten_indices(gather_->dims, index_for(leaf)),
                                      movable(from.to(leaf.options()).expand(part)));
  });
}

}  // namespace td
