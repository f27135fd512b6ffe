#include <fcntl.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/formats/format.h"
#include "core/formats/row_count.h"
#include "core/io/beneath.h"
#include "disk_places.h"

namespace disk {

namespace {

namespace files = td::files;
using files::Found;

constexpr std::size_t max_meta = std::size_t{1} << 24, max_inflated = std::size_t{1} << 28;

class DiskFolder final : public Place {
 public:
  explicit DiskFolder(files::Descriptor folder) : folder_(std::move(folder)) {
    if (!folder_.is_open()) throw NotPlain();
  }

  // With counted rows, the meta.json does not say how many there are.
  std::string meta() const override {
    if (look(std::string(td::format::count_file)).found != Found::nothing) throw NotPlain();
    return files::read_beneath(folder_.get(), std::string(td::format::meta_file), max_meta, "");
  }

  std::shared_ptr<const Place> inside(const std::string &name) const override {
    if (look(name).found == Found::nothing) return nullptr;
    return std::make_shared<const DiskFolder>(
        files::open_beneath(folder_.get(), name, files::folder_flags));
  }

  bool holds(const std::string &name, std::uint64_t bytes) const override {
    const files::Look found = look(name);
    return found.found == Found::file && found.bytes >= bytes;
  }

  Bytes bytes(const std::string &name, std::uint64_t bytes) const override {
    const File file = td::MappedFile::open_in(folder_.get(), name.c_str(), name,
                                              static_cast<std::size_t>(bytes), td::MapMode::priv);
    if (file == nullptr) throw NotPlain();
    return {file, file->data()};
  }

 private:
  files::Look look(const std::string &name) const {
    return files::look_beneath(folder_.get(), name, name);
  }

  files::Descriptor folder_;
};

class ArchiveFolder final : public Place {
 public:
  using Names = std::shared_ptr<const std::vector<std::string_view>>;  // sorted

  ArchiveFolder(Archive archive, Names names, std::string prefix)
      : archive_(std::move(archive)), names_(std::move(names)), prefix_(std::move(prefix)) {}

  std::string meta() const override {
    const td::zip_file::Entry *found = find(std::string(td::format::meta_file));
    if (found == nullptr || find(std::string(td::format::count_file)) != nullptr) throw NotPlain();
    return archive_->reader().text(*found, max_meta);
  }

  std::shared_ptr<const Place> inside(const std::string &name) const override {
    if (find(name) != nullptr) throw NotPlain();  // it names a file
    const std::string prefix = prefix_ + name + '/';
    const auto first = std::lower_bound(names_->begin(), names_->end(), prefix);
    if (first == names_->end() || first->substr(0, prefix.size()) != prefix) return nullptr;
    return std::make_shared<const ArchiveFolder>(archive_, names_, prefix);
  }

  bool holds(const std::string &name, std::uint64_t bytes) const override {
    const td::zip_file::Entry *found = find(name);
    return found != nullptr && found->bytes >= bytes;
  }

  Bytes bytes(const std::string &name, std::uint64_t) const override {
    const td::zip_file::Entry *found = find(name);
    if (found == nullptr) throw NotPlain();
    return content_of(archive_, *found);
  }

 private:
  const td::zip_file::Entry *find(const std::string &name) const {
    return archive_->reader().find(prefix_ + name);
  }

  Archive archive_;
  Names names_;
  std::string prefix_;
};

}  // namespace

std::shared_ptr<const Place> open_folder(const std::string &path) {
  return std::make_shared<const DiskFolder>(
      files::Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
}

std::shared_ptr<const Place> open_archive(Archive archive) {
  std::vector<std::string_view> names;
  for (const td::zip_file::Entry &entry : archive->reader().entries()) names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  auto shared = std::make_shared<const std::vector<std::string_view>>(std::move(names));
  return std::make_shared<const ArchiveFolder>(std::move(archive), std::move(shared), "");
}

Bytes content_of(const Archive &archive, const td::zip_file::Entry &entry) {
  if (entry.method == td::zip_file::method_stored)
    return {archive, archive->file()->data() + entry.offset};
  const auto room = std::make_shared<std::string>(archive->reader().text(entry, max_inflated));
  return {room, room->data()};
}

}  // namespace disk
