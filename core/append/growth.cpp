#include "core/append/growth.h"

#include <algorithm>

namespace td {

namespace {

constexpr std::int64_t parts = 8;  // of the window: a thread gets one as soon as it is full

}  // namespace

Growth::Growth(const std::string& dir, files::FolderLock lock, const AppendOptions& options)
    : store_(dir, std::move(lock), options), asked_(store_.opened_at()), base_(store_.opened_at()) {
  every_ = options.publish_rows;
  if (options.publish_bytes != 0) {
    std::size_t row_bytes = 0;
    for (const GrowLeaf& leaf : folder().leaves()) row_bytes += leaf.row_bytes;
    const auto bytes = static_cast<std::int64_t>(std::max<std::size_t>(row_bytes, 1));
    const std::int64_t rows = std::max<std::int64_t>(options.publish_bytes / bytes, 1);
    every_ = every_ == 0 ? rows : std::min(every_, rows);
  }
  if (options.background) thread_ = std::make_unique<GrowThread>(store_);
}

// A child process has no such thread, and perhaps a lock that nobody will open: it leaves them alone.
Growth::~Growth() {
  if (!store_.is_here()) static_cast<void>(thread_.release());
}

Growth::Window Growth::advance(std::int64_t row, Want want) {
  const std::int64_t end = base_ + row;
  const bool due = every_ != 0 && end - asked_ >= every_;
  if (want == Want::published || due) {
    const std::int64_t asked = std::exchange(asked_, end);
    try {
      bring(end, want);
    } catch (...) {
      if (!thread_) asked_ = asked;
      throw;
    }
  } else {
    bring(end, want);
  }
  const std::int64_t slots = store_.ring().slots();
  if (row == slots) {
    base_ += row;
    row = 0;
  }
  const std::int64_t free = slots - (end - store_.written());
  std::int64_t last = std::min(slots, row + free);
  if (every_ != 0) last = std::min(last, std::max(asked_ + every_ - base_, row + 1));
  if (thread_) last = std::min(last, row + std::max<std::int64_t>(slots / parts, 1));
  return {row, last};
}

void Growth::bring(std::int64_t end, Want want) {
  if (!thread_) {
    store_.write(end);
    if (asked_ == end) store_.publish(end, want == Want::published);
    return;
  }
  store_.require_origin();
  if (want == Want::published) return thread_->flush(end);
  thread_->hand_over(end, asked_);
  if (want == Want::room && end - store_.written() >= store_.ring().slots()) {
    thread_->wait_beyond(end - store_.ring().slots());
  }
}

void Growth::release() {
  if (thread_ && store_.is_here()) thread_->stop();
  store_.release();
}

}  // namespace td
