// Operations on the whole dictionary, against the loop over a vector of tensors.
#include "fixture.h"

#include <memory>

namespace bench {

namespace {

td_index_item item(td_index_kind kind, std::int64_t start = 0, std::int64_t stop = 0,
                   td_index_flags flags = 0, const td_tensor* tensor = nullptr) {
  td_index_item made{};
  made.kind = kind;
  made.start = start;
  made.stop = stop;
  made.flags = flags;
  made.tensor = tensor;
  return made;
}

void views(int n, Shared leaves) {
  figure("index by int", n, 0.05, indexes(leaves),
         loop(leaves, [](const at::Tensor& leaf) { return leaf.select(0, 7); }));
  figure("index by slice", n, 0.05,
         makes(leaves,
               [](const td_tensordict* td, td_tensordict** result) {
                 const td_index_item at =
                     item(TD_INDEX_SLICE, 8, 24, TD_INDEX_HAS_START | TD_INDEX_HAS_STOP);
                 return td_index(td, &at, 1, result);
               }),
         loop(leaves, [](const at::Tensor& leaf) { return leaf.slice(0, 8, 24); }));
  figure("view", n, 0.05,
         makes(leaves,
               [](const td_tensordict* td, td_tensordict** result) {
                 const std::int64_t sizes[] = {8, 8};
                 return td_view(td, sizes, 2, result);
               }),
         loop(leaves, [](const at::Tensor& leaf) {
           return leaf.view({8, 8, 8});
         }));
  figure("unsqueeze", n, 0.05,
         makes(leaves, [](const td_tensordict* td,
                          td_tensordict** result) { return td_unsqueeze(td, 0, result); }),
         loop(leaves, [](const at::Tensor& leaf) { return leaf.unsqueeze(0); }));
  figure("expand", n, 0.05,
         makes(leaves,
               [](const td_tensordict* td, td_tensordict** result) {
                 const std::int64_t sizes[] = {2, 64};
                 return td_expand(td, sizes, 2, result);
               }),
         loop(leaves, [](const at::Tensor& leaf) {
           return leaf.expand({2, 64, 8});
         }));
  auto square = std::make_shared<Leaves>(n, std::vector<std::int64_t>{8, 8, 8}, 2);
  figure("permute", n, 0.05,
         makes(square,
               [](const td_tensordict* td, td_tensordict** result) {
                 const std::int64_t order[] = {1, 0};
                 return td_permute(td, order, 2, result);
               }),
         loop(square, [](const at::Tensor& leaf) {
           return leaf.permute({1, 0, 2});
         }));
  figure("index by int, 2 leaves read", n, 0.12, indexes_and_reads(leaves),
         loop(leaves, [](const at::Tensor& leaf) { return leaf.select(0, 7); }));
  figure("unbind", n, 0.03, unbinds(leaves), [leaves](benchmark::State& state) {
    for (auto _ : state) {
      std::vector<std::vector<at::Tensor>> parts;
      parts.reserve(leaves->tensors.size());
      for (const at::Tensor& leaf : leaves->tensors) parts.push_back(leaf.unbind(0));
      benchmark::DoNotOptimize(parts.data());
    }
  });
}

void rows(int n, Shared leaves) {
  auto row = std::make_shared<Row>(*leaves);
  figure("write a row", n, 0.06, writes_row(leaves, row), [leaves, row](benchmark::State& state) {
    for (auto _ : state) {
      for (std::size_t i = 0; i < leaves->tensors.size(); ++i) {
        leaves->tensors[i].select(0, 9).copy_(row->tensors[i]);
      }
    }
  });
  const at::Tensor index = at::randint(0, 64, {16}, at::kLong);
  td_tensor* index_handle = wrap(index);
  figure("minibatch of 16", n, 0.4,
         makes(leaves,
               [index_handle](const td_tensordict* td, td_tensordict** result) {
                 const td_index_item at = item(TD_INDEX_TENSOR, 0, 0, 0, index_handle);
                 return td_index(td, &at, 1, result);
               }),
         loop(leaves, [index](const at::Tensor& leaf) { return leaf.index_select(0, index); }));
  const at::Tensor mask = at::arange(64, at::kLong).remainder(4).eq(0);
  td_tensor* mask_handle = wrap(mask);
  figure("index by mask", n, 0.4,
         makes(leaves,
               [mask_handle](const td_tensordict* td, td_tensordict** result) {
                 const td_index_item at = item(TD_INDEX_TENSOR, 0, 0, 0, mask_handle);
                 return td_index(td, &at, 1, result);
               }),
         loop(leaves, [mask](const at::Tensor& leaf) { return leaf.index({mask}); }));
}

void join(int n, Shared leaves) {
  std::vector<Shared> parts;
  for (int k = 0; k < 8; ++k) parts.push_back(std::make_shared<Leaves>(n));
  const auto theirs = [parts](auto call) {
    return [parts, call](benchmark::State& state) {
      std::vector<std::vector<at::Tensor>> columns(parts[0]->tensors.size());
      for (const Shared& part : parts) {
        for (std::size_t i = 0; i < columns.size(); ++i) columns[i].push_back(part->tensors[i]);
      }
      for (auto _ : state) {
        std::vector<at::Tensor> results;
        results.reserve(columns.size());
        for (const auto& column : columns) results.push_back(call(column));
        benchmark::DoNotOptimize(results.data());
      }
    };
  };
  figure("stack 8", n, 0.3, joins(parts, td_stack),
         theirs([](const std::vector<at::Tensor>& column) { return at::stack(column, 0); }));
  figure("cat 8", n, 0.3, joins(parts, td_cat),
         theirs([](const std::vector<at::Tensor>& column) { return at::cat(column, 0); }));
  figure("clone", n, 0.12, clones(leaves),
         loop(leaves, [](const at::Tensor& leaf) { return leaf.clone(); }));
}

}  // namespace

Body indexes(Shared leaves) {
  return makes(std::move(leaves), [](const td_tensordict* td, td_tensordict** result) {
    const td_index_item at = item(TD_INDEX_INT, 7);
    return td_index(td, &at, 1, result);
  });
}

Body indexes_and_reads(Shared leaves) {
  const std::string first = leaves->names.front(), last = leaves->names.back();
  return [leaves, first, last](benchmark::State& state) {
    const td_index_item at = item(TD_INDEX_INT, 7);
    const char* const flat[] = {first.c_str()};
    const char* const nested[] = {"nested", last.c_str()};
    for (auto _ : state) {
      td_tensordict* result = nullptr;
      td_tensor *one = nullptr, *other = nullptr;
      ok(td_index(leaves->td, &at, 1, &result));
      ok(td_get(result, flat, 1, &one));
      ok(td_get(result, nested, 2, &other));
      td_tensor_free(one);
      td_tensor_free(other);
      td_free(result);
    }
  };
}

Body unbinds(Shared leaves) {
  return [leaves](benchmark::State& state) {
    td_tensordict* parts[64];
    for (auto _ : state) {
      std::size_t count = 0;
      ok(td_unbind(leaves->td, 0, parts, 64, &count));
      for (std::size_t i = 0; i < count; ++i) td_free(parts[i]);
    }
  };
}

Body clones(Shared leaves) {
  return makes(std::move(leaves), [](const td_tensordict* td, td_tensordict** result) {
    return td_clone(td, 0, result);
  });
}

Body writes_row(Shared leaves, std::shared_ptr<Row> row) {
  return [leaves, row](benchmark::State& state) {
    const td_index_item at = item(TD_INDEX_INT, 9);
    for (auto _ : state) ok(td_set_at(leaves->td, &at, 1, row->td));
  };
}

void register_small() {
  for (const int n : {10, 100}) {
    auto leaves = std::make_shared<Leaves>(n);
    views(n, leaves);
    rows(n, leaves);
    join(n, leaves);
  }
  views(1000, std::make_shared<Leaves>(1000));
}

}  // namespace bench
