// Data sets written as another kind, and back.
#include "core/datasets/lerobot_plan.h"
#include "core/datasets/save.h"
#include "core/formats/json_text.h"
#include "core/hdf5/group_file.h"
#include "core/tree/non_tensor.h"
#include "core/tree/walk.h"

#include "dataset_files.h"
#include "folders.h"

#include <ATen/ATen.h>

namespace td {
namespace {

using test::expect_error;
using test::TempFolder;

bool same_tensors(const at::Tensor& a, const at::Tensor& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() &&
         (a.numel() == 0 ||
          std::memcmp(a.contiguous().data_ptr(), b.contiguous().data_ptr(), a.nbytes()) == 0);
}

// All entries of one are in the other, with equal values.
void expect_within(const TensorDict& one, const TensorDict& other,
                   const std::vector<std::string>& but = {}) {
  visit_paths(*one.node(), [&](Path path, const Value& value) {
    if (std::find(but.begin(), but.end(), path[0]) != but.end()) return;
    if (is_branch(value)) return;
    SCOPED_TRACE(show_path(path));
    if (!value.is_node()) {
      ASSERT_EQ(other.kind_of(path), EntryKind::tensor);
      EXPECT_TRUE(same_tensors(value.tensor(), other.get(path)));
    } else {
      ASSERT_EQ(other.kind_of(path), EntryKind::non_tensor);
      EXPECT_EQ(values_of(one, path), values_of(other, path));
    }
  });
}

void expect_same_set(const Dataset& one, const Dataset& other) {
  EXPECT_EQ(one.lengths(), other.lengths());
  expect_within(one.rows(0, one.steps()), other.rows(0, other.steps()));
  expect_within(one.metadata(), other.metadata(),
                {"dataset_size", "jpeg_encoding", "minari_version", "total"});
  for (std::int64_t i = 0; i < one.episodes(); ++i)
    expect_within(one.metadata(i), other.metadata(i), {"id", "num_samples", "total_steps"});
}

constexpr DatasetKind minari = DatasetKind::minari, robomimic = DatasetKind::robomimic,
                      torchrl = DatasetKind::torchrl, d4rl = DatasetKind::d4rl;

const char* const all_sets[] = {"minari/cartpole",        "minari/mixed",
                                "minari/rawimage",        "minari/attributes",
                                "robomimic/low_dim.hdf5", "robomimic/image.hdf5",
                                "robomimic/raw.hdf5",     "d4rl/hop-medium-v2.hdf5",
                                "d4rl/maze-v0.hdf5",      "d4rl/writer-v0.hdf5",
                                "d4rl/chunks.hdf5"};

std::unique_ptr<Dataset> converted(const Dataset& set, DatasetKind kind, const std::string& path,
                                   bool lossy = false) {
  DatasetSaveOptions options;
  options.lossy = lossy;
  options.deflate = 1;
  convert_dataset(set, kind, path, options);
  auto result = Dataset::open(path, {});
  EXPECT_EQ(result->kind(), kind);
  return result;
}

TEST(DatasetsSaved, EachAsItsOwnKind) {
  if (!has_hdf5()) GTEST_SKIP() << "a build without HDF5";
  for (const char* name : all_sets) {
    SCOPED_TRACE(name);
    // It has an episode without steps, of which the first observation is not in the rows.
    if (name == std::string("minari/attributes")) continue;
    TempFolder folder;
    const auto set = Dataset::open(path_of(name), {});
    expect_same_set(*set, *converted(*set, set->kind(), folder("copy")));
    // Once more, in the place of that.
    expect_same_set(*set, *converted(*set, set->kind(), folder("copy")));
  }
}

TEST(DatasetsSaved, ThereAndBack) {
  if (!has_hdf5()) GTEST_SKIP() << "a build without HDF5";
  const struct {
    const char* name;
    DatasetKind kind;
  } cases[] = {{"minari/cartpole", robomimic},   {"robomimic/low_dim.hdf5", minari},
               {"robomimic/image.hdf5", minari}, {"d4rl/hop-medium-v2.hdf5", robomimic},
               {"d4rl/maze-v0.hdf5", robomimic}, {"d4rl/writer-v0.hdf5", robomimic},
               {"d4rl/chunks.hdf5", robomimic}};
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    TempFolder folder;
    const auto set = Dataset::open(path_of(one.name), {});
    const auto there = converted(*set, one.kind, folder("there"));
    expect_within(set->rows(0, set->steps()), there->rows(0, there->steps()));
    expect_same_set(*set, *converted(*there, set->kind(), folder("back")));
  }
}

TEST(DatasetsSaved, ColumnsOfD4rlStayColumns) {
  if (!has_hdf5()) GTEST_SKIP() << "a build without HDF5";
  const TempFolder folder;
  TensorDict rows;
  rows.set({"observations"}, at::randn({5, 2}));
  rows.set({"actions"}, at::randn({5, 1}));
  rows.set({"rewards"}, at::randn({5, 1}));
  rows.set({"terminals"}, at::arange(5).reshape({5, 1}).eq(2));
  rows.set({"timeouts"}, at::arange(5).reshape({5, 1}).eq(4));
  hdf5::save(rows, folder("a.hdf5"), {});
  const auto set = Dataset::open(folder("a.hdf5"), {});
  EXPECT_EQ(set->lengths(), (std::vector<std::int64_t>{3, 2}));
  converted(*set, d4rl, folder("b.hdf5"));
  converted(*converted(*set, robomimic, folder("c.hdf5"), true), d4rl, folder("d.hdf5"));
  for (const char* name : {"b.hdf5", "d.hdf5"}) {
    const auto file = hdf5::GroupFile::open(folder(name), 0, 0);
    for (const char* column : {"rewards", "terminals", "timeouts"}) {
      const auto leaves = file->leaves(std::string("/") + column);
      ASSERT_EQ(leaves.size(), 1u);
      EXPECT_EQ(leaves[0].sizes, SizesView({5, 1})) << name << " " << column;
      EXPECT_TRUE(same_tensors(file->read(leaves[0]).tensor, rows.get({column})));
    }
  }
  // More episodes go on as they were, and rows of a program are plain.
  DatasetSaveOptions grows;
  grows.resume = true;
  const auto writer = DatasetWriter::open(folder("b.hdf5"), nullptr, d4rl, grows);
  writer->add(set->episode(0), nullptr);
  writer->close();
  save_dataset(set->rows(0, 5), nullptr, d4rl, folder("e.hdf5"), {});
  const auto sizes = [&](const char* name) {
    return hdf5::GroupFile::open(folder(name), 0, 0)->leaves("/rewards").at(0).sizes;
  };
  EXPECT_EQ(sizes("b.hdf5"), SizesView({8, 1}));
  EXPECT_EQ(sizes("e.hdf5"), SizesView({5}));
}

TEST(DatasetsSaved, WhatAKindCannotHoldIsNamed) {
  if (!has_hdf5()) GTEST_SKIP() << "a build without HDF5";
  const struct {
    const char* name;
    DatasetKind kind;
    const char* lost;
    bool never;
  } cases[] = {
      {"minari/mixed", robomimic, "an action that is one tensor", true},
      {"minari/mixed", d4rl, "observation", true},
      {"minari/cartpole", d4rl, "the metadata of episodes", false},
      {"minari/mixed", torchrl, "values that are no tensors", false},
      {"robomimic/raw.hdf5", minari, "Minari needs an observation", true},
      {"robomimic/low_dim.hdf5", d4rl, "an observation that is one tensor", true},
      {"d4rl/maze-v0.hdf5", minari, "what follows the last step for \"observation\"", false},
      {"d4rl/hop-medium-v2.hdf5", minari, "\"info\"", false}};
  for (const auto& one : cases) {
    SCOPED_TRACE(text_of(one.name, " as ", name_of(one.kind)));
    TempFolder folder;
    const auto set = Dataset::open(path_of(one.name), {});
    expect_error(Code::unsupported, one.lost,
                 [&] { convert_dataset(*set, one.kind, folder("none"), {}); });
    EXPECT_FALSE(test::fs::exists(folder("none")));
    if (one.never) continue;
    const auto lossy = converted(*set, one.kind, folder("lossy"), true);
    EXPECT_EQ(lossy->steps(), set->steps());
    const TensorDict rows = set->rows(0, 3);
    if (const at::Tensor* action = rows.stored({"action"}))
      EXPECT_TRUE(same_tensors(lossy->rows(0, 3).get({"action"}), *action));
  }
}

// Five steps with what every kind needs.
TensorDict few_steps() {
  TensorDict td = test::dict({5});
  const at::Tensor x = at::arange(12, at::kFloat).reshape({6, 2});
  td.set({"observation"}, x.narrow(0, 0, 5));
  td.set({"next", "observation"}, x.narrow(0, 1, 5));
  td.set({"action"}, x.narrow(0, 0, 5).clone());
  td.set({"next", "reward"}, at::ones({5, 1}));
  td.set({"next", "terminated"}, at::tensor({0, 0, 0, 0, 1}, at::kLong).to(at::kBool).unsqueeze(1));
  return td;
}

// What would be one text of JSON without rows is not written as if it had some.
TEST(DatasetsSaved, ValuesThatAreNoArray) {
  if (!has_hdf5()) GTEST_SKIP() << "a build without HDF5";
  for (const char* values :
       {R"(["a", null, "b", "c", "d"])", "[[1], [1, 2], [], [3], [4]]", R"([1, "a", 2, 3, 4])",
        "[{}, {}, {}, {}, {}]", R"(["a\u0000", "b", "c", "d", "e"])",
        "[99999999999999999999, 1, 2, 3, 4]", "[[], [], [], [], []]"}) {
    for (const DatasetKind kind : {minari, robomimic, d4rl}) {
      for (const char* name : {"note", "info"}) {
        SCOPED_TRACE(text_of(values, " of ", name, " as ", name_of(kind)));
        TempFolder folder;
        TensorDict td = few_steps();
        set_values(td, {name, "x"}, values);
        set_values(td, {"next", name, "x"}, values);
        try {
          save_dataset(td, nullptr, kind, folder("refused"), {});
          const TensorDict rows = Dataset::open(folder("refused"), {})->rows(0, 5);
          EXPECT_EQ(value_of(rows, {name, "x"}), value_of(td, {name, "x"}));
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), Code::unsupported) << error.what();
          EXPECT_FALSE(test::fs::exists(folder("refused")));
        }
        DatasetSaveOptions lossy;
        lossy.lossy = true;
        save_dataset(td, nullptr, kind, folder("lossy"), lossy);
        EXPECT_TRUE(at::equal(Dataset::open(folder("lossy"), {})->rows(0, 5).get({"action"}),
                              td.get({"action"})));
      }
    }
  }
}

