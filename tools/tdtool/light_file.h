// Files as the light readers open them.
#ifndef TDTOOL_LIGHT_FILE_H
#define TDTOOL_LIGHT_FILE_H

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

namespace light {

// Something that is left to the library.
struct NotPlain : std::exception {};

class Descriptor {
 public:
  explicit Descriptor(int number);  // NotPlain when it is none
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor();
  int get() const noexcept { return number_; }

 private:
  int number_;
};

// A regular file in an open folder, or AT_FDCWD; no link.
class File {
 public:
  File(int folder, const std::string &name);
  int number() const noexcept { return descriptor_.get(); }
  std::uint64_t bytes() const noexcept { return bytes_; }
  // NotPlain where they reach beyond the end.
  std::string read(std::uint64_t at, std::size_t bytes) const;

 private:
  Descriptor descriptor_;
  std::uint64_t bytes_ = 0;
};

}  // namespace light

#endif
