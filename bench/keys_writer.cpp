// Look-ups against std::unordered_map, the writer against select and copy_, and what a handle costs.
#include "fixture.h"

#include <memory>
#include <unordered_map>

namespace bench {

namespace {

using Map = std::unordered_map<std::string, at::Tensor>;

struct Lookup {
  std::shared_ptr<Leaves> leaves;
  Map flat;                                  // all names
  std::unordered_map<std::string, Map> two;  // "nested" → its names
  td_tensor* value = nullptr;
  at::Tensor tensor;

  explicit Lookup(int n) : leaves(std::make_shared<Leaves>(n)) {
    const auto half = leaves->tensors.size() / 2;
    for (std::size_t i = 0; i < leaves->tensors.size(); ++i) {
      if (i < half) flat[leaves->names[i]] = leaves->tensors[i];
      if (i >= half) two["nested"][leaves->names[i]] = leaves->tensors[i];
    }
    tensor = at::rand({64, 8});
    value = wrap(tensor);
  }
  ~Lookup() { td_tensor_free(value); }
};

void get_and_set(int n) {
  auto at = std::make_shared<Lookup>(n);
  figure("get, one level", n, 1.5, gets(at->leaves, 1), [at](benchmark::State& state) {
    InTurn names(*at->leaves, 1);
    for (auto _ : state) {
      at::Tensor result = at->flat.find(names.next())->second;
      benchmark::DoNotOptimize(result);
    }
  });
  figure("get, two levels", n, 1.5, gets(at->leaves, 2), [at](benchmark::State& state) {
    InTurn names(*at->leaves, 2);
    const std::string nested = "nested";
    for (auto _ : state) {
      at::Tensor result = at->two.find(nested)->second.find(names.next())->second;
      benchmark::DoNotOptimize(result);
    }
  });
  figure("set, one level", n, 1.3, sets(at->leaves, 1, at->value), [at](benchmark::State& state) {
    InTurn names(*at->leaves, 1);
    for (auto _ : state) at->flat[names.next()] = at->tensor;
  });
  figure("set, two levels", n, 1.3, sets(at->leaves, 2, at->value), [at](benchmark::State& state) {
    InTurn names(*at->leaves, 2);
    const std::string nested = "nested";
    for (auto _ : state) at->two[nested][names.next()] = at->tensor;
  });
}

void writer(int n) {
  auto leaves = std::make_shared<Leaves>(n, std::vector<std::int64_t>{4096, 8});
  auto row = std::make_shared<Row>(*leaves);
  figure(
      "writer, one row", n, 0.03,
      [leaves, row](benchmark::State& state) {
        td_writer* out = nullptr;
        std::int64_t left = 0;
        for (auto _ : state) {
          if (left == 0) {
            state.PauseTiming();
            td_writer_free(out);
            ok(td_writer_open(leaves->td, nullptr, &out));
            for (std::size_t i = 0; i < leaves->names.size(); ++i) {
              const char* path[] = {"nested", leaves->names[i].c_str()};
              const bool nested = i >= leaves->names.size() / 2;
              std::int32_t field;
              ok(td_writer_bind(out, nested ? path : path + 1, nested ? 2 : 1, &field));
            }
            left = 4096;
            state.ResumeTiming();
          }
          for (std::size_t i = 0; i < row->tensors.size(); ++i) {
            ok(td_writer_put(out, static_cast<std::int32_t>(i), row->tensors[i].data_ptr(), 32));
          }
          ok(td_writer_next(out));
          --left;
        }
        td_writer_free(out);
      },
      [leaves, row](benchmark::State& state) {
        std::int64_t at = 0;
        for (auto _ : state) {
          for (std::size_t i = 0; i < leaves->tensors.size(); ++i) {
            leaves->tensors[i].select(0, at).copy_(row->tensors[i]);
          }
          at = (at + 1) % 4096;
        }
      });
}

// Not a ratio with a goal: nanoseconds beside one look-up in a map.
void handles() {
  auto at = std::make_shared<Lookup>(10);
  const auto beside = [at](benchmark::State& state) {
    const std::string name = at->leaves->names[0];
    for (auto _ : state) benchmark::DoNotOptimize(at->flat.find(name));
  };
  figure(
      "handle: open and free", 1, 0,
      [at](benchmark::State& state) {
        for (auto _ : state) {
          td_tensor* result = nullptr;
          ok(td_tensor_dup(at->value, &result));
          td_tensor_free(result);
        }
      },
      beside);
  figure(
      "handle: look-up", 1, 0,
      [at](benchmark::State& state) {
        for (auto _ : state) {
          td_dtype dtype;
          ok(td_tensor_dtype(at->value, &dtype));
          benchmark::DoNotOptimize(dtype);
        }
      },
      beside);
}

}  // namespace

Body gets(Shared leaves, std::size_t levels) {
  return [leaves, levels](benchmark::State& state) {
    InTurn names(*leaves, levels);
    const char* path[] = {"nested", nullptr};
    for (auto _ : state) {
      path[1] = names.next().c_str();
      td_tensor* result = nullptr;
      ok(td_get(leaves->td, path + 2 - levels, levels, &result));
      benchmark::DoNotOptimize(result);
      td_tensor_free(result);
    }
  };
}

Body sets(Shared leaves, std::size_t levels, td_tensor* value) {
  return [leaves, levels, value](benchmark::State& state) {
    InTurn names(*leaves, levels);
    const char* path[] = {"nested", nullptr};
    for (auto _ : state) {
      path[1] = names.next().c_str();
      ok(td_set(leaves->td, path + 2 - levels, levels, value));
    }
  };
}

void register_keys_and_writer() {
  for (const int n : {10, 100}) {
    get_and_set(n);
    writer(n);
  }
  handles();
}

}  // namespace bench
