#include "core/tables/columns.h"

#include "core/shape/shape.h"
#include "core/tree/lazy_node.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

namespace td {

namespace {

struct ElementName {
  std::string base;
  std::vector<std::int64_t> place;  // empty: an ordinary name
};

// "a[1,0]" is an element of "a".
ElementName parse_element(const std::string& name) {
  const std::size_t open = name.rfind('[');
  if (open == std::string::npos || open == 0 || name.back() != ']') return {name, {}};
  ElementName result{name.substr(0, open), {}};
  const char* at = name.data() + open + 1;
  const char* const end = name.data() + name.size() - 1;
  for (;;) {
    std::int64_t number = 0;
    const auto read = std::from_chars(at, end, number);
    const bool plain =
        read.ec == std::errc() && number >= 0 && *at != '-' && (*at != '0' || read.ptr == at + 1);
    if (!plain || (read.ptr != end && *read.ptr != ',')) return {name, {}};
    result.place.push_back(number);
    if (read.ptr == end) return result;
    at = read.ptr + 1;
  }
}

struct ColumnGroup {
  std::vector<std::size_t> columns;
  std::vector<std::vector<std::int64_t>> places;
  bool broken = false;  // another column has the name
};

// The columns in row-major order; empty if one is missing or does not fit.
std::vector<std::size_t> in_row_major(const ColumnGroup& group,
                                      const std::vector<NamedValue>& columns, Sizes& sizes) {
  const std::size_t count = group.columns.size();
  sizes.assign(group.places.front().size(), 1);
  for (const auto& place : group.places) {
    if (place.size() != sizes.size()) return {};
    for (std::size_t i = 0; i < place.size(); ++i) {
      if (place[i] >= static_cast<std::int64_t>(count)) return {};
      sizes[i] = std::max(sizes[i], place[i] + 1);
    }
  }
  std::size_t all = 1;
  for (const std::int64_t size : sizes) {
    all *= static_cast<std::size_t>(size);
    if (all > count) return {};
  }
  if (all != count) return {};
  std::vector<std::size_t> result(count, columns.size());
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t at = 0;
    for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
      at = at * static_cast<std::size_t>(sizes[dim]) +
           static_cast<std::size_t>(group.places[i][dim]);
    }
    const Value& value = columns[group.columns[i]].value;
    const Value& first = columns[group.columns[0]].value;
    if (result[at] != columns.size() || value.is_node() || first.is_node()) return {};
    if (value.tensor().scalar_type() != first.tensor().scalar_type()) return {};
    result[at] = group.columns[i];
  }
  return result;
}

// The values of a column that could count rows.
const std::int64_t* counting_numbers(const NamedValue& column) {
  if (column.value.is_node() || column.value.tensor().scalar_type() != at::kLong) return nullptr;
  if (column.value.tensor().dim() != 1) return nullptr;
  return column.value.tensor().data_ptr<std::int64_t>();
}

bool are_counters(const std::vector<NamedValue>& columns, std::size_t dims) {
  if (columns.size() < dims) return false;
  for (std::size_t i = 0; i < dims; ++i) {
    if (columns[i].name != counter_name(i, dims) || counting_numbers(columns[i]) == nullptr)
      return false;
  }
  return true;
}

// The lengths of consecutive episodes, each with steps from 0 on; empty if the numbers differ from that.
std::vector<std::int64_t> episode_lengths(const std::int64_t* episode, const std::int64_t* step,
                                          std::int64_t rows) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t row = 0; row < rows; ++row) {
    if (step[row] == 0) lengths.push_back(0);
    if (lengths.empty() || episode[row] != static_cast<std::int64_t>(lengths.size()) - 1 ||
        step[row] != lengths.back())
      return {};
    ++lengths.back();
  }
  return lengths;
}

// Whether the columns list all batch positions in row-major order, each once.
bool counts_all(const std::vector<NamedValue>& columns, SizesView batch, std::int64_t rows) {
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t rest = row;
    for (std::size_t i = batch.size(); i-- > 0;) {
      if (counting_numbers(columns[i])[row] != rest % batch[i]) return false;
      rest /= batch[i];
    }
  }
  return true;
}

}  // namespace

std::vector<NamedValue> join_elements(std::vector<NamedValue> columns) {
  std::unordered_map<std::string, ColumnGroup> groups;
  std::vector<ElementName> names;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    names.push_back(parse_element(columns[i].name));
    ColumnGroup& group = groups[names[i].base];
    group.broken = group.broken || names[i].place.empty();
    group.columns.push_back(i);
    group.places.push_back(names[i].place);
  }
  std::vector<NamedValue> result;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    ColumnGroup& group = groups[names[i].base];
    Sizes sizes;
    const bool first = group.columns.front() == i;
    const std::vector<std::size_t> order =
        !group.broken && first ? in_row_major(group, columns, sizes) : std::vector<std::size_t>();
    if (first && order.empty()) group.broken = true;
    if (group.broken) {
      result.push_back(std::move(columns[i]));
    } else if (first) {
      std::vector<at::Tensor> parts;
      for (const std::size_t at : order) parts.push_back(columns[at].value.tensor());
      Sizes shape(sizes);
      shape.insert(shape.begin(), parts.front().size(0));
      result.push_back({names[i].base, at::stack(parts, 1).reshape(shape)});
    }
  }
  return result;
}

Counted count_batch(const std::vector<NamedValue>& columns, std::int64_t rows) {
  if (rows == 0) return {};
  if (are_counters(columns, 2)) {
    std::vector<std::int64_t> lengths =
        episode_lengths(counting_numbers(columns[0]), counting_numbers(columns[1]), rows);
    if (lengths.empty()) return {};
    const bool equal = std::all_of(lengths.begin(), lengths.end(),
                                   [&](std::int64_t one) { return one == lengths.front(); });
    if (!equal) return {2, {}, std::move(lengths)};
    return {2, Sizes{static_cast<std::int64_t>(lengths.size()), lengths.front()}, {}};
  }
  std::size_t dims = 0;
  while (dims < columns.size() && columns[dims].name == counter_name(dims, 3)) ++dims;
  if (dims < 3 || dims > max_listed_dims || !are_counters(columns, dims)) return {};
  Sizes batch;
  std::int64_t all = 1;
  for (std::size_t i = 0; i < dims; ++i) {
    const std::int64_t* from = counting_numbers(columns[i]);
    const auto [least, most] = std::minmax_element(from, from + rows);
    if (*least < 0 || *most >= rows) return {};
    batch.push_back(*most + 1);
    all = all > rows ? all : all * batch.back();
  }
  if (all != rows || !counts_all(columns, batch, rows)) return {};
  return {dims, batch, {}};
}

TensorDict with_batch(const TensorDict& td, const Counted& counted) {
  if (counted.lengths.empty()) return td.reshape(counted.batch);
  std::vector<NodePtr> episodes;
  for (const TensorDict& episode : split(td, 0, counted.lengths))
    episodes.push_back(episode.node());
  return TensorDict(lazy_stack(std::move(episodes), 0));
}

}  // namespace td
