#include "core/tensorclass/found_type.h"

#include "core/tree/kinds.h"
#include "core/tree/paths.h"

#include <unordered_set>

namespace td {

TensorclassTypePtr found_type(const std::string& name, const NodePtr& tensorclass,
                              const std::vector<std::string>& more, PickledPtr pickled,
                              const std::string& where) {
  std::vector<TensorclassField> fields;
  std::unordered_set<std::string> seen;
  const auto add = [&](const std::string& field) -> TensorclassField* {
    if (!seen.insert(field).second) return nullptr;
    fields.emplace_back();
    fields.back().name = field;
    fields.back().optional = true;
    return &fields.back();
  };
  for (const NodePtr& node : elements_or_self(tensorclass)) {
    for (const std::string& entry : entry_names(*node)) {
      TensorclassField* field = add(entry);
      if (field == nullptr) continue;
      const EntryKind kind = kind_below(node, entry);
      if (kind == EntryKind::non_tensor) field->kind = FieldKind::value;
      if (kind == EntryKind::dict) field->kind = FieldKind::dict;
    }
  }
  for (const std::string& field : more) add(field);
  if (pickled) {
    for (const std::string& unread : pickled->unread) {
      if (TensorclassField* field = add(unread)) field->kind = FieldKind::value;
    }
  }
  TensorclassOptions options;
  options.pickled = std::move(pickled);
  try {
    return std::make_shared<TensorclassType>(name, std::move(fields), options);
  } catch (const Error& error) {
    fail(Code::format, where, ": ", error.what());
  }
}

}  // namespace td
