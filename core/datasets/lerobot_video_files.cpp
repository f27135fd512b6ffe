#include "core/datasets/lerobot_video_files.h"

#include "core/base/quote.h"
#include "core/datasets/lerobot_columns.h"
#include "core/datasets/lerobot_info.h"
#include "core/datasets/lerobot_meta.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

namespace td::datasets {

namespace {

void copy_video(SetTarget& target, const std::string& to, const Video& video) {
  target.put(to, {reinterpret_cast<const char*>(video.bytes().data()), video.bytes().size()});
}

// The path of a video below the set. `alone`: by version 2.1.
std::string video_path(const std::string& column, std::int64_t number, bool alone) {
  const std::int64_t chunk = number / lerobot_chunks_size, file = number % lerobot_chunks_size;
  return alone ? filled_path(lerobot_v21_video_path,
                             {{"episode_chunk", chunk}, {"episode_index", number}}, "", column)
               : filled_path(lerobot_video_path, {{"chunk_index", chunk}, {"file_index", file}}, "",
                             column);
}

}  // namespace

void VideoFiles::add_alone(SetTarget& target, const std::vector<HeldVideo>& videos,
                           std::int64_t episode) {
  for (const HeldVideo& video : videos) {
    const auto count = static_cast<std::int64_t>(video.frames.size());
    if (count != video.video->frames() || video.from != 0) {
      fail(Code::unsupported, video.video->where(), " has ", video.video->frames(),
           " frames, and episode ", episode, " is ", count,
           " of them: version 2.1 has a video for each episode, and videos are not cut");
    }
    copy_video(target, video_path(video.column, episode, true), *video.video);
  }
}

VideoFiles::Column& VideoFiles::column_named(const std::string& name) {
  for (Column& column : columns_) {
    if (column.name == name) return column;
  }
  columns_.push_back({name});
  return columns_.back();
}

void VideoFiles::go_on(const std::string& column, std::int64_t files) {
  column_named(column).count = files;
}

void VideoFiles::add(SetTarget& target, const std::vector<HeldVideo>& videos, double fps) {
  for (const HeldVideo& video : videos) {
    Column& column = column_named(video.column);
    const auto known = column.numbers.emplace(video.video->where(), column.count);
    const std::int64_t number = known.first->second;
    if (known.second) {
      copy_video(target, video_path(column.name, number, false), *video.video);
      ++column.count;
    }
    column.chunks.push_back(number / lerobot_chunks_size);
    column.files.push_back(number % lerobot_chunks_size);
    column.from.push_back(video.from);
    column.to.push_back(video.from + static_cast<double>(video.frames.size()) / fps);
  }
}

void VideoFiles::encode(SetTarget& target, const std::string& name, const VideoForm& form,
                        std::int64_t count, const std::function<at::Tensor(std::int64_t i)>& frame,
                        bool alone) {
  Column& column = column_named(name);
  if (column.writer && column.writer->bytes() >= std::uint64_t{lerobot_video_megabytes} << 20)
    std::exchange(column.writer, nullptr)->finish();
  if (!column.writer) {
    column.writer = std::make_unique<VideoWriter>(
        target.place(video_path(name, column.count++, alone)), form, "the video " + quote(name));
  }
  const std::int64_t number = column.count - 1;
  column.chunks.push_back(number / lerobot_chunks_size);
  column.files.push_back(number % lerobot_chunks_size);
  column.from.push_back(static_cast<double>(column.writer->frames()) / form.rate);
  for (std::int64_t i = 0; i < count; ++i)
    column.writer->add(frame(i).contiguous().data_ptr<std::uint8_t>());
  column.to.push_back(static_cast<double>(column.writer->frames()) / form.rate);
}

void VideoFiles::finish() {
  for (Column& column : columns_) {
    if (column.writer) std::exchange(column.writer, nullptr)->finish();
  }
}

FeatureStats VideoFiles::stats_of_video(const HeldVideo& video) {
  const videos::VideoIndex& index = video.video->index();
  if (!reader_ || reader_->video() != video.video)
    reader_ = std::make_unique<VideoReader>(video.video);
  at::Tensor frame = at::empty({index.height, index.width, 3}, at::kByte);
  PictureStats stats;
  for (const std::int64_t at : sampled_pictures(static_cast<std::int64_t>(video.frames.size()))) {
    reader_->read(video.frames[static_cast<std::size_t>(at)], index.height, index.width,
                  frame.data_ptr<std::uint8_t>(), text_of(video.video->where(), ", row ", at));
    stats.add(frame);
  }
  return stats.take();
}

std::vector<arrow::Column> VideoFiles::take_columns() {
  std::vector<arrow::Column> columns;
  for (Column& one : columns_) {
    const std::string before = "videos/" + one.name + "/";
    const auto seconds = [&](const char* name, std::vector<double>& values) {
      columns.push_back(
          arrow::tensor_column(before + name, at::tensor(std::exchange(values, {}), at::kDouble)));
    };
    columns.push_back(numbers_column(before + "chunk_index", std::exchange(one.chunks, {})));
    columns.push_back(numbers_column(before + "file_index", std::exchange(one.files, {})));
    seconds("from_timestamp", one.from);
    seconds("to_timestamp", one.to);
  }
  return columns;
}

}  // namespace td::datasets
