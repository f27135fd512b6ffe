#include "td/print.h"

#include "td/mapped_file.h"
#include "td/python_text.h"
#include "td/record.h"
#include "td/tensordict.h"

#include <algorithm>

namespace td {

namespace {

// Deeper dictionaries print as "..."; the text of a tree grows with the square of its depth.
constexpr std::size_t max_depth = 64;

std::string torch_size(SizesView sizes) { return "torch.Size(" + show_sizes(sizes) + ")"; }

std::string show_device(const std::optional<c10::Device>& device) {
  return device ? device->str() : "None";
}

bool begins_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
}

// Python shortens what is longer than 200 characters, and counts characters, not bytes.
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

std::string data_text(const DataNode& node) {
  const std::string text = shortened(python_text(node.json()));
  return "NonTensorData(data=" + text + ", batch_size=" + torch_size(node.batch()) +
         ", device=" + show_device(node.device()) + ")";
}

std::string indent(std::size_t depth) { return std::string(4 * depth, ' '); }

// The tail that every dictionary prints after its fields.
std::string attributes(const Node& node, std::size_t depth) {
  const std::string margin = indent(depth + 1);
  const bool shared = node.device() && node.device()->type() == c10::DeviceType::CUDA;
  return margin + "batch_size=" + torch_size(node.batch()) + ",\n" + margin +
         "device=" + show_device(node.device()) + ",\n" + margin +
         "is_shared=" + (shared ? "True" : "False") + ")";
}

struct Level {
  const DenseNode* node;
  std::size_t depth;  // of indentation
  std::size_t next = 0;
  std::vector<std::string> fields = {};  // "name: text", sorted by that text as Python does

  // Fields of records stand directly below their name.
  std::size_t inside() const { return depth + (node->record() ? 1 : 2); }
  std::string label(std::size_t i) const { return node->name(i) + (node->record() ? "=" : ": "); }
};

// `Name(`, the fields as `name=text`, then those that are empty, in the order of their declaration.
std::string finish_record(Level& level) {
  const RecordType& type = *level.node->record();
  std::sort(level.fields.begin(), level.fields.end());
  for (const RecordField& field : type.fields()) {
    if (level.node->find(field.name) == nullptr) level.fields.push_back(field.name + "=None");
  }
  std::string text = type.name() + "(\n";
  for (const std::string& field : level.fields) text += indent(level.inside()) + field + ",\n";
  return text + attributes(*level.node, level.depth);
}

std::string finish(Level& level) {
  if (level.node->record()) return finish_record(level);
  const std::size_t depth = level.depth;
  std::string text = "TensorDict(\n" + indent(depth + 1) + "fields={\n";
  std::sort(level.fields.begin(), level.fields.end());
  for (std::size_t i = 0; i < level.fields.size(); ++i) {
    text += indent(depth + 2) + level.fields[i] + (i + 1 < level.fields.size() ? ",\n" : "},\n");
  }
  if (level.fields.empty()) text += indent(depth + 1) + "},\n";
  return text + attributes(*level.node, depth);
}

std::string lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

}  // namespace

std::string dtype_name(c10::ScalarType dtype) {
  switch (dtype) {
    case at::kByte: return "torch.uint8";
    case at::kChar: return "torch.int8";
    case at::kShort: return "torch.int16";
    case at::kInt: return "torch.int32";
    case at::kLong: return "torch.int64";
    case at::kHalf: return "torch.float16";
    case at::kFloat: return "torch.float32";
    case at::kDouble: return "torch.float64";
    case at::kComplexHalf: return "torch.complex32";
    case at::kComplexFloat: return "torch.complex64";
    case at::kComplexDouble: return "torch.complex128";
    case at::kBool: return "torch.bool";
    case at::kBFloat16: return "torch.bfloat16";
    case at::kQInt8: return "torch.qint8";
    case at::kQUInt8: return "torch.quint8";
    case at::kQInt32: return "torch.qint32";
    case c10::ScalarType::QUInt4x2: return "torch.quint4x2";
#if TD_TORCH_HAS_WIDE_UNSIGNED
    case c10::ScalarType::UInt16: return "torch.uint16";
    case c10::ScalarType::UInt32: return "torch.uint32";
    case c10::ScalarType::UInt64: return "torch.uint64";
#endif
    default: return "torch." + lower_case(c10::toString(dtype));  // Float8_e4m3fn and what may come
  }
}

std::string describe(const at::Tensor& tensor) {
  const MappedFile* file = MappedFile::of(tensor);
  const bool cuda = tensor.device().type() == c10::DeviceType::CUDA;
  const bool shared = cuda || (file != nullptr && !file->path().empty());
  return std::string(file != nullptr ? "MemoryMappedTensor" : "Tensor") +
         "(shape=" + torch_size(tensor.sizes()) + ", device=" + tensor.device().str() +
         ", dtype=" + dtype_name(tensor.scalar_type()) +
         ", is_shared=" + (shared ? "True" : "False") + ")";
}

std::string print(const Node& root) {
  if (root.kind() == NodeKind::data) return data_text(static_cast<const DataNode&>(root));
  std::vector<Level> levels{{as_dense(&root), 0}};
  for (;;) {
    Level& level = levels.back();
    if (level.next == level.node->size()) {
      std::string text = finish(level);
      levels.pop_back();
      if (levels.empty()) return text;
      Level& above = levels.back();
      above.fields.push_back(above.label(above.next - 1) + std::move(text));
      continue;
    }
    const std::size_t i = level.next++;
    const Value& value = level.node->value(i);
    std::string field = level.label(i);
    if (!value.is_node()) {
      field += describe(value.tensor());
    } else if (value.node()->kind() == NodeKind::data) {
      field += data_text(static_cast<const DataNode&>(*value.node()));
    } else if (levels.size() >= max_depth) {
      field += "TensorDict(...)";
    } else {
      levels.push_back({as_dense(value.node().get()), level.inside()});
      continue;
    }
    level.fields.push_back(std::move(field));
  }
}

std::string TensorDict::to_string() const { return print(*node_); }

}  // namespace td
