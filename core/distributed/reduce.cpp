// Reduces the values of all ranks.
#include "core/distributed/agreement.h"
#include "core/distributed/group.h"
#include "core/distributed/leaves.h"
#include "core/distributed/link.h"
#include "core/distributed/reducible.h"

#include <limits>

namespace td {

using namespace distributed;

namespace {

// Ranks of this library send small tensors together: ten messages take the time of ten.
constexpr std::size_t small_rows = std::size_t{1} << 16;
// Fused: one buffer for each dtype.
constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

std::string text_of(const char* what, Op op, const GroupCall& call) {
  static constexpr const char* names[] = {"sum", "average", "product", "min", "max"};
  std::string text = std::string(what) + " (" + names[static_cast<std::size_t>(op)];
  if (call.fused) text += ", fused";
  if (call.bucket_bytes != 0) text += ", bucket_bytes " + std::to_string(call.bucket_bytes);
  return text + ")";
}

Reduced rows_of(const std::vector<Leaf>& leaves, const GroupCall& call, Peers peers) {
  if (call.fused) return bucketed(leaves, unlimited, peers);
  if (call.bucket_bytes != 0) return bucketed(leaves, call.bucket_bytes, peers);
  return peers == Peers::ours ? bucketed(leaves, small_rows, peers) : one_by_one(leaves, peers);
}

// A reduction that waits for its turn: the values as they are now, and what other ranks must have, too.
struct Reduction {
  std::vector<Leaf> leaves;
  Reduced reduced;
  std::optional<Agreement> agreement;  // among ranks of this library
};

std::shared_ptr<Reduction> prepared(Link& link, const TensorDict& td, const std::string& what,
                                    Op op, const GroupCall& call, Order order, Peers peers) {
  auto result = std::make_shared<Reduction>();
  const bool agrees = peers == Peers::ours && link.size() > 1;
  try {
    result->leaves = leaves_of(td.node(), order);
    require_reducible(result->leaves, op, peers);
    result->reduced = rows_of(result->leaves, call, peers);
    if (agrees) result->agreement.emplace(what, result->leaves);
    return result;
  } catch (const Error& error) {
    if (agrees) {  // the others would wait for this rank
      link.enqueue([refusal = Agreement(error)](Backend& backend) { refusal.compare(backend); });
    }
    throw;
  }
}

}  // namespace

Group::Begun Group::begin_reduce(const TensorDict& td, int dst, Op op, const GroupCall& call) {
  require_rank(dst, "dst");
  limit_of(call);
  const Peers peers = link().backend().all_are_ours() ? Peers::ours : Peers::python;
  const std::string what = text_of("reduce", op, call) + " to rank " + std::to_string(dst);
  const auto all = prepared(link(), td, what, op, call, Order::sorted, peers);
  const std::shared_ptr<Task> task = link().enqueue([all, dst, op](Backend& backend) {
    if (all->agreement) all->agreement->compare(backend);
    for (const at::Tensor& row : all->reduced.rows) backend.reduce(row, dst, op);
  });
  return [td, task, all, op, writes = dst == rank(), size = size()](const Patience& patience) {
    task->wait(patience, "reduce");
    if (writes) {
      write_leaves(td.node(), Order::sorted, results_of(all->reduced, all->leaves, op, size));
    }
    return td;
  };
}

Group::Begun Group::begin_all_reduce(const TensorDict& td, Op op, const GroupCall& call) {
  limit_of(call);
  const bool ours = link().backend().all_are_ours();
  if (call.fused && !ours) {
    fail(Code::unsupported,
         "TD_GROUP_FUSED, in a group with ranks that are not of this library or of a version "
         "before 0.3");
  }
  const Peers peers = ours ? Peers::ours : Peers::python;
  // In order among Python's ranks, which send in this order. Sorted, keys in another order meet.
  const Order order = ours ? Order::sorted : Order::inserted;
  const auto all = prepared(link(), td, text_of("all_reduce", op, call), op, call, order, peers);
  const std::shared_ptr<Task> task = link().enqueue([all, op](Backend& backend) {
    if (all->agreement) all->agreement->compare(backend);
    for (const at::Tensor& row : all->reduced.rows) backend.all_reduce(row, op);
  });
  return [td, task, all, order, op, size = size()](const Patience& patience) {
    task->wait(patience, "all_reduce");
    write_leaves(td.node(), order, results_of(all->reduced, all->leaves, op, size));
    return td;
  };
}

}  // namespace td
