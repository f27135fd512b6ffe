#include "core/distributed/watcher.h"

#include "core/base/start_thread.h"

namespace td::distributed {

Patience patience(std::int64_t timeout_ms) {
  return {timeout_ms, Clock::now() + std::chrono::milliseconds(timeout_ms), nullptr};
}

Watcher::~Watcher() {
  {
    const std::lock_guard<std::mutex> hold(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void Watcher::run() {
  std::unique_lock<std::mutex> hold(mutex_);
  while (!ends_) {
    const Clock::time_point now = Clock::now();
    while (!limits_.empty() && limits_.begin()->first <= now) {
      Limit* const limit = limits_.begin()->second;
      limits_.erase(limits_.begin());
      limit->waits_ = false;
      limit->late_();
    }
    if (limits_.empty()) {
      sleeps_until_ = Clock::time_point::max();
      changed_.wait(hold);
    } else {
      sleeps_until_ = limits_.begin()->first;
      changed_.wait_until(hold, sleeps_until_);
    }
  }
}

Watcher::Limit::Limit(Watcher& watcher, Clock::time_point until, std::function<void()> late)
    : watcher_(watcher), late_(std::move(late)) {
  const std::lock_guard<std::mutex> hold(watcher_.mutex_);
  if (!watcher_.thread_.joinable()) {
    watcher_.thread_ = start_thread([owner = &watcher_] { owner->run(); });
  }
  place_ = watcher_.limits_.emplace(until, this);
  // Waking too early costs less than waking for each new deadline.
  if (until < watcher_.sleeps_until_) watcher_.changed_.notify_one();
}

Watcher::Limit::~Limit() {
  const std::lock_guard<std::mutex> hold(watcher_.mutex_);
  if (waits_) watcher_.limits_.erase(place_);
}

}  // namespace td::distributed
