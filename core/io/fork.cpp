#include "core/io/fork.h"

#include <pthread.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace td::files {

namespace {

std::atomic<unsigned> fork_count{0};

struct Shared {
  std::mutex mutex;
  std::vector<int> descriptors;
};

// Never destroyed: locks may be released at process exit.
Shared& shared() {
  static Shared& all = *new Shared;
  return all;
}

// fork() copies the mutex: hold it, so that no other thread does.
void before_fork() { shared().mutex.lock(); }
void in_parent() { shared().mutex.unlock(); }
void in_child() {
  Shared& all = shared();
  for (const int descriptor : all.descriptors) ::close(descriptor);
  all.descriptors.clear();
  fork_count.fetch_add(1, std::memory_order_relaxed);
  all.mutex.unlock();
}

// Called by the first lock or Origin. The library is never unloaded.
void watch_forks() {
  static const int registered = ::pthread_atfork(before_fork, in_parent, in_child);
  (void)registered;
}

}  // namespace

unsigned forks() noexcept {
  watch_forks();
  return fork_count.load(std::memory_order_relaxed);
}

void close_in_children(int descriptor) {
  watch_forks();
  const std::lock_guard<std::mutex> hold(shared().mutex);
  shared().descriptors.push_back(descriptor);
}

void forget_in_children(int descriptor) noexcept {
  const std::lock_guard<std::mutex> hold(shared().mutex);
  auto& all = shared().descriptors;
  all.erase(std::remove(all.begin(), all.end(), descriptor), all.end());
}

}  // namespace td::files
