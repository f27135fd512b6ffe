// Minari's data sets in HDF5: metadata.json beside the file, or attributes of the file up to version 0.4.
#include "core/datasets/group_source.h"
#include "core/datasets/minari_meta.h"
#include "core/datasets/minari_tables.h"
#include "core/formats/json_text.h"
#include "core/io/file_io.h"

#include <algorithm>
#include <map>

namespace td::datasets {

namespace {

constexpr std::size_t most_json = std::size_t{1} << 28;
constexpr const char* values_file = "data/main_data.hdf5";

class Minari final : public GroupSource {
 public:
  Minari(std::unique_ptr<hdf5::GroupFile> file, Plain metadata, bool beside, std::string where,
         const MendFn& mend)
      : GroupSource(std::move(file)),
        meta_(std::move(metadata), std::move(where)),
        beside_(beside) {
    mended = mend;
    kind = DatasetKind::minari;
    version = meta_.version;
    count_episodes();
  }

  std::vector<std::int64_t> lengths() const override {
    std::vector<std::string> names;
    for (std::int64_t i = 0; i < episodes; ++i) names.push_back(group(i).substr(1));
    const std::vector<std::int64_t> lengths = lengths_of("/", names, "total_steps");
    meta_.require_total(lengths);
    return lengths;
  }

  std::int64_t length(std::int64_t episode) const override {
    if (mended) return found_in(episode).steps();
    const std::int64_t length = count_attribute(*file_, group(episode), "total_steps");
    return length < 0 ? rewards_of(episode) : length;
  }

  std::vector<Column> columns(std::size_t table) const override {
    const std::string top = group(static_cast<std::int64_t>(table));
    std::vector<hdf5::Leaf> leaves = leaves_of(*file_, top);
    const std::int64_t length = this->length(static_cast<std::int64_t>(table));
    std::vector<Column> columns;
    for (hdf5::Leaf& leaf : leaves) {
      if (is_cut_info(leaf)) continue;
      if (std::optional<Column> column =
              this->column(leaf, length, found_or_none(static_cast<std::int64_t>(table)))) {
        column->leaf = std::move(leaf);
        columns.push_back(*std::move(column));
      }
    }
    return columns;
  }

  TensorDict metadata() const override {
    TensorDict result;
    put_members(result, meta_.members);
    for (const std::string& name : file_->names("/")) {
      if (name.compare(0, 8, "episode_") != 0) put_others(result, *file_, name, mended);
    }
    if (!beside_) return result;
    const Plain attributes = file_->attributes("/");
    for (std::size_t i = 0; i < attributes.items().size(); ++i)
      result.set_non_tensor({"attributes", attributes.name(i)}, attributes.items()[i]);
    return result;
  }

  TensorDict metadata(std::int64_t episode) const override {
    TensorDict result;
    put_members(result, nested_members(file_->attributes(group(episode))));
    const std::int64_t length = this->length(episode);
    for (const hdf5::Leaf& leaf : leaves_of(*file_, group(episode))) {
      if (is_cut_info(leaf) || (mended && found_in(episode).is_lost(leaf))) continue;
      if (!column(leaf, length, found_or_none(episode))) put_leaf(result, leaf.path, *file_, leaf);
    }
    return result;
  }

 private:
  std::string group(std::int64_t i) const {
    const std::int64_t number = mended ? numbers_[static_cast<std::size_t>(i)] : i;
    return "/episode_" + std::to_string(number);
  }

  // Groups that are called as episodes are, and the steps that they hold.
  void find_episodes() {
    for (const std::string& name : file_->names("/")) {
      if (name.compare(0, 8, "episode_") != 0) continue;
      const std::int64_t number = number_of(name);
      if (number < 0 || !file_->is_group("/" + name) ||
          name != "episode_" + std::to_string(number)) {
        mended("", text_of(quote(name), " is no episode, and is left out"));
        continue;
      }
      if (number != static_cast<std::int64_t>(numbers_.size()))
        mended("", text_of(quote(name), " becomes ",
                           quote("episode_" + std::to_string(numbers_.size()))));
      numbers_.push_back(number);
    }
    episodes = static_cast<std::int64_t>(numbers_.size());
  }

  const StepsFound& found_in(std::int64_t episode) const {
    const auto known = found_.find(episode);
    if (known != found_.end()) return known->second;
    const std::string top = group(episode);
    StepsFound found;
    for (const hdf5::Leaf& leaf : leaves_of(*file_, top)) {
      const std::string& first = leaf.path[0];
      if (first == "observations") found.add(leaf, 1);
      if (first == "actions" || first == "rewards" || first == "terminations" ||
          first == "truncations")
        found.add(leaf, 0);
    }
    found.require(*file_, top, "total_steps", mended);
    for (const hdf5::Leaf& leaf : leaves_of(*file_, top)) {
      if (is_cut_info(leaf))
        mended.lost("", text_of(quote(leaf.place), " is not all there, and is left out"));
    }
    return found_.emplace(episode, found).first->second;
  }

  // Its rows would be taken for those without the one of the reset.
  static bool is_cut_info(const hdf5::Leaf& leaf) { return leaf.cut && leaf.path[0] == "infos"; }

  const StepsFound* found_or_none(std::int64_t episode) const {
    return mended ? &found_in(episode) : nullptr;
  }

  void require(const hdf5::Leaf& leaf, std::int64_t rows) const {
    if (!mended || leaf.rows() < rows) require_rows(*file_, leaf, rows);
  }

  std::int64_t rewards_of(std::int64_t episode) const {
    const std::string place = group(episode) + "/rewards";
    const std::vector<hdf5::Leaf> leaves = file_->leaves(place);
    if (leaves.empty() || leaves[0].rows() < 0)
      fail(Code::format, file_->where(), ": ", quote(place), " has no rows");
    return leaves[0].rows();
  }

