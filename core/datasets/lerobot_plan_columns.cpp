#include "core/datasets/lerobot_plan_columns.h"

#include "core/datasets/source.h"
#include "core/formats/json_text.h"
#include "core/pictures/decode.h"
#include "core/tensor/dtype.h"
#include "core/tree/bytes_value.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td::datasets {

namespace {

// Written for every set from what the episodes are.
const char* const made_anew[] = {"episode_index", "frame_index", "index", "task_index",
                                 "timestamp"};

bool is_made_anew(std::string_view column) {
  return std::any_of(std::begin(made_anew), std::end(made_anew),
                     [&](const char* one) { return column == one; });
}

// A column is the name of a folder, too.
void require_folder(const std::string& column) {
  if (column.empty() || column[0] == '.')
    fail(Code::unsupported, quote(column), " cannot be the folder of a video");
}

std::string shown_key(const OwnedKey& key) { return show_path(views_of(key)); }

Plain picture_names() {
  return Plain::of_list(
      {Plain::of_text("height"), Plain::of_text("width"), Plain::of_text("channels")});
}

}  // namespace

LeRobotColumns::LeRobotColumns(const TensorDict& metadata, Draft& draft,
                               std::vector<PlannedColumn>& columns, bool videos)
    : draft_(draft),
      columns_(columns),
      videos_(videos),
      has_subtasks_(metadata_member(metadata, "subtasks").is(Plain::list)) {
  find_known(metadata);
}

void LeRobotColumns::find_known(const TensorDict& metadata) {
  const Plain features = metadata_member(metadata, "features");
  if (!features.is(Plain::object)) return;
  PlainBuilder made;
  made.open();
  made.name("features");
  made.add(features);
  made.close(true);
  features_ = made.take();
  try {
    for (Feature& feature : features_of(features_, "the metadata")) known_.push_back(feature);
  } catch (const Error&) {
    known_.clear();  // other features than LeRobot's
  }
}

const Feature* LeRobotColumns::known(const OwnedKey& key) const {
  for (const Feature& feature : known_) {
    if (feature.key == key) return &feature;
  }
  return nullptr;
}

