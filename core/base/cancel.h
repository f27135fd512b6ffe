// core/base/cancel.h: cancels work.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

namespace td {

// Any thread may request it. Blocking calls install a hook that ends their wait.
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

  // Calls `stop` on request, or at once if it was requested before. `stop` never runs after the destructor.
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
