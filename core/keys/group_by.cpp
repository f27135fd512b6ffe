#include "core/keys/group_by.h"

#include "core/base/recursion_guard.h"
#include "core/keys/entries.h"
#include "core/tensor/dtype.h"
#include "core/tensor/known_sizes.h"
#include "core/tensor/torch_compat.h"
#include "core/tree/kinds.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/paths.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

namespace td {

namespace {

// The number of the group of each row; groups are numbered in the order of their values.
using GroupNumbers = std::vector<std::int64_t>;

GroupNumbers groups_of(const at::Tensor& entry, Path path) {
  if (entry.is_complex()) {
    fail(Code::dtype, show_path(path), " has dtype ", dtype_name(entry.scalar_type()),
         ", whose values have no order");
  }
  if (entry.is_meta()) fail(Code::device, show_path(path), " is on device meta: it has no values");
  // A copy: libtorch sorts it, and its values must not change meanwhile.
  const at::Tensor rows = entry.detach().clone();
  at::Tensor numbers = at::zeros({rows.size(0)}, rows.options().dtype(at::kLong));
  if (rows.dim() == 1) {
    const auto [sorted, order] = rows.sort(compat::optional<bool>(true), 0, /*descending=*/false);
    const std::int64_t last = rows.size(0) - 1;
    const at::Tensor steps = sorted.narrow(0, 1, last).ne(sorted.narrow(0, 0, last)).cumsum(0);
    numbers.scatter_(0, order, at::cat({numbers.narrow(0, 0, 1), steps}));
  } else if (rows.numel() != 0) {
    numbers = std::get<1>(at::unique_dim(rows, 0, /*sorted=*/true, /*return_inverse=*/true));
  }
  numbers = numbers.to(at::kCPU, at::kLong).contiguous();
  const auto* begin = numbers.data_ptr<std::int64_t>();
  return {begin, begin + numbers.numel()};
}

bool is_truth_or_number(const Plain& value) {
  return value.is(Plain::boolean) || value.is_number();
}

// Less, equal or greater, as Python compares; Code::wrong_entry for what it does not.
int compare_plain(const Plain& a, const Plain& b, Path path) {
  if (is_truth_or_number(a) && is_truth_or_number(b)) {
    if (a.is(Plain::integer) && b.is(Plain::integer))
      return (a.integral() > b.integral()) - (a.integral() < b.integral());
    const auto number = [](const Plain& value) {
      return value.is(Plain::boolean) ? (value.truth() ? 1.0 : 0.0) : value.number();
    };
    return (number(a) > number(b)) - (number(a) < number(b));
  }
  if (a.is(Plain::text) && b.is(Plain::text)) return a.characters().compare(b.characters());
  if (a.is(Plain::list) && b.is(Plain::list)) {
    const RecursionGuard guard;
    for (std::size_t i = 0; i < std::min(a.items().size(), b.items().size()); ++i) {
      if (const int order = compare_plain(a.items()[i], b.items()[i], path); order != 0)
        return order;
    }
    return (a.items().size() > b.items().size()) - (a.items().size() < b.items().size());
  }
  if (a == b && !a.is(Plain::object)) return 0;
  fail(Code::wrong_entry, show_path(path), " has values that cannot be compared with one another");
}

GroupNumbers groups_of(const Node& entry, Path path) {
  const auto rows = static_cast<std::size_t>(entry.batch()[0]);
  if (one_value(entry) != nullptr) return GroupNumbers(rows, 0);
  const Plain values = non_tensor_lists(entry);
  std::vector<std::size_t> order(rows);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto item = [&](std::size_t row) -> const Plain& { return values.items()[row]; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return compare_plain(item(a), item(b), path) < 0;
  });
  GroupNumbers numbers(rows);
  for (std::size_t i = 1; i < rows; ++i) {
    const bool next = compare_plain(item(order[i - 1]), item(order[i]), path) != 0;
    numbers[order[i]] = numbers[order[i - 1]] + (next ? 1 : 0);
  }
  return numbers;
}

GroupNumbers groups_of(const Value& entry, Path path) {
  if (!entry.is_node()) return groups_of(entry.tensor(), path);
  const Node& node = *entry.node();
  if (is_dict(node) || is_nested_tensor(node)) {
    fail(Code::wrong_entry, show_path(path), " is a ", row_of(node).word,
         "; rows are grouped by a tensor or by values that are no tensors");
  }
  return groups_of(node, path);
}

IndexItem rows_item(const std::vector<std::int64_t>& rows) {
  return IndexItem::of(at::tensor(rows, at::kLong));
}

}  // namespace

Groups group_by(const TensorDict& td, Path path) {
  if (td.batch_size().empty()) {
    fail(Code::shape, "a dictionary without batch dimensions has no rows to group");
  }
  const std::int64_t rows = known_size(td.batch_size(), 0);
  const Value entry = find_entry(td.node(), path);
  GroupNumbers numbers = rows == 0 ? GroupNumbers() : groups_of(entry, path);
  if (static_cast<std::int64_t>(numbers.size()) != rows) {
    fail(Code::shape, show_path(path), " has ", numbers.size(), " rows, the dictionary ", rows);
  }
  const std::int64_t count = rows == 0 ? 0 : *std::max_element(numbers.begin(), numbers.end()) + 1;
  std::vector<std::vector<std::int64_t>> members(static_cast<std::size_t>(count));
  for (std::int64_t row = 0; row < rows; ++row) {
    members[static_cast<std::size_t>(numbers[static_cast<std::size_t>(row)])].push_back(row);
  }
  std::vector<std::int64_t> first;
  Groups result;
  for (const std::vector<std::int64_t>& group : members) {
    first.push_back(group[0]);
    result.groups.push_back(td.index({rows_item(group)}));
  }
  result.values = select(td, {path}, {}).index({rows_item(first)});
  return result;
}

}  // namespace td
