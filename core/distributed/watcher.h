// core/distributed/watcher.h: timeouts for blocking calls that lack one.
#pragma once

#include "core/base/cancel.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace td::distributed {

using Clock = std::chrono::steady_clock;

// How long a call may wait, and who may cancel it.
struct Patience {
  std::int64_t timeout_ms = 0;
  Clock::time_point until;
  Cancel* cancel = nullptr;
};
Patience patience(std::int64_t timeout_ms);

// One thread that calls functions at their deadlines. It sleeps while there are no deadlines.
class Watcher {
 public:
  Watcher() = default;
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // Calls `late` at a deadline, unless destroyed before it. `late` never runs after the destructor.
  class Limit {
   public:
    Limit(Watcher& watcher, Clock::time_point until, std::function<void()> late);
    ~Limit();
    Limit(const Limit&) = delete;
    Limit& operator=(const Limit&) = delete;

   private:
    Watcher& watcher_;
    std::function<void()> late_;
    std::multimap<Clock::time_point, Limit*>::iterator place_;
    bool waits_ = true;
    friend class Watcher;
  };

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<Clock::time_point, Limit*> limits_;
  Clock::time_point sleeps_until_ = Clock::time_point::max();
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace td::distributed