void LeRobotColumns::plan(const Entries& entries) {
  for (const OwnedKey& key : entries.below({})) {
    const Feature* named = known(key);
    PlannedColumn column;
    column.feature.key = key;
    column.feature.column = named == nullptr ? column_of_key(key) : named->column;
    const std::string& name = column.feature.column;
    if (is_made_anew(name) || is_known_text(entries, key)) continue;
    if (name.find('/') != std::string::npos) {
      draft_.lose("the slash in the name of " + shown_key(key));
      continue;
    }
    if (named == nullptr && key_of_column(name) != key && key.size() > 0)
      draft_.lose("the dots in the name of " + shown_key(key) +
                  ", at which LeRobot's readers split");
    if (!describe(column, *entries.find(key), named)) continue;
    column.is_video = videos_ && column.feature.holds == Feature::image;
    if (column.is_video) require_folder(name);
    for (const PlannedColumn& other : columns_) {
      if (other.feature.column == name)
        fail(Code::key_exists, "two entries would be the column ", quote(name));
    }
    columns_.push_back(std::move(column));
  }
  const auto place = [&](const PlannedColumn& column) {
    const Feature* named = known(column.feature.key);
    return named == nullptr ? known_.size() : static_cast<std::size_t>(named - known_.data());
  };
  std::stable_sort(columns_.begin(), columns_.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
}

// Whether numbers beside it tell the same.
bool LeRobotColumns::is_known_text(const Entries& entries, const OwnedKey& key) const {
  if (key == OwnedKey{task_key}) return true;
  return key == OwnedKey{"subtask"} && entries.find({"subtask_index"}) != nullptr && has_subtasks_;
}

bool LeRobotColumns::describe(PlannedColumn& column, const Rows& rows, const Feature* named) {
  Feature& feature = column.feature;
  const std::string name = shown_key(feature.key);
  if (!rows.is_tensor()) {
    feature.holds = Feature::text;
    feature.shape = {1};
    const auto picture = rows.values.empty() ? std::nullopt : bytes_of(rows.values[0]);
    if (picture) {
      feature.holds = Feature::image;
      feature.shape = picture_shape(*picture, name, named);
      column.names = picture_names();
      return true;
    }
    const bool texts = std::all_of(rows.values.begin(), rows.values.end(),
                                   [](const Plain& one) { return one.is(Plain::text); });
    if (!texts) draft_.lose("the values " + name + ", which are no texts, numbers or pictures");
    column.names = names_of(named, feature);
    return texts;
  }
  const at::Tensor& tensor = rows.tensor;
  feature.dtype = tensor.scalar_type();
  feature.shape = Sizes(tensor.sizes().begin() + 1, tensor.sizes().end());
  column.is_alone = feature.shape.empty();
  if (column.is_alone) feature.shape = {1};
  const bool camera =
      feature.key.size() == 3 && feature.key[0] == "observation" && feature.key[1] == "image";
  column.is_encoded =
      feature.dtype == at::kByte && feature.shape.size() == 3 && feature.shape[2] == 3 &&
      (named == nullptr ? camera
                        : named->holds == Feature::image || named->holds == Feature::video);
  if (column.is_encoded) {
    feature.holds = Feature::image;
    column.names = picture_names();
    return true;
  }
  const bool grey_or_clear = feature.dtype == at::kByte && feature.shape.size() == 3 &&
                             (feature.shape[2] == 1 || feature.shape[2] == 4);
  if (videos_ && camera && grey_or_clear) {
    draft_.lose(text_of("a video of ", name, ", whose pictures have ", feature.shape[2],
                        " channels and not 3: they stay numbers"));
  }
  const bool numbers = c10::isIntegralType(feature.dtype, true) || feature.dtype == at::kFloat ||
                       feature.dtype == at::kDouble || feature.dtype == at::kHalf;
  const bool fits = numbers && feature.shape.size() <= 5 && !tensor.is_quantized() &&
                    std::find(feature.shape.begin(), feature.shape.end(), 0) == feature.shape.end();
  if (!fits) {
    draft_.lose("the " + dtype_name(feature.dtype) + " values " + name + " of sizes " +
                text_of(show_sizes(tensor.sizes().slice(1))));
    return false;
  }
  column.names = names_of(named, feature);
  return true;
}

Sizes LeRobotColumns::picture_shape(const std::string& file, const std::string& name,
                                    const Feature* named) {
  if (!videos_ && named != nullptr && named->holds == Feature::image) return named->shape;
  try {
    const at::Tensor picture = decode_picture(file, name);
    Sizes shape(picture.sizes().begin(), picture.sizes().end());
    if (shape.size() == 2) shape.push_back(1);
    return shape;
  } catch (const Error& failure) {
    draft_.lose("the size of the pictures " + name + ": " + failure.what());
    return {1, 1, 3};
  }
}

Plain LeRobotColumns::names_of(const Feature* named, const Feature& feature) const {
  if (named == nullptr || (named->shape != feature.shape && !named->shape.empty())) return {};
  const Plain* found = features_.find("features")->find(named->column)->find("names");
  return found == nullptr ? Plain() : *found;
}

void LeRobotColumns::require(const Entries& entries, std::size_t episode) const {
  const auto where = [&](const OwnedKey& key) {
    return text_of("a data set of LeRobot cannot hold ", shown_key(key), " of episode ", episode,
                   ": ");
  };
  for (const PlannedColumn& column : columns_) {
    const Feature& feature = column.feature;
    const Rows* rows = entries.find(feature.key);
    if (rows == nullptr)
      fail(Code::unsupported, where(feature.key),
           "it is missing there, and the episodes before have it");
    const bool is_tensor = feature.holds == Feature::tensor || column.is_encoded;
    bool same = rows->is_tensor() == is_tensor;
    if (same && is_tensor) {
      Sizes shape(rows->tensor.sizes().begin() + 1, rows->tensor.sizes().end());
      if (shape.empty() && column.is_alone) shape = {1};
      same = shape == feature.shape &&
             (column.is_encoded || rows->tensor.scalar_type() == feature.dtype);
    }
    if (!same)
      fail(Code::unsupported, where(feature.key), "the episodes before have other values there");
  }
  for (const OwnedKey& key : entries.below({})) {
    const bool planned = std::any_of(columns_.begin(), columns_.end(),
                                     [&](const auto& one) { return one.feature.key == key; });
    if (planned || is_made_anew(column_of_key(key)) || is_known_text(entries, key)) continue;
    draft_.lose(shown_key(key) + " of episode " + std::to_string(episode));
  }
}

}  // namespace td::datasets
