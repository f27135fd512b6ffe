// core/distributed/group.h: exchanges dictionaries between ranks in several processes. Compatible
// with Python's tensordict, except for messages and for calls with `fused`.
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
  std::string device;   // network interface
  std::string backend;  // empty: gloo
  int rank = 0;
  int size = 0;                 // 0: from the url or the environment
  std::int64_t timeout_ms = 0;  // 0: five minutes
};

struct GroupCall {
  int init_tag = 0;
  bool consolidated = false;     // send and receive: one message instead of one for each leaf
  bool fused = false;            // all_reduce: one buffer for each dtype
  std::size_t bucket_bytes = 0;  // reductions: largest buffer for several tensors; 0: one at a time
  int num_threads = 0;           // for copying into one buffer
  std::int64_t timeout_ms = 0;   // 0: the group's
  ReceiveOptions limits;
};

// Threads may share a group. Collective calls run one after the other, in call order, which must be
// the same on all ranks. A call that times out or is cancelled leaves the group usable: data that
// arrives late for it is discarded.
class Group {
 public:
  // Runs work on another thread, with the state that the library needs there.
  using Around = std::function<void(const std::function<void()>&)>;
  using Async = std::unique_ptr<Future>;

  static std::unique_ptr<Group> open(const GroupOptions& options);
  ~Group();  // ends all waits
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  int rank() const noexcept;
  int size() const noexcept;

  // A group of some ranks, whose order stays; nullptr on a rank outside it. All ranks must call it:
  // unless given, the name counts the groups made before. Both as in Python.
  std::unique_ptr<Group> split(const std::vector<int>& ranks, const std::string& name);

  void barrier(const GroupCall& call);

  // Leaf by leaf, sorted, or as one buffer; between ranks of this library as one message with the
  // names, which are compared. The receiver needs a dictionary of the same structure;
  // it is written once everything has arrived.
  void send(const TensorDict& td, int dst, const GroupCall& call);
  void recv(const TensorDict& into, int src, const GroupCall& call);
  Async isend(const TensorDict& td, int dst, const GroupCall& call, const Around& around);
  Async irecv(const TensorDict& into, int src, const GroupCall& call, const Around& around);

  // Structure and values, between ranks of this library. Sizes come first; received data is not
  // trusted. Source -1 is any rank.
  void send_message(const TensorDict& td, int dst, const GroupCall& call);
  TensorDict recv_message(int src, const GroupCall& call, int* source = nullptr);
  Async isend_message(const TensorDict& td, int dst, const GroupCall& call, const Around& around);
  Async irecv_message(int src, const GroupCall& call, const Around& around);

  // Structure and values, in Python's format.
  void init_remote(const TensorDict& td, int dst, const GroupCall& call);
  TensorDict from_remote_init(int src, const GroupCall& call);

  // Collective calls.
  TensorDict broadcast(const TensorDict* td, int src, const GroupCall& call);
  void reduce(const TensorDict& td, int dst, distributed::Op op, const GroupCall& call);
  void all_reduce(const TensorDict& td, distributed::Op op, const GroupCall& call);
  std::vector<TensorDict> all_gather(const TensorDict& td, const GroupCall& call);
  TensorDict scatter(c10::ArrayRef<TensorDict> parts, int src, const GroupCall& call);
  // The stack at `dst`; nullopt elsewhere.
  std::optional<TensorDict> gather_and_stack(const TensorDict& td, int dst, const GroupCall& call);

  // Return once the call has its place in the order and a copy of its values. The future returns
  // the broadcast dictionary, this rank's part, or the dictionary that was written.
  Async ibroadcast(const TensorDict* td, int src, const GroupCall& call, const Around& around);
  Async ireduce(const TensorDict& td, int dst, distributed::Op op, const GroupCall& call,
                const Around& around);
  Async iall_reduce(const TensorDict& td, distributed::Op op, const GroupCall& call,
                    const Around& around);
  Async iscatter(c10::ArrayRef<TensorDict> parts, int src, const GroupCall& call,
                 const Around& around);

 private:
  // Waits for a call that has begun.
  using Begun = std::function<TensorDict(const distributed::Patience&)>;

  explicit Group(std::shared_ptr<distributed::Link> link) : link_(std::move(link)) {}
  distributed::Link& link() const;  // Code::io in a child of the process that opened it
  // The link for a call with one other rank, which is checked. `src` may be any rank (-1) if `first` is -1.
  distributed::Link& link_to(int dst) const;
  distributed::Link& link_from(int src, int first = 0) const;
  TensorDict finish(const Begun& begun, const GroupCall& call) const;
  Async start(Begun begun, const GroupCall& call, const Around& around) const;
  distributed::Patience limit_of(const GroupCall& call) const;
  void require_rank(int rank, const char* what, int first = 0) const;

  Begun begin_send(const TensorDict& td, int dst, const GroupCall& call);
  Begun begin_recv(const TensorDict& into, int src, const GroupCall& call);
  Begun begin_send_named(const TensorDict& td, int dst, const GroupCall& call);
  Begun begin_recv_named(const TensorDict& into, int src, const GroupCall& call);
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
