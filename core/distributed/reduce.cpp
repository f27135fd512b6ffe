// Reduces the values of all ranks.
#include "core/distributed/group.h"
#include "core/distributed/leaves.h"
#include "core/distributed/link.h"
#include "core/formats/checksums.h"
#include "core/tensor/dtype.h"
#include "core/tensor/foreign.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>

namespace td {

using distributed::Backend;
using distributed::Leaf;
using distributed::Op;
using distributed::Order;
using distributed::Patience;
using distributed::Task;

namespace {

// Dtypes that gloo reduces in every supported libtorch.
bool reducible(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::ScalarType::Float:
    case c10::ScalarType::Double:
    case c10::ScalarType::Half:
    case c10::ScalarType::Char:
    case c10::ScalarType::Byte:
    case c10::ScalarType::Int:
    case c10::ScalarType::Long: return true;
    default: return false;
  }
}

void check(const std::vector<Leaf>& leaves, Op op) {
  for (const Leaf& leaf : leaves) {
    const c10::ScalarType dtype = leaf.tensor.scalar_type();
    if (!reducible(dtype)) {
      fail(Code::dtype, "\"", leaf.path, "\" has dtype ", dtype_name(dtype),
           ", which cannot be reduced");
    }
    if (op == Op::average && !c10::isFloatingType(dtype)) {
      fail(Code::dtype, "\"", leaf.path, "\" has dtype ", dtype_name(dtype),
           ", which has no average; use a sum");
    }
  }
}

// Work on copies: a reduction that is given up changes nothing in the dictionary.
at::Tensor copy_of(const Leaf& leaf) {
  at::Tensor values = plain_values(leaf.tensor);
  return values.is_alias_of(leaf.tensor) ? values.clone() : values;
}

std::vector<at::Tensor> copies_of(const std::vector<Leaf>& leaves) {
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> copies;
  for (const Leaf& leaf : leaves) copies.push_back(copy_of(leaf));
  return copies;
}

// All values of a dtype in one buffer; `views` receives a view for each leaf.
std::vector<at::Tensor> fused(const std::vector<Leaf>& leaves, std::vector<at::Tensor>& views) {
  std::map<c10::ScalarType, std::int64_t> counts;
  for (const Leaf& leaf : leaves) counts[leaf.tensor.scalar_type()] += leaf.tensor.numel();
  std::map<c10::ScalarType, std::pair<at::Tensor, std::int64_t>> rows;
  for (const auto& [dtype, count] : counts) rows[dtype] = {at::empty({count}, dtype), 0};
  const c10::NoGradGuard no_grad;
  for (const Leaf& leaf : leaves) {
    auto& [row, at] = rows[leaf.tensor.scalar_type()];
    const std::int64_t count = leaf.tensor.numel();
    at::Tensor view = row.narrow(0, at, count).view(leaf.tensor.sizes());
    view.copy_(leaf.tensor);
    views.push_back(std::move(view));
    at += count;
  }
  std::vector<at::Tensor> result;
  for (const auto& [dtype, row] : rows) result.push_back(row.first);
  return result;
}

// As Python's `bucket_bytes`: what is not contiguous alone and first; then the values of each dtype, in the order of
// its first leaf, in buffers of up to `limit` bytes. `views` receives a view for each leaf.
std::vector<at::Tensor> bucketed(const std::vector<Leaf>& leaves, std::size_t limit,
                                 std::vector<at::Tensor>& views) {
  const c10::NoGradGuard no_grad;
  views.resize(leaves.size());
  std::vector<at::Tensor> result;
  std::vector<c10::ScalarType> dtypes;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const at::Tensor& tensor = leaves[i].tensor;
    if (!tensor.is_contiguous()) {
      views[i] = copy_of(leaves[i]);
      result.push_back(views[i]);
    } else if (std::find(dtypes.begin(), dtypes.end(), tensor.scalar_type()) == dtypes.end()) {
      dtypes.push_back(tensor.scalar_type());
    }
  }
  for (const c10::ScalarType dtype : dtypes) {
    std::vector<at::Tensor> bucket;  // one dimension each
    std::vector<std::size_t> members;
    std::size_t bytes = 0;
    const auto close = [&] {
      result.push_back(at::cat(bucket));
      std::int64_t at = 0;
      for (const std::size_t i : members) {
        const at::Tensor& tensor = leaves[i].tensor;
        views[i] = result.back().narrow(0, at, tensor.numel()).view(tensor.sizes());
        at += tensor.numel();
      }
      bucket.clear();
      members.clear();
      bytes = 0;
    };
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const at::Tensor& tensor = leaves[i].tensor;
      if (views[i].defined() || tensor.scalar_type() != dtype) continue;
      if (!bucket.empty() && bytes + tensor.nbytes() > limit) close();
      bucket.push_back(plain_values(tensor).reshape({-1}));  // at::cat copies
      members.push_back(i);
      bytes += tensor.nbytes();
    }
    close();
  }
  return result;
}

