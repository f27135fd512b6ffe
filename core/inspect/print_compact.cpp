// The compact form: "TensorDict(batch_size=[3], fields={a: f32[4], n: {x: i64[]}})".
#include "core/formats/format.h"
#include "core/inspect/print_parts.h"
#include "core/tree/kinds.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/tensorclass.h"

#include <algorithm>
#include <set>

namespace td {

namespace {

constexpr std::size_t columns = 80;

std::size_t width_of(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
  }));
}

// An entry: its text on one line, and for a dictionary what it is made of.
struct CompactField;
struct CompactPiece {
  std::string flat;
  std::string prefix;
  std::vector<CompactField> fields;
};
struct CompactField {
  std::string key;
  CompactPiece value;
  std::string line() const { return key + ": " + value.flat; }
};

CompactPiece dict_of(std::string prefix, std::vector<CompactField> fields) {
  std::string flat = prefix + "{";
  for (std::size_t i = 0; i < fields.size(); ++i) flat += (i == 0 ? "" : ", ") + fields[i].line();
  return {flat + "}", std::move(prefix), std::move(fields)};
}

// On one line if that fits between `used` columns before it and `tail` after it, else an entry a line.
std::string rendered(const CompactPiece& piece, std::size_t indent, std::size_t used,
                     std::size_t tail) {
  if (piece.fields.empty() || used + width_of(piece.flat) + tail <= columns) return piece.flat;
  indent += 4;
  std::string text = piece.prefix + "{";
  for (std::size_t i = 0; i < piece.fields.size(); ++i) {
    const CompactField& field = piece.fields[i];
    const std::size_t behind = i + 1 == piece.fields.size() ? tail + 1 : 1;
    text += (i == 0 ? "\n" : ",\n") + std::string(indent, ' ') + field.key + ": " +
            rendered(field.value, indent, indent + width_of(field.key) + 2, behind);
  }
  return text + "}";
}

// "f32", "i64", "bf16": PyTorch's name, shortened.
std::string short_dtype(c10::ScalarType dtype) {
  std::string name = dtype_name(dtype);
  for (const auto& [from, to] : {std::pair<std::string_view, std::string_view>{"torch.", ""},
                                 {"float", "f"},
                                 {"uint", "u"},
                                 {"int", "i"},
                                 {"complex", "c"}}) {
    for (std::size_t at = 0; (at = name.find(from, at)) != std::string::npos; at += to.size())
      name.replace(at, from.size(), to);
  }
  return name;
}

// Python's name of the type.
const char* python_type_of(const Plain& value) noexcept {
  switch (value.kind()) {
    case Plain::null: return "NoneType";
    case Plain::boolean: return "bool";
    case Plain::integer: return "int";
    case Plain::real: {  // a whole number beyond 64 bits keeps its digits, as a real does
      const bool whole =
          value.characters().find_first_not_of("-0123456789") == std::string_view::npos;
      return whole ? "int" : "float";
    }
    case Plain::text: return "str";
    case Plain::list: return "list";
    case Plain::object: return "dict";
  }
  return "object";
}

const char* value_type(const Node& node) noexcept {
  const Plain* value = one_value(node);
  return value == nullptr ? "NonTensorStack" : python_type_of(*value);
}

std::string comma_joined(const std::vector<std::string>& parts) { return joined_by(parts, ","); }

std::string dims_in_brackets(SizesView sizes) {
  std::vector<std::string> dims;
  for (const std::int64_t size : sizes) dims.push_back(std::to_string(size));
  return "[" + comma_joined(dims) + "]";
}

class Compact {
 public:
  explicit Compact(const PrintOptions& options) : options_(options) {}

  // The entries of a dictionary. `in_part`: nested dictionaries belong to a sub-tensordict, too.
  std::vector<CompactField> body(const NodePtr& node, bool in_part, std::size_t level) {
    const NodePtr shown = picked_form(node);
    const std::vector<std::string> names = entry_names(*shown);
    std::vector<CompactField> result =
        fields(shown, names, in_part || printed_class(*node) == part_class, level);
    if (!node->tensorclass()) return result;
    for (const auto& [name, text] : fields_without_entry(*node->tensorclass(), names))
      result.push_back({name, {text, "", {}}});
    return result;
  }

  std::vector<CompactField> fields(const NodePtr& node, const std::vector<std::string>& names,
                                   bool in_part, std::size_t level) {
    std::vector<CompactField> result;
    for (const std::string& name : names) {
      result.push_back({name, entry(node, name, in_part, level)});
    }
    if (options_.sorted) {
      std::stable_sort(
          result.begin(), result.end(),
          [](const CompactField& a, const CompactField& b) { return a.line() < b.line(); });
    }
    return result;
  }

 private:
  // What a tensor of a lazy stack would be, without reading it.
  struct Leaf {
    std::optional<std::vector<std::string>> dims;  // behind the batch dimensions
    std::optional<c10::ScalarType> dtype;
    std::set<std::string> devices;
    std::string other;  // an element has no tensor here, but this
  };

