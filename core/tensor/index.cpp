// Compiles an index for one batch size. index_leaf.cpp applies it to leaves.
#include "core/tensor/index.h"

#include "core/tensor/dtype.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/index_items.h"
#include "core/tensor/known_sizes.h"

#include <ATen/ATen.h>

#include <cstring>
#include <numeric>

namespace td {

namespace {

// Python's rule for slice bounds.
std::int64_t clamp_bound(std::int64_t bound, std::int64_t size) {
  if (bound < 0) bound += size;
  return std::min(std::max<std::int64_t>(bound, 0), size);
}

// Index arithmetic must not be recorded by autograd.
struct QuietIndexWork {
  at::NoGradGuard no_grad;
};

// A copy on the CPU of what can be an index: bool for a mask, otherwise int64.
at::Tensor own_index(const at::Tensor& tensor) {
  const c10::ScalarType dtype = is_mask(tensor) ? at::kBool : at::kLong;
  if (fast::plain_cpu(tensor) && tensor.scalar_type() == dtype && tensor.is_contiguous()) {
    at::Tensor own = fast::make_dense(tensor.sizes(), dtype);
    if (own.numel() != 0) std::memcpy(own.data_ptr(), tensor.data_ptr(), own.nbytes());
    return own;
  }
  const QuietIndexWork quiet;
  return tensor.to(at::TensorOptions(at::kCPU).dtype(dtype), /*non_blocking=*/false, /*copy=*/true)
      .contiguous();
}

}  // namespace

IndexItem IndexItem::of(const at::Tensor& tensor) {
  IndexItem item{IndexKind::tensor, {}, {}, {}, tensor, false};
  // The plan refuses what cannot be an index, with its dtype and device in the message.
  const bool index = tensor.defined() && !tensor.is_meta() &&
                     c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true);
  if (index) item.tensor = own_index(tensor);
  return item;
}

IndexPlan::IndexPlan(c10::ArrayRef<IndexItem> items, SizesView batch) : view_(batch) {
  const auto dims = static_cast<std::int64_t>(batch.size());
  std::int64_t used = 0;
  bool ellipsis = false;
  for (const IndexItem& item : items) {
    used += dims_used(item);
    if (item.kind != IndexKind::ellipsis) continue;
    if (ellipsis) fail(Code::index, "an index may hold one ellipsis only");
    ellipsis = true;
  }
  // ":" alone changes nothing, even without dimensions.
  if (dims == 0 && items.size() == 1 && is_bare(items[0])) {
    whole_ = true;
    return;
  }
  if (used > dims) {
    fail(Code::index, "too many indices: ", used, " for batch size ", show_sizes(batch), " of ",
         dims, dims == 1 ? " dimension" : " dimensions");
  }
  whole_ = td::is_whole(items);
  std::vector<Advanced> advanced;
  std::int64_t source = 0;
  const auto keep = [&](std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) view_.keep(source++);
  };
  for (const IndexItem& item : items) {
    switch (item.kind) {
      case IndexKind::ellipsis: keep(dims - used); break;
      case IndexKind::none: view_.add(); break;
      case IndexKind::boolean:
        view_.add();
        advanced.push_back({static_cast<std::int64_t>(view_.out_dims()) - 1,
                            item.tensor.defined()
                                ? item.tensor
                                : at::zeros({item.start.value_or(0) != 0 ? 1 : 0}, at::kLong),
                            true});
        break;
      case IndexKind::integer: {
        const std::int64_t size = known_size(batch, static_cast<std::size_t>(source));
        const std::int64_t asked = item.start.value_or(0);
        const std::int64_t position = asked < 0 ? asked + size : asked;
        if (position < 0 || position >= size) {
          fail(Code::index, "index ", asked, " is out of range for dimension ", source,
               " of batch size ", show_sizes(batch));
        }
        view_.drop(source++, position);
        break;
      }
      case IndexKind::slice: {
        const std::int64_t step = item.step.value_or(1);
        if (step < 1) fail(Code::index, "a slice has step ", step, "; it must be at least 1");
        if (is_bare(item)) {
          view_.keep(source++);
          break;
        }
        const std::int64_t size = known_size(batch, static_cast<std::size_t>(source));
        const std::int64_t start = clamp_bound(item.start.value_or(0), size);
        const std::int64_t stop = std::max(start, clamp_bound(item.stop.value_or(size), size));
        const std::int64_t length = (stop - start) / step + ((stop - start) % step != 0 ? 1 : 0);
        // A step beyond the end has no effect; dropping it avoids overflow of a stride.
        view_.slice(source++, start, length, length > 1 ? step : 1);
        break;
      }
      case IndexKind::tensor: {
        const std::size_t before = advanced.size();
        add_tensor(item.tensor, source, batch, advanced);
        if (item.of_mask && advanced.size() > before) advanced.back().mask = true;
        break;
      }
      default: fail(Code::unsupported, "index item of an unknown kind");
    }
  }
  keep(dims - source);
  if (!advanced.empty()) finish_gather(advanced);
  is_block_ = !gather_ && view_.keeps_contiguous();
}

