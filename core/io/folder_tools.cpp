#include "core/io/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <memory>

namespace td::files {

namespace {

std::vector<Item> list(Descriptor folder, const std::string& path) {
  if (!folder.is_open()) fail_io("cannot list", path, errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::fdopendir(folder.get()), &::closedir);
  if (!open) fail_io("cannot list", path, errno);
  folder.release();
  std::vector<Item> items;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(open.get());
    if (entry == nullptr) {
      if (errno != 0) fail_io("cannot list", path, errno);
      break;
    }
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    Found found = Found::other;
    switch (entry->d_type) {
      case DT_REG: found = Found::file; break;
      case DT_DIR: found = Found::folder; break;
      case DT_LNK: found = Found::link; break;
      case DT_UNKNOWN: {
        struct stat info {};
        if (::fstatat(::dirfd(open.get()), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0) {
          found = look_of(info).found;
        }
        break;
      }
      default: break;
    }
    items.push_back({std::string(name), found});
  }
  std::sort(items.begin(), items.end(),
            [](const Item& a, const Item& b) { return a.name < b.name; });
  return items;
}

}  // namespace

std::vector<Item> list(const std::string& folder) {
  return list(Descriptor(::open(folder.c_str(), folder_flags)), folder);
}

std::vector<Item> list(int folder, const std::string& path) {
  return list(open_beneath(folder, {}, folder_flags), path);  // with its own read position
}

void sync_folder(int folder, const std::string& path) {
  const Descriptor open = open_beneath(folder, {}, folder_flags);
  if (!open.is_open()) fail_io("cannot open", path, errno);
  sync(open.get(), path);
}

void sync_tree(int folder, const std::string& path) {
  std::vector<std::string> folders{{}};
  for (std::size_t i = 0; i < folders.size(); ++i) {
    const std::string at = folders[i];
    const Descriptor open = open_beneath(folder, at, folder_flags);
    if (!open.is_open()) fail_io("cannot open", join(path, at), errno);
    for (const Item& item : list(open.get(), join(path, at))) {
      if (item.found == Found::folder) {
        folders.push_back(at.empty() ? item.name : join(at, item.name));
      } else if (item.found == Found::file) {
        const std::string name = join(join(path, at), item.name);
        const Descriptor file =
            open_beneath(open.get(), item.name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (!file.is_open()) fail_io("cannot open", name, errno);
        sync(file.get(), name);
      }
    }
  }
  for (auto at = folders.rbegin(); at != folders.rend(); ++at) {
    const Descriptor open = open_beneath(folder, *at, folder_flags);
    if (!open.is_open()) fail_io("cannot open", join(path, *at), errno);
    sync(open.get(), join(path, *at));
  }
}

}  // namespace td::files
