// core/datasets/source.h: what each kind of data sets can tell and read.
#pragma once

#include "core/datasets/dataset.h"

#include <string>
#include <string_view>
#include <vector>

namespace td {
class Video;
}

namespace td::datasets {

using OwnedKey = std::vector<std::string>;
inline std::vector<std::string_view> views_of(const OwnedKey& key) {
  return {key.begin(), key.end()};
}

// Steps [from, from + count) of an episode.
struct Steps {
  std::int64_t episode, from, count;
};

// A video of an episode, which a set has beside its rows.
struct HeldVideo {
  std::string column;
  Plain feature;  // as info.json of LeRobot has it
  std::shared_ptr<const Video> video;
  double from = 0;                    // where the episode begins, in seconds
  std::vector<std::uint32_t> frames;  // of each row
};

// Not changed once it is open; several threads read it.
class Source {
 public:
  virtual ~Source() = default;

  DatasetKind kind = DatasetKind::detect;
  std::string version;  // of the library that wrote it; empty without one
  std::int64_t episodes = 0;

  virtual std::string where() const = 0;  // for messages

  virtual std::vector<std::int64_t> lengths() const = 0;
  virtual std::int64_t length(std::int64_t episode) const = 0;  // without looking at the others
  // Reads steps one after the other, each a row. Without any: no rows, and the entries that are known without an
  // episode. Of no steps they have all entries of its episode.
  virtual TensorDict read(const std::vector<Steps>& steps) const = 0;
  virtual TensorDict metadata() const = 0;
  virtual TensorDict metadata(std::int64_t episode) const = 0;
  // Those that are left out of its rows, which are given.
  virtual std::vector<HeldVideo> held_videos(std::int64_t /*episode*/,
                                             const TensorDict& /*rows*/) const {
    return {};
  }
};

// Each looks at the path, and throws Code::format for other kinds.
std::unique_ptr<Source> open_minari(const std::string& path, const DatasetOptions& options);
std::unique_ptr<Source> open_lerobot(const std::string& path, const DatasetOptions& options);
std::unique_ptr<Source> open_robomimic(const std::string& path, const DatasetOptions& options);
std::unique_ptr<Source> open_d4rl(const std::string& path, const DatasetOptions& options);
std::unique_ptr<Source> open_torchrl(const std::string& path, const DatasetOptions& options);
std::unique_ptr<Source> open_ros(const std::string& path, const DatasetOptions& options);
bool is_ros(const std::string& path);  // a bag, or a folder that holds one
// What kind of set an absolute path holds, by looking; DatasetKind::detect: none that is known.
DatasetKind kind_of(const std::string& path, const DatasetOptions& options);
std::unique_ptr<Source> open_source(const std::string& path, const DatasetOptions& options);

// The number behind the last '_' of a name; -1: none.
std::int64_t number_of(std::string_view name) noexcept;
// The members of an object as non-tensor data.
void put_members(TensorDict& td, const Plain& object);
// One of them; null without it.
Plain metadata_member(const TensorDict& metadata, std::string_view name);
// The same with 1e999 and -1e999 for Infinity and -Infinity, which readers of JSON refuse. Python reads both.
Plain without_words(const Plain& value);
// Names with slashes as objects in objects: {"a/b": 1} becomes {"a": {"b": 1}}.
Plain nested_members(const Plain& object);

}  // namespace td::datasets