// An entry below a name that the kind uses would come back as another one.
TEST(DatasetsSaved, NamesOfTheKindAreTaken) {
  if (!has_hdf5()) GTEST_SKIP() << "a build without HDF5";
  const struct {
    DatasetKind kind;
    const char* name;
  } cases[] = {{minari, "observations"}, {minari, "infos"}, {robomimic, "obs"},
               {robomimic, "next_obs"},  {d4rl, "infos"},   {d4rl, "metadata"},
               {d4rl, "virtual"}};
  for (const auto& one : cases) {
    SCOPED_TRACE(one.name);
    TempFolder folder;
    TensorDict td = few_steps(), plain = few_steps();
    td.set({one.name, "z"}, at::ones({5}));
    plain.set({one.name}, at::ones({5}));
    for (const TensorDict& other : {td, plain}) {
      expect_error(Code::key_exists, "is a name of the kind",
                   [&] { save_dataset(other, nullptr, one.kind, folder("a"), {}); });
    }
    EXPECT_FALSE(test::fs::exists(folder("a")));
  }
}

// A name that is read as another, and an entry of a name that is counted anew.
TEST(DatasetsSaved, WhatWouldComeBackAsAnotherIsLost) {
  if (!has_hdf5()) GTEST_SKIP() << "a build without HDF5";
  const auto expect_lost = [](const TensorDict& td, DatasetKind kind, const char* lost) {
    SCOPED_TRACE(text_of(lost, " as ", name_of(kind)));
    TempFolder folder;
    const auto write = [&](const char* name, bool lossy) {
      DatasetSaveOptions options;
      options.lossy = lossy;
      auto writer = DatasetWriter::open(folder(name), nullptr, kind, options);
      writer->add(td, nullptr);
      writer->close();
    };
    expect_error(Code::unsupported, lost, [&] { write("refused", false); });
    write("lossy", true);
    EXPECT_EQ(Dataset::open(folder("lossy"), {})->rows(0, 5).get({"episode"}).sum().item<float>(),
              0);
  };
  TensorDict named = few_steps();
  named.set({"info", "_index_0"}, at::ones({5}));
  named.set({"next", "info", "_index_0"}, at::ones({5}));
  expect_lost(named, minari, "the name of \"info\"/\"_index_0\"");
  for (const DatasetKind kind : {minari, robomimic, d4rl}) {
    TensorDict td = few_steps();
    td.set({"episode"}, at::arange(5, at::kFloat));
    expect_lost(td, kind, "\"episode\", which are no numbers");
    set_values(td, {"episode"}, R"(["a", "a", "a", "a", "a"])");
    expect_lost(td, kind, "\"episode\", which are no numbers");
  }

  TensorDict observed = few_steps();
  const at::Tensor x = at::arange(12, at::kFloat).reshape({6, 2});
  observed.set({"observation"}, test::dict({5}));
  observed.set({"next", "observation"}, test::dict({5}));
  observed.set({"observation", "_index_0"}, x.narrow(0, 0, 5));
  observed.set({"next", "observation", "_index_0"}, x.narrow(0, 1, 5));
  TempFolder folder;
  save_dataset(observed, nullptr, minari, folder("kept"), {});
  EXPECT_TRUE(
      same_tensors(Dataset::open(folder("kept"), {})->rows(0, 5).get({"observation", "_index_0"}),
                   x.narrow(0, 0, 5)));
}

