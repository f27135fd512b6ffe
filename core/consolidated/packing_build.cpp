// Builds a dictionary from a parsed text, over the storage that holds its tensors.
#include "core/consolidated/packing.h"

#include "core/formats/format.h"
#include "core/tensor/assign.h"
#include "core/tensor/device.h"
#include "core/tensor/fast_path.h"
#include "core/tensorclass/found_type.h"
#include "core/tree/kinds.h"

#include <charconv>
#include <cstring>

namespace td::packing {

namespace {

at::Tensor leaf_over(const c10::Storage& storage, const Parsed::Leaf& leaf) {
  const std::size_t item = c10::elementSize(leaf.dtype);
  if (leaf.start % item == 0) {
    auto impl = c10::make_intrusive<c10::TensorImpl>(c10::Storage(storage),
                                                     c10::DispatchKeySet(c10::DispatchKey::CPU),
                                                     c10::scalarTypeToTypeMeta(leaf.dtype));
    impl->set_sizes_contiguous(leaf.sizes);
    impl->set_storage_offset(static_cast<std::int64_t>(leaf.start / item));
    return at::Tensor(std::move(impl));
  }
  // The items are misaligned, which happens to complex128 of other writers: copy.
  at::Tensor copy = fast::make_dense(leaf.sizes, leaf.dtype);
  if (leaf.bytes != 0) {
    std::memcpy(copy.data_ptr(), static_cast<const char*>(storage.data_ptr().get()) + leaf.start,
                leaf.bytes);
  }
  return copy;
}

// The parts of a nested tensor, which follow one another.
class NestedTensorParts {
 public:
  explicit NestedTensorParts(const std::string& where) : where_(where) {}

  // Whether the leaf is one of these parts.
  bool take(const Parsed::Leaf& leaf, const c10::Storage& storage) {
    if (take(leaf, values_mark)) {
      if (open_) fail_open();
      key_ = leaf.key.substr(values_mark.size());
      jagged_ = Jagged();
      jagged_.values = leaf_over(storage, leaf);
      open_ = true;
    } else if (take(leaf, lengths_mark)) {
      require(leaf, lengths_mark);
      if (jagged_.lengths.defined()) fail_open();
      jagged_.lengths = leaf_over(storage, leaf);
    } else if (take(leaf, offsets_mark)) {
      require(leaf, offsets_mark);
      jagged_.offsets = leaf_over(storage, leaf);
      jagged_.dim = leaf.nested_tensor_dim;
    } else {
      return false;
    }
    return true;
  }

  bool complete() const { return open_ && jagged_.offsets.defined(); }
  void require_none() const {
    if (open_) fail_open();
  }
  const std::string& key() const { return key_; }

  NestedTensorPtr make(SizesView batch) {
    open_ = false;
    const std::string where = where_ + ": " + quote(key_);
    NestedTensorPtr node = from_jagged(std::move(jagged_), where);
    const std::shared_ptr<const Jagged> jagged = node->jagged();
    try {
      node = for_batch(*node, batch, where);
    } catch (const Error& error) {
      fail(Code::format, error.what());
    }
    node->set_jagged(*jagged);
    return node;
  }

 private:
  static bool take(const Parsed::Leaf& leaf, std::string_view mark) {
    return std::string_view(leaf.key).substr(0, mark.size()) == mark;
  }
  void require(const Parsed::Leaf& leaf, std::string_view mark) const {
    if (!open_ || leaf.key.compare(mark.size(), std::string::npos, key_) != 0) {
      fail(Code::format, where_, ": ", quote(leaf.key),
           " follows no nested tensor that it belongs to");
    }
  }
  [[noreturn]] void fail_open() const {
    fail(Code::format, where_, ": the nested tensor ", quote(key_), " is not complete");
  }

