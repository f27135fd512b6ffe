#include "core/datasets/lerobot_mend.h"

#include "core/arrow/files.h"
#include "core/arrow/import.h"
#include "core/base/quote.h"
#include "core/datasets/lerobot_columns.h"
#include "core/datasets/lerobot_tables.h"
#include "core/datasets/parquet_rescue.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td::datasets {

namespace {

// Writers that know Arrow let each column have nulls, and so have other bytes in it.
void allow_nulls(arrow::Schema& schema) {
  schema.flags |= ARROW_FLAG_NULLABLE;
  for (std::int64_t i = 0; i < schema.n_children; ++i) allow_nulls(*schema.children[i]);
}

arrow::Column with_nulls(arrow::Column column) {
  arrow::Schema schema{};
  arrow::Array array{};
  column.take(&schema, &array);
  allow_nulls(schema);
  return {&schema, &array};
}

std::vector<std::int64_t> numbers_in(const TensorDict& rows, const char* column) {
  if (rows.kind_of({column}) != EntryKind::tensor) return {};
  const at::Tensor found = rows.get({column});
  if (found.dim() != 1) return {};
  const at::Tensor numbers = found.to(at::kLong).contiguous();
  return {numbers.data_ptr<std::int64_t>(), numbers.data_ptr<std::int64_t>() + numbers.numel()};
}

// "data/chunk-000/episode_000007.parquet" is 7.
std::int64_t number_in_name(const std::string& file) {
  const std::size_t end = file.rfind('.');
  return number_of(std::string_view(file).substr(0, end));
}

}  // namespace

LeRobotMend::LeRobotMend(const SetFolder& folder, std::vector<Feature> features, bool one_each,
                         std::uint64_t max_bytes, const MendFn& told)
    : folder_(folder), features_(std::move(features)), max_bytes_(max_bytes), told_(told) {
  // Those that are whole come first: they tell what the others are like.
  std::vector<std::string> files = folder_.files("data", 1, ".parquet");
  for (const bool whole : {true, false}) {
    for (const std::string& file : files) {
      if ((folder_.tail(file, 4) == "PAR1") == whole) look_at(file, one_each);
    }
  }
  for (const auto& column : columns_) {
    const auto is = [&](const Feature& feature) { return feature.column == column.first; };
    if (std::none_of(features_.begin(), features_.end(), is))
      told_("meta/info.json",
            text_of("there is no feature ", quote(column.first), ", and its column is left out"));
  }
  std::stable_sort(
      episodes_.begin(), episodes_.end(),
      [](const FoundEpisode& a, const FoundEpisode& b) { return a.number < b.number; });
}

bool LeRobotMend::has(const Feature& feature) const { return columns_.count(feature.column) != 0; }

void LeRobotMend::note_columns(const arrow::TableFile& table) {
  for (std::int64_t i = 0; i < table.schema().n_children; ++i) {
    const char* name = table.schema().children[i]->name;
    ++columns_[name == nullptr ? "" : name];
  }
}

void LeRobotMend::look_at(const std::string& file, bool one_each) {
  std::shared_ptr<arrow::TableFile> table;
  TensorDict rows;
  try {
    table = this->table(file);
    table->choose({"episode_index", "frame_index", "task_index"});
    if (table->rows() == 0) return;
    const arrow::Slice slice = table->read(0, table->rows());
    rows = arrow::import_parts(&slice.schema->value, slice.parts, {});
  } catch (const Error& failure) {
    if (failure.code() != Code::format && failure.code() != Code::io) throw;
    return told_.lost(file, text_of("its rows cannot be read: ", failure.what()));
  }
  const std::vector<std::int64_t> numbers = numbers_in(rows, "episode_index"),
                                  frames = numbers_in(rows, "frame_index"),
                                  tasks = numbers_in(rows, "task_index");
  const auto count = static_cast<std::size_t>(table->rows());
  for (std::size_t row = 0; row < count; ++row) {
    const bool other = !numbers.empty() && row > 0 && numbers[row] != numbers[row - 1];
    const bool again = !frames.empty() && row > 0 && frames[row] <= frames[row - 1];
    const std::int64_t task = tasks.empty() ? 0 : tasks[row];
    if (row == 0 || (!one_each && (other || again))) {
      FoundEpisode one;
      one.number = one_each          ? number_in_name(file)
                   : numbers.empty() ? static_cast<std::int64_t>(episodes_.size())
                                     : numbers[row];
      one.first = rows_ + static_cast<std::int64_t>(row);
      one.file = files_.size();
      one.least_task = one.most_task = task;
      episodes_.push_back(one);
    }
    FoundEpisode& last = episodes_.back();
    last.rows += 1;
    last.least_task = std::min(last.least_task, task);
    last.most_task = std::max(last.most_task, task);
  }
  note_columns(*table);
  rows_ += table->rows();
  files_.push_back(file);
}

