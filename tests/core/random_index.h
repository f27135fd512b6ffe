// A random index in two forms: as items, and in libtorch's words.
#pragma once

#include "random_tree.h"

#include <ATen/TensorIndexing.h>

namespace td::test {

namespace ti = at::indexing;

inline std::int64_t signed_position(Random& random, std::int64_t size) {
  const std::int64_t position = random.below(size);
  return random.chance(30) ? position - size : position;
}

// An index for a batch size, and the same in libtorch's words. `unique` keeps positions from repeating,
// since which of two values for one place stays is nobody's promise.
struct RandomIndex {
  Index items;
  std::vector<ti::TensorIndex> aten;
  bool gathers = false;

  RandomIndex(Random& random, SizesView batch, bool unique) {
    const auto dims = static_cast<std::int64_t>(batch.size());
    const bool front =
        random.chance(15);  // begin with an ellipsis; the items then reach to the end
    const std::int64_t used = front ? dims : random.below(dims + 1);
    std::int64_t at = front ? random.below(dims + 1) : 0;
    if (front) {
      items.push_back(IndexItem::ellipsis());
      aten.insert(aten.end(), static_cast<std::size_t>(at), ti::Slice());
    }
    bool tensors = false;
    Sizes shape;  // of all index tensors, so that they broadcast
    while (at < used) {
      const std::int64_t size = batch[static_cast<std::size_t>(at)];
      const std::int64_t kind = random.below(tensors && unique ? 5 : 9);
      if (kind == 0) add(IndexItem::none(), ti::None);
      if (kind == 8 && !tensors) {
        const bool truth = random.chance(80);
        if (random.chance(50)) {
          add(IndexItem::boolean(truth), truth);
        } else {
          const at::Tensor scalar = at::full({}, truth, at::kBool);
          add(IndexItem::of(scalar), scalar);
        }
        shape = {truth ? 1 : 0};
        tensors = gathers = true;
      } else if (kind <= 1) {
        if (size == 0) continue;
        const std::int64_t position = signed_position(random, size);
        add(IndexItem::at(position), position);
        ++at;
      } else if (kind <= 4) {
        slice(random, size);
        ++at;
      } else if (kind == 5 && !tensors) {
        const std::int64_t rank = at + 2 <= dims && random.chance(40) ? 2 : 1;
        const at::Tensor mask =
            at::rand(batch.slice(static_cast<std::size_t>(at), static_cast<std::size_t>(rank)))
                .lt(0.6);
        items.push_back(IndexItem::of(mask));
        // libtorch loses count of the dimensions behind a mask of rank 2.
        for (const at::Tensor& one : mask.nonzero().unbind(1)) aten.emplace_back(one);
        shape = {mask.sum().item<std::int64_t>()};
        at += rank;
        tensors = gathers = true;
      } else {
        if (!positions(random, size, unique, tensors, shape)) continue;
        ++at;
        tensors = gathers = true;
      }
    }
    if (!front && random.chance(30)) {
      items.push_back(IndexItem::ellipsis());
      aten.insert(aten.end(), static_cast<std::size_t>(dims - at), ti::Slice());
      if (random.chance(30)) add(IndexItem::none(), ti::None);
    }
  }

 private:
  void add(IndexItem item, ti::TensorIndex same) {
    items.push_back(std::move(item));
    aten.push_back(std::move(same));
  }

  void slice(Random& random, std::int64_t size) {
    std::optional<std::int64_t> start, stop, step;
    if (random.chance(60)) start = random.below(2 * size + 3) - size - 1;
    if (random.chance(60)) stop = random.below(2 * size + 3) - size - 1;
    if (random.chance(40)) step = 1 + random.below(3);
    add(IndexItem::range(start, stop, step),
        ti::Slice(start.value_or(0), stop.value_or(size), step.value_or(1)));
  }

  // Integers of rank 0 to 2 of one shape, with dimensions of size 1 broadcast.
  bool positions(Random& random, std::int64_t size, bool unique, bool more, Sizes& shape) {
    if (size == 0) return false;
    if (!more) {
      const std::int64_t rank = random.below(3);
      shape.clear();
      std::int64_t room = size;
      for (std::int64_t i = 0; i < rank; ++i) {
        const std::int64_t n = unique ? random.below(room + 1) : random.below(4);
        shape.push_back(n);
        room = n == 0 ? 0 : room / n;
      }
    }
    Sizes own = shape;
    if (more) {
      for (std::int64_t& n : own) n = random.chance(25) ? 1 : n;
      if (!own.empty() && random.chance(15)) own.erase(own.begin());
    }
    std::int64_t n = 1;
    for (const std::int64_t one : own) n *= one;
    std::vector<std::int64_t> values =
        unique ? random.order(static_cast<std::size_t>(size)) : std::vector<std::int64_t>();
    while (static_cast<std::int64_t>(values.size()) < n)
      values.push_back(signed_position(random, size));
    values.resize(static_cast<std::size_t>(n));
    const at::Tensor index = at::tensor(values, at::kLong).reshape(own);
    add(IndexItem::of(random.chance(30) ? index.to(at::kInt) : index), index);
    return true;
  }
};

}  // namespace td::test
