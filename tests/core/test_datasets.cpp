// Data sets that Minari, robomimic and D4RL wrote: each holds what the manifest says that its own library reads.
#include "core/base/sha256.h"
#include "core/datasets/dataset.h"
#include "core/datasets/row_reader.h"
#include "core/formats/json_text.h"
#include "core/hdf5/group_file.h"
#include "core/tensor/dtype.h"
#include "core/tree/non_tensor.h"

#include "dataset_files.h"
#include "folders.h"

#include <ATen/ATen.h>

namespace td {
namespace {

// nullptr in a build without HDF5.
std::unique_ptr<Dataset> open(const std::string& name, const DatasetOptions& options = {}) {
  try {
    return Dataset::open(path_of(name), options);
  } catch (const Error& error) {
    if (error.code() != Code::unsupported) throw;
    return nullptr;
  }
}

std::string text(const Plain& object, const char* name) {
  const Plain* found = object.find(name);
  return found == nullptr ? "" : std::string(found->characters());
}

std::vector<std::int64_t> numbers(const Plain& list) {
  std::vector<std::int64_t> numbers;
  for (const Plain& one : list.items()) numbers.push_back(one.integral());
  return numbers;
}

using Key = std::vector<std::string>;

// The entry that the rows of a name in the manifest become, and whether there is a last row in "next".
struct Place {
  Key key;
  bool is_longer = false;
};

Place place_of(const std::string& kind, const std::string& name) {
  Key path;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    path.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  const std::string top = path[0];
  const auto first = [&](Key key) {
    key.insert(key.end(), path.begin() + 1, path.end());
    return key;
  };
  if (top == "rewards") return {{"next", "reward"}};
  if (top == "terminations" || top == "terminals") return {{"next", "terminated"}};
  if (top == "truncations" || top == "timeouts") return {{"next", "truncated"}};
  if (top == "dones") return {{"next", "done"}};
  if (top == "actions") return {first({"action"})};
  if (top == "observations") return {first({"observation"}), kind == "minari"};
  if (top == "infos") return {first({"info"}), kind == "minari"};
  if (top == "obs") return {first({"observation"})};
  if (top == "next_obs" || top == "next_observations") return {first({"next", "observation"})};
  return {path};
}

// The bytes of rows as the manifest hashes them.
void add_bytes(std::string& to, const TensorDict& td, const Key& key, const Plain& wanted,
               bool is_last) {
  const bool is_whole = wanted.find("whole") != nullptr;
  const std::vector<std::string_view> path(key.begin(), key.end());
  if (td.kind_of(path) == EntryKind::tensor) {
    at::Tensor values = td.get(path);
    if (is_last) values = values.narrow(0, values.size(0) - 1, 1);
    if (key == Key{"next", "done"}) values = values.to(at::kLong);
    EXPECT_EQ("torch." + text(wanted, "dtype"), dtype_name(values.scalar_type()));
    const std::vector<std::int64_t> shape = numbers(*wanted.find("shape"));
    const bool flat = shape.empty() && values.dim() == 2 && values.size(1) == 1;
    const SizesView row = is_whole ? values.sizes() : values.sizes().slice(1);
    if (!flat) {
      EXPECT_EQ(row, SizesView(shape));
    }
    values = values.contiguous();
    to.append(static_cast<const char*>(values.data_ptr()), values.nbytes());
    return;
  }
  const Plain lists = read_value(values_of(td, path), "values");
  for (std::size_t i = is_last ? lists.items().size() - 1 : 0; i < lists.items().size(); ++i) {
    const Plain& one = lists.items()[i];
    if (one.is(Plain::text)) {
      (to += one.characters()) += '\0';
      continue;
    }
    TensorDict holder;
    holder.set_non_tensor({"file"}, one);
    to += bytes_of_value(holder, {"file"});
  }
}

class Datasets : public ::testing::Test {
 protected:
  static Plain manifest() {
    return read_value(test::read_file(path_of("manifest.json")), "the manifest");
  }
};

TEST_F(Datasets, EachHoldsWhatItsLibraryReads) {
  const Plain all = manifest();
  for (const Plain& wanted : all.items()) {
    SCOPED_TRACE(text(wanted, "path"));
    const std::string kind = text(wanted, "kind");
    const auto set = open(text(wanted, "path"));
    if (set == nullptr) GTEST_SKIP() << "a build without HDF5";
    EXPECT_EQ(set->kind(), kind == "minari"      ? DatasetKind::minari
                           : kind == "robomimic" ? DatasetKind::robomimic
                                                 : DatasetKind::d4rl);
    EXPECT_EQ(set->episodes(), wanted.find("episodes")->integral());
    EXPECT_EQ(set->steps(), wanted.find("steps")->integral());
    const std::vector<std::int64_t> lengths = numbers(*wanted.find("lengths"));
    EXPECT_EQ(set->lengths(), lengths);
    const TensorDict structure = set->structure();
    EXPECT_EQ(structure.batch_size(), SizesView({0}));
    const Plain& entries = *wanted.find("entries");
    for (std::size_t i = 0; i < entries.items().size(); ++i) {
      const std::string name(entries.name(i));
      SCOPED_TRACE(name);
      const Plain& entry = entries.items()[i];
      std::string bytes;
      if (entry.find("whole") != nullptr) {
        add_bytes(bytes, set->metadata(), place_of(kind, name).key, entry, false);
        EXPECT_EQ(sha256(bytes), text(entry, "sha256"));
        continue;
      }
      const Place place = place_of(kind, name);
      Key last{"next"};
      last.insert(last.end(), place.key.begin(), place.key.end());
      for (std::int64_t e = 0; e < set->episodes(); ++e) {
        const TensorDict episode = set->episode(e);
        EXPECT_EQ(episode.batch_size(), SizesView({lengths[static_cast<std::size_t>(e)]}));
        add_bytes(bytes, episode, place.key, entry, false);
        if (place.is_longer) add_bytes(bytes, episode, last, entry, true);
      }
      const Plain* encoded = entry.find("encoded");
      EXPECT_EQ(sha256(bytes), text(encoded == nullptr ? entry : *encoded, "sha256"));
      const std::vector<std::string_view> path(place.key.begin(), place.key.end());
      const bool is_tensor = structure.kind_of(path) == EntryKind::tensor;
      EXPECT_EQ(is_tensor, encoded == nullptr && text(entry, "dtype") != "text");
    }
  }
}

TEST_F(Datasets, MetadataAreAllThere) {
  const Plain all = manifest();
  for (const Plain& wanted : all.items()) {
    SCOPED_TRACE(text(wanted, "path"));
    const auto set = open(text(wanted, "path"));
    if (set == nullptr) GTEST_SKIP() << "a build without HDF5";
    const TensorDict metadata = set->metadata();
    const Plain& members = *wanted.find("meta");
    if (set->kind() == DatasetKind::minari) {
      for (std::size_t i = 0; i < members.items().size(); ++i) {
        EXPECT_EQ(read_value(value_of(metadata, {members.name(i)}), "a value"), members.items()[i])
            << members.name(i);
      }
      EXPECT_EQ(set->version(), "0.5.4");
      EXPECT_EQ(metadata.kind_of({"observation_space"}), EntryKind::non_tensor);
    }
    const Plain& episodes = *wanted.find("episode_meta");
    for (std::size_t e = 0; e < episodes.items().size(); ++e) {
      const TensorDict one = set->metadata(static_cast<std::int64_t>(e));
      const Plain& about = episodes.items()[e];
      for (std::size_t i = 0; i < about.items().size(); ++i) {
        const Plain found = read_value(value_of(one, {about.name(i)}), "a value");
        EXPECT_EQ(found, about.items()[i]) << e << " " << about.name(i);
      }
    }
  }
  if (const auto set = open("robomimic/low_dim.hdf5")) {
    EXPECT_EQ(value_of(set->metadata(), {"mask", "train"}), R"(["demo_0","demo_2"])");
    EXPECT_EQ(value_of(set->metadata(), {"total"}), "18");
  }
  if (const auto set = open("d4rl/hop-medium-v2.hdf5")) {
    EXPECT_EQ(value_of(set->metadata(), {"metadata", "algorithm"}), "\"SAC\"");
    EXPECT_EQ(set->metadata().get({"metadata", "iteration"}).item<std::int64_t>(), 1000);
  }
}

TEST_F(Datasets, RowsAreThoseOfTheEpisodes) {
  const Plain all = manifest();
  for (const Plain& wanted : all.items()) {
    SCOPED_TRACE(text(wanted, "path"));
    const auto set = open(text(wanted, "path"));
    if (set == nullptr) GTEST_SKIP() << "a build without HDF5";
    const TensorDict flat = set->rows(0, set->steps());
    std::int64_t row = 0;
    for (std::int64_t e = 0; e < set->episodes(); ++e) {
      const TensorDict episode = set->episode(e);
      const std::int64_t length = episode.batch_size()[0];
      const auto slice = [](std::int64_t from, std::int64_t to) {
        return IndexItem::range(from, to);
      };
      EXPECT_TRUE(flat.index(slice(row, row + length)).equal(episode));
      EXPECT_EQ(episode.get({"episode"}).min().item<std::int64_t>(), e);
      if (length > 2) {
        EXPECT_TRUE(set->rows(row + 1, length - 2).equal(episode.index(slice(1, length - 1))));
      }
      row += length;
    }
    const at::Tensor done = flat.get({"next", "done"});
    EXPECT_EQ(done.sizes(), SizesView({set->steps(), 1}));
    EXPECT_EQ(set->episodes(0, set->episodes()).batch_size()[0], set->episodes());
  }
}

// Two episodes of three steps, of which the second cannot be read.
class HalfReadable final : public datasets::Source {
 public:
  HalfReadable() { episodes = 2; }
  std::string where() const override { return "a set"; }
  std::vector<std::int64_t> lengths() const override { return {3, 3}; }
  std::int64_t length(std::int64_t) const override { return 3; }
  TensorDict metadata() const override { return TensorDict(); }
  TensorDict metadata(std::int64_t) const override { return TensorDict(); }
  TensorDict read(const std::vector<datasets::Steps>& steps) const override {
    std::vector<at::Tensor> rows;
    for (const datasets::Steps& one : steps) {
      if (one.episode == 1) fail(Code::format, "episode 1 is damaged");
      rows.push_back(at::arange(one.from, one.from + one.count, at::kLong));
    }
    TensorDict td(Sizes{rows.empty() ? 0 : at::cat(rows).size(0)});
    td.set({"row"}, rows.empty() ? at::empty({0}, at::kLong) : at::cat(rows));
    return td;
  }
};

TEST_F(Datasets, RowsByNumbersAreHeldOrReadAnew) {
  const at::Tensor rows = at::tensor({4, 0, 11, 4, 7, 10}, at::kLong).reshape({2, 3});
  for (const char* name : {"minari/mixed", "d4rl/chunks.hdf5", "robomimic/image.hdf5"}) {
    SCOPED_TRACE(name);
    const auto set = open(name);
    if (set == nullptr) GTEST_SKIP() << "a build without HDF5";
    const at::Tensor here = rows.remainder(set->steps());
    const TensorDict held = datasets::RowReader(*set).read(here);
    const TensorDict anew = datasets::RowReader(*set, 0).read(here);
    EXPECT_EQ(held.batch_size(), SizesView({2, 3}));
    EXPECT_TRUE(held.equal(anew));
    const TensorDict flat = set->rows(0, set->steps());
    EXPECT_TRUE(held.index(IndexItem::at(1))
                    .index(IndexItem::at(0))
                    .equal(flat.index(IndexItem::at(here.index({1, 0}).item<std::int64_t>()))));
  }
  // What can be read is, although the whole cannot.
  const Dataset torn(std::make_unique<HalfReadable>());
  const datasets::RowReader reader(torn);
  EXPECT_TRUE(at::equal(reader.read(at::tensor({2, 1}, at::kLong)).get({"row"}),
                        at::tensor({2, 1}, at::kLong)));
  test::expect_error(Code::format, "episode 1", [&] {
    reader.read(at::tensor({1, 3}, at::kLong));
  });
}

TEST_F(Datasets, AttributesOfOldMinari) {
  const auto set = open("minari/attributes");
  if (set == nullptr) GTEST_SKIP() << "a build without HDF5";
  EXPECT_EQ(set->version(), "0.4.3");
  EXPECT_EQ(set->lengths(), (std::vector<std::int64_t>{4, 1, 3, 2, 0, 2, 2, 1, 2, 2, 1}));
  EXPECT_EQ(value_of(set->metadata(), {"dataset_id"}), "\"old/set-v1\"");
  EXPECT_EQ(value_of(set->metadata(1), {"seed"}), "18446744073709551614");
  EXPECT_EQ(value_of(set->metadata(1), {"options"}), R"({"a":{"b":1.5}})");
  EXPECT_EQ(set->metadata(1).get({"extra"}).numel(), 7);
  // Episode 10 is the last, although "episode_10" sorts before "episode_2".
  const TensorDict last = set->episode(10);
  EXPECT_EQ(last.get({"observation", "x"}).index({0, 0}).item<float>(), 1000);
  EXPECT_EQ(last.get({"next", "observation", "x"}).index({0, 0}).item<float>(), 1002);
  EXPECT_EQ(last.get({"action", "0"}).item<std::int64_t>(), 10);
  // infos of T rows belong to what comes after the step.
  EXPECT_EQ(last.get({"next", "info", "temp"}).item<double>(), 10);
  test::expect_error(Code::key_not_found, "info", [&] { last.get({"info", "temp"}); });
  TensorDict holder;
  holder.set_non_tensor({"file"}, read_value(value_of(last, {"observation", "cam"}), "a file"));
  EXPECT_EQ(bytes_of_value(holder, {"file"}).substr(0, 4), "\x89PNG");
  EXPECT_EQ(set->episode(4).batch_size(), SizesView({0}));
  EXPECT_EQ(set->rows(7, 13).batch_size(), SizesView({13}));
}

TEST_F(Datasets, ChunksOfD4rl) {
  const auto set = open("d4rl/chunks.hdf5");
  if (set == nullptr) GTEST_SKIP() << "a build without HDF5";
  EXPECT_EQ(set->lengths(), (std::vector<std::int64_t>{12, 13, 5}));
  const TensorDict second = set->episode(1);
  EXPECT_TRUE(at::equal(second.get({"action"}), at::arange(12, 25, at::kFloat).unsqueeze(1)));
  EXPECT_TRUE(at::equal(set->rows(8, 14).get({"next", "reward"}),
                        at::arange(8, 22, at::kFloat).unsqueeze(1)));
  test::expect_error(Code::key_not_found, "truncated", [&] { second.get({"next", "truncated"}); });

  DatasetOptions options;
  options.max_episode_steps = 12;
  const auto cut = open("d4rl/chunks.hdf5", options);
  EXPECT_EQ(cut->lengths(), (std::vector<std::int64_t>{12, 12, 1, 5}));
  const at::Tensor truncated = cut->rows(0, 30).get({"next", "truncated"}).squeeze(1);
  EXPECT_TRUE(at::equal(truncated.nonzero().squeeze(1), at::tensor({23}, at::kLong)));
  EXPECT_TRUE(cut->episode(1).get({"next", "truncated"}).index({11, 0}).item<bool>());
  EXPECT_EQ(cut->rows(0, 30).get({"next", "done"}).sum().item<std::int64_t>(), 3);
}

TEST_F(Datasets, UnsignedNumbers) {
  const auto set = open("d4rl/unsigned.hdf5");
  if (set == nullptr) GTEST_SKIP() << "a build without HDF5";
  const TensorDict rows = set->rows(0, 4);
  const auto numbers = [&](std::vector<std::string_view> key) {
    const at::Tensor values = rows.get(key).reshape({-1}).to(at::kLong).contiguous();
    return std::vector<std::int64_t>(values.data_ptr<std::int64_t>(),
                                     values.data_ptr<std::int64_t>() + values.numel());
  };
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(numbers({"observation"}), (Numbers{1, 65535, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(numbers({"action"}), (Numbers{0, 4294967295, 2, 3}));
  EXPECT_EQ(numbers({"info", "hash"}), (Numbers{0, -1, INT64_MIN, 5}));
  EXPECT_EQ(numbers({"info", "big"}), (Numbers{1, 2, 3, INT64_MAX}));
}

TEST_F(Datasets, RawDemonstrations) {
  const auto set = open("robomimic/raw.hdf5");
  if (set == nullptr) GTEST_SKIP() << "a build without HDF5";
  EXPECT_EQ(set->version(), "1.4.1");
  EXPECT_EQ(set->lengths(), (std::vector<std::int64_t>{3, 2, 4}));
  EXPECT_EQ(value_of(set->metadata(2), {"name"}), "\"demo_10\"");
  EXPECT_EQ(value_of(set->metadata(), {"attributes", "comment"}), "\"of the file\"");
  EXPECT_EQ(set->episode(2).get({"states"}).sizes(), SizesView({4, 5}));
}

TEST_F(Datasets, LengthsByAttributes) {
  if (!has_hdf5()) GTEST_SKIP() << "a build without HDF5";
  const test::TempFolder folder;
  const std::string path = folder("counts.hdf5");
  hdf5::SaveOptions options;
  options.attributes = read_value(
      R"({"/a": {"n": 3}, "/b": {"n": -1}, "/c": {"n": 2.5}, "/d": {"n": "3"}, "/e": {"n": [4]}, "/f": {"n": null},
          "/g": {"m": 5}, "/h": {"n": true}, "/i": {"n": 18446744073709551615}})",
      "attributes");
  TensorDict groups;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h", "i"})
    groups.set({name}, TensorDict());
  groups.set({"tensor"}, at::zeros({3}));
  hdf5::save(groups, path, options);
  const auto file = hdf5::GroupFile::open(path, 0, 0);
  const std::vector<std::int64_t> unknown(8, hdf5::GroupFile::unknown_count);
  EXPECT_EQ(file->counts("/", {"a", "none", "tensor", "", "a"}, "n"),
            (std::vector<std::int64_t>{3, -2, -2, -2, 3}));
  EXPECT_EQ(file->counts("/", {"b", "c", "d", "e", "f", "g", "h", "i"}, "n"), unknown);
  EXPECT_TRUE(file->counts("/", {}, "n").empty());

  // Where the attribute tells nothing, rewards do, and what is no number of steps is named.
  const auto lengths = [&](const std::string& second) {
    TensorDict set;
    for (const char* name : {"episode_0", "episode_1"}) {
      set.set({name, "observations"}, at::zeros({4, 2}));
      set.set({name, "actions"}, at::zeros({3, 1}));
      set.set({name, "rewards"}, at::zeros({3}));
    }
    options.attributes = read_value(
        R"({"/": {"minari_version": "0.4.3"}, "/episode_0": {"total_steps": 3}, "/episode_1": {)" +
            second + "}}",
        "attributes");
    hdf5::save(set, path, options);
    return Dataset::open(path, {})->lengths();
  };
  EXPECT_EQ(lengths(R"("total_steps": 3)"), (std::vector<std::int64_t>{3, 3}));
  EXPECT_EQ(lengths(R"("id": 1)"), (std::vector<std::int64_t>{3, 3}));
  test::expect_error(Code::format, "which is no number of steps",
                     [&] { lengths(R"("total_steps": 3.5)"); });
}

// Opening looks at the names alone.
TEST_F(Datasets, WhatIsNoEpisodeIsNamed) {
  if (!has_hdf5()) GTEST_SKIP() << "a build without HDF5";
  const test::TempFolder folder;
  const auto saved = [&](const char* file, const char* first, const char* second) {
    TensorDict set;
    for (const char* leaf : {"actions", "rewards"}) set.set({first, leaf}, at::zeros({3}));
    set.set({second}, at::zeros({3}));
    return std::pair(folder(file), set);
  };
  const auto [minari, episodes] = saved("minari.hdf5", "episode_0", "episode_1");
  hdf5::save(episodes, minari, {});
  const auto [robomimic, demos] = saved("robomimic.hdf5", "demo_0", "demo_1");
  TensorDict data;
  data.set({"data"}, demos);
  hdf5::save(data, robomimic, {});
  for (const std::string& path : {minari, robomimic}) {
    const auto set = Dataset::open(path, {});
    test::expect_error(Code::format, "is no group of an episode", [&] { set->lengths(); });
  }
}

// Groups as h5py makes them: names in tables, but for those that are not ASCII.
TEST_F(Datasets, NamesAreMarkedAsH5pyDoes) {
  if (!has_hdf5()) GTEST_SKIP() << "a build without HDF5";
  const test::TempFolder folder;
  const std::string path = folder("names.hdf5");
  const auto tables_of = [&](const char* name) {
    TensorDict td;
    td.set({"group", name}, at::arange(3));
    hdf5::save(td, path, {});
    EXPECT_TRUE(at::equal(hdf5::GroupFile::open(path, 0, 0)
                              ->read(hdf5::GroupFile::open(path, 0, 0)->leaves("/group").at(0))
                              .tensor,
                          at::arange(3)));
    const std::string bytes = test::read_file(path);
    std::int64_t count = 0;
    for (std::size_t at = bytes.find("SNOD"); at != std::string::npos;
         at = bytes.find("SNOD", at + 4))
      ++count;
    return count;
  };
  const std::int64_t plain = tables_of("plain");
  if (plain == 0) GTEST_SKIP() << "HDF5 2 writes no tables of links";
  EXPECT_EQ(plain, 2);  // of the root and of the group
  EXPECT_LT(tables_of("é"), 2);
}

TEST_F(Datasets, WhatIsNoneIsRefused) {
  const auto refused = [](Code code, const std::string& path, DatasetKind kind) {
    DatasetOptions options;
    options.kind = kind;
    test::expect_error(code, "", [&] { Dataset::open(path, options); });
  };
  if (open("d4rl/chunks.hdf5") == nullptr) GTEST_SKIP() << "a build without HDF5";
  refused(Code::io, "", DatasetKind::detect);
  refused(Code::io, path_of("none"), DatasetKind::detect);
  refused(Code::format, path_of(""), DatasetKind::detect);
  refused(Code::format, path_of("manifest.json"), DatasetKind::detect);
  refused(Code::format, path_of("d4rl/chunks.hdf5"), DatasetKind::robomimic);
  refused(Code::format, path_of("robomimic/raw.hdf5"), DatasetKind::d4rl);
  refused(Code::io, path_of("d4rl"), DatasetKind::minari);
  const auto set = open("minari/mixed");
  test::expect_error(Code::index, " of ", [&] { set->episode(3); });
  test::expect_error(Code::index, " of ", [&] { set->episode(-1); });
  test::expect_error(Code::index, " of ", [&] { set->episodes(2, 2); });
  test::expect_error(Code::index, " of ", [&] { set->rows(10, 6); });
  test::expect_error(Code::index, " of ", [&] { set->metadata(3); });
}

}  // namespace
}  // namespace td
