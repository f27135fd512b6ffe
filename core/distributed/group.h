// core/distributed/group.h: ranks in several processes that exchange dictionaries. What it puts on the wire is what Python's
// tensordict puts there, but for messages and for what says that it is fused.
#pragma once

#include "core/consolidated/message.h"
#include "core/distributed/backend.h"
#include "core/memmap/future.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace td {

namespace distributed {
class Link;
struct Patience;
enum class Rows : std::uint8_t;
}  // namespace distributed

struct GroupOptions {
  std::string url = "env://";
  std::string name;     // empty: Python's first one
  std::string device;   // interface of the network
  std::string backend;  // empty: gloo
  int rank = 0;
  int size = 0;                 // 0: rank and size are those of the url or the environment
  std::int64_t timeout_ms = 0;  // 0: five minutes
};

struct GroupCall {
  int init_tag = 0;
  bool consolidated = false;    // send and receive: one message instead of one for each leaf
  bool fused = false;           // all_reduce: one buffer for each dtype
  int num_threads = 0;          // that copy into one buffer
  std::int64_t timeout_ms = 0;  // 0: that of the group
  ReceiveOptions limits;
};

// Calls may come from several threads. Those in which all ranks take part run one after the other, in the
// order of the calls, which must be the same on all ranks. A call that is given up, at its limit or because it
// was cancelled, leaves the group in order: what comes late for it is thrown away.
class Group {
 public:
  // How work runs on another thread: with what the library needs there.
  using Around = std::function<void(const std::function<void()>&)>;
  using Async = std::unique_ptr<Future>;

  static std::unique_ptr<Group> open(const GroupOptions& options);
  ~Group();  // ends what still waits
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  int rank() const noexcept;
  int size() const noexcept;

  // A group of some ranks, in this order; nullptr on a rank that is not among them. All ranks call it: the
  // name follows from how many were made before, as in Python, unless it is given.
  std::unique_ptr<Group> split(const std::vector<int>& ranks, const std::string& name);

  void barrier(const GroupCall& call);

  // Leaf by leaf, sorted, or as one buffer. The receiver has a dictionary of the same structure, which is written
  // when all has come.
  void send(const TensorDict& td, int dst, const GroupCall& call);
  void recv(const TensorDict& into, int src, const GroupCall& call);
  Async isend(const TensorDict& td, int dst, const GroupCall& call, const Around& around);
  Async irecv(const TensorDict& into, int src, const GroupCall& call, const Around& around);

  // Structure and values, for ranks of this library: sizes come first, and nothing is trusted. A source of -1 is
  // any rank.
  void send_message(const TensorDict& td, int dst, const GroupCall& call);
  TensorDict recv_message(int src, const GroupCall& call, int* source = nullptr);
  Async isend_message(const TensorDict& td, int dst, const GroupCall& call, const Around& around);
  Async irecv_message(int src, const GroupCall& call, const Around& around);

  // Structure and values, as Python sends them.
  void init_remote(const TensorDict& td, int dst, const GroupCall& call);
  TensorDict from_remote_init(int src, const GroupCall& call);

  // In all of these each rank takes part.
  TensorDict broadcast(const TensorDict* td, int src, const GroupCall& call);
  void reduce(const TensorDict& td, int dst, distributed::Op op, const GroupCall& call);
  void all_reduce(const TensorDict& td, distributed::Op op, const GroupCall& call);
  std::vector<TensorDict> all_gather(const TensorDict& td, const GroupCall& call);
  TensorDict scatter(c10::ArrayRef<TensorDict> parts, int src, const GroupCall& call);
  // The stack at `dst`; nothing elsewhere.
  std::optional<TensorDict> gather_and_stack(const TensorDict& td, int dst, const GroupCall& call);

  // These take their turn among the others, and the values, before they return. The future gives what is broadcast, the
  // part, or the dictionary that is written when all has come.
  Async ibroadcast(const TensorDict* td, int src, const GroupCall& call, const Around& around);
  Async ireduce(const TensorDict& td, int dst, distributed::Op op, const GroupCall& call,
                const Around& around);
  Async iall_reduce(const TensorDict& td, distributed::Op op, const GroupCall& call,
                    const Around& around);
  Async iscatter(c10::ArrayRef<TensorDict> parts, int src, const GroupCall& call,
                 const Around& around);

 private:
  // A call that has begun: what waits for its end.
  using Begun = std::function<TensorDict(const distributed::Patience&)>;

  explicit Group(std::shared_ptr<distributed::Link> link) : link_(std::move(link)) {}
  distributed::Link& link() const;  // Code::io in a child of the process that opened it
  // The same for a call with one other rank, which is checked. A source of `first` -1 may be any rank.
  distributed::Link& link_to(int dst) const;
  distributed::Link& link_from(int src, int first = 0) const;
  TensorDict finish(const Begun& begun, const GroupCall& call) const;
  Async start(Begun begun, const GroupCall& call, const Around& around) const;
  distributed::Patience limit_of(const GroupCall& call) const;
  void require_rank(int rank, const char* what, int first = 0) const;

  Begun begin_send(const TensorDict& td, int dst, const GroupCall& call);
  Begun begin_recv(const TensorDict& into, int src, const GroupCall& call);
  Begun begin_send_message(const TensorDict& td, int dst, const GroupCall& call);
  Begun begin_recv_message(int src, const GroupCall& call, int* source);
  Begun begin_broadcast(const TensorDict* td, int src, const GroupCall& call,
                        distributed::Rows rows);
  Begun begin_reduce(const TensorDict& td, int dst, distributed::Op op, const GroupCall& call);
  Begun begin_all_reduce(const TensorDict& td, distributed::Op op, const GroupCall& call);
  Begun begin_scatter(c10::ArrayRef<TensorDict> parts, int src, const GroupCall& call,
                      distributed::Rows rows);

  std::shared_ptr<distributed::Link> link_;
  int splits_ = 0;
};

}  // namespace td
