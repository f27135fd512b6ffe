// Conversions with everything that can be said about them.
#include "core/shape/convert.h"
#include "core/tensor/assign.h"
#include "core/tensor/device.h"
#include "core/tree/inherit.h"
#include "core/tree/leaf_op.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

namespace td {

namespace {

class ConvertOp final : public BatchOp {
 public:
  ConvertOp(std::optional<c10::ScalarType> dtype, std::optional<c10::Device> device, bool pin)
      : dtype_(dtype), device_(device), pin_(pin) {}
  Sizes batch(SizesView before) const override { return Sizes(before.begin(), before.end()); }
  bool keeps_batch() const override { return true; }
  at::Tensor leaf(const at::Tensor& before) const override {
    at::Tensor from = before;
    if (pin_ && before.device().is_cpu() && !before.is_pinned()) from = before.pin_memory();
    const c10::Device device = device_.value_or(from.device());
    const c10::ScalarType dtype = dtype_.value_or(from.scalar_type());
    if (from.device() == device && from.scalar_type() == dtype) return from;
    return from.to(device, dtype, /*non_blocking=*/true);
  }
  std::optional<c10::Device> device(const std::optional<c10::Device>& before) const override {
    return device_ ? device_ : before;
  }
  Value nested_tensor(const NestedTensorNode& node) const override {
    return each_value(node, *this, [&](const at::Tensor& values) { return leaf(values); });
  }

 private:
  std::optional<c10::ScalarType> dtype_;
  std::optional<c10::Device> device_;
  bool pin_;
};

// Of each leaf its own.
NodePtr convert_each(const TensorDict& td, const TensorDict& like) {
  visit_paths(*like.node(), [&](Path path, const Value& value) {
    if (!value.is_node()) td.get(path);
  });
  const TensorDict copy = td.clone(/*recurse=*/false);
  visit_paths(*td.node(), [&](Path path, const Value& value) {
    if (value.is_node() && value.node()->kind() == NodeKind::nested_tensor) {
      fail(Code::unsupported, show_path(path),
           " is a nested tensor, which cannot be converted like another");
    }
    if (value.is_node()) return;
    const at::Tensor& wanted = like.get(path);
    const bool meta = wanted.device().is_meta();
    TensorDict(copy).set(path, value.tensor().to(meta ? value.tensor().device() : wanted.device(),
                                                 wanted.scalar_type(), /*non_blocking=*/true));
  });
  return copy.node();
}

void require_pinning() {
  for (const c10::DeviceType type : {c10::DeviceType::CUDA, c10::DeviceType::XPU}) {
    if (device_available(type)) return;
  }
  fail(Code::device, "pinned memory needs an accelerator; none found");
}

// Puts the leaves of `source` into `target`: trees of the same structure.
void replace_leaves(const NodePtr& target, const NodePtr& source) {
  std::vector<std::pair<Node*, Node*>> pairs{{target.get(), source.get()}};
  while (!pairs.empty()) {
    const auto [to, from] = pairs.back();
    pairs.pop_back();
    to->set_device(from->device());
    if (DenseNode* dense = as_dense(to)) {
      for (std::size_t i = 0; i < dense->size(); ++i) {
        const Value& value = as_dense(from)->value(i);
        if (value.is_node()) {
          pairs.push_back({dense->value(i).node().get(), value.node().get()});
        } else {
          dense->set_value(i, value);
        }
      }
    } else if (NestedTensorNode* nested_tensor = as_nested_tensor(to)) {
      nested_tensor->set_tensors(as_nested_tensor(from)->values(), as_nested_tensor(from)->sizes());
    } else if (LazyNode* lazy = as_lazy(to)) {
      for (std::size_t i = 0; i < lazy->elements().size(); ++i) {
        pairs.push_back({lazy->elements()[i].get(), as_lazy(from)->elements()[i].get()});
      }
    }
  }
}

void require_replaceable(const TensorDict& td) {
  if (is_locked(*td.node())) {
    fail(Code::locked, "the dictionary is locked: its tensors cannot be replaced");
  }
  if (td.node()->kind() == NodeKind::sub_tensordict) {
    fail(Code::unsupported, "a sub-tensordict has no tensors of its own to replace");
  }
}

}  // namespace

TensorDict convert(const TensorDict& td, const ConvertOptions& options) {
  std::optional<c10::ScalarType> dtype = options.dtype;
  std::optional<c10::Device> device = options.device;
  if (options.each_like && options.like == nullptr) {
    fail(Code::invalid_argument, "each_like needs a dictionary in like");
  }
  if (options.like != nullptr && !options.each_like) {
    if (!device) device = options.like->device();
    if (!dtype) dtype = common_dtype(*options.like);
  }
  if (device) device = resolve_device(*device);
  if (device == td.device()) device.reset();
  if (options.pin) require_pinning();
  if (options.inplace) require_replaceable(td);
  NodePtr result = td.node();
  if (options.each_like) result = convert_each(td, *options.like);
  if (dtype || device || options.pin) {
    result = map(result, ConvertOp(dtype, device, options.pin));
  }
  if (result == td.node()) return td;
  if (!options.non_blocking) {
    wait_for_copies(*td.node(), device.value_or(c10::Device(c10::kCPU)));
    if (!device) wait_for_copies(*result, c10::Device(c10::kCPU));
  }
  if (!options.inplace) {
    inherit_flags(*td.node(), result, /*memmap=*/false);
    return TensorDict(std::move(result));
  }
  replace_leaves(td.node(), result);
  return td;
}

void set_common_device(const TensorDict& td) {
  std::optional<c10::Device> common;
  bool same = true;
  std::vector<Node*> nodes{td.node().get()};
  visit(*td.node(), [&](const Value& value) {
    if (value.is_node()) nodes.push_back(value.node().get());
    const at::Tensor* leaf = elements_of(value);
    if (leaf == nullptr) return;
    same = same && (!common || *common == leaf->device());
    common = leaf->device();
  });
  for (Node* node : nodes) node->set_device(same ? common : std::nullopt);
}

void record_stream(const TensorDict& td, c10::Device device, std::int64_t stream) {
  device = resolve_device(device);
  if (device.is_cpu() || device.is_meta()) {
    fail(Code::device, "device \"", device.str(), "\" has no streams");
  }
  visit(*td.node(), [&](const Value& value) {
    const at::Tensor* leaf = elements_of(value);
    if (leaf != nullptr && leaf->device() != device) {
      fail(Code::device, "a tensor is on \"", leaf->device().str(), "\", the stream belongs to \"",
           device.str(), "\"");
    }
  });
  const c10::Stream recorded(c10::Stream::UNSAFE, device, stream);
  visit(*td.node(), [&](const Value& value) {
    if (const at::Tensor* leaf = elements_of(value)) leaf->record_stream(recorded);
  });
}

}  // namespace td
