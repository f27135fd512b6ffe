#include "core/io/folder_support.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <memory>

namespace td::files {

std::vector<Item> list(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), &::closedir);
  if (!open) fail_io("cannot list", folder, errno);
  std::vector<Item> items;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(open.get());
    if (entry == nullptr) {
      if (errno != 0) fail_io("cannot list", folder, errno);
      break;
    }
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    Found found = Found::other;
    switch (entry->d_type) {
      case DT_REG: found = Found::file; break;
      case DT_DIR: found = Found::folder; break;
      case DT_LNK: found = Found::link; break;
      case DT_UNKNOWN: found = look(join(folder, name)).found; break;
      default: break;
    }
    items.push_back({std::string(name), found});
  }
  std::sort(items.begin(), items.end(),
            [](const Item& a, const Item& b) { return a.name < b.name; });
  return items;
}

bool is_unfinished(std::string_view name) noexcept {
  if (name.empty() || name.front() != '.') return false;
  const std::size_t at = name.rfind(unfinished);
  if (at == std::string_view::npos) return false;
  std::string_view rest = name.substr(at + unfinished.size());
  if (rest.substr(0, 4) == "save") return rest.size() == 4 || rest[4] == '-';
  return at == 0 && !rest.empty() && rest.find_first_not_of("0123456789-") == std::string::npos;
}

void sync(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) fail_io("cannot open", path, errno);
  sync(file.get(), path);
}

void sync(int file, const std::string& path) {
  while (::fsync(file) != 0) {
    if (errno == EINTR) continue;
    if (errno == EINVAL || errno == ENOTSUP || errno == EROFS) return;
    fail_io("cannot write back", path, errno);
  }
}

void sync_tree(const std::string& path) {
  std::vector<std::string> folders{path};
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const std::string at = folders[i];
    for (const Item& item : list(at)) {
      if (item.found == Found::folder) folders.push_back(join(at, item.name));
      if (item.found == Found::file) sync(join(at, item.name));
    }
  }
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) sync(*folder);
}

}  // namespace td::files
