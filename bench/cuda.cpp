// The first GPU, where libtorch sees one: copies there and back, and work on leaves that are there. Kernels run behind
// the program's back: each figure ends when they have ended.
#include "trained.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <memory>

namespace bench {

namespace {

using Tensors = std::vector<at::Tensor>;

void wait() {
  const c10::impl::VirtualGuardImpl guard(at::kCUDA);
  const c10::Stream stream = guard.getStream(guard.getDevice());
  while (!guard.queryStream(stream)) {
  }
}

// The same values on the GPU.
struct There {
  explicit There(const Leaves& leaves) {
    ok(td_to_device(leaves.td, TD_DEVICE_CUDA, -1, nullptr, &td));
    for (const at::Tensor& leaf : leaves.tensors) tensors.push_back(leaf.to(at::kCUDA));
    wait();
  }
  ~There() { td_free(td); }
  There(const There&) = delete;
  There& operator=(const There&) = delete;

  td_tensordict* td = nullptr;
  Tensors tensors;
};

template <class Ours, class Theirs>
void makes(const std::string& name, int leaves, Ours ours, Theirs theirs) {
  figure(
      name, leaves, 0,
      [ours](benchmark::State& state) {
        for (auto _ : state) {
          td_tensordict* result = nullptr;
          ok(ours(&result));
          wait();
          td_free(result);
        }
      },
      [theirs](benchmark::State& state) {
        for (auto _ : state) {
          Tensors results = theirs();
          wait();
          benchmark::DoNotOptimize(results.data());
        }
      });
}

template <class Each>
Tensors each(const Tensors& tensors, Each of) {
  Tensors results;
  results.reserve(tensors.size());
  for (const at::Tensor& one : tensors) results.push_back(of(one));
  return results;
}

void copies(int n, const Shared& leaves, const std::shared_ptr<There>& there,
            const std::string& size) {
  const auto to = [](const td_tensordict* td, td_device_type device, td_tensordict** result) {
    return td_to_device(td, device, -1, nullptr, result);
  };
  makes(
      "to a GPU" + size, n,
      [=](td_tensordict** result) { return to(leaves->td, TD_DEVICE_CUDA, result); },
      [=] {
        return each(leaves->tensors, [](const at::Tensor& one) { return one.to(at::kCUDA); });
      });
  makes(
      "from a GPU" + size, n,
      [=](td_tensordict** result) { return to(there->td, TD_DEVICE_CPU, result); },
      [=] { return each(there->tensors, [](const at::Tensor& one) { return one.to(at::kCPU); }); });
  td_tensordict* packed = nullptr;
  ok(td_consolidate(leaves->td, nullptr, nullptr, &packed));
  const std::shared_ptr<td_tensordict> held(packed, td_free);
  makes(
      "to a GPU, consolidated" + size, n,
      [=](td_tensordict** result) { return to(held.get(), TD_DEVICE_CUDA, result); },
      [=] {
        return each(leaves->tensors, [](const at::Tensor& one) { return one.to(at::kCUDA); });
      });
  td_consolidate_options options = TD_CONSOLIDATE_OPTIONS_INIT;
  options.pin_memory = 1;
  td_tensordict* pinned_packed = nullptr;
  ok(td_consolidate(leaves->td, nullptr, &options, &pinned_packed));
  const std::shared_ptr<td_tensordict> pinned(pinned_packed, td_free);
  const Tensors pinned_leaves =
      each(leaves->tensors, [](const at::Tensor& one) { return one.pin_memory(); });
  makes(
      "to a GPU, consolidated, pinned, non-blocking" + size, n,
      [=](td_tensordict** result) {
        td_to_options how = TD_TO_OPTIONS_INIT;
        how.non_blocking = 1;
        return td_to_device(pinned.get(), TD_DEVICE_CUDA, -1, &how, result);
      },
      [=] {
        return each(pinned_leaves, [](const at::Tensor& one) { return one.to(at::kCUDA, true); });
      });
}

void work(int n, const std::shared_ptr<There>& there, const std::string& size) {
  const auto add = [=](td_tensordict** result) {
    td_operand one{};
    one.kind = TD_OPERAND_INT;
    one.integer = 1;
    return td_binary(there->td, TD_BINARY_ADD, &one, nullptr, result);
  };
  makes("add a number, on a GPU" + size, n, add, [=] {
    return each(there->tensors, [](const at::Tensor& one) { return at::add(one, 1); });
  });
  const at::Tensor picks = at::tensor({3, 1, 2, 60, 7, 9, 11, 30}, at::kLong);
  const std::shared_ptr<td_tensor> handle(wrap(picks), td_tensor_free);
  makes(
      "index by a tensor, on a GPU" + size, n,
      [=](td_tensordict** result) {
        td_index_item item{};
        item.kind = TD_INDEX_TENSOR;
        item.tensor = handle.get();
        return td_index(there->td, &item, 1, result);
      },
      [=] {
        const at::Tensor here = picks.to(at::kCUDA);
        return each(there->tensors, [&](const at::Tensor& one) { return one.index({here}); });
      });
  makes(
      "clone, on a GPU" + size, n,
      [=](td_tensordict** result) { return td_clone(there->td, 0, result); },
      [=] { return each(there->tensors, [](const at::Tensor& one) { return one.clone(); }); });
}

// The leaves as parameters, with themselves as gradients.
std::shared_ptr<Trained> trained_on(const There& there) {
  td_tensordict* own = nullptr;
  ok(td_clone(there.td, 0, &own));
  return std::make_shared<Trained>(own, there.td, each(there.tensors, [](const at::Tensor& one) {
                                     return trained_copy(one, one);
                                   }));
}

// What small leaves need one kernel each for, by hand.
void small_work(int n, const std::shared_ptr<There>& there) {
  const auto number = [](double value) {
    td_operand operand{};
    operand.kind = TD_OPERAND_DOUBLE;
    operand.real = value;
    return operand;
  };
  makes(
      "clamp, on a GPU", n,
      [=](td_tensordict** result) {
        const td_operand low = number(0.2), high = number(0.8);
        return td_ternary(there->td, TD_TERNARY_CLAMP, &low, &high, 0, result);
      },
      [=] {
        return each(there->tensors, [](const at::Tensor& one) { return at::clamp(one, 0.2, 0.8); });
      });
  step_figure("Adam step, on a GPU", n, 0, trained_on(*there), wait);
}

}  // namespace

void register_cuda() {
  if (!at::hasCUDA()) return;
  for (const int n : {10, 100}) {
    const auto leaves = std::make_shared<Leaves>(n);
    const auto there = std::make_shared<There>(*leaves);
    copies(n, leaves, there, "");
    work(n, there, "");
    small_work(n, there);
  }
  const auto large = std::make_shared<Leaves>(10, std::vector<std::int64_t>{64, 32768});
  const auto there = std::make_shared<There>(*large);
  copies(10, large, there, ", leaves of 8 MB");
  work(10, there, ", leaves of 8 MB");
}

}  // namespace bench
