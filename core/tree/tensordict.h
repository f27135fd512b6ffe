// core/tree/tensordict.h: a dictionary of tensors that behaves like one tensor.
#pragma once

#include "core/base/key.h"
#include "core/tensor/index.h"
#include "core/tree/kinds.h"

#include <string>
#include <utility>
#include <vector>

namespace td {

// A snapshot of a dictionary's keys.
struct KeyList {
  struct Key {
    std::vector<std::string> path;
    EntryKind kind;
  };
  std::vector<Key> keys;
};

// Whether dtype, device, sizes and values are equal.
bool equal_tensors(const at::Tensor& a, const at::Tensor& b);

// Cheap to copy, like at::Tensor: copies refer to the same dictionary.
// On failure, functions throw td::Error and change no dictionary.
class TensorDict {
 public:
  explicit TensorDict(SizesView batch = {}, std::optional<c10::Device> device = std::nullopt);
  explicit TensorDict(NodePtr node) : node_(std::move(node)) {}

  const NodePtr& node() const noexcept { return node_; }
  NodePtr take_node() && noexcept { return std::move(node_); }
  bool is_dense() const noexcept { return node_->kind() == NodeKind::dense; }
  bool is_same(const TensorDict& other) const noexcept { return node_ == other.node_; }

  // Attributes.
  SizesView batch_size() const noexcept { return node_->batch(); }
  const std::optional<c10::Device>& device() const noexcept { return node_->device(); }
  bool is_locked() const noexcept { return td::is_locked(*node_); }
  bool is_memmap() const noexcept { return node_->memmapped(); }
  bool is_empty() const;
  std::size_t nbytes() const;
  const std::string& saved_path() const noexcept { return node_->saved_path(); }

  // Entries. Paths run through nested dictionaries.
  void set(Path path, at::Tensor value);
  // The same where nothing has to be computed: in dictionaries that hold their entries, on no device, with no names.
  // Takes `value` and returns true; else does nothing.
  bool set_now(Path path, at::Tensor& value);
  void set(Path path, const TensorDict& value);
  void set_non_tensor(Path path, Plain value);
  void set_non_tensor(Path path, std::string_view json);
  void set_inplace(Path path, const at::Tensor& value);
  at::Tensor get(Path path) const;
  // The tensor itself if the path has only dense dictionaries; else nullptr.
  const at::Tensor* stored(Path path) const;
  TensorDict get_dict(Path path) const;
  std::string get_non_tensor(Path path) const;
  EntryKind kind_of(Path path) const;
  void remove(Path path);

  // Whether set() of a tensor, or get_dict(), may run an operation of libtorch. Otherwise a caller need not
  // set up the thread for one.
  bool set_may_compute(Path path) const noexcept { return device() || get_dict_may_compute(path); }
  bool get_dict_may_compute(Path path) const noexcept { return path.size() != 1 || !is_dense(); }

  void set_batch_size(SizesView batch);
  void lock() const;
  void unlock() const;
  void clear_device();

  // Index, read and written.
  TensorDict index(c10::ArrayRef<IndexItem> items) const;
  void set_at(c10::ArrayRef<IndexItem> items, const TensorDict& value);
  void fill_at(c10::ArrayRef<IndexItem> items, const at::Tensor& value);

  // Shapes.
  TensorDict view(SizesView sizes) const;
  TensorDict reshape(SizesView sizes) const;
  TensorDict permute(SizesView order) const;
  TensorDict transpose(std::int64_t dim0, std::int64_t dim1) const;
  TensorDict squeeze(std::int64_t dim) const;
  TensorDict squeeze() const;
  TensorDict unsqueeze(std::int64_t dim) const;
  TensorDict expand(SizesView sizes) const;
  std::size_t dim_size(std::int64_t dim) const;  // of a batch dimension; Code::index
  std::vector<TensorDict> unbind(std::int64_t dim) const;

  // Copies and conversions.
  TensorDict clone(bool recurse = true) const;
  TensorDict contiguous() const;
  // Defined in core/consolidated/move.cpp, since a consolidated dictionary moves as one buffer.
  TensorDict to(c10::Device device, bool non_blocking = false) const;
  TensorDict to(c10::ScalarType dtype) const;
  bool equal(const TensorDict& other) const;

 private:
  NodePtr node_;
};

}  // namespace td
