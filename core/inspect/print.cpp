#include "core/inspect/print_parts.h"

#include "core/base/recursion_guard.h"
#include "core/formats/digits.h"
#include "core/formats/format.h"
#include "core/formats/python_text.h"
#include "core/tensor/buffer.h"
#include "core/tensor/fast_path.h"
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
#include <cmath>
#include <limits>

namespace td {

namespace {

std::string torch_size(SizesView sizes) { return "torch.Size(" + show_sizes(sizes) + ")"; }

std::string show_device(const std::optional<c10::Device>& device) {
  return device ? device->str() : "None";
}

const char* true_or_false(bool value) { return value ? "True" : "False"; }

std::string number_text(double value) {
  std::string text;
  append_rounded(text, value, 4);
  return text;
}

// "mean=0.5, std=1" of floats and complex numbers, "min=0, max=3" of others.
std::string values_text(const at::Tensor& tensor) {
  if (tensor.numel() == 0 || tensor.is_meta()) return "[]";
  const c10::ScalarType dtype = tensor.scalar_type();
  const bool complex = c10::isComplexType(dtype);
  if (complex || c10::isFloatingType(dtype)) {
    const at::Tensor values = tensor.detach().to(complex ? at::kComplexDouble : at::kDouble);
    const double spread =
        tensor.numel() > 1 ? values.std().item<double>() : std::numeric_limits<double>::quiet_NaN();
    const at::Tensor mean = values.mean();
    std::string text = "mean=" + number_text((complex ? at::real(mean) : mean).item<double>());
    if (complex) {
      const auto imaginary = at::imag(mean).item<double>();
      text += (std::signbit(imaginary) ? "" : "+") + number_text(imaginary) + "j";
    }
    return text + ", std=" + number_text(spread);
  }
  const at::Tensor values = tensor.to(at::kLong);
  const auto shown = [&](const at::Tensor& number) {
    const auto value = number.item<std::int64_t>();
    return dtype == at::kBool ? std::string(true_or_false(value != 0)) : std::to_string(value);
  };
  return "min=" + shown(values.min()) + ", max=" + shown(values.max());
}

bool is_cuda(const c10::Device& device) { return device.type() == c10::DeviceType::CUDA; }

// What is printed of a tensor, which need not exist: `tensor` is then nullptr.
struct TensorLook {
  const char* name;
  SizesView sizes;
  c10::Device device;
  c10::ScalarType dtype;
  bool shared;
  const at::Tensor* tensor;
};

std::string tensor_text(const TensorLook& look, const PrintOptions& options) {
  std::vector<std::string> parts;
  const auto add = [&](std::uint32_t part, const char* name, const auto& text) {
    if (options.has(part)) parts.push_back(name + std::string(text()));
  };
  add(print_part::shape, "shape=", [&] { return torch_size(look.sizes); });
  add(print_part::field_device, "device=", [&] { return look.device.str(); });
  add(print_part::dtype, "dtype=", [&] { return dtype_name(look.dtype); });
  add(print_part::field_is_shared, "is_shared=", [&] { return true_or_false(look.shared); });
  if (const at::Tensor* tensor = look.tensor) {
    add(print_part::grad, "requires_grad=", [&] { return true_or_false(tensor->requires_grad()); });
    add(print_part::is_contiguous,
        "is_contiguous=", [&] { return true_or_false(tensor->is_contiguous()); });
    add(print_part::is_view, "is_view=", [&] {
      const c10::TensorImpl& impl = *tensor->unsafeGetTensorImpl();
      return true_or_false(tensor->is_view() ||
                           dynamic_cast<const fast::ViewImpl*>(&impl) != nullptr);
    });
    add(print_part::storage_size,
        "storage_size=", [&] { return std::to_string(tensor->storage().nbytes()); });
    add(print_part::plain, "", [&] { return values_text(*tensor); });
  }
  return look.name + ("(" + joined_by(parts, ", ")) + ")";
}

std::string text_of(const at::Tensor& tensor, const PrintOptions& options) {
  const MappedFile* file = mapping_of(tensor);
  const bool shared = is_cuda(tensor.device()) || (file != nullptr && !file->path().empty()) ||
                      Buffer::shared(tensor) != nullptr;
  return tensor_text({file != nullptr ? "MemoryMappedTensor" : "Tensor", tensor.sizes(),
                      tensor.device(), tensor.scalar_type(), shared, &tensor},
                     options);
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

// Depth, which bounds the recursion, and the number of dictionaries left to print.
struct Nesting {
  std::size_t level;
  std::size_t& left;
  const PrintOptions& options;
  Nesting inner() const { return {level + 1, left, options}; }
};

// The attributes printed after the fields.
void add_attributes(std::vector<std::string>& parts, const Node& node, std::size_t depth,
                    const PrintOptions& options) {
  const std::string margin = indent(depth + 1);
  if (options.has(print_part::batch_size))
    parts.push_back(margin + "batch_size=" + torch_size(node.batch()));
  if (options.has(print_part::device))
    parts.push_back(margin + "device=" + show_device(node.device()));
  if (options.has(print_part::is_shared)) {
    const bool cuda = node.device() && is_cuda(*node.device());
    parts.push_back(margin + "is_shared=" + true_or_false(cuda || node.shared()));
  }
  if (const auto dim = stack_dim_of(node); dim && !node.tensorclass())
    parts.push_back(margin + "stack_dim=" + std::to_string(*dim));
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

std::string print_node(const NodePtr& node, std::size_t depth, Nesting at);

// A tensor that a lazy stack stacks on reading. It is read only for what must be known of its values.
std::string lazy_leaf_text(const NodePtr& lazy, std::string_view name,
                           const PrintOptions& options) {
  const LeafLook look = look_at_leaf(lazy, name);
  if (options.has(~std::uint32_t{print_part::usual}) && !is_uneven(look.sizes))
    return text_of(entry_of(lazy, name)->tensor(), options);
  const c10::Device device = look.sample.device();
  return tensor_text(
      {"Tensor", look.sizes, device, look.sample.scalar_type(), is_cuda(device), nullptr}, options);
}

// As in Python: -1 for sizes that differ between parts.
std::string nested_tensor_text(const NestedTensorNode& node, const PrintOptions& options) {
  const at::Tensor& values = node.values();
  const MappedFile* file = mapping_of(values);
  const Sizes shape = node.shape();
  return tensor_text({file != nullptr ? "MemoryMappedTensor" : "Tensor", shape, values.device(),
                      values.scalar_type(),
                      values.is_cuda() || (file != nullptr && !file->path().empty()), &values},
                     options);
}

std::string entry_text(const NodePtr& node, std::string_view name, std::size_t depth, Nesting at) {
  if (stack_dim_of(*node)) {
    const EntryKind kind = kind_below(node, name);
    if (kind == EntryKind::tensor) return lazy_leaf_text(node, name, at.options);
    if (kind == EntryKind::nested_tensor) return "Tensor(...)";  // cannot be stacked
  }
  const std::optional<Value> value = entry_of(node, name);
  return value->is_node() ? print_node(value->node(), depth, at.inner())
                          : text_of(value->tensor(), at.options);
}

// "name: text" of some entries, sorted by that text as in Python.
std::vector<std::string> field_texts(const NodePtr& node, const std::vector<std::string>& names,
                                     const char* separator, std::size_t depth, Nesting at) {
  std::vector<std::string> fields;
  for (const std::string& name : names) {
    fields.push_back(name + separator + entry_text(node, name, depth, at));
  }
  if (at.options.sorted) std::sort(fields.begin(), fields.end());
  return fields;
}

// The closing brace follows the last field, or is on a line of its own.
std::string braces(const std::vector<std::string>& lines, std::size_t depth, std::size_t margin) {
  if (lines.empty()) return "{\n" + indent(margin) + "}";
  return "{\n" + indent(depth) + joined_by(lines, (",\n" + indent(depth)).c_str()) + "}";
}

// Keys of single elements of a lazy stack.
std::string exclusive_text(const Node& lazy, std::size_t depth, Nesting at) {
  std::vector<std::string> blocks;
  const std::string margin = indent(depth + 3);
  for (const Exclusive& own : exclusive_names(lazy)) {
    const std::vector<std::string> fields =
        field_texts(own.element, own.names, ": ", depth + 3, at);
    blocks.push_back(std::to_string(own.place) + " ->\n" + margin +
                     joined_by(fields, (",\n" + margin).c_str()));
  }
  return indent(depth + 1) + "exclusive_fields=" + braces(blocks, depth + 2, depth + 1);
}

// `Name(`, the fields as `name=text`, then empty fields, in the order of declaration.
std::string tensorclass_text(const NodePtr& node, std::size_t depth, Nesting at) {
  const TensorclassType& type = *node->tensorclass();
  const std::vector<std::string> names = entry_names(*node);
  std::vector<std::string> fields = field_texts(node, names, "=", depth + 1, at);
  for (const auto& [name, text] : fields_without_entry(type, names))
    fields.push_back(name + '=' + text);
  for (std::string& field : fields) field = indent(depth + 1) + field;
  add_attributes(fields, *node, depth, at.options);
  return printed_class(*node) + "(\n" + joined_by(fields, ",\n") + ")";
}

// `depth`: depth of the indentation.
std::string print_node(const NodePtr& node, std::size_t depth, Nesting at) {
  if (one_value(*node) != nullptr) return non_tensor_text(*node);
  if (is_nested_tensor(*node)) return nested_tensor_text(require_nested_tensor(node), at.options);
  if (!is_dict(*node)) return non_tensor_stack_text(*node, depth);
  if (at.level >= max_printed_depth || at.left == 0) return "TensorDict(...)";
  --at.left;
  if (node->tensorclass()) return tensorclass_text(node, depth, at);
  // A sub-tensordict of a lazy stack may have tensors of different shapes.
  const NodePtr shown = picked_form(node);
  const std::vector<std::string> fields =
      field_texts(shown, entry_names(*shown), ": ", depth + 2, at);
  std::vector<std::string> parts = {indent(depth + 1) +
                                    "fields=" + braces(fields, depth + 2, depth + 1)};
  if (stack_dim_of(*node)) parts.push_back(exclusive_text(*node, depth, at));
  add_attributes(parts, *node, depth, at.options);
  return printed_class(*node) + "(\n" + joined_by(parts, ",\n") + ")";
}

// Nothing, where the dtypes of a lazy stack have no common one: the detailed form then prints it, as in Python.
std::optional<std::string> compact_text(const NodePtr& node, const PrintOptions& options) {
  try {
    return print_compact(node, options);
  } catch (const c10::Error&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

PrintOptions print_options(PrintForm form, std::uint32_t show, std::uint32_t hide, bool brief) {
  if ((show & hide) != 0)
    fail(Code::invalid_argument, "parts ", show & hide, " are both shown and hidden");
  PrintOptions options;
  const bool only_detailed = ((show | hide) & ~std::uint32_t{print_part::compact}) != 0;
  options.compact = form == PrintForm::automatic ? !only_detailed : form == PrintForm::compact;
  options.parts = ((brief ? print_part::brief : print_part::usual) | show) & ~hide;
  return options;
}

std::string printed_class(const Node& node) {
  if (node.tensorclass()) return std::string(format::short_tensorclass(node.tensorclass()->name()));
  return is_part(node) ? part_class : row_of(node).class_name;
}

std::string joined_by(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : separator) + parts[i];
  return text;
}

std::vector<std::pair<std::string, const char*>> fields_without_entry(
    const TensorclassType& type, const std::vector<std::string>& entries) {
  std::vector<std::pair<std::string, const char*>> result;
  for (const TensorclassField& field : type.fields()) {
    if (std::find(entries.begin(), entries.end(), field.name) != entries.end()) continue;
    const bool unread = type.pickled() && type.pickled()->is_unread(field.name);
    result.emplace_back(field.name, unread ? "<pickled by Python>" : "None");
  }
  return result;
}

std::vector<Exclusive> exclusive_names(const Node& lazy) {
  std::vector<std::string> common = entry_names(lazy);
  std::sort(common.begin(), common.end());
  std::vector<Exclusive> result;
  const c10::ArrayRef<NodePtr> elements = stacked(lazy);
  for (std::size_t k = 0; k < elements.size(); ++k) {
    Exclusive own = {k, elements[k], {}};
    for (std::string& name : entry_names(*elements[k])) {
      if (!std::binary_search(common.begin(), common.end(), name))
        own.names.push_back(std::move(name));
    }
    if (!own.names.empty()) result.push_back(std::move(own));
  }
  return result;
}

std::string describe(const at::Tensor& tensor) { return text_of(tensor, PrintOptions()); }

std::string print(const TensorDict& td, const PrintOptions& options) {
  if (options.compact && is_dict(*td.node())) {
    if (std::optional<std::string> text = compact_text(td.node(), options)) return *text;
  }
  std::size_t left = max_printed_dicts;
  return print_node(td.node(), 0, {0, left, options});
}

}  // namespace td
