// Operations that act on each leaf alike, against the same operator of libtorch.
#include "core/keys/entries.h"
#include "core/keys/masked.h"
#include "core/math/call.h"
#include "core/math/math.h"
#include "core/math/reduce.h"
#include "core/shape/fill.h"
#include "core/shape/join.h"
#include "core/shape/select_rows.h"
#include "core/shape/shape.h"
#include "core/tensor/tensor_index.h"
#include "core/tree/lazy_ops.h"
#include "core/tree/sub_tensordict.h"
#include "random_index.h"
#include "random_operation.h"

namespace td::test {

namespace {

struct UnaryCase {
  Unary op;
  const char* name;
  at::Tensor (*out)(const at::Tensor&);
  void (*in)(at::Tensor);  // nullptr: there is none
};

const std::vector<UnaryCase>& unary_cases() {
  static const auto* const all = new std::vector<UnaryCase>{
#define TD_UNARY(number, NAME, name, doc)                                                \
  {Unary::name##_op, #name, [](const at::Tensor& a) { return at::Tensor(at::name(a)); }, \
   [](at::Tensor a) { a.name##_(); }},
#define TD_PREDICATE(number, NAME, name, doc) \
  {Unary::name##_op, #name, [](const at::Tensor& a) { return at::Tensor(at::name(a)); }, nullptr},
#include "core/math/ops.def"
  };
  return *all;
}

struct BinaryCase {
  Binary op;
  const char* name;
  at::Tensor (*out)(const at::Tensor&, const at::Tensor&);
  void (*in)(at::Tensor, const at::Tensor&);
};

using T = const at::Tensor&;
const BinaryCase binary_cases[] = {
    {Binary::add_op, "add", [](T a, T b) { return at::add(a, b); },
     [](at::Tensor a, T b) { a.add_(b); }},
    {Binary::sub_op, "sub", [](T a, T b) { return at::sub(a, b); },
     [](at::Tensor a, T b) { a.sub_(b); }},
    {Binary::mul_op, "mul", [](T a, T b) { return at::mul(a, b); },
     [](at::Tensor a, T b) { a.mul_(b); }},
    {Binary::div_op, "div", [](T a, T b) { return at::div(a, b); },
     [](at::Tensor a, T b) { a.div_(b); }},
    {Binary::rdiv_op, "rdiv", [](T a, T b) { return at::mul(at::reciprocal(a), b); }, nullptr},
    {Binary::maximum_op, "maximum", [](T a, T b) { return at::maximum(a, b); }, nullptr},
    {Binary::logical_and_op, "logical_and", [](T a, T b) { return at::logical_and(a, b); },
     nullptr},
    {Binary::eq_op, "eq", [](T a, T b) { return at::eq(a, b); }, nullptr},
    {Binary::lt_op, "lt", [](T a, T b) { return at::lt(a, b); }, nullptr},
};

// Dimensions of size 1 behind, until there are as many as the leaf has.
at::Tensor on_the_left(const at::Tensor& tensor, const at::Tensor& leaf) {
  std::vector<std::int64_t> sizes = list(tensor.sizes());
  sizes.resize(static_cast<std::size_t>(leaf.dim()), 1);
  return tensor.reshape(sizes);
}

at::Tensor random_mask(SizesView sizes) { return at::rand(sizes).lt(0.5); }

Operation unary_math(Random& random, const TensorDict& td) {
  const auto& cases = unary_cases();
  const UnaryCase& one =
      cases[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(cases.size())))];
  if (one.in != nullptr && random.chance(40)) {
    return writing(
        "unary_", {td}, [op = one.op](const Trees& in) { td::unary_(in[0], op); },
        [in = one.in](const Leaves& leaves) { in(leaves[0]); });
  }
  return unary(
      "unary", td, [op = one.op](const TensorDict& t) { return td::unary(t, op); }, one.out);
}

Operation binary_math(Random& random, const TensorDict& td) {
  const BinaryCase& one = binary_cases[random.below(std::size(binary_cases))];
  const bool in_place = one.in != nullptr && random.chance(40);
  const auto kind = random.below(3);
  Trees sources{td};
  std::function<Operand(const Trees&)> operand;
  std::function<at::Tensor(const Leaves&)> same;
  if (kind == 0) {
    sources.push_back(random_like(random, td, td.batch_size(), 20));
    operand = [](const Trees& in) { return Operand(in[1]); };
    same = [](const Leaves& in) { return in[1]; };
  } else {
    const bool single = kind == 1;
    const at::Tensor tensor =
        random_tensor(random, single ? SizesView() : td.batch_size(), random_dtype(random));
    operand = [tensor](const Trees&) { return Operand(tensor); };
    same = [tensor, single](const Leaves& in) {
      return single ? tensor : on_the_left(tensor, in[0]);
    };
  }
  if (in_place) {
    Operation made = writing(
        "binary_", sources,
        [op = one.op, operand](const Trees& in) { td::binary_(in[0], op, operand(in)); },
        [in = one.in, same](const Leaves& leaves) { in(leaves[0], same(leaves)); });
    return made;
  }
  Operation made;
  made.name = "binary";
  made.sources = sources;
  made.on_trees = [op = one.op, operand](const Trees& in) {
    return Trees{td::binary(in[0], op, operand(in))};
  };
  made.on_leaves = [out = one.out, same](const Leaves& in) { return Leaves{out(in[0], same(in))}; };
  made.values = kind == 2;  // the operand may be expanded or not
  return made;
}

Operation ternary_math(Random& random, const TensorDict& td) {
  Operation made;
  made.name = "addcmul";
  made.sources = {td, random_like(random, td, td.batch_size(), 0),
                  random_like(random, td, td.batch_size(), 0)};
  made.on_trees = [](const Trees& in) {
    return Trees{td::ternary(in[0], Ternary::addcmul_op, in[1], in[2])};
  };
  made.on_leaves = [](const Leaves& in) { return Leaves{at::addcmul(in[0], in[1], in[2])}; };
  return made;
}

Operation reduction(Random& random, const TensorDict& td) {
  struct Case {
    Reduction op;
    at::Tensor (*of)(const at::Tensor&, at::IntArrayRef, bool);
  };
  using D = at::IntArrayRef;
  static const Case cases[] = {
      {Reduction::sum_op, [](T t, D d, bool k) { return at::sum(t, d, k); }},
      {Reduction::nansum_op, [](T t, D d, bool k) { return at::nansum(t, d, k); }},
      {Reduction::mean_op, [](T t, D d, bool k) { return at::mean(t, d, k); }},
      {Reduction::amax_op, [](T t, D d, bool k) { return at::amax(t, d, k); }},
      {Reduction::amin_op, [](T t, D d, bool k) { return at::amin(t, d, k); }},
      {Reduction::std_op, [](T t, D d, bool k) { return at::std(t, d, true, k); }},
  };
  const Case& one = cases[random.below(std::size(cases))];
  const auto dims = static_cast<std::int64_t>(td.batch_size().size());
  std::vector<std::int64_t> over = random.order(td.batch_size().size());
  over.resize(static_cast<std::size_t>(1 + random.below(dims)));
  const bool keep = random.chance(50);
  Operation made = unary(
      "reduce", td,
      [=](const TensorDict& t) {
        ReduceOptions options;
        options.over = Over::dims;
        options.dims.assign(over.begin(), over.end());
        options.keepdim = keep;
        return td::reduce(t, one.op, options);
      },
      [=](const at::Tensor& t) { return one.of(t, over, keep); });
  made.values = true;
  return made;
}

Operation rows(Random& random, const TensorDict& td) {
  const SizesView batch = td.batch_size();
  const auto dims = static_cast<std::int64_t>(batch.size());
  const std::int64_t dim = random.below(dims), size = batch[static_cast<std::size_t>(dim)];
  Operation made;
  switch (random.below(7)) {
    case 0: {
      std::vector<std::int64_t> counts;
      for (std::int64_t i = 0; i < dims; ++i) counts.push_back(random.below(3));
      made = unary(
          "repeat", td, [=](const TensorDict& t) { return td::repeat(t, counts); },
          [=](const at::Tensor& t) {
            std::vector<std::int64_t> all = counts;
            all.resize(static_cast<std::size_t>(t.dim()), 1);
            return t.repeat(all);
          });
      break;
    }
    case 1: {
      const std::int64_t n = random.below(3);
      made = unary(
          "repeat_interleave", td,
          [=](const TensorDict& t) {
            return td::repeat_interleave(t, at::full({}, n, at::kLong), dim);
          },
          [=](const at::Tensor& t) { return t.repeat_interleave(n, dim); });
      break;
    }
    case 2: {
      const std::int64_t shift = random.below(7) - 3;
      made = unary(
          "roll", td, [=](const TensorDict& t) { return td::roll(t, {shift}, SizesView(&dim, 1)); },
          [=](const at::Tensor& t) { return t.roll({shift}, {dim}); });
      break;
    }
    case 3:
      made = unary(
          "flip", td, [=](const TensorDict& t) { return td::flip(t, {dim}); },
          [=](const at::Tensor& t) { return t.flip({dim}); });
      break;
    case 4: {
      const std::int64_t other = (dim + 1) % dims;
      if (other == dim) return rows(random, td);
      const std::int64_t k = random.below(5) - 2;
      made = unary(
          "rot90", td, [=](const TensorDict& t) { return td::rot90(t, k, dim, other); },
          [=](const at::Tensor& t) {
            return at::rot90(t, k, {dim, other});
          });
      break;
    }
    default: {
      if (std::find(batch.begin(), batch.end(), 0) != batch.end()) break;
      std::vector<std::int64_t> shape = list(batch);
      shape[static_cast<std::size_t>(dim)] = 1 + random.below(3);
      const at::Tensor index = at::randint(size, shape, at::kLong);
      made = unary(
          "gather", td, [=](const TensorDict& t) { return td::gather(t, dim, index); },
          [=](const at::Tensor& t) {
            const auto rest = t.sizes().slice(shape.size());
            return at::gather(t, dim, on_the_left(index, t).expand(joined(shape, rest)));
          });
    }
  }
  if (made.name.empty()) return rows(random, random_tree(random, {2}, 2));
  made.values = true;
  return made;
}

Operation shapes(Random& random, const TensorDict& td) {
  const SizesView batch = td.batch_size();
  const auto dims = static_cast<std::int64_t>(batch.size());
  const std::int64_t dim = random.below(dims), size = batch[static_cast<std::size_t>(dim)];
  switch (random.below(5)) {
    case 0: {
      const std::int64_t end = dim + random.below(dims - dim);
      return unary(
          "flatten", td, [=](const TensorDict& t) { return td::flatten(t, dim, end); },
          [=](const at::Tensor& t) { return t.flatten(dim, end); });
    }
    case 1: {
      const std::vector<std::int64_t> sizes = random.chance(50)
                                                  ? std::vector<std::int64_t>{1, size}
                                                  : std::vector<std::int64_t>{size, 1};
      return unary(
          "unflatten", td, [=](const TensorDict& t) { return td::unflatten(t, dim, sizes); },
          [=](const at::Tensor& t) { return t.unflatten(dim, sizes); });
    }
    case 2: {
      const std::int64_t to = random.below(dims);
      return unary(
          "movedim", td, [=](const TensorDict& t) { return td::move_dims(t, {dim}, {to}); },
          [=](const at::Tensor& t) { return t.movedim(dim, to); });
    }
    case 3: {
      const std::int64_t start = random.below(size + 1), length = random.below(size - start + 1);
      return unary(
          "narrow", td, [=](const TensorDict& t) { return td::narrow(t, dim, start, length); },
          [=](const at::Tensor& t) { return t.narrow(dim, start, length); });
    }
    default: break;
  }
  const std::int64_t first = random.below(size + 1);
  const std::vector<std::int64_t> lengths{first, size - first};
  Operation made;
  made.name = "split";
  made.sources = {td};
  made.on_trees = [=](const Trees& in) { return td::split(in[0], dim, lengths); };
  made.on_leaves = [=](const Leaves& in) { return in[0].split_with_sizes(lengths, dim); };
  return made;
}

Operation masks(Random& random, const TensorDict& td) {
  const at::Tensor mask = random_mask(td.batch_size());
  const at::Tensor value = at::full({}, random.below(9), at::kLong);
  Operation made;
  switch (random.below(4)) {
    case 0:
      made.name = "where";
      made.sources = {td, random_like(random, td, td.batch_size(), 0)};
      made.on_trees = [=](const Trees& in) { return Trees{td::where(in[0], mask, in[1])}; };
      made.on_leaves = [=](const Leaves& in) {
        return Leaves{at::where(on_the_left(mask, in[0]), in[0], in[1])};
      };
      break;
    case 1:
      made = unary(
          "masked_fill", td, [=](const TensorDict& t) { return td::masked_fill(t, mask, value); },
          [=](const at::Tensor& t) { return t.clone().masked_fill_(on_the_left(mask, t), value); });
      break;
    case 2:
      made = writing(
          "masked_fill_", {td}, [=](const Trees& in) { td::masked_fill_(in[0], mask, value); },
          [=](const Leaves& in) {
            at::Tensor(in[0]).masked_fill_(on_the_left(mask, in[0]), value);
          });
      break;
    default:
      made = unary(
          "masked_select", td, [=](const TensorDict& t) { return td::masked_select(t, mask); },
          [=](const at::Tensor& t) { return td::tensor_index(t, {IndexItem::of(mask)}); });
  }
  made.values = true;
  return made;
}

Operation entries(Random& random, const TensorDict& td) {
  switch (random.below(5)) {
    case 0:
      return unary(
          "flatten_keys", td,
          [](const TensorDict& t) { return td::unflatten_keys(td::flatten_keys(t, "."), "."); },
          [](const at::Tensor& t) { return t; });
    case 1:
      return unary(
          "select", td,
          [](const TensorDict& t) {
            const std::string_view a = "a";
            const Path path(a);
            return td::merge({td::select(t, {path}), td::exclude(t, {path})});
          },
          [](const at::Tensor& t) { return t; });
    case 2: {
      Operation made;
      made.name = "update";
      made.sources = {td, random_like(random, td, td.batch_size(), 20)};
      made.on_trees = [](const Trees& in) {
        const TensorDict target = in[0].clone();
        td::update(target, in[1]);
        return Trees{target};
      };
      made.on_leaves = [](const Leaves& in) { return Leaves{in[1]}; };
      made.values = true;
      return made;
    }
    case 3: {
      UpdateOptions options;
      options.mode = random.chance(50) ? UpdateMode::strict : UpdateMode::inplace;
      Operation made = writing(
          "update_", {td, random_like(random, td, td.batch_size(), 20)},
          [=](const Trees& in) { td::update(in[0], in[1], options); },
          [](const Leaves& in) { at::Tensor(in[0]).copy_(in[1]); });
      return made;
    }
    default: break;
  }
  FillOptions options;
  options.kind = random.chance(50) ? Filling::ones : Filling::full;
  options.value = 3;
  const double value = options.kind == Filling::ones ? 1 : 3;
  Operation made = unary(
      "filled_like", td, [=](const TensorDict& t) { return td::filled_like(t, options); },
      [=](const at::Tensor& t) { return at::full_like(t, value); });
  made.values = true;
  return made;
}

Operation by_name(Random& random, const TensorDict& td) {
  using Kind = CallArgument::Kind;
  const std::int64_t bound = random.below(100);
  switch (random.below(4)) {
    case 0:
      return unary(
          "call clamp", td,
          [=](const TensorDict& t) {
            return td::call(t, "aten::clamp", {CallArgument::of(Kind::integer, bound, "max")});
          },
          [=](const at::Tensor& t) { return at::clamp(t, {}, bound); });
    case 1:
      return writing(
          "call add_", {td, random_like(random, td, td.batch_size(), 20)},
          [](const Trees& in) { td::call_inplace(in[0], "aten::add_", {CallArgument::of(in[1])}); },
          [](const Leaves& in) { at::Tensor(in[0]).add_(in[1]); });
    case 2: {
      Operation made;
      made.name = "call maximum";
      made.sources = {td, random_like(random, td, td.batch_size(), 20)};
      made.on_trees = [](const Trees& in) {
        return Trees{td::call(in[0], "aten::maximum", {CallArgument::of(in[1])})};
      };
      made.on_leaves = [](const Leaves& in) { return Leaves{at::maximum(in[0], in[1])}; };
      return made;
    }
    default:
      return unary(
          "call cumsum", td,
          [](const TensorDict& t) {
            return td::call(t, "aten::cumsum", {CallArgument::of(Kind::integer, 0, "dim")});
          },
          [](const at::Tensor& t) { return t.cumsum(0); });
  }
}

// The same through a lazy stack, or through a sub-tensordict.
Operation other_kinds(Random& random, const TensorDict& td) {
  const SizesView batch = td.batch_size();
  if (random.chance(50)) {
    const TensorDict other = random_like(random, td, batch, 0);
    const std::int64_t dim = random.below(static_cast<std::int64_t>(batch.size()) + 1);
    std::vector<std::int64_t> stacked = list(batch);
    stacked.insert(stacked.begin() + dim, 2);
    const RandomIndex index(random, stacked, false);
    Operation made;
    made.name = "lazy stack";
    made.sources = {td, other};
    made.on_trees = [=, items = index.items](const Trees& in) {
      const TensorDict lazy(lazy_stack({in[0].node(), in[1].node()}, dim));
      const TensorDict part = lazy.index(items);
      // A stack of nothing knows of no keys.
      const SizesView sizes = part.batch_size();
      if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end())
        return Trees{td::stack(in, dim).index(items)};
      return Trees{TensorDict(all_dense(part.node()))};
    };
    made.on_leaves = [=, aten = index.aten](const Leaves& in) {
      const at::Tensor all = at::stack(in, dim);
      return Leaves{aten.empty() ? all : all.index(aten)};
    };
    made.values = true;
    return made;
  }
  const RandomIndex index(random, batch, false);
  Operation made = unary(
      "sub-tensordict", td,
      [items = index.items](const TensorDict& t) {
        return TensorDict(all_dense(sub_tensordict(t, items).node()));
      },
      [aten = index.aten](const at::Tensor& t) { return aten.empty() ? t : t.index(aten); });
  made.values = true;
  return made;
}

}  // namespace

Operation random_leaf_operation(Random& random) {
  std::vector<std::int64_t> batch = random.sizes(3);
  if (batch.empty()) batch = {1 + random.below(3)};
  const TensorDict td = random_tree(random, batch, 3);
  switch (random.below(11)) {
    case 0: return unary_math(random, td);
    case 1:
    case 2: return binary_math(random, td);
    case 3: return ternary_math(random, td);
    case 4: return reduction(random, td);
    case 5: return rows(random, td);
    case 6: return shapes(random, td);
    case 7: return masks(random, td);
    case 8: return entries(random, td);
    case 9: return by_name(random, td);
    default: return other_kinds(random, td);
  }
}

}  // namespace td::test