  void count_episodes() {
    if (mended) return find_episodes();
    std::int64_t found = 0;
    for (const std::string& name : file_->names("/")) {
      if (name.compare(0, 8, "episode_") != 0) continue;
      if (name != "episode_" + std::to_string(found)) {
        fail(Code::format, file_->where(), ": there is a group ", quote(name), " and no ",
             quote("episode_" + std::to_string(found)));
      }
      ++found;
    }
    const Plain* total = meta_.members.find("total_episodes", Plain::integer);
    // A writer that was killed may not have counted its last one. Minari looks at those that are counted.
    if (total != nullptr && total->integral() == found - 1) --found;
    if (total == nullptr && found == 0)
      fail(Code::format, file_->where(), " is no data set of Minari: it counts no episodes");
    if (total != nullptr && total->integral() != found) {
      fail(Code::format, meta_.where, ": total_episodes is ", total->integral(), ", and ",
           file_->where(), " has ", found, " episodes");
    }
    episodes = found;
  }

  // What becomes of a dataset of an episode; nothing if its rows are not those of steps.
  std::optional<Column> column(const hdf5::Leaf& leaf, std::int64_t length,
                               const StepsFound* found) const {
    const std::string& top = leaf.path[0];
    if (top == "observations") {
      require(leaf, length + 1);
      Column column = named("observation", leaf, meta_.observation_space());
      column.next = below_next(column.key);
      return column;
    }
    if (top == "actions") {
      require(leaf, length);
      return named("action", leaf, meta_.action_space());
    }
    if (top == "infos" && leaf.path.size() > 1) {
      Column column = named("info", leaf, Space());
      // Some published sets lack the row of the reset.
      if (leaf.rows() != length) require(leaf, length + 1);
      (leaf.rows() == length ? column.key : column.next) = below_next(column.key);
      return column;
    }
    if (leaf.path.size() == 1) {
      const auto end = [&](const char* name, Form form) {
        require(leaf, length);
        return Column{{"next", name}, {}, form};
      };
      if (top == "rewards") return end("reward", Form::number);
      if (top == "terminations") return end("terminated", Form::flag);
      if (top == "truncations") return end("truncated", Form::flag);
    }
    const bool fits = found != nullptr ? found->fits(leaf) : leaf.rows() == length;
    if (!fits) return std::nullopt;
    return Column{leaf.path, {}, Form::as_stored};
  }

  static Column named(const char* first, const hdf5::Leaf& leaf, Space space) {
    Column column;
    column.key = {first};
    for (std::size_t i = 1; i < leaf.path.size(); ++i) {
      column.key.push_back(space.name_of_member(leaf.path[i]));
      space = space.below(column.key.back());
    }
    const auto dims = static_cast<std::int64_t>(leaf.sizes.size());
    // Encoded files of one length are rows of bytes; what has the dimensions of the space is raw.
    const bool packed = leaf.holds == hdf5::Leaf::tensor && leaf.dtype == at::kByte && dims == 2 &&
                        space.dims() > 1;
    if (leaf.holds == hdf5::Leaf::bytes || packed) column.form = Form::file;
    return column;
  }

  MinariMeta meta_;
  bool beside_;                                       // metadata.json is
  std::vector<std::int64_t> numbers_;                 // of a mended set, which one thread reads
  mutable std::map<std::int64_t, StepsFound> found_;  // the same
};

std::unique_ptr<Source> with_options(std::unique_ptr<Minari> set, const DatasetOptions& options) {
  set->decode = options.decode;
  set->max_bytes = options.max_bytes;
  return set;
}

}  // namespace

std::unique_ptr<Source> open_minari(const std::string& path, const DatasetOptions& options) {
  const auto there = [](const std::string& file) {
    return files::look(file).found == files::Found::file;
  };
  std::string data = files::absolute(path);
  if (there(data)) {
    data = files::parent_of(data);
  } else if (files::look(files::join(data, "data")).found == files::Found::folder) {
    data = files::join(data, "data");
  }
  const std::string json = files::join(data, "metadata.json");
  const std::string values = files::join(data, "main_data.hdf5");
  if (!there(json)) {
    auto file = open_groups(there(path) ? path : values, options, there(path) ? "" : values_file);
    const std::string where = file->where();
    Plain attributes = file->attributes("/");
    if (options.mended) attributes = mended_members(attributes, "", options.mended);
    return with_options(std::make_unique<Minari>(std::move(file), std::move(attributes), false,
                                                 where, options.mended),
                        options);
  }
  Plain metadata = read_json(files::read(json, most_json), quote(json), 64, Repeated::kept);
  if (!metadata.is(Plain::object)) fail(Code::format, quote(json), " is no JSON object");
  if (options.mended) metadata = mended_members(metadata, "data/metadata.json", options.mended);
  const Plain* format = metadata.find("data_format", Plain::text);
  if (format != nullptr && format->characters() != "hdf5") {
    const std::string_view name = format->characters();
    if (name != "arrow" && name != "parquet") {
      fail(Code::unsupported, quote(json), ": the data are in ", name,
           "; Minari has them in hdf5, arrow or parquet");
    }
    return open_minari_tables(data, std::move(metadata),
                              name == "arrow" ? FileFormat::arrow : FileFormat::parquet, options);
  }
  const bool told = there(path) && path.size() > 5 && !files::ends_with(path, ".json");
  return with_options(
      std::make_unique<Minari>(open_groups(told ? path : values, options, values_file),
                               std::move(metadata), true, quote(json), options.mended),
      options);
}

}  // namespace td::datasets
