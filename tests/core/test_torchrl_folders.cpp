// Folders of TorchRL's replay buffers: each holds what expected.json beside it says.
#include "core/base/sha256.h"
#include "core/formats/json_text.h"
#include "core/memmap/memmap.h"
#include "core/replay/replay.h"
#include "core/tensor/dtype.h"
#include "core/tree/walk.h"

#include "folders.h"

#include <ATen/ATen.h>

#include <set>

namespace td {
namespace {

using test::expect_error;
using test::read_file;
using test::TempFolder;

std::string folder_of(const std::string& name) {
  return std::string(TD_TEST_DATA) + "/torchrl/" + name;
}

Plain expected_of(const std::string& name) {
  return read_json(read_file(folder_of(name) + "/expected.json"), name);
}

std::vector<std::string> all_cases() {
  std::vector<std::string> names;
  for (const auto& entry : test::fs::directory_iterator(folder_of(""))) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::unique_ptr<Replay> loaded(const std::string& name, ReplayOptions options = {}) {
  return Replay::open(folder_of(name) + "/folder", options, /*live=*/false);
}

std::string member_text(const Plain& object, std::string_view name) {
  const Plain* found = object.find(name);
  return found == nullptr ? "" : std::string(found->characters());
}

void check_tensor(const at::Tensor& tensor, const Plain& wanted) {
  EXPECT_EQ(dtype_name(tensor.scalar_type()), member_text(wanted, "dtype"));
  std::vector<std::int64_t> sizes;
  for (const Plain& size : wanted.find("shape")->items()) sizes.push_back(size.integral());
  EXPECT_EQ(tensor.sizes(), SizesView(sizes));
  const at::Tensor dense = tensor.contiguous();
  EXPECT_EQ(sha256({static_cast<const char*>(dense.data_ptr()), dense.nbytes()}),
            member_text(wanted, "sha256"));
}

void check_rows(const TensorDict& td, const Plain& wanted) {
  std::size_t found = 0;
  visit_paths(*td.node(), [&](Path path, const Value& value) {
    std::string name;
    for (const std::string_view part : path) name += (name.empty() ? "" : "/") + std::string(part);
    if (value.is_node() && holds_entries(*value.node())) return;
    const Plain* entry = wanted.find(name);
    SCOPED_TRACE(name);
    ASSERT_NE(entry, nullptr);
    ++found;
    if (!value.is_node()) {
      check_tensor(value.tensor(), *entry);
    } else {
      EXPECT_EQ(read_json(td.get_non_tensor(path), name), *entry->find("values"));
    }
  });
  EXPECT_EQ(found, wanted.items().size());
}

std::optional<std::int64_t> number(const Plain& object, std::string_view name) {
  const Plain* value = object.find(name, Plain::integer);
  return value == nullptr ? std::nullopt : std::optional(value->integral());
}

void check_buffer(Replay& replay, const Plain& wanted) {
  const RingCounts counts = replay.counts();
  EXPECT_EQ(counts.length, number(wanted, "length"));
  EXPECT_EQ(counts.capacity, number(wanted, "capacity"));
  if (const auto cursor = number(wanted, "cursor")) {
    EXPECT_EQ(counts.cursor, *cursor);
  }
  if (const auto written = number(wanted, "write_count")) {
    EXPECT_EQ(counts.written, *written);
  }
  check_rows(replay.dict(), *wanted.find("rows"));
}

bool starts_with(const std::string& text, const std::string& begin) {
  return text.rfind(begin, 0) == 0;
}

// A copy has every file but the batches that Python had drawn ahead, and those outside of storage/ byte by byte.
void check_copy(Replay& replay, const std::string& name) {
  const TempFolder temp;
  replay.save(temp("copy"), /*durable=*/false);
  auto before = test::tree(folder_of(name) + "/folder"), after = test::tree(temp("copy"));
  before.erase("prefetch.pkl");
  for (const auto& [file, content] : before) {
    SCOPED_TRACE(file);
    if (starts_with(file, "storage/") && name == "checkpoint_flat") continue;
    ASSERT_EQ(after.count(file), 1u);
    // The order of entries in a meta.json is free.
    if (!starts_with(file, "storage/") && file != "sampler/meta.json") {
      EXPECT_EQ(after[file], content);
    }
    after.erase(file);
  }
  if (name != "checkpoint_flat") {
    EXPECT_TRUE(after.empty()) << after.begin()->first;
  }
  const auto again = Replay::open(temp("copy"), {}, /*live=*/false);
  check_buffer(*again, expected_of(name));
}

bool draws(const std::string& sampler) {
  static const std::set<std::string> foreign = {"ConsumingSampler", "StalenessAwareSampler",
                                                "StreamingSliceSampler",
                                                "SliceSamplerWithoutReplacement"};
  return foreign.count(sampler) == 0;
}

TEST(TorchRLFolders, HoldWhatTorchRLHas) {
  const std::vector<std::string> names = all_cases();
  ASSERT_EQ(names.size(), 31u);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const Plain wanted = expected_of(name);
    if (name == "compressed_list") {
      expect_error(Code::unsupported, "compressed list", [&] { loaded(name); });
      continue;
    }
    const std::unique_ptr<Replay> replay = loaded(name);
    if (member_text(wanted, "kind") == "ensemble") continue;
    check_buffer(*replay, wanted);
    check_copy(*replay, name);
    if (name == "tensorclass") continue;  // its class has no field for the index of a draw
    const std::string sampler = member_text(wanted, "sampler");
    if (name == "per_zero") {
      expect_error(Code::shape, "priority 0", [&] { replay->sample(8); });
    } else if (draws(sampler)) {
      EXPECT_EQ(replay->sample(8).batch_size(), SizesView({8}));
    } else {
      expect_error(Code::unsupported, sampler, [&] { replay->sample(8); });
      ReplayOptions options;
      options.sampling = ReplaySampling::random;
      EXPECT_EQ(loaded(name, options)->sample(8).batch_size(), SizesView({8}));
    }
  }
}

TEST(TorchRLFolders, AnEnsembleIsItsBuffers) {
  const Plain wanted = expected_of("ensemble");
  const auto all = loaded("ensemble");
  EXPECT_EQ(all->counts().length, 41);
  EXPECT_EQ(all->counts().capacity, 50);
  EXPECT_EQ(all->dict().batch_size(), SizesView({41}));
  const TensorDict batch = all->sample(8);
  EXPECT_EQ(batch.batch_size(), SizesView({8}));
  const std::string_view ids[] = {"buffer_ids"};
  EXPECT_TRUE(batch.get(ids).lt(2).all().item<bool>());
  expect_error(Code::invalid_argument, "7 rows", [&] { all->sample(7); });
  expect_error(Code::unsupported, "ensemble", [&] { all->extend(batch); });
  for (std::size_t k = 0; k < 2; ++k) {
    const auto one = Replay::open(folder_of("ensemble/folder/storage/") + std::to_string(k), {},
                                  /*live=*/false);
    check_buffer(*one, wanted.find("parts")->items()[k]);
    EXPECT_EQ(one->sample(8).batch_size(), SizesView({8}));
  }
}

TensorDict first_rows(Replay& replay, std::int64_t n) {
  const IndexItem some[] = {IndexItem::range(0, n)};
  return replay.dict().index(some).clone();
}

TEST(TorchRLFolders, StateThatRowsWouldMakeUntrueKeepsThemOut) {
  for (const char* name : {"immutable", "consuming", "streaming_slices"}) {
    SCOPED_TRACE(name);
    const auto replay = loaded(name);
    const TensorDict rows = first_rows(*replay, 2);
    const RingCounts before = replay->counts();
    expect_error(Code::unsupported, "", [&] { replay->extend(rows); });
    EXPECT_EQ(replay->counts().written, before.written);
  }
  const auto staleness = loaded("staleness");
  staleness->extend(first_rows(*staleness, 2));  // its rows carry their versions themselves
  EXPECT_EQ(staleness->counts().length, 19);
}

TEST(TorchRLFolders, ARowReplacesTheOneOfTheSmallestRank) {
  for (const char* name : {"max_value_full", "max_value_per"}) {
    SCOPED_TRACE(name);
    const auto replay = loaded(name);
    TensorDict rows = first_rows(*replay, 4);
    const std::string_view key[] = {"td_error"};
    rows.set(key, at::tensor({4.25f, 100.f, 1.f, 5.f}));
    replay->extend(rows);
    EXPECT_EQ(replay->counts().written, 59);  // two were not larger than the smallest
    EXPECT_EQ(replay->counts().cursor, 0);
    const at::Tensor ranks = replay->dict().get(key);
    EXPECT_EQ(ranks[1].item<float>(), 100.f);  // of equal ranks the first place goes first
    EXPECT_EQ(ranks[3].item<float>(), 5.f);
    const TempFolder temp;
    replay->save(temp("saved"), false);
    const auto again = Replay::open(temp("saved"), {}, false);
    rows.set(key, at::tensor({4.25f, 4.5f, 0.f, 0.f}));
    again->extend(rows);
    EXPECT_EQ(again->counts().written, 60);
    EXPECT_EQ(again->dict().get(key)[9].item<float>(), 4.5f);
  }
}

TEST(TorchRLFolders, GenerationsAreCounted) {
  const auto replay = loaded("generations");
  replay->extend(first_rows(*replay, 20));  // places 23 to 39, and 0 to 2
  const TempFolder temp;
  replay->save(temp("saved"), false);
  const std::string table = read_file(temp("saved/writer/generation.memmap"));
  std::vector<std::int64_t> counts(table.size() / 8);
  std::memcpy(counts.data(), table.data(), table.size());
  ASSERT_EQ(counts.size(), 40u);
  for (std::size_t place = 0; place < 40; ++place) EXPECT_EQ(counts[place], place < 3 ? 2 : 1);
}

TEST(TorchRLFolders, SlicesRunAlongTime) {
  ReplayOptions options;
  options.sampling = ReplaySampling::slices;
  options.slices.length = 3;
  options.slices.ends = {{"next", "done"}};
  const auto replay = loaded("ndim2_time_first", options);
  const TensorDict batch = replay->sample(300);
  const std::string_view index_name[] = {"index"}, done_name[] = {"next", "done"};
  const at::Tensor index = batch.get(index_name), done = batch.get(done_name).reshape({-1});
  ASSERT_EQ(index.sizes(), SizesView({300, 2}));
  std::set<std::int64_t> columns;
  for (std::int64_t k = 0; k < 300; ++k) {
    columns.insert(index[k][1].item<std::int64_t>());
    if (k % 3 == 0) continue;
    const auto step = index[k][0].item<std::int64_t>();
    EXPECT_EQ(step, (index[k - 1][0].item<std::int64_t>() + 1) % 15);
    EXPECT_NE(step, 3);  // the oldest row, behind the newest
    EXPECT_EQ(index[k][1].item<std::int64_t>(), index[k - 1][1].item<std::int64_t>());
    EXPECT_FALSE(done[k - 1].item<bool>());
  }
  EXPECT_EQ(columns.size(), 4u);
}

// Its list goes on: of the episodes 3, 5; 1, 0; 6, 7, those of 1, 3 and 2 rows are shorter than a slice.
TEST(TorchRLFolders, SlicesWithoutReplacementGoOnWithTheirList) {
  ReplayOptions options;
  options.sampling = ReplaySampling::slices_without_replacement;
  options.slices.length = 4;
  options.slices.ends = {{"next", "done"}};
  auto replay = loaded("slices_without", options);
  const TempFolder temp;
  const std::int64_t firsts[] = {20, 0, 28}, lasts[] = {25, 4, 32};
  for (std::size_t batch = 0; batch < 3; ++batch) {
    const std::string_view name[] = {"index"};
    const at::Tensor index = replay->sample(8).get(name);
    ASSERT_EQ(index.sizes(), SizesView({4}));
    EXPECT_GE(index[0].item<std::int64_t>(), firsts[batch]);
    EXPECT_LE(index[3].item<std::int64_t>(), lasts[batch]);
    EXPECT_TRUE(index.equal(at::arange(4) + index[0]));
    replay->save(temp("saved"), false);
    replay = Replay::open(temp("saved"), {}, false);  // says which sampler it is
  }
}

TEST(TorchRLFolders, SlicesBeginByTheirPriorities) {
  const Plain wanted = expected_of("slices_per");
  std::vector<double> weights;
  for (const Plain& weight : wanted.find("sum_tree")->items()) weights.push_back(weight.number());
  const double least = *std::min_element(weights.begin(), weights.begin() + 33);
  ReplayOptions options;
  options.sampling = ReplaySampling::prioritized_slices;
  options.slices.length = 4;
  options.slices.episode = {"episode"};
  const auto replay = loaded("slices_per", options);
  const std::string_view index_name[] = {"index"}, weight_name[] = {"priority_weight"};
  const TensorDict batch = replay->sample(4000);
  const at::Tensor index = batch.get(index_name), weight = batch.get(weight_name);
  std::set<std::int64_t> firsts;
  for (std::int64_t k = 0; k < 4000; ++k) {
    const auto first = index[k - k % 4].item<std::int64_t>();
    firsts.insert(first);
    EXPECT_EQ(index[k].item<std::int64_t>(), first + k % 4);
    EXPECT_NEAR(weight[k].item<double>(),
                std::pow(weights[static_cast<std::size_t>(first)] / least, -0.9), 1e-5);
  }
  EXPECT_EQ(firsts, (std::set<std::int64_t>{0, 1, 8, 9, 10, 11, 16, 20, 21, 22, 28, 29}));
}

TEST(TorchRLFolders, TheCallerMayNameTheNumberOfDimensions) {
  ReplayOptions options;
  options.dims = 1;
  expect_error(Code::format, "60 of 15", [&] { loaded("ndim2_time_first", options); });
  options.dims = 2;
  EXPECT_EQ(loaded("ndim2_time_first", options)->sample(2).batch_size(), SizesView({2}));
  options.dims = 3;
  expect_error(Code::invalid_argument, "dims is 3", [&] { loaded("ndim2_time_first", options); });
}

TEST(TorchRLFolders, RowsWrittenAtPlacesStay) {
  const auto replay = loaded("memmap_written_at");
  replay->extend(first_rows(*replay, 5));
  EXPECT_EQ(replay->counts().cursor, 22);
  EXPECT_EQ(replay->counts().length, 26);
  replay->extend(first_rows(*replay, 20));
  EXPECT_EQ(replay->counts().cursor, 2);
  EXPECT_EQ(replay->counts().length, 40);
}

}  // namespace
}  // namespace td