void IndexPlan::add_tensor(const at::Tensor& tensor, std::int64_t& source, SizesView batch,
                           std::vector<Advanced>& advanced) {
  const QuietIndexWork quiet;
  if (tensor.device().type() == c10::DeviceType::Meta) {
    fail(Code::device, "an index tensor on device \"meta\" has no values");
  }
  if (is_mask(tensor)) return add_mask(tensor, source, batch, advanced);
  if (!c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/false)) {
    fail(Code::index, "an index tensor holds ", dtype_name(tensor.scalar_type()),
         "; integers or booleans are needed");
  }
  const std::int64_t size = known_size(batch, static_cast<std::size_t>(source));
  const std::int64_t* values = tensor.data_ptr<std::int64_t>();
  const std::int64_t n = tensor.numel();
  bool negative = false;
  for (std::int64_t i = 0; i < n; ++i) {
    if (values[i] < -size || values[i] >= size) {
      fail(Code::index, "index ", values[i], " is out of range for dimension ", source,
           " of batch size ", show_sizes(batch));
    }
    negative = negative || values[i] < 0;
  }
  if (tensor.dim() == 0) {
    // As in libtorch, a 0-dimensional tensor selects, and does not affect where the shape of other index
    // tensors goes.
    view_.drop(source++, values[0] < 0 ? values[0] + size : values[0]);
    copies_ = true;
    return;
  }
  at::Tensor index = tensor;
  if (negative) {
    index = fast::make_dense(tensor.sizes(), at::kLong);
    std::int64_t* positive = index.data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < n; ++i) positive[i] = values[i] + (values[i] < 0 ? size : 0);
  }
  advanced.push_back({static_cast<std::int64_t>(view_.out_dims()), std::move(index)});
  view_.keep(source++);
}

void IndexPlan::finish_gather(std::vector<Advanced>& advanced) {
  const QuietIndexWork quiet;
  Gather gather;
  for (const Advanced& one : advanced) {
    const SizesView sizes = one.index.sizes();
    if (sizes.size() > gather.shape.size()) {
      gather.shape.insert(gather.shape.begin(), sizes.size() - gather.shape.size(), 1);
    }
    for (std::size_t i = 1; i <= sizes.size(); ++i) {
      std::int64_t& into = gather.shape[gather.shape.size() - i];
      const std::int64_t size = sizes[sizes.size() - i];
      if (into != size && into != 1 && size != 1) {
        fail(Code::index, "index tensors of shapes ", show_sizes(advanced[0].index.sizes()),
             " and ", show_sizes(sizes), " cannot be broadcast together");
      }
      if (into == 1) into = size;
    }
  }
  gather.adjacent = true;
  for (std::size_t k = 0; k < advanced.size(); ++k) {
    gather.dims.push_back(advanced[k].dim);
    gather.adjacent = gather.adjacent && (k == 0 || gather.dims[k] == gather.dims[k - 1] + 1);
    at::Tensor& index = advanced[k].index;
    if (index.sizes() != SizesView(gather.shape)) index = index.expand(gather.shape).contiguous();
    gather.index.push_back(std::move(index));
  }
  gather.count = std::accumulate(gather.shape.begin(), gather.shape.end(), std::int64_t{1},
                                 std::multiplies<>());
  gather.result_dim = gather.adjacent ? gather.dims[0] : 0;
  gather.keeps_name = advanced.size() == 1 && gather.shape.size() == 1 && !advanced[0].mask;
  if (gather.adjacent && gather.dims.size() > 1) {
    // One list of positions over all indexed dimensions, merged into one.
    at::Tensor linear = gather.index[0].clone();
    std::int64_t* into = linear.data_ptr<std::int64_t>();
    for (std::size_t k = 1; k < gather.dims.size(); ++k) {
      const std::int64_t size = view_.out_size(static_cast<std::size_t>(gather.dims[k]));
      const std::int64_t* add = gather.index[k].data_ptr<std::int64_t>();
      for (std::int64_t i = 0; i < gather.count; ++i) into[i] = into[i] * size + add[i];
    }
    gather.linear = std::move(linear);
  } else {
    gather.linear = gather.index[0];
  }
  gather_ = std::move(gather);
}

Sizes IndexPlan::sizes(SizesView full) const {
  Sizes viewed = view_.sizes(full);
  if (!gather_) return viewed;
  Sizes result;
  std::size_t next = 0;
  for (std::size_t i = 0; i < viewed.size(); ++i) {
    if (static_cast<std::int64_t>(i) == gather_->result_dim) {
      result.append(gather_->shape.begin(), gather_->shape.end());
    }
    if (next < gather_->dims.size() && gather_->dims[next] == static_cast<std::int64_t>(i)) {
      ++next;
    } else {
      result.push_back(viewed[i]);
    }
  }
  return result;
}

Names IndexPlan::names(const Names& full) const {
  Names viewed = view_.names(full);
  if (!gather_ || viewed.empty() || gather_->keeps_name) return viewed;
  Names result;
  std::size_t next = 0;
  for (std::size_t i = 0; i < viewed.size(); ++i) {
    if (static_cast<std::int64_t>(i) == gather_->result_dim)
      result.resize(result.size() + gather_->shape.size());
    if (next < gather_->dims.size() && gather_->dims[next] == static_cast<std::int64_t>(i)) {
      ++next;
    } else {
      result.push_back(std::move(viewed[i]));
    }
  }
  return result;
}

}  // namespace td
