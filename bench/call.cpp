// Operators by their name, against the same operator called for each tensor.
#include "fixture.h"

#include <memory>

namespace bench {

namespace {

td_call_argument argument(td_argument_kind kind) {
  td_call_argument made{};
  made.kind = kind;
  return made;
}

// One operator with `arguments` behind the leaf.
Body call(std::shared_ptr<Leaves> leaves, const char* name,
          std::vector<td_call_argument> arguments) {
  return [leaves, name, arguments](benchmark::State& state) {
    for (auto _ : state) {
      td_tensordict* result = nullptr;
      std::size_t count = 0;
      ok(td_call(leaves->td, name, arguments.data(), arguments.size(), nullptr, &result, 1,
                 &count));
      benchmark::DoNotOptimize(result);
      td_free(result);
    }
  };
}

Body call_inplace(std::shared_ptr<Leaves> leaves, const char* name,
                  std::vector<td_call_argument> arguments) {
  return [leaves, name, arguments](benchmark::State& state) {
    for (auto _ : state) ok(td_call_inplace(leaves->td, name, arguments.data(), arguments.size()));
  };
}

}  // namespace

Body calls_add(Shared leaves) {
  td_call_argument other = argument(TD_ARGUMENT_DICT);
  other.dict = leaves->td;
  return call(leaves, "aten::add", {other});
}

void register_call() {
  for (const int n : {10, 100}) {
    auto leaves = std::make_shared<Leaves>(n);
    figure("td_call add", n, 0.6, calls_add(leaves),
           loop(leaves, [](const at::Tensor& leaf) { return at::add(leaf, leaf); }));
    td_call_argument bound = argument(TD_ARGUMENT_DOUBLE);
    bound.real = 0.5;
    figure("td_call clamp", n, 0.6, call(leaves, "aten::clamp", {bound}),
           loop(leaves, [](const at::Tensor& leaf) { return at::clamp(leaf, 0.5); }));
    td_call_argument one = argument(TD_ARGUMENT_INT);
    one.integer = 1;
    figure("td_call mul_", n, 0.6, call_inplace(leaves, "aten::mul_.Scalar", {one}),
           loop(leaves, [](const at::Tensor& leaf) { return at::Tensor(leaf).mul_(1); }));
  }
}

}  // namespace bench
