// Parses a meta.json in two passes without a tree: first the kind of node, then its fields.
#include "core/formats/format_read.h"

#include "core/formats/json_reader.h"

#include <unordered_set>

namespace td::format {

using namespace json;

namespace {

bool ends_with(std::string_view text, std::string_view end) noexcept {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Finds `_type` and `_class`, and checks the version and that the whole text is an object.
class TypeReader final : public Reader {
 public:
  TypeReader(const std::string& where, std::size_t max_depth)
      : Reader(where, max_depth), where_(where) {}

  void find(std::string_view text) {
    run(text);
    if (!found_) fail_here("the field \"_type\" is missing");
  }
  const std::string& class_name() const noexcept { return type_; }
  // Python goes by the other name where it does not know `_type`.
  const TypeName* type() const noexcept {
    const TypeName* const by_type = find_type(type_);
    return by_type != nullptr ? by_type : find_class(class_);
  }
  // Whether there is a field that only dictionaries and stacks have.
  bool has_format_fields() const noexcept { return has_format_fields_; }

 private:
  void on_scalar(const Plain& value) override {
    if (depth() == 0) fail_here("not an object");
    if (depth() != 1) return;
    if (at_version_ && is_later(value)) fail_later(where_, value);
    if (at_class_ && value.is(Plain::text)) class_ = value.characters();
    if (!at_type_) return;
    if (!value.is(Plain::text)) fail_here("\"_type\" is not a text");
    type_ = value.characters();
    found_ = true;
  }
  void on_open(bool is_object) override {
    if (depth() == 1 && !is_object) fail_here("not an object");
    if (depth() == 2 && at_type_) fail_here("\"_type\" is not a text");
  }
  void on_close(bool) override {}
  void on_key(std::string_view key) override {
    if (depth() != 1) return;
    at_type_ = key == "_type";
    at_class_ = key == class_field;
    at_version_ = key == version_field;
    has_format_fields_ = has_format_fields_ || at_class_ || at_version_;
  }

  const std::string& where_;
  std::string type_;
  std::string class_;
  bool at_type_ = false, at_class_ = false, at_version_ = false;
  bool has_format_fields_ = false;
  bool found_ = false;
};

// Copies one field: `data` of a non-tensor value.
class DataReader final : public Copier {
 public:
  DataReader(const std::string& where, std::size_t depth, std::string_view field = "data")
      : Copier(where, depth), field_(field) {}

  // Empty if the field is missing.
  std::string find(std::string_view text) {
    run(text);
    return found_ ? take() : std::string();
  }

 private:
  void on_key(std::string_view key) override {
    if (depth() == 1) {
      inside_ = key == field_;
      if (inside_ && found_) fail_here("two fields are called ", quote(field_));
      found_ = found_ || inside_;
    } else if (inside_) {
      Copier::on_key(key);
    }
  }
  void on_scalar(const Plain& value) override {
    if (inside_) Copier::on_scalar(value);
  }
  void on_open(bool is_object) override {
    if (inside_) Copier::on_open(is_object);
  }
  void on_close(bool is_object) override {
    if (inside_ && depth() != 0) Copier::on_close(is_object);
  }

  std::string_view field_;
  bool inside_ = false;
  bool found_ = false;
};

// A lazy stack: reads `stack_dim` and its name.
class LazyReader final : public Reader {
 public:
  using Reader::Reader;

  std::int64_t find(std::string_view text) {
    run(text);
    if (!found_) fail_here("the field \"stack_dim\" is missing");
    return dim_;
  }
  std::optional<std::string> take_name() { return std::move(name_); }

 private:
  void on_scalar(const Plain& value) override {
    if (depth() == 1 && at_name_ && value.is(Plain::text)) name_ = value.characters();
    if (depth() != 1 || !inside_) return;
    if (!value.is(Plain::integer) || value.integral() < 0) {
      fail_here("\"stack_dim\" is not the number of a dimension");
    }
    dim_ = value.integral();
    found_ = true;
  }
  void on_open(bool) override {
    if (depth() == 2 && inside_) fail_here("\"stack_dim\" is not a number");
  }
  void on_close(bool) override {}
  void on_key(std::string_view key) override {
    if (depth() != 1) return;
    inside_ = key == "stack_dim";
    at_name_ = key == "stack_dim_name";
  }

  std::int64_t dim_ = 0;
  std::optional<std::string> name_;
  bool inside_ = false, at_name_ = false;
  bool found_ = false;
};

// A tensorclass: its non-tensor fields. Newer writers put only null fields here, and others into the
// dictionary inside.
class RecordReader final : public Reader {
 public:
  RecordReader(const std::string& where, const Limits& limits, NodeText& result)
      : Reader(where, limits.depth), max_entries_(limits.entries), result_(result) {}

 private:
  void on_key(std::string_view key) override {
    if (depth() != 1) return value_.name(key);
    field_ = key;
    if (!seen_.insert(field_).second) fail_here("two fields are called ", quote(field_));
    if (seen_.size() - 1 > max_entries_)
      fail_here("more entries than allowed");  // all except "_type"
  }
  void on_scalar(const Plain& value) override {
    if (depth() == 1 && value.is(Plain::null)) {
      result_.empty_fields.push_back(field_);
      return;
    }
    value_.add(value);
    if (depth() == 1) add_field();
  }
  void on_open(bool) override {
    if (depth() > 1) value_.open();
  }
  void on_close(bool is_object) override {
    if (depth() == 0) return;
    value_.close(is_object);
    if (depth() == 1) add_field();
  }

  void add_field() {
    Plain value = value_.take();
    if (field_ != "_type") result_.fields.push_back({field_, std::move(value)});
  }

  std::size_t max_entries_;
  NodeText& result_;
  std::unordered_set<std::string> seen_;
  std::string field_;
  PlainBuilder value_;
};

// The ways in which Python ends the text of a dictionary without names. Others need a second pass.
bool ends_as_dense(std::string_view text) noexcept {
  constexpr std::string_view added =
      ", \"_format_version\": 1, \"_class\": \"tensordict:TensorDict\"}";
  constexpr std::string_view end = "\"<class 'tensordict._td.TensorDict'>\"}";
  if (text.size() > added.size() && text.substr(text.size() - added.size()) == added) {
    text.remove_suffix(added.size());
    return ends_with(text, "\"_type\": \"<class 'tensordict._td.TensorDict'>\"");
  }
  if (text.size() < end.size() || text.substr(text.size() - end.size()) != end) return false;
  text.remove_suffix(end.size());
  if (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  constexpr std::string_view field = "\"_type\":";
  return text.size() > field.size() && text.substr(text.size() - field.size()) == field;
}

}  // namespace

bool is_later(const Plain& version) noexcept {
  if (version.is(Plain::integer)) return version.integral() > latest_version;
  return version.is(Plain::real) &&
         version.characters().find_first_not_of("0123456789") == std::string_view::npos;
}

void fail_later(const std::string& where, const Plain& version) {
  fail(Code::unsupported, where, ": it is of the format version ", json_text(version),
       ", and versions up to ", latest_version, " can be read");
}

NodeText read_node(std::string_view text, const std::string& where, const Limits& limits) {
  NodeText result;
  if (ends_as_dense(text)) {
    read_dense(text, where, limits, result);
    return result;
  }
  TypeReader types(where, limits.depth);
  types.find(text);
  const std::string& class_name = types.class_name();
  const TypeName* type = types.type();
  if (type == nullptr && class_name.compare(0, 24, "<class 'tensordict._lazy") == 0) {
    fail(Code::unsupported, where, ": ", quote(class_name),
         " is a view that only Python can read: save it there once more, after .contiguous()");
  }
  if (type == nullptr && limits.tensorclasses)
    result.tensorclass = tensorclass_of_class(class_name);
  if (type == nullptr && result.tensorclass.empty()) {
    fail(Code::unsupported, where, ": entries of type ", quote(class_name), " cannot be read yet");
  }
  result.type = type == nullptr ? NodeType::tensorclass : type->type;
  // Python takes the fields of these kinds for those of the class.
  const bool by_class = result.type == NodeType::tensorclass || result.type == NodeType::non_tensor;
  if (by_class && types.has_format_fields()) {
    fail(Code::format, where, ": ", quote(class_name), " has no field ", quote(class_field), " or ",
         quote(version_field));
  }
  switch (result.type) {
    case NodeType::tensorclass: RecordReader(where, limits, result).run(text); break;
    case NodeType::lazy: {
      LazyReader reader(where, limits.depth);
      result.stack_dim = reader.find(text);
      result.stack_dim_name = reader.take_name();
      break;
    }
    case NodeType::dense: read_dense(text, where, limits, result); break;
    case NodeType::sub_tensordict:
      result.index = DataReader(where, limits.depth, "index").find(text);
      if (result.index.empty()) fail(Code::format, where, ": the field \"index\" is missing");
      break;
    case NodeType::non_tensor: result.data = DataReader(where, limits.depth).find(text); break;
    case NodeType::non_tensor_stack: {
      result.data = DataReader(where, limits.depth).find(text);
      if (result.data.empty() || !DataReader(where, limits.depth, "stack_dim").find(text).empty())
        result.stack_dim = LazyReader(where, limits.depth).find(text);
      const std::string device = DataReader(where, limits.depth, "device").find(text);
      result.own_device = !device.empty();
      if (device.size() > 2 && device.front() == '"')
        result.device = device.substr(1, device.size() - 2);
      break;
    }
  }
  return result;
}

}  // namespace td::format
