#include "core/memmap/tensorclass_plan.h"

#include "core/formats/format.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/paths.h"

#include <algorithm>

namespace td {

namespace {

bool is_empty(const std::vector<NodePtr>& dicts, const std::string& name) {
  return std::all_of(dicts.begin(), dicts.end(), [&](const NodePtr& dict) {
    return kind_below(dict, name) == EntryKind::none;
  });
}

void require_kept(const TensorclassType& type, const std::vector<NodePtr>& dicts) {
  const PickledFields& pickled = *type.pickled();
  if (!pickled.file) {
    fail(Code::unsupported, "a tensorclass ", quote(type.name()),
         " cannot be stored: the file of its pickled fields was too long to be kept");
  }
  for (const std::string& name : pickled.unread) {
    if (is_empty(dicts, name)) continue;
    fail(Code::unsupported, "a tensorclass ", quote(type.name()), " cannot be stored: its field ",
         quote(name), " has a value, and one that Python has pickled with others");
  }
}

}  // namespace

bool holds(const Value& value, const format::Field& field) {
  if (kind_of(value) != EntryKind::non_tensor) return false;
  const std::vector<const NonTensorNode*> each = non_tensor_values(*value.node());
  return std::all_of(each.begin(), each.end(),
                     [&](const NonTensorNode* one) { return one->value() == field.value; });
}

bool unchanged(const Node& tensorclass, const PickledFields& pickled) {
  if (!holds_entries(tensorclass)) return pickled.values.empty();
  return std::all_of(pickled.values.begin(), pickled.values.end(), [&](const format::Field& field) {
    const std::optional<Value> value = tensorclass.entry(field.name);
    return value && holds(*value, field);
  });
}

TensorclassPlan plan_tensorclass(const Node& tensorclass) {
  const TensorclassType& type = *tensorclass.tensorclass();
  const std::vector<NodePtr> dicts = elements_or_self(retain(tensorclass));
  TensorclassPlan plan;
  if (type.pickled() && unchanged(tensorclass, *type.pickled())) {
    require_kept(type, dicts);
    plan.pickled = type.pickled();
  }
  std::vector<std::string> empty_fields;
  for (const TensorclassField& field : type.fields()) {
    if (plan.pickled && plan.pickled->is_unread(field.name)) continue;
    if (is_empty(dicts, field.name)) empty_fields.push_back(field.name);
  }
  plan.meta = format::tensorclass_text(type.name(), empty_fields);
  return plan;
}

}  // namespace td