// A set whose rows differ from one episode to the next is no table: what is written can be read.
TEST(DatasetsSaved, EpisodesHaveRowsOfOneForm) {
  if (!has_hdf5()) GTEST_SKIP() << "a build without HDF5";
  for (const DatasetKind kind : {minari, robomimic, d4rl, torchrl}) {
    for (const bool resumes : {false, true}) {
      SCOPED_TRACE(text_of(name_of(kind), resumes ? ", resumed" : ""));
      TempFolder folder;
      DatasetSaveOptions options;
      auto writer = DatasetWriter::open(folder("set"), nullptr, kind, options);
      writer->add(few_steps(), nullptr);
      if (resumes) {
        writer->close();
        options.resume = true;
        writer = DatasetWriter::open(folder("set"), nullptr, kind, options);
      }
      TensorDict wide = few_steps(), doubled = few_steps();
      wide.set({"action"}, at::zeros({5, 3}));
      doubled.set({"action"}, doubled.get({"action"}).to(at::kDouble));
      for (const TensorDict& other : {wide, doubled}) {
        EXPECT_THROW(writer->add(other, nullptr), Error);
        EXPECT_EQ(writer->episodes(), 1);
      }
      writer->add(few_steps(), nullptr);
      writer->close();
      EXPECT_EQ(Dataset::open(folder("set"), {})->steps(), 10);
    }
  }
}

