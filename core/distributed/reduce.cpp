// Reduces the values of all ranks.
#include "core/distributed/agreement.h"
#include "core/distributed/group.h"
#include "core/distributed/leaves.h"
#include "core/distributed/link.h"
#include "core/distributed/reducible.h"
#include "core/tensor/buffer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cstring>
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
  Op op = Op::sum;
  int dst = -1;                        // -1: all ranks get the result
  std::optional<Agreement> agreement;  // among ranks of this library
};

std::shared_ptr<Reduction> prepared(Link& link, const TensorDict& td, const std::string& what,
                                    Op op, int dst, const GroupCall& call, Order order,
                                    Peers peers) {
  auto result = std::make_shared<Reduction>();
  result->op = op;
  result->dst = dst;
  const bool agrees = peers == Peers::ours && link.size() > 1;
  try {
    result->leaves = leaves_of(td.node(), order);
    require_reducible(result->leaves, op, peers);
    result->reduced = rows_of(result->leaves, call, peers);
    if (agrees) result->agreement.emplace(what, result->leaves);
    return result;
  } catch (const Error& error) {
    if (agrees) {  // the others would wait for this rank
      link.enqueue([&link, refusal = Agreement(error)](Backend& backend) {
        refusal.compare(backend, link.expected(), {});
      });
    }
    throw;
  }
}

// Each rank gets few values from all ranks and reduces them itself: half of the time that libtorch's all_reduce takes,
// and nothing more where the ranks expect the call. In the order of ranks: the same bits everywhere.
constexpr std::size_t few = small_rows;
constexpr std::size_t few_of_all = std::size_t{1} << 19;

void accumulate(const at::Tensor& row, const at::Tensor& more, Op op) {
  switch (op) {
    case Op::product: row.mul_(more); break;
    case Op::min: row.copy_(at::minimum(row, more)); break;
    case Op::max: row.copy_(at::maximum(row, more)); break;
    default: row.add_(more);  // an average is divided at the end
  }
}

void reduce_gathered(RowsView rows, const std::vector<at::Tensor>& ranks, Op op) {
  const c10::NoGradGuard no_grad;
  std::size_t at = 0;
  for (const at::Tensor& row : rows) {
    if (row.nbytes() == 0) continue;
    const at::Tensor more = at::empty_like(row);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const at::Tensor& into = i == 0 ? row : more;
      std::memcpy(into.data_ptr(), static_cast<const char*>(ranks[i].data_ptr()) + at,
                  row.nbytes());
      if (i != 0) accumulate(row, more, op);
    }
    at += row.nbytes();
  }
}

void reduce(const Reduction& all, Link& link, Backend& backend) {
  const RowsView rows = all.reduced.rows;
  if (all.agreement) {
    const std::size_t bytes = bytes_of(rows);
    const bool gathers =
        bytes <= few && bytes * static_cast<std::size_t>(link.size()) <= few_of_all;
    std::vector<at::Tensor> ranks =
        all.agreement->compare(backend, link.expected(), gathers ? rows : RowsView());
    if (gathers && bytes == 0) return;
    if (gathers && ranks.empty()) {
      at::Tensor packed = Buffer::row(bytes);
      pack(rows, packed, 0);
      ranks = backend.all_gather(packed);
    }
    if (gathers) return reduce_gathered(rows, ranks, all.op);
  }
  for (const at::Tensor& row : rows) {
    if (all.dst < 0) {
      backend.all_reduce(row, all.op);
    } else {
      backend.reduce(row, all.dst, all.op);
    }
  }
}

std::shared_ptr<Task> begin(Link& link, const std::shared_ptr<Reduction>& all) {
  return link.enqueue([all, &link](Backend& backend) { reduce(*all, link, backend); });
}

}  // namespace

Group::Begun Group::begin_reduce(const TensorDict& td, int dst, Op op, const GroupCall& call) {
  require_rank(dst, "dst");
  limit_of(call);
  const Peers peers = link().backend().all_are_ours() ? Peers::ours : Peers::python;
  const std::string what = text_of("reduce", op, call) + " to rank " + std::to_string(dst);
  const auto all = prepared(link(), td, what, op, dst, call, Order::sorted, peers);
  const std::shared_ptr<Task> task = begin(link(), all);
  return [td, task, all, writes = dst == rank(), size = size()](const Patience& patience) {
    task->wait(patience, "reduce");
    if (writes) {
      write_leaves(td.node(), Order::sorted, results_of(all->reduced, all->leaves, all->op, size));
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
  const auto all =
      prepared(link(), td, text_of("all_reduce", op, call), op, -1, call, order, peers);
  const std::shared_ptr<Task> task = begin(link(), all);
  return [td, task, all, order, size = size()](const Patience& patience) {
    task->wait(patience, "all_reduce");
    write_leaves(td.node(), order, results_of(all->reduced, all->leaves, all->op, size));
    return td;
  };
}

}  // namespace td
