// What the folder "meta" of a set of LeRobot should say, by what its tables and videos hold.
#include "core/arrow/plain_rows.h"
#include "core/base/quote.h"
#include "core/datasets/lerobot_meta.h"
#include "core/videos/video.h"

#include <algorithm>
#include <cmath>

namespace td::datasets {

namespace {

bool is_damage(const Error& failure) {
  return failure.code() == Code::format || failure.code() == Code::io;
}

// Files of a video one after the other, each with the frames of some episodes.
class FramesLeft {
 public:
  FramesLeft(const SetFolder& folder, std::vector<std::string> files)
      : folder_(folder), files_(std::move(files)) {}

  // An episode is known to begin there.
  void begin(const std::string& file, std::int64_t frame) {
    const auto found = std::find(files_.begin(), files_.end(), file);
    if (found == files_.end()) return;
    at_ = static_cast<std::size_t>(found - files_.begin());
    used_ = frame;
  }
  void use(std::int64_t frames) { used_ += frames; }
  // Where so many frames are together; empty: nowhere.
  std::string place(std::int64_t frames, std::int64_t& from) {
    for (; at_ < files_.size(); ++at_, used_ = 0) {
      if (frames_in(files_[at_]) - used_ < frames) continue;
      from = used_;
      return files_[at_];
    }
    return "";
  }

 private:
  std::int64_t frames_in(const std::string& file) const {
    try {
      return Video(folder_.bytes(file)).frames();
    } catch (const Error& failure) {
      if (!is_damage(failure)) throw;
      return 0;
    }
  }

  const SetFolder& folder_;
  std::vector<std::string> files_;
  std::size_t at_ = 0;
  std::int64_t used_ = 0;
};

}  // namespace

void LeRobotMeta::mend() {
  mend_ = std::make_unique<const LeRobotMend>(folder_, features_, !v3_, max_bytes_, mended_);
  const std::vector<FoundEpisode>& found = mend_->episodes();
  if (found.empty()) fail(Code::format, where(), ": no row of the set can be read");
  std::vector<Feature> kept;
  for (const Feature& feature : features_) {
    if (feature.holds == Feature::video || mend_->has(feature)) {
      kept.push_back(feature);
    } else {
      mended_("meta/info.json",
              text_of("no table has the feature ", quote(feature.column), ", which is left out"));
    }
  }
  features_ = std::move(kept);
  std::int64_t others = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    add_length(found[i].rows, where());
    if (found[i].number != static_cast<std::int64_t>(i)) ++others;
  }
  if (others != 0)
    mended_("data", text_of(others, " of ", found.size(), " episodes get another number"));
  const std::map<std::int64_t, Plain> told = told_episodes();
  mend_tasks(told);
  if (v3_) mend_videos(told);
}

// What the lists of episodes say of each, as far as they can be read.
std::map<std::int64_t, Plain> LeRobotMeta::told_episodes() const {
  std::map<std::int64_t, Plain> told;
  const auto add = [&](const std::vector<Plain>& rows) {
    for (const Plain& row : rows) {
      if (const Plain* number = row.find("episode_index", Plain::integer))
        told.emplace(number->integral(), row);
    }
  };
  const auto attempt = [&](const std::string& file, const auto& read) {
    try {
      read();
    } catch (const Error& failure) {
      if (!is_damage(failure)) throw;
      mended_(file, text_of("what it lists is counted anew: ", failure.what()));
    }
  };
  if (!v3_) {
    attempt("meta/episodes.jsonl", [&] { add(folder_.json_lines("meta/episodes.jsonl")); });
    return told;
  }
  attempt("meta/episodes", [&] {
    for (const std::string& file : folder_.files("meta/episodes", 1, ".parquet")) {
      attempt(file, [&] {
        const auto table = folder_.table(file, FileFormat::parquet, max_bytes_);
        std::vector<std::string> wanted{"episode_index", "tasks"};
        for (const Feature& feature : features_) {
          for (const char* name : {"chunk_index", "file_index", "from_timestamp"})
            wanted.push_back("videos/" + feature.column + "/" + name);
        }
        table->choose(wanted);
        if (table->rows() > 0)
          add(arrow::plain_rows(table->read(0, table->rows()), table->where()));
      });
    }
  });
  return told;
}

