// core/datasets/group_source.h: data sets in groups of HDF5: which dataset of the file becomes which entry.
#pragma once

#include "core/datasets/source.h"
#include "core/hdf5/group_file.h"

#include <string>
#include <vector>

namespace td::datasets {

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

class GroupSource : public Source {
 public:
  explicit GroupSource(std::unique_ptr<hdf5::GroupFile> file) : file_(std::move(file)) {}

  bool decode = false;          // encoded pictures become tensors
  std::uint64_t max_bytes = 0;  // of them; 0: as decode_picture() has it
  MendFn mended = {};           // of DatasetOptions

  const hdf5::GroupFile& file() const noexcept { return *file_; }
  std::string where() const override { return file_->where(); }
  TensorDict read(const std::vector<Steps>& steps) const override;

  // Checked: each has the rows that its table should have.
  virtual std::vector<Column> columns(std::size_t table) const = 0;
  // Rows of an episode. Usually its table has its number.
  virtual void add_parts(const Steps& steps, std::vector<Part>& to) const {
    to.push_back({static_cast<std::size_t>(steps.episode), steps.from, steps.count, steps.episode});
  }
  // Which rows end an episode by a rule that the file does not hold; undefined: there is no such rule.
  virtual at::Tensor cut(const std::vector<Part>&, const at::Tensor& /*terminated*/) const {
    return {};
  }

 protected:
  // Of all episodes by an attribute of their groups, which are in `top`; length() has the word where it tells none.
  // Code::format for a name that is not a group's.
  std::vector<std::int64_t> lengths_of(const std::string& top,
                                       const std::vector<std::string>& names,
                                       const char* attribute) const;

  std::unique_ptr<hdf5::GroupFile> file_;
};

// The file of a set; `file` is its name in the set, which `options.mended` gets.
std::unique_ptr<hdf5::GroupFile> open_groups(const std::string& path, const DatasetOptions& options,
                                             const std::string& file = {});

// The attribute of robomimic's /data by which we know an observation that is no dictionary.
inline constexpr const char* plain_mark = "tensordict_plain_observation";

// The member of D4RL's metadata with the names of the datasets that are stored as [rows, 1], where others are [rows].
inline constexpr const char* wide_mark = "tensordict_columns";

// A whole dataset as an entry.
void put_leaf(TensorDict& td, const OwnedKey& key, const hdf5::GroupFile& file,
              const hdf5::Leaf& leaf);
// All datasets of a group in the root, as entries below its name. Those that cannot be read are lost; `mended` gets their names.
void put_others(TensorDict& td, const hdf5::GroupFile& file, const std::string& name,
                const MendFn& mended);
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

// The steps of an episode for which all its datasets have rows, whatever its attributes say. Tells when some have more.
class StepsFound {
 public:
  // A dataset with a row for each step, and so many more.
  void add(const hdf5::Leaf& leaf, std::int64_t more);
  // Code::format without a dataset, or if one has no row.
  void require(const hdf5::GroupFile& file, const std::string& group, const char* attribute,
               const MendFn& mended) const;

  // Whether another dataset was cut off and does not reach as far. It is no metadata then, but lost.
  bool is_lost(const hdf5::Leaf& leaf) const noexcept { return leaf.cut && !fits(leaf); }

  std::int64_t steps() const noexcept { return least_; }
  // Whether any other dataset has a row for each step.
  bool fits(const hdf5::Leaf& leaf) const noexcept {
    return leaf.rows() == least_ || leaf.rows() == most_;
  }

 private:
  std::int64_t least_ = -1, most_ = -1;
  std::string shortest_;
};

}  // namespace td::datasets
