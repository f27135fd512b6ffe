#include "core/memmap/save_checks.h"

#include "core/formats/format.h"
#include "core/tensor/dtype.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/mapped_tensor.h"
#include "core/tree/paths.h"

#include <climits>

namespace td {

namespace {

using files::Found;

constexpr std::size_t max_name = 255;            // of Linux's file systems
constexpr std::size_t max_path = PATH_MAX - 64;  // leaves room for a temporary name

// Whether a tensor covers its mapped file exactly.
bool is_whole(const at::Tensor& tensor, const MappedFile& file) {
  return fast::plain_cpu(tensor) && tensor.is_contiguous() && tensor.data_ptr() == file.data() &&
         tensor.nbytes() == file.bytes();
}

}  // namespace

// The sizes of a nested tensor "a" and the values of "a.shape" would share a file.
void SaveChecks::check_table_name(const DenseNode& source) const {
  const std::string other = std::string(path_.back()) + ".shape";
  for (const std::string& name : {other, other + std::string(format::leaf_suffix)}) {
    if (source.find(name) == nullptr) continue;
    fail(Code::key_invalid, show_path(path_), " cannot be stored: the file of its sizes and ",
         quote(name), " would be called the same");
  }
}

void SaveChecks::check_tensor(const at::Tensor& tensor) const {
  if (tensor.layout() != c10::kStrided || tensor.is_nested() || !tensor.has_storage()) {
    fail(Code::unsupported, show_path(path_), " cannot be stored: it is not a dense tensor");
  }
  if (stored_name(tensor.scalar_type()).empty()) {
    fail(Code::dtype, show_path(path_), " cannot be stored: the format has no dtype ",
         dtype_name(tensor.scalar_type()));
  }
  if (!checked_bytes(tensor.sizes(), tensor.element_size())) {
    fail(Code::shape, show_path(path_), " with shape ", show_sizes(tensor.sizes()),
         " is too large");
  }
  if (content_ == Content::values && tensor.device().type() == c10::DeviceType::Meta) {
    fail(Code::device, show_path(path_), " cannot be stored: it is on meta and has no values");
  }
}

SavePlan::Action SaveChecks::check_mapping(const SavePlan::Leaf& leaf,
                                           const files::Look& there) const {
  const MappedFile* file = mapping_of(leaf.source);
  if (file == nullptr) return SavePlan::Action::write;
  const bool same = leaf.path.empty() ? file->path().empty() : file->is_file(leaf.path);
  if (same) {
    const bool fits = leaf.path.empty() || (file->writes_through() && there.bytes == leaf.bytes);
    return fits && is_whole(leaf.source, *file) ? SavePlan::Action::keep : SavePlan::Action::write;
  }
  if (!options_.copy_existing) {
    fail(Code::invalid_argument, show_path(path_), " is mapped from ",
         file->path().empty() ? "anonymous memory" : "\"" + file->path() + "\"",
         " already and is copied only with copy_existing");
  }
  return SavePlan::Action::write;
}

std::string SaveChecks::name_of(std::string_view key) const {
  return options_.verbatim_names ? std::string(key) : format::escape(key);
}

std::string SaveChecks::folder_of(const DenseNode& source, const std::string& dir) const {
  const std::string_view key = path_.back();
  check_name(key, true);
  // A leaf "a" and a dictionary "a.memmap" would share a name.
  if (files::ends_with(key, format::leaf_suffix)) {
    const Value* leaf = source.find(key.substr(0, key.size() - format::leaf_suffix.size()));
    if (leaf != nullptr && elements_of(*leaf) != nullptr) {
      fail(Code::key_invalid, show_path(path_),
           " cannot be stored: a tensor in the same folder has a file of this name");
    }
  }
  return files::join(dir, name_of(key));
}

void SaveChecks::check_name(std::string_view key, bool is_node,
                            std::string_view file_suffix) const {
  const auto refuse = [&](const char* why) {
    fail(Code::key_invalid, show_path(path_), " cannot be stored: ", why);
  };
  if (format::reserved(key) || (is_node && key == format::meta_file)) {
    refuse("the format reserves this name");
  }
  if (options_.verbatim_names && !format::safe_verbatim(key, is_node)) {
    refuse("as a file name this would leave the folder");
  }
  const std::size_t suffix = is_node ? 0 : file_suffix.size();
  if (name_of(key).size() + suffix > max_name) refuse("as a file name this is too long");
}

void SaveChecks::check_length(const std::string& path) const {
  if (path.size() <= max_path) return;
  const std::string name = path_.size() > 4
                               ? "an entry " + std::to_string(path_.size()) + " levels deep"
                               : show_path(path_);
  fail(Code::key_invalid, name, " cannot be stored: its path would take ", path.size(),
       " bytes, more than the ", max_path, " that are safe");
}

bool SaveChecks::folder_exists(const std::string& path) {
  const Found found = files::look(path).found;
  if (found == Found::link) fail(Code::io, "refused: \"", path, "\" is a symbolic link");
  if (found == Found::nothing) return false;
  if (found != Found::folder) fail(Code::io, "\"", path, "\" exists and is not a folder");
  return true;
}

files::Look SaveChecks::check_file(const std::string& path) const {
  const files::Look there = files::look(path);
  if (there.found == Found::nothing) return there;
  if (there.found == Found::link) fail(Code::io, "refused: \"", path, "\" is a symbolic link");
  if (there.found != Found::file) fail(Code::io, "\"", path, "\" exists and is not a file");
  if (options_.fail_if_exists) fail(Code::io, "\"", path, "\" already exists");
  return there;
}

}  // namespace td
