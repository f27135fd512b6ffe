// core/record/store_thread.h: a thread that brings rows from the memory of a writer to the files, and publishes them. The one who writes
// rows waits for it only when the memory is full, or when asked to.
#pragma once

#include "core/record/row_store.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace td::record {

class StoreThread {
 public:
  // `complete`: rows since the store was opened. `together`: rows that are published together; 0: any.
  StoreThread(RowStore& store, const std::atomic<std::int64_t>& complete, std::int64_t together);
  ~StoreThread();
  StoreThread(const StoreThread&) = delete;
  StoreThread& operator=(const StoreThread&) = delete;

  // Rows before `publish_end` are to be published, and complete ones to be written now. Never waits for a
  // file. After a failure the thread tries again.
  void hand_over(std::int64_t publish_end);

  // Waits until more rows than so many are in the files. Throws what the thread has failed with.
  void wait_beyond(std::int64_t rows);

  // The same, until the rows before `end` are published for everybody.
  void flush(std::int64_t end);

  // Waits for what it is doing, and for nothing else.
  void stop() noexcept;

 private:
  void run();
  void bring(std::int64_t publish_end, bool whole);
  void write(std::int64_t end);
  std::uint64_t request();

  RowStore& store_;
  const std::atomic<std::int64_t>& complete_;
  std::int64_t together_;
  std::mutex mutex_;
  std::condition_variable wanted_, changed_;
  std::uint64_t requests_ = 0;    // so many have been made
  std::uint64_t answered_ = 0;    // so many of them have been looked after
  std::int64_t publish_end_ = 0;  // of those to be published
  bool whole_ = false;            // for everybody
  bool stop_ = false;
  std::exception_ptr failure_;  // of the last try
  std::thread thread_;
};

}  // namespace td::record
