#include "core/nn/script_params.h"

#include "core/tree/kinds.h"
#include "core/tree/paths.h"

#include <ATen/ATen.h>
#include <ATen/core/class_type.h>

#include <optional>

namespace td {

namespace {

constexpr std::size_t max_depth = 200;  // nesting of modules

bool same_values(const at::Tensor& one, const at::Tensor& other) {
  return one.scalar_type() == other.scalar_type() && one.device() == other.device() &&
         one.sizes() == other.sizes() && at::equal(one, other);
}

}  // namespace

ScriptParams::ScriptParams(const ScriptObject& root) { root_ = add(root, 0); }

// Returns the number of the part.
std::size_t ScriptParams::add(const ScriptObject& object, std::size_t depth) {
  if (depth == max_depth)
    fail(Code::unsupported, "modules are nested more than ", max_depth, " levels deep");
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].object == object) return i;
  }
  const std::size_t self = parts_.size();
  parts_.push_back({object, {}, {}, false});
  const auto type = object->type();
  for (std::size_t slot = 0; slot < type->numAttributes(); ++slot) {
    const c10::IValue& value = object->getSlot(slot);
    const std::string name = type->getAttributeName(slot);
    if (value.isTensor() && (type->is_parameter(slot) || type->is_buffer(slot))) {
      parts_[self].tensors.push_back({name, slot, number_of(value.toTensor())});
      parts_[self].holds = true;
    } else if (value.isObject() && value.toObjectRef().type()->is_module()) {
      const std::size_t part = add(value.toObject(), depth + 1);
      parts_[self].children.push_back({{name, slot}, part});
      parts_[self].holds = parts_[self].holds || parts_[part].holds;
    }
  }
  return self;
}

std::size_t ScriptParams::number_of(const at::Tensor& tensor) {
  const bool has_memory = tensor.has_storage() && tensor.numel() > 0;
  std::vector<std::size_t>& beside = tensors_at_[has_memory ? tensor.data_ptr() : nullptr];
  for (const std::size_t i : beside) {
    const at::Tensor& other = tensors_[i];
    const bool same = other.is_same(tensor) ||
                      (has_memory && other.scalar_type() == tensor.scalar_type() &&
                       other.sizes() == tensor.sizes() && other.strides() == tensor.strides());
    if (same) return i;
  }
  beside.push_back(tensors_.size());
  tensors_.push_back(tensor);
  return tensors_.size() - 1;
}

TensorDict ScriptParams::dictionary(const ScriptObject& root) const {
  std::vector<NodePtr> made(parts_.size());
  const auto make = [&](const auto& self, std::size_t at, const ScriptObject& object) -> NodePtr {
    if (made[at].defined()) return made[at];
    auto node = c10::make_intrusive<DenseNode>(SizesView(), std::nullopt);
    for (const Slot& one : parts_[at].tensors)
      node->put(one.name, Value(object->getSlot(one.slot).toTensor()));
    for (const Child& child : parts_[at].children) {
      if (!parts_[child.part].holds) continue;
      node->put(child.name, Value(self(self, child.part, object->getSlot(child.slot).toObject())));
    }
    made[at] = node;
    return made[at];
  };
  return TensorDict(make(make, root_, root));
}

// Copies the modules, with tensors from a dictionary.
class ScriptParams::Builder {
 public:
  Builder(const ScriptParams& plan, const Node& params, const Wrap* wrap)
      : plan_(plan),
        wrap_(wrap),
        batch_dims_(params.batch().size()),
        made_(plan.parts_.size()),
        given_(plan.tensors_.size()) {}

  ScriptObject build(std::size_t at, const NodePtr& given) {
    const Part& part = plan_.parts_[at];
    const NodePtr node = dense_form(given);
    if (made_[at].defined()) {
      check_tied(at, *node);
      return made_[at];
    }
    sources_.resize(plan_.parts_.size());
    sources_[at] = node;
    ScriptObject object = part.object->copy();
    std::size_t found = part.tensors.size();
    for (const Slot& one : part.tensors)
      object->setSlot(one.slot, c10::IValue(tensor(part, one, node)));
    for (const Child& child : part.children) {
      if (!plan_.parts_[child.part].holds) continue;
      ++found;
      path_.push_back(child.name);
      const std::optional<Value> value = node->entry(child.name);
      if (!value) fail(Code::key_not_found, "the parameters lack the entry ", show_path(path_));
      if (!is_dict(*value)) fail_kind(path_, *value, "dictionary");
      object->setSlot(child.slot, c10::IValue(build(child.part, value->node())));
      path_.pop_back();
    }
    if (!holds_entries(*node) || entries_of(node).size() != found) check_extra(part, *node);
    made_[at] = object;
    return object;
  }

 private:
  at::Tensor tensor(const Part& part, const Slot& one, const NodePtr& node) {
    const Value* stored = find_stored(node, std::string_view(one.name));
    std::optional<Value> read;
    if (stored == nullptr) {
      read = node->entry(one.name);
      stored = read ? &*read : nullptr;
    }
    if (stored == nullptr) {
      path_.push_back(one.name);
      fail(Code::key_not_found, "the parameters lack the entry ", show_path(path_));
    }
    if (stored->is_node()) {
      path_.push_back(one.name);
      fail_kind(path_, *stored, "tensor");
    }
    const SizesView want = part.object->getSlot(one.slot).toTensor().sizes();
    const SizesView have = stored->tensor().sizes();
    if (have.size() != want.size() + batch_dims_ || have.slice(batch_dims_) != want) {
      path_.push_back(one.name);
      fail(Code::shape, "the parameter ", show_path(path_), " has shape ", show_sizes(have),
           "; the module's own has ", show_sizes(want),
           batch_dims_ == 0 ? "" : " behind the batch dimension");
    }
    at::Tensor& given = given_[one.tensor];
    if (!given.defined()) {
      given = stored->tensor();
    } else if (!given.is_same(stored->tensor()) && !same_values(given, stored->tensor())) {
      path_.push_back(one.name);
      fail(Code::invalid_argument, "the parameter ", show_path(path_),
           " stands in two places of the module, and is given two values");
    }
    return wrap_ == nullptr ? given : (*wrap_)(given);
  }

  void check_extra(const Part& part, const Node& node) {
    for (const std::string& name : entry_names(node)) {
      bool known = false;
      for (const Slot& one : part.tensors) known = known || one.name == name;
      for (const Child& child : part.children)
        known = known || (child.name == name && plan_.parts_[child.part].holds);
      if (known) continue;
      path_.push_back(name);
      fail(Code::key_invalid, "the module has no parameter ", show_path(path_));
    }
  }

  // A module under two names has one set of parameters.
  void check_tied(std::size_t at, const Node& node) {
    if (&node == sources_[at].get() || TensorDict(retain(node)).equal(TensorDict(sources_[at])))
      return;
    fail(Code::invalid_argument, "the module ", show_path(path_),
         " occurs twice, with different parameters");
  }

  const ScriptParams& plan_;
  const Wrap* wrap_;
  std::size_t batch_dims_;
  std::vector<ScriptObject> made_;
  std::vector<at::Tensor> given_;  // by the numbers of the tensors
  std::vector<NodePtr> sources_;
  PathBuffer path_;
};

ScriptObject ScriptParams::with(const Node& params, const Wrap* wrap) const {
  return Builder(*this, params, wrap).build(root_, retain(params));
}

ScriptObject ScriptParams::changed(const Wrap& change) const {
  const TensorDict own = dictionary(parts_[root_].object);
  return Builder(*this, *own.node(), &change).build(root_, own.node());
}

}  // namespace td
