// robomimic's data sets, and the raw demonstrations of robosuite: a group for each below /data.
#include "core/datasets/group_source.h"
#include "core/formats/json_text.h"

#include <map>

namespace td::datasets {

namespace {

constexpr const char* top = "/data";

class Robomimic final : public GroupSource {
 public:
  Robomimic(std::unique_ptr<hdf5::GroupFile> file, const MendFn& mend)
      : GroupSource(std::move(file)) {
    kind = DatasetKind::robomimic;
    mended = mend;
    if (!file_->is_group(top))
      fail(Code::format, file_->where(), " is no data set of robomimic: it has no group \"/data\"");
    if (const auto found = file_->attribute(top, "repository_version"))
      version = std::string(found->characters());
    plain_ = file_->attribute(top, plain_mark).has_value();
    for (const std::string& name : file_->names(top)) {
      const std::string place = group(name);
      // lengths() looks at which of them are groups: there may be 100,000.
      if (number_of(name) >= 0 && (!mended || file_->is_group(place))) {
        names_.push_back(name);
      } else if (mended) {
        mended("", text_of(quote(place), " is no demonstration, and is left out"));
      } else {
        fail(Code::format, file_->where(), ": ", quote(place),
             " is no demonstration: those are groups with a number at the end of their names");
      }
    }
    episodes = static_cast<std::int64_t>(names_.size());
  }

  std::vector<std::int64_t> lengths() const override {
    return lengths_of(top, names_, "num_samples");
  }

  std::int64_t length(std::int64_t episode) const override {
    return length_of(group(names_[static_cast<std::size_t>(episode)]));
  }

  std::vector<Column> columns(std::size_t table) const override {
    const std::string place = group(names_[table]);
    const std::int64_t length = length_of(place);
    std::vector<Column> columns;
    for (hdf5::Leaf& leaf : leaves_of(*file_, place)) {
      Column column = this->column(leaf);
      if (column.key.empty() && !is_of_steps(leaf, place, length)) continue;
      if (!mended || leaf.rows() < length) require_rows(*file_, leaf, length);
      if (column.key.empty()) column.key = leaf.path;
      column.leaf = std::move(leaf);
      columns.push_back(std::move(column));
    }
    return columns;
  }

  TensorDict metadata() const override {
    TensorDict result;
    const Plain members = file_->attributes(top);
    for (std::size_t i = 0; i < members.items().size(); ++i) {
      if (members.name(i) != plain_mark)
        result.set_non_tensor({members.name(i)}, members.items()[i]);
    }
    const Plain attributes = file_->attributes("/");
    for (std::size_t i = 0; i < attributes.items().size(); ++i)
      result.set_non_tensor({"attributes", attributes.name(i)}, attributes.items()[i]);
    for (const std::string& name : file_->names("/")) {
      if (name != "data") put_others(result, *file_, name, mended);
    }
    return result;
  }

  TensorDict metadata(std::int64_t episode) const override {
    const std::string& name = names_[static_cast<std::size_t>(episode)];
    TensorDict result;
    result.set_non_tensor({"name"}, Plain::of_text(name));
    put_members(result, nested_members(file_->attributes(group(name))));
    const std::int64_t length = length_of(group(name));
    for (const hdf5::Leaf& leaf : leaves_of(*file_, group(name))) {
      if (mended && found_in(group(name)).is_lost(leaf)) continue;
      if (column(leaf).key.empty() && !is_of_steps(leaf, group(name), length))
        put_leaf(result, leaf.path, *file_, leaf);
    }
    return result;
  }

 private:
  static std::string group(const std::string& name) { return std::string(top) + "/" + name; }

  std::int64_t length_of(const std::string& place) const {
    if (mended) return found_in(place).steps();
    const std::int64_t length = count_attribute(*file_, place, "num_samples");
    if (length >= 0) return length;
    const std::vector<hdf5::Leaf> leaves = file_->leaves(place + "/actions");
    if (leaves.empty() || leaves[0].rows() < 0)
      fail(Code::format, file_->where(), ": ", quote(place + "/actions"), " has no rows");
    return leaves[0].rows();
  }

  const StepsFound& found_in(const std::string& place) const {
    const auto known = found_.find(place);
    if (known != found_.end()) return known->second;
    StepsFound found;
    for (const hdf5::Leaf& leaf : leaves_of(*file_, place)) {
      if (!column(leaf).key.empty()) found.add(leaf, 0);
    }
    found.require(*file_, place, "num_samples", mended);
    for (const hdf5::Leaf& leaf : leaves_of(*file_, place)) {
      if (column(leaf).key.empty() && found.is_lost(leaf))
        mended.lost("", text_of(quote(leaf.place), " is not all there, and is left out"));
    }
    return found_.emplace(place, found).first->second;
  }

  bool is_of_steps(const hdf5::Leaf& leaf, const std::string& place, std::int64_t length) const {
    return mended ? found_in(place).fits(leaf) : leaf.rows() == length;
  }

  // Without a key: a dataset that we do not know.
  Column column(const hdf5::Leaf& leaf) const {
    const std::string& first = leaf.path[0];
    Column column;
    if (first == "obs" || first == "next_obs") {
      if (leaf.path.size() < 2) return column;
      if (first == "next_obs") column.key = {"next"};
      column.key.emplace_back("observation");
      if (!plain_ || leaf.path.size() != 2)
        column.key.insert(column.key.end(), leaf.path.begin() + 1, leaf.path.end());
    } else if (leaf.path.size() == 1 && (first == "terminations" || first == "truncations")) {
      column.key = {"next", first == "truncations" ? "truncated" : "terminated"};
      column.form = Form::flag;
    } else if (leaf.path.size() == 1 && first == "actions") {
      column.key = {"action"};
    } else if (leaf.path.size() == 1 && first == "rewards") {
      column.key = {"next", "reward"};
      column.form = Form::number;
    } else if (leaf.path.size() == 1 && first == "dones") {
      column.key = {"next", "done"};
      column.form = Form::flag;
    }
    return column;
  }

  std::vector<std::string> names_;
  mutable std::map<std::string, StepsFound> found_;  // of a mended set, which one thread reads
  bool plain_ = false;                               // the observation is one tensor
};

}  // namespace

std::unique_ptr<Source> open_robomimic(const std::string& path, const DatasetOptions& options) {
  return std::make_unique<Robomimic>(open_groups(path, options), options.mended);
}

}  // namespace td::datasets
