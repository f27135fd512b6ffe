#include "core/distributed/link.h"

#include "core/base/start_thread.h"
#include "core/tensor/buffer.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

namespace td::distributed {

namespace {

// Tags of transfers are smaller. The largest one is the back-end's.
constexpr int unanswered_tag = std::numeric_limits<int>::max() - 1;

}  // namespace

void Task::wait(const Patience& patience, const char* what) {
  const Cancel::Hook hook(patience.cancel, [this] {
    const std::lock_guard<std::mutex> hold(mutex_);
    told_ = true;
    changed_.notify_all();
  });
  std::unique_lock<std::mutex> hold(mutex_);
  while (!changed_.wait_until(hold, std::min(patience.until, Clock::now() + beat), [this] {
    return done_ || told_;
  }) && Clock::now() < patience.until) {
    hold.unlock();
    const std::shared_ptr<Link> link = link_.lock();
    const bool deserted = link && link->is_deserted();
    hold.lock();
    if (!deserted) continue;
    // They may have ended after they had done their part: what has arrived counts, once our thread has looked at it.
    changed_.wait_for(hold, beat, [this] { return done_; });
    if (!done_ || failure_) fail(Code::io, what, ": all other ranks have ended");
  }
  if (done_) {
    if (failure_) std::rethrow_exception(failure_);
    return;
  }
  if (told_) fail(Code::io, what, " was cancelled; the group finishes it when all ranks take part");
  fail(Code::io, what, ": not all ranks came within ", patience.timeout_ms,
       " ms; the group finishes it when they do");
}

struct Link::Wait {
  Wait(Link& of, std::function<void()> to_stop) : link(of), stop(std::move(to_stop)) {
    const std::lock_guard<std::mutex> hold(link.mutex_);
    if (link.is_closed_) stop();
    link.waits_.insert(this);
  }
  ~Wait() {
    const std::lock_guard<std::mutex> hold(link.mutex_);
    link.waits_.erase(this);
  }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;
  Link& link;
  const std::function<void()> stop;
};

Link::Link(std::shared_ptr<Backend> backend, int rank, int size, std::int64_t timeout_ms)
    : backend_(std::move(backend)), rank_(rank), size_(size), timeout_ms_(timeout_ms) {}

Link::~Link() {
  close();
  {
    const std::lock_guard<std::mutex> hold(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

Backend& Link::backend() {
  const std::lock_guard<std::mutex> hold(mutex_);
  if (is_closed_) fail(Code::io, closed_);
  return *backend_;
}

void Link::close(std::string_view reason, std::string_view more) noexcept {
  {
    const std::lock_guard<std::mutex> hold(mutex_);
    if (is_closed_) return;
    is_closed_ = true;
    try {
      closed_ = std::string(reason).append(more);
    } catch (const std::bad_alloc&) {
      // No memory for the text: close without a reason.
    }
    for (const Wait* wait : waits_) wait->stop();
  }
  backend_->disconnect();
}

PostedPtr Link::recv(std::size_t bytes, int rank, int tag, Room room) {
  Backend& open = backend();
  if (PostedPtr posted = resumed(bytes, rank, tag)) {
    try {
      require_alive(rank);
    } catch (const Error&) {
      const std::lock_guard<std::mutex> hold(mutex_);
      waiting_[{rank, tag}].push_front(std::move(posted));
      throw;
    }
    return posted;
  }
  const at::Tensor row = Buffer::row(bytes);
  if (room == Room::cleared && bytes != 0) std::memset(row.data_ptr(), 0, bytes);
  return open.recv(row, rank, tag);
}

PostedPtr Link::resumed(std::size_t bytes, int rank, int tag) {
  const std::lock_guard<std::mutex> hold(mutex_);
  for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
    if (at->first.second != tag) continue;
    const int other = at->first.first;
    if (other != rank && other >= 0 && rank >= 0) continue;
    const auto waits = static_cast<std::size_t>(at->second.front()->tensor.nbytes());
    if (other != rank || waits != bytes) {
      fail(Code::busy, "a receive of ", waits, " bytes with tag ", tag, " from ",
           other < 0 ? "any rank" : "rank " + std::to_string(other),
           " was given up and comes first: receive the same again, or use another init_tag");
    }
    PostedPtr posted = std::move(at->second.front());
    at->second.pop_front();
    if (at->second.empty()) waiting_.erase(at);
    return posted;
  }
  return nullptr;
}

void Link::keep(std::vector<PostedPtr>& posts, const Keys& keys, std::size_t done) {
  const std::lock_guard<std::mutex> hold(mutex_);
  for (std::size_t i = done; i < posts.size(); ++i) {
    if (keys.empty()) {
      unsent_.push_back(std::move(posts[i]));
    } else {
      waiting_[keys[i]].push_back(std::move(posts[i]));
    }
  }
}

std::vector<PostedPtr> Link::arrived(std::vector<PostedPtr> posts, const Keys& keys,
                                     const Patience& patience, const std::string& what) {
  enum Why : int { none, late, cancelled, closed };
  std::atomic<int> why{none};
  std::size_t done = 0;
  try {
    const auto stop = [&](Why reason) {
      int before = none;
      why.compare_exchange_strong(before, reason);
      for (const PostedPtr& posted : posts) posted->abort();
    };
    const Cancel::Hook hook(patience.cancel, [&] { stop(cancelled); });
    const Wait wait(*this, [&] { stop(closed); });
    while (done < posts.size() && why == none) {
      std::atomic<bool> beats{false};
      const Watcher::Limit limit(watcher_, std::min(patience.until, Clock::now() + beat), [&] {
        beats = true;
        for (const PostedPtr& posted : posts) posted->abort();
      });
      // An abort meant for an earlier wait may still be pending: wait again.
      while (done < posts.size() && why == none && !beats) {
        if (posts[done]->wait()) ++done;
      }
      if (done == posts.size() || why != none) break;
      if (Clock::now() >= patience.until) {
        stop(late);
      } else if (!keys.empty()) {
        require_alive(keys[done].first);
      }
    }
  } catch (...) {
    keep(posts, keys, done);
    throw;
  }
  if (done == posts.size()) return posts;
  keep(posts, keys, done);
  if (why == cancelled) fail(Code::io, what, " was cancelled");
  if (why == closed) backend();  // throws the reason
  fail(Code::io, what, " took longer than ", patience.timeout_ms, " ms: is that rank there?");
}

void Link::finish(std::vector<PostedPtr> posts, const Keys& keys, const Patience& patience,
                  const std::string& what) {
  arrived(std::move(posts), keys, patience, what);
}

void Link::require_alive(int rank) {
  if (rank < 0) return;
  const std::lock_guard<std::mutex> hold(alive_mutex_);
  PostedPtr& unanswered = alive_[rank];
  if (!unanswered) unanswered = backend().recv(Buffer::row(1), rank, unanswered_tag);
  unanswered->abort();
  unanswered->wait();  // returns at once, or throws
}

bool Link::is_deserted() {
  bool deserted = size_ > 1;
  for (int rank = 0; rank < size_ && deserted; ++rank) {
    if (rank == rank_) continue;
    try {
      require_alive(rank);
      deserted = false;
    } catch (const Error&) {
      // This one has ended.
    }
  }
  {
    const std::lock_guard<std::mutex> hold(alive_mutex_);
    const Clock::time_point now = Clock::now();
    if (!deserted) deserted_since_.reset();
    if (deserted && !deserted_since_) deserted_since_ = now;
    deserted = deserted && now - *deserted_since_ >= 2 * beat;
  }
  if (deserted) close("the group is closed: all other ranks have ended");
  return deserted;
}

bool Link::comes_to_rest() {
  std::unique_lock<std::mutex> hold(mutex_);
  return changed_.wait_for(hold, std::chrono::seconds(1), [this] { return !busy_; });
}

std::shared_ptr<Task> Link::enqueue(std::function<void(Backend&)> work) {
  auto task = std::make_shared<Task>();
  task->work_ = std::move(work);
  task->link_ = weak_from_this();
  const std::lock_guard<std::mutex> hold(mutex_);
  if (is_closed_) fail(Code::io, closed_);
  if (!thread_.joinable()) thread_ = start_thread([this] { run(); });
  tasks_.push_back(task);
  changed_.notify_all();
  return task;
}

void Link::run() {
  std::unique_lock<std::mutex> hold(mutex_);
  for (;;) {
    changed_.wait(hold, [this] { return ends_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const std::shared_ptr<Task> task = tasks_.front();
    tasks_.pop_front();
    busy_ = true;
    hold.unlock();
    std::exception_ptr failure;
    try {
      task->work_(backend());
    } catch (const Error& error) {
      failure = std::current_exception();
      // The other ranks are elsewhere in the same call: no later call could match.
      if (error.code() == Code::io || error.code() == Code::capacity) {
        close("the group is closed since a call of all ranks failed: ", error.what());
      }
    } catch (...) {
      failure = std::current_exception();
      close("the group is closed since a call of all ranks failed");
    }
    task->work_ = nullptr;
    {
      const std::lock_guard<std::mutex> tell(task->mutex_);
      task->failure_ = std::move(failure);
      task->done_ = true;
      task->changed_.notify_all();
    }
    hold.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace td::distributed
