#include "core/inspect/print.h"

#include "core/base/recursion_guard.h"
#include "core/formats/format.h"
#include "core/formats/python_text.h"
#include "core/tensor/buffer.h"
#include "core/tensor/known_sizes.h"
#include "core/tensor/mapped_tensor.h"
#include "core/tree/lazy_index.h"
#include "core/tree/lazy_ops.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/paths.h"
#include "core/tree/tensorclass.h"
#include "core/tree/tensordict.h"

#include <algorithm>

namespace td {

namespace {

// Prints "..." for deeper dictionaries: the text grows with the square of the depth.
constexpr std::size_t max_depth = 64;
constexpr std::size_t max_dicts = 10000;  // in one text: a dictionary may occur in many places

std::string torch_size(SizesView sizes) { return "torch.Size(" + show_sizes(sizes) + ")"; }

std::string show_device(const std::optional<c10::Device>& device) {
  return device ? device->str() : "None";
}

std::string tensor_text(const char* name, SizesView sizes, c10::Device device,
                        c10::ScalarType dtype, bool shared) {
  return std::string(name) + "(shape=" + torch_size(sizes) + ", device=" + device.str() +
         ", dtype=" + dtype_name(dtype) + ", is_shared=" + (shared ? "True" : "False") + ")";
}

bool begins_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

// Python shortens texts above 200 characters (not bytes).
std::string shortened(const std::string& text) {
  const auto characters = std::count_if(text.begin(), text.end(), begins_character);
  if (characters <= 200) return text;
  const auto skip = [&](std::ptrdiff_t n) {
    std::size_t at = 0;
    while (n-- > 0) {
      do ++at;
      while (at < text.size() && !begins_character(text[at]));
    }
    return at;
  };
  return text.substr(0, skip(20)) + "  ...  " + text.substr(skip(characters - 20));
}

std::string non_tensor_text(const Node& node) {
  const std::string text = shortened(python_text(*one_value(node)));
  return "NonTensorData(data=" + text + ", batch_size=" + torch_size(node.batch()) +
         ", device=" + show_device(node.device()) + ")";
}

std::string indent(std::size_t depth) { return std::string(4 * depth, ' '); }

// The attributes printed after the fields.
std::string attributes(const Node& node, std::size_t depth) {
  const std::string margin = indent(depth + 1);
  const bool cuda = node.device() && node.device()->type() == c10::DeviceType::CUDA;
  std::string text = margin + "batch_size=" + torch_size(node.batch()) + ",\n" + margin +
                     "device=" + show_device(node.device()) + ",\n" + margin +
                     "is_shared=" + (cuda || node.shared() ? "True" : "False");
  if (const auto dim = stack_dim_of(node); dim && !node.tensorclass())
    text += ",\n" + margin + "stack_dim=" + std::to_string(*dim);
  return text + ")";
}

// The values as a list, with a list for each element of an uneven stack, whatever its dimension.
Plain values_of(const Node& node) {
  const c10::ArrayRef<NodePtr> elements = stacked(node);
  if (elements.empty() || !is_uneven(node.batch())) return non_tensor_lists(node);
  const RecursionGuard guard;
  std::vector<Plain> lists;
  for (const NodePtr& element : elements) lists.push_back(values_of(*element));
  return Plain::of_list(std::move(lists));
}

// A list with a value for each batch element, shortened as in Python.
std::string non_tensor_stack_text(const Node& node, std::size_t depth) {
  std::string text = python_text(values_of(node));
  std::size_t at = 0;
  for (std::size_t n = 0; at < text.size() && n < 50; ++n) {
    do ++at;
    while (at < text.size() && !begins_character(text[at]));
  }
  if (at < text.size()) text = text.substr(0, at) + "...";
  const std::string margin = indent(depth + 1);
  return "NonTensorStack(\n" + margin + text + ",\n" + margin +
         "batch_size=" + torch_size(node.batch()) + ",\n" + margin +
         "device=" + show_device(node.device()) + ")";
}

// Depth, which bounds the recursion, and the number of dictionaries left to print.
struct Nesting {
  std::size_t level;
  std::size_t& left;
  Nesting inner() const { return {level + 1, left}; }
};

std::string print_node(const NodePtr& node, std::size_t depth, Nesting at);

// A tensor that a lazy stack stacks on reading.
std::string lazy_leaf_text(const NodePtr& lazy, std::string_view name) {
  const LeafLook look = look_at_leaf(lazy, name);
  return tensor_text("Tensor", look.sizes, look.sample.device(), look.sample.scalar_type(),
                     look.sample.device().type() == c10::DeviceType::CUDA);
}

// As in Python: -1 for sizes that differ between parts.
std::string nested_tensor_text(const NestedTensorNode& node) {
  const MappedFile* file = mapping_of(node.values());
  const bool cuda = node.values().is_cuda();
  return tensor_text(file != nullptr ? "MemoryMappedTensor" : "Tensor", node.shape(),
                     node.values().device(), node.values().scalar_type(),
                     cuda || (file != nullptr && !file->path().empty()));
}

std::string entry_text(const NodePtr& node, std::string_view name, std::size_t depth, Nesting at) {
  if (is_lazy_stack(*node)) {
    const EntryKind kind = kind_below(node, name);
    if (kind == EntryKind::tensor) return lazy_leaf_text(node, name);
    if (kind == EntryKind::nested_tensor) return "Tensor(...)";  // cannot be stacked
  }
  const std::optional<Value> value = entry_of(node, name);
  return value->is_node() ? print_node(value->node(), depth, at.inner())
                          : describe(value->tensor());
}

// "name: text" of some entries, sorted by that text as in Python.
std::vector<std::string> field_texts(const NodePtr& node, const std::vector<std::string>& names,
                                     const char* separator, std::size_t depth, Nesting at) {
  std::vector<std::string> fields;
  for (const std::string& name : names) {
    fields.push_back(name + separator + entry_text(node, name, depth, at));
  }
  std::sort(fields.begin(), fields.end());
  return fields;
}

// The closing brace follows the last field, or is on a line of its own.
std::string braces(const std::vector<std::string>& lines, std::size_t depth, std::size_t margin) {
  std::string text = "{\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text += indent(depth) + lines[i] + (i + 1 < lines.size() ? ",\n" : "},\n");
  }
  return lines.empty() ? text + indent(margin) + "},\n" : text;
}

