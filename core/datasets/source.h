// core/datasets/source.h: what a kind of data sets says of its files: which dataset becomes which entry.
#pragma once

#include "core/datasets/dataset.h"
#include "core/hdf5/group_file.h"

#include <string>
#include <vector>

namespace td::datasets {

using OwnedKey = std::vector<std::string>;

// What becomes of the values of a row.
enum class Form : std::uint8_t {
  as_stored,
  number,  // [1], where one number is stored
  flag,    // the same, and bool
  file,    // bytes of an encoded picture
};

// An entry of the result.
struct Column {
  OwnedKey key;
  hdf5::Leaf leaf;
  Form form = Form::as_stored;
  OwnedKey next = {};  // where the rows after those go: the leaf has one more
};

// Rows of one table, all of one episode. A table is a group whose leaves have rows.
struct Part {
  std::size_t table;
  std::int64_t from, count, episode;
};

class Source {
 public:
  explicit Source(std::unique_ptr<hdf5::GroupFile> file) : file_(std::move(file)) {}
  virtual ~Source() = default;

  DatasetKind kind = DatasetKind::detect;
  std::string version;
  std::int64_t episodes = 0;

  const hdf5::GroupFile& file() const noexcept { return *file_; }

  virtual std::vector<std::int64_t> lengths() const = 0;
  virtual std::int64_t length(std::int64_t episode) const = 0;  // without looking at the others
  // Checked: each has the rows that its table should have.
  virtual std::vector<Column> columns(std::size_t table) const = 0;
  // Rows of an episode. Usually its table has its number.
  virtual void add_parts(std::int64_t episode, std::int64_t from, std::int64_t count,
                         std::vector<Part>& to) const {
    to.push_back({static_cast<std::size_t>(episode), from, count, episode});
  }
  // Which rows end an episode by a rule that the file does not hold; undefined: there is no such rule.
  virtual at::Tensor cut(const std::vector<Part>&, const at::Tensor& /*terminated*/) const {
    return {};
  }

  virtual TensorDict metadata() const = 0;
  virtual TensorDict metadata(std::int64_t episode) const = 0;

 protected:
  std::unique_ptr<hdf5::GroupFile> file_;
};

// Each looks at the path, and throws Code::format for other kinds.
std::unique_ptr<Source> open_minari(const std::string& path, const DatasetOptions& options);
std::unique_ptr<Source> open_robomimic(const std::string& path, const DatasetOptions& options);
std::unique_ptr<Source> open_d4rl(const std::string& path, const DatasetOptions& options);

// The attribute of robomimic's /data by which we know an observation that is no dictionary.
inline constexpr const char* plain_mark = "tensordict_plain_observation";

// Reads the parts one after the other into one dictionary.
TensorDict read_parts(const Source& source, const std::vector<Part>& parts);

// The members of an object as non-tensor data.
void put_members(TensorDict& td, const Plain& object);
// A whole dataset as an entry.
void put_leaf(TensorDict& td, const OwnedKey& key, const hdf5::GroupFile& file,
              const hdf5::Leaf& leaf);
// Names with slashes as objects in objects: {"a/b": 1} becomes {"a": {"b": 1}}.
Plain nested_members(const Plain& object);

// The datasets of a table; Code::format if it is no group.
std::vector<hdf5::Leaf> leaves_of(const hdf5::GroupFile& file, const std::string& table);

// The attribute of a group as a count; -1 without it. Code::format for another value.
std::int64_t count_attribute(const hdf5::GroupFile& file, const std::string& group,
                             const char* name);
[[noreturn]] void fail_rows(const hdf5::GroupFile& file, const hdf5::Leaf& leaf,
                            std::int64_t wanted);
inline void require_rows(const hdf5::GroupFile& file, const hdf5::Leaf& leaf, std::int64_t wanted) {
  if (leaf.rows() != wanted) fail_rows(file, leaf, wanted);
}
// The number behind the last '_' of a name; -1: none.
std::int64_t number_of(std::string_view name) noexcept;

}  // namespace td::datasets
