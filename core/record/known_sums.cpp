#include "core/record/known_sums.h"

#include "core/record/row_sums.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <algorithm>
#include <mutex>
#include <utility>

namespace td::record {

namespace {

constexpr std::size_t most_folders = 8;
constexpr std::size_t most_leaves = 4096;  // of a folder, some 600 bytes each

struct FileState {
  dev_t device = 0;
  ino_t file = 0;
  off_t bytes = 0;
  timespec changed = {};
  bool operator==(const FileState& other) const noexcept {
    return device == other.device && file == other.file && bytes == other.bytes &&
           changed.tv_sec == other.changed.tv_sec && changed.tv_nsec == other.changed.tv_nsec;
  }
};

struct Kept {
  std::string dir, checksums;
  std::vector<std::pair<std::string, FileState>> files;
  std::deque<Hasher> sums;
};

struct Folders {
  std::mutex mutex;
  std::deque<Kept> kept;  // the last one first
  static Folders& get() {
    static auto* const one = new Folders;
    return *one;
  }
};

std::vector<std::pair<std::string, FileState>> files_of(const Layout& folder) {
  std::vector<std::pair<std::string, FileState>> result;
  for (const LayoutLeaf& leaf : folder.leaves()) {
    struct stat info {};
    if (::fstatat(folder.folder(), leaf.file.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) info = {};
    result.emplace_back(leaf.file, FileState{info.st_dev, info.st_ino, info.st_size, info.st_mtim});
  }
  return result;
}

}  // namespace

void keep_sums(const Layout& folder, std::deque<Hasher>&& sums) noexcept {
  if (sums.size() > most_leaves) return;
  try {
    Kept kept{folder.dir(), RowSums::stored(folder), files_of(folder), std::move(sums)};
    Folders& all = Folders::get();
    const std::lock_guard<std::mutex> lock(all.mutex);
    all.kept.push_front(std::move(kept));
    if (all.kept.size() > most_folders) all.kept.pop_back();
  } catch (...) {
    // The next append reads the files.
  }
}

std::optional<std::deque<Hasher>> take_kept_sums(const Layout& folder) {
  std::optional<Kept> found;
  {
    Folders& all = Folders::get();
    const std::lock_guard<std::mutex> lock(all.mutex);
    const auto at = std::find_if(all.kept.begin(), all.kept.end(),
                                 [&](const Kept& one) { return one.dir == folder.dir(); });
    if (at == all.kept.end()) return std::nullopt;
    found.emplace(std::move(*at));
    all.kept.erase(at);
  }
  if (found->checksums != RowSums::stored(folder) || found->files != files_of(folder))
    return std::nullopt;
  return std::move(found->sums);
}

}  // namespace td::record
