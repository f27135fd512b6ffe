#include "core/memmap/future.h"

#include "core/base/start_thread.h"
#include "core/io/file_io.h"
#include "core/tree/kinds.h"

#include <ATen/ThreadLocalState.h>

#include <chrono>
#include <unordered_set>

namespace td {

// Waits at process exit for futures that still have a thread: before libtorch is destroyed, since libtorch
// was loaded first. The list is never destroyed, for futures freed even later.
class Future::AtExit {
 public:
  static AtExit& instance() {
    static auto* const list = new AtExit;
    struct Waiter {
      ~Waiter() { list->wait_for_all(); }
    };
    static const Waiter waiter;
    return *list;
  }
  void wait_for_all() noexcept {
    for (;;) {
      Future* next = nullptr;
      {
        const std::lock_guard<std::mutex> hold(mutex_);
        if (futures_.empty()) return;
        next = *futures_.begin();
        futures_.erase(futures_.begin());
      }
      next->join();
    }
  }
  void add(Future* future) {
    const std::lock_guard<std::mutex> hold(mutex_);
    futures_.insert(future);
  }
  void remove(Future* future) noexcept {
    const std::lock_guard<std::mutex> hold(mutex_);
    futures_.erase(future);
  }

 private:
  std::mutex mutex_;
  std::unordered_set<Future*> futures_;
};

Future::Future(Work work, std::shared_ptr<Cancel> cancel) : cancel_(std::move(cancel)) {
  AtExit::instance().add(this);
  try {
    thread_ =
        start_thread([this, work = std::move(work), state = at::ThreadLocalState()]() mutable {
          std::optional<TensorDict> result;
          std::exception_ptr failure;
          try {
            const at::ThreadLocalStateGuard guard(state);
            result = work(count_);
          } catch (...) {
            failure = std::current_exception();
          }
          work = nullptr;  // release what it kept alive before signalling the end
          const std::lock_guard<std::mutex> hold(mutex_);
          result_ = std::move(result);
          failure_ = std::move(failure);
          done_ = true;
          changed_.notify_all();
        });
  } catch (...) {
    AtExit::instance().remove(this);
    throw;
  }
}

Future::~Future() {
  AtExit::instance().remove(this);
  join();
}

void Future::join() noexcept {
  const std::lock_guard<std::mutex> hold(join_);
  if (cancel_) cancel_->request();
  if (thread_.joinable()) thread_.join();
}

bool Future::wait(std::chrono::milliseconds timeout) const {
  std::unique_lock<std::mutex> hold(mutex_);
  const auto done = [this] { return done_; };
  constexpr std::chrono::hours longest(24 * 365 * 30);  // longer waits would overflow the clock
  if (timeout.count() < 0 || timeout > longest) {
    changed_.wait(hold, done);
    return true;
  }
  return changed_.wait_for(hold, timeout, done);
}

void Future::cancel() const {
  if (!cancel_) fail(Code::unsupported, "this work cannot be cancelled");
  cancel_->request();
}

TensorDict Future::result() const {
  wait(std::chrono::milliseconds(-1));
  if (failure_) std::rethrow_exception(failure_);
  return *result_;
}

std::unique_ptr<Future> memmap_start(
    const TensorDict& td, const std::string& dir, const MemmapOptions& options,
    const std::function<void(const std::function<void()>&)>& around) {
  const NodePtr& node = td.node();
  const TensorDict now = TensorDict(part_form(node)).clone(/*recurse=*/false);
  const std::string target = dir.empty() ? td.saved_path() : files::absolute(dir);
  return std::make_unique<Future>([now, target, options, around](WorkCount& count) {
    std::optional<TensorDict> result;
    MemmapOptions counted = options;
    counted.count = &count;
    around([&] { result = memmap(now, target, counted); });
    return *result;
  });
}

}  // namespace td
