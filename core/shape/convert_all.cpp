// Conversions with all options.
#include "core/shape/convert.h"
#include "core/tensor/assign.h"
#include "core/tensor/device.h"
#include "core/tree/changes.h"
#include "core/tree/copies.h"
#include "core/tree/engine.h"
#include "core/tree/inherit.h"
#include "core/tree/leaf_op.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/traverse.h"
#include "core/tree/walk.h"
#include "core/tree/zip.h"

#include <ATen/ATen.h>

namespace td {

namespace {

bool is_of(std::uint32_t kinds, c10::ScalarType dtype) {
  if (kinds == all_kinds) return true;
  const std::uint32_t kind = c10::isFloatingType(dtype)  ? floating_kinds
                             : c10::isComplexType(dtype) ? complex_kinds
                             : dtype == c10::kBool       ? bool_kinds
                                                         : integer_kinds;
  return (kinds & kind) != 0;
}

class ConvertOp final : public BatchOp {
 public:
  ConvertOp(std::optional<c10::ScalarType> dtype, std::optional<c10::Device> device,
            const ConvertOptions& options)
      : dtype_(dtype), device_(device), kinds_(options.kinds), pin_(options.pin) {}
  Sizes batch(SizesView before) const override { return Sizes(before.begin(), before.end()); }
  bool keeps_batch() const override { return true; }
  at::Tensor leaf(const at::Tensor& before) const override {
    at::Tensor from = before;
    if (pin_ && before.device().is_cpu() && !before.is_pinned()) from = before.pin_memory();
    const c10::Device device = device_.value_or(from.device());
    const bool changes = dtype_ && is_of(kinds_, from.scalar_type());
    const c10::ScalarType dtype = changes ? *dtype_ : from.scalar_type();
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
  std::uint32_t kinds_;
  bool pin_;
};

// Converts each leaf like its counterpart.
class ConvertEach final : public ZipOp {
 public:
  explicit ConvertEach(std::uint32_t kinds) : kinds_(kinds) {}
  at::Tensor leaf(const Here& here, Tensors tensors) const override {
    for (const at::Tensor* tensor : tensors) {
      if (tensor == nullptr) {
        fail(Code::key_not_found, "no entry ", show_path(here.path()), " in both dictionaries");
      }
    }
    const at::Tensor &from = *tensors[0], &wanted = *tensors[1];
    const bool changes = is_of(kinds_, from.scalar_type());
    return from.to(wanted.device().is_meta() ? from.device() : wanted.device(),
                   changes ? wanted.scalar_type() : from.scalar_type(), /*non_blocking=*/true);
  }

 private:
  std::uint32_t kinds_;
};

NodePtr convert_each(const TensorDict& td, const ConvertOptions& options) {
  WalkRules policy;
  policy.missing = WalkRules::Missing::fill;
  policy.what = "a conversion like another dictionary";
  return zip({td.node(), options.like->node()}, ConvertEach(options.kinds), policy);
}

void require_pinning() {
  for (const c10::DeviceType type : {c10::DeviceType::CUDA, c10::DeviceType::XPU}) {
    if (device_available(type)) return;
  }
  fail(Code::device, "pinned memory needs an accelerator; none found");
}

// Replaces the leaves of the first tree by those of the second, which has the same structure.
class Replacement : public WalkSink<Take::elements> {
 public:
  static constexpr bool opens_values = true;

  void enter(const Here&, Dicts dicts) { changes_.set_device(*dicts[0], dicts[1]->device()); }
  void enter_lazy(const Here&, const LazyNode& lazy, NodesHere nodes) {
    changes_.set_device(lazy, nodes[1]->device());
  }
  void leaf(const Here& here, Tensors tensors) {
    changes_.set(here.holder(), here.index(), *tensors[1]);
  }
  void value(const Here&, NodesHere nodes) { changes_.set_device(*nodes[0], nodes[1]->device()); }
  void nested_tensor(const Here& here, const NestedTensorNode& target, NodesHere nodes) {
    value(here, nodes);
    changes_.set_tensors(target, *nodes[1]);
  }

  void run() { changes_.run(); }

 private:
  Changes changes_;
};

void require_replaceable(const TensorDict& td) {
  if (is_locked(*td.node())) {
    fail(Code::locked, "the dictionary is locked: its tensors cannot be replaced");
  }
  require_own(*td.node(), "a sub-tensordict has no tensors of its own to replace");
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
  if (options.each_like) result = convert_each(td, options);
  if (dtype || device || options.pin) {
    result = map(result, ConvertOp(dtype, device, options));
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
  Replacement replacement;
  walk_pair(td.node(), result, replacement, all_entries());
  replacement.run();
  return td;
}

void set_common_device(const TensorDict& td) {
  std::optional<c10::Device> common;
  bool same = true;
  visit_values(*td.node(), [&](const Value& value) {
    const at::Tensor* leaf = elements_of(value);
    if (leaf == nullptr) return;
    same = same && (!common || *common == leaf->device());
    common = leaf->device();
  });
  Changes changes;
  visit_nodes(td.node(),
              [&](const Node& node) { changes.set_device(node, same ? common : std::nullopt); });
  changes.run();
}

void record_stream(const TensorDict& td, c10::Device device, std::int64_t stream) {
  device = resolve_device(device);
  if (device.is_cpu() || device.is_meta()) {
    fail(Code::device, "device \"", device.str(), "\" has no streams");
  }
  visit_values(*td.node(), [&](const Value& value) {
    const at::Tensor* leaf = elements_of(value);
    if (leaf != nullptr && leaf->device() != device) {
      fail(Code::device, "a tensor is on \"", leaf->device().str(), "\", the stream belongs to \"",
           device.str(), "\"");
    }
  });
  const c10::Stream recorded(c10::Stream::UNSAFE, device, stream);
  visit_values(*td.node(), [&](const Value& value) {
    if (const at::Tensor* leaf = elements_of(value)) leaf->record_stream(recorded);
  });
}

}  // namespace td
