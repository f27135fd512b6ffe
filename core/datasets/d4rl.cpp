// D4RL's data sets: all episodes one after the other, in the root or in chunks below /virtual.
#include "core/datasets/group_source.h"
#include "core/formats/json_text.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>
#include <string>

namespace td::datasets {

namespace {

// Datasets that each set has, and what they become.
struct Known {
  const char* name;
  OwnedKey key;
  Form form;
  bool mandatory;
};
const std::vector<Known>& known_datasets() {
  static const std::vector<Known>* const list = new std::vector<Known>{
      {"observations", {"observation"}, Form::as_stored, true},
      {"actions", {"action"}, Form::as_stored, true},
      {"rewards", {"next", "reward"}, Form::number, true},
      {"terminals", {"next", "terminated"}, Form::flag, true},
      {"timeouts", {"next", "truncated"}, Form::flag, false},
      {"next_observations", {"next", "observation"}, Form::as_stored, false}};
  return *list;
}

class D4rl final : public GroupSource {
 public:
  D4rl(std::unique_ptr<hdf5::GroupFile> file, std::int64_t max_episode_steps, const MendFn& mend)
      : GroupSource(std::move(file)), limit_(max_episode_steps) {
    mended = mend;
    kind = DatasetKind::d4rl;
    const std::vector<std::string> names = file_->names("/");
    const auto has = [&](const char* name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (has("observations")) {
      add_table("/");
    } else if (has("virtual") && file_->is_group("/virtual")) {
      for (const std::string& name : file_->names("/virtual")) add_table("/virtual/" + name);
    } else {
      fail(Code::format, file_->where(),
           " is no data set of D4RL: it has neither \"/observations\" nor \"/virtual\"");
    }
    find_ends();
  }

  std::vector<std::int64_t> lengths() const override {
    std::vector<std::int64_t> lengths;
    std::int64_t begin = 0;
    for (const std::int64_t end : ends_) {
      lengths.push_back(end - begin);
      begin = end;
    }
    return lengths;
  }

  std::int64_t length(std::int64_t episode) const override {
    const auto at = static_cast<std::size_t>(episode);
    return ends_[at] - (at == 0 ? 0 : ends_[at - 1]);
  }

  std::vector<Column> columns(std::size_t table) const override { return tables_[table].columns; }

  void add_parts(const Steps& steps, std::vector<Part>& to) const override {
    const std::int64_t episode = steps.episode;
    std::int64_t row =
        (episode == 0 ? 0 : ends_[static_cast<std::size_t>(episode) - 1]) + steps.from;
    std::int64_t count = steps.count;
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      const Table& table = tables_[i];
      if (row >= table.first + table.rows) continue;
      const std::int64_t here = std::min(count, table.first + table.rows - row);
      to.push_back({i, row - table.first, here, episode});
      row += here;
      count -= here;
      if (count == 0) return;
    }
    if (to.empty() && count == 0) to.push_back({0, 0, 0, episode});
  }

  at::Tensor cut(const std::vector<Part>& parts, const at::Tensor& terminated) const override {
    if (limit_ == 0) return {};
    at::Tensor result = at::zeros_like(terminated);
    std::int64_t row = 0;
    for (const Part& part : parts) {
      const auto episode = static_cast<std::size_t>(part.episode);
      const std::int64_t begin = episode == 0 ? 0 : ends_[episode - 1];
      const std::int64_t last = tables_[part.table].first + part.from + part.count;
      row += part.count;
      if (part.count > 0 && last == ends_[episode] && last - begin == limit_)
        result[row - 1].logical_or_(terminated[row - 1].logical_not());
    }
    return result;
  }

  TensorDict metadata() const override {
    TensorDict result;
    put_members(result, file_->attributes("/"));
    for (const hdf5::Leaf& leaf : others_) put_leaf(result, leaf.path, *file_, leaf);
    if (wide_.empty()) return result;
    std::vector<Plain> names;
    for (const char* name : {"rewards", "terminals", "timeouts"})
      if (wide_.count(name) != 0) names.push_back(Plain::of_text(name));
    result.set_non_tensor({wide_mark}, Plain::of_list(std::move(names)));
    return result;
  }

  TensorDict metadata(std::int64_t) const override { return TensorDict(); }

 private:
  struct Table {
    std::int64_t first, rows;
    std::vector<Column> columns;
  };

