#include "core/base/quote.h"
#include "core/datasets/verify_lerobot.h"

#include <ATen/ATen.h>

namespace td::datasets {

void check_video_files(Problems& problems, const SetFolder& folder, const Plain& info) {
  const Plain* features = info.find("features", Plain::object);
  const Plain* pattern = info.find("video_path", Plain::text);
  for (std::size_t i = 0; features != nullptr && i < features->items().size(); ++i) {
    const Plain* dtype = features->items()[i].find("dtype", Plain::text);
    if (dtype == nullptr || dtype->characters() != "video") continue;
    const std::string name(features->name(i));
    if (pattern == nullptr) {
      problems.add({"meta/info.json"}, quote(name), " is a video, and there is no \"video_path\"");
      continue;
    }
    const bool by_key = pattern->characters().substr(0, 18) == "videos/{video_key}";
    if (!by_key) continue;
    problems.attempt({"videos/" + name}, [&] {
      if (folder.files("videos/" + name, 1, ".mp4").empty())
        problems.add({"videos/" + name}, "there is no file of the video ", quote(name));
    });
  }
}

FrameCheck::FrameCheck(const std::string& path) : meta_(path, 0), videos_(meta_, 0) {}

void FrameCheck::episode(Problems& problems, std::int64_t number, const TensorDict& rows) const {
  const at::Tensor* told = rows.stored({"timestamp"});
  const std::int64_t count = rows.batch_size()[0];
  if (told == nullptr || told->numel() != count || count == 0) return;
  const at::Tensor times = told->to(at::kDouble).reshape({count}).contiguous();
  for (const Feature& feature : meta_.features()) {
    if (feature.holds != Feature::video) continue;
    Spot at{"meta/episodes", number};
    problems.attempt(at, [&] { at.file = meta_.video_of(feature, number).file; });
    problems.attempt(at, [&] {
      at::Tensor missing = at::zeros({count}, at::kBool);
      for (std::int64_t row = 0; row < count; ++row) {
        const LeRobotVideos::Found found =
            videos_.find(feature, {number, row, times.data_ptr<double>()[row]});
        missing.data_ptr<bool>()[row] = !found.frame;
        if (row != 0) continue;
        const std::string wrong = LeRobotVideos::wrong_size(feature, *found.video);
        if (!wrong.empty()) problems.add({at.file}, wrong);
      }
      problems.add_rows(at, missing, 0, "the video ", quote(feature.column),
                        " has no frame at the time of the row");
    });
  }
}

}  // namespace td::datasets