// A checksum that must be equal on all ranks before they fuse: gloo ends the process when sizes differ.
std::int64_t shape_sum(const std::vector<Leaf>& leaves, Op op) {
  Hasher hasher;
  const auto add = [&](std::int64_t number) { hasher.add(&number, sizeof number); };
  add(static_cast<std::int64_t>(op));
  for (const Leaf& leaf : leaves) {
    add(static_cast<std::int64_t>(leaf.path.size()));
    hasher.add(leaf.path.data(), leaf.path.size());
    add(static_cast<std::int64_t>(leaf.tensor.scalar_type()));
    add(leaf.tensor.dim());
    for (const std::int64_t size : leaf.tensor.sizes()) add(size);
  }
  return static_cast<std::int64_t>(hasher.digest().low);
}

void average(std::vector<at::Tensor>& values, Op op, int size) {
  if (op != Op::average) return;
  const c10::NoGradGuard no_grad;
  for (at::Tensor& value : values) value.div_(size);
}

}  // namespace

Group::Begun Group::begin_reduce(const TensorDict& td, int dst, Op op, const GroupCall& call) {
  require_rank(dst, "dst");
  limit_of(call);
  const std::vector<Leaf> leaves = distributed::leaves_of(td.node(), Order::sorted);
  check(leaves, op);
  auto values = std::make_shared<std::vector<at::Tensor>>();
  auto rows = std::make_shared<std::vector<at::Tensor>>();
  if (call.bucket_bytes != 0) {
    *rows = bucketed(leaves, call.bucket_bytes, *values);
  } else {
    *rows = *values = copies_of(leaves);
  }
  const std::shared_ptr<Task> task = link().enqueue([rows, dst, op](Backend& backend) {
    for (const at::Tensor& row : *rows) backend.reduce(row, dst, op);
  });
  return [td, task, values, op, writes = dst == rank(), size = size()](const Patience& patience) {
    task->wait(patience, "reduce");
    if (writes) {
      average(*values, op, size);
      distributed::write_leaves(td.node(), Order::sorted, *values);
    }
    return td;
  };
}

Group::Begun Group::begin_all_reduce(const TensorDict& td, Op op, const GroupCall& call) {
  limit_of(call);
  const std::vector<Leaf> leaves = distributed::leaves_of(td.node(), Order::inserted);
  check(leaves, op);
  struct State {
    std::vector<at::Tensor> rows;    // the buffers that gloo reduces
    std::vector<at::Tensor> values;  // views of `rows`, one for each leaf
    bool differs = false;
    std::size_t other = 0;
  };
  auto state = std::make_shared<State>();
  if (call.fused) {
    state->rows = fused(leaves, state->values);
  } else if (call.bucket_bytes != 0) {
    state->rows = bucketed(leaves, call.bucket_bytes, state->values);
  } else {
    state->rows = state->values = copies_of(leaves);
  }
  const std::int64_t sum = call.fused ? shape_sum(leaves, op) : 0;
  const std::shared_ptr<Task> task =
      link().enqueue([state, op, sum, asks = call.fused](Backend& backend) {
        if (asks) {
          const std::vector<at::Tensor> sums = backend.all_gather(at::full({1}, sum, at::kLong));
          for (std::size_t i = 0; i < sums.size(); ++i) {
            const bool first =
                *sums[i].data_ptr<std::int64_t>() == *sums[0].data_ptr<std::int64_t>();
            if (first || state->differs) continue;
            state->differs = true;
            state->other = i;
          }
          if (state->differs) return;
        }
        for (const at::Tensor& row : state->rows) backend.all_reduce(row, op);
      });
  return [td, task, state, op, size = size()](const Patience& patience) {
    task->wait(patience, "all_reduce");
    if (state->differs) {
      fail(Code::shape, "the dictionaries of rank 0 and rank ", state->other,
           " have other keys, shapes or dtypes, or the operations differ");
    }
    average(state->values, op, size);
    distributed::write_leaves(td.node(), Order::inserted, state->values);
    return td;
  };
}

}  // namespace td
