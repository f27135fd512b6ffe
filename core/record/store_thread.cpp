#include "core/record/store_thread.h"

#include "core/base/start_thread.h"

#include <algorithm>
#include <utility>

namespace td::record {

namespace {

// Publishing takes some microseconds of this thread: about a thousandth of the period.
constexpr std::chrono::milliseconds period(10);

}  // namespace

StoreThread::StoreThread(RowStore& store, const std::atomic<std::int64_t>& complete,
                         std::int64_t together)
    : store_(store), complete_(complete), together_(together), publish_end_(store.written()) {
  thread_ = start_thread([this] { run(); });
}

StoreThread::~StoreThread() { stop(); }

void StoreThread::stop() noexcept {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> hold(mutex_);
    stop_ = true;
  }
  wanted_.notify_one();
  thread_.join();
}

std::uint64_t StoreThread::request() {
  wanted_.notify_one();
  return ++requests_;
}

void StoreThread::hand_over(std::int64_t publish_end) {
  const std::lock_guard<std::mutex> hold(mutex_);
  publish_end_ = publish_end;
  request();
}

void StoreThread::wait_beyond(std::int64_t rows) {
  std::unique_lock<std::mutex> hold(mutex_);
  const std::uint64_t mine = request();
  changed_.wait(hold, [&] { return store_.written() > rows || answered_ >= mine; });
  if (store_.written() > rows) return;
  if (failure_) std::rethrow_exception(failure_);
}

void StoreThread::flush(std::int64_t end) {
  std::unique_lock<std::mutex> hold(mutex_);
  whole_ = true;
  publish_end_ = end;
  const std::uint64_t mine = request();
  changed_.wait(hold, [&] { return answered_ >= mine; });
  if (failure_) std::rethrow_exception(failure_);
}

// Also wakes periodically, so that slow rows are not held back.
void StoreThread::run() {
  std::unique_lock<std::mutex> hold(mutex_);
  for (;;) {
    wanted_.wait_for(hold, period, [this] { return stop_ || requests_ != answered_; });
    if (stop_) return;
    const bool whole = std::exchange(whole_, false);
    const std::uint64_t request = requests_;
    const std::int64_t publish_end = publish_end_;
    hold.unlock();
    std::exception_ptr failure;
    try {
      bring(publish_end, whole);
    } catch (...) {
      failure = std::current_exception();
    }
    hold.lock();
    failure_ = std::move(failure);
    answered_ = request;
    changed_.notify_all();
  }
}

void StoreThread::bring(std::int64_t publish_end, bool whole) {
  write(publish_end);
  store_.publish(publish_end, whole);
  std::int64_t end = store_.opened_at() + complete_.load(std::memory_order_acquire);
  // Checksums cover written rows: write no more than the next publication needs.
  if (together_ != 0) end = std::min(end, publish_end + together_);
  write(end);
  if (store_.by_time()) store_.publish(end, false);
}

// After each piece, wake the writer if it waits for room.
void StoreThread::write(std::int64_t end) {
  while (store_.write_some(end)) {
    const std::lock_guard<std::mutex> hold(mutex_);
    changed_.notify_all();
  }
}

}  // namespace td::record
