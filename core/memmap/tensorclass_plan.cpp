#include "core/memmap/tensorclass_plan.h"

#include "core/meta/format.h"
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

void require_kept(const RecordType& type, const std::vector<NodePtr>& dicts) {
  const PickledFields& pickled = *type.pickled();
  if (!pickled.file) {
    fail(Code::unsupported, "a record ", format::quote(type.name()),
         " cannot be stored: the file of its pickled fields was too long to be kept");
  }
  for (const std::string& name : pickled.unread) {
    if (is_empty(dicts, name)) continue;
    fail(Code::unsupported, "a record ", format::quote(type.name()),
         " cannot be stored: its field ", format::quote(name),
         " has a value, and one that Python has pickled with others");
  }
}

}  // namespace

bool holds(const Value& value, const format::Field& field) {
  if (!value.is_node() || !is_opaque(*value.node()) || value.node()->kind() == NodeKind::ragged) {
    return false;
  }
  const std::vector<const DataNode*> each = data_values(*value.node());
  return std::all_of(each.begin(), each.end(),
                     [&](const DataNode* one) { return one->json() == field.json; });
}

bool unchanged(const Node& record, const PickledFields& pickled) {
  const DenseNode* node = as_dense(&record);
  return std::all_of(pickled.values.begin(), pickled.values.end(), [&](const format::Field& field) {
    const Value* value = node == nullptr ? nullptr : node->find(field.name);
    return value != nullptr && holds(*value, field);
  });
}

RecordPlan plan_record(const Node& record) {
  const RecordType& type = *record.record();
  std::vector<NodePtr> dicts{retain(record)};
  if (const LazyNode* lazy = as_lazy(&record)) dicts = lazy->elements();
  RecordPlan plan;
  if (type.pickled() && unchanged(record, *type.pickled())) {
    require_kept(type, dicts);
    plan.pickled = type.pickled();
  }
  std::vector<std::string> empty_fields;
  for (const RecordField& field : type.fields()) {
    if (plan.pickled && plan.pickled->is_unread(field.name)) continue;
    if (is_empty(dicts, field.name)) empty_fields.push_back(field.name);
  }
  plan.meta = format::record_text(type.name(), empty_fields);
  return plan;
}

}  // namespace td
