#include "core/datasets/lerobot_meta.h"

#include "core/arrow/import.h"
#include "core/arrow/plain_rows.h"
#include "core/datasets/parquet_form.h"
#include "core/formats/json_text.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <charconv>

namespace td::datasets {

namespace {

constexpr const char* info_file = "meta/info.json";
constexpr const char* stats_file = "meta/stats.json";
constexpr const char* task_lines = "meta/tasks.jsonl";
constexpr const char* episode_lines = "meta/episodes.jsonl";
constexpr const char* stats_lines = "meta/episodes_stats.jsonl";

constexpr const char *chunk_index = "chunk_index", *file_index = "file_index",
                     *from_timestamp = "from_timestamp";

// A column of the table of episodes.
std::string place_column(const std::string& video, const char* name) {
  return "videos/" + video + "/" + name;
}

// Values of episodes from `first` on; `none` where those before lack it.
template <class T>
void append_values(const at::Tensor& values, std::size_t first, T none, std::vector<T>& to) {
  to.resize(first, none);
  if (values.defined())
    to.insert(to.end(), values.data_ptr<T>(), values.data_ptr<T>() + values.numel());
}

std::int64_t integer_of(const Plain& object, const char* name, const std::string& where) {
  const Plain* found = object.find(name, Plain::integer);
  if (found == nullptr) fail(Code::format, where, " has no number ", quote(name));
  return found->integral();
}

// One line for each number from 0 on, in their order.
std::vector<Plain> in_order(std::vector<Plain> lines, const char* name, const std::string& where) {
  std::stable_sort(lines.begin(), lines.end(), [&](const Plain& a, const Plain& b) {
    const Plain *one = a.find(name), *other = b.find(name);
    return (one == nullptr ? 0 : one->integral()) < (other == nullptr ? 0 : other->integral());
  });
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::int64_t found = integer_of(lines[i], name, where);
    if (found != static_cast<std::int64_t>(i))
      fail(Code::format, where, ": ", name, " ", found, " is there, where ", i, " should be");
  }
  return lines;
}

}  // namespace

std::string filled_path(std::string_view pattern,
                        const std::vector<std::pair<std::string_view, std::int64_t>>& numbers,
                        const std::string& where, std::string_view video) {
  std::string path;
  for (std::size_t at = 0; at < pattern.size();) {
    if (pattern[at] != '{') {
      path += pattern[at++];
      continue;
    }
    const std::size_t end = pattern.find('}', at);
    const std::string_view inner =
        end == std::string_view::npos ? std::string_view() : pattern.substr(at + 1, end - at - 1);
    if (!video.empty() && inner == "video_key") {
      path += video;
      at = end + 1;
      continue;
    }
    const std::size_t colon = std::min(inner.find(':'), inner.size());
    const auto known = std::find_if(numbers.begin(), numbers.end(), [&](const auto& one) {
      return one.first == inner.substr(0, colon);
    });
    std::size_t width = 0;
    std::string_view form = inner.substr(std::min(colon + 1, inner.size()));
    bool good = known != numbers.end();
    if (good && !form.empty()) {
      good = form.back() == 'd';
      form.remove_suffix(1);
      const auto read = std::from_chars(form.data(), form.data() + form.size(), width);
      good = good && (form.empty() || read.ptr == form.data() + form.size()) && width < 20;
    }
    if (!good) fail(Code::format, where, ": ", quote(pattern), " is no path of data that is known");
    std::string digits = std::to_string(known->second);
    if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
    path += digits;
    at = end + 1;
  }
  return path;
}

LeRobotMeta::LeRobotMeta(const std::string& path, std::uint64_t max_bytes, MendFn mended)
    : folder_(path),
      max_bytes_(max_bytes),
      mended_(std::move(mended)),
      info_(folder_.json(info_file)) {
  if (!info_.is(Plain::object)) fail(Code::format, where(), " is no JSON object");
  read_version();
  features_ = features_of(info_, where());
  if (mended_) {
    mend();
    return;
  }
  if (folder_.has(stats_file)) stats_ = folder_.json(stats_file);
  v3_ ? read_tables() : read_lines();
  const auto found = static_cast<std::int64_t>(starts_.size()) - 1;
  const std::int64_t episodes = number("total_episodes"), frames = number("total_frames");
  if (episodes >= 0 && episodes != found) {
    fail(Code::format, where(), ": total_episodes is ", episodes, ", and ", found,
         " episodes are listed in \"meta\"");
  }
  if (frames >= 0 && frames != starts_.back()) {
    fail(Code::format, where(), ": total_frames is ", frames, ", and the episodes have ",
         starts_.back(), " rows");
  }
}

