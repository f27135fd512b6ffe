// More operations on batch dimensions, as plans of views.
#include "core/shape/shape.h"

#include "core/tensor/known_sizes.h"

#include <algorithm>

namespace td {

TensorDict move_dims(const TensorDict& td, SizesView from, SizesView to) {
  const SizesView batch = td.batch_size();
  const auto n = static_cast<std::int64_t>(batch.size());
  if (from.size() != to.size()) {
    fail(Code::shape, "movedim was given ", from.size(), " dimensions and ", to.size(), " places");
  }
  // Place the moved dimensions; the others fill the rest in order.
  std::vector<std::int64_t> order(batch.size(), -1);
  std::vector<bool> moved(batch.size(), false);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto source = static_cast<std::size_t>(wrap_dim(from[i], n, Code::index, batch));
    const auto place = static_cast<std::size_t>(wrap_dim(to[i], n, Code::index, batch));
    if (moved[source]) fail(Code::shape, "movedim was given dimension ", from[i], " twice");
    if (order[place] != -1) fail(Code::shape, "movedim was given place ", to[i], " twice");
    moved[source] = true;
    order[place] = static_cast<std::int64_t>(source);
  }
  std::size_t next = 0;
  ViewPlan plan(batch);
  for (const std::int64_t source : order) {
    while (source == -1 && moved[next]) ++next;
    plan.keep(source == -1 ? static_cast<std::int64_t>(next++) : source);
  }
  return TensorDict(apply_plan(td.node(), plan));
}

namespace {

NodePtr slice(const NodePtr& node, std::int64_t dim, std::int64_t start, std::int64_t length) {
  ViewPlan plan(node->batch());
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(node->batch().size()); ++i) {
    if (i == dim) {
      plan.slice(i, start, length, 1);
    } else {
      plan.keep(i);
    }
  }
  return apply_plan(node, plan);
}

// Refuses absurd numbers of empty parts.
void require_parts(std::int64_t parts, std::int64_t size) {
  if (parts <= std::max<std::int64_t>(size, 1 << 16)) return;
  fail(Code::invalid_argument, "split into ", parts, " parts of a dimension of size ", size);
}

}  // namespace

TensorDict narrow(const TensorDict& td, std::int64_t dim, std::int64_t start, std::int64_t length) {
  const SizesView batch = td.batch_size();
  dim = wrap_dim(dim, static_cast<std::int64_t>(batch.size()), Code::index, batch);
  const std::int64_t size = known_size(batch, static_cast<std::size_t>(dim));
  const std::int64_t first = start < 0 ? start + size : start;
  if (first < 0 || first > size || length < 0 || length > size - first) {
    fail(Code::index, "narrow: ", length, " positions from ", start,
         " on are out of range for dimension ", dim, " of batch size ", show_sizes(batch));
  }
  return TensorDict(slice(td.node(), dim, first, length));
}

TensorDict atleast(const TensorDict& td, std::size_t dims) {
  if (dims > 64) fail(Code::invalid_argument, "no dictionary has ", dims, " dimensions");
  const SizesView batch = td.batch_size();
  ViewPlan plan(batch);
  for (std::size_t i = batch.size(); i < dims; ++i) plan.add();
  for (std::size_t i = 0; i < batch.size(); ++i) plan.keep(static_cast<std::int64_t>(i));
  return TensorDict(apply_plan(td.node(), plan));
}

Sizes split_lengths(const TensorDict& td, std::int64_t dim, Split kind, SizesView numbers) {
  const auto size = static_cast<std::int64_t>(td.dim_size(dim));
  const bool one = kind != Split::lengths && kind != Split::positions;
  if (one && (numbers.size() != 1 || numbers[0] < 1)) {
    fail(Code::invalid_argument, "split needs one number of at least 1, found ",
         show_sizes(numbers));
  }
  Sizes lengths;
  switch (kind) {
    case Split::length:
    case Split::chunks: {
      if (kind == Split::chunks && size == 0) {  // as torch.chunk: as many parts as asked for
        require_parts(numbers[0], size);
        lengths.assign(static_cast<std::size_t>(numbers[0]), 0);
        break;
      }
      const std::int64_t length =
          kind == Split::length ? numbers[0] : size / numbers[0] + (size % numbers[0] != 0 ? 1 : 0);
      std::int64_t left = size;
      do {
        lengths.push_back(std::min(length, left));
        left -= lengths.back();
      } while (left > 0);
      break;
    }
    case Split::parts:
      require_parts(numbers[0], size);
      for (std::int64_t i = 0; i < numbers[0]; ++i) {
        lengths.push_back(size / numbers[0] + (i < size % numbers[0] ? 1 : 0));
      }
      break;
    case Split::lengths: {
      std::int64_t left = size;
      bool fits = true;
      for (const std::int64_t length : numbers) {
        fits = fits && length >= 0 && length <= left;
        if (fits) left -= length;
      }
      if (!fits || left != 0) {
        fail(Code::shape, "split: lengths ", show_sizes(numbers), " do not add up to dimension ",
             dim, " of batch size ", show_sizes(td.batch_size()));
      }
      lengths.assign(numbers.begin(), numbers.end());
      break;
    }
    case Split::positions: {
      std::int64_t from = 0;
      for (std::size_t i = 0; i <= numbers.size(); ++i) {
        std::int64_t to = i == numbers.size() ? size : numbers[i];
        if (to < 0) to += size;
        to = std::min(std::max(to, from), size);
        lengths.push_back(to - from);
        from = to;
      }
      break;
    }
  }
  return lengths;
}

std::vector<TensorDict> split(const TensorDict& td, std::int64_t dim, SizesView lengths) {
  dim = wrap_dim(dim, static_cast<std::int64_t>(td.batch_size().size()), Code::index,
                 td.batch_size());
  std::vector<TensorDict> parts;
  parts.reserve(lengths.size());
  std::int64_t start = 0;
  for (const std::int64_t length : lengths) {
    parts.emplace_back(slice(td.node(), dim, start, length));
    start += length;
  }
  return parts;
}

}  // namespace td
