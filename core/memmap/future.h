// core/memmap/future.h: work on a thread of its own that gives a dictionary.
#pragma once

#include "core/base/cancel.h"
#include "core/base/progress.h"
#include "core/memmap/memmap.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace td {

// The thread belongs to the future: nothing runs on when it is gone. One that nobody frees is waited
// for when the process ends, before libtorch is taken down.
class Future {
 public:
  using Work = std::function<TensorDict(WorkCount& count)>;

  // The work begins at once, in the gradient mode and with the other settings of libtorch that the
  // calling thread has.
  // Work that can be cancelled is, before anybody waits for it only to free it.
  explicit Future(Work work, std::shared_ptr<Cancel> cancel = nullptr);
  ~Future();  // waits
  Future(const Future&) = delete;
  Future& operator=(const Future&) = delete;

  // Waits for up to so long, for as long as it takes when negative. Whether it is done.
  bool wait(std::chrono::milliseconds timeout) const;

  // Waits; the same dictionary each time, or what the work has thrown.
  TensorDict result() const;

  // Tells the work to end, and returns at once. Code::unsupported for work that cannot.
  void cancel() const;

  const WorkCount& count() const noexcept { return count_; }

 private:
  class AtExit;
  void join() noexcept;

  WorkCount count_;
  std::shared_ptr<Cancel> cancel_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool done_ = false;
  std::optional<TensorDict> result_;
  std::exception_ptr failure_;
  std::mutex join_;
  std::thread thread_;
};

// memmap() of the dictionary as it is now: entries that come, go or are replaced afterwards do not
// count. The tensors are kept alive and read while the work goes on; what is written into them
// meanwhile may be saved or not. What is counted are tensors.
std::unique_ptr<Future> memmap_start(
    const TensorDict& td, const std::string& dir, const MemmapOptions& options,
    const std::function<void(const std::function<void()>&)>& around);

}  // namespace td
