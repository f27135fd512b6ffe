// The files of a folder that grows, behind the memory of its writer: rows go from there to the files, and are
// published. Belongs to one thread at a time.
#pragma once

#include "core/append/grow.h"
#include "core/append/grow_publish.h"

#include <atomic>
#include <chrono>
#include <cstdlib>

namespace td {

// Memory for the rows of all leaves that are not in a file yet. Rows lie in it one after the other and go on
// from its beginning when they have reached its end.
class GrowRing {
 public:
  GrowRing(const GrowFolder& folder, std::int64_t wanted_bytes);

  std::int64_t slots() const noexcept { return slots_; }
  char* leaf(std::size_t i) const noexcept { return leaves_[i]; }
  // Fields that are not put are zeros.
  void clear(const GrowFolder& folder, std::int64_t slot, std::int64_t rows) const noexcept;

 private:
  struct Free {
    void operator()(char* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<char, Free> memory_;
  std::vector<char*> leaves_;
  std::int64_t slots_ = 0;
};

class GrowStore {
 public:
  // The folder is there and locked. Rows that a writer before has only counted get into the meta.json files.
  GrowStore(const std::string& dir, files::FolderLock lock, const AppendOptions& options);
  GrowStore(const GrowStore&) = delete;
  GrowStore& operator=(const GrowStore&) = delete;

  const GrowFolder& folder() const noexcept { return folder_; }
  const GrowRing& ring() const noexcept { return ring_; }

  // Rows of the folder: those that it had at first, that are in the files, that others can see. What is in
  // the files is no longer needed in memory.
  std::int64_t opened_at() const noexcept { return opened_at_; }
  std::int64_t written() const noexcept { return written_.load(std::memory_order_acquire); }
  std::int64_t published() const noexcept { return published_.load(std::memory_order_relaxed); }

  // Row `opened_at()` is the first of the ring. Both may be called again after a failure. False: nothing is
  // left before `end`.
  bool write_some(std::int64_t end);
  void write(std::int64_t end) {
    while (write_some(end)) {
    }
  }
  // The rows before `end`, which are in the files. `whole`: also in the meta.json files; they have their time
  // otherwise.
  void publish(std::int64_t end, bool whole);

  // When the meta.json files have to follow the rows that are only counted; nothing when there are none, or
  // nobody waits for them.
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> meta_due() const;

  // Nothing more comes: the files get their exact sizes, the folder is free. Rows that are not published
  // are lost.
  void release();

  // Throws Code::invalid_argument in a child process of the one that opened it.
  void require_origin() const;
  bool is_here() const noexcept { return origin_.is_here(); }

 private:
  void write_piece(std::int64_t slot, std::int64_t rows);

  files::Origin origin_;
  files::FolderLock lock_;
  GrowFolder folder_;
  Publisher publisher_;
  GrowRing ring_;
  std::vector<files::Descriptor> files_;  // one for each leaf; closed: nothing was written yet
  bool durable_;
  std::optional<std::chrono::milliseconds> meta_delay_;
  Clock::time_point meta_at_;  // when the meta.json files were written last
  std::int64_t opened_at_;
  std::atomic<std::int64_t> written_;
  std::atomic<std::int64_t> published_;
};

}  // namespace td
