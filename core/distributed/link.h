// core/distributed/link.h: a backend with time limits, shared by a group and its futures.
#pragma once

#include "core/distributed/backend.h"
#include "core/distributed/expected.h"
#include "core/distributed/watcher.h"
#include "core/io/fork.h"

#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace td::distributed {

class Link;

// How often a call that waits looks whether the other ranks are still there.
constexpr std::chrono::milliseconds beat{250};

// A collective call in progress.
class Task {
 public:
  // Rethrows the call's error; Code::io if the wait is given up, while the call continues.
  void wait(const Patience& patience, const char* what);

 private:
  friend class Link;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void(Backend&)> work_;
  std::weak_ptr<Link> link_;
  bool done_ = false;
  bool told_ = false;  // asked to stop waiting
  std::exception_ptr failure_;
};

class Link : public std::enable_shared_from_this<Link> {
 public:
  Link(std::shared_ptr<Backend> backend, int rank, int size, std::int64_t timeout_ms);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  std::int64_t timeout_ms() const noexcept { return timeout_ms_; }
  bool is_here() const noexcept { return origin_.is_here(); }
  Backend& backend();  // Code::io if closed

  PostedPtr send(const at::Tensor& bytes, int rank, int tag) {
    return backend().send(bytes, rank, tag);
  }
  // A receive that was given up is resumed by the next one of this rank and tag, so late data is
  // not lost. Code::busy if the two differ in size.
  enum class Room : std::uint8_t { as_it_is, cleared };  // cleared: a shorter message leaves zeros
  PostedPtr recv(std::size_t bytes, int rank, int tag, Room room = Room::as_it_is);

  // Waits for all posts. Keeps the unfinished ones if it gives up. `keys` are rank and tag of each
  // receive; empty for sends.
  using Keys = std::vector<std::pair<int, int>>;
  void finish(std::vector<PostedPtr> posts, const Keys& keys, const Patience& patience,
              const std::string& what);
  // The same for receives; returns them.
  std::vector<PostedPtr> arrived(std::vector<PostedPtr> posts, const Keys& keys,
                                 const Patience& patience, const std::string& what);

  // Code::io if the connection to a rank has broken. gloo does not tell a receive that had begun.
  void require_alive(int rank);
  // Closes the group, and returns true, if no other rank is left for two beats: gloo's threads may still have to
  // take what they sent last.
  bool is_deserted();

  // Keeps posts from `done` on until they finish or the group is closed.
  void keep(std::vector<PostedPtr>& posts, const Keys& keys, std::size_t done);

  // Runs `work` after the earlier calls. `work` must not own this object.
  std::shared_ptr<Task> enqueue(std::function<void(Backend&)> work);

  // Ends all waits; later calls fail with the reason. Each wait is ended here because gloo does not
  // wake a receive from any rank when connections close.
  void close(std::string_view reason = "the group is closed", std::string_view more = {}) noexcept;

  // Waits a second for the running call. Once a rank ended inside it, gloo may never return.
  bool comes_to_rest();

  // Keeps this object until the process ends.
  void never_end(const std::shared_ptr<Link>& self) noexcept { self_ = self; }

  unsigned next_body() noexcept { return bodies_++; }

  // For `work` alone, which runs on one thread.
  Expected& expected() noexcept { return expected_; }

 private:
  // A wait that close() ends.
  struct Wait;
  void run();
  PostedPtr resumed(std::size_t bytes, int rank, int tag);  // a receive that was given up

  std::shared_ptr<Backend> backend_;
  const int rank_;
  const int size_;
  const std::int64_t timeout_ms_;
  files::Origin origin_;
  Watcher watcher_;
  std::atomic<unsigned> bodies_{0};

  std::mutex mutex_;
  bool is_closed_ = false;
  std::string closed_ = "the group is closed";                    // the reason
  std::map<std::pair<int, int>, std::deque<PostedPtr>> waiting_;  // receives that were given up
  std::vector<PostedPtr> unsent_;                                 // sends that were given up
  std::set<Wait*> waits_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Task>> tasks_;
  bool busy_ = false;
  bool ends_ = false;
  std::mutex alive_mutex_;
  std::map<int, PostedPtr> alive_;  // receives without an answer: they fail with the connection
  std::optional<Clock::time_point> deserted_since_;
  Expected expected_;
  std::thread thread_;
  std::shared_ptr<Link> self_;
};

}  // namespace td::distributed
