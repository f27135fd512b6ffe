// Keys and entries: against the tensors that a program would have to allocate in the meantime, and
// against the loop over a vector of tensors.
#include "fixture.h"

#include <memory>

namespace bench {

namespace {

// What the operations below must be quicker than: one new tensor for each leaf.
Body allocations(int n) {
  return [n](benchmark::State& state) {
    for (auto _ : state) {
      for (int i = 0; i < n; ++i) {
        at::Tensor made = at::empty({64, 8});
        benchmark::DoNotOptimize(made);
      }
    }
  };
}

void keys(int n, Shared leaves) {
  figure("flatten_keys", n, 0.5,
         makes(leaves,
               [](const td_tensordict* td, td_tensordict** result) {
                 return td_flatten_keys(td, ".", nullptr, result);
               }),
         allocations(n));
  const std::string first = leaves->names.front(), last = leaves->names.back();
  figure("select of 2", n, 0.5,
         makes(leaves,
               [first, last](const td_tensordict* td, td_tensordict** result) {
                 const char* flat[] = {first.c_str()};
                 const char* nested[] = {"nested", last.c_str()};
                 const td_key wanted[] = {{flat, 1}, {nested, 2}};
                 return td_select(td, wanted, 2, nullptr, result);
               }),
         allocations(n));
  // One cannot be measured without the other: both together have the room of one.
  figure(
      "lock and unlock", n, 0.5,
      [leaves](benchmark::State& state) {
        for (auto _ : state) {
          ok(td_lock(leaves->td));
          ok(td_unlock(leaves->td));
        }
      },
      allocations(n));
}

void values(int n, Shared leaves) {
  auto source = std::make_shared<Leaves>(n);
  figure(
      "update_", n, 0.5,
      [leaves, source](benchmark::State& state) {
        td_update_options strict = TD_UPDATE_OPTIONS_INIT;
        strict.mode = TD_UPDATE_STRICT;
        for (auto _ : state) ok(td_update(leaves->td, source->td, &strict));
      },
      [leaves, source](benchmark::State& state) {
        for (auto _ : state) {
          for (std::size_t i = 0; i < leaves->tensors.size(); ++i) {
            leaves->tensors[i].copy_(source->tensors[i]);
          }
        }
      });
}

// One entry, and all of them, changed in the dictionary itself.
void changes(int n, Shared leaves) {
  const std::string first = leaves->names.front();
  td_tensor* leaf = wrap(leaves->tensors[0]);
  figure(
      "set", n, 0.3,
      [leaves, first, leaf](benchmark::State& state) {
        const char* key[] = {first.c_str()};
        for (auto _ : state) ok(td_set(leaves->td, key, 1, leaf));
      },
      allocations(1));
  figure("set a new key and remove it", n, 0.6, sets_and_removes(leaves, leaf), allocations(1));
  figure(
      "update", n, 0.3,
      [leaves](benchmark::State& state) {
        td_tensordict* target = nullptr;
        ok(td_clone(leaves->td, 0, &target));
        for (auto _ : state) ok(td_update(target, leaves->td, nullptr));
        td_free(target);
      },
      allocations(n));
  figure(
      "update of an empty one", n, 0.6,
      [leaves](benchmark::State& state) {
        for (auto _ : state) {
          td_tensordict* target = nullptr;
          const std::int64_t batch[] = {64};
          ok(td_create(batch, 1, TD_DEVICE_NONE, -1, &target));
          ok(td_update(target, leaves->td, nullptr));
          td_free(target);
        }
      },
      allocations(n));
}

// A program that fills an empty dictionary row by row: the first row makes the entries.
void preallocation() {
  constexpr std::int64_t rows = 100;
  auto pieces = std::make_shared<Leaves>(2, std::vector<std::int64_t>{8});
  figure(
      "pre-allocation, 100 rows", 2, 0.3,
      [pieces](benchmark::State& state) {
        td_tensordict* row = nullptr;
        ok(td_create(nullptr, 0, TD_DEVICE_NONE, -1, &row));
        const char* names[] = {"obs", "reward"};
        for (std::size_t i = 0; i < 2; ++i) {
          td_tensor* leaf = wrap(pieces->tensors[i]);
          ok(td_set(row, names + i, 1, leaf));
          td_tensor_free(leaf);
        }
        for (auto _ : state) {
          td_tensordict* td = nullptr;
          const std::int64_t batch[] = {rows};
          ok(td_create(batch, 1, TD_DEVICE_NONE, -1, &td));
          td_index_item at{};
          at.kind = TD_INDEX_INT;
          for (at.start = 0; at.start < rows; ++at.start) ok(td_set_at(td, &at, 1, row));
          td_free(td);
        }
        td_free(row);
      },
      [pieces](benchmark::State& state) {
        for (auto _ : state) {
          std::vector<at::Tensor> made;
          for (const at::Tensor& leaf : pieces->tensors) {
            made.push_back(at::zeros({rows, leaf.size(0)}));
          }
          for (std::int64_t i = 0; i < rows; ++i) {
            for (std::size_t k = 0; k < made.size(); ++k) {
              made[k].select(0, i).copy_(pieces->tensors[k]);
            }
          }
        }
      });
}

}  // namespace

Body sets_and_removes(Shared leaves, td_tensor* value) {
  return [leaves, value](benchmark::State& state) {
    const char* key[] = {"new"};
    for (auto _ : state) {
      ok(td_set(leaves->td, key, 1, value));
      ok(td_remove(leaves->td, key, 1));
    }
  };
}

void register_entries() {
  for (const int n : {10, 100}) {
    auto leaves = std::make_shared<Leaves>(n);
    keys(n, leaves);
    values(n, leaves);
    changes(n, leaves);
  }
  preallocation();
}

}  // namespace bench
