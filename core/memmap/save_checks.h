// core/memmap/save_checks.h: checks whether the entry at a path can be stored, and where.
#pragma once

#include "core/base/key.h"
#include "core/formats/format.h"
#include "core/io/file_io.h"
#include "core/memmap/memmap_plan.h"

#include <string>

namespace td {

// Each check throws and names the entry. Follows no link below the caller's folder.
class SaveChecks {
 public:
  SaveChecks(const MemmapOptions& options, Content content, const Path& path)
      : options_(options), content_(content), path_(path) {}

  void check_tensor(const at::Tensor& tensor) const;
  void check_name(std::string_view key, bool is_node,
                  std::string_view file_suffix = format::leaf_suffix) const;
  void check_length(const std::string& path) const;
  // The sizes of a nested tensor "a" and the values of "a.shape" would share a file.
  void check_table_name(const DenseNode& source) const;

  // Whether a mapped leaf may stay as it is.
  SavePlan::Action check_mapping(const SavePlan::Leaf& leaf, const files::Look& there) const;

  // The folder of a nested node of `source`, and the file name of a key.
  std::string folder_of(const DenseNode& source, const std::string& dir) const;
  std::string name_of(std::string_view key) const;

  static bool folder_exists(const std::string& path);
  files::Look check_file(const std::string& path) const;
  files::Look check_meta(const std::string& dir) const {
    return check_file(files::join(dir, format::meta_file));
  }

 private:
  const MemmapOptions& options_;
  Content content_;
  const Path& path_;
};

}  // namespace td