std::shared_ptr<arrow::TableFile> LeRobotMend::table(const std::string& relative) const {
  if (folder_.tail(relative, 4) == "PAR1")
    return folder_.table(relative, FileFormat::parquet, max_bytes_);
  const auto known = rescued_.find(relative);
  if (known != rescued_.end())
    return std::make_shared<arrow::TableFile>(known->second, FileFormat::parquet, max_bytes_);
  const FileBytes rescued = whole(relative);
  auto table = std::make_shared<arrow::TableFile>(rescued, FileFormat::parquet, max_bytes_);
  rescued_.emplace(relative, rescued);
  return table;
}

// A table like the others, or else like the features.
FileBytes LeRobotMend::whole(const std::string& relative) const {
  const FileBytes cut = folder_.bytes(relative);
  std::vector<std::string> likes;
  for (const std::string& file : files_) {
    if (!likes.empty() || folder_.tail(file, 4) != "PAR1") continue;
    const FileBytes like = folder_.bytes(file);
    likes.emplace_back(like.text());
  }
  for (const bool nulls : {true, false}) likes.push_back(made_table(nulls));
  for (const std::string& like : likes) {
    std::size_t most = SIZE_MAX;
    for (bool again = true; again;) {
      RescuedTable made = rescue_parquet(cut.text(), like, most, folder_.where(relative));
      const auto held = std::make_shared<std::string>(std::move(made.bytes));
      const FileBytes bytes(held->data(), held->size(), held, folder_.where(relative));
      const std::size_t good = readable(bytes, made.groups);
      again = good != 0 && good != made.groups.size();
      most = good;
      if (again || good == 0) continue;
      std::int64_t rows = 0;
      for (const std::int64_t group : made.groups) rows += group;
      told_(relative, text_of("it has no footer; ", rows, " rows of ", good,
                              good == 1 ? " row group" : " row groups", " are whole"));
      if (made.left != 0)
        told_.lost(relative, text_of("the last ", made.left, " bytes hold no whole row group"));
      return bytes;
    }
  }
  fail(Code::format, folder_.where(relative), " has no footer, and no row group that is whole");
}

// How many row groups can be read, before the first that cannot: Arrow checks the values of each.
std::size_t LeRobotMend::readable(const FileBytes& bytes,
                                  const std::vector<std::int64_t>& groups) const {
  std::size_t good = 0;
  try {
    const arrow::TableFile table(bytes, FileFormat::parquet, max_bytes_);
    std::int64_t from = 0;
    for (; good < groups.size(); ++good) {
      table.read(from, groups[good]);
      from += groups[good];
    }
  } catch (const Error& failure) {
    if (failure.code() != Code::format) throw;
  }
  return good;
}

std::string LeRobotMend::made_table(bool nulls) const {
  std::vector<arrow::Column> columns;
  for (const Feature& feature : features_) {
    if (feature.holds == Feature::video) continue;
    Feature one = feature;
    if (one.shape.empty()) one.shape = {1};
    Sizes sizes{1};
    sizes.append(one.shape.begin(), one.shape.end());
    const auto dtype = one.dtype == c10::ScalarType::Undefined ? at::kLong : one.dtype;
    arrow::Column column = one.holds == Feature::image ? pictures_column(one.column, {""})
                           : one.holds == Feature::text
                               ? texts_column(one.column, {""})
                               : tensor_as_column(one, at::zeros(sizes, dtype));
    columns.push_back(nulls ? with_nulls(std::move(column)) : std::move(column));
  }
  arrow::Owned<arrow::Stream> stream;
  arrow::stream_of(arrow::struct_column("", 1, std::move(columns), {}), {1}, &stream.value);
  std::string bytes;
  arrow::write_stream(
      &stream.value, [&](std::string_view more) { bytes += more; }, FileFormat::parquet, true,
      folder_.where("data"));
  return bytes;
}

}  // namespace td::datasets
