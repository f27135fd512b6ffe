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

// A call that changes `leaves`, and the loop that does.
void in_place(const char* name, int n, double goal, const Shared& leaves,
              td_status (*ours)(td_tensordict*), void (*theirs)(const at::Tensor&)) {
  figure(
      name, n, goal,
      [leaves, ours](benchmark::State& state) {
        for (auto _ : state) ok(ours(leaves->td));
      },
      [leaves, theirs](benchmark::State& state) {
        for (auto _ : state) {
          for (const at::Tensor& leaf : leaves->tensors) theirs(leaf);
        }
      });
}

// A call that makes a dictionary, and the loop that makes as many tensors.
template <class Ours, class Theirs>
void makes(const char* name, int n, double goal, const Shared& leaves, Ours ours, Theirs theirs) {
  figure(
      name, n, goal,
      [leaves, ours](benchmark::State& state) {
        for (auto _ : state) {
          td_tensordict* result = nullptr;
          ok(ours(*leaves, &result));
          td_free(result);
        }
      },
      [leaves, theirs](benchmark::State& state) {
        for (auto _ : state) {
          std::vector<at::Tensor> results;
          results.reserve(leaves->tensors.size());
          for (const at::Tensor& leaf : leaves->tensors) results.push_back(theirs(leaf));
          benchmark::DoNotOptimize(results.data());
        }
      });
}

}  // namespace

void register_math() {
  const int n = 10;
  const auto leaves = std::make_shared<Leaves>(n);
  makes(
      "add a number", n, 0.35, leaves,
      [](const Leaves& of, td_tensordict** result) {
        const td_operand one = number(1);
        return td_binary(of.td, TD_BINARY_ADD, &one, nullptr, result);
      },
      [](const at::Tensor& leaf) { return at::add(leaf, 1); });
  const at::Tensor factor = at::ones({64});
  const std::shared_ptr<td_tensor> handle(wrap(factor), td_tensor_free);
  makes(
      "multiply by a tensor", n, 0.6, leaves,
      [handle](const Leaves& of, td_tensordict** result) {
        td_operand operand{};
        operand.kind = TD_OPERAND_TENSOR;
        operand.tensor = handle.get();
        return td_binary(of.td, TD_BINARY_MUL, &operand, nullptr, result);
      },
      [factor](const at::Tensor& leaf) { return at::mul(leaf, factor.unsqueeze(-1)); });
  figure(
      "equal everywhere", n, 1.1,
      [leaves](benchmark::State& state) {
        td_operand other{};
        other.kind = TD_OPERAND_DICT;
        other.dict = leaves->td;
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
  in_place(
      "add a number, in place", n, 0.35, leaves,
      [](td_tensordict* td) {
        const td_operand one = number(1);
        return td_binary_inplace(td, TD_BINARY_ADD, &one, nullptr);
      },
      [](const at::Tensor& leaf) { leaf.add_(1); });
  in_place("fill with zeros", n, 0.6, leaves, td_zero,
           [](const at::Tensor& leaf) { leaf.zero_(); });
}

}  // namespace bench
