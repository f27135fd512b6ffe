// Creates, marks and checks tensorclasses.
#include "core/tensorclass/tensorclass.h"

#include "core/tensor/device.h"
#include "core/tree/paths.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

// Copies one element over the whole batch.
at::Tensor spread(const at::Tensor& element, SizesView batch, std::optional<c10::Device> device) {
  Sizes sizes(batch.begin(), batch.end());
  sizes.append(element.sizes().begin(), element.sizes().end());
  const at::Tensor tensor = element.expand(sizes).clone(at::MemoryFormat::Contiguous);
  return device ? move_to(tensor, *device) : tensor;
}

Value default_of(const TensorclassField& field, SizesView batch,
                 std::optional<c10::Device> device) {
  if (field.default_tensor.defined()) return spread(field.default_tensor, batch, device);
  return NodePtr(c10::make_intrusive<NonTensorNode>(field.default_value, batch, device));
}

at::Tensor zeros_of(const TensorclassType& type, const TensorclassField& field, SizesView batch,
                    std::optional<c10::Device> device) {
  const bool known =
      field.dtype && field.feature &&
      std::find(field.feature->begin(), field.feature->end(), -1) == field.feature->end();
  if (!known) {
    fail(Code::invalid_argument, "field ", quote(field.name), " of tensorclass ",
         quote(type.name()), " is ", describe(field),
         ": it cannot be made without a default, a dtype and sizes");
  }
  Sizes sizes(batch.begin(), batch.end());
  sizes.append(field.feature->begin(), field.feature->end());
  at::TensorOptions options(*field.dtype);
  if (device) options = options.device(*device);
  return at::zeros(sizes, options);
}

// Plans the changes that turn a tree into a tensorclass, checking all of it before the first change.
class Marking {
 public:
  // `complete`: requires a valid tensorclass; otherwise adds what is missing.
  Marking(const TensorclassTypePtr& type, const NodePtr& root, bool complete)
      : complete_(complete) {
    walk_.add({type, root});
    walk_.run([&](const Place& at) { look(at.type, at.node); });
  }

  Changes& changes() noexcept { return changes_; }

 private:
  void look(const TensorclassTypePtr& type, const NodePtr& node) {
    held_.push_back(node);
    const TensorclassTypePtr& before = node->tensorclass();
    changes_.set_tensorclass(*node, with_pickled(type, before ? before->pickled() : nullptr));
    if (const LazyNode* lazy = as_lazy(node.get()); lazy != nullptr && !lazy->holds_non_tensor()) {
      for (const NodePtr& element : lazy->elements()) add(type, element);
      return;
    }
    if (is_opaque(*node)) {
      fail(Code::wrong_entry, "tensorclass ", quote(type->name()),
           " is a dictionary; found a value");
    }
    require_declared(*type, *node);
    for (const TensorclassField& field : type->fields()) look(*type, field, node);
  }

  void look(const TensorclassType& type, const TensorclassField& field, const NodePtr& node) {
    const std::optional<Value> entry = entry_of(node, field.name);
    if (!entry) {
      if (field.has_default() && !complete_) {
        put(node, field, default_of(field, node->batch(), node->device()));
      } else if (!field.optional) {
        fail(Code::key_not_found, "tensorclass ", quote(type.name()), " needs a field ",
             quote(field.name), ", ", describe(field), ", which is missing");
      }
      return;
    }
    const Value fitting =
        fit_value(type, field, node->batch(), *entry, type.autocast() && !complete_);
    if (field.kind == FieldKind::tensorclass) add(field.tensorclass, entry->node());
    if (field.kind == FieldKind::tensor && !fitting.is_node() &&
        !fitting.tensor().is_same(entry->tensor())) {
      put(node, field, fitting);
    }
  }

  void put(const NodePtr& node, const TensorclassField& field, Value value) {
    const DenseNode* dense = as_dense(node.get());
    if (dense == nullptr) {
      fail(Code::unsupported, "field ", quote(field.name),
           " cannot be written into a sub-tensordict");
    }
    require_unlocked(*dense);
    changes_.set(*dense, field.name, std::move(value));
  }

  struct Place {
    TensorclassTypePtr type;
    NodePtr node;
  };

  // A node may be needed as several types.
  void add(const TensorclassTypePtr& type, const NodePtr& node) {
    walk_.add_once(node.get(), {type, node}, reinterpret_cast<std::uintptr_t>(type.get()));
  }

  Traversal<Place> walk_;
  std::vector<NodePtr> held_;  // nodes read from a sub-tensordict
  Changes changes_;
  bool complete_;
};

}  // namespace

void check_tensorclass(const TensorclassTypePtr& type, const TensorDict& td) {
  if (type == nullptr) fail(Code::invalid_argument, "the dictionary is not a tensorclass");
  Marking(type, td.node(), /*complete=*/true);
}

TensorDict make_tensorclass(const TensorclassTypePtr& type, SizesView batch,
                            std::optional<c10::Device> device) {
  const TensorDict root(batch, device);  // checks both
  const auto make = [&](const TensorclassType& one) {
    return c10::make_intrusive<DenseNode>(one.schema(), batch, root.device());
  };
  auto result = make(*type);
  struct Made {
    TensorclassTypePtr type;
    DenseNode* node;
  };
  Traversal<Made> walk;
  walk.add({with_pickled(type, nullptr), result.get()});
  walk.run([&](const Made& at) {
    const auto& [inner, node] = at;
    node->reserve(inner->schema()->size());
    node->set_tensorclass(inner);
    for (const TensorclassField& field : inner->fields()) {
      if (!field.is_made()) continue;
      if (field.has_default()) {
        node->push_value(default_of(field, batch, root.device()));
      } else if (field.kind == FieldKind::tensor) {
        node->push_value(zeros_of(*inner, field, batch, root.device()));
      } else if (field.kind == FieldKind::value) {
        node->push_value(
            NodePtr(c10::make_intrusive<NonTensorNode>(Plain(), batch, root.device())));
      } else if (field.kind == FieldKind::dict) {
        node->push_value(NodePtr(c10::make_intrusive<DenseNode>(batch, root.device())));
      } else {
        auto nested = make(*field.tensorclass);
        walk.add({field.tensorclass, nested.get()});
        node->push_value(NodePtr(std::move(nested)));
      }
    }
  });
  if (type->frozen()) lock(result);
  return TensorDict(std::move(result));
}

void mark_tensorclass(const TensorclassTypePtr& type, const TensorDict& td) {
  if (type == nullptr) {
    Changes changes;
    changes.set_tensorclass(*td.node(), nullptr);
    if (as_sub_tensordict(td.node().get()) == nullptr) {
      visit_values(*td.node(), [&](const Value& value) {
        if (value.is_node()) changes.set_tensorclass(*value.node(), nullptr);
      });
    }
    return changes.run();
  }
  Marking marking(type, td.node(), /*complete=*/false);
  if (type->frozen()) {
    if (td.node()->kind() == NodeKind::sub_tensordict) {
      td.lock();  // throws, unless the parent is locked
    } else {
      marking.changes().lock(td.node());
    }
  }
  marking.changes().run();
}

}  // namespace td
