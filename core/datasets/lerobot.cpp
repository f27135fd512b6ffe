// LeRobot's data sets: rows of tables in Parquet, many episodes in a file (v3.0) or one (v2.0, v2.1).
#include "core/datasets/lerobot.h"

#include "core/arrow/import.h"
#include "core/base/quote.h"
#include "core/datasets/lerobot_values.h"
#include "core/datasets/lerobot_videos.h"
#include "core/datasets/pictures.h"
#include "core/tree/non_tensor.h"
#include "core/tree/non_tensor_values.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

namespace td::datasets {

namespace {

using arrow::TableFile;

// Rows of one file, of one episode.
struct Piece {
  std::size_t file;
  std::int64_t from, count, episode;
};

// What was read of a column.
struct Collected {
  std::vector<at::Tensor> tensors;
  std::vector<Plain> values;
};

class LeRobot final : public Source {
 public:
  LeRobot(const std::string& path, const DatasetOptions& options)
      : meta_(path, options.max_bytes, options.mended),
        options_(options),
        frames_(meta_, options.max_bytes) {
    kind = DatasetKind::lerobot;
    version = meta_.version();
    episodes = static_cast<std::int64_t>(meta_.starts().size()) - 1;
    for (const Feature& feature : meta_.features()) {
      columns_.insert(feature.column);
      if (feature.holds != Feature::video) {
        features_.push_back(feature);
        names_.push_back(feature.column);
      } else if (options.videos) {
        videos_.push_back(feature);
      }
    }
    if (meta_.is_v3()) count_rows();
  }

  std::string where() const override { return meta_.where(); }

  std::vector<std::int64_t> lengths() const override {
    std::vector<std::int64_t> lengths;
    for (std::int64_t i = 0; i < episodes; ++i) lengths.push_back(length(i));
    return lengths;
  }
  std::int64_t length(std::int64_t episode) const override {
    return start(episode + 1) - start(episode);
  }
  TensorDict metadata() const override { return meta_.metadata(!options_.videos); }
  TensorDict metadata(std::int64_t episode) const override { return meta_.metadata(episode); }

  std::vector<HeldVideo> held_videos(std::int64_t episode, const TensorDict& rows) const override {
    std::vector<HeldVideo> held;
    const at::Tensor* told = rows.stored({"timestamp"});
    const std::int64_t count = rows.batch_size()[0];
    if (options_.videos || told == nullptr || told->numel() != count) return held;
    const at::Tensor times = told->to(at::kDouble).reshape({count}).contiguous();
    for (const Feature& feature : meta_.features()) {
      if (feature.holds != Feature::video) continue;
      const VideoPlace place = meta_.video_of(feature, episode);
      held.push_back({feature.column,
                      *meta_.info().find("features")->find(feature.column),
                      {},
                      place.from,
                      {}});
      for (std::int64_t row = 0; row < count; ++row) {
        const FrameTime time{episode, row, times.data_ptr<double>()[row]};
        const LeRobotVideos::Found found = frames_.find(feature, time);
        held.back().video = found.video;
        held.back().frames.push_back(frames_.require(feature, time, found));
      }
    }
    return held;
  }

  TensorDict read(const std::vector<Steps>& steps) const override {
    std::vector<Piece> pieces;
    for (const Steps& one : steps) add_pieces(one, pieces);
    std::vector<Collected> collected(features_.size());
    std::vector<at::Tensor> numbers;
    std::int64_t rows = 0;
    for (std::size_t at = 0; at < pieces.size();) {
      std::size_t end = at;
      while (end < pieces.size() && pieces[end].file == pieces[at].file) ++end;
      std::vector<at::Tensor> here;
      for (std::size_t i = at; i < end; ++i)
        here.push_back(at::full({pieces[i].count}, pieces[i].episode, at::kLong));
      numbers.push_back(at::cat(here));
      read_file(pieces, at, end, numbers.back(), collected);
      rows += numbers.back().size(0);
      at = end;
    }
    const std::vector<FrameTime> times =
        videos_.empty() ? std::vector<FrameTime>() : times_of(steps, collected);
    TensorDict result = made(rows, numbers, collected);
    for (const Feature& video : videos_) {
      require_free(result, video);
      result.set(views_of(video.key), frames_.read(video, times));
    }
    return result;
  }

 private:
  std::vector<FrameTime> times_of(const std::vector<Steps>& steps,
                                  const std::vector<Collected>& collected) const {
    std::vector<FrameTime> times;
    for (const Steps& one : steps) {
      for (std::int64_t row = one.from; row < one.from + one.count; ++row)
        times.push_back({one.episode, row, 0});
    }
    if (times.empty()) return times;
    for (std::size_t i = 0; i < features_.size(); ++i) {
      if (features_[i].column != "timestamp" || features_[i].holds != Feature::tensor) continue;
      const at::Tensor told = at::cat(collected[i].tensors).to(at::kDouble).reshape({-1});
      if (told.numel() != static_cast<std::int64_t>(times.size())) break;
      for (std::size_t row = 0; row < times.size(); ++row)
        times[row].seconds = told.data_ptr<double>()[row];
      return times;
    }
    fail(Code::format, meta_.where(),
         " has no feature \"timestamp\" of one number, by which the frames of videos are found");
  }