void LeRobotMeta::mend_tasks(const std::map<std::int64_t, Plain>& told) {
  const std::string file = v3_ ? "meta/tasks.parquet" : "meta/tasks.jsonl";
  std::int64_t most = -1;
  for (const FoundEpisode& one : mend_->episodes()) most = std::max(most, one.most_task);
  constexpr std::int64_t most_tasks = 1 << 20;
  std::vector<Plain> texts(
      static_cast<std::size_t>(std::clamp<std::int64_t>(most + 1, 0, most_tasks)));
  const auto put = [&](std::int64_t number, const Plain& text) {
    if (number < 0 || number >= static_cast<std::int64_t>(texts.size()) || !text.is(Plain::text))
      return;
    Plain& place = texts[static_cast<std::size_t>(number)];
    if (!place.is(Plain::text)) place = text;
  };
  try {
    if (v3_) {
      const auto table = folder_.table(file, FileFormat::parquet, max_bytes_);
      const std::vector<Plain> rows =
          arrow::plain_rows(table->read(0, table->rows()), table->where());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const Plain* number = rows[i].find("task_index", Plain::integer);
        for (const Plain& item : rows[i].items())
          put(number == nullptr ? static_cast<std::int64_t>(i) : number->integral(), item);
      }
    } else {
      for (const Plain& line : folder_.json_lines(file)) {
        const Plain *number = line.find("task_index", Plain::integer), *text = line.find("task");
        if (number != nullptr && text != nullptr) put(number->integral(), *text);
      }
    }
  } catch (const Error& failure) {
    if (!is_damage(failure)) throw;
    mended_(file, text_of("it cannot be read: ", failure.what()));
  }
  // An episode of one task tells its text, too.
  for (const FoundEpisode& one : mend_->episodes()) {
    const auto row = told.find(one.number);
    const Plain* list = row == told.end() ? nullptr : row->second.find("tasks", Plain::list);
    if (list != nullptr && list->items().size() == 1 && one.least_task == one.most_task)
      put(one.least_task, list->items()[0]);
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].is(Plain::text)) continue;
    texts[i] = Plain::of_text(text_of("task ", i));
    mended_(file, text_of("nothing tells the text of task ", i, "; it is called \"task ", i, "\""));
  }
  tasks_ = std::move(texts);
  try {
    if (v3_ && folder_.has("meta/subtasks.parquet"))
      subtasks_ = task_table("meta/subtasks.parquet");
  } catch (const Error& failure) {
    if (!is_damage(failure)) throw;
    mended_("meta/subtasks.parquet", text_of("it is left out: ", failure.what()));
  }
}

void LeRobotMeta::mend_videos(std::map<std::int64_t, Plain> told) {
  const Plain* rate = info_.find("fps");
  const double fps =
      rate != nullptr && rate->is_number() && rate->number() > 0 ? rate->number() : 1;
  for (const Feature& feature : features_) {
    if (feature.holds != Feature::video) continue;
    const std::string folder = "videos/" + feature.column;
    Places& places = places_[feature.column];
    std::vector<std::string> files;
    try {
      files = folder_.files(folder, 1, ".mp4");
    } catch (const Error& failure) {
      if (!is_damage(failure)) throw;
    }
    FramesLeft left(folder_, std::move(files));
    std::map<std::int64_t, Plain> known = told;
    std::map<std::string, std::int64_t> guessed;
    for (const FoundEpisode& episode : mend_->episodes()) {
      const auto row = known.find(episode.number);
      const auto number = [&](const char* name, Plain::Kind kind) {
        return row == known.end() ? nullptr : row->second.find(folder + "/" + name, kind);
      };
      const Plain *chunk = number("chunk_index", Plain::integer),
                  *file = number("file_index", Plain::integer),
                  *from = number("from_timestamp", Plain::real);
      std::string place;
      double seconds = 0;
      if (chunk != nullptr && file != nullptr && from != nullptr) {
        place = path_of("video_path",
                        {{"chunk_index", chunk->integral()}, {"file_index", file->integral()}},
                        feature.column);
        seconds = from->number();
        left.begin(place, std::llround(seconds * fps));
        known.erase(row);
      } else {
        std::int64_t first = 0;
        place = left.place(episode.rows, first);
        seconds = static_cast<double>(first) / fps;
        if (!place.empty()) ++guessed[place];
      }
      left.use(episode.rows);
      places.found.push_back(place);
      places.from.push_back(seconds);
    }
    for (const auto& file : guessed) {
      mended_(file.first, text_of("nothing tells where ", file.second,
                                  " of its episodes are; they follow each other"));
    }
  }
}

}  // namespace td::datasets
