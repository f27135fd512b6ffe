// Episodes of data sets, chosen, joined and split.
#include "core/datasets/save.h"
#include "core/datasets/view.h"
#include "core/formats/json_text.h"
#include "core/tree/non_tensor.h"

#include "dataset_files.h"
#include "folders.h"

#include <ATen/ATen.h>

namespace td {
namespace {

using test::expect_error;
using test::TempFolder;
using Numbers = std::vector<std::int64_t>;

std::unique_ptr<Dataset> open_or_null(const std::string& name) {
  try {
    return Dataset::open(path_of(name), {});
  } catch (const Error&) {
    return nullptr;  // a build without HDF5
  }
}

// An episode but for its number.
TensorDict plain(const Dataset& set, std::int64_t episode) {
  TensorDict td = set.episode(episode);
  td.remove({"episode"});
  return td;
}

TEST(DatasetsView, EpisodesInAnyOrder) {
  const auto set = open_or_null("minari/cartpole");
  if (!set) GTEST_SKIP() << "a build without HDF5";
  const auto view = view_of({set.get()}, {{3, 0, 3}, {}, false});
  EXPECT_EQ(view->kind(), DatasetKind::minari);
  EXPECT_EQ(view->episodes(), 3);
  EXPECT_EQ(view->lengths(), (Numbers{set->lengths()[3], set->lengths()[0], set->lengths()[3]}));
  EXPECT_TRUE(plain(*view, 0).equal(plain(*set, 3)));
  EXPECT_TRUE(plain(*view, 1).equal(plain(*set, 0)));
  EXPECT_EQ(view->episode(2).get({"episode"})[0].item<std::int64_t>(), 2);
  EXPECT_EQ(view->rows(0, view->steps()).batch_size()[0], view->steps());
  EXPECT_EQ(values_of(view->metadata(), {"total_episodes"}), "3");
  EXPECT_EQ(values_of(view->metadata(), {"total_steps"}), std::to_string(view->steps()));
  EXPECT_EQ(view->metadata().kind_of({"dataset_id"}), EntryKind::none);
  EXPECT_EQ(values_of(view->metadata(2), {"id"}), "2");
  expect_error(Code::index, "episode 5 of", [&] { view_of({set.get()}, {{5}, {}, false}); });
  expect_error(Code::index, "episode -1 of", [&] { view_of({set.get()}, {{-1}, {}, false}); });
}

TEST(DatasetsView, EntriesAreLeftOut) {
  const auto set = open_or_null("d4rl/hop-medium-v2.hdf5");
  if (!set) GTEST_SKIP() << "a build without HDF5";
  const auto view =
      view_of({set.get()}, {{0, 1}, {{"info", "qpos"}, {"next", "observation"}}, false});
  const TensorDict rows = view->episode(1);
  EXPECT_EQ(rows.kind_of({"info", "qpos"}), EntryKind::none);
  EXPECT_EQ(rows.kind_of({"info", "qvel"}), EntryKind::tensor);
  EXPECT_EQ(rows.kind_of({"next", "observation"}), EntryKind::none);
  EXPECT_EQ(view->structure().kind_of({"info", "qpos"}), EntryKind::none);
  expect_error(Code::key_not_found, "has no entry \"x\"", [&] {
    view_of({set.get()}, {{0}, {{"x"}}, false});
  });
  expect_error(Code::invalid_argument, "stays", [&] {
    view_of({set.get()}, {{0}, {{"episode"}}, false});
  });
}

TEST(DatasetsView, SetsBehindEachOther) {
  const auto one = open_or_null("robomimic/low_dim.hdf5");
  if (!one) GTEST_SKIP() << "a build without HDF5";
  const auto other = open_or_null("robomimic/low_dim.hdf5");
  const std::int64_t count = one->episodes();
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < 2 * count; ++i) all.push_back(i);
  const auto view = view_of({one.get(), other.get()}, {all, {}, false});
  EXPECT_EQ(view->episodes(), 2 * count);
  EXPECT_TRUE(plain(*view, count).equal(plain(*other, 0)));
  EXPECT_EQ(values_of(view->metadata(count), {"name"}), "\"demo_" + std::to_string(count) + "\"");
  TempFolder folder;
  convert_dataset(*view, DatasetKind::robomimic, folder("both.hdf5"), {});
  const auto written = Dataset::open(folder("both.hdf5"), {});
  EXPECT_EQ(written->lengths(), view->lengths());
  EXPECT_TRUE(written->rows(0, written->steps()).equal(view->rows(0, view->steps())));
  EXPECT_EQ(values_of(written->metadata(), {"mask", "train"}),
            values_of(view->metadata(), {"mask", "train"}));
  const auto image = open_or_null("robomimic/image.hdf5");
  expect_error(Code::format, "robomimic/image.hdf5", [&] {
    view_of({one.get(), image.get()}, {{0}, {}, false});
  });
}

TEST(DatasetsView, SplitBySeed) {
  const auto set = open_or_null("minari/cartpole");
  if (!set) GTEST_SKIP() << "a build without HDF5";
  const auto parts = split_by_share(*set, 0.6, 1), again = split_by_share(*set, 0.6, 1);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].name, "train");
  EXPECT_EQ(parts[0].episodes.size(), 3U);
  EXPECT_EQ(parts[1].episodes.size(), 2U);
  EXPECT_EQ(parts[0].episodes, again[0].episodes);
  EXPECT_TRUE(std::is_sorted(parts[0].episodes.begin(), parts[0].episodes.end()));
  bool differs = false;
  for (std::uint64_t seed = 2; seed < 9; ++seed)
    differs = differs || split_by_share(*set, 0.6, seed)[0].episodes != parts[0].episodes;
  EXPECT_TRUE(differs);
  EXPECT_EQ(split_by_share(*set, 0.999, 1)[1].episodes.size(), 1U);
  expect_error(Code::invalid_argument, "a share is between 0 and 1, and not 1",
               [&] { split_by_share(*set, 1, 0); });
  expect_error(Code::invalid_argument, "and not", [&] { split_by_share(*set, 0.0 / 0.0, 0); });
  expect_error(Code::format, "episode 0 has no task", [&] { split_by_task(*set); });
}