  const std::string& where_;
  std::string key_;
  Jagged jagged_;
  bool open_ = false;
};

}  // namespace

std::optional<c10::Device> Parsed::device_of(const std::optional<std::string>& name,
                                             std::optional<c10::Device> wanted) const {
  if (wanted) return wanted;
  if (!name) return std::nullopt;
  try {
    return resolve_device(c10::Device(*name));
  } catch (const Error& error) {
    fail(Code::device, where_, ": ", error.what());
  } catch (const c10::Error&) {
    fail(Code::format, where_, ": no device is called ", quote(*name));
  }
}

NodePtr Parsed::build_non_tensor(const NonTensor& data, std::optional<c10::Device> wanted) const {
  const SizesView batch = data.batch;
  if (!checked_bytes(batch, 1)) {
    fail(Code::format, where_, ": the batch size ", show_sizes(batch), " is too large");
  }
  return c10::make_intrusive<NonTensorNode>(data.value, data.batch, device_of(data.device, wanted));
}

NodePtr Parsed::build_dense(const Dict& dict, std::vector<NodePtr>& made,
                            const c10::Storage& storage, std::optional<c10::Device> wanted) const {
  const SizesView batch = dict.batch;
  if (!checked_bytes(batch, 1)) {
    fail(Code::format, where_, ": the batch size ", show_sizes(batch), " is too large");
  }
  auto node = c10::make_intrusive<DenseNode>(batch, device_of(dict.device, wanted));
  node->reserve(dict.data.size() + dict.leaves.size() + dict.dicts.size());
  const auto put = [&](const std::string& key, SizesView sizes, Value value) {
    if (!begins_with(sizes, batch)) {
      fail(Code::format, where_, ": ", quote(key), " has shape ", show_sizes(sizes),
           ", which does not begin with the batch size ", show_sizes(batch));
    }
    if (node->find(key) != nullptr) {
      fail(Code::format, where_, ": two entries are called ", quote(key));
    }
    node->put(key, std::move(value));
  };
  for (const NonTensor& data : dict.data) put(data.key, data.batch, build_non_tensor(data, wanted));
  NestedTensorParts parts(where_);
  for (const Leaf& leaf : dict.leaves) {
    if (parts.take(leaf, storage)) {
      if (!parts.complete()) continue;
      NestedTensorPtr nested_tensor = parts.make(batch);
      nested_tensor->set_device(node->device());
      if (node->device() && *node->device() != nested_tensor->values().device()) {
        nested_tensor = nested_tensor->with_values(
            move_to(nested_tensor->values(), *node->device()), node->device());
      }
      const Sizes sizes(nested_tensor->batch().begin(), nested_tensor->batch().end());
      put(parts.key(), batch.empty() ? batch : SizesView(sizes), NodePtr(std::move(nested_tensor)));
      continue;
    }
    at::Tensor tensor = leaf_over(storage, leaf);
    if (node->device()) tensor = move_to(tensor, *node->device());
    put(leaf.key, leaf.sizes, std::move(tensor));
  }
  parts.require_none();
  for (const std::size_t number : dict.dicts) {
    NodePtr inner = std::move(made[number]);
    const Sizes sizes(inner->batch().begin(), inner->batch().end());
    put(dicts_[number].key, sizes, std::move(inner));
  }
  if (!dict.names.empty()) {
    if (dict.names.size() != batch.size()) {
      fail(Code::format, where_, ": ", dict.names.size(), " names for the batch size ",
           show_sizes(batch));
    }
    node->set_names(dict.names);
  }
  if (!dict.tensorclass.empty()) {
    const NodePtr made_node = node;
    node->set_tensorclass(found_type(dict.tensorclass, made_node, {}, nullptr, where_));
  }
  return node;
}

// The elements are named 0, 1, 2 ….
NodePtr Parsed::build_lazy(const Dict& dict, std::vector<NodePtr>& made,
                           std::optional<c10::Device> wanted) const {
  if (!dict.leaves.empty()) fail(Code::format, where_, ": a lazy stack holds a tensor");
  std::vector<NodePtr> elements(dict.data.size() + dict.dicts.size());
  const auto put = [&](const std::string& key, NodePtr element) {
    std::size_t i = elements.size();
    const auto read = std::from_chars(key.data(), key.data() + key.size(), i);
    const bool sound = read.ec == std::errc() && i < elements.size() && std::to_string(i) == key;
    if (!sound || elements[i].defined()) {
      fail(Code::format, where_, ": a lazy stack of ", elements.size(), " has an element ",
           quote(key));
    }
    elements[i] = std::move(element);
  };
  for (const NonTensor& data : dict.data) put(data.key, build_non_tensor(data, wanted));
  for (const std::size_t number : dict.dicts) put(dicts_[number].key, std::move(made[number]));
  try {
    NodePtr node = lazy_stack(std::move(elements), dict.stack_dim);
    if (!is_dict(*node) != (dict.kind == Dict::Kind::non_tensor_stack)) {
      fail(Code::format, "non-tensor data is in the wrong kind of stack");
    }
    if (dict.stack_name) {
      Names names = node->names();  // names shared by the elements
      names.resize(node->batch().size());
      names[static_cast<std::size_t>(dict.stack_dim)] = dict.stack_name;
      node->set_names(std::move(names));
    }
    return node;
  } catch (const Error& error) {
    fail(error.code() == Code::unsupported ? error.code() : Code::format, where_, ": ",
         error.what());
  }
}

NodePtr Parsed::build(const c10::Storage& storage, std::optional<c10::Device> device) const {
  if (device) device = resolve_device(*device);
  std::vector<bool> below_lock(dicts_.size());
  for (std::size_t i = 0; i < dicts_.size(); ++i) {
    for (const std::size_t inner : dicts_[i].dicts) {
      below_lock[inner] = below_lock[i] || dicts_[i].locked;
    }
  }
  std::vector<NodePtr> made(dicts_.size());
  for (std::size_t i = dicts_.size(); i-- > 0;) {
    const Dict& dict = dicts_[i];
    made[i] = dict.kind == Dict::Kind::dense ? build_dense(dict, made, storage, device)
                                             : build_lazy(dict, made, device);
    if (dict.locked && !below_lock[i]) lock(made[i]);
  }
  return std::move(made[0]);
}

}  // namespace td::packing
