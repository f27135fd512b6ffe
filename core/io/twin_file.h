// core/io/twin_file.h: a file that changes in steps. Other programs see each step whole or not at all, also after a
// kill. Changes go to a second file beside it; then both exchange their names, and the same changes go to the
// other one. So a step costs what changes, whatever the size of the file.
#pragma once

#include "core/io/unfinished.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace td::files {

// What becomes of a file: bytes behind its former end, and pieces in it.
struct FileChanges {
  std::uint64_t from = 0;  // its size before
  std::uint64_t end = 0;   // and after
  std::vector<char> tail;  // bytes at `from`
  std::map<std::uint64_t, std::string> pieces;

  void write_to(int file, const std::string& path) const;
};

// A program that holds a lock on the file, as HDF5 does while it reads, keeps what it has opened: then a new second file
// is made. One writer at a time. After a failure the changes that were not published are gone.
class TwinFile {
 public:
  // `target` is absolute. `there`: goes on with the file of this name; otherwise it begins empty, and replaces a file at
  // the first publish(). `in_new`: its folder is itself being built.
  TwinFile(std::string target, bool there, bool in_new = false);

  bool is_empty() const noexcept { return !aside_ && !published_.is_open(); }
  int file();  // open for reading, with all changes

  // Not seen by others.
  void write(const FileChanges& changes);
  // Calls `then` when the file is in place, and takes it back if that throws. `goes_on`: more steps will come. Code::busy if
  // another file has taken the name meanwhile.
  void publish(
      bool durable, bool goes_on, const std::function<void()>& then = [] {});
  // Forgets changes that were not published.
  void drop() noexcept;

 private:
  void make_aside();
  void require_own() const;
  // Takes the lock of the second file until publish(); false if another program has it.
  bool lock() const noexcept;

  std::string target_;
  bool in_new_;
  Descriptor published_;
  std::optional<Aside> aside_;
  Descriptor hidden_;  // in aside_
  std::vector<FileChanges> unpublished_;
};

}  // namespace td::files
