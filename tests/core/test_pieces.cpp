// Pieces on several threads: where results go, and that those which differ go the long way.
#include "core/apply/piecewise.h"
#include "core/inspect/print.h"
#include "core/shape/join.h"
#include "core/tree/kinds.h"
#include "trees.h"

#include <ATen/Parallel.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

namespace td {
namespace {

using namespace test;

PiecewiseOptions cut(Cut how, std::int64_t amount, int workers, std::int64_t dim = 0) {
  PiecewiseOptions options;
  options.cut = how;
  options.amount = amount;
  options.num_workers = workers;
  options.dim = dim;
  return options;
}

std::optional<TensorDict> run(const TensorDict& td, const PiecewiseOptions& options,
                              const PieceFn& function) {
  return map_pieces(td, options, std::nullopt, function, nullptr);
}

// { "a": (6,2), "n": { "b": (6,2,3) } } of batch size [6,2].
TensorDict line() {
  TensorDict td = dict({6, 2});
  td.set({"a"}, ramp({6, 2}));
  td.set({"n", "b"}, ramp({6, 2, 3}, at::kLong));
  return td;
}

TEST(Pieces, ResultsThatDifferAreJoinedAsCatWould) {
  using Change = std::function<void(const Piece&, TensorDict&)>;
  const std::vector<std::pair<const char*, Change>> changes = {
      {"another dtype in one",
       [](const Piece& piece, TensorDict& td) {
         if (piece.number == 1) td.set({"a"}, td.get({"a"}).to(at::kDouble));
       }},
      {"another order of the keys",
       [](const Piece& piece, TensorDict& td) {
         if (piece.number != 1) return;
         const at::Tensor a = td.get({"a"});
         td.remove({"a"});
         td.set({"a"}, a);
       }},
      {"a device in one",
       [](const Piece& piece, TensorDict& td) {
         if (piece.number == 0) td = td.to(c10::Device(at::kCPU));
       }},
      {"non-tensor values", [](const Piece&, TensorDict& td) { td.set_non_tensor({"s"}, "1"); }},
      {"no memory", [](const Piece&, TensorDict& td) { td = td.to(c10::Device(at::kMeta)); }},
      {"strides of their own",
       [](const Piece&, TensorDict& td) {
         td.set({"t"}, at::ones({3, 2, td.batch_size()[0]}).permute({2, 1, 0}));
       }},
      {"a length of its own", [](const Piece& piece, TensorDict& td) {
         if (piece.number == 1) td = td::cat({td, td}, 0);
       }}};
  const TensorDict td = line();
  for (const auto& [name, change] : changes) {
    for (const int workers : {1, 3}) {
      std::vector<TensorDict> parts;
      for (std::int64_t first = 0; first < 6; first += 2) {
        TensorDict part = td.index({IndexItem::range(first, first + 2)});
        change({static_cast<std::size_t>(first / 2), 3, first, 2, 0, 0}, part);
        parts.push_back(part);
      }
      const TensorDict expected = td::cat(parts, 0);
      const auto result = run(td, cut(Cut::size, 2, workers),
                              [&, &change = change](const Piece& piece, TensorDict part) {
                                change(piece, part);
                                return std::optional<TensorDict>(part);
                              });
      ASSERT_TRUE(result) << name;
      EXPECT_EQ(print(*result), print(expected)) << name;
      if (name != std::string("no memory")) {
        EXPECT_TRUE(result->equal(expected)) << name;
      }
    }
  }
}

TEST(Pieces, ResultsAreCopiesInOnePiece) {
  const TensorDict td = line();
  for (const std::int64_t dim : {0, 1, -1}) {
    for (const Cut how : {Cut::size, Cut::elements}) {
      const auto result = run(td, cut(how, 2, 2, dim), [](const Piece&, TensorDict part) {
        return std::optional<TensorDict>(part);
      });
      EXPECT_TRUE(result->equal(td));
      EXPECT_TRUE(result->get({"n", "b"}).is_contiguous());
      EXPECT_FALSE(result->get({"a"}).is_alias_of(td.get({"a"})));
      EXPECT_EQ(list(result->get_dict({"n"}).batch_size()), list(td.batch_size()));
    }
  }
}

TEST(Pieces, PiecesLeftOutLeaveNoGap) {
  const TensorDict td = line();
  for (const std::size_t missing : {0, 1, 2}) {
    const auto result = run(td, cut(Cut::size, 2, 2), [&](const Piece& piece, TensorDict part) {
      return piece.number == missing ? std::nullopt : std::optional<TensorDict>(part);
    });
    std::vector<double> expected;
    for (std::size_t i = 0; i < 12; ++i) {
      if (i / 4 != missing) expected.push_back(static_cast<double>(i));
    }
    EXPECT_EQ(numbers(result->get({"a"})), expected);
  }
}

TEST(Pieces, ElementsThatDifferAreStackedLazily) {
  const auto result =
      run(line(), cut(Cut::elements, 0, 2), [](const Piece& piece, const TensorDict&) {
        TensorDict td = dict({2});
        td.set({"x"}, at::ones({2, static_cast<std::int64_t>(piece.number) + 1}));
        return std::optional<TensorDict>(td);
      });
  EXPECT_EQ(result->node()->kind(), NodeKind::lazy);
  EXPECT_EQ(list(result->batch_size()), (std::vector<std::int64_t>{6, 2}));
}

TEST(Pieces, GradientsFlowThroughTheWorkers) {
  const at::AutoGradMode on(true);
  TensorDict td = dict({4});
  const at::Tensor x = at::ones({4}).requires_grad_();
  td.set({"x"}, x);
  const auto result = run(td, cut(Cut::size, 1, 2), [](const Piece& piece, const TensorDict& part) {
    EXPECT_TRUE(at::GradMode::is_enabled());
    TensorDict made = dict({1});
    made.set({"y"}, part.get({"x"}) * static_cast<double>(piece.number));
    return std::optional<TensorDict>(made);
  });
  result->get({"y"}).sum().backward();
  EXPECT_EQ(numbers(x.grad()), (std::vector<double>{0, 1, 2, 3}));
}

TEST(Pieces, ThreadsOfAWorkerAreItsOwnAffair) {
  const int before = at::get_num_threads();
  PiecewiseOptions options = cut(Cut::elements, 0, 2);
  std::set<int> seen;
  std::mutex mutex;
  for (const int threads : {1, 3}) {
    options.worker_threads = threads;
    run(line(), options, [&](const Piece&, const TensorDict&) {
      const std::lock_guard<std::mutex> hold(mutex);
      seen.insert(at::get_num_threads());
      return std::optional<TensorDict>();
    });
#if AT_PARALLEL_OPENMP && defined(_OPENMP)
    EXPECT_EQ(seen, std::set<int>{threads});
#endif
    seen.clear();
  }
  EXPECT_EQ(at::get_num_threads(), before);
  std::thread([&] { EXPECT_EQ(at::get_num_threads(), before); }).join();
}

TEST(Pieces, LazyStacksAndSubTensorDictsAreCut) {
  std::vector<NodePtr> elements;
  for (int k = 0; k < 4; ++k) {
    TensorDict td = dict({3});
    td.set({"x"}, at::ones({3}) * k);
    elements.push_back(td.node());
  }
  const TensorDict lazy(NodePtr(lazy_stack(elements, 0)));
  const auto same = [](const Piece&, const TensorDict& part) {
    return std::optional<TensorDict>(part);
  };
  for (const Cut how : {Cut::size, Cut::elements}) {
    const auto result = run(lazy, cut(how, 3, 2), same);
    EXPECT_EQ(numbers(result->get({"x"})), numbers(lazy.get({"x"})));
  }
  TensorDict td = line();
  const std::vector<IndexItem> rows{IndexItem::range(1, 5)};
  const TensorDict part(NodePtr(
      c10::make_intrusive<SubTensorDictNode>(td.node(), rows, td.index(rows).batch_size())));
  EXPECT_TRUE(run(part, cut(Cut::size, 3, 2), same)->equal(td.index(rows)));
}

TEST(Pieces, AFailureInTheLibraryAroundAWorkerIsToldToo) {
  PiecewiseOptions options = cut(Cut::elements, 0, 2);
  options.around_worker = [](const std::function<void()>&) { fail(Code::internal, "no worker"); };
  expect_error(Code::internal, "no worker", [&] {
    run(line(), options,
        [](const Piece&, const TensorDict& part) { return std::optional<TensorDict>(part); });
  });
}

}  // namespace
}  // namespace td