  void require_free(const TensorDict& td, const Feature& feature) const {
    const std::vector<std::string_view> path = views_of(feature.key);
    if (td.kind_of(path) != EntryKind::none)
      fail(Code::key_exists, meta_.where(), ": two columns would be the entry ", show_path(path));
  }

  std::int64_t start(std::int64_t episode) const {
    return meta_.starts()[static_cast<std::size_t>(episode)];
  }

  // Of version 3.0, by what the files say: their lists of row groups are long, and read when rows are.
  void count_rows() {
    if (start(episodes) == 0) return;
    files_ = meta_.files();
    for (std::size_t i = 0; i < files_.size(); ++i) {
      std::int64_t end = 0;
      const std::int64_t rows = meta_.rows_of(files_[i]);
      if (__builtin_add_overflow(file_starts_.back(), rows, &end))
        fail(Code::format, meta_.where(), ": its rows cannot be counted");
      file_starts_.push_back(end);
    }
    // Files behind the last row are of a writer that was killed.
    while (file_starts_.size() > 1 && file_starts_[file_starts_.size() - 2] >= start(episodes)) {
      file_starts_.pop_back();
      files_.pop_back();
    }
    if (file_starts_.back() != start(episodes)) {
      fail(Code::format, meta_.where(), ": the episodes have ", start(episodes),
           " rows, and the tables in \"data\" ", file_starts_.back());
    }
  }

  void add_pieces(const Steps& steps, std::vector<Piece>& to) const {
    if (steps.count == 0) return;
    if (!meta_.is_v3()) {
      to.push_back(
          {static_cast<std::size_t>(steps.episode), steps.from, steps.count, steps.episode});
      return;
    }
    std::int64_t row = meta_.first_row(steps.episode) + steps.from, left = steps.count;
    auto next = std::upper_bound(file_starts_.begin(), file_starts_.end(), row);
    for (; left > 0; ++next) {
      const std::int64_t here = std::min(left, *next - row);
      if (here > 0) {
        const auto number = static_cast<std::size_t>(next - file_starts_.begin() - 1);
        to.push_back({number, row - *(next - 1), here, steps.episode});
        row += here;
        left -= here;
      }
    }
  }

  std::shared_ptr<const TableFile> file(std::size_t number) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (file_ && file_number_ == number) return file_;
    const std::string name =
        meta_.is_v3() ? files_[number] : meta_.file_of(static_cast<std::int64_t>(number));
    const std::shared_ptr<TableFile> opened = meta_.table(name);
    for (const Feature& feature : features_) {
      if (!opened->has(feature.column)) {
        fail(Code::format, opened->where(), " has no column ", quote(feature.column),
             ", which info.json tells of");
      }
    }
    const arrow::Schema& schema = opened->schema();
    for (std::int64_t i = 0; i < schema.n_children; ++i) {
      const char* column = schema.children[i]->name;
      if (columns_.count(column == nullptr ? "" : column) == 0 && !meta_.is_mended()) {
        fail(Code::format, opened->where(), ": info.json knows no column ",
             quote(column == nullptr ? "" : column));
      }
    }
    if (!meta_.is_v3() && opened->rows() != length(static_cast<std::int64_t>(number))) {
      fail(Code::format, opened->where(), " has ", opened->rows(), " rows, and episode ", number,
           " should have ", length(static_cast<std::int64_t>(number)));
    }
    if (meta_.is_v3() && opened->rows() != file_starts_[number + 1] - file_starts_[number]) {
      fail(Code::format, opened->where(), " has row groups of ", opened->rows(),
           " rows, and says that it has ", file_starts_[number + 1] - file_starts_[number]);
    }
    opened->choose(names_);
    file_ = opened;
    file_number_ = number;
    return file_;
  }

  void read_file(const std::vector<Piece>& pieces, std::size_t begin, std::size_t end,
                 const at::Tensor& numbers, std::vector<Collected>& collected) const {
    const auto table = file(pieces[begin].file);
    arrow::Slice slice;
    for (std::size_t i = begin; i < end; ++i) {
      arrow::Slice one = table->read(pieces[i].from, pieces[i].count);
      slice.schema = one.schema;
      for (arrow::Part& part : one.parts) slice.parts.push_back(std::move(part));
    }
    arrow::ImportOptions options;
    options.even_lists = true;
    const TensorDict values = [&] {
      try {
        return arrow::import_parts(&slice.schema->value, std::move(slice.parts), options);
      } catch (const Error& failure) {
        fail(failure.code(), table->where(), ": ", failure.what());
      }
    }();
    for (std::size_t i = 0; i < features_.size(); ++i) {
      const Feature& feature = features_[i];
      const std::string here = table->where() + ": the column " + quote(feature.column);
      if (feature.holds == Feature::tensor) {
        collected[i].tensors.push_back(tensor_of_column(values, feature, numbers.size(0), here));
        if (feature.column == "episode_index" && !meta_.is_mended())
          check_episodes(collected[i].tensors.back(), numbers, here);
      } else {
        const std::vector<Plain> found = items_of_column(values, feature, here);
        collected[i].values.insert(collected[i].values.end(), found.begin(), found.end());
      }
    }
  }