  CompactPiece entry(const NodePtr& node, const std::string& name, bool in_part,
                     std::size_t level) {
    // The first element says what an entry of a lazy stack is.
    NodePtr first = node;
    for (std::vector<NodePtr> elements; stack_dim_of(*first); first = picked_form(elements[0])) {
      elements = elements_or_self(first);
      if (elements.empty()) break;
    }
    const std::optional<Value> item = entry_of(first, name);
    if (item && item->is_node() && !is_nested_tensor(*item->node())) {
      const NodePtr& own = item->node();
      if (!is_dict(*own)) return {value_type(*own), "", {}};
      return dict(node, first.get() == node.get() ? own : entry_of(node, name)->node(), *own,
                  in_part, level);
    }
    Leaf leaf;
    look(node, name, leaf);
    if (!leaf.other.empty() || !leaf.dims) return {leaf.other, "", {}};
    std::string text = options_.has(print_part::dtype) ? short_dtype(*leaf.dtype) : "";
    text += "[" + comma_joined(*leaf.dims) + "]";
    if (!node->device() && leaf.devices != std::set<std::string>{"cpu"})
      text += "@" + comma_joined({leaf.devices.begin(), leaf.devices.end()});
    return {std::move(text), "", {}};
  }

  // `item`: the dictionary of the first element, which gives the name of the class.
  CompactPiece dict(const NodePtr& parent, const NodePtr& node, const Node& item, bool in_part,
                    std::size_t level) {
    std::string prefix = printed_class(item);
    if (prefix == "TensorDict") prefix = in_part ? part_class : "";
    const std::size_t outer = parent->batch().size();
    const SizesView batch = node->batch();
    if (batch.size() > outer) prefix += dims_in_brackets(batch.slice(outer));
    if (level >= max_printed_depth || left_ == 0) return {prefix + "{...}", "", {}};
    --left_;
    return dict_of(std::move(prefix), body(node, in_part, level + 1));
  }

  void look(const NodePtr& node, const std::string& name, Leaf& leaf) {
    if (stack_dim_of(*node)) {
      for (const NodePtr& element : elements_or_self(node)) look(picked_form(element), name, leaf);
      return;
    }
    const std::optional<Value> value = entry_of(node, name);
    const at::Tensor* tensor = value ? elements_of(*value) : nullptr;
    if (tensor == nullptr) {
      if (value && leaf.other.empty())
        leaf.other = is_dict(*value) ? printed_class(*value->node()) : value_type(*value->node());
      return;
    }
    std::vector<std::string> dims = dims_of(*value, node->batch().size());
    if (!leaf.dims) {
      leaf.dims = std::move(dims);
    } else if (leaf.dims->size() != dims.size()) {
      leaf.dims = {"-1"};
    } else {
      for (std::size_t i = 0; i < dims.size(); ++i) {
        if (dims[i] != (*leaf.dims)[i]) (*leaf.dims)[i] = "-1";
      }
    }
    const c10::ScalarType dtype = tensor->scalar_type();
    leaf.dtype = leaf.dtype && *leaf.dtype != dtype ? c10::promoteTypes(*leaf.dtype, dtype) : dtype;
    leaf.devices.insert(tensor->device().str());
  }

  std::vector<std::string> dims_of(const Value& value, std::size_t batch_dims) {
    const NestedTensorNode* nested =
        value.is_node() ? &require_nested_tensor(value.node()) : nullptr;
    const Sizes own = nested == nullptr ? Sizes() : nested->shape();
    const SizesView sizes = nested == nullptr ? value.tensor().sizes() : SizesView(own);
    std::vector<std::string> dims;
    for (std::size_t i = batch_dims; i < sizes.size(); ++i) {
      const bool ragged = nested != nullptr && nested->jagged() &&
                          nested->jagged()->dim == static_cast<std::int64_t>(i);
      dims.push_back(ragged ? "j" + std::to_string(number_of(nested->jagged()->offsets))
                            : std::to_string(sizes[i]));
    }
    return dims;
  }

  // Jagged tensors with the same offsets have the same number, as in Python.
  std::size_t number_of(const at::Tensor& offsets) {
    const void* at = offsets.data_ptr();
    const auto found = std::find(jagged_.begin(), jagged_.end(), at);
    const auto number = static_cast<std::size_t>(found - jagged_.begin()) + 1;
    if (found == jagged_.end()) jagged_.push_back(at);
    return number;
  }

  const PrintOptions& options_;
  std::size_t left_ = max_printed_dicts;
  std::vector<const void*> jagged_;
};

}  // namespace

std::string print_compact(const NodePtr& node, const PrintOptions& options) {
  Compact compact(options);
  std::string text = printed_class(*node) + "(";
  if (options.has(print_part::batch_size))
    text += "batch_size=" + dims_in_brackets(node->batch()) + ", ";
  if (options.has(print_part::device) && node->device())
    text += "device=" + node->device()->str() + ", ";
  std::vector<CompactField> exclusive;
  if (const auto dim = stack_dim_of(*node); dim && !node->tensorclass()) {
    text += "stack_dim=" + std::to_string(*dim) + ", ";
    for (const Exclusive& own : exclusive_names(*node)) {
      exclusive.push_back(
          {std::to_string(own.place),
           dict_of("", compact.fields(picked_form(own.element), own.names, false, 1))});
    }
  }
  text += "fields=";
  constexpr std::string_view next = ", exclusive_fields=";
  const std::size_t tail = exclusive.empty() ? 1 : 1 + next.size() + 1;
  text += rendered(dict_of("", compact.body(node, false, 1)), 0, width_of(text), tail);
  if (!exclusive.empty()) {
    const std::size_t used = width_of(std::string_view(text).substr(text.rfind('\n') + 1));
    text += next;
    text += rendered(dict_of("", std::move(exclusive)), 0, used + next.size(), 1);
  }
  return text + ")";
}

}  // namespace td
