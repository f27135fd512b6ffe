// core/tree/tensorclass.h: the types of tensorclasses, dictionaries with declared fields, and what fits them.
#pragma once

#include "core/formats/format.h"
#include "core/tree/kinds.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace td {

enum class FieldKind : std::int32_t {
  tensor = 0,
  dict = 1,         // a dictionary of any content
  value = 2,        // a non-tensor value
  tensorclass = 3,  // a tensorclass of another type
};

// The declaration of an entry. Feature sizes follow the batch size; -1 is any size.
struct TensorclassField {
  std::string name;
  FieldKind kind = FieldKind::tensor;
  bool optional = false;
  std::optional<c10::ScalarType> dtype = std::nullopt;
  std::optional<Sizes> feature = std::nullopt;
  at::Tensor default_tensor = {};  // for one batch element; may be undefined
  std::optional<std::string> default_json = std::nullopt;  // as the caller wrote it
  Plain default_value = {};                                // the same
  TensorclassTypePtr tensorclass = nullptr;

  bool has_default() const { return default_tensor.defined() || default_json.has_value(); }
  bool is_made() const {
    return !optional || has_default();
  }  // whether make_tensorclass() creates it
};

// Describe the declaration and the found value in messages.
std::string describe(const TensorclassField& field);
std::string describe(const Value& value);

// Whether `sizes` are `wanted` after `batch_dims` dimensions.
bool sizes_match(const Sizes& wanted, SizesView sizes, std::size_t batch_dims);

// Python's pickle of a tensorclass with fields that JSON cannot hold. The file is kept for the next save; a
// join keeps the first one's.
struct PickledFields {
  std::shared_ptr<const std::string> file;  // nullptr: too long to keep
  std::vector<format::Field> values;        // if all are plain values
  std::vector<std::string> unread;          // else their names, as far as they are known

  bool is_unread(std::string_view name) const noexcept;
};
using PickledPtr = std::shared_ptr<const PickledFields>;

struct TensorclassOptions {
  bool autocast = false;              // converts tensors of other dtypes, instead of refusing them
  bool frozen = false;                // locks tensorclasses
  TensorclassTypePtr base = nullptr;  // its fields come first
  PickledPtr pickled = nullptr;       // of a loaded tensorclass
};

// Immutable, and thus thread-safe.
class TensorclassType {
 public:
  // Throws if the declaration contradicts itself.
  TensorclassType(std::string name, std::vector<TensorclassField> fields,
                  const TensorclassOptions& options);

  const std::string& name() const noexcept { return name_; }
  const std::vector<TensorclassField>& fields() const noexcept { return fields_; }
  const TensorclassField* find(std::string_view name) const noexcept;
  bool autocast() const noexcept { return autocast_; }
  bool frozen() const noexcept { return frozen_; }

  // Of the dictionary with this type, and of results made from it.
  const PickledPtr& pickled() const noexcept { return pickled_; }

  // The names of the fields of a new tensorclass.
  const SchemaPtr& schema() const noexcept { return schema_; }

  // Whether names and kinds of the fields agree, in any order.
  bool has_members_of(const TensorclassType& other) const;

 private:
  void check(TensorclassField& field) const;  // and reads its default

  std::string name_;
  std::vector<TensorclassField> fields_;
  SchemaPtr names_;        // of all fields
  SchemaPtr schema_;       // of fields in a new tensorclass
  std::size_t depth_ = 1;  // nesting of tensorclasses
  bool autocast_;
  bool frozen_;
  PickledPtr pickled_;

  friend TensorclassTypePtr with_pickled(const TensorclassTypePtr& type, PickledPtr pickled);
};

// The same type with this pickle, or without one.
TensorclassTypePtr with_pickled(const TensorclassTypePtr& type, PickledPtr pickled);

// Checks, and if necessary converts, a value that is set in a tensorclass. `path` starts at the tensorclass.
Value fit_field(const Node& tensorclass, Path path, Value value);

// Checks, and with `cast` converts, a value of a field, but not the content of a nested tensorclass.
Value fit_value(const TensorclassType& type, const TensorclassField& field, SizesView batch,
                const Value& value, bool cast);

// Throws if the dictionary has an entry that the type does not declare.
void require_declared(const TensorclassType& type, const Node& node);

// Throws unless the field may be empty.
void require_optional(const TensorclassType& type, std::string_view name);

// The type of a join: null if either is plain, else the first one. Throws if their fields differ.
TensorclassTypePtr common_tensorclass(const TensorclassTypePtr& a, const TensorclassTypePtr& b);

// Throws if the source is a tensorclass with other fields than `target`, or has undeclared entries.
void require_alike(const Node& target, const Node& source);

}  // namespace td
