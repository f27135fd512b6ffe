// The functions of the C library that tdtool needs to look at dictionaries, implemented over disk.h.
// tdtool-main links the real library: commands share their source. Functions that are missing here fail; the
// command then restarts in tdtool-main.
#include <algorithm>
#include <cstring>

#include "disk_node.h"

using disk::Bytes;
using disk::Node;
using disk::Sizes;

// A part of a tree: integers for the first batch dimensions, then possibly a range of the next.
struct td_tensordict {
  std::shared_ptr<const Node> root;
  const Node *node;
  std::vector<std::int64_t> at;
  std::int64_t first, past;  // past -1: all
};
struct td_tensor {
  std::shared_ptr<const td_tensordict> of;
  Bytes bytes;  // set on first use
};
struct td_keys {
  std::vector<const char *> names;
  std::shared_ptr<const Node> root;
};

namespace {

Sizes sizes_of(const td_tensordict &td) {
  Sizes sizes(td.node->sizes.begin() + static_cast<std::ptrdiff_t>(td.at.size()),
              td.node->sizes.end());
  if (td.past >= 0) sizes[0] = td.past - td.first;
  return sizes;
}

// The offset in bytes from the start of the tensor.
std::uint64_t offset_of(const td_tensordict &td) {
  std::uint64_t elements = 0;
  const Sizes &sizes = td.node->sizes;
  for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
    const std::int64_t place = dim < td.at.size()                    ? td.at[dim]
                               : dim == td.at.size() && td.past >= 0 ? td.first
                                                                     : 0;
    elements =
        elements * static_cast<std::uint64_t>(sizes[dim]) + static_cast<std::uint64_t>(place);
  }
  return elements * disk::item_of(td.node->dtype);
}

const Node *find(const td_tensordict &td, const char *const *path, std::size_t length) {
  const Node *at = td.node;
  for (std::size_t i = 0; i < length && at != nullptr; ++i)
    at = at->kind == TD_ENTRY_DICT ? at->find(path[i]) : nullptr;
  return at;
}

td_tensordict *part(const td_tensordict &td, const Node *node) {
  auto *made = new td_tensordict(td);
  made->node = node;
  return made;
}

template <class T>
td_status write(const std::vector<T> &from, T *to, std::size_t room, std::size_t *length) {
  *length = from.size();
  if (room == 0) return TD_OK;
  if (room < from.size()) return TD_ERR_BUFFER_TOO_SMALL;
  std::copy(from.begin(), from.end(), to);
  return TD_OK;
}

std::uint64_t bytes_below(const Node &node, std::uint64_t share_of, std::uint64_t share) {
  if (node.kind == TD_ENTRY_TENSOR)
    return disk::bytes_of(node.sizes, disk::item_of(node.dtype)) / share_of * share;
  std::uint64_t bytes = 0;
  for (const auto &inner : node.inside) bytes += bytes_below(*inner, share_of, share);
  return bytes;
}

using Keys = std::vector<const td_key *>;

// A copy of the ways to some entries, in the order of their keys. `all`: each is there.
std::shared_ptr<Node> only_ways(const Node &node, const Keys &keys, std::size_t level, bool &all) {
  auto made = std::make_shared<Node>(node);
  for (const td_key *key : keys) {
    if (key->path_len == level) return made;
  }
  made->inside.clear();
  made->places.clear();
  for (const td_key *key : keys) {
    const std::string name = key->path[level];
    if (made->places.count(name) != 0) continue;
    const Node *inner = node.kind == TD_ENTRY_DICT ? node.find(name) : nullptr;
    if (inner == nullptr) {
      all = false;
      continue;
    }
    Keys below;
    for (const td_key *other : keys) {
      if (name == other->path[level]) below.push_back(other);
    }
    made->places.emplace(name, made->inside.size());
    made->inside.push_back(only_ways(*inner, below, level + 1, all));
  }
  return made;
}

}  // namespace

td_tensordict *disk_handle(std::shared_ptr<const Node> root) {
  const Node *node = root.get();
  return new td_tensordict{std::move(root), node, {}, 0, -1};
}

