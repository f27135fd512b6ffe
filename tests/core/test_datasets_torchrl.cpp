// Replay buffers as data sets: the rows of each folder by age, cut into episodes; and data sets written as such folders.
#include "core/datasets/dataset.h"
#include "core/datasets/save.h"
#include "core/memmap/memmap.h"
#include "core/replay/replay.h"
#include "core/shape/join.h"
#include "core/tree/walk.h"

#include "folders.h"

#include <ATen/ATen.h>

namespace td {
namespace {

using test::dict;
using test::expect_error;
using test::TempFolder;
using test::fs::directory_iterator;

std::vector<std::string> folders() {
  std::vector<std::string> names;
  for (const auto& entry : directory_iterator(std::string(TD_TEST_DATA) + "/torchrl")) {
    if (entry.is_directory()) names.push_back(entry.path().string() + "/folder");
  }
  return names;
}

at::Tensor flags(std::vector<int> values) { return at::tensor(values, at::kInt).to(at::kBool); }

// Steps 0, 1, 2, … whose episodes end where `done` says it.
TensorDict steps(std::int64_t first, const std::vector<int>& done) {
  const auto count = static_cast<std::int64_t>(done.size());
  TensorDict td = dict({count});
  td.set({"observation"}, at::arange(first, first + count, at::kLong).to(at::kFloat));
  td.set({"next", "done"}, flags(done));
  return td;
}

std::vector<float> seen(const TensorDict& td) {
  const at::Tensor values = td.get({"observation"}).contiguous();
  return {values.data_ptr<float>(), values.data_ptr<float>() + values.numel()};
}

}  // namespace

TEST(TorchrlSets, FoldersOfTorchrlInOrderOfAge) {
  int opened = 0;
  for (const std::string& folder : folders()) {
    SCOPED_TRACE(folder);
    std::unique_ptr<Dataset> set;
    try {
      set = Dataset::open(folder, {});
    } catch (const Error& error) {
      // An ensemble, and what holds no dictionary of tensors.
      EXPECT_EQ(error.code(), Code::unsupported) << error.what();
      continue;
    }
    ++opened;
    EXPECT_EQ(set->kind(), DatasetKind::torchrl);
    const std::unique_ptr<Replay> replay = Replay::open(folder, ReplayOptions(), false);
    const TensorDict stored = replay->dict();
    const RingCounts ring = replay->counts();
    std::int64_t places = 1;
    for (const std::int64_t size : stored.batch_size()) places *= size;
    ASSERT_EQ(set->steps(), places);
    const TensorDict flat = set->rows(0, places);
    std::vector<TensorDict> each;
    for (std::int64_t i = 0; i < set->episodes(); ++i) each.push_back(set->episode(i));
    EXPECT_TRUE(cat(each, 0).equal(flat));
    if (stored.batch_size().size() > 1) continue;
    at::Tensor order = at::empty({places}, at::kLong);
    for (std::int64_t k = 0; k < places; ++k) order.data_ptr<std::int64_t>()[k] = ring.place(k);
    const IndexItem by_age[] = {IndexItem::of(order)};
    TensorDict wanted = stored.index(by_age);
    if (wanted.stored({"episode"}) == nullptr && flat.stored({"episode"}) != nullptr)
      wanted.set({"episode"}, flat.get({"episode"}));
    EXPECT_TRUE(flat.equal(wanted));
  }
  EXPECT_GE(opened, 25);
}

TEST(TorchrlSets, TheCursorOfAFullRingSeparatesEpisodes) {
  const TempFolder folder;
  ReplayOptions options;
  options.sampling = ReplaySampling::random;
  options.capacity = 6;
  Replay replay(options);
  replay.extend(steps(0, {0, 1, 0, 0, 1, 0}));
  replay.extend(steps(6, {0, 1, 0}));  // replaces 0, 1 and 2
  replay.save(folder("buffer"), false);
  const auto set = Dataset::open(folder("buffer"), {});
  EXPECT_EQ(set->lengths(), (std::vector<std::int64_t>{2, 3, 1}));
  EXPECT_EQ(seen(set->episode(0)), (std::vector<float>{3, 4}));
  EXPECT_EQ(seen(set->episode(1)), (std::vector<float>{5, 6, 7}));
  EXPECT_EQ(seen(set->rows(1, 4)), (std::vector<float>{4, 5, 6, 7}));
  EXPECT_EQ(set->structure().batch_size()[0], 0);
  EXPECT_EQ(seen(set->structure()).size(), 0U);
  expect_error(Code::index, "episode 3", [&] { set->episode(3); });
}

TEST(TorchrlSets, ADictionaryHasTimeInItsLastDimension) {
  const TempFolder folder;
  TensorDict td = dict({2, 3});
  td.set({"observation"}, at::arange(6, at::kFloat).reshape({2, 3}));
  td.set({"next", "done"}, flags({0, 1, 0, 0, 0, 1}).reshape({2, 3}));
  memmap(td, folder("rows"));
  const auto set = Dataset::open(folder("rows"), {});
  EXPECT_EQ(set->lengths(), (std::vector<std::int64_t>{2, 1, 3}));
  EXPECT_EQ(seen(set->episode(1)), (std::vector<float>{2}));
  EXPECT_EQ(seen(set->rows(0, 6)), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(set->metadata(2).get_non_tensor({"environment"}), "1");
  // What is read has memory of its own.
  set->episode(0).get({"observation"}).fill_(9);
  EXPECT_EQ(seen(set->episode(0)), (std::vector<float>{0, 1}));

  const std::int64_t none[] = {0, 3};
  TensorDict empty{SizesView(none)};
  empty.set({"observation"}, at::zeros({0, 3}));
  memmap(empty, folder("empty"));
  EXPECT_EQ(Dataset::open(folder("empty"), {})->steps(), 0);
  memmap(dict({}), folder("scalar"));
  expect_error(Code::format, "batch size", [&] { Dataset::open(folder("scalar"), {}); });
}

TEST(TorchrlSets, AreWritten) {
  const TempFolder folder;
  const TensorDict td = steps(0, {0, 0, 1, 0, 1});
  save_dataset(td, nullptr, DatasetKind::torchrl, folder("buffer"), {});
  const auto set = Dataset::open(folder("buffer"), {});
  EXPECT_EQ(set->lengths(), (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(seen(set->rows(0, 5)), (std::vector<float>{0, 1, 2, 3, 4}));
  EXPECT_EQ(Replay::open(folder("buffer"), ReplayOptions(), false)->counts().written, 5);

  TensorDict about = dict({});
  about.set_non_tensor({"author"}, Plain::of_text("A. Bee"));
  expect_error(Code::unsupported, "the metadata",
               [&] { save_dataset(td, &about, DatasetKind::torchrl, folder("other"), {}); });
  EXPECT_FALSE(test::fs::exists(folder("other")));
  DatasetSaveOptions lossy;
  lossy.lossy = true;
  save_dataset(td, &about, DatasetKind::torchrl, folder("buffer"),
               lossy);  // in place of the old one
  EXPECT_EQ(Dataset::open(folder("buffer"), {})->steps(), 5);
  test::fs::create_directory(folder("thing"));
  expect_error(Code::io, "no replay buffer",
               [&] { save_dataset(td, nullptr, DatasetKind::torchrl, folder("thing"), {}); });
}

}  // namespace td
