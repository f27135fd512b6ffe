// Declarations of tensorclasses, and their validation.
#include "core/formats/json_text.h"
#include "core/tensor/dtype.h"
#include "core/tree/paths.h"
#include "core/tree/tensorclass.h"

#include <algorithm>

namespace td {

namespace {

// Types are nested by hand, so a few levels suffice, and freeing a type recurses.
constexpr std::size_t max_depth = 64;

}  // namespace

std::string describe(const TensorclassField& field) {
  switch (field.kind) {
    case FieldKind::dict: return "a dictionary";
    case FieldKind::value: return "a non-tensor value";
    case FieldKind::tensorclass: return "a tensorclass " + quote(field.tensorclass->name());
    case FieldKind::tensor: break;
  }
  std::string text = "a tensor";
  if (field.dtype) text += " of " + dtype_name(*field.dtype);
  if (field.feature) text += " with sizes " + show_sizes(*field.feature) + " behind the batch size";
  return text;
}

std::string describe(const Value& value) {
  if (!value.is_node()) {
    return "a tensor of " + dtype_name(value.tensor().scalar_type()) + " with sizes " +
           show_sizes(value.tensor().sizes());
  }
  if (value.node()->tensorclass())
    return "a tensorclass " + quote(value.node()->tensorclass()->name());
  return kind_of(value) == EntryKind::dict ? "a dictionary" : "a non-tensor value";
}

bool sizes_match(const Sizes& wanted, SizesView sizes, std::size_t batch_dims) {
  if (sizes.size() != batch_dims + wanted.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] != -1 && wanted[i] != sizes[batch_dims + i]) return false;
  }
  return true;
}

TensorclassType::TensorclassType(std::string name, std::vector<TensorclassField> fields,
                                 const TensorclassOptions& options)
    : name_(std::move(name)),
      names_(c10::make_intrusive<Schema>()),
      schema_(c10::make_intrusive<Schema>()),
      autocast_(options.autocast),
      frozen_(options.frozen),
      pickled_(options.pickled) {
  const std::string_view name_view = name_;
  check_path(name_view);
  if (name_.empty()) fail(Code::key_invalid, "a tensorclass needs a name");
  if (options.base) fields_ = options.base->fields();
  for (const TensorclassField& field : fields_) names_->append(field.name);
  for (TensorclassField& field : fields) {
    const std::string_view field_view = field.name;
    check_path(field_view);
    if (find(field.name) != nullptr) {
      fail(Code::key_exists, "tensorclass ", quote(name_), " has two fields ", quote(field.name));
    }
    check(field);
    names_->append(field.name);
    fields_.push_back(std::move(field));
  }
  for (const TensorclassField& field : fields_) {
    if (field.is_made()) schema_->append(field.name);
    if (field.kind == FieldKind::tensorclass)
      depth_ = std::max(depth_, field.tensorclass->depth_ + 1);
  }
  if (depth_ > max_depth) {
    fail(Code::unsupported, "tensorclass ", quote(name_), " holds tensorclasses more than ",
         max_depth, " levels deep");
  }
}

void TensorclassType::check(TensorclassField& field) const {
  const auto refuse = [&](const auto&... why) {
    fail(Code::invalid_argument, "field ", quote(field.name), " of tensorclass ", quote(name_),
         " is ", describe(field), why...);
  };
  if ((field.kind == FieldKind::tensorclass) != (field.tensorclass != nullptr)) {
    if (field.tensorclass == nullptr) {
      fail(Code::invalid_argument, "field ", quote(field.name), " of tensorclass ", quote(name_),
           " is a tensorclass without a type");
    }
    refuse(" and has a tensorclass");
  }
  const at::Tensor& value = field.default_tensor;
  if (field.kind != FieldKind::tensor && (field.dtype || field.feature || value.defined())) {
    refuse(" and has a dtype, sizes or a tensor as default");
  }
  if (field.feature && std::any_of(field.feature->begin(), field.feature->end(),
                                   [](std::int64_t size) { return size < -1; })) {
    refuse(": sizes are at least 0, or -1 for any");
  }
  if (value.defined() && ((field.dtype && value.scalar_type() != *field.dtype) ||
                          (field.feature && !sizes_match(*field.feature, value.sizes(), 0)))) {
    refuse(" and its default ", describe(Value(value)));
  }
  if (field.default_json && field.kind != FieldKind::value) refuse(" and has a text as default");
  if (!field.default_json) return;
  try {
    field.default_value = read_value(*field.default_json, "the default");
  } catch (const Error& error) {
    refuse(" and its default is not JSON: ", error.what());
  }
}

const TensorclassField* TensorclassType::find(std::string_view name) const noexcept {
  const std::size_t i = names_->find(name);
  return i == Schema::npos ? nullptr : &fields_[i];
}

bool TensorclassType::has_members_of(const TensorclassType& other) const {
  std::vector<std::pair<const TensorclassType*, const TensorclassType*>> pending{{this, &other}};
  while (!pending.empty()) {
    const auto [a, b] = pending.back();
    pending.pop_back();
    if (a == b) continue;
    if (a->fields_.size() != b->fields_.size()) return false;
    for (const TensorclassField& field : a->fields_) {
      const TensorclassField* same = b->find(field.name);
      if (same == nullptr || same->kind != field.kind) return false;
      if (field.tensorclass) pending.emplace_back(field.tensorclass.get(), same->tensorclass.get());
    }
  }
  return true;
}

bool PickledFields::is_unread(std::string_view name) const noexcept {
  return std::find(unread.begin(), unread.end(), name) != unread.end();
}

TensorclassTypePtr with_pickled(const TensorclassTypePtr& type, PickledPtr pickled) {
  if (type->pickled_ == pickled) return type;
  auto copy = std::make_shared<TensorclassType>(*type);
  copy->pickled_ = std::move(pickled);
  return copy;
}

TensorclassTypePtr common_tensorclass(const TensorclassTypePtr& a, const TensorclassTypePtr& b) {
  if (a == nullptr || b == nullptr) return nullptr;
  if (!a->has_members_of(*b)) {
    fail(Code::invalid_argument,
         "tensorclasses of different fields cannot be joined: ", quote(a->name()), " and ",
         quote(b->name()));
  }
  return a;
}

}  // namespace td
