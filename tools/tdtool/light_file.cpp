#include "light_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace light {

Descriptor::Descriptor(int number) : number_(number) {
  if (number_ < 0) throw NotPlain();
}

Descriptor::~Descriptor() { ::close(number_); }

File::File(int folder, const std::string &name)
    : descriptor_(::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {
  struct stat info {};
  if (::fstat(number(), &info) != 0 || !S_ISREG(info.st_mode)) throw NotPlain();
  bytes_ = static_cast<std::uint64_t>(info.st_size);
}

std::string File::read(std::uint64_t at, std::size_t bytes) const {
  if (at > bytes_ || bytes > bytes_ - at) throw NotPlain();
  std::string text(bytes, '\0');
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t count =
        ::pread(number(), &text[done], bytes - done, static_cast<off_t>(at + done));
    if (count <= 0) throw NotPlain();
    done += static_cast<std::size_t>(count);
  }
  return text;
}

}  // namespace light
