// core/datasets/set_folder.h: the files of a data set that is a folder. No link below it is followed, and nothing outside is
// opened, whatever names its metadata tell.
#pragma once

#include "core/arrow/table_file.h"
#include "core/consolidated/file_bytes.h"
#include "core/formats/plain.h"
#include "core/io/file_io.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace td::datasets {

class SetFolder {
 public:
  // Code::io if it cannot be opened.
  explicit SetFolder(const std::string& path);

  const std::string& path() const noexcept { return path_; }
  std::string where(const std::string& relative) const;  // quoted, for messages
  bool has(const std::string& relative) const;           // a file

  // A text of JSON, or a value in each line. Code::io without such a file, Code::format for what is no JSON.
  Plain json(const std::string& relative) const;
  std::vector<Plain> json_lines(const std::string& relative) const;

  // The last bytes of a file, fewer if it has not as many.
  std::string tail(const std::string& relative, std::size_t bytes) const;

  // Tables in `folder` and the folders in it, `levels` down, whose names end so; sorted as texts.
  std::vector<std::string> files(const std::string& folder, int levels, std::string_view end) const;
  std::vector<std::string> names(const std::string& folder) const;  // all in it

  FileBytes bytes(const std::string& relative) const;  // of a file, mapped
  std::shared_ptr<arrow::TableFile> table(const std::string& relative, FileFormat format,
                                          std::uint64_t max_bytes) const;

 private:
  std::string text(const std::string& relative) const;
  files::Descriptor open(const std::string& relative, int flags) const;

  std::string path_;
  files::Descriptor folder_;
};

}  // namespace td::datasets
