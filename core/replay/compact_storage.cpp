#include "core/replay/compact_storage.h"

#include "core/formats/json_text.h"
#include "core/tree/kinds.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

constexpr std::string_view shape_name[] = {"_storage_shape"};
constexpr std::string_view shift_name[] = {"shift"};
constexpr std::string_view full_name[] = {"is_full"};
constexpr std::string_view done_name[] = {"done"};

Plain value_of(const TensorDict& td, Path path) {
  return read_json(td.get_non_tensor(path), "a replay buffer's storage");
}

bool is_one_of(Path path, std::initializer_list<std::string_view> names) {
  return path.size() == 1 && std::find(names.begin(), names.end(), path[0]) != names.end();
}

// Where the rows of each of the columns lie: a column is what one environment gave, in order of time.
class Places {
 public:
  Places(const at::Tensor& done, std::int64_t columns, std::int64_t shift, bool full) {
    const std::int64_t steps = columns == 0 ? 0 : done.numel() / columns;
    const at::Tensor ends = done.reshape({columns, steps}).to(at::kLong);
    // An observation more is stored where an episode ends, and where the buffer does.
    at::Tensor borders = ends.clone();
    borders.select(1, full ? steps - 1 : (shift + steps - 1) % steps).fill_(1);
    const at::Tensor sizes = borders.sum(1) + steps;
    const at::Tensor firsts = (sizes.cumsum(0) - sizes).unsqueeze(1);
    at::Tensor row = at::arange(steps).unsqueeze(0).expand({columns, steps});
    at::Tensor now = row + ends.cumsum(1) - ends;
    at::Tensor next = at::minimum(now + 1, sizes.unsqueeze(1) - 1);
    row = row + at::arange(columns).unsqueeze(1) * steps;
    now = now + firsts;
    next = next + firsts;
    const auto placed = [&](const at::Tensor& places) {
      return (full ? places.roll(shift, 1) : places).t().reshape({-1}).contiguous();
    };
    rows = placed(row);
    observations = placed(now);
    next_observations = placed(next);
    all_observations = sizes.sum().item<std::int64_t>();
  }

  at::Tensor rows, observations, next_observations;
  std::int64_t all_observations = 0;
};

// The values of an entry, one after the other. Each trajectory of a nested tensor is a part.
at::Tensor values_of(const Value& value, const std::string& name) {
  if (!value.is_node()) return value.tensor();
  if (!is_nested_tensor(*value.node()))
    fail(Code::format, name, " is neither a tensor nor a nested tensor");
  const NestedTensorNode& nested = require_nested_tensor(value.node());
  if (nested.parts() == 0) fail(Code::format, name, " is a nested tensor without parts");
  Sizes sizes(nested.part_sizes(0).begin(), nested.part_sizes(0).end());
  if (sizes.empty()) fail(Code::format, name, " has parts without dimensions");
  sizes[0] = -1;
  std::int64_t row = 1;
  for (std::size_t d = 1; d < sizes.size(); ++d) row *= sizes[d];
  if (row == 0) fail(Code::format, name, " has rows of no values");
  return nested.values().reshape(sizes);
}

}  // namespace

bool is_compact_storage(const TensorDict& stored) {
  const auto is_value = [&](std::string_view name) {
    const std::string_view path[] = {name};
    return stored.kind_of(path) == EntryKind::non_tensor;
  };
  return is_value(shape_name[0]) && is_value(shift_name[0]) && is_value(full_name[0]);
}

TensorDict expand_compact_storage(const TensorDict& stored) {
  Sizes shape;
  const Plain sizes = value_of(stored, shape_name);
  if (sizes.is(Plain::integer)) shape.push_back(sizes.integral());
  if (sizes.is(Plain::list))
    for (const Plain& size : sizes.items()) shape.push_back(size.integral());
  const std::int64_t count = count_elements(shape);
  const Plain shift = value_of(stored, shift_name), full = value_of(stored, full_name);
  if (shape.empty() || count < 1 || !shift.is(Plain::integer) || !full.is(Plain::boolean) ||
      shift.integral() < 0 || shift.integral() > shape[0])
    fail(Code::format, "a compact storage of shape ", show_sizes(shape),
         " has no shift or is_full");

  std::vector<std::pair<std::vector<std::string>, at::Tensor>> entries;
  visit_paths(*stored.node(), [&](Path path, const Value& value) {
    if (is_one_of(path, {shape_name[0], shift_name[0], full_name[0]})) return;
    if (is_branch(value)) return;
    entries.emplace_back(std::vector<std::string>(path.begin(), path.end()),
                         values_of(value, show_path(path)));
  });
  const auto done = std::find_if(entries.begin(), entries.end(), [&](const auto& entry) {
    return entry.first.size() == 1 && entry.first[0] == done_name[0];
  });
  if (done == entries.end()) fail(Code::format, "a compact storage has no entry \"done\"");
  if (done->second.numel() != count) {
    fail(Code::format, "\"done\" of a compact storage has ", done->second.numel(), " values for ",
         count, " rows");
  }
  const Places places(done->second.reshape({-1}), count / shape[0], shift.integral(), full.truth());

  TensorDict result{SizesView(shape)};
  for (const auto& entry : entries) {
    // Not a structured binding: in C++17 a lambda cannot capture one.
    const auto& name = entry.first;
    const at::Tensor& values = entry.second;
    std::vector<std::string_view> path(name.begin(), name.end()), next{"next"};
    next.insert(next.end(), name.begin(), name.end());
    const auto picked = [&](const at::Tensor& at) {
      Sizes front = shape;
      front.append(values.sizes().begin() + 1, values.sizes().end());
      return values.index_select(0, at).reshape(front);
    };
    const bool ends = is_one_of(path, {"done", "terminated", "truncated"});
    if (values.dim() > 0 && values.size(0) == count) {
      at::Tensor rows = picked(places.rows);
      if (ends) result.set(path, at::zeros_like(rows));
      result.set(ends || is_one_of(path, {"reward"}) ? next : path, std::move(rows));
    } else if (values.dim() > 0 && values.size(0) == places.all_observations) {
      at::Tensor later = picked(places.next_observations);
      if (!full.truth()) later.select(0, shape[0] - 1).zero_();
      result.set(path, picked(places.observations));
      result.set(next, std::move(later));
    } else {
      fail(Code::format, show_path(path), " of a compact storage has shape ",
           show_sizes(values.sizes()), "; ", count, " rows or ", places.all_observations,
           " observations are expected");
    }
  }
  return result;
}

}  // namespace td
