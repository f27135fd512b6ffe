// core/datasets/dataset.h: recordings in the layouts of Python's libraries, read by episodes and by rows.
#pragma once

#include "core/tree/tensordict.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace td {

// With the numbers of td_dataset_kind.
enum class DatasetKind : std::int32_t {
  detect = 0,
  minari = 1,
  robomimic = 2,
  d4rl = 3,
  lerobot = 4,
  torchrl = 5,
  ros = 6
};

const char* name_of(DatasetKind kind) noexcept;  // "Minari"

// Takes what a reader that believes nothing counted anew, of a file below the set, and what it cannot read.
class MendFn {
 public:
  using Told = std::function<void(const std::string& file, const std::string& text, bool is_lost)>;
  MendFn() = default;
  explicit MendFn(Told told) : told_(std::move(told)) {}

  explicit operator bool() const noexcept { return static_cast<bool>(told_); }
  void operator()(const std::string& file, const std::string& text) const {
    told_(file, text, false);
  }
  void lost(const std::string& file, const std::string& text) const { told_(file, text, true); }

 private:
  Told told_;
};

struct DatasetOptions {
  DatasetKind kind = DatasetKind::detect;  // found by looking
  std::int64_t max_episode_steps = 0;  // D4RL without timeouts: longer episodes are cut; 0: none is
  std::uint64_t max_bytes = 0;         // of one dataset that is read, as in hdf5::Options
  std::uint32_t max_entries = 0;       // in one group; 0: as in hdf5::Options
  bool decode = false;                 // encoded pictures become tensors
  bool videos = false;                 // so do the frames of videos, which are left out otherwise
  double rate = 0;    // ROS: rows each second; 0: a row for each message of `clock`
  std::string clock;  // ROS: a topic; empty: the one with the most messages
  // Minari, LeRobot, robomimic and D4RL: what they say of themselves is not believed, but counted anew (core/datasets/repair.h).
  MendFn mended = {};
};

namespace datasets {
class Source;
}

// Steps are rows as TorchRL lays them out: "next" beside what was before the step. Nothing is read before it is asked
// for. Thread-safe.
class Dataset {
 public:
  // Code::format for files that are no data set, or contradict themselves; Code::unsupported for kinds that cannot be read.
  static std::unique_ptr<Dataset> open(const std::string& path, const DatasetOptions& options);

  explicit Dataset(std::unique_ptr<datasets::Source> source);
  ~Dataset();

  DatasetKind kind() const noexcept;
  const std::string& version() const noexcept;  // empty without one
  std::int64_t episodes() const noexcept;
  std::int64_t steps() const;
  std::vector<std::int64_t> lengths() const;

  TensorDict structure() const;  // of no rows, with all entries
  TensorDict metadata() const;
  TensorDict metadata(std::int64_t episode) const;
  TensorDict episode(std::int64_t i) const;                           // batch [length]
  TensorDict episodes(std::int64_t first, std::int64_t count) const;  // a lazy stack
  TensorDict rows(std::int64_t first, std::int64_t count) const;      // of all episodes in a row

  const std::shared_ptr<const datasets::Source>& source() const noexcept { return source_; }

 private:
  // The number of the first row of each episode, and of the end.
  const std::vector<std::int64_t>& starts() const;
  void require_episode(std::int64_t i) const;

  std::shared_ptr<const datasets::Source> source_;
  mutable std::mutex mutex_;
  mutable std::vector<std::int64_t> starts_;
};

}  // namespace td
