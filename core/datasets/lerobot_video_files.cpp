#include "core/datasets/lerobot_video_files.h"

#include "core/datasets/lerobot_columns.h"
#include "core/datasets/lerobot_info.h"
#include "core/datasets/lerobot_meta.h"
#include "core/io/new_file.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td::datasets {

namespace {

void copy_video(const files::FolderReplacement& target, const std::string& to, const Video& video) {
  files::NewFile copy(files::join(target.path(), to), true);
  copy.write(video.bytes().data(), video.bytes().size());
  copy.commit(false);
}

}  // namespace

void VideoFiles::add_alone(files::FolderReplacement& target, const std::vector<HeldVideo>& videos,
                           std::int64_t episode) {
  const std::int64_t chunk = episode / lerobot_chunks_size;
  for (const HeldVideo& video : videos) {
    const auto count = static_cast<std::int64_t>(video.frames.size());
    if (count != video.video->frames() || video.from != 0) {
      fail(Code::unsupported, video.video->where(), " has ", video.video->frames(),
           " frames, and episode ", episode, " is ", count,
           " of them: version 2.1 has a video for each episode, and videos are not cut");
    }
    const std::string path =
        filled_path("videos/chunk-{episode_chunk:03d}/", {{"episode_chunk", chunk}}, "") +
        video.column;
    if (episode == 0 && &video == &videos[0]) target.make_folder("videos");
    if (episode % lerobot_chunks_size == 0) {
      if (&video == &videos[0])
        target.make_folder(path.substr(0, path.size() - video.column.size() - 1));
      target.make_folder(path);
    }
    copy_video(
        target,
        path + filled_path("/episode_{episode_index:06d}.mp4", {{"episode_index", episode}}, ""),
        *video.video);
  }
}

void VideoFiles::add(files::FolderReplacement& target, const std::vector<HeldVideo>& videos,
                     double fps) {
  for (std::size_t i = 0; i < videos.size(); ++i) {
    const HeldVideo& video = videos[i];
    if (i == columns_.size()) columns_.push_back({video.column, {}, {}, {}, {}, {}});
    Column& column = columns_[i];
    const auto count = static_cast<std::int64_t>(column.numbers.size());
    const auto known = column.numbers.emplace(video.video->where(), count);
    const std::int64_t chunk = known.first->second / lerobot_chunks_size,
                       file = known.first->second % lerobot_chunks_size;
    if (known.second) {
      const std::string folder = "videos/" + video.column;
      if (count == 0 && i == 0) target.make_folder("videos");
      if (count == 0) target.make_folder(folder);
      const std::string name = filled_path("/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4",
                                           {{"chunk_index", chunk}, {"file_index", file}}, "");
      if (file == 0) target.make_folder(folder + name.substr(0, name.rfind('/')));
      copy_video(target, folder + name, *video.video);
    }
    column.chunks.push_back(chunk);
    column.files.push_back(file);
    column.from.push_back(video.from);
    column.to.push_back(video.from + static_cast<double>(video.frames.size()) / fps);
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

std::vector<arrow::Column> VideoFiles::columns() const {
  std::vector<arrow::Column> columns;
  for (const Column& one : columns_) {
    const std::string before = "videos/" + one.name + "/";
    const auto seconds = [&](const char* name, const std::vector<double>& values) {
      columns.push_back(arrow::tensor_column(before + name, at::tensor(values, at::kDouble)));
    };
    columns.push_back(numbers_column(before + "chunk_index", one.chunks));
    columns.push_back(numbers_column(before + "file_index", one.files));
    seconds("from_timestamp", one.from);
    seconds("to_timestamp", one.to);
  }
  return columns;
}

}  // namespace td::datasets
