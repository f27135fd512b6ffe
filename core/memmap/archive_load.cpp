// The folders of an archive, for the loader.
#include "core/formats/file_formats.h"
#include "core/formats/format.h"
#include "core/formats/zip_file.h"
#include "core/io/mapped_file.h"
#include "core/memmap/archive.h"
#include "core/memmap/memmap_folder.h"
#include "core/tensor/mapped_tensor.h"

#include <algorithm>

namespace td {

namespace {

using files::Found;

// An archive, mapped once.
struct ArchiveContent {
  ArchiveContent(const std::string& path, bool writable, const std::string& called)
      : archive(zip_file::MappedArchive::open(path, writable)) {
    archive.file()->set_path(called);
    if (archive.reader().find(format::meta_file) == nullptr) {
      fail(Code::format, "\"", called, "\" is not an archive of a dictionary: it has no meta.json");
    }
    names.reserve(archive.reader().entries().size());
    for (const zip_file::Entry& entry : archive.reader().entries()) names.push_back(entry.name);
    std::sort(names.begin(), names.end());
  }

  zip_file::MappedArchive archive;
  std::vector<std::string_view> names;  // sorted
};

// Folders are prefixes of the sorted entry names.
class ArchiveFolder final : public MemmapFolder {
 public:
  ArchiveFolder(const std::string& root, std::shared_ptr<const ArchiveContent> content)
      : MemmapFolder(root), content_(std::move(content)) {}
  ArchiveFolder(const ArchiveFolder& above, const std::string& name)
      : MemmapFolder(above, name), content_(above.content_), prefix_(relative() + '/') {}

  FolderPtr inside(const std::string& name) const override {
    auto folder = std::make_shared<ArchiveFolder>(*this, name);
    const auto first = folder->first();
    return first != content_->names.end() && folder->holds(*first) ? folder : nullptr;
  }

  files::Look look(const std::string& name) const override {
    if (const zip_file::Entry* entry = find(name)) return {Found::file, entry->bytes};
    return {inside(name) ? Found::folder : Found::nothing, 0};
  }

  std::optional<std::string> read(const std::string& name, std::size_t limit) const override {
    const zip_file::Entry* entry = find(name);
    if (entry == nullptr) return std::nullopt;
    return content_->archive.reader().text(*entry, limit);
  }

  std::vector<std::string> folders(std::size_t limit) const override {
    std::vector<std::string> folders;
    const auto end = content_->names.end();
    for (auto at = first(); at != end && holds(*at);) {
      const std::size_t slash = at->find('/', prefix_.size());
      if (slash == std::string_view::npos) {
        ++at;
        continue;
      }
      const std::string_view folder = at->substr(0, slash);
      if (folders.size() == limit) {
        fail(Code::format, "\"", path(), "\" holds more than ", limit, " folders");
      }
      folders.emplace_back(folder.substr(prefix_.size()));
      // Skip the folder's entries: '0' follows '/'.
      at = std::lower_bound(at, end, std::string(folder) + '0');
    }
    std::sort(folders.begin(), folders.end());
    return folders;
  }

  at::Tensor leaf(const std::string& name, SizesView sizes, c10::ScalarType dtype) const override {
    const zip_file::Entry* entry = find(name);
    return entry == nullptr ? at::Tensor()
                            : archive_tensor(content_->archive, *entry, 0, sizes, dtype);
  }

 private:
  const zip_file::Entry* find(const std::string& name) const {
    return content_->archive.reader().find(prefix_ + name);
  }
  std::vector<std::string_view>::const_iterator first() const {
    return std::lower_bound(content_->names.begin(), content_->names.end(), prefix_);
  }
  bool holds(std::string_view name) const noexcept {
    return name.substr(0, prefix_.size()) == prefix_;
  }

  std::shared_ptr<const ArchiveContent> content_;
  std::string prefix_;  // of the names of the entries; "" at the top
};

}  // namespace

FolderPtr open_archive(const std::string& path, bool writable, const std::string& called) {
  const std::string root = files::absolute(called.empty() ? path : called);
  return std::make_shared<ArchiveFolder>(
      root, std::make_shared<ArchiveContent>(files::absolute(path), writable, root));
}

bool is_archive(const std::string& path) {
  const std::string name = files::absolute(path);
  if (files::look(name).found != Found::file) return false;
  const auto file = MappedFile::open(name, MappedFile::whole, MapMode::priv);
  return format_of_content({file->data(), file->bytes()}) == FileFormat::archive;
}

}  // namespace td