std::int64_t LeRobotMeta::number(const char* name) const {
  const Plain* found = info_.find(name);
  if (found == nullptr) return -1;
  if (!found->is(Plain::integer) || found->integral() < 0)
    fail(Code::format, where(), ": ", name, " is ", json_text(*found),
         ", which is no number of them");
  return found->integral();
}

void LeRobotMeta::read_version() {
  const Plain* version = info_.find("codebase_version", Plain::text);
  if (version == nullptr) fail(Code::format, where(), " has no text \"codebase_version\"");
  version_ = std::string(version->characters());
  v3_ = version_.compare(0, 3, "v3.") == 0;
  if (!v3_ && version_ != "v2.0" && version_ != "v2.1") {
    fail(Code::unsupported, where(), ": the data set is of version ", quote(version_),
         "; v2.0, v2.1 and v3.0 are read");
  }
}

void LeRobotMeta::add_length(std::int64_t length, const std::string& where) {
  std::int64_t end = 0;
  if (length < 0 || __builtin_add_overflow(starts_.back(), length, &end)) {
    fail(Code::format, where, ": episode ", starts_.size() - 1, " has the length ", length);
  }
  starts_.push_back(end);
}

void LeRobotMeta::read_tables() {
  for (const Feature& feature : features_) {
    if (feature.holds == Feature::video) places_[feature.column];
  }
  if (folder_.has("meta/tasks.parquet")) tasks_ = task_table("meta/tasks.parquet");
  if (folder_.has("meta/subtasks.parquet")) subtasks_ = task_table("meta/subtasks.parquet");
  tables_ = folder_.files("meta/episodes", 1, ".parquet");
  // Files behind the last episode that is counted are of a writer that was killed.
  const std::int64_t counted = number("total_episodes");
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    if (counted > 0 && counted == static_cast<std::int64_t>(starts_.size()) - 1) tables_.resize(i);
    if (i == tables_.size()) break;
    const std::string& name = tables_[i];
    firsts_.push_back(static_cast<std::int64_t>(starts_.size()) - 1);
    const auto table = folder_.table(name, FileFormat::parquet, max_bytes_);
    add_episodes(*table);
  }
}

std::vector<Plain> LeRobotMeta::task_table(const std::string& relative) const {
  const auto table = folder_.table(relative, FileFormat::parquet, max_bytes_);
  const std::vector<Plain> rows = arrow::plain_rows(table->read(0, table->rows()), table->where());
  std::vector<Plain> texts;
  for (const Plain& row : rows) {
    const Plain* text = row.find("__index_level_0__", Plain::text);
    for (std::size_t i = 0; text == nullptr && i < row.items().size(); ++i) {
      if (row.items()[i].is(Plain::text)) text = &row.items()[i];
    }
    if (text == nullptr)
      fail(Code::format, table->where(), ": row ", texts.size(), " has no text of a task");
    for (const char* name : {"task_index", "subtask_index"}) {
      const Plain* number = row.find(name);
      if (number != nullptr && number->integral() != static_cast<std::int64_t>(texts.size())) {
        fail(Code::format, table->where(), ": row ", texts.size(), " is task ", json_text(*number),
             "; LeRobot takes it for task ", texts.size());
      }
    }
    texts.push_back(*text);
  }
  return texts;
}

