// core/record/row_store.h: a growing folder's files and buffer: moves rows from the buffer to the files and
// publishes them. Used by one thread at a time.
#pragma once

#include "core/record/options.h"
#include "core/record/publisher.h"

#include <atomic>
#include <chrono>
#include <cstdlib>

namespace td::record {

// Entries with a text for each row, as nodes of the folder.
std::vector<std::size_t> text_nodes(const Layout& folder);

// A ring buffer of rows for each leaf and each entry of texts.
class Ring {
 public:
  Ring(const Layout& folder, std::int64_t wanted_bytes);

  std::int64_t slots() const noexcept { return slots_; }
  char* leaf(std::size_t i) const noexcept { return leaves_[i]; }
  const char* row(const Layout& folder, std::size_t i, std::int64_t slot) const noexcept {
    return leaves_[i] + static_cast<std::size_t>(slot) * folder.leaves()[i].row_bytes;
  }
  std::string* texts(std::size_t k) noexcept { return texts_[k].data(); }
  // Sets fields that were not put to zero, and texts to empty ones.
  void clear(const Layout& folder, std::int64_t slot, std::int64_t rows) noexcept;

 private:
  struct Free {
    void operator()(char* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<char, Free> memory_;
  std::vector<char*> leaves_;
  std::vector<std::vector<std::string>> texts_;
  std::int64_t slots_ = 0;
};

// Texts of rows that are not published yet, as JSON, each behind a comma.
struct NewTexts {
  std::size_t node;
  std::string json;
  std::vector<std::size_t> ends = {};  // of each row
};

class RowStore {
 public:
  // The folder exists and is locked. Resumes after rows that the last writer left.
  RowStore(const std::string& dir, files::FolderLock lock, const Options& options);
  RowStore(const RowStore&) = delete;
  RowStore& operator=(const RowStore&) = delete;

  const Layout& folder() const noexcept { return folder_; }
  const Ring& ring() const noexcept { return ring_; }
  // The texts of an entry in the ring; nullptr for entries without.
  std::string* texts(std::size_t node) noexcept;

  // Rows of the folder when it was opened, and rows now in its files.
  std::int64_t opened_at() const noexcept { return opened_at_; }
  std::int64_t written() const noexcept { return written_.load(std::memory_order_acquire); }

  // Writes a piece of the rows before `end`; false if all are written. Row `opened_at()` is the ring's first.
  // Both may be called again after a failure.
  bool write_some(std::int64_t end);
  void write(std::int64_t end) {
    while (write_some(end)) {
    }
  }
  // Publishes the written rows before `end`. `whole`: in the meta.json files, too; otherwise these follow
  // after options.meta_ms.
  void publish(std::int64_t end, bool whole);
  // Whether the writer chooses when to publish.
  bool by_time() const noexcept { return by_time_; }

  // Cuts the files to the published rows and unlocks the folder. Written but unpublished rows stay for the
  // next writer.
  void release();

  // Throws Code::invalid_argument in a child of the process that opened it.
  void require_origin() const;
  bool is_here() const noexcept { return origin_.is_here(); }

 private:
  using Clock = std::chrono::steady_clock;
  void write_first(std::int64_t slot);
  void write_piece(std::int64_t slot, std::int64_t rows);
  void written_piece(std::int64_t slot, std::int64_t rows);
  void take_texts(std::int64_t slot, std::int64_t rows);
  void list_texts(std::int64_t end);
  bool must_store(std::int64_t end);

  files::Origin origin_;
  files::FolderLock lock_;
  Layout folder_;
  Publisher publisher_;
  Ring ring_;
  std::vector<NewTexts> texts_;
  std::vector<files::Descriptor> files_;  // one for each leaf; closed until the first write
  bool durable_;
  bool by_time_;
  std::optional<std::chrono::milliseconds> meta_delay_;
  Clock::time_point meta_at_;  // last write of the meta.json files
  std::int64_t opened_at_;
  std::atomic<std::int64_t> written_;
};

}  // namespace td::record
