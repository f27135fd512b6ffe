// Lazy stacks, against a vector of the dictionaries that a program in C++ has without us: maps from
// names to tensors.
#include "fixture.h"

#include <memory>
#include <unordered_map>

namespace bench {

namespace {

using Dictionary = std::unordered_map<std::string, at::Tensor>;

struct Elements {
  explicit Elements(int n) {
    for (int k = 0; k < 8; ++k) {
      leaves.push_back(std::make_unique<Leaves>(n));
      handles.push_back(leaves.back()->td);
      Dictionary map;
      for (std::size_t i = 0; i < leaves.back()->tensors.size(); ++i) {
        map.emplace(leaves.back()->names[i], leaves.back()->tensors[i]);
      }
      maps.push_back(std::move(map));
    }
    ok(td_lazy_stack(handles.data(), handles.size(), 0, &lazy));
  }
  ~Elements() { td_free(lazy); }
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;

  std::vector<std::unique_ptr<Leaves>> leaves;
  std::vector<const td_tensordict*> handles;
  std::vector<Dictionary> maps;
  td_tensordict* lazy = nullptr;
};

using Shared = std::shared_ptr<Elements>;

Body create(Shared elements) {
  return [elements](benchmark::State& state) {
    for (auto _ : state) {
      td_tensordict* result = nullptr;
      ok(td_lazy_stack(elements->handles.data(), elements->handles.size(), 0, &result));
      benchmark::DoNotOptimize(result);
      td_free(result);
    }
  };
}

}  // namespace

void register_lazy() {
  const int n = 10;
  auto elements = std::make_shared<Elements>(n);
  figure("lazy stack of 8: create", n, 1.1, create(elements), [elements](benchmark::State& state) {
    for (auto _ : state) {
      std::vector<Dictionary> made(elements->maps);
      benchmark::DoNotOptimize(made.data());
    }
  });
  // What is shared instead of copied is a pointer, and nothing is checked.
  figure("lazy stack of 8: create, beside a vector of pointers", n, 0, create(elements),
         [elements](benchmark::State& state) {
           std::vector<std::shared_ptr<Dictionary>> maps;
           for (const Dictionary& map : elements->maps) {
             maps.push_back(std::make_shared<Dictionary>(map));
           }
           for (auto _ : state) {
             std::vector<std::shared_ptr<Dictionary>> made(maps);
             benchmark::DoNotOptimize(made.data());
           }
         });
  figure(
      "lazy stack of 8: index one element", n, 1.1,
      [elements](benchmark::State& state) {
        td_index_item at{};
        at.kind = TD_INDEX_INT;
        at.start = 3;
        for (auto _ : state) {
          td_tensordict* result = nullptr;
          ok(td_index(elements->lazy, &at, 1, &result));
          benchmark::DoNotOptimize(result);
          td_free(result);
        }
      },
      [elements](benchmark::State& state) {
        for (auto _ : state) {
          Dictionary one = elements->maps[3];
          benchmark::DoNotOptimize(one);
        }
      });
  figure(
      "lazy stack of 8: one key dense", n, 1.1,
      [elements](benchmark::State& state) {
        const char* path[] = {"leaf_0"};
        for (auto _ : state) {
          td_tensor* result = nullptr;
          ok(td_get(elements->lazy, path, 1, &result));
          benchmark::DoNotOptimize(result);
          td_tensor_free(result);
        }
      },
      [elements](benchmark::State& state) {
        for (auto _ : state) {
          std::vector<at::Tensor> column;
          column.reserve(elements->maps.size());
          for (const Dictionary& map : elements->maps) column.push_back(map.at("leaf_0"));
          benchmark::DoNotOptimize(at::stack(column, 0));
        }
      });
}

}  // namespace bench