void LeRobotMeta::add_episodes(arrow::TableFile& table) {
  // The table may have a thousand columns of statistics.
  std::vector<std::string> wanted{"episode_index", "length", "dataset_from_index",
                                  "dataset_to_index"};
  for (const auto& video : places_) {
    for (const char* name : {chunk_index, file_index, from_timestamp})
      wanted.push_back(place_column(video.first, name));
  }
  for (const char* name : {"episode_index", "length"}) {
    if (!table.has(name)) fail(Code::format, table.where(), " has no column ", quote(name));
  }
  table.choose(wanted);
  const std::int64_t rows = table.rows();
  if (rows == 0) return;
  const arrow::Slice slice = table.read(0, rows);
  const TensorDict values = arrow::import_parts(&slice.schema->value, slice.parts, {});
  const auto column = [&](const std::string& name, c10::ScalarType dtype = at::kLong) {
    if (!table.has(name)) return at::Tensor();
    at::Tensor found =
        values.kind_of({name}) == EntryKind::tensor ? values.get({name}) : at::Tensor();
    if (!found.defined() || found.dim() != 1 || (found.is_floating_point() && dtype == at::kLong)) {
      fail(Code::format, table.where(), ": the column ", quote(name), " is no number for each row");
    }
    return found.to(dtype).contiguous();
  };
  const at::Tensor numbers = column("episode_index"), lengths = column("length"),
                   from = column("dataset_from_index"), to = column("dataset_to_index");
  const auto at = [](const at::Tensor& values, std::int64_t row) {
    return values.data_ptr<std::int64_t>()[row];
  };
  const std::size_t first = starts_.size() - 1;
  for (auto& video : places_) {
    Places& to = video.second;
    append_values<std::int64_t>(column(place_column(video.first, chunk_index)), first, -1,
                                to.chunks);
    append_values<std::int64_t>(column(place_column(video.first, file_index)), first, -1, to.files);
    append_values<double>(column(place_column(video.first, from_timestamp), at::kDouble), first, 0,
                          to.from);
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto episode = static_cast<std::int64_t>(starts_.size()) - 1;
    if (at(numbers, row) != episode) {
      fail(Code::format, table.where(), ": row ", row, " is episode ", at(numbers, row),
           "; LeRobot takes it for episode ", episode);
    }
    const std::int64_t begin = starts_.back();
    add_length(at(lengths, row), table.where());
    if ((from.defined() && at(from, row) != begin) ||
        (to.defined() && at(to, row) != starts_.back())) {
      fail(Code::format, table.where(), ": episode ", episode, " has ", at(lengths, row),
           " rows, which are ", begin, " to ", starts_.back(), " of the set, and says ",
           from.defined() ? at(from, row) : begin, " to ",
           to.defined() ? at(to, row) : starts_.back());
    }
  }
}

void LeRobotMeta::read_lines() {
  lines_ =
      in_order(folder_.json_lines(episode_lines), "episode_index", folder_.where(episode_lines));
  for (const Plain& line : lines_)
    add_length(integer_of(line, "length", folder_.where(episode_lines)),
               folder_.where(episode_lines));
  if (folder_.has(task_lines)) {
    for (const Plain& line :
         in_order(folder_.json_lines(task_lines), "task_index", folder_.where(task_lines))) {
      const Plain* text = line.find("task", Plain::text);
      if (text == nullptr)
        fail(Code::format, folder_.where(task_lines), ": task ", tasks_.size(), " has no text");
      tasks_.push_back(*text);
    }
  }
  if (!folder_.has(stats_lines)) return;
  const std::vector<Plain> stats =
      in_order(folder_.json_lines(stats_lines), "episode_index", folder_.where(stats_lines));
  for (std::size_t i = 0; i < lines_.size() && i < stats.size(); ++i) {
    const Plain* found = stats[i].find("stats");
    if (found == nullptr) continue;
    PlainBuilder made;
    made.open();
    for (std::size_t m = 0; m < lines_[i].items().size(); ++m) {
      made.name(lines_[i].name(m));
      made.add(lines_[i].items()[m]);
    }
    made.name("stats");
    made.add(*found);
    made.close(true);
    lines_[i] = made.take();
  }
}

std::string LeRobotMeta::path_of(
    const char* name, const std::vector<std::pair<std::string_view, std::int64_t>>& numbers,
    std::string_view video) const {
  const Plain* pattern = info_.find(name, Plain::text);
  if (pattern == nullptr) fail(Code::format, where(), " has no text ", quote(name));
  return filled_path(pattern->characters(), numbers, where(), video);
}

