// core/record/store_thread.h: a thread that moves rows from a writer's buffer to the files and publishes
// them. The writer waits for it only if the buffer is full or on flush().
#pragma once

#include "core/record/row_store.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace td::record {

class StoreThread {
 public:
  // `complete`: rows since the store was opened. `together`: rows between publications; 0: any number.
  StoreThread(RowStore& store, const std::atomic<std::int64_t>& complete, std::int64_t together);
  ~StoreThread();
  StoreThread(const StoreThread&) = delete;
  StoreThread& operator=(const StoreThread&) = delete;

  // Asks to write complete rows now and publish those before `publish_end`. Never waits for a file. The
  // thread retries after a failure.
  void hand_over(std::int64_t publish_end);

  // Waits until more than `rows` rows are in the files. Rethrows the thread's failure.
  void wait_beyond(std::int64_t rows);

  // Waits until the rows before `end` are published to all readers. Rethrows the thread's failure.
  void flush(std::int64_t end);

  // Waits only for the step in progress.
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
  std::uint64_t requests_ = 0;    // requests made
  std::uint64_t answered_ = 0;    // requests handled
  std::int64_t publish_end_ = 0;  // end of the rows to be published
  bool whole_ = false;            // publishes in the meta.json files, which all readers see
  bool stop_ = false;
  std::exception_ptr failure_;  // of the last attempt
  std::thread thread_;
};

}  // namespace td::record
