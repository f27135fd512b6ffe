// A lock forbids other entries, not other values; and it belongs to the outermost locked dictionary.
#include "core/apply/apply.h"
#include "core/shape/join.h"
#include "trees.h"

namespace td {
namespace {

using namespace test;

TensorDict holding(std::initializer_list<TensorDict> members) {
  TensorDict td = dict({});
  int i = 0;
  for (const TensorDict& member : members) {
    const std::string name = std::to_string(i++);
    td.set(std::string_view(name), member);
  }
  return td;
}

TEST(Lock, ReachesEveryNode) {
  TensorDict td = sample();
  td.lock();
  td.lock();  // again changes nothing
  EXPECT_TRUE(td.is_locked());
  EXPECT_TRUE(td.get_dict({"n"}).is_locked());
  td.unlock();
  td.unlock();
  EXPECT_FALSE(td.is_locked());
  EXPECT_FALSE(td.get_dict({"n"}).is_locked());
}

TEST(Lock, ForbidsOtherEntries) {
  TensorDict td = sample();
  td.lock();
  expect_error(Code::locked, "", [&] { td.set({"x"}, at::ones({4, 3})); });
  expect_error(Code::locked, "", [&] { td.set({"a"}, at::ones({4, 3})); });
  expect_error(Code::locked, "", [&] { td.set({"n", "x"}, at::ones({4, 3})); });
  expect_error(Code::locked, "", [&] { td.set({"new", "x"}, at::ones({4, 3})); });
  expect_error(Code::locked, "", [&] { td.set({"m"}, dict({4, 3})); });
  expect_error(Code::locked, "", [&] { td.set_non_tensor({"s"}, "1"); });
  expect_error(Code::locked, "", [&] { td.remove({"a"}); });
  expect_error(Code::locked, "", [&] { td.remove({"n", "b"}); });
  TensorDict row = dict({3});
  row.set({"new"}, at::ones({3}));
  row.set({"a"}, at::ones({3, 2}));
  expect_error(Code::locked, "new", [&] { td.set_at({IndexItem::at(0)}, row); });
  EXPECT_TRUE(td.equal(sample())) << "a refused write changed a value";
}

TEST(Lock, AllowsOtherValues) {
  TensorDict td = sample();
  td.lock();
  td.set_inplace({"a"}, at::zeros({}));
  td.set_at({IndexItem::at(0)}, sample().index({IndexItem::at(1)}));
  td.fill_at({IndexItem::at(1)}, at::full({}, 9));
  apply(td, {true, FilterEmpty::unset, false},
        [](Path, const at::Tensor& leaf) { return leaf + 1; });
  EXPECT_EQ(td.get({"a"})[0][0][0].item<float>(), 7);
  EXPECT_EQ(td.get({"a"})[1][0][0].item<float>(), 10);
  td.set_batch_size(SizesView{4});
  EXPECT_EQ(td.batch_size().size(), 1U);
}

TEST(Lock, AMemberCannotBeUnlockedAlone) {
  TensorDict td = sample();
  td.lock();
  const TensorDict n = td.get_dict({"n"});
  expect_error(Code::locked, "part of a locked graph", [&] { n.unlock(); });
  EXPECT_TRUE(n.is_locked());
  EXPECT_TRUE(td.is_locked());
  td = dict({});  // the holder is gone
  n.unlock();
  EXPECT_FALSE(n.is_locked());
}

TEST(Lock, TwoRootsWithOneMember) {
  const TensorDict child = dict({});
  const TensorDict one = holding({child}), two = holding({child});
  one.lock();
  two.lock();
  for (const TensorDict& root : {one, two}) {
    expect_error(Code::locked, "part of a locked graph", [&] { root.unlock(); });
  }
  EXPECT_TRUE(one.is_locked());
  EXPECT_TRUE(two.is_locked());
  EXPECT_TRUE(child.is_locked());
  const TensorDict both = holding({one, two});
  both.lock();
  both.unlock();
  for (const TensorDict& td : {one, two, child, both}) EXPECT_FALSE(td.is_locked());
  one.lock();
  one.unlock();
  EXPECT_FALSE(child.is_locked());
}

TEST(Lock, AMemberLockedBeforeIsUnlockedWithItsHolder) {
  const TensorDict child = dict({});
  child.lock();
  const TensorDict root = holding({child});
  EXPECT_FALSE(root.is_locked());
  root.lock();
  expect_error(Code::locked, "", [&] { child.unlock(); });
  root.unlock();
  EXPECT_FALSE(child.is_locked());
}

TEST(Lock, GrandparentsCount) {
  const TensorDict bottom = dict({});
  const TensorDict middle = holding({bottom});
  middle.lock();
  {
    const TensorDict top = holding({middle});
    top.lock();
    expect_error(Code::locked, "", [&] { middle.unlock(); });
    expect_error(Code::locked, "", [&] { bottom.unlock(); });
  }
  expect_error(Code::locked, "", [&] { bottom.unlock(); });
  middle.unlock();
  EXPECT_FALSE(bottom.is_locked());
}

TEST(Lock, TemporaryRootsLeaveNothingBehind) {
  const TensorDict child = dict({});
  const TensorDict stays = holding({child});
  stays.lock();
  for (int i = 0; i < 1000; ++i) holding({child}).lock();
  expect_error(Code::locked, "", [&] { child.unlock(); });
  stays.unlock();
  EXPECT_FALSE(child.is_locked());
  for (int i = 0; i < 10; ++i) holding({child}).lock();
  EXPECT_TRUE(child.is_locked());
  child.unlock();
  EXPECT_FALSE(child.is_locked());
}

TEST(Lock, AHolderThatLivesCountsWhateverHeldItElse) {
  const TensorDict child = dict({});
  TensorDict root = holding({child, child});  // the same member twice
  root.lock();
  root.unlock();
  EXPECT_FALSE(child.is_locked());
  root.remove({"0"});
  root.lock();
  const TensorDict outside = holding({child});
  expect_error(Code::locked, "", [&] { child.unlock(); });
  root.unlock();
  root.remove({"1"});
  outside.lock();
  root.lock();
  outside.unlock();  // root does not hold the child any more
  EXPECT_FALSE(child.is_locked());
}

TEST(Lock, WhichResultsAreLocked) {
  TensorDict td = sample();
  td.lock();
  const std::vector<TensorDict> pair{td, td};
  const IndexItem one = IndexItem::range(1, 2);
  const std::pair<const char*, TensorDict> kept[] = {
      {"view", td.view(SizesView{12})},
      {"reshape", td.reshape(SizesView{12})},
      {"expand", td.expand(SizesView{2, 4, 3})},
      {"permute", td.permute(SizesView{1, 0})},
      {"transpose", td.transpose(0, 1)},
      {"unsqueeze", td.unsqueeze(0)},
      {"to dtype", td.to(at::kDouble)},
      {"to device", td.to(c10::Device(at::kMeta))},
      {"apply that keeps it",
       apply(td, {false, FilterEmpty::unset, true}, [](Path, const at::Tensor& t) { return t; })},
  };
  for (const auto& [name, result] : kept) {
    EXPECT_TRUE(result.is_locked()) << name;
    EXPECT_TRUE(result.get_dict({"n"}).is_locked()) << name;
  }
  const std::pair<const char*, TensorDict> open[] = {
      {"index", td.index(one)},
      {"gather", td.index({IndexItem::of(ints({0}))})},
      {"unbind", td.unbind(0)[0]},
      {"clone", td.clone()},
      {"copy", td.clone(false)},
      {"contiguous", td.contiguous()},
      {"stack", td::stack(pair, 0)},
      {"cat", td::cat(pair, 0)},
      {"apply", apply(td, {}, [](Path, const at::Tensor& t) { return t; })},
  };
  for (const auto& [name, result] : open) {
    EXPECT_FALSE(result.is_locked()) << name;
    EXPECT_FALSE(result.get_dict({"n"}).is_locked()) << name;
  }
  EXPECT_TRUE(td.is_locked());
  td.unlock();  // no result holds a part of it
  EXPECT_FALSE(td.is_locked());
}

}  // namespace
}  // namespace td
