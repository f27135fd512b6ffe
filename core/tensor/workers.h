// core/tensor/workers.h: threads that prepare results for a caller, with the caller's settings of libtorch.
#pragma once

#include "core/base/recursion_guard.h"

#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#if AT_PARALLEL_OPENMP && defined(_OPENMP)
#include <omp.h>
#endif

namespace td {

// Sets libtorch's number of threads for this thread only. at::set_num_threads() would set it for the process.
inline void limit_threads(int threads) {
#if AT_PARALLEL_OPENMP && defined(_OPENMP)
  // A thread's first operation resets the number to the process's, once in libtorch and once in the loops
  // compiled into this library: trigger both first.
  at::get_num_threads();
  at::internal::lazy_init_num_threads();
  omp_set_num_threads(std::max(threads, 1));
#else
  (void)threads;
#endif
}

// Work on small tensors, for which libtorch's threads are not worth their start. They also wait busily for more, and are missing
// in a child of a process that has used them.
class OneThread {
 public:
  OneThread() : before_(at::get_num_threads()) { limit_threads(1); }
  ~OneThread() { limit_threads(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

// Shared by its owner and its threads: it outlives a callback that frees the owner.
class Workers : public std::enable_shared_from_this<Workers> {
 public:
  using Around = std::function<void(const std::function<void()>&)>;

  // `around` wraps all work of each thread; `torch_threads` are libtorch's for one of them.
  Workers(Around around, int torch_threads)
      : around_(std::move(around)),
        torch_threads_(torch_threads),
        outer_(working_for_ == nullptr ? nullptr : working_for_->shared_from_this()) {}
  virtual ~Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void start(std::size_t wanted) {
    if (!depth_.allows_workers()) return;
    threads_.reserve(wanted);
    const at::ThreadLocalState state;
    try {
      while (threads_.size() < wanted) {
        const int number = static_cast<int>(threads_.size());
        threads_.emplace_back(
            [self = shared_from_this(), state, number] { self->run_worker(state, number); });
      }
    } catch (...) {
      // No more threads are available: the running ones, or the caller, do the work.
    }
  }

  // Waits for the work in progress, unless that makes the call.
  void stop() {
    {
      const std::lock_guard<std::mutex> hold(mutex_);
      if (stopped_) return;
      stopped_ = true;
    }
    room_.notify_all();
    ready_.notify_all();
    const bool mine = is_mine();
    for (std::thread& thread : threads_) {
      if (mine) {
        thread.detach();  // this is the worker itself
      } else {
        thread.join();
      }
    }
  }

 protected:
  // A call by the user: from one thread at a time, and not from a callback of these workers.
  class Call {
   public:
    Call(Workers& workers, const char* from_callback, const char* in_use) : flag_(workers.in_use_) {
      if (workers.is_mine()) fail(Code::invalid_argument, from_callback);
      if (flag_.exchange(true)) fail(Code::invalid_argument, in_use);
    }
    ~Call() { flag_ = false; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    std::atomic<bool>& flag_;
  };

  // All work of one thread, until `stopped_`.
  virtual void work(int worker) = 0;
  // Called with what ends a thread early.
  virtual void note_end(const std::exception_ptr& failure) noexcept = 0;

  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable room_, ready_;
  bool stopped_ = false;

 private:
  // Whether this thread works here, directly or through workers that its work uses.
  bool is_mine() const noexcept {
    for (const Workers* at = working_for_; at != nullptr; at = at->outer_.get()) {
      if (at == this) return true;
    }
    return false;
  }

  void run_worker(const at::ThreadLocalState& state, int worker) noexcept {
    working_for_ = this;
    depth_.begin_there();
    try {
      const at::ThreadLocalStateGuard guard(state);
      limit_threads(torch_threads_);
      const auto body = [&] { work(worker); };
      around_ ? around_(body) : body();
    } catch (...) {
      note_end(std::current_exception());
    }
    working_for_ = nullptr;
  }

  static inline thread_local Workers* working_for_ = nullptr;

  const Around around_;
  const int torch_threads_;
  const std::shared_ptr<Workers> outer_;  // those among whose work these were made
  const RecursionDepth depth_;
  std::atomic<bool> in_use_{false};
};

}  // namespace td
