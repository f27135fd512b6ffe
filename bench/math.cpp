// Arithmetic, comparison and filling, against the same function of libtorch for each tensor.
#include "fixture.h"

#include <memory>

namespace bench {

namespace {

td_operand number(std::int64_t value) {
  td_operand operand{};
  operand.kind = TD_OPERAND_INT;
  operand.integer = value;
  return operand;
}

td_operand whole(const td_tensordict* td) {
  td_operand operand{};
  operand.kind = TD_OPERAND_DICT;
  operand.dict = td;
  return operand;
}

td_operand real(double value) {
  td_operand operand{};
  operand.kind = TD_OPERAND_DOUBLE;
  operand.real = value;
  return operand;
}

// A call that changes the dictionary.
template <class Call>
Body changes(Shared leaves, Call call) {
  return [leaves, call](benchmark::State& state) {
    for (auto _ : state) ok(call(leaves->td));
  };
}

// The loop that changes the tensors.
template <class Op>
Body each(Shared leaves, Op op) {
  return [leaves, op](benchmark::State& state) {
    for (auto _ : state) {
      for (const at::Tensor& leaf : leaves->tensors) op(leaf);
    }
  };
}

}  // namespace

Body multiplies(Shared leaves) {
  const std::shared_ptr<td_tensor> factor(wrap(at::ones({64})), td_tensor_free);
  return makes(leaves, [factor](td_tensordict* td, td_tensordict** result) {
    td_operand operand{};
    operand.kind = TD_OPERAND_TENSOR;
    operand.tensor = factor.get();
    return td_binary(td, TD_BINARY_MUL, &operand, nullptr, result);
  });
}
Body adds(Shared leaves) {
  return makes(std::move(leaves), [](td_tensordict* td, td_tensordict** result) {
    const td_operand one = number(1);
    return td_binary(td, TD_BINARY_ADD, &one, nullptr, result);
  });
}
Body adds_in_place(Shared leaves) {
  return changes(leaves, [](td_tensordict* td) {
    const td_operand one = number(1);
    return td_binary_inplace(td, TD_BINARY_ADD, &one, nullptr);
  });
}

Body clamps(Shared leaves) {
  return makes(std::move(leaves), [](td_tensordict* td, td_tensordict** result) {
    const td_operand least = real(0.25), most = real(0.75);
    return td_ternary(td, TD_TERNARY_CLAMP, &least, &most, 0, result);
  });
}
Body lerps_in_place(Shared leaves, Shared end) {
  return changes(leaves, [end](td_tensordict* td) {
    const td_operand other = whole(end->td), weight = real(0.005);
    return td_ternary_inplace(td, TD_TERNARY_LERP, &other, &weight, 0);
  });
}

void register_math() {
  const int n = 10;
  const auto leaves = std::make_shared<Leaves>(n);
  figure("add a number", n, 0.25, adds(leaves),
         loop(leaves, [](const at::Tensor& leaf) { return at::add(leaf, 1); }));
  const at::Tensor factor = at::ones({64});
  figure("multiply by a tensor", n, 0.25, multiplies(leaves),
         loop(leaves,
              [factor](const at::Tensor& leaf) { return at::mul(leaf, factor.unsqueeze(-1)); }));
  figure(
      "equal everywhere", n, 1.1,
      [leaves](benchmark::State& state) {
        const td_operand other = whole(leaves->td);
        for (auto _ : state) {
          td_tensordict* same = nullptr;
          std::int32_t all = 0;
          ok(td_binary(leaves->td, TD_BINARY_EQ, &other, nullptr, &same));
          ok(td_all(same, &all));
          td_free(same);
          benchmark::DoNotOptimize(all);
        }
      },
      [leaves](benchmark::State& state) {
        for (auto _ : state) {
          bool all = true;
          for (const at::Tensor& leaf : leaves->tensors)
            all = all && at::all(at::eq(leaf, leaf)).item<bool>();
          benchmark::DoNotOptimize(all);
        }
      });
  figure("add a number, in place", n, 0.25, adds_in_place(leaves),
         each(leaves, [](const at::Tensor& leaf) { leaf.add_(1); }));
  const auto end = std::make_shared<Leaves>(n);
  figure("lerp, in place", n, 0.25, lerps_in_place(leaves, end),
         [leaves, end](benchmark::State& state) {
           for (auto _ : state) {
             for (std::size_t i = 0; i < leaves->tensors.size(); ++i)
               leaves->tensors[i].lerp_(end->tensors[i], 0.005);
           }
         });
  figure("clamp", n, 0.25, clamps(leaves),
         loop(leaves, [](const at::Tensor& leaf) { return at::clamp(leaf, 0.25, 0.75); }));
  const auto large = std::make_shared<Leaves>(n, std::vector<std::int64_t>{64, 32768});
  figure("add a number to 8 MB", n, 1.03, adds(large),
         loop(large, [](const at::Tensor& leaf) { return at::add(leaf, 1); }));
  figure("add a number to 8 MB, in place", n, 1.03, adds_in_place(large),
         each(large, [](const at::Tensor& leaf) { leaf.add_(1); }));
  figure("fill with zeros", n, 0.6, changes(leaves, td_zero),
         each(leaves, [](const at::Tensor& leaf) { leaf.zero_(); }));
}

}  // namespace bench
