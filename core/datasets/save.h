// core/datasets/save.h: episodes written as Python's libraries have them.
#pragma once

#include "core/datasets/dataset.h"
#include "core/hdf5/growing_file.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace td {

// What becomes of pictures in a set of LeRobot.
enum class VideoChoice : std::int32_t { none = 0, h264 = 1, av1 = 2 };

struct DatasetSaveOptions {
  bool lossy = false;        // leaves out what the kind cannot hold
  bool durable = false;      // waits until it is on disk
  std::int64_t deflate = 0;  // as in hdf5::SaveOptions
  bool lerobot_v21 = false;  // LeRobot in version 2.1: a table, and a video, for each episode
  VideoChoice video = VideoChoice::none;  // LeRobot: pictures become videos, which lose a little
  std::int32_t video_quality = 0;         // as in VideoForm
  double fps = 0;       // LeRobot: steps in a second; 0: as the metadata or the times say
  bool resume = false;  // a DatasetWriter goes on behind the episodes that are there
  // With `lossy`: told what is left out. `is_counted`: the kind counts it itself, as the numbers of rows.
  std::function<void(const std::string& what, bool is_counted)> lost = {};
};

// The rows of `td` are split by "episode", or behind each "done"; with more batch dimensions, each element of the first is
// an episode, as in a lazy stack.
// `metadata` is what Dataset::metadata() gives, or nullptr. Code::unsupported, before anything is written, names what the
// kind cannot hold.
void save_dataset(const TensorDict& td, const TensorDict* metadata, DatasetKind kind,
                  const std::string& path, const DatasetSaveOptions& options);

// Another kind, with the metadata of the set and of its episodes.
void convert_dataset(const Dataset& set, DatasetKind kind, const std::string& path,
                     const DatasetSaveOptions& options);

namespace datasets {
class SetWriter;
class Source;
struct HeldVideo;
}  // namespace datasets

// Writes a set episode by episode. Each is part of the set on the disk when add() returns: whatever happens then, the
// library of the kind opens the set, and finds all episodes that were added. A call that fails leaves the set unchanged.
// One writer at a time; not thread-safe.
class DatasetWriter {
 public:
  // An existing set is replaced when the first episode is added, or continued with `resume`; it keeps its metadata then.
  static std::unique_ptr<DatasetWriter> open(const std::string& path, const TensorDict* metadata,
                                             DatasetKind kind, const DatasetSaveOptions& options);
  ~DatasetWriter();

  // The rows are one episode, whatever "episode" and "done" say. `about` is what Dataset::metadata(episode) gives.
  void add(const TensorDict& rows, const TensorDict* about);
  std::int64_t episodes() const;  // in the set
  // Nothing can be added afterwards. A set without episodes is written now.
  void close();

 private:
  explicit DatasetWriter(std::unique_ptr<datasets::SetWriter> writer);

  std::unique_ptr<datasets::SetWriter> writer_;
  std::int64_t episodes_ = 0;
};

namespace datasets {

using OwnedKey = std::vector<std::string>;

// A tensor of rows, or a list with a value for each row.
struct Rows {
  at::Tensor tensor;
  std::vector<Plain> values;

  bool is_tensor() const noexcept { return tensor.defined(); }
  std::int64_t count() const {
    return is_tensor() ? tensor.size(0) : static_cast<std::int64_t>(values.size());
  }
};

// The entries of an episode, which its writer takes out one by one.
class Entries {
 public:
  explicit Entries(const TensorDict& episode);

  std::int64_t steps() const noexcept { return steps_; }
  // Those at a key and below it.
  std::vector<OwnedKey> below(const OwnedKey& key) const;
  const Rows* find(const OwnedKey& key) const;
  std::optional<Rows> take(const OwnedKey& key);

 private:
  std::int64_t steps_;
  std::vector<std::pair<OwnedKey, Rows>> entries_;
};

// What the rows of entries are in the episodes of a set: all have the same.
class EntryForms {
 public:
  explicit EntryForms(DatasetKind kind) : kind_(kind) {}

  bool empty() const noexcept { return known_.empty(); }
  // Those of the episodes that are there.
  void learn(const Source& set);
  // Code::unsupported for observations and actions of another dtype, or of other sizes, than in the episodes before.
  void require(const Entries& entries, std::int64_t episode);

 private:
  struct Form {
    c10::ScalarType dtype;
    Sizes sizes;
  };

  DatasetKind kind_;
  std::map<OwnedKey, Form> known_;
};

// What a file of that kind will hold, and what it cannot.
class Draft {
 public:
  explicit Draft(const DatasetSaveOptions& options) : lossy_(options.lossy), told_(options.lost) {}