  void add_table(const std::string& group) {
    Table table{tables_.empty() ? 0 : tables_.back().first + tables_.back().rows, -1, {}};
    std::vector<hdf5::Leaf> leaves = mended ? readable_leaves(group) : leaves_of(*file_, group);
    for (const hdf5::Leaf& leaf : leaves) {
      if (leaf.path == OwnedKey{"observations"}) table.rows = leaf.rows();
    }
    if (mended) table.rows = whole_rows(leaves, group);
    if (table.rows < 0) {
      fail(Code::format, file_->where(), ": there are no observations with rows in ", quote(group));
    }
    for (hdf5::Leaf& leaf : leaves) {
      if (leaf.path[0] == "virtual") continue;  // the same rows again
      Column column;
      if (leaf.path[0] == "infos" && leaf.path.size() > 1) column.key = {"info"};
      if (!column.key.empty())
        column.key.insert(column.key.end(), leaf.path.begin() + 1, leaf.path.end());
      for (const Known& known : known_datasets()) {
        if (leaf.path != OwnedKey{known.name}) continue;
        column.key = known.key;
        column.form = known.form;
        if (!mended) require_rows(*file_, leaf, table.rows);
        if (known.form != Form::as_stored && leaf.holds != hdf5::Leaf::tensor)
          fail(Code::format, file_->where(), ": ", quote(leaf.place), " holds no numbers");
        if (known.form != Form::as_stored && leaf.sizes.size() > 1) wide_.insert(known.name);
      }
      if (mended && (leaf.path[0] == "infos" || !column.key.empty())) fit(leaf, table.rows);
      if (mended && leaf.rows() < 0) continue;
      if (leaf.path[0] == "metadata" || leaf.rows() != table.rows) {
        if (leaf.cut) {
          mended.lost("", text_of(quote(leaf.place), " is not all there, and is left out"));
          continue;
        }
        others_.push_back(std::move(leaf));
        continue;
      }
      if (column.key.empty()) column.key = leaf.path;
      column.leaf = std::move(leaf);
      table.columns.push_back(std::move(column));
    }
    for (const Known& known : known_datasets()) {
      if (known.mandatory && find(table, known.key) == nullptr) {
        fail(Code::format, file_->where(), " has no dataset ", quote(known.name), " in ",
             quote(group));
      }
    }
    if (find(table, {"next", "truncated"}) != nullptr) limit_ = 0;  // the file says it
    tables_.push_back(std::move(table));
  }

  // All that can be looked at, a dataset or a group at a time.
  std::vector<hdf5::Leaf> readable_leaves(const std::string& group) const {
    std::vector<hdf5::Leaf> leaves;
    const std::string above = group == "/" ? group : group + "/";
    for (const std::string& name : file_->names(group)) {
      if (name == "virtual") continue;
      try {
        for (hdf5::Leaf& leaf : file_->leaves(above + name)) {
          leaf.path.insert(leaf.path.begin(), name);
          leaves.push_back(std::move(leaf));
        }
      } catch (const Error& failure) {
        if (failure.code() == Code::out_of_memory) throw;
        mended.lost("", text_of(quote(above + name), " cannot be read"));
      }
    }
    return leaves;
  }

  // Those for which each dataset that is needed has some.
  std::int64_t whole_rows(const std::vector<hdf5::Leaf>& leaves, const std::string& group) const {
    std::int64_t least = -1, most = -1;
    for (const hdf5::Leaf& leaf : leaves) {
      const bool counts =
          std::any_of(known_datasets().begin(), known_datasets().end(), [&](const Known& known) {
            return leaf.path == OwnedKey{known.name} && (known.mandatory || leaf.rows() > 0);
          });
      if (!counts || leaf.rows() < 0) continue;
      least = least < 0 ? leaf.rows() : std::min(least, leaf.rows());
      most = std::max(most, leaf.rows());
    }
    if (least != most)
      mended.lost("", text_of("the rows of ", quote(group), " from ", least, " on, of ", most));
    return least;
  }

  // Takes what a dataset has beyond the rows; without all of them it is lost.
  void fit(hdf5::Leaf& leaf, std::int64_t rows) const {
    if (leaf.rows() == rows || leaf.sizes.empty()) return;
    if (leaf.rows() < rows) {
      mended.lost("", text_of(quote(leaf.place), " has ", leaf.rows(), " rows of ", rows));
      leaf.sizes.clear();
      return;
    }
    leaf.sizes[0] = rows;
  }

  static const Column* find(const Table& table, const OwnedKey& key) {
    for (const Column& column : table.columns) {
      if (column.key == key) return &column;
    }
    return nullptr;
  }

  // Where an episode ends: behind a row that is terminal or a timeout, at the limit, and at the end.
  void find_ends() {
    std::int64_t begin = 0;
    for (const Table& table : tables_) {
      at::Tensor ends = at::zeros({table.rows}, at::kBool);
      for (const char* name : {"terminated", "truncated"}) {
        const Column* column = find(table, {"next", name});
        if (column == nullptr || table.rows == 0) continue;
        const at::Tensor flags = file_->read(column->leaf, 0, table.rows).tensor;
        if (flags.numel() != table.rows) require_rows(*file_, column->leaf, -1);
        ends.logical_or_(flags.reshape({table.rows}).to(at::kBool));
      }
      const bool* const at = ends.data_ptr<bool>();
      for (std::int64_t row = 0; row < table.rows; ++row) {
        const std::int64_t end = table.first + row + 1;
        if (!at[row] && (limit_ == 0 || end - begin < limit_)) continue;
        ends_.push_back(end);
        begin = end;
      }
    }
    const std::int64_t all = tables_.empty() ? 0 : tables_.back().first + tables_.back().rows;
    if (all > begin) ends_.push_back(all);  // unfinished
    episodes = static_cast<std::int64_t>(ends_.size());
  }

  std::int64_t limit_;
  std::vector<Table> tables_;
  std::vector<hdf5::Leaf> others_;
  std::set<std::string> wide_;      // stored as [rows, 1]
  std::vector<std::int64_t> ends_;  // the row behind each episode
};

}  // namespace

std::unique_ptr<Source> open_d4rl(const std::string& path, const DatasetOptions& options) {
  if (options.max_episode_steps < 0)
    fail(Code::invalid_argument, "episodes of at most ", options.max_episode_steps, " steps");
  return std::make_unique<D4rl>(open_groups(path, options), options.max_episode_steps,
                                options.mended);
}

}  // namespace td::datasets
