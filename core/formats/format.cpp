#include "core/formats/format.h"

#include <algorithm>
#include <limits>

namespace td::format {

namespace {

constexpr TypeName types[] = {
    {NodeType::dense, "<class 'tensordict._td.TensorDict'>", "TensorDict"},
    {NodeType::non_tensor, "<class 'tensordict.tensorclass.NonTensorData'>", "NonTensorData"},
    {NodeType::non_tensor_stack, "<class 'tensordict.tensorclass.NonTensorStack'>",
     "NonTensorStack"},
    {NodeType::lazy, "<class 'tensordict._lazy.LazyStackedTensorDict'>", "LazyStackedTensorDict"},
    {NodeType::sub_tensordict, "<class 'tensordict._td._SubTensorDict'>", "_SubTensorDict"},
};

constexpr std::string_view class_begin = "<class '", class_end = "'>", main_module = "__main__.";

std::string text_or_null(const std::optional<std::string>& text) {
  return text ? quote(*text) : "null";
}

constexpr std::string_view quantised[] = {"torch.qint32", "torch.qint8", "torch.quint4x2",
                                          "torch.quint8"};

template <class List>
bool contains(const List& list, std::string_view name) noexcept {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

constexpr char upper_hex[] = "0123456789ABCDEF";
// Characters with a special meaning for some file system or shell.
bool must_escape(unsigned char c) noexcept {
  return c < 32 || c == 127 ||
         std::string_view("/<>:\"|?*\\ %").find(static_cast<char>(c)) != std::string_view::npos;
}

}  // namespace

const TypeName& type_name(NodeType type) { return types[static_cast<std::size_t>(type)]; }

const TypeName* find_type(std::string_view class_name) noexcept {
  for (const TypeName& row : types) {
    if (row.class_name == class_name) return &row;
  }
  // A value that Python never stacks; here it is one like others.
  if (class_name == "<class 'tensordict.tensorclass.MetaData'>")
    return &type_name(NodeType::non_tensor);
  return nullptr;
}

const TypeName* find_class(std::string_view id) noexcept {
  if (id.substr(0, class_prefix.size()) != class_prefix) return nullptr;
  id.remove_prefix(class_prefix.size());
  for (const NodeType type : {NodeType::dense, NodeType::non_tensor_stack, NodeType::lazy}) {
    if (type_name(type).short_name == id) return &type_name(type);
  }
  return nullptr;
}

DType parse_dtype(std::string_view name, std::string_view where) {
  const DTypeRow* row = find_dtype(&DTypeRow::torch, name);
  if (row != nullptr && is_stored(row->dtype)) return row->dtype;
  if (contains(quantised, name)) {
    fail(Code::unsupported, where, ": ", name,
         " cannot be read, quantised dtypes are not supported");
  }
  fail(Code::format, where, ": no dtype is called ", quote(name));
}

std::string escape(std::string_view key) {
  if (key.empty()) return "%";
  if (key == ".") return "%2E";
  if (key == "..") return "%2E%2E";
  std::string name;
  name.reserve(key.size());
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    if (must_escape(byte)) {
      name += '%';
      name += upper_hex[byte >> 4];
      name += upper_hex[byte & 15];
    } else {
      name += c;
    }
  }
  return name;
}

bool safe_verbatim(std::string_view key, bool is_node) noexcept {
  if (key.find_first_of(std::string_view("/\\\0", 3)) != std::string_view::npos) return false;
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (key.size() >= 2 && letter(key[0]) && key[1] == ':') return false;
  return !is_node || (!key.empty() && key != "." && key != "..");
}

bool reserved(std::string_view key) noexcept {
  return key == "shape" || key == "device" || key == "_type";
}

void DenseText::begin(std::string_view key) {
  has_names_ = has_names_ || key == names_field;
  append_quoted(text_, key);
}

void DenseText::leaf(std::string_view key, std::string_view device, ShapeView shape,
                     std::string_view dtype, bool nested_tensor) {
  begin(key);
  text_ += ":{\"device\":";
  append_quoted(text_, device);
  text_ += ",\"shape\":";
  append_sizes(text_, shape);
  text_ += ",\"dtype\":";
  append_quoted(text_, dtype);
  text_ += nested_tensor ? ",\"is_nested\":true}," : ",\"is_nested\":false},";
}

void DenseText::node(std::string_view key, NodeType type) {
  begin(key);
  text_ += ":{\"type\":";
  append_quoted(text_, type_name(type).short_name);
  text_ += "},";
}

std::string DenseText::finish(ShapeView batch, std::string_view device, const Names& names) && {
  text_ += "\"shape\":";
  append_sizes(text_, batch);
  text_ += ",\"device\":";
  append_quoted(text_, device);
  text_ += ",\"_type\":";
  append_quoted(text_, type_name(NodeType::dense).class_name);
  if (const Plain list = plain_names(names); !list.is(Plain::null) && !has_names_) {
    text_ += ',' + quote(names_field) + ':';
    text_ += json_text(list);
  }
  text_ += '}';
  return std::move(text_);
}

std::string non_tensor_text(std::string_view json) {
  std::string text = "{\"_type\":";
  append_quoted(text, type_name(NodeType::non_tensor).class_name);
  text += ",\"data\":";
  text += json;
  text += ",\"_is_non_tensor\":true,\"_metadata\":null}";
  return text;
}

std::string non_tensor_stack_text(std::string_view json, std::int64_t stack_dim,
                                  const std::optional<std::string>& device) {
  std::string text = "{\"_type\":";
  append_quoted(text, type_name(NodeType::non_tensor_stack).class_name);
  text += ",\"stack_dim\":" + std::to_string(stack_dim) + ",\"device\":" + text_or_null(device);
  text += ",\"data\":";
  text += json;
  return text + "}";
}

std::string lazy_text(std::int64_t stack_dim, const std::optional<std::string>& name) {
  std::string text = "{\"_type\":";
  append_quoted(text, type_name(NodeType::lazy).class_name);
  text += ",\"stack_dim\":" + std::to_string(stack_dim);
  if (name) text += ",\"stack_dim_name\":" + quote(*name);
  return text + "}";
}

std::string part_text(std::string_view index) {
  std::string text = "{\"_type\":";
  append_quoted(text, type_name(NodeType::sub_tensordict).class_name);
  return text.append(",\"index\":").append(index).append("}");
}

std::string_view short_tensorclass(std::string_view tensorclass) noexcept {
  const std::size_t dot = tensorclass.rfind('.');
  return dot == std::string_view::npos ? tensorclass : tensorclass.substr(dot + 1);
}

std::string tensorclass_of_class(std::string_view class_name) {
  const std::size_t around = class_begin.size() + class_end.size();
  if (class_name.size() <= around || class_name.substr(0, class_begin.size()) != class_begin ||
      class_name.substr(class_name.size() - class_end.size()) != class_end) {
    return {};
  }
  std::string_view name = class_name.substr(class_begin.size(), class_name.size() - around);
  if (name.substr(0, main_module.size()) == main_module) name.remove_prefix(main_module.size());
  return std::string(name);
}

std::string class_of_tensorclass(std::string_view tensorclass) {
  std::string result(class_begin);
  if (tensorclass.find('.') == std::string_view::npos) result += main_module;
  return result.append(tensorclass).append(class_end);
}

void DenseText::tensorclass(std::string_view key, std::string_view tensorclass) {
  begin(key);
  text_ += ":{\"type\":";
  append_quoted(text_, short_tensorclass(tensorclass));
  text_ += "},";
}

std::string tensorclass_text(std::string_view tensorclass,
                             const std::vector<std::string>& empty_fields,
                             const std::vector<Field>& fields) {
  std::string text = "{\"_type\":";
  append_quoted(text, class_of_tensorclass(tensorclass));
  for (const std::string& field : empty_fields) {
    text += ',';
    append_quoted(text, field);
    text += ":null";
  }
  for (const Field& field : fields) {
    text += ',';
    append_quoted(text, field.name);
    text.append(":").append(json_text(field.value));
  }
  return text + "}";
}

}  // namespace td::format
