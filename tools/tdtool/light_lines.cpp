#include "light_lines.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace light {

namespace {

constexpr std::uint64_t max_size = std::uint64_t{1} << 62;

void free_entry(entry &line) {
  std::free(line.name);
  std::free(line.sizes);
  std::free(line.value);
  line = {};
}

}  // namespace

bool begins_with(const Sizes &sizes, const Sizes &first) {
  return sizes.size() >= first.size() && std::equal(first.begin(), first.end(), sizes.begin());
}

// A zero does not excuse the others: strides are products of them too.
std::uint64_t bytes_of(const Sizes &sizes, std::uint64_t item) {
  std::uint64_t bytes = item;
  bool empty = false;
  for (const std::int64_t size : sizes) {
    const auto count = static_cast<std::uint64_t>(size);
    empty = empty || count == 0;
    if (count == 0) continue;
    if (count > max_size / bytes) throw NotPlain();
    bytes *= count;
  }
  return empty ? 0 : bytes;
}

Dtype dtype_named(const std::string &name) {
  Dtype result{TD_DTYPE_OTHER, 0};
  result.number = dtype_called(name.c_str(), &result.bytes);
  if (result.number == TD_DTYPE_OTHER || result.number >= TD_DTYPE_UINT16) throw NotPlain();
  return result;
}

std::size_t Lines::new_line() {
  if (tree_->length == max_lines) throw NotPlain();
  if (tree_->length == capacity_) {
    capacity_ = capacity_ != 0 ? 2 * capacity_ : 64;
    tree_->entries = static_cast<entry *>(xrealloc(tree_->entries, capacity_ * sizeof(entry)));
  }
  const std::size_t line = tree_->length++;
  at(line) = {};
  at(line).kind = TD_ENTRY_DICT;
  at(line).dict_kind = TD_DICT_DENSE;
  return line;
}

void Lines::root(const Sizes &batch) {
  const std::size_t line = new_line();
  at(line).last = true;
  set_sizes(line, batch);
}

std::size_t Lines::add(std::size_t parent, const std::string &name, bool last) {
  const std::size_t line = new_line();
  at(line).name = xstrdup(name.c_str());
  at(line).parent = parent;
  at(line).last = last;
  at(line).depth = at(parent).depth + 1;
  at(line).dims_before = at(parent).dims;
  if (at(line).depth > max_levels) throw NotPlain();
  return line;
}

void Lines::set_sizes(std::size_t line, const Sizes &sizes) {
  at(line).dims = sizes.size();
  at(line).sizes = static_cast<std::int64_t *>(xcalloc(sizes.size(), sizeof(std::int64_t)));
  std::copy(sizes.begin(), sizes.end(), at(line).sizes);
}

void Lines::dictionary(std::size_t line, const Sizes &batch) {
  set_sizes(line, batch);
  at(line).same_batch = same_sizes(&at(line), &at(at(line).parent));
}

void Lines::tensor(std::size_t line, const Dtype &dtype, const Sizes &sizes) {
  at(line).kind = TD_ENTRY_TENSOR;
  at(line).dtype = dtype.number;
  at(line).bytes = bytes_of(sizes, dtype.bytes);
  set_sizes(line, sizes);
}

void Lines::value(std::size_t line, const std::string &json) {
  at(line).kind = TD_ENTRY_NON_TENSOR;
  at(line).value = xstrdup(json.c_str());
}

Sizes Lines::sizes_of(std::size_t line) const {
  const entry &from = tree_->entries[line];
  return {from.sizes, from.sizes + from.dims};
}

void Lines::keep(const key &wanted) {
  std::size_t found = 0;
  for (std::size_t level = 0; level < wanted.length; ++level) {
    const std::size_t parent = found;
    std::size_t next = parent + 1;
    while (next < tree_->length &&
           (at(next).parent != parent || std::strcmp(at(next).name, wanted.names[level]) != 0))
      ++next;
    if (next >= tree_->length) throw NotPlain();
    found = next;
  }
  if (found == 0) return;
  if (at(found).kind != TD_ENTRY_DICT) return keep_way(found);
  std::size_t past = found + 1;
  while (past < tree_->length && at(past).depth > at(found).depth) ++past;
  keep_range(found, past);
}

// A dictionary becomes the root.
void Lines::keep_range(std::size_t first, std::size_t past) {
  const std::size_t levels = at(first).depth;
  for (std::size_t i = 0; i < tree_->length; ++i) {
    if (i < first || i >= past) {
      free_entry(at(i));
      continue;
    }
    std::swap(at(i - first), at(i));
    at(i - first).depth -= levels;
    at(i - first).parent -= i == first ? at(i - first).parent : first;
  }
  tree_->length = past - first;
  std::free(at(0).name);
  at(0).name = nullptr;
  at(0).last = true;
  at(0).same_batch = false;
  at(0).dims_before = 0;
}

// One entry stays, and the dictionaries around it.
void Lines::keep_way(std::size_t line) {
  std::vector<bool> kept(tree_->length, false);
  for (std::size_t i = line; i != 0; i = at(i).parent) kept[i] = true;
  std::size_t next = 1;
  for (std::size_t i = 1; i < tree_->length; ++i) {
    if (!kept[i]) {
      free_entry(at(i));
      continue;
    }
    std::swap(at(next), at(i));
    at(next).parent = next - 1;
    at(next).last = true;
    ++next;
  }
  tree_->length = next;
}

}  // namespace light
