// core/distributed/link.h: a backend with limits of time: what groups and their futures hold in common.
#pragma once

#include "core/distributed/backend.h"
#include "core/distributed/watcher.h"
#include "core/io/fork.h"

#include <deque>
#include <exception>
#include <map>
#include <set>
#include <utility>

namespace td::distributed {

// A call in which all ranks take part, on its way.
class Task {
 public:
  // Waits; throws what the call has thrown, or Code::io when the wait was given up. The call goes on then.
  void wait(const Patience& patience, const char* what);

 private:
  friend class Link;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void(Backend&)> work_;
  bool done_ = false;
  bool told_ = false;  // to stop waiting
  std::exception_ptr failure_;
};

class Link {
 public:
  Link(std::shared_ptr<Backend> backend, int rank, int size, std::int64_t timeout_ms);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  std::int64_t timeout_ms() const noexcept { return timeout_ms_; }
  bool is_here() const noexcept { return origin_.is_here(); }
  Backend& backend();  // Code::io when it is closed

  PostedPtr send(const at::Tensor& bytes, int rank, int tag) {
    return backend().send(bytes, rank, tag);
  }
  // A receive that was given up is taken over by the next one of this rank and tag: nothing that comes late is
  // lost. Code::busy when that one wants another number of bytes.
  enum class Room : std::uint8_t { as_it_is, cleared };  // cleared: for less than there is room for
  PostedPtr recv(std::size_t bytes, int rank, int tag, Room room = Room::as_it_is);

  // Waits until all have arrived. Those that have not when it gives up are kept. `keys` are the ranks and tags
  // of receives, empty for sends.
  using Keys = std::vector<std::pair<int, int>>;
  void finish(std::vector<PostedPtr> posts, const Keys& keys, const Patience& patience,
              const std::string& what);
  // The same for receives, which come back.
  std::vector<PostedPtr> arrived(std::vector<PostedPtr> posts, const Keys& keys,
                                 const Patience& patience, const std::string& what);

  // Keeps what was given up, from `done` on, until it arrives or the group is closed.
  void keep(std::vector<PostedPtr>& posts, const Keys& keys, std::size_t done);

  // Runs after the calls before it. `work` must not hold this object.
  std::shared_ptr<Task> enqueue(std::function<void(Backend&)> work);

  // Ends all that waits; later calls get the reason. gloo tells receives from any rank nothing when connections
  // close, so each wait is ended here too.
  void close(std::string_view reason = "the group is closed", std::string_view more = {}) noexcept;

  // Keeps it for as long as the process lives.
  void never_end(const std::shared_ptr<Link>& self) noexcept { self_ = self; }

  unsigned next_body() noexcept { return bodies_++; }

 private:
  // A wait that close() ends.
  struct Wait;
  void run();

  std::shared_ptr<Backend> backend_;
  const int rank_;
  const int size_;
  const std::int64_t timeout_ms_;
  files::Origin origin_;
  Watcher watcher_;
  std::atomic<unsigned> bodies_{0};

  std::mutex mutex_;
  bool is_closed_ = false;
  std::string closed_ = "the group is closed";                    // or why
  std::map<std::pair<int, int>, std::deque<PostedPtr>> waiting_;  // receives that were given up
  std::vector<PostedPtr> unsent_;                                 // sends that were given up
  std::set<Wait*> waits_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Task>> tasks_;
  bool ends_ = false;
  std::thread thread_;
  std::shared_ptr<Link> self_;
};

}  // namespace td::distributed
