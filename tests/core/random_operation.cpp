#include "random_operation.h"
#include "core/shape/join.h"

#include "random_index.h"

namespace td::test {

namespace {

// Another shape of as many elements; with `wrong`, sometimes not.
std::vector<std::int64_t> other_shape(Random& random, SizesView batch) {
  std::vector<std::int64_t> shape;
  for (const std::int64_t size : batch) {
    if (!shape.empty() && random.chance(45)) {
      shape.back() *= size;
    } else if (size == 2 && random.chance(30)) {
      shape.insert(shape.end(), {1, size});
    } else {
      shape.push_back(size);
    }
  }
  if (random.chance(20)) std::reverse(shape.begin(), shape.end());
  return shape;
}

std::vector<std::int64_t> with_rest(SizesView front, const at::Tensor& leaf, std::size_t dims) {
  return joined(front, leaf.sizes().slice(dims));
}

Operation index_read(Random& random, TensorDict td) {
  const RandomIndex index(random, td.batch_size(), false);
  Operation made = unary(
      "index", std::move(td), [items = index.items](const TensorDict& t) { return t.index(items); },
      [aten = index.aten, gathers = index.gathers](const at::Tensor& t) {
        const at::Tensor part = aten.empty() ? t : t.index(aten);
        // A tensor without dimensions selects in libtorch; every tensor copies here.
        return gathers && part.is_alias_of(t) ? part.clone() : part;
      });
  made.gathers = index.gathers;
  return made;
}

Operation index_write(Random& random, const TensorDict& td) {
  const RandomIndex index(random, td.batch_size(), true);
  const Sizes part = IndexPlan(index.items, td.batch_size()).sizes(td.batch_size());
  const TensorDict value = random_like(random, td, part, 15);
  Operation made;
  made.name = "index_write";
  made.sources = {td, value};
  made.on_trees = [items = index.items](const Trees& in) {
    TensorDict(in[0]).set_at(items, in[1]);
    return Trees{};
  };
  made.on_leaves = [aten = index.aten, gathers = index.gathers](const Leaves& in) {
    // index_put_ converts no dtype; a plain write does.
    at::Tensor target = in[0];
    if (aten.empty()) {
      target.copy_(in[1]);
    } else {
      target.index_put_(aten, gathers ? in[1].to(target.scalar_type()) : in[1]);
    }
    return Leaves{};
  };
  made.writes = true;
  return made;
}

Operation join(Random& random, const TensorDict& td, bool stack) {
  const SizesView batch = td.batch_size();
  std::vector<std::int64_t> other = list(batch);
  const std::int64_t dim = random.below(static_cast<std::int64_t>(batch.size()) + (stack ? 1 : 0));
  if (!stack) other[static_cast<std::size_t>(dim)] = random.below(4);
  Operation made;
  made.name = stack ? "stack" : "cat";
  made.sources = {td, random_like(random, td, other, 10)};
  if (random.chance(20)) made.sources.push_back(td);
  made.on_trees = [=](const Trees& in) {
    return Trees{stack ? td::stack(in, dim) : td::cat(in, dim)};
  };
  made.on_leaves = [=](const Leaves& in) {
    return Leaves{stack ? at::stack(in, dim) : at::cat(in, dim)};
  };
  made.gathers = true;  // libtorch may keep channels last, which here are dense rows
  return made;
}

Operation expand(Random& random, TensorDict td) {
  std::vector<std::int64_t> shape = list(td.batch_size());
  for (std::int64_t& size : shape) size = size == 1 && random.chance(60) ? random.below(4) : size;
  if (random.chance(40)) shape.insert(shape.begin(), random.below(3));
  return unary(
      "expand", td, [=](const TensorDict& t) { return t.expand(shape); },
      [shape, dims = td.batch_size().size()](const at::Tensor& t) {
        return t.expand(with_rest(shape, t, dims));
      });
}

Operation change_shape(Random& random, TensorDict td, bool copies) {
  const std::vector<std::int64_t> shape = other_shape(random, td.batch_size());
  const std::size_t dims = td.batch_size().size();
  return unary(
      copies ? "reshape" : "view", std::move(td),
      [=](const TensorDict& t) { return copies ? t.reshape(shape) : t.view(shape); },
      [=](const at::Tensor& t) {
        const auto sizes = with_rest(shape, t, dims);
        return copies ? t.reshape(sizes) : t.view(sizes);
      });
}

Operation permute(Random& random, TensorDict td) {
  const std::vector<std::int64_t> order = random.order(td.batch_size().size());
  return unary(
      "permute", std::move(td), [=](const TensorDict& t) { return t.permute(order); },
      [=](const at::Tensor& t) {
        std::vector<std::int64_t> all = order;
        for (auto i = static_cast<std::int64_t>(all.size()); i < t.dim(); ++i) all.push_back(i);
        return t.permute(all);
      });
}

}  // namespace

Operation random_operation(Random& random) {
  if (random.chance(50)) return random_leaf_operation(random);
  std::vector<std::int64_t> batch = random.sizes(4);
  const std::int64_t kind = random.below(20);
  if (batch.empty() && (kind == 12 || kind == 13 || kind == 15 || kind == 16))
    batch = {1 + random.below(3)};
  TensorDict td = random_tree(random, batch, 3);
  const auto dims = static_cast<std::int64_t>(batch.size());
  const std::int64_t dim = dims == 0 ? 0 : random.below(dims);
  switch (kind) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4: return index_read(random, td);
    case 5:
    case 6:
    case 7:
    case 8: return index_write(random, td);
    case 9: return change_shape(random, td, false);
    case 10: return change_shape(random, td, true);
    case 11: return permute(random, td);
    case 12: {
      const std::int64_t other = random.below(dims);
      return unary(
          "transpose", td, [=](const TensorDict& t) { return t.transpose(dim, other); },
          [=](const at::Tensor& t) { return t.transpose(dim, other); });
    }
    case 13:
      return unary(
          "squeeze", td, [=](const TensorDict& t) { return t.squeeze(dim - dims); },
          [=](const at::Tensor& t) { return t.squeeze(dim); });
    case 14: {
      const std::int64_t at = random.below(dims + 1);
      return unary(
          "unsqueeze", td, [=](const TensorDict& t) { return t.unsqueeze(at); },
          [=](const at::Tensor& t) { return t.unsqueeze(at); });
    }
    case 15: return join(random, td, false);
    case 16: {
      Operation made;
      made.name = "unbind";
      made.sources = {td};
      made.on_trees = [=](const Trees& in) { return in[0].unbind(dim); };
      made.on_leaves = [=](const Leaves& in) { return in[0].unbind(dim); };
      return made;
    }
    case 17: return join(random, td, true);
    case 18: return expand(random, td);
    default: break;
  }
  if (random.chance(40)) {
    return unary(
        "clone", td, [](const TensorDict& t) { return t.clone(); },
        [](const at::Tensor& t) { return t.clone(); });
  }
  if (random.chance(50)) {
    return unary(
        "contiguous", td, [](const TensorDict& t) { return t.contiguous(); },
        [](const at::Tensor& t) { return t.contiguous(); });
  }
  const c10::ScalarType dtype = random_dtype(random);
  return unary(
      "to", td, [=](const TensorDict& t) { return t.to(dtype); },
      [=](const at::Tensor& t) { return t.to(dtype); });
}

}  // namespace td::test
