// core/memmap/save_checks.h: whether the entry on a path can be stored, and where: names, lengths, what is there already.
#pragma once

#include "core/base/key.h"
#include "core/formats/format.h"
#include "core/io/file_io.h"
#include "core/memmap/memmap_plan.h"

#include <string>

namespace td {

// Each throws and names the entry. No link is followed below the folder that the caller has named.
class SaveChecks {
 public:
  SaveChecks(const MemmapOptions& options, Content content, const Path& path)
      : options_(options), content_(content), path_(path) {}

  void check_tensor(const at::Tensor& tensor) const;
  void check_name(std::string_view key, bool is_node,
                  std::string_view file_suffix = format::leaf_suffix) const;
  void check_length(const std::string& path) const;
  // The sizes of "a" stand in the file that the values of "a.shape" would have.
  void check_table_name(const DenseNode& source) const;

  // Whether a leaf that is mapped may stay as it is.
  SavePlan::Action check_mapping(const SavePlan::Leaf& leaf, const files::Look& there) const;

  // The folder of a dictionary or value in that of `source`, and the name that a key has on the disk.
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
