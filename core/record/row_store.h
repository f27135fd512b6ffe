// core/record/row_store.h: the files of a folder that grows, and the memory of its writer: rows go from the memory to
// the files and are published. Belongs to one thread at a time.
#pragma once

#include "core/record/options.h"
#include "core/record/publisher.h"

#include <atomic>
#include <chrono>
#include <cstdlib>

namespace td::record {

// Memory for the rows of all leaves that are not in a file yet. Rows lie in it one after the other and go on
// from its beginning when they have reached its end.
class Ring {
 public:
  Ring(const Layout& folder, std::int64_t wanted_bytes);

  std::int64_t slots() const noexcept { return slots_; }
  char* leaf(std::size_t i) const noexcept { return leaves_[i]; }
  const char* row(const Layout& folder, std::size_t i, std::int64_t slot) const noexcept {
    return leaves_[i] + static_cast<std::size_t>(slot) * folder.leaves()[i].row_bytes;
  }
  // Fields that are not put are zeros.
  void clear(const Layout& folder, std::int64_t slot, std::int64_t rows) const noexcept;

 private:
  struct Free {
    void operator()(char* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<char, Free> memory_;
  std::vector<char*> leaves_;
  std::int64_t slots_ = 0;
};

class RowStore {
 public:
  // The folder is there and locked. Resumes after the rows that a writer before has left.
  RowStore(const std::string& dir, files::FolderLock lock, const Options& options);
  RowStore(const RowStore&) = delete;
  RowStore& operator=(const RowStore&) = delete;

  const Layout& folder() const noexcept { return folder_; }
  const Ring& ring() const noexcept { return ring_; }

  // Rows of the folder: when it was opened, and now in its files.
  std::int64_t opened_at() const noexcept { return opened_at_; }
  std::int64_t written() const noexcept { return written_.load(std::memory_order_acquire); }

  // Writes a piece of the rows before `end`; false if all of them are written. Row `opened_at()` is the first
  // of the ring. Both may be called again after a failure.
  bool write_some(std::int64_t end);
  void write(std::int64_t end) {
    while (write_some(end)) {
    }
  }
  // Publishes the rows before `end`, which are in the files. `whole`: also in the meta.json files, which
  // otherwise follow after options.meta_ms.
  void publish(std::int64_t end, bool whole);
  // Whether the options leave it to the writer when to publish.
  bool by_time() const noexcept { return by_time_; }

  // Ends the work: cuts the files to the published rows and unlocks the folder. If rows in the files are not
  // published, they stay for the next writer.
  void release();

  // Throws Code::invalid_argument in a child process of the one that opened it.
  void require_origin() const;
  bool is_here() const noexcept { return origin_.is_here(); }

 private:
  using Clock = std::chrono::steady_clock;
  void write_first(std::int64_t slot);
  void write_piece(std::int64_t slot, std::int64_t rows);
  void written_piece(std::int64_t slot, std::int64_t rows);
  bool must_store(std::int64_t end);

  files::Origin origin_;
  files::FolderLock lock_;
  Layout folder_;
  Publisher publisher_;
  Ring ring_;
  std::vector<files::Descriptor> files_;  // one for each leaf; closed: nothing was written yet
  bool durable_;
  bool by_time_;
  std::optional<std::chrono::milliseconds> meta_delay_;
  Clock::time_point meta_at_;  // when the meta.json files were written last
  std::int64_t opened_at_;
  std::atomic<std::int64_t> written_;
};

}  // namespace td::record