// A refused episode leaves nothing that the end would stumble over.
TEST(DatasetsSaved, SetsWithoutEpisodes) {
  if (!has_hdf5()) GTEST_SKIP() << "a build without HDF5";
  TensorDict refused = few_steps();
  refused.set({"episode"}, at::arange(5, at::kFloat));
  for (const DatasetKind kind : {minari, robomimic, d4rl, torchrl}) {
    for (const bool tries : {false, true}) {
      SCOPED_TRACE(text_of(name_of(kind), tries ? " after a refused one" : ""));
      TempFolder folder;
      auto writer = DatasetWriter::open(folder("a/b/set"), nullptr, kind, {});
      if (tries) {
        if (kind == torchrl) refused = test::dict({0});
        expect_error(Code::unsupported, "cannot hold", [&] { writer->add(refused, nullptr); });
      }
      if (kind == minari || kind == robomimic) {
        writer->close();
        EXPECT_EQ(Dataset::open(folder("a/b/set"), {})->episodes(), 0);
      } else {
        expect_error(Code::shape, "at least", [&] { writer->close(); });
        EXPECT_FALSE(test::fs::exists(folder("a/b/set")));
      }
    }
  }
}

TEST(DatasetsSaved, AFileOfAnotherKindIsNoMinari) {
  if (!has_hdf5()) GTEST_SKIP() << "a build without HDF5";
  DatasetOptions options;
  options.kind = minari;
  for (const char* name : {"robomimic/low_dim.hdf5", "d4rl/hop-medium-v2.hdf5"})
    expect_error(Code::format, "is no data set of Minari",
                 [&] { Dataset::open(path_of(name), options); });
}

// Pictures of one or four channels make no video of LeRobot, and become numbers without a word otherwise.
TEST(DatasetsSaved, VideosHaveThreeChannels) {
  for (const std::int64_t channels : {1, 3, 4}) {
    SCOPED_TRACE(channels);
    TensorDict td = few_steps();
    td.set({"observation"}, test::dict({5}));
    td.set({"observation", "image", "top"}, at::zeros({5, 8, 8, channels}, at::kByte));
    TensorDict metadata;
    metadata.set_non_tensor({"fps"}, Plain::of_integer(10));
    DatasetSaveOptions options;
    options.video = VideoChoice::h264;
    datasets::Draft draft(options);
    datasets::LeRobotPlanner planner(metadata, options, draft);
    ASSERT_TRUE(planner.add(datasets::Entries(td), TensorDict(), {}));
    EXPECT_EQ(planner.plan().columns.size(), 5U);
    EXPECT_EQ(draft.fails(), channels != 3);
    if (channels == 3) continue;
    expect_error(Code::unsupported, text_of("whose pictures have ", channels, " channels"),
                 [&] { draft.require_all(DatasetKind::lerobot); });
  }
}