  void put(const OwnedKey& place, const Rows& rows);
  // Whether a dataset of HDF5 can have these rows; else they are lost.
  bool holds(const Rows& rows, const std::string& shown);
  void put(const OwnedKey& place, const at::Tensor& tensor);
  void put_value(const OwnedKey& place, Plain value);  // one for the whole
  void put_group(const OwnedKey& place);
  void set_attribute(const OwnedKey& place, std::string_view name, Plain value);

  // Notes down what is lost; `is_counted` as in DatasetSaveOptions.
  void lose(const std::string& what, bool is_counted = false);
  void lose_empty(std::int64_t episode);  // which has no steps
  // Whether anything is lost that may not be.
  bool fails() const noexcept { return !lossy_ && !lost_.empty(); }
  // Code::unsupported if it fails.
  void require_all(DatasetKind kind) const;

  // What was put since the last time.
  void write_to(hdf5::GrowingFile& file);
  void drop();  // the same without writing it

 private:
  bool lossy_;
  std::function<void(const std::string&, bool)> told_;
  TensorDict root_;
  struct Attributes {
    std::string place;
    std::vector<std::pair<std::string, Plain>> members;
  };
  std::vector<Attributes> attributes_;
  std::unordered_map<std::string, std::size_t> attributes_at_;
  std::vector<std::string> lost_;
};

// What is written, and how.
struct SetPlan {
  std::string path;
  TensorDict metadata;
  DatasetSaveOptions options;
  bool each =
      false;  // each episode is finished on the disk; otherwise the set appears with finish()
};

// Writes a set of one kind, episode by episode: td_dataset_save() and td_dataset_writer are loops over it.
class SetWriter {
 public:
  virtual ~SetWriter() = default;
  // `about`: of the episode; may be empty. With `each`, a failure leaves the writer as it was.
  virtual void add(const TensorDict& episode, const TensorDict& about) = 0;
  // Those of the episode that is added next, for kinds that hold videos.
  virtual void take_videos(const std::vector<HeldVideo>&) {}
  virtual void finish() = 0;
  virtual std::int64_t episodes() const = 0;
};

std::unique_ptr<SetWriter> write_minari(const SetPlan& plan);
std::unique_ptr<SetWriter> write_lerobot(const SetPlan& plan);
std::unique_ptr<SetWriter> write_robomimic(const SetPlan& plan);
std::unique_ptr<SetWriter> write_d4rl(const SetPlan& plan);
std::unique_ptr<SetWriter> write_torchrl(const SetPlan& plan);

hdf5::SaveOptions hdf5_options(const SetPlan& plan);
// The file of a set that is one: that which is there to go on with, else a new one.
std::unique_ptr<hdf5::GrowingFile> open_file(const SetPlan& plan);

Plain object_of(const std::vector<std::pair<std::string, Plain>>& members);
Plain list_of(SizesView sizes);

// The absolute path of a folder that is written. Code::io if something else is there than a data set of that kind, which
// has the file `mark` in a folder of its own.
std::string folder_for(const std::string& path, DatasetKind kind, const std::string& mark);

// Rewards and flags, [rows, 1] in a dictionary, without that dimension.
Rows without_one(Rows rows);
// The flags of the ends of an episode: "done" where there is only that.
struct Ends {
  at::Tensor terminated, truncated;    // bool [steps]
  bool has_terminated, has_truncated;  // entries of these names
};
Ends take_ends(Entries& entries, Draft& draft, std::int64_t episode);
// The attributes of an episode, names of nested members with slashes, and its other datasets.
void put_about(Draft& draft, const TensorDict& about, const OwnedKey& group,
               const std::vector<std::string_view>& without);
// Members that are values, but for these, as attributes of a place; the others as datasets below it.
void put_metadata(Draft& draft, const TensorDict& metadata, const OwnedKey& attributes_of,
                  const std::vector<std::string_view>& without);
// An entry "episode" is written anew, by the number of each episode; one that is no such numbers is lost.
void note_episode(Draft& draft, const Entries& entries);
// A kind needs `what`, which is missing in an episode.
[[noreturn]] void fail_needed(DatasetKind kind, const std::string& what, std::int64_t episode);
// Throws Code::key_exists for an entry in or below one of these names, which a kind reads as its own.
void refuse_taken(const OwnedKey& key, const std::vector<std::string_view>& taken);
// All that is left keeps its names; none may be below a taken one.
void put_rest(Draft& draft, Entries& entries, const OwnedKey& place,
              const std::vector<std::string_view>& taken);
OwnedKey joined(OwnedKey key, const OwnedKey& more);

}  // namespace datasets

}  // namespace td
