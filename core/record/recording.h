// core/record/recording.h: what a writer without capacity has beside its fields: memory for some rows, and the
// folder that they go to. The memory is a window on the rows; the files follow at once, or on a thread.
#pragma once

#include "core/record/row_store.h"
#include "core/record/store_thread.h"

namespace td::record {

class Recording {
 public:
  // The folder is there and locked.
  Recording(const std::string& dir, files::FolderLock lock, const Options& options);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  // From now on a thread may ask how many rows are complete, if the options want one.
  void begin(const std::atomic<std::int64_t>& complete);

  const Layout& folder() const noexcept { return store_.folder(); }
  // Memory of a leaf for the first row of the window.
  char* memory(std::size_t leaf) const noexcept { return store_.ring().leaf(leaf); }

  // Which rows the memory is for, of those since the writer was opened.
  struct Window {
    std::int64_t first;
    std::int64_t end;
  };
  // The rows below `row` are complete. They are published when as many have come together as the options
  // say.
  enum class Want {
    hand_over,  // nothing: there may be no room afterwards
    room,       // for one more row
    published,  // all rows are published for everybody
  };
  // May be called again after a failure.
  Window advance(std::int64_t row, Want want);

  // Nothing more comes: the files get their exact sizes, the folder is free. Rows that are in the files and
  // not published stay for the next writer.
  void release();

 private:
  void bring(std::int64_t end, Want want);

  RowStore store_;
  bool background_;
  std::int64_t every_ = 0;  // rows that are published together; 0: no limit
  std::int64_t asked_;      // rows of the folder that are to be published, or are
  std::int64_t first_ = 0;  // of the window
  std::unique_ptr<StoreThread> thread_;
};

}  // namespace td::record
