#include "core/distributed/reducible.h"

#include "core/tensor/dtype.h"
#include "core/tensor/foreign.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace td::distributed {

namespace {

using c10::ScalarType;

// Dtypes that gloo reduces in every supported libtorch.
bool is_gloos(ScalarType dtype) {
  switch (dtype) {
    case ScalarType::Float:
    case ScalarType::Double:
    case ScalarType::Char:
    case ScalarType::Byte:
    case ScalarType::Int:
    case ScalarType::Long: return true;
    default: return false;
  }
}

// As which dtype the values of another one travel; Undefined if they cannot be reduced.
ScalarType wire_of(ScalarType dtype, Peers peers) {
  if (is_gloos(dtype)) return dtype;
  const bool ours = peers == Peers::ours;
  switch (dtype) {
    case ScalarType::Bool: return ours ? ScalarType::Int : ScalarType::Byte;
    case ScalarType::ComplexFloat: return ScalarType::Float;
    case ScalarType::ComplexDouble: return ScalarType::Double;
    case ScalarType::Half:
    case ScalarType::BFloat16:
    case ScalarType::ComplexHalf: return ours ? ScalarType::Float : ScalarType::Undefined;
    case ScalarType::Short: return ours ? ScalarType::Int : ScalarType::Undefined;
    default: return ScalarType::Undefined;
  }
}

}  // namespace

void require_reducible(const std::vector<Leaf>& leaves, Op op, Peers peers) {
  for (const Leaf& leaf : leaves) {
    const ScalarType dtype = leaf.tensor.scalar_type();
    const bool complex = c10::isComplexType(dtype);
    if (wire_of(dtype, peers) == ScalarType::Undefined) {
      fail(Code::dtype, "\"", leaf.path, "\" has dtype ", dtype_name(dtype),
           wire_of(dtype, Peers::ours) == ScalarType::Undefined
               ? ", which cannot be reduced"
               : ", which Python's ranks cannot reduce: not all ranks are of this library");
    }
    if (op == Op::average && !c10::isFloatingType(dtype) && !complex) {
      fail(Code::dtype, "\"", leaf.path, "\" has dtype ", dtype_name(dtype),
           ", which has no average; use a sum");
    }
    if (complex && op != Op::sum && op != Op::average) {
      fail(Code::dtype, "\"", leaf.path, "\" has dtype ", dtype_name(dtype),
           ", of which only sums and averages are made");
    }
  }
}

at::Tensor to_wire(const at::Tensor& tensor, Peers peers) {
  const ScalarType dtype = tensor.scalar_type();
  const ScalarType wire = wire_of(dtype, peers);
  const at::Tensor values = plain_values(tensor);
  return c10::isComplexType(dtype) ? at::view_as_real(values.to(c10::toComplexType(wire)))
                                   : values.to(wire);
}

at::Tensor from_wire(const at::Tensor& values, ScalarType dtype) {
  if (c10::isComplexType(dtype)) return at::view_as_complex(values).to(dtype);
  // A sum of bools is whether any is true: not 1 alone.
  return dtype == ScalarType::Bool ? values.ne(0) : values.to(dtype);
}

namespace {

// A reduction that is given up changes nothing in the dictionary: it works on a copy.
at::Tensor apart(const at::Tensor& values, const at::Tensor& leaf) {
  return values.is_alias_of(leaf) ? values.clone() : values;
}

// The values of several leaves in one row; they become views of it.
at::Tensor joined(std::vector<at::Tensor>& values, const std::vector<Leaf>& leaves,
                  const std::vector<std::size_t>& members) {
  if (members.size() == 1) {
    const std::size_t only = members[0];
    return values[only] = apart(values[only], leaves[only].tensor);
  }
  std::vector<at::Tensor> flat;
  for (const std::size_t i : members) flat.push_back(values[i].reshape({-1}));
  at::Tensor row = at::cat(flat);  // copies
  std::int64_t at = 0;
  for (const std::size_t i : members) {
    const std::int64_t count = values[i].numel();
    values[i] = row.narrow(0, at, count).view(values[i].sizes());
    at += count;
  }
  return row;
}

}  // namespace

Reduced one_by_one(const std::vector<Leaf>& leaves, Peers peers) {
  const c10::NoGradGuard no_grad;
  Reduced result;
  for (const Leaf& leaf : leaves)
    result.values.push_back(apart(to_wire(leaf.tensor, peers), leaf.tensor));
  result.rows = result.values;
  return result;
}

Reduced bucketed(const std::vector<Leaf>& leaves, std::size_t limit, Peers peers) {
  const c10::NoGradGuard no_grad;
  Reduced result;
  std::vector<ScalarType> dtypes;
  std::vector<bool> alone;
  for (const Leaf& leaf : leaves) {
    const at::Tensor& tensor = leaf.tensor;
    result.values.push_back(to_wire(tensor, peers));
    // Ranks of this library need not lay out a tensor alike.
    alone.push_back(peers == Peers::python && !tensor.is_contiguous());
    if (alone.back()) {
      result.values.back() = apart(result.values.back(), tensor);
      result.rows.push_back(result.values.back());
    } else if (std::find(dtypes.begin(), dtypes.end(), tensor.scalar_type()) == dtypes.end()) {
      dtypes.push_back(tensor.scalar_type());
    }
  }
  for (const ScalarType dtype : dtypes) {
    std::vector<std::size_t> members;
    std::size_t bytes = 0;
    const auto close = [&] {
      result.rows.push_back(joined(result.values, leaves, members));
      members.clear();
      bytes = 0;
    };
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const at::Tensor& tensor = leaves[i].tensor;
      if (alone[i] || tensor.scalar_type() != dtype) continue;
      if (!members.empty() && bytes + tensor.nbytes() > limit) close();
      members.push_back(i);
      bytes += tensor.nbytes();
    }
    close();
  }
  return result;
}

std::vector<at::Tensor> results_of(const Reduced& reduced, const std::vector<Leaf>& leaves, Op op,
                                   int size) {
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> results;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    at::Tensor values = reduced.values[i];
    if (op == Op::average) values.div_(size);
    results.push_back(from_wire(values, leaves[i].tensor.scalar_type()));
  }
  return results;
}

}  // namespace td::distributed
