// core/formats/format.h: texts and file names of a folder in the format of Python's tensordict. Opens no
// file.
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
    "other.pickle";  // fields of a tensorclass that JSON cannot hold
inline constexpr std::size_t max_meta_bytes = std::size_t{1} << 28;
inline constexpr std::string_view source_folder = "_source";  // of a sub-tensordict

// Kinds of nodes in a folder. A new kind needs a row in format.cpp's table, and cases where nodes are read,
// built and saved.
enum class NodeType : std::uint8_t {
  dense,
  non_tensor,
  non_tensor_stack,  // one value for each element of the batch
  lazy,
  sub_tensordict,  // its source is in a separate folder
  tensorclass,     // a Python class; its dictionary is in a separate folder
};

// A kind's names in its own meta.json and in its parent's.
struct TypeName {
  NodeType type;
  std::string_view class_name;  // "<class 'tensordict._td.TensorDict'>"
  std::string_view short_name;  // "TensorDict"
};
const TypeName& type_name(NodeType type);
const TypeName* find_type(std::string_view class_name) noexcept;  // nullptr: unknown
// The same by the name that does not depend on private modules: "tensordict:TensorDict".
const TypeName* find_class(std::string_view id) noexcept;
inline constexpr std::string_view class_prefix = "tensordict:";

// Throws Code::format for an unknown name, Code::unsupported for quantised dtypes. `where` begins the
// message.
DType parse_dtype(std::string_view name, std::string_view where);

// The file or folder name of a key, without suffix: unique, and always inside the folder.
std::string escape(std::string_view key);

// Whether the unescaped key is a safe name: it cannot lead out of the folder.
bool safe_verbatim(std::string_view key, bool is_node) noexcept;

// Whether the name is that of a lazy stack's element.
inline bool is_number(std::string_view name) noexcept {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

// Whether a meta.json uses the key itself.
bool reserved(std::string_view key) noexcept;

// Fields that newer releases add to the files of some kinds. An entry may have such a name: it is an object, a field is
// not. The entry takes the field's place.
inline constexpr std::string_view version_field = "_format_version", class_field = "_class",
                                  names_field = "_names";
inline constexpr std::int64_t latest_version = 1;

// A non-tensor value and its name.
struct Field {
  std::string name;
  Plain value;
};

// "mod.Sample" of Python's "<class 'mod.Sample'>", without "__main__."; empty for other texts.
std::string tensorclass_of_class(std::string_view class_name);
// The other way round.
std::string class_of_tensorclass(std::string_view tensorclass);

// Writes meta.json as Python does with orjson: compact, non-ASCII kept.
class DenseText {
 public:
  // For a nested tensor, `shape` is that of the table of sizes.
  void leaf(std::string_view key, std::string_view device, ShapeView shape, std::string_view dtype,
            bool nested_tensor = false);
  void node(std::string_view key, NodeType type);
  void tensorclass(std::string_view key, std::string_view tensorclass);  // name of the type
  std::string finish(ShapeView batch, std::string_view device, const Names& names = {}) &&;

 private:
  void begin(std::string_view key);

  std::string text_ = "{";
  bool has_names_ = false;  // there is an entry of this name
};
std::string non_tensor_text(std::string_view json);
std::string non_tensor_stack_text(std::string_view json, std::int64_t stack_dim,
                                  const std::optional<std::string>& device);
std::string lazy_text(std::int64_t stack_dim, const std::optional<std::string>& name = {});
std::string part_text(std::string_view index);
std::string tensorclass_text(std::string_view tensorclass,
                             const std::vector<std::string>& empty_fields,
                             const std::vector<Field>& fields = {});

// The printed name of a tensorclass, without its module.
std::string_view short_tensorclass(std::string_view tensorclass) noexcept;

// A parsed entry.
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
  Names names;                        // of a dictionary's dimensions; empty: none has a name
  std::optional<std::string> device;  // of a dictionary
  std::vector<Entry> entries;         // of a dictionary
  std::string data;                   // of a value or a stack of values: compact JSON; may be empty
  std::string index;                  // of a sub-tensordict: compact JSON
  bool own_device = false;            // of a stack of values: whether the file states its device
  std::int64_t stack_dim = 0;         // of a lazy stack, or of a stack of values without data
  std::optional<std::string> stack_dim_name;  // of a lazy stack
  std::string tensorclass;                    // of a tensorclass: name of the type
  std::vector<std::string> empty_fields;      // of a tensorclass: null fields
  std::vector<Field> fields;                  // of a tensorclass: other fields stored beside it
};

struct Limits {
  std::size_t depth;           // nesting of lists and objects
  std::size_t entries;         // in this node
  bool tensorclasses = false;  // whether unknown classes may be tensorclasses
};

// Parses a meta.json. `where` names the file and its key in messages. Throws Code::format, and
// Code::unsupported for unknown kinds of nodes.
NodeText read_node(std::string_view text, const std::string& where, const Limits& limits);

// Adds the entry of `other`, a text made by DenseText for the same batch size. Code::key_exists if the entry
// exists.
std::string with_entry(std::string_view text, const std::string& where, std::string_view other);

}  // namespace td::format
