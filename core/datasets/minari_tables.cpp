// Minari's data sets in Arrow and Parquet: a folder with a table for each episode. All have a row more than steps; columns with a value
// for each step end with padding.
#include "core/datasets/minari_tables.h"
#include "core/arrow/import.h"
#include "core/datasets/pictures.h"
#include "core/datasets/set_folder.h"
#include "core/datasets/space.h"
#include "core/formats/json_text.h"
#include "core/shape/join.h"
#include "core/tensor/dtype.h"
#include "core/tree/non_tensor.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/walk.h"

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
      : folder_(path), metadata_(std::move(metadata)), format_(format), options_(options) {
    kind = DatasetKind::minari;
    if (const Plain* found = metadata_.find("minari_version", Plain::text))
      version = std::string(found->characters());
    observations_ = space("observation_space");
    actions_ = space("action_space");
    count_episodes();
  }

  std::string where() const override { return folder_.where("metadata.json"); }

  std::vector<std::int64_t> lengths() const override {
    std::vector<std::int64_t> lengths;
    std::int64_t all = 0;
    for (std::int64_t i = 0; i < episodes; ++i) {
      lengths.push_back(length(i));
      if (__builtin_add_overflow(all, lengths.back(), &all)) all = -1;
    }
    const Plain* steps = metadata_.find("total_steps", Plain::integer);
    if (steps != nullptr && steps->integral() != all) {
      fail(Code::format, where(), ": total_steps is ", steps->integral(),
           ", and the episodes have ", all, " steps");
    }
    return lengths;
  }

  std::int64_t length(std::int64_t episode) const override {
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
    put_members(result, metadata_);
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
  static std::string about_file(std::int64_t episode) {
    return std::to_string(episode) + "/metadata.json";
  }

  Plain about(std::int64_t episode) const {
    Plain found = folder_.json(about_file(episode));
    if (!found.is(Plain::object))
      fail(Code::format, folder_.where(about_file(episode)), " is no JSON object");
    return found;
  }

  Plain space(const char* name) const {
    const Plain* text = metadata_.find(name, Plain::text);
    if (text == nullptr) return {};
    return read_json(text->characters(), where() + ": " + name, 64, Repeated::kept);
  }

  void count_episodes() {
    std::vector<std::int64_t> numbers;
    for (const std::string& name : folder_.names("")) {
      const bool digits = name.find_first_not_of("0123456789") == std::string::npos;
      if (digits && number_of(name) >= 0) numbers.push_back(number_of(name));
    }
    std::sort(numbers.begin(), numbers.end());
    episodes = static_cast<std::int64_t>(numbers.size());
    for (std::int64_t i = 0; i < episodes; ++i) {
      const std::int64_t found = numbers[static_cast<std::size_t>(i)];
      if (found != i) fail(Code::format, where(), ": there is an episode ", found, " and none ", i);
    }
    const Plain* total = metadata_.find("total_episodes", Plain::integer);
    if (total != nullptr && total->integral() != episodes) {
      fail(Code::format, where(), ": total_episodes is ", total->integral(), ", and there are ",
           episodes, " folders of episodes");
    }
  }

  std::shared_ptr<const TableFile> table(std::int64_t episode) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (table_ && number_ == episode) return table_;
    const std::string folder = std::to_string(episode);
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

  static const Plain* known(const Plain& space) {
    return space.is(Plain::object) ? &space : nullptr;
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
    const Part part{*this, *table, steps};
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

  struct Part {
    const MinariTables& set;
    const TableFile& table;
    const Steps& steps;

    void add(TensorDict& to, const arrow::Wanted& wanted, bool longer) const {
      const std::int64_t rows = steps.count == 0 ? 1 : steps.count + (longer ? 1 : 0);
      arrow::Slice slice = table.read(steps.count == 0 ? 0 : steps.from, rows);
      arrow::ImportOptions options;
      options.even_lists = true;
      const TensorDict values = [&] {
        try {
          return arrow::import_columns(slice, wanted, options);
        } catch (const Error& failure) {
          fail(failure.code(), table.where(), ": ", failure.what());
        }
      }();
      visit_paths(*values.node(), [&](Path path, const Value& value) {
        if (is_branch(value)) return;
        OwnedKey key(path.begin(), path.end());
        if (!longer) return put(to, place_of(key), value, key, false);
        key[0] = key[0] == "infos" ? "info" : "observation";
        put(to, key, value, OwnedKey(path.begin(), path.end()), true);
      });
    }

   private:
    static OwnedKey place_of(const OwnedKey& key) {
      if (key == OwnedKey{"rewards"}) return {"next", "reward"};
      if (key == OwnedKey{"terminations"}) return {"next", "terminated"};
      if (key == OwnedKey{"truncations"}) return {"next", "truncated"};
      OwnedKey place = key;
      if (key[0] == "actions") place[0] = "action";
      return place;
    }

    void put(TensorDict& to, const OwnedKey& key, const Value& value, const OwnedKey& column,
             bool longer) const {
      const std::string where = table.where() + ": " + show_path(views_of(column));
      if (to.kind_of(views_of(key)) != EntryKind::none)
        fail(Code::key_exists, where, " would be the second entry ", show_path(views_of(key)));
      if (value.is_node()) {
        const Plain lists = non_tensor_lists(*value.node());
        const std::vector<Plain> items(lists.items().begin(), lists.items().end());
        if (set.options_.decode && !items.empty() && items[0].is(Plain::object))
          return put_rows(to, key, decoded(items, where, set.options_.max_bytes), longer);
        return put_values(to, key, items, longer);
      }
      at::Tensor tensor = shaped(value.tensor(), column, where);
      if (key[0] == "next") {
        if (key[1] != "reward") tensor = tensor.to(at::kBool);
        if (tensor.dim() == 1) tensor = tensor.unsqueeze(1);
      }
      put_rows(to, key, tensor, longer);
    }

    // Each has memory of its own: a write into one does not change the other.
    void put_rows(TensorDict& to, const OwnedKey& key, const at::Tensor& rows, bool longer) const {
      to.set(views_of(key), rows.narrow(0, 0, steps.count).clone());
      if (longer) {
        const std::int64_t from = steps.count == 0 ? 0 : 1;
        to.set(views_of(below_next(key)), rows.narrow(0, from, steps.count).clone());
      }
    }
    void put_values(TensorDict& to, const OwnedKey& key, const std::vector<Plain>& items,
                    bool longer) const {
      const auto set = [&](const OwnedKey& at, std::int64_t from) {
        const auto begin = items.begin() + from;
        if (steps.count == 0) return to.set_non_tensor(views_of(at), Plain::of_text(""));
        set_values(to, views_of(at), Plain::of_list({begin, begin + steps.count}));
      };
      set(key, 0);
      if (longer) set(below_next(key), 1);
    }

    static OwnedKey below_next(const OwnedKey& key) {
      OwnedKey next{"next"};
      next.insert(next.end(), key.begin(), key.end());
      return next;
    }

    // Values are flat in a table; their space, or the metadata of the column, has their shape.
    at::Tensor shaped(const at::Tensor& values, const OwnedKey& column,
                      const std::string& where) const {
      std::optional<Sizes> row;
      if (column[0] == "infos") {
        row = marked_shape(column, where);
      } else if (column[0] == "observations" || column[0] == "actions") {
        Space space(known(column[0] == "actions" ? set.actions_ : set.observations_));
        for (std::size_t i = 1; i < column.size(); ++i) space = space.below(column[i]);
        row = space.shape();
      }
      if (!row) return values;
      Sizes sizes{values.size(0)};
      std::int64_t elements = values.size(0);
      for (const std::int64_t size : *row) {
        sizes.push_back(size);
        if (__builtin_mul_overflow(elements, size, &elements)) elements = -1;
      }
      if (elements != values.numel()) {
        fail(Code::format, where, " has values of sizes ", show_sizes(values.sizes()),
             ", and should have ", show_sizes(sizes));
      }
      return values.reshape(sizes);
    }

    std::optional<Sizes> marked_shape(const OwnedKey& column, const std::string& where) const {
      const arrow::Schema* schema = &table.schema();
      for (const std::string& name : column) {
        const arrow::Schema* found = nullptr;
        for (std::int64_t i = 0; i < schema->n_children && found == nullptr; ++i) {
          const arrow::Schema* child = schema->children[i];
          if (child->name != nullptr && name == child->name) found = child;
        }
        if (found == nullptr) return std::nullopt;
        schema = found;
      }
      const auto text = arrow::metadata_value(schema->metadata, "shape", arrow::Place());
      if (!text) return std::nullopt;
      Sizes sizes;
      for (std::size_t at = 0; at < text->size();) {
        const std::size_t end = std::min(text->find(',', at), text->size());
        const std::int64_t size = number_of(text->substr(at, end - at));
        if (size < 0) fail(Code::format, where, " says that its shape is ", quote(*text));
        sizes.push_back(size);
        at = end + 1;
      }
      return sizes;
    }
  };

  static void put_done(TensorDict& td) {
    const at::Tensor* terminated = td.stored({"next", "terminated"});
    const at::Tensor* truncated = td.stored({"next", "truncated"});
    if (terminated == nullptr) return;
    td.set({"next", "done"},
           truncated == nullptr ? terminated->clone() : terminated->logical_or(*truncated));
  }

  // Code::format if an episode has other entries than the first.
  void require_same(const TensorDict& first, const TensorDict& other, std::int64_t episode) const {
    const auto form = [](const TensorDict& td) {
      std::map<OwnedKey, std::string> forms;
      visit_paths(*td.node(), [&](Path path, const Value& value) {
        if (is_branch(value)) return;
        forms[OwnedKey(path.begin(), path.end())] =
            value.is_node() ? "no tensor"
                            : dtype_name(value.tensor().scalar_type()) + " " +
                                  show_sizes(value.tensor().sizes().slice(1));
      });
      return forms;
    };
    const auto before = form(first), here = form(other);
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
  Plain metadata_, observations_, actions_;
  FileFormat format_;
  DatasetOptions options_;
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
