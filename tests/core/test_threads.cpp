// One dictionary read by several threads at once, here and through the C interface.
#include "core/inspect/print.h"
#include "core/keys/entries.h"
#include "core/shape/join.h"
#include "trees.h"

#include "tensordict/td.h"

#include <atomic>
#include <thread>

namespace td {
namespace {

using namespace test;

constexpr int threads = 4;
constexpr int rounds = 200;

// Runs `body(k)` on several threads that begin together.
template <class Body>
void side_by_side(Body&& body) {
  std::atomic<int> waiting{threads};
  std::vector<std::thread> all;
  for (int k = 0; k < threads; ++k) {
    all.emplace_back([&, k] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      body(k);
    });
  }
  for (std::thread& one : all) one.join();
}

TEST(Threads, ReadersOfOneDictionary) {
  TensorDict td = sample();
  td.set_non_tensor({"s"}, "\"text\"");
  const std::string text = print(td);
  std::atomic<int> wrong{0};
  side_by_side([&](int k) {
    const at::AutoGradMode mode(k % 2 == 0);  // both paths
    for (int round = 0; round < rounds; ++round) {
      const TensorDict row = td.index({IndexItem::at(k)});
      const TensorDict picked = td.index({IndexItem::of(ints({k, 0}))});
      const TensorDict copy = td.clone();
      const TensorDict both = td::stack(std::vector<TensorDict>{td, copy}, 0);
      const std::vector<TensorDict> parts = td.unbind(1);
      wrong += row.get({"n", "b"})[0].item<int>() != 3 * k;
      wrong += picked.get({"n", "b"})[0][1].item<int>() != 3 * k + 1;
      wrong += !copy.equal(td) || parts.size() != 3;
      wrong += both.batch_size()[0] != 2;
      wrong += td.view(SizesView{12}).get({"a"}).size(0) != 12;
      wrong += list_keys(td, {true, true, true}).keys.size() != 2;
      wrong += td.kind_of({"n", "b"}) != EntryKind::tensor || td.nbytes() != 192;
      if (round % 20 == 0) wrong += print(td) != text;
    }
  });
  EXPECT_EQ(wrong, 0);
}

// Handles are copied and dropped on any thread; the last one frees, however deep the tree.
TEST(Threads, HandlesEndOnAnyThread) {
  for (int round = 0; round < 20; ++round) {
    TensorDict td = chain(500);
    std::vector<TensorDict> handles(threads, td);
    const WeakNodePtr watched(td.node());
    td = dict({});
    side_by_side([&](int k) {
      const TensorDict view = handles[static_cast<std::size_t>(k)].unsqueeze(0);
      handles[static_cast<std::size_t>(k)] = dict({});
    });
    EXPECT_TRUE(watched.expired());
  }
}

// Results of one thread are freed by another: what is recycled belongs to the thread that frees.
TEST(Threads, ObjectsWanderBetweenThreads) {
  const at::NoGradGuard no_grad;
  const TensorDict td = sample();
  std::vector<std::vector<TensorDict>> made(threads);
  side_by_side([&](int k) {
    const at::NoGradGuard quiet;
    for (int i = 0; i < 3000; ++i)
      made[static_cast<std::size_t>(k)].push_back(td.index({IndexItem::at(i % 4)}));
  });
  side_by_side([&](int k) { made[static_cast<std::size_t>((k + 1) % threads)].clear(); });
  const TensorDict row = td.index({IndexItem::at(1)});
  EXPECT_EQ(row.get({"n", "b"})[0].item<int>(), 3);
}

TEST(Threads, FirstNamesAreHashedAlike) {
  std::vector<std::uint64_t> seen(threads);
  side_by_side([&](int k) { seen[static_cast<std::size_t>(k)] = hash_name("name"); });
  for (const std::uint64_t hash : seen) EXPECT_EQ(hash, seen[0]);
}

// The table of handles under fire: every thread makes, uses and frees its own, and tries stale ones.
TEST(Threads, HandlesOfTheCInterface) {
  const std::int64_t before = td_debug_live_handles();
  std::atomic<int> wrong{0};
  side_by_side([&](int k) {
    const std::int64_t batch[1] = {4};
    const char* const name[1] = {"a"};
    const std::vector<float> values(4, static_cast<float>(k));
    for (int round = 0; round < rounds; ++round) {
      td_tensordict *made = nullptr, *copy = nullptr;
      td_tensor *tensor = nullptr, *back = nullptr;
      wrong += td_create(batch, 1, TD_DEVICE_NONE, -1, &made) != TD_OK;
      wrong += td_tensor_from_data(values.data(), sizeof(float) * 4, batch, 1, TD_DTYPE_FLOAT32,
                                   &tensor) != TD_OK;
      wrong += td_set(made, name, 1, tensor) != TD_OK;
      wrong += td_clone(made, 0, &copy) != TD_OK;
      td_free(made);
      wrong += td_get(made, name, 1, &back) != TD_ERR_BAD_HANDLE;  // stale
      wrong += td_get(copy, name, 1, &back) != TD_OK;
      float read[4] = {};
      wrong +=
          td_tensor_copy_to(back, read, sizeof read) != TD_OK || read[3] != static_cast<float>(k);
      td_tensor_free(back);
      td_tensor_free(tensor);
      td_free(copy);
    }
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(td_debug_live_handles(), before);
}

}  // namespace
}  // namespace td