// Its lists are JSON; no table is read.
TEST(DatasetsView, TasksOfLeRobot) {
  const auto set = open_or_null("lerobot/arm_v21");
  ASSERT_TRUE(set);
  const auto parts = split_by_task(*set);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].name, "push the cube");
  EXPECT_EQ(parts[1].name, "lift the cube");
  EXPECT_EQ(parts[0].episodes.size() + parts[1].episodes.size(), 3U);
  const auto part = view_of({set.get()}, {parts[1].episodes, {}, false});
  EXPECT_EQ(part->episodes(), static_cast<std::int64_t>(parts[1].episodes.size()));
  EXPECT_EQ(part->lengths()[0], set->lengths()[static_cast<std::size_t>(parts[1].episodes[0])]);
  const TensorDict about = part->metadata();
  EXPECT_EQ(values_of(about, {"total_episodes"}), std::to_string(part->episodes()));
  EXPECT_EQ(values_of(about, {"total_frames"}), std::to_string(part->steps()));
  EXPECT_EQ(values_of(about, {"tasks"}), R"(["push the cube","lift the cube"])");
  EXPECT_EQ(about.kind_of({"splits"}), EntryKind::none);
  EXPECT_EQ(values_of(part->metadata(0), {"episode_index"}), "0");
  const auto twice = view_of({set.get(), set.get()}, {{0, 3}, {}, false});
  EXPECT_EQ(twice->lengths()[0], twice->lengths()[1]);
  EXPECT_EQ(values_of(twice->metadata(), {"total_tasks"}), "2");
}

}  // namespace
}  // namespace td
