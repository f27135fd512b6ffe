#include "core/record/recording.h"

#include <algorithm>

namespace td::record {

namespace {

constexpr std::int64_t parts = 8;             // of the window: wakes the thread when one is full
constexpr std::int64_t rows_together = 1000;  // published at once, without a thread

}  // namespace

Recording::Recording(const std::string& dir, files::FolderLock lock, const Options& options)
    : store_(dir, std::move(lock), options),
      background_(options.background),
      asked_(store_.opened_at()) {
  every_ = std::max<std::int64_t>(options.publish_rows, 0);
  if (options.publish_bytes != 0) {
    std::size_t row_bytes = 0;
    for (const LayoutLeaf& leaf : folder().leaves()) row_bytes += leaf.row_bytes;
    const auto bytes = static_cast<std::int64_t>(std::max<std::size_t>(row_bytes, 1));
    const std::int64_t rows = std::max<std::int64_t>(options.publish_bytes / bytes, 1);
    every_ = every_ == 0 ? rows : std::min(every_, rows);
  }
  if (store_.by_time() && !background_) every_ = rows_together;
}

// A child process lacks the thread and may have inherited a locked mutex: leak both.
Recording::~Recording() {
  if (!store_.is_here()) static_cast<void>(thread_.release());
}

void Recording::begin(const std::atomic<std::int64_t>& complete) {
  if (background_) thread_ = std::make_unique<StoreThread>(store_, complete, every_);
}

Recording::Window Recording::advance(std::int64_t row, Want want) {
  const std::int64_t end = store_.opened_at() + row;
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
  if (row == first_ + slots) first_ = row;
  const std::int64_t free = slots - (end - store_.written());
  std::int64_t last = std::min(first_ + slots, row + free);
  if (every_ != 0) last = std::min(last, std::max(asked_ + every_ - store_.opened_at(), row + 1));
  if (thread_) last = std::min(last, row + std::max<std::int64_t>(slots / parts, 1));
  return {first_, last};
}

void Recording::bring(std::int64_t end, Want want) {
  if (!thread_) {
    store_.write(end);
    if (asked_ == end) store_.publish(end, want == Want::published);
    return;
  }
  store_.require_origin();
  if (want == Want::published) return thread_->flush(end);
  thread_->hand_over(asked_);
  if (want == Want::room && end - store_.written() >= store_.ring().slots()) {
    thread_->wait_beyond(end - store_.ring().slots());
  }
}

void Recording::release() {
  if (thread_ && store_.is_here()) thread_->stop();
  store_.release();
}

}  // namespace td::record