  static void check_episodes(const at::Tensor& found, const at::Tensor& wanted,
                             const std::string& where) {
    const at::Tensor other = found.reshape({-1}).ne(wanted);
    if (!other.any().item<bool>()) return;
    const std::int64_t row = other.nonzero()[0].item<std::int64_t>();
    fail(Code::format, where, " has ", found.reshape({-1})[row].item<std::int64_t>(),
         ", where the rows of episode ", wanted[row].item<std::int64_t>(), " should be");
  }

  TensorDict made(std::int64_t rows, const std::vector<at::Tensor>& numbers,
                  std::vector<Collected>& collected) const {
    TensorDict result(Sizes{rows});
    for (std::size_t i = 0; i < features_.size(); ++i) {
      const Feature& feature = features_[i];
      if (feature.key == OwnedKey{"episode"}) continue;
      require_free(result, feature);
      put(result, views_of(feature.key), feature, rows, collected[i]);
    }
    result.set({"episode"}, numbers.empty() ? at::empty({0}, at::kLong) : at::cat(numbers));
    put_texts(result, task_key, "task_index", meta_.tasks());
    put_texts(result, "subtask", "subtask_index", meta_.subtasks());
    return result;
  }

  void put(TensorDict& td, Path path, const Feature& feature, std::int64_t rows,
           Collected& collected) const {
    const bool decode = feature.holds == Feature::image && options_.decode;
    Sizes sizes{rows};
    sizes.append(feature.shape.begin(), feature.shape.end());
    if (feature.holds == Feature::tensor) {
      const auto dtype = feature.dtype == c10::ScalarType::Undefined ? at::kLong : feature.dtype;
      td.set(path, rows == 0 ? at::empty(sizes, dtype) : at::cat(collected.tensors));
    } else if (decode) {
      td.set(path, rows == 0
                       ? no_pictures(path, sizes)
                       : decoded(collected.values, meta_.where() + ": " + quote(feature.column),
                                 options_.max_bytes));
    } else if (rows == 0) {
      td.set_non_tensor(path, Plain::of_text(""));
    } else {
      set_values(td, path, Plain::of_list(std::move(collected.values)));
    }
    collected = {};
  }

  // Gray pictures have no channels, whatever info.json says.
  at::Tensor no_pictures(Path path, SizesView sizes) const {
    std::int64_t first = 0;
    while (first < episodes && length(first) == 0) ++first;
    if (first == episodes) return at::empty(sizes, at::kByte);
    return read({{first, 0, 1}}).get(path).narrow(0, 0, 0).clone();
  }

  // The text of each row by its number.
  void put_texts(TensorDict& td, const char* key, const char* column,
                 const std::vector<Plain>& texts) const {
    const at::Tensor* stored = td.stored({column});
    if (texts.empty() || stored == nullptr || td.kind_of({key}) != EntryKind::none) return;
    if (stored->size(0) == 0) return td.set_non_tensor({key}, Plain::of_text(""));
    const at::Tensor numbers = stored->to(at::kLong).reshape({-1}).contiguous();
    std::vector<Plain> values;
    for (std::int64_t row = 0; row < numbers.size(0); ++row) {
      const std::int64_t number = numbers.data_ptr<std::int64_t>()[row];
      if (number < 0 || number >= static_cast<std::int64_t>(texts.size())) {
        fail(Code::format, meta_.where(), ": ", column, " is ", number, " in a row, and there are ",
             texts.size(), " texts");
      }
      values.push_back(texts[static_cast<std::size_t>(number)]);
    }
    set_values(td, {key}, Plain::of_list(std::move(values)));
  }

  LeRobotMeta meta_;
  DatasetOptions options_;
  LeRobotVideos frames_;
  std::vector<Feature> features_;  // in the tables
  std::vector<Feature> videos_;    // that are read
  std::vector<std::string> names_;
  std::set<std::string> columns_;
  std::vector<std::string> files_;
  std::vector<std::int64_t> file_starts_{0};
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const TableFile> file_;  // the last one that was read
  mutable std::size_t file_number_ = 0;
};

}  // namespace

std::unique_ptr<Source> open_lerobot(const std::string& path, const DatasetOptions& options) {
  return std::make_unique<LeRobot>(path, options);
}

}  // namespace td::datasets
