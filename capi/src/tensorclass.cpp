// tensordict/td_tensorclass.h
#include "arguments.h"
#include "give.h"
#include "guard.h"

#include "core/tensorclass/tensorclass.h"

namespace capi {

template <>
struct Traits<td_tensorclass> : OwnedTraits<td::TensorclassTypePtr, Kind::tensorclass> {
  static constexpr const char* name = "tensorclass";
};

}  // namespace capi

namespace {

td::TensorclassTypePtr type_in(const td_tensorclass* type) {
  return type == nullptr ? nullptr : *in(type);
}

std::unique_ptr<td::TensorclassTypePtr> type_out(td::TensorclassTypePtr type) {
  return std::make_unique<td::TensorclassTypePtr>(std::move(type));
}

td::TensorclassField field_in(const td_field& given) {
  for (const uint64_t reserved : given.reserved) {
    if (reserved != 0) td::fail(td::Code::invalid_argument, "td_field.reserved is not zero");
  }
  td::TensorclassField field;
  field.name = not_null(given.name, "field.name");
  if (given.kind < TD_FIELD_TENSOR || given.kind > TD_FIELD_TENSORCLASS ||
      (given.flags & ~static_cast<td_field_flags>(TD_FIELD_OPTIONAL | TD_FIELD_HAS_FEATURE)) != 0) {
    td::fail(td::Code::unsupported, "field \"", field.name, "\" has kind ", given.kind,
             " and flags ", given.flags, ", which this version does not know");
  }
  field.kind = static_cast<td::FieldKind>(given.kind);
  field.optional = (given.flags & TD_FIELD_OPTIONAL) != 0;
  if (given.dtype != TD_DTYPE_OTHER) field.dtype = capi::dtype_in(given.dtype);
  if ((given.flags & TD_FIELD_HAS_FEATURE) != 0)
    field.feature = sizes_in(given.feature, given.feature_dims, "field.feature");
  if (given.default_tensor != nullptr) field.default_tensor = *in(given.default_tensor);
  if (given.default_json != nullptr) field.default_json = given.default_json;
  field.tensorclass = type_in(given.tensorclass);
  return field;
}

td_field field_out(const td::TensorclassField& field) {
  td_field result = {};
  result.name = field.name.c_str();
  result.kind = static_cast<td_field_kind>(field.kind);
  if (field.dtype) result.dtype = capi::dtype_out(*field.dtype);
  if (field.optional) result.flags |= TD_FIELD_OPTIONAL;
  if (field.has_default()) result.flags |= TD_FIELD_HAS_DEFAULT;
  if (field.default_json) result.default_json = field.default_json->c_str();
  if (field.feature) {
    result.flags |= TD_FIELD_HAS_FEATURE;
    result.feature = field.feature->data();
    result.feature_dims = static_cast<uint32_t>(field.feature->size());
  }
  return result;
}

td::TensorclassOptions tensorclass_options_in(const td_tensorclass_options* options) {
  const td_tensorclass_options given =
      capi::options_in(options, td_tensorclass_options TD_TENSORCLASS_OPTIONS_INIT);
  if ((given.flags &
       ~static_cast<td_tensorclass_flags>(TD_TENSORCLASS_AUTOCAST | TD_TENSORCLASS_FROZEN)) != 0) {
    td::fail(td::Code::unsupported, "the flags ", given.flags, " are not known to this version");
  }
  td::TensorclassOptions result;
  result.autocast = (given.flags & TD_TENSORCLASS_AUTOCAST) != 0;
  result.frozen = (given.flags & TD_TENSORCLASS_FROZEN) != 0;
  result.base = type_in(given.base);
  return result;
}

}  // namespace

td_status td_tensorclass_create(const char* name, const td_field* fields, size_t fields_len,
                                const td_tensorclass_options* options,
                                td_tensorclass** result) noexcept {
  return give_plain(__func__, result, [&] {
    not_null(name, "name");
    if (fields_len != 0) not_null(fields, "fields");
    std::vector<td::TensorclassField> declared;
    for (size_t i = 0; i < fields_len; ++i) declared.push_back(field_in(fields[i]));
    return type_out(std::make_shared<td::TensorclassType>(name, std::move(declared),
                                                          tensorclass_options_in(options)));
  });
}

void td_tensorclass_free(td_tensorclass* type) noexcept { capi::free_handle(type); }

td_status td_tensorclass_name(const td_tensorclass* type, char* text, size_t text_cap,
                              size_t* length) noexcept {
  return guard_plain(__func__,
                     [&] { capi::write_text((*in(type))->name(), text, text_cap, length); });
}

size_t td_tensorclass_len(const td_tensorclass* type) noexcept {
  const td::TensorclassTypePtr* found = capi::find_or_null(type);
  return found == nullptr ? 0 : (*found)->fields().size();
}

td_status td_tensorclass_field(const td_tensorclass* type, size_t position,
                               td_field* result) noexcept {
  return guard_plain(__func__, [&] {
    *not_null(result, "result") = {};
    const std::vector<td::TensorclassField>& fields = (*in(type))->fields();
    if (position >= fields.size()) {
      td::fail(td::Code::index, "field ", position, " of a tensorclass with ", fields.size());
    }
    *result = field_out(fields[position]);
  });
}

td_status td_tensorclass_instantiate(const td_tensorclass* type, const int64_t* batch_size,
                                     size_t batch_dims, td_device_type device_type,
                                     int32_t device_index, td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    return td::make_tensorclass(*in(type), sizes_in(batch_size, batch_dims, "batch_size"),
                                capi::device_in(device_type, device_index));
  });
}

td_status td_set_tensorclass(td_tensordict* td, const td_tensorclass* type) noexcept {
  return guard(__func__, [&] { td::mark_tensorclass(type_in(type), in(td)); });
}

td_status td_tensorclass_check(const td_tensorclass* type, const td_tensordict* td) noexcept {
  return guard_plain(__func__, [&] {
    const td::TensorclassTypePtr given = type_in(type);
    td::check_tensorclass(given != nullptr ? given : in(td)->node()->tensorclass(), in(td));
  });
}

td_status td_tensorclass_of(const td_tensordict* td, td_tensorclass** result) noexcept {
  return guard_plain(__func__, [&] {
    Out<td_tensorclass> out(result);
    const td::TensorclassTypePtr& type = in(td)->node()->tensorclass();
    if (type != nullptr) out.put(type_out(type));
  });
}
