#include "core/distributed/group.h"

#include "core/distributed/address.h"
#include "core/distributed/c10d_message.h"
#include "core/distributed/link.h"
#include "core/formats/json_text.h"

#include <algorithm>

namespace td {

using namespace distributed;

std::unique_ptr<Group> Group::open(const GroupOptions& options) {
  const Meeting meeting = meeting_of(options);
  return std::unique_ptr<Group>(new Group(
      std::make_shared<Link>(connect(meeting), meeting.rank, meeting.size, meeting.timeout_ms)));
}

Group::~Group() {
  if (link_->is_here()) {
    link_->close();
    if (!link_->comes_to_rest()) link_->never_end(link_);
  } else {
    link_->never_end(link_);  // its threads belong to the parent process
  }
}

int Group::rank() const noexcept { return link_->rank(); }
int Group::size() const noexcept { return link_->size(); }

Link& Group::link() const {
  if (!link_->is_here()) {
    fail(Code::io, "the group was opened before this process was forked; open another one here");
  }
  return *link_;
}

Patience Group::limit_of(const GroupCall& call) const {
  if (call.timeout_ms < 0) fail(Code::invalid_argument, "a limit of ", call.timeout_ms, " ms");
  return patience(call.timeout_ms == 0 ? link_->timeout_ms() : call.timeout_ms);
}

TensorDict Group::finish(const Begun& begun, const GroupCall& call) const {
  return begun(limit_of(call));
}

Group::Async Group::start(Begun begun, const GroupCall& call, const Around& around) const {
  auto cancel = std::make_shared<Cancel>();
  Patience limit = limit_of(call);
  limit.cancel = cancel.get();
  return std::make_unique<Future>(
      [begun = std::move(begun), limit, around, cancel](WorkCount& count) {
        count.total = 1;
        std::optional<TensorDict> result;
        around([&] { result = begun(limit); });
        count.done = 1;
        return *result;
      },
      cancel);
}

void Group::require_rank(int rank, const char* what, int first) const {
  if (rank >= first && rank < size()) return;
  fail(Code::invalid_argument, what, " is ", rank, "; ", first, " to ", size() - 1, " are valid");
}

std::unique_ptr<Group> Group::split(const std::vector<int>& given_ranks, const std::string& given) {
  Link& from = link();
  std::vector<int> ranks = given_ranks;
  std::sort(ranks.begin(), ranks.end());  // as Python's new_group() does
  if (ranks.empty()) fail(Code::invalid_argument, "a group of no ranks");
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    require_rank(ranks[i], "a rank");
    if (std::count(ranks.begin(), ranks.end(), ranks[i]) != 1) {
      fail(Code::invalid_argument, "rank ", ranks[i], " is in the group twice");
    }
  }
  const std::string name = given.empty() ? std::to_string(++splits_) : given;
  const auto place = std::find(ranks.begin(), ranks.end(), rank());
  if (place == ranks.end()) return nullptr;
  const int own = static_cast<int>(place - ranks.begin());
  const int count = static_cast<int>(ranks.size());
  return std::unique_ptr<Group>(new Group(std::make_shared<Link>(
      from.backend().split(name, own, count, from.timeout_ms()), own, count, from.timeout_ms())));
}

void Group::barrier(const GroupCall& call) {
  link().enqueue([](Backend& backend) { backend.barrier(); })->wait(limit_of(call), "the barrier");
}

void Group::send(const TensorDict& td, int dst, const GroupCall& call) {
  finish(begin_send(td, dst, call), call);
}

void Group::recv(const TensorDict& into, int src, const GroupCall& call) {
  finish(begin_recv(into, src, call), call);
}

Group::Async Group::isend(const TensorDict& td, int dst, const GroupCall& call,
                          const Around& around) {
  return start(begin_send(td, dst, call), call, around);
}

Group::Async Group::irecv(const TensorDict& into, int src, const GroupCall& call,
                          const Around& around) {
  return start(begin_recv(into, src, call), call, around);
}

void Group::send_message(const TensorDict& td, int dst, const GroupCall& call) {
  finish(begin_send_message(td, dst, call), call);
}

TensorDict Group::recv_message(int src, const GroupCall& call, int* source) {
  return finish(begin_recv_message(src, call, source), call);
}

Group::Async Group::isend_message(const TensorDict& td, int dst, const GroupCall& call,
                                  const Around& around) {
  return start(begin_send_message(td, dst, call), call, around);
}

Group::Async Group::irecv_message(int src, const GroupCall& call, const Around& around) {
  return start(begin_recv_message(src, call, nullptr), call, around);
}

TensorDict Group::broadcast(const TensorDict* td, int src, const GroupCall& call) {
  return finish(begin_broadcast(td, src, call, Rows::lent), call);
}

void Group::reduce(const TensorDict& td, int dst, Op op, const GroupCall& call) {
  finish(begin_reduce(td, dst, op, call), call);
}

void Group::all_reduce(const TensorDict& td, Op op, const GroupCall& call) {
  finish(begin_all_reduce(td, op, call), call);
}

TensorDict Group::scatter(c10::ArrayRef<TensorDict> parts, int src, const GroupCall& call) {
  return finish(begin_scatter(parts, src, call, Rows::lent), call);
}

Group::Async Group::ibroadcast(const TensorDict* td, int src, const GroupCall& call,
                               const Around& around) {
  return start(begin_broadcast(td, src, call, Rows::copied), call, around);
}

Group::Async Group::ireduce(const TensorDict& td, int dst, Op op, const GroupCall& call,
                            const Around& around) {
  return start(begin_reduce(td, dst, op, call), call, around);
}

Group::Async Group::iall_reduce(const TensorDict& td, Op op, const GroupCall& call,
                                const Around& around) {
  return start(begin_all_reduce(td, op, call), call, around);
}

Group::Async Group::iscatter(c10::ArrayRef<TensorDict> parts, int src, const GroupCall& call,
                             const Around& around) {
  return start(begin_scatter(parts, src, call, Rows::copied), call, around);
}

}  // namespace td