// Keys of single elements of a lazy stack.
std::string exclusive_text(const Node& lazy, std::size_t depth, Nesting at) {
  std::vector<std::string> common = entry_names(lazy);
  std::sort(common.begin(), common.end());
  const c10::ArrayRef<NodePtr> elements = stacked(lazy);
  std::vector<std::string> blocks;
  for (std::size_t k = 0; k < elements.size(); ++k) {
    const NodePtr& element = elements[k];
    std::vector<std::string> names;
    for (std::string& name : entry_names(*element)) {
      if (!std::binary_search(common.begin(), common.end(), name)) names.push_back(std::move(name));
    }
    if (names.empty()) continue;
    std::string block = std::to_string(k) + " ->\n";
    const std::vector<std::string> fields = field_texts(element, names, ": ", depth + 3, at);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      block += indent(depth + 3) + fields[i] + (i + 1 < fields.size() ? ",\n" : "");
    }
    blocks.push_back(std::move(block));
  }
  return indent(depth + 1) + "exclusive_fields=" + braces(blocks, depth + 2, depth + 1);
}

// `Name(`, the fields as `name=text`, then empty fields, in the order of declaration.
std::string tensorclass_text(const NodePtr& node, std::size_t depth, Nesting at) {
  const TensorclassType& type = *node->tensorclass();
  const std::vector<std::string> names = entry_names(*node);
  std::vector<std::string> fields = field_texts(node, names, "=", depth + 1, at);
  for (const TensorclassField& field : type.fields()) {
    if (std::find(names.begin(), names.end(), field.name) == names.end()) {
      const bool unread = type.pickled() && type.pickled()->is_unread(field.name);
      fields.push_back(field.name + (unread ? "=<pickled by Python>" : "=None"));
    }
  }
  std::string text = std::string(format::short_tensorclass(type.name())) + "(\n";
  for (const std::string& field : fields) text += indent(depth + 1) + field + ",\n";
  return text + attributes(*node, depth);
}

// `depth`: depth of the indentation.
std::string print_node(const NodePtr& node, std::size_t depth, Nesting at) {
  if (one_value(*node) != nullptr) return non_tensor_text(*node);
  if (is_nested_tensor(*node)) return nested_tensor_text(require_nested_tensor(node));
  if (!is_dict(*node)) return non_tensor_stack_text(*node, depth);
  if (at.level >= max_depth || at.left == 0) return "TensorDict(...)";
  --at.left;
  if (node->tensorclass()) return tensorclass_text(node, depth, at);
  // A sub-tensordict of a lazy stack may have tensors of different shapes.
  const NodePtr shown = picked_form(node);
  const std::vector<std::string> fields =
      field_texts(shown, entry_names(*shown), ": ", depth + 2, at);
  return std::string(row_of(*node).class_name) + "(\n" + indent(depth + 1) +
         "fields=" + braces(fields, depth + 2, depth + 1) +
         (stack_dim_of(*node) ? exclusive_text(*node, depth, at) : "") + attributes(*node, depth);
}

}  // namespace

std::string describe(const at::Tensor& tensor) {
  const MappedFile* file = mapping_of(tensor);
  const bool cuda = tensor.device().type() == c10::DeviceType::CUDA;
  const bool shared =
      cuda || (file != nullptr && !file->path().empty()) || Buffer::shared(tensor) != nullptr;
  return tensor_text(file != nullptr ? "MemoryMappedTensor" : "Tensor", tensor.sizes(),
                     tensor.device(), tensor.scalar_type(), shared);
}

std::string print(const TensorDict& td) {
  std::size_t left = max_dicts;
  return print_node(td.node(), 0, {0, left});
}

}  // namespace td
