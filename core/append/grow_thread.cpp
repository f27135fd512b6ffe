#include "core/append/grow_thread.h"

#include "core/base/start_thread.h"

#include <utility>

namespace td {

GrowThread::GrowThread(GrowStore& store)
    : store_(store), end_(store.written()), publish_end_(store.written()) {
  thread_ = start_thread([this] { run(); });
}

GrowThread::~GrowThread() { stop(); }

void GrowThread::stop() noexcept {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> hold(mutex_);
    stop_ = true;
  }
  wanted_.notify_one();
  thread_.join();
}

std::uint64_t GrowThread::request(std::int64_t end) {
  end_ = end;
  wanted_.notify_one();
  return ++requests_;
}

void GrowThread::hand_over(std::int64_t end, std::int64_t publish_end) {
  const std::lock_guard<std::mutex> hold(mutex_);
  publish_end_ = publish_end;
  request(end);
}

void GrowThread::wait_beyond(std::int64_t rows) {
  std::unique_lock<std::mutex> hold(mutex_);
  const std::uint64_t mine = request(end_);
  changed_.wait(hold, [&] { return store_.written() > rows || answered_ >= mine; });
  if (store_.written() > rows) return;
  if (failure_) std::rethrow_exception(failure_);
}

void GrowThread::flush(std::int64_t end) {
  std::unique_lock<std::mutex> hold(mutex_);
  whole_ = true;
  publish_end_ = end;
  const std::uint64_t mine = request(end);
  changed_.wait(hold, [&] { return answered_ >= mine; });
  if (failure_) std::rethrow_exception(failure_);
}

void GrowThread::run() {
  std::unique_lock<std::mutex> hold(mutex_);
  const auto called = [this] { return stop_ || requests_ != answered_; };
  for (;;) {
    bool whole = false;
    if (const auto due = store_.meta_due()) {
      whole = !wanted_.wait_until(hold, *due, called);
    } else {
      wanted_.wait(hold, called);
    }
    if (stop_) return;
    whole = std::exchange(whole_, false) || whole;
    const std::uint64_t request = requests_;
    const std::int64_t end = end_;
    const std::int64_t publish_end = publish_end_;
    hold.unlock();
    std::exception_ptr failure;
    try {
      write(publish_end);
      store_.publish(publish_end, whole);
      write(end);
    } catch (...) {
      failure = std::current_exception();
    }
    hold.lock();
    failure_ = std::move(failure);
    answered_ = request;
    changed_.notify_all();
  }
}

// Whoever waits for room goes on as soon as there is some.
void GrowThread::write(std::int64_t end) {
  while (store_.write_some(end)) {
    const std::lock_guard<std::mutex> hold(mutex_);
    changed_.notify_all();
  }
}

}  // namespace td
