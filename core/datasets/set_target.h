// core/datasets/set_target.h: where the files of a set in a folder are written.
#pragma once

#include "core/io/folder.h"
#include "core/io/new_file.h"

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace td::datasets {

// Without commit(), and when it fails, no new file is left. Paths are relative to the set; their folders are made.
class SetTarget {
 public:
  enum class Way {
    whole,  // a set that takes the place of another, or of nothing, in one step
    more    // files of a set that is there, which come in the order in which they were put
  };
  SetTarget(const std::string& folder, Way way);
  ~SetTarget();
  SetTarget(const SetTarget&) = delete;
  SetTarget& operator=(const SetTarget&) = delete;

  void put(const std::string& relative, const std::function<void(files::NewFile&)>& fill);
  void put(const std::string& relative, std::string_view content);
  // The path of a file that is not there yet, for a writer of its own.
  std::string place(const std::string& relative);

  void commit(bool durable);

 private:
  std::string path(const std::string& relative);

  const std::string folder_;
  std::optional<files::FolderReplacement> whole_;
  files::NewFolders parents_;
  std::set<std::string> made_;        // folders of `whole_`
  std::deque<files::NewFile> files_;  // of `more`
  std::vector<std::string> new_;      // of `more`, in their places
};

}  // namespace td::datasets
