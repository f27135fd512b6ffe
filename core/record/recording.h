// core/record/recording.h: the buffer of a growing writer and its folder. The buffer is a window over the
// rows; it is written to files directly or by a thread.
#pragma once

#include "core/record/row_store.h"
#include "core/record/store_thread.h"

namespace td::record {

class Recording {
 public:
  // The folder exists and is locked.
  Recording(const std::string& dir, files::FolderLock lock, const Options& options);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // Lets a thread read the number of complete rows, if the options ask for a thread.
  void begin(const std::atomic<std::int64_t>& complete);

  const Layout& folder() const noexcept { return store_.folder(); }
  // A leaf's memory for the first row of the window.
  char* memory(std::size_t leaf) const noexcept { return store_.ring().leaf(leaf); }

  // The texts of an entry for the first row of the window; nullptr for entries without.
  std::string* texts(std::size_t node) noexcept { return store_.texts(node); }

  // The rows in the buffer, counted since the writer was opened.
  struct Window {
    std::int64_t first;
    std::int64_t end;
  };
  // The rows below `row` are complete. Publishes them as often as the options say.
  enum class Want {
    hand_over,  // nothing: the buffer may be full afterwards
    room,       // for one more row
    published,  // all rows are published to all readers
  };
  // May be called again after a failure.
  Window advance(std::int64_t row, Want want);

  // Cuts the files to their final size and releases the folder. Written but unpublished rows stay for the
  // next writer.
  void release();

 private:
  void bring(std::int64_t end, Want want);

  RowStore store_;
  bool background_;
  std::int64_t every_ = 0;  // rows between publications; 0: no limit
  std::int64_t asked_;      // rows of the folder that were or should be published
  std::int64_t first_ = 0;  // of the window
  std::unique_ptr<StoreThread> thread_;
};

}  // namespace td::record
