// core/base/cancel.h: work that can be told to stop.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

namespace td {

// Asked for by any thread; what waits installs a hook that ends its wait.
class Cancel {
 public:
  void request() {
    const std::lock_guard<std::mutex> hold(mutex_);
    requested_ = true;
    if (hook_) hook_();
  }
  bool requested() const {
    const std::lock_guard<std::mutex> hold(mutex_);
    return requested_;
  }

  // Calls `stop` when somebody asks, at once when somebody has. After its end `stop` does not run any more.
  class Hook {
   public:
    Hook(Cancel* cancel, std::function<void()> stop) : cancel_(cancel) {
      if (cancel_ == nullptr) return;
      const std::lock_guard<std::mutex> hold(cancel_->mutex_);
      if (cancel_->requested_) stop();
      cancel_->hook_ = std::move(stop);
    }
    ~Hook() {
      if (cancel_ == nullptr) return;
      const std::lock_guard<std::mutex> hold(cancel_->mutex_);
      cancel_->hook_ = nullptr;
    }
    Hook(const Hook&) = delete;
    Hook& operator=(const Hook&) = delete;

   private:
    Cancel* cancel_;
  };

 private:
  mutable std::mutex mutex_;
  bool requested_ = false;
  std::function<void()> hook_;
};

}  // namespace td
