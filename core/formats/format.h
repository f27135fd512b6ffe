// core/formats/format.h: the text and the names of a folder in the format of Python's tensordict. Nothing here
// opens a file or knows of tensors.
#pragma once

#include "core/base/error.h"
#include "core/base/sizes.h"
#include "core/formats/dtypes.h"
#include "core/formats/json_text.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace td::format {

inline constexpr std::string_view meta_file = "meta.json";
inline constexpr std::string_view leaf_suffix = ".memmap";
inline constexpr std::string_view table_suffix =
    ".shape.memmap";  // of the sizes of a nested tensor
inline constexpr std::string_view tensorclass_folder = "_tensordict";
inline constexpr std::string_view pickle_file =
    "other.pickle";  // fields of a tensorclass that are no JSON
inline constexpr std::size_t max_meta_bytes = std::size_t{1} << 28;
inline constexpr std::string_view source_folder = "_source";  // of a sub-tensordict

// What kinds of node a folder can hold. A new kind is a row of the table in format.cpp, a case where
// nodes are read, and one where they are made and saved.
enum class NodeType : std::uint8_t {
  dense,
  non_tensor,
  non_tensor_stack,  // one value for each element of the batch
  lazy,
  sub_tensordict,  // a sub-tensordict: what it is a part of stands in a folder of its own
  tensorclass,     // a class that only Python knows, over a dictionary in a folder of its own
};

// How a kind is called in a meta.json of its own, and in the one above it.
struct TypeName {
  NodeType type;
  std::string_view class_name;  // "<class 'tensordict._td.TensorDict'>"
  std::string_view short_name;  // "TensorDict"
};
const TypeName& type_name(NodeType type);
const TypeName* find_type(std::string_view class_name) noexcept;  // nullptr: not known

// Throws Code::format for a name without meaning, and Code::unsupported for quantised dtypes. `where`
// begins the message.
DType parse_dtype(std::string_view name, std::string_view where);

// From a key to the name of its file or folder, without suffix: one to one, and never leaving the
// folder.
std::string escape(std::string_view key);

// Whether a key may be a name as it is: it cannot lead out of the folder.
bool safe_verbatim(std::string_view key, bool is_node) noexcept;

// Whether a folder is called as an element of a lazy stack is.
inline bool is_number(std::string_view name) noexcept {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

// Keys that a meta.json needs for itself.
bool reserved(std::string_view key) noexcept;

// A non-tensor value, by its name.
struct Field {
  std::string name;
  std::string json;  // compact
};

// Writing, compact and with non-ASCII kept, byte for byte as Python does with orjson.
class DenseText {
 public:
  // Of a nested tensor, `shape` is that of the table of its sizes.
  void leaf(std::string_view key, std::string_view device, ShapeView shape, std::string_view dtype,
            bool nested_tensor = false);
  void node(std::string_view key, NodeType type);
  void tensorclass(std::string_view key, std::string_view tensorclass);  // by the name of its type
  std::string finish(ShapeView batch, std::string_view device) &&;

 private:
  std::string text_ = "{";
};
std::string non_tensor_text(std::string_view json);
std::string non_tensor_stack_text(std::string_view json, std::int64_t stack_dim,
                                  const std::optional<std::string>& device);
std::string lazy_text(std::int64_t stack_dim);
std::string part_text(std::string_view index);
std::string tensorclass_text(std::string_view tensorclass,
                             const std::vector<std::string>& empty_fields,
                             const std::vector<Field>& fields = {});

// Of the name of a tensorclass, which may have a module before it: the name that is printed.
std::string_view short_tensorclass(std::string_view tensorclass) noexcept;

// Reading.
struct Entry {
  std::string key;
  bool is_node = false;
  bool nested_tensor = false;
  bool has_shape = false;
  bool has_is_nested = false;  // missing in files of the first releases
  std::string dtype;           // of a leaf
  Shape shape;                 // of a leaf
};

struct NodeText {
  NodeType type = NodeType::dense;
  Shape batch;                        // of a dictionary
  std::optional<std::string> device;  // of a dictionary
  std::vector<Entry> entries;         // of a dictionary
  std::string data;            // of a value, or of a stack of values: compact JSON; empty: none
  std::string index;           // of a sub-tensordict: compact JSON
  bool own_device = false;     // of a stack of values: whether its device, or none, is said
  std::int64_t stack_dim = 0;  // of a lazy stack, or of a stack of values without data
  std::string tensorclass;     // of a tensorclass: the name of its type
  std::vector<std::string> empty_fields;  // of a tensorclass: those that are null
  std::vector<Field> fields;              // of a tensorclass: the others that stand beside it
};

struct Limits {
  std::size_t depth;           // of lists and objects in one another
  std::size_t entries;         // in this node
  bool tensorclasses = false;  // whether classes that are not known may be tensorclasses
};

// Reads a meta.json. `where` begins the messages: the file, and the key it stands for. Throws
// Code::format, and Code::unsupported for kinds of node that are not known.
NodeText read_node(std::string_view text, const std::string& where, const Limits& limits);

// The text of a dictionary with one more entry: that of `other`, a text that DenseText has made for the
// same batch size. Code::key_exists when it is there already.
std::string with_entry(std::string_view text, const std::string& where, std::string_view other);

}  // namespace td::format
