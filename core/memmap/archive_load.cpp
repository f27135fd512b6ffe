// The entries of an archive as a source for the loader.
#include "core/formats/file_formats.h"
#include "core/formats/format.h"
#include "core/formats/zip_file.h"
#include "core/io/mapped_file.h"
#include "core/memmap/archive.h"
#include "core/memmap/memmap_source.h"
#include "core/tensor/mapped_tensor.h"

#include <algorithm>

namespace td {

namespace {

using files::Found;

// An archive, mapped once. Folders are prefixes of the sorted entry names.
class ArchiveSource final : public MemmapSource {
 public:
  ArchiveSource(const std::string& path, bool writable, const std::string& called)
      : root_(files::absolute(called.empty() ? path : called)),
        archive_(zip_file::MappedArchive::open(files::absolute(path), writable)) {
    archive_.file()->set_path(root_);
    if (archive_.reader().find(format::meta_file) == nullptr) {
      fail(Code::format, "\"", root_, "\" is not an archive of a dictionary: it has no meta.json");
    }
    names_.reserve(archive_.reader().entries().size());
    for (const zip_file::Entry& entry : archive_.reader().entries()) names_.push_back(entry.name);
    std::sort(names_.begin(), names_.end());
  }

  const std::string& root() const noexcept override { return root_; }

  files::Look look(const std::string& path) const override {
    const std::string name = inside(path);
    if (const zip_file::Entry* entry = archive_.reader().find(name)) {
      return {entry->is_folder() ? Found::folder : Found::file, entry->bytes};
    }
    const std::string prefix = as_prefix(name);
    const auto first = std::lower_bound(names_.begin(), names_.end(), prefix);
    const bool folder = first != names_.end() && begins(*first, prefix);
    return {folder ? Found::folder : Found::nothing, 0};
  }

  std::optional<std::string> read(const std::string& path, std::size_t limit) const override {
    const zip_file::Entry* entry = archive_.reader().find(inside(path));
    if (entry == nullptr) return std::nullopt;
    return archive_.reader().text(*entry, limit);
  }

  std::vector<std::string> folders_in(const std::string& path, std::size_t limit) const override {
    const std::string prefix = as_prefix(inside(path));
    std::vector<std::string> folders;
    auto at = std::lower_bound(names_.begin(), names_.end(), prefix);
    while (at != names_.end() && begins(*at, prefix)) {
      const std::size_t slash = at->find('/', prefix.size());
      if (slash == std::string_view::npos) {
        ++at;
        continue;
      }
      const std::string_view folder = at->substr(0, slash);
      if (folders.size() == limit) {
        fail(Code::format, "\"", path, "\" holds more than ", limit, " folders");
      }
      folders.emplace_back(folder.substr(prefix.size()));
      // Skip the folder's entries: '0' follows '/'.
      at = std::lower_bound(at, names_.end(), std::string(folder) + '0');
    }
    std::sort(folders.begin(), folders.end());
    return folders;
  }

  at::Tensor leaf(const std::string& path, SizesView sizes, c10::ScalarType dtype) const override {
    const zip_file::Entry* entry = archive_.reader().find(inside(path));
    return entry == nullptr ? at::Tensor() : archive_tensor(archive_, *entry, 0, sizes, dtype);
  }

  // Empty: the dictionary cannot be saved back into an archive.
  std::string saved_path(const std::string&) const override { return {}; }

 private:
  std::string inside(const std::string& path) const {
    return path.size() <= root_.size() + 1 ? std::string() : path.substr(root_.size() + 1);
  }

  static std::string as_prefix(const std::string& folder) {
    return folder.empty() ? folder : folder + '/';
  }

  static bool begins(std::string_view name, std::string_view prefix) noexcept {
    return name.substr(0, prefix.size()) == prefix;
  }

  std::string root_;
  zip_file::MappedArchive archive_;
  std::vector<std::string_view> names_;  // sorted
};

}  // namespace

std::unique_ptr<MemmapSource> open_archive(const std::string& path, bool writable,
                                           const std::string& called) {
  return std::make_unique<ArchiveSource>(path, writable, called);
}

bool is_archive(const std::string& path) {
  const std::string name = files::absolute(path);
  if (files::look(name).found != Found::file) return false;
  const auto file = MappedFile::open(name, MappedFile::whole, MapMode::priv);
  return format_of_content({file->data(), file->bytes()}) == FileFormat::archive;
}

}  // namespace td
