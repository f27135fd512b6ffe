// core/replay/live_folder.h: a replay folder that several processes have open at once.
#pragma once

#include "core/io/file_io.h"
#include "core/replay/ring.h"

#include <string>

namespace td {

// Where the ring stands is in a small file beside the rows. A writer holds its lock alone while it writes rows,
// the JSON files or those of the sampler; readers share the lock while they read any of them. The system takes
// the lock from a process that dies. What that process was writing is marked: the gap is written before the
// first byte of a row, and closed together with the new cursor.
//
// Everybody who shares the folder also holds a shared lock on the folder itself: nobody replaces it meanwhile.
class LiveFolder {
 public:
  static constexpr const char* file_name = "live.bin";

  enum class Use {
    read,   // writes nothing; a folder without the file is read without a lock
    share,  // makes the file if it is missing
  };

  // The text of a new file.
  static std::string text(const RingCounts& counts);

  // Opens an absolute folder, and reads and writes nothing. Throws Code::busy while somebody replaces the
  // folder, Code::io, and Code::unsupported where files cannot be locked.
  LiveFolder(std::string folder, Use use);

  const std::string& folder() const noexcept { return folder_; }
  int directory() const noexcept { return directory_.get(); }  // the open folder

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

  // All of these need the lock; all but read() need it alone, unless the use is to read.

  // Where the ring stands. `stored` is what the JSON files say; it holds when the file is new, and when another
  // program has written the JSON files since. A shared file takes it over then. Throws Code::format.
  RingCounts begin(const RingCounts& stored);

  RingCounts read() const;
  void write(const RingCounts& counts);

  // Around the writing of JSON files that say `counts`. A writer that dies between the two leaves old or new
  // JSON files, and both are known to be ours.
  void begin_save(const RingCounts& counts);
  void end_save();

 private:
  struct Mark {  // tells one version of the JSON files from another
    std::int64_t cursor = 0, written = 0;
    bool operator==(const Mark& other) const noexcept {
      return cursor == other.cursor && written == other.written;
    }
  };
  struct Content;
  static Mark mark_of(const RingCounts& counts) noexcept { return {counts.cursor, counts.written}; }
  bool is_new() const;
  Content content() const;
  void put(const Content& content);

  std::string folder_, path_;
  Use use_;
  files::Descriptor directory_, file_;
};

}  // namespace td
