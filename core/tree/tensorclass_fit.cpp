// What fits the fields of a tensorclass.
#include "core/tree/kinds.h"
#include "core/tree/paths.h"
#include "core/tree/tensorclass.h"

#include <ATen/ATen.h>

namespace td {

namespace {

[[noreturn]] void fail_field(Code code, const TensorclassType& type, const TensorclassField& field,
                             SizesView batch, const Value& found) {
  fail(code, "field ", quote(field.name), " of tensorclass ", quote(type.name()), " is ",
       describe(field), "; found ", describe(found), " under batch size ", show_sizes(batch));
}

[[noreturn]] void fail_undeclared(const TensorclassType& type, std::string_view name) {
  std::string names;
  for (const TensorclassField& field : type.fields()) {
    if (names.size() > 200) {  // keep the message on one line
      names += ", …";
      break;
    }
    names += (names.empty() ? "" : ", ") + quote(field.name);
  }
  fail(Code::key_invalid, "tensorclass ", quote(type.name()), " has no field ", quote(name),
       "; it has ", names.empty() ? "none" : names);
}

}  // namespace

void require_declared(const TensorclassType& type, const Node& node) {
  for (const std::string& name : entry_names(node)) {
    if (type.find(name) == nullptr) fail_undeclared(type, name);
  }
}

Value fit_value(const TensorclassType& type, const TensorclassField& field, SizesView batch,
                const Value& value, bool cast) {
  const EntryKind kind = kind_of(value);
  const EntryKind wanted = field.kind == FieldKind::tensor  ? EntryKind::tensor
                           : field.kind == FieldKind::value ? EntryKind::non_tensor
                                                            : EntryKind::dict;
  // A nested tensor is allowed for a tensor field that declares neither dtype nor sizes.
  const bool free = !field.dtype && !field.feature;
  if (kind == EntryKind::nested_tensor && wanted == EntryKind::tensor && free) return value;
  if (kind != wanted) fail_field(Code::wrong_entry, type, field, batch, value);
  if (kind != EntryKind::tensor) return value;
  const at::Tensor& tensor = value.tensor();
  if (field.feature && !sizes_match(*field.feature, tensor.sizes(), batch.size())) {
    fail_field(Code::shape, type, field, batch, value);
  }
  if (!field.dtype || tensor.scalar_type() == *field.dtype) return value;
  if (!cast) fail_field(Code::dtype, type, field, batch, value);
  return tensor.to(*field.dtype);
}

Value fit_field(const Node& tensorclass, Path path, Value value) {
  const TensorclassType& type = *tensorclass.tensorclass();
  const TensorclassField* field = type.find(path[0]);
  if (field == nullptr) fail_undeclared(type, path[0]);
  if (path.size() > 1) {
    if (field->kind == FieldKind::dict) return value;
    fail(Code::wrong_entry, "cannot set ", show_path(path), ": field ", quote(field->name),
         " of tensorclass ", quote(type.name()), " is ", describe(*field),
         " and cannot be created on the way");
  }
  Value fitting = fit_value(type, *field, tensorclass.batch(), value, type.autocast());
  if (field->kind == FieldKind::tensorclass) {
    const TensorclassTypePtr& found = value.node()->tensorclass();
    if (found == nullptr || !found->has_members_of(*field->tensorclass)) {
      fail_field(Code::wrong_entry, type, *field, tensorclass.batch(), value);
    }
  }
  return fitting;
}

void require_optional(const TensorclassType& type, std::string_view name) {
  const TensorclassField* field = type.find(name);
  if (field != nullptr && !field->optional) {
    fail(Code::invalid_argument, "field ", quote(name), " of tensorclass ", quote(type.name()),
         " is not optional: it cannot be removed");
  }
}

void require_alike(const Node& target, const Node& source) {
  const TensorclassTypePtr &a = target.tensorclass(), &b = source.tensorclass();
  if (b == nullptr) {
    require_declared(*a, source);
  } else if (!a->has_members_of(*b)) {
    fail(Code::invalid_argument, "a tensorclass ", quote(b->name()),
         " cannot be written into a tensorclass ", quote(a->name()), ": their fields differ");
  }
}

}  // namespace td
