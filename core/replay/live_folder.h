// core/replay/live_folder.h: a replay folder that several processes have open at once.
#pragma once

#include "core/io/file_io.h"
#include "core/replay/ring.h"

#include <optional>
#include <string>

namespace td {

// Where the ring stands is in a small file beside the rows, which is read and written under its lock. A writer has
// the lock alone while it writes rows; readers share it while they copy rows. The system takes the lock
// from a process that dies. What it was writing then is marked: the gap is written before the first byte of
// a row, and closed together with the new cursor.
//
// The folder itself is locked, too, shared by all who have it open: nobody replaces it meanwhile.
class LiveFolder {
 public:
  static constexpr const char* file_name = "live.bin";

  // The text of a new file.
  static std::string text(const RingCounts& counts);

  // `folder` is absolute. `stored`: what the JSON files of the folder say; it holds when there is no file
  // yet, and when another program has written the JSON files since. Throws Code::busy while somebody
  // replaces the folder, Code::io, Code::format, Code::unsupported where files cannot be locked.
  LiveFolder(std::string folder, const RingCounts& stored);

  // What the file of a folder says, as far as it holds; nothing when it does not, or there is none.
  static std::optional<RingCounts> glance(const std::string& folder, const RingCounts& stored);

  const std::string& folder() const noexcept { return folder_; }
  int directory() const noexcept { return directory_.get(); }  // that one, open

  // Holds the lock.
  class Hold {
   public:
    Hold(const LiveFolder& live, bool alone);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    int file_;
  };

  // Under the lock.
  RingCounts read() const;
  void write(const RingCounts& counts);

  // Says that the JSON files say so, too.
  void note_stored(const RingCounts& counts);

 private:
  struct Content;
  static Content content_of(int file, const std::string& path);
  Content content() const;
  void put(const Content& content);

  std::string folder_, path_;
  files::Descriptor directory_, file_;
};

}  // namespace td
