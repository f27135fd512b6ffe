#include "light_zip.h"

#include "light_meta.h"

namespace light {

Archive::Archive(std::unique_ptr<const File> file) : file_(std::move(file)) {
  if (!zip_open(&zip_, file_->number())) throw NotPlain();
  try {
    if (size() > max_lines || !zip_check(&zip_)) throw NotPlain();
    std::size_t letters = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      const std::string name = entry(i).name;
      names_[name] = i;
      for (std::size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1)) {
        letters += at;  // names of many folders would take the square of their length
        if (letters > max_meta_bytes) throw NotPlain();
        names_.emplace(name.substr(0, at), size());
      }
    }
  } catch (...) {
    zip_close(&zip_);
    throw;
  }
}

Archive::~Archive() { zip_close(&zip_); }

const zip_entry *Archive::find(const std::string &name) const noexcept {
  const auto found = names_.find(name);
  return found == names_.end() || found->second == size() ? nullptr : &entry(found->second);
}

bool Archive::holds_folder(const std::string &name) const noexcept {
  return names_.count(name) != 0;
}

std::string Archive::head(const zip_entry &entry, std::size_t bytes) const {
  std::string text(bytes < entry.bytes ? bytes : static_cast<std::size_t>(entry.bytes), '\0');
  if (!zip_head(&zip_, &entry, &text[0], text.size())) throw NotPlain();
  return text;
}

std::string Archive::text(const zip_entry &entry, std::size_t most) const {
  if (entry.bytes > most) throw NotPlain();
  std::string text(static_cast<std::size_t>(entry.bytes), '\0');
  if (!zip_whole(&zip_, &entry, &text[0])) throw NotPlain();
  return text;
}

void Archive::require_whole(const zip_entry &entry) const {
  if (!zip_whole(&zip_, &entry, nullptr)) throw NotPlain();
}

namespace {

class ArchiveFolder final : public Place {
 public:
  ArchiveFolder(std::shared_ptr<const Archive> archive, std::string prefix)
      : archive_(std::move(archive)), prefix_(std::move(prefix)) {}

  std::string meta() const override {
    const zip_entry *found = archive_->find(prefix_ + "meta.json");
    if (found == nullptr || archive_->holds_folder(prefix_ + ".%rows")) throw NotPlain();
    return archive_->text(*found, max_meta_bytes);
  }

  std::shared_ptr<const Place> inside(const std::string &name) const override {
    if (!archive_->holds_folder(prefix_ + name)) return nullptr;
    if (archive_->find(prefix_ + name) != nullptr) throw NotPlain();  // a file
    return std::make_shared<const ArchiveFolder>(archive_, prefix_ + name + '/');
  }

  bool holds(const std::string &name, std::uint64_t bytes) const override {
    const zip_entry *found = archive_->find(prefix_ + name);
    return found != nullptr && found->bytes >= bytes;
  }

 private:
  std::shared_ptr<const Archive> archive_;
  std::string prefix_;
};

}  // namespace

std::shared_ptr<const Place> open_archive(std::shared_ptr<const Archive> archive) {
  return std::make_shared<const ArchiveFolder>(std::move(archive), "");
}

}  // namespace light
