// core/datasets/lerobot_mend.h: the episodes that the tables of a set of LeRobot hold, whatever its folder "meta" says.
#pragma once

#include "core/datasets/lerobot.h"
#include "core/datasets/set_folder.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace td::datasets {

struct FoundEpisode {
  std::int64_t number = 0;           // that its rows, or the name of its file, tell
  std::int64_t first = 0, rows = 0;  // of all files
  std::size_t file = 0;
  std::int64_t least_task = 0, most_task = 0;
};

class LeRobotMend {
 public:
  // Looks at all tables. Code::format without features, Code::unsupported without the module.
  LeRobotMend(const SetFolder& folder, std::vector<Feature> features, bool one_each,
              std::uint64_t max_bytes, const MendFn& told);

  // A table of Parquet; of one without a footer the row groups that are whole.
  std::shared_ptr<arrow::TableFile> table(const std::string& relative) const;
  const std::vector<std::string>& files() const noexcept { return files_; }  // that can be read
  // By their numbers; two of one number stay two.
  const std::vector<FoundEpisode>& episodes() const noexcept { return episodes_; }
  // Whether a table has this column.
  bool has(const Feature& feature) const;

 private:
  void look_at(const std::string& file, bool one_each);
  void note_columns(const arrow::TableFile& table);
  FileBytes whole(const std::string& relative) const;
  std::size_t readable(const FileBytes& bytes, const std::vector<std::int64_t>& groups) const;
  std::string made_table(bool with_nulls) const;

  const SetFolder& folder_;
  std::vector<Feature> features_;
  std::uint64_t max_bytes_;
  const MendFn& told_;
  std::vector<std::string> files_;
  std::vector<FoundEpisode> episodes_;
  std::map<std::string, std::int64_t> columns_;  // how many files have each
  std::int64_t rows_ = 0;
  mutable std::map<std::string, FileBytes> rescued_;
};

}  // namespace td::datasets