extern "C" {

td_status td_dup(const td_tensordict *td, td_tensordict **result) noexcept {
  *result = new td_tensordict(*td);
  return TD_OK;
}
void td_free(td_tensordict *td) noexcept { delete td; }

td_status td_kind(const td_tensordict *, td_dict_kind *result) noexcept {
  *result = TD_DICT_DENSE;
  return TD_OK;
}

td_status td_batch_size(const td_tensordict *td, int64_t *sizes, size_t room,
                        size_t *dims) noexcept {
  return write(sizes_of(*td), sizes, room, dims);
}

td_status td_nbytes(const td_tensordict *td, size_t *result) noexcept {
  std::int64_t all = 1, here = 1;
  for (const std::int64_t size : td->node->sizes) all *= size;
  for (const std::int64_t size : sizes_of(*td)) here *= size;
  *result = all == 0 ? 0
                     : bytes_below(*td->node, static_cast<std::uint64_t>(all),
                                   static_cast<std::uint64_t>(here));
  return TD_OK;
}

// Supports integers and ranges of the first dimension.
td_status td_index(const td_tensordict *td, const td_index_item *items, size_t length,
                   td_tensordict **result) noexcept {
  const Sizes sizes = sizes_of(*td);
  if (length != 1 || sizes.empty()) return TD_ERR_UNSUPPORTED;
  auto made = std::make_unique<td_tensordict>(*td);
  const std::int64_t before = td->past >= 0 ? td->first : 0;
  const td_index_item &item = items[0];
  if (item.start < 0 || item.start > sizes[0]) return TD_ERR_INDEX;
  if (item.kind == TD_INDEX_INT) {
    if (item.start == sizes[0]) return TD_ERR_INDEX;
    made->at.push_back(before + item.start);
    made->first = 0;
    made->past = -1;
  } else if (item.kind == TD_INDEX_SLICE &&
             item.flags == (TD_INDEX_HAS_START | TD_INDEX_HAS_STOP)) {
    made->first = before + item.start;
    made->past = before + std::clamp(item.stop, item.start, sizes[0]);
  } else {
    return TD_ERR_UNSUPPORTED;
  }
  *result = made.release();
  return TD_OK;
}

td_status td_select(const td_tensordict *td, const td_key *keys, size_t length,
                    const td_select_options *options, td_tensordict **result) noexcept {
  Keys wanted;
  for (std::size_t i = 0; i < length; ++i) wanted.push_back(keys + i);
  bool all = true;
  std::shared_ptr<const Node> kept = only_ways(*td->node, wanted, 0, all);
  if (!all && (options == nullptr || !options->ignore_missing)) return TD_ERR_KEY_NOT_FOUND;
  auto made = std::make_unique<td_tensordict>(*td);
  made->node = kept.get();
  made->root = std::move(kept);
  *result = made.release();
  return TD_OK;
}

td_status td_get_kind(const td_tensordict *td, const char *const *path, size_t length,
                      td_entry_kind *result) noexcept {
  const Node *found = find(*td, path, length);
  *result = found == nullptr ? TD_ENTRY_NONE : found->kind;
  return TD_OK;
}

td_status td_get_dict(const td_tensordict *td, const char *const *path, size_t length,
                      td_tensordict **result) noexcept {
  const Node *found = find(*td, path, length);
  if (found == nullptr) return TD_ERR_KEY_NOT_FOUND;
  if (found->kind != TD_ENTRY_DICT) return TD_ERR_WRONG_ENTRY;
  *result = part(*td, found);
  return TD_OK;
}

td_status td_get(const td_tensordict *td, const char *const *path, size_t length,
                 td_tensor **result) noexcept {
  const Node *found = find(*td, path, length);
  *result = nullptr;
  if (found == nullptr) return TD_ERR_KEY_NOT_FOUND;
  if (found->kind != TD_ENTRY_TENSOR) return TD_ERR_WRONG_ENTRY;
  *result = new td_tensor{std::shared_ptr<const td_tensordict>(part(*td, found)), nullptr};
  return TD_OK;
}

void td_tensor_free(td_tensor *tensor) noexcept { delete tensor; }

td_status td_tensor_dtype(const td_tensor *tensor, td_dtype *result) noexcept {
  *result = static_cast<td_dtype>(tensor->of->node->dtype);
  return TD_OK;
}

td_status td_tensor_sizes(const td_tensor *tensor, int64_t *sizes, size_t room,
                          size_t *dims) noexcept {
  return write(sizes_of(*tensor->of), sizes, room, dims);
}

// All tensors are already contiguous on the CPU.
td_status td_tensor_contiguous(const td_tensor *tensor, td_tensor **result) noexcept {
  *result = new td_tensor(*tensor);
  return TD_OK;
}
td_status td_tensor_to(const td_tensor *tensor, td_dtype, td_device_type, int32_t,
                       td_tensor **result) noexcept {
  return td_tensor_contiguous(tensor, result);
}

td_status td_tensor_data(const td_tensor *tensor, void **result) noexcept {
  try {
    auto &held = const_cast<td_tensor *>(tensor)->bytes;
    if (held == nullptr) held = tensor->of->node->bytes();
    *result = const_cast<char *>(held.get() + offset_of(*tensor->of));
    return TD_OK;
  } catch (const std::exception &) {
    return TD_ERR_UNSUPPORTED;
  }
}

td_status td_get_non_tensor_json(const td_tensordict *td, const char *const *path, size_t length,
                                 char *text, size_t room, size_t *bytes) noexcept {
  const Node *found = find(*td, path, length);
  if (found == nullptr || found->kind != TD_ENTRY_NON_TENSOR) return TD_ERR_WRONG_ENTRY;
  const std::string &json = found->json;
  *bytes = json.size();
  if (room == 0) return TD_OK;
  if (room <= json.size()) return TD_ERR_BUFFER_TOO_SMALL;
  std::memcpy(text, json.c_str(), json.size() + 1);
  return TD_OK;
}

td_status td_keys_of(const td_tensordict *td, const td_keys_options *options,
                     td_keys **result) noexcept {
  if (options != nullptr) return TD_ERR_UNSUPPORTED;
  auto made = std::make_unique<td_keys>();
  for (const auto &inner : td->node->inside) made->names.push_back(inner->name.c_str());
  made->root = td->root;
  *result = made.release();
  return TD_OK;
}
size_t td_keys_len(const td_keys *keys) noexcept { return keys->names.size(); }
td_status td_keys_at(const td_keys *keys, size_t position, const char *const **path,
                     size_t *length) noexcept {
  *path = &keys->names[position];
  *length = 1;
  return TD_OK;
}
void td_keys_free(td_keys *keys) noexcept { delete keys; }

size_t td_dtype_size(td_dtype dtype) noexcept {
  const td::DTypeRow *row = td::find_dtype(static_cast<td::DType>(dtype));
  return row == nullptr ? 0 : row->bytes;
}

td_status td_tensorclass_of(const td_tensordict *, td_tensorclass **result) noexcept {
  *result = nullptr;
  return TD_OK;
}
void td_tensorclass_free(td_tensorclass *) noexcept {}

const char *td_last_error_message(void) noexcept { return ""; }
void td_set_error(td_status, const char *) noexcept {}

// Properties that these dictionaries never have.
td_status td_get_non_tensor_stack_json(const td_tensordict *, const char *const *, size_t, char *,
                                       size_t, size_t *) noexcept {
  return TD_ERR_UNSUPPORTED;
}
td_status td_tensorclass_name(const td_tensorclass *, char *, size_t, size_t *) noexcept {
  return TD_ERR_UNSUPPORTED;
}
td_status td_lazy_info(const td_tensordict *, int64_t *, size_t *) noexcept {
  return TD_ERR_UNSUPPORTED;
}
td_status td_lazy_exclusive_keys(const td_tensordict *, td_keys **) noexcept {
  return TD_ERR_UNSUPPORTED;
}
td_status td_lazy_stack(const td_tensordict *const *, size_t, int64_t, td_tensordict **) noexcept {
  return TD_ERR_UNSUPPORTED;
}
td_status td_get_nested_tensor(const td_tensordict *, const char *const *, size_t,
                               td_tensordict **) noexcept {
  return TD_ERR_UNSUPPORTED;
}
td_status td_nested_tensor_values(const td_tensordict *, td_tensor **, td_tensor **) noexcept {
  return TD_ERR_UNSUPPORTED;
}
}