TEST(DatasetsSaved, ObservationsOfRobomimicAtAnyDepth) {
  if (!has_hdf5()) GTEST_SKIP() << "a build without HDF5";
  TempFolder folder;
  TensorDict td = test::dict({5});
  const at::Tensor x = at::arange(12, at::kFloat).reshape({6, 2});
  for (const char* arm : {"left", "right"}) {
    td.set({"observation", "arms", arm, "pos"}, x.narrow(0, 0, 5));
    td.set({"next", "observation", "arms", arm, "pos"}, x.narrow(0, 1, 5));
  }
  td.set({"observation", "object"}, x.narrow(0, 0, 5) * 2);
  td.set({"next", "observation", "object"}, x.narrow(0, 1, 5) * 2);
  td.set({"action"}, at::zeros({5, 3}));
  td.set({"next", "reward"}, at::ones({5, 1}));
  td.set({"next", "done"}, at::tensor({0, 0, 0, 0, 1}, at::kLong).to(at::kBool).unsqueeze(1));
  save_dataset(td, nullptr, robomimic, folder("a.hdf5"), {});
  const auto file = hdf5::GroupFile::open(folder("a.hdf5"), 0, 0);
  EXPECT_EQ(file->names("/data/demo_0/obs"), (std::vector<std::string>{"arms", "object"}));
  EXPECT_EQ(file->names("/data/demo_0/next_obs/arms"), (std::vector<std::string>{"left", "right"}));
  const auto leaves = file->leaves("/data/demo_0/obs/arms/left/pos");
  ASSERT_EQ(leaves.size(), 1u);
  EXPECT_TRUE(same_tensors(file->read(leaves[0]).tensor, x.narrow(0, 0, 5)));
  const auto set = Dataset::open(folder("a.hdf5"), {});
  EXPECT_EQ(set->kind(), robomimic);
  expect_within(td, set->rows(0, 5));
  expect_same_set(
      *set, *converted(*converted(*set, minari, folder("there")), robomimic, folder("back.hdf5")));
}

TEST(DatasetsSaved, RowsOfAProgram) {
  if (!has_hdf5()) GTEST_SKIP() << "a build without HDF5";
  TempFolder folder;
  TensorDict td = test::dict({5});
  const at::Tensor x = at::arange(12, at::kFloat).reshape({6, 2});
  td.set({"observation", "x"}, x.narrow(0, 0, 5));
  td.set({"next", "observation", "x"}, x.narrow(0, 1, 5));
  td.set({"action"}, at::tensor({3, 0, 5, 1, 2}, at::kLong));
  td.set({"next", "reward"}, at::ones({5, 1}));
  td.set({"next", "done"}, at::tensor({0, 0, 1, 0, 1}, at::kLong).to(at::kBool).unsqueeze(1));
  set_texts(td, {"observation", "say"}, std::vector<const char*>{"a", "bc", "", "d", "e"});
  expect_error(Code::unsupported, "say",
               [&] { save_dataset(td, nullptr, minari, folder("a"), {}); });
  td.remove({"observation", "say"});
  save_dataset(td, nullptr, minari, folder("run-v3"), {});
  const auto set = Dataset::open(folder("run-v3"), {});
  EXPECT_EQ(set->lengths(), (std::vector<std::int64_t>{3, 2}));
  expect_within(td, set->rows(0, 5));
  EXPECT_EQ(value_of(set->metadata(), {"dataset_id"}), "\"run-v3\"");
  EXPECT_EQ(text_in(set->metadata(), {"action_space"}),
            R"({"type": "Discrete", "dtype": "int64", "start": 0, "n": 6})");
  EXPECT_EQ(
      text_in(set->metadata(), {"observation_space"}),
      R"({"type": "Dict", "subspaces": {"x": {"type": "Box", "dtype": "float32", "shape": [2], )"
      R"("low": [-1e999, -1e999], "high": [1e999, 1e999]}}})");
  // A folder that is something else is not replaced.
  test::fs::create_directory(folder("other"));
  expect_error(Code::io, "is there already",
               [&] { save_dataset(td, nullptr, minari, folder("other"), {}); });
  // "next" that is not what the next row begins with.
  td.set({"next", "observation", "x"}, x.narrow(0, 0, 5));
  expect_error(Code::unsupported, "what follows",
               [&] { save_dataset(td, nullptr, minari, folder("run-v3"), {}); });
  expect_within(test::dict({}), set->rows(0, 5));
  expect_error(Code::shape, "batch dimension",
               [&] { save_dataset(test::dict({}), nullptr, d4rl, folder("b"), {}); });
}

}  // namespace
}  // namespace td
