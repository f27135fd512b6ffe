// core/memmap/future.h: work on a separate thread that returns a dictionary.
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

// Owns the thread and waits for it when destroyed. Futures that are never freed are waited for at process
// exit, before libtorch shuts down.
class Future {
 public:
  using Work = std::function<TensorDict(WorkCount& count)>;

  // Starts the work with the calling thread's gradient mode and other libtorch settings. The destructor
  // cancels it if it can be cancelled.
  explicit Future(Work work, std::shared_ptr<Cancel> cancel = nullptr);
  ~Future();  // waits
  Future(const Future&) = delete;
  Future& operator=(const Future&) = delete;

  // Waits up to `timeout`; negative: without a limit. Returns whether it is done.
  bool wait(std::chrono::milliseconds timeout) const;

  // Waits. Returns the same dictionary each time, or rethrows the work's error.
  TensorDict result() const;

  // Asks the work to stop, without waiting. Code::unsupported if it cannot be cancelled.
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

// memmap() of a snapshot: later changes to the entries have no effect. Tensors are kept alive and read during
// the work; values written to them meanwhile may or may not be saved. Progress counts tensors.
std::unique_ptr<Future> memmap_start(
    const TensorDict& td, const std::string& dir, const MemmapOptions& options,
    const std::function<void(const std::function<void()>&)>& around);

}  // namespace td
