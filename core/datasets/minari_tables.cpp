// Minari's data sets in Arrow and Parquet: a folder with a table for each episode. All have a row more than steps; columns with a value
// for each step end with padding.
#include "core/datasets/minari_tables.h"
#include "core/datasets/minari_rows.h"
#include "core/datasets/row_forms.h"
#include "core/datasets/set_folder.h"
#include "core/formats/json_text.h"
#include "core/shape/join.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <mutex>

namespace td::datasets {

namespace {

using arrow::TableFile;

class MinariTables final : public Source {
 public:
  MinariTables(const std::string& path, Plain metadata, FileFormat format,
               const DatasetOptions& options)
      : folder_(path),
        meta_(std::move(metadata), folder_.where("metadata.json")),
        format_(format),
        options_(options) {
    kind = DatasetKind::minari;
    version = meta_.version;
    count_episodes();
  }

  std::string where() const override { return meta_.where; }

  std::vector<std::int64_t> lengths() const override {
    std::vector<std::int64_t> lengths;
    for (std::int64_t i = 0; i < episodes; ++i) lengths.push_back(length(i));
    meta_.require_total(lengths);
    return lengths;
  }

  std::int64_t length(std::int64_t episode) const override {
    if (options_.mended) return std::max<std::int64_t>(table(episode)->rows() - 1, 0);
    const Plain about = this->about(episode);
    const Plain* steps = about.find("total_steps");
    if (steps == nullptr) return std::max<std::int64_t>(table(episode)->rows() - 1, 0);
    if (!steps->is(Plain::integer) || steps->integral() < 0) {
      fail(Code::format, folder_.where(about_file(episode)), ": total_steps is ", json_text(*steps),
           ", which is no number of steps");
    }
    return steps->integral();
  }

  TensorDict metadata() const override {
    TensorDict result;
    put_members(result, meta_.members);
    return result;
  }
  TensorDict metadata(std::int64_t episode) const override {
    TensorDict result;
    put_members(result, about(episode));
    return result;
  }

  TensorDict read(const std::vector<Steps>& steps) const override {
    std::vector<TensorDict> parts;
    for (const Steps& one : steps) {
      parts.push_back(part(one));
      if (parts.size() > 1) require_same(parts[0], parts.back(), one.episode);
    }
    if (parts.empty()) {
      TensorDict result(Sizes{0});
      result.set({"episode"}, at::empty({0}, at::kLong));
      return result;
    }
    return parts.size() == 1 ? parts[0] : cat(parts, 0);
  }

 private:
  std::string name_of_folder(std::int64_t episode) const {
    return std::to_string(numbers_[static_cast<std::size_t>(episode)]);
  }
  std::string about_file(std::int64_t episode) const {
    return name_of_folder(episode) + "/metadata.json";
  }

  Plain about(std::int64_t episode) const {
    Plain found;
    try {
      found = folder_.json(about_file(episode));
    } catch (const Error& failure) {
      if (!options_.mended || failure.code() == Code::out_of_memory) throw;
      options_.mended("data/" + about_file(episode), text_of("it is made anew: ", failure.what()));
      return found;
    }
    if (!found.is(Plain::object))
      fail(Code::format, folder_.where(about_file(episode)), " is no JSON object");
    return found;
  }

  void count_episodes() {
    for (const std::string& name : folder_.names("")) {
      const bool digits = name.find_first_not_of("0123456789") == std::string::npos;
      if (digits && number_of(name) >= 0) numbers_.push_back(number_of(name));
    }
    std::sort(numbers_.begin(), numbers_.end());
    episodes = static_cast<std::int64_t>(numbers_.size());
    for (std::int64_t i = 0; i < episodes; ++i) {
      const std::int64_t found = numbers_[static_cast<std::size_t>(i)];
      if (found != i && options_.mended)
        options_.mended("data", text_of("episode ", found, " becomes episode ", i));
      if (found != i && !options_.mended)
        fail(Code::format, where(), ": there is an episode ", found, " and none ", i);
    }
    const Plain* total = meta_.members.find("total_episodes", Plain::integer);
    if (total != nullptr && total->integral() != episodes) {
      fail(Code::format, where(), ": total_episodes is ", total->integral(), ", and there are ",
           episodes, " folders of episodes");
    }
  }

  std::shared_ptr<const TableFile> table(std::int64_t episode) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (table_ && number_ == episode) return table_;
    const std::string folder = name_of_folder(episode);
    std::string file;
    for (const std::string& name : folder_.names(folder)) {
      if (name[0] == '.' || name[0] == '_' || name == "metadata.json") continue;
      if (!file.empty()) {
        fail(Code::format, folder_.where(folder), " has two tables, ", quote(file), " and ",
             quote(name));
      }
      file = name;
    }
    if (file.empty()) fail(Code::format, folder_.where(folder), " has no table");
    table_ = folder_.table(folder + "/" + file, format_, options_.max_bytes);
    number_ = episode;
    return table_;
  }

  // Steps of one episode. Without any, the first row tells what they are like.
  TensorDict part(const Steps& steps) const {
    const auto table = this->table(steps.episode);
    const std::int64_t length = this->length(steps.episode);
    if (table->rows() != length + 1) {
      fail(Code::format, table->where(), " has ", table->rows(), " rows, and episode ",
           steps.episode, " has ", length, " steps, which are ", length + 1, " rows");
    }
    TensorDict result(Sizes{steps.count});
    const MinariRows part(*table, steps, meta_, options_);
    const auto columns = [&](std::string_view name) {
      return name == "observations" || name == "infos";
    };
    part.add(result, columns, true);
    part.add(
        result, [&](std::string_view name) { return !columns(name); }, false);
    put_done(result);
    result.set({"episode"}, at::full({steps.count}, steps.episode, at::kLong));
    return result;
  }

  static void put_done(TensorDict& td) {
    const at::Tensor* terminated = td.stored({"next", "terminated"});
    const at::Tensor* truncated = td.stored({"next", "truncated"});
    if (terminated == nullptr) return;
    td.set({"next", "done"},
           truncated == nullptr ? terminated->clone() : terminated->logical_or(*truncated));
  }

  // Code::format if an episode has other entries than the first.
  void require_same(const TensorDict& first, const TensorDict& other, std::int64_t episode) const {
    const RowForms before = row_forms(first), here = row_forms(other);
    for (const auto& one : before) {
      const auto found = here.find(one.first);
      if (found == here.end() || found->second != one.second) {
        fail(Code::format, where(), ": in episode ", episode, ", ", show_path(views_of(one.first)),
             found == here.end() ? " is missing" : " has rows of " + found->second,
             ", the episodes before have rows of ", one.second);
      }
    }
    for (const auto& one : here) {
      if (before.count(one.first) == 0) {
        fail(Code::format, where(), ": episode ", episode, " has ", show_path(views_of(one.first)),
             ", which is not in the episodes before");
      }
    }
  }

  SetFolder folder_;
  MinariMeta meta_;
  FileFormat format_;
  DatasetOptions options_;
  std::vector<std::int64_t> numbers_;  // of the folders
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const TableFile> table_;  // the last one that was read
  mutable std::int64_t number_ = -1;
};

}  // namespace

std::unique_ptr<Source> open_minari_tables(const std::string& data, Plain metadata,
                                           FileFormat format, const DatasetOptions& options) {
  return std::make_unique<MinariTables>(data, std::move(metadata), format, options);
}

}  // namespace td::datasets
