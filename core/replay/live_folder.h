// core/replay/live_folder.h: a replay folder that several processes have open.
#pragma once

#include "core/io/file_io.h"
#include "core/replay/ring.h"

#include <sys/stat.h>

#include <optional>
#include <string>

namespace td {

// A small file beside the rows holds the ring's counts. A writer locks it exclusively while it writes rows,
// JSON files or the sampler's files; readers lock it shared. The system releases the lock of a process that
// dies. Its unfinished rows are marked: the gap is recorded before the first byte of a row, and cleared
// together with the new cursor. Each process also holds a shared lock on the folder, so that it is not
// replaced.
class LiveFolder {
 public:
  static constexpr const char* file_name = "live.bin";

  enum class Use {
    read,   // never writes; without the file it does not lock
    share,  // creates the file if it is missing
  };

  // The initial content of the file.
  static std::string text(const RingCounts& counts);

  // Opens an absolute folder; reads and writes nothing yet. Throws Code::busy while another process replaces
  // the folder, Code::io, and Code::unsupported if files cannot be locked.
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

  // All need the lock; all but is_removed() and read() need it exclusively, except with Use::read.

  // Whether the opening that made the file has failed and removed it: this object is of no use then.
  bool is_removed() const;

  // Whether the file has no content yet.
  bool is_new() const;

  // Removes the file, which was new under this lock: no other process uses it.
  void remove() noexcept;

  // The ring's counts. `stored` comes from the JSON files; it counts if the file is new, or if another
  // program has written the JSON files since, and is then recorded in a shared file. Throws Code::format.
  RingCounts begin(const RingCounts& stored);

  RingCounts read() const;
  void write(const RingCounts& counts);

  // The counts at the last save, if it was cut off: the sampler's files may then be of different saves.
  std::optional<RingCounts> cut_off_save() const;

  // Called before and after writing JSON files with `counts`. If the writer dies between them, old and new
  // JSON files are both recognised as ours. `stored`: what they say now, needed after a save that was cut off.
  void begin_save(const RingCounts& counts, const std::optional<RingCounts>& stored);
  void end_save();

 private:
  struct Mark {  // identifies a version of the JSON files
    std::int64_t cursor = 0, written = 0;
    bool operator==(const Mark& other) const noexcept {
      return cursor == other.cursor && written == other.written;
    }
  };
  struct Content;
  static Mark mark_of(const RingCounts& counts) noexcept { return {counts.cursor, counts.written}; }
  struct stat status() const;
  Content content() const;
  void put(const Content& content);

  std::string folder_, path_;
  Use use_;
  files::Descriptor directory_, file_;
};

}  // namespace td
