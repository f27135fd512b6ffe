// A folder on the disk, which holds files and folders of other dictionaries.
#include <fcntl.h>
#include <sys/stat.h>
#include <cerrno>

#include "light_meta.h"
#include "light_nodes.h"

namespace light {

namespace {

constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

class DiskFolder final : public Place {
 public:
  explicit DiskFolder(int number) : folder_(number) {}

  // A folder with counted rows has others than its meta.json says.
  std::string meta() const override {
    struct stat counted {};
    if (::fstatat(folder_.get(), ".%rows", &counted, AT_SYMLINK_NOFOLLOW) == 0) throw NotPlain();
    const File file(folder_.get(), "meta.json");
    if (file.bytes() > max_meta_bytes) throw NotPlain();
    return file.read(0, static_cast<std::size_t>(file.bytes()));
  }

  std::shared_ptr<const Place> inside(const std::string &name) const override {
    struct stat info {};
    if (::fstatat(folder_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT)
      return nullptr;
    return std::make_shared<const DiskFolder>(
        ::openat(folder_.get(), name.c_str(), folder_flags | O_NOFOLLOW));
  }

  bool holds(const std::string &name, std::uint64_t bytes) const override {
    struct stat info {};
    return ::fstatat(folder_.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(info.st_mode) && static_cast<std::uint64_t>(info.st_size) >= bytes;
  }

 private:
  Descriptor folder_;
};

}  // namespace

std::shared_ptr<const Place> open_folder(const std::string &path) {
  return std::make_shared<const DiskFolder>(::open(path.c_str(), folder_flags));
}

}  // namespace light