std::int64_t LeRobotMeta::first_row(std::int64_t episode) const {
  const auto i = static_cast<std::size_t>(episode);
  return mend_ ? mend_->episodes()[i].first : starts_[i];
}

std::vector<std::string> LeRobotMeta::files() const {
  return mend_ ? mend_->files() : folder_.files("data", 1, ".parquet");
}

std::shared_ptr<arrow::TableFile> LeRobotMeta::table(const std::string& relative) const {
  return mend_ ? mend_->table(relative) : folder_.table(relative, FileFormat::parquet, max_bytes_);
}

std::int64_t LeRobotMeta::rows_of(const std::string& relative) const {
  if (!mend_) {
    const FileBytes file = folder_.bytes(relative);
    if (const auto rows = rows_of_parquet(file.text())) return *rows;
  }
  return table(relative)->rows();
}

std::string LeRobotMeta::file_of(std::int64_t episode) const {
  if (mend_) return mend_->files()[mend_->episodes()[static_cast<std::size_t>(episode)].file];
  return path_of("data_path", by_episode(episode));
}

std::vector<std::pair<std::string_view, std::int64_t>> LeRobotMeta::by_episode(
    std::int64_t episode) const {
  const std::int64_t chunk = number("chunks_size");
  if (chunk <= 0) fail(Code::format, where(), " has no number \"chunks_size\" above 0");
  return {{"episode_chunk", episode / chunk}, {"episode_index", episode}};
}

VideoPlace LeRobotMeta::video_of(const Feature& feature, std::int64_t episode) const {
  const auto i = static_cast<std::size_t>(episode);
  const std::int64_t number = mend_ ? mend_->episodes()[i].number : episode;
  if (!v3_) return {path_of("video_path", by_episode(number), feature.column), 0};
  const Places& places = places_.at(feature.column);
  if (mend_ && !places.found[i].empty()) return {places.found[i], places.from[i]};
  if (i >= places.chunks.size() || i >= places.files.size() || i >= places.from.size() ||
      places.chunks[i] < 0 || places.files[i] < 0) {
    fail(Code::format, folder_.where("meta/episodes"), " does not tell where the video ",
         quote(feature.column), " has episode ", episode);
  }
  return {
      path_of("video_path", {{"chunk_index", places.chunks[i]}, {"file_index", places.files[i]}},
              feature.column),
      places.from[i]};
}

TensorDict LeRobotMeta::metadata(bool without_videos) const {
  TensorDict result;
  put_members(result, info_);
  if (stats_.is(Plain::object)) result.set_non_tensor({"stats"}, stats_);
  if (!tasks_.empty()) result.set_non_tensor({"tasks"}, Plain::of_list(tasks_));
  if (!subtasks_.empty()) result.set_non_tensor({"subtasks"}, Plain::of_list(subtasks_));
  std::vector<Plain> videos;
  for (const Feature& feature : features_) {
    if (without_videos && feature.holds == Feature::video)
      videos.push_back(Plain::of_text(feature.column));
  }
  if (!videos.empty()) result.set_non_tensor({"videos"}, Plain::of_list(std::move(videos)));
  return result;
}

TensorDict LeRobotMeta::metadata(std::int64_t episode) const {
  TensorDict result;
  if (mend_) return result;
  if (!v3_) {
    put_members(result, lines_[static_cast<std::size_t>(episode)]);
    return result;
  }
  const auto next = std::upper_bound(firsts_.begin(), firsts_.end(), episode);
  const auto number = static_cast<std::size_t>(next - firsts_.begin() - 1);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!table_ || table_number_ != number) {
    table_ = folder_.table(tables_[number], FileFormat::parquet, max_bytes_);
    table_number_ = number;
  }
  const std::int64_t row = episode - firsts_[number];
  if (row >= table_->rows()) fail(Code::busy, table_->where(), " was replaced meanwhile");
  const std::vector<Plain> rows = arrow::plain_rows(table_->read(row, 1), table_->where());
  put_members(result, nested_members(rows.at(0)));
  return result;
}

}  // namespace td::datasets
