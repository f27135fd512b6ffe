// core/tree/tensorclass.h: tensorclasses. A tensorclass is a dictionary with declared fields.
#pragma once

#include "core/formats/format.h"
#include "core/tree/tensordict.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace td {

// A name as messages show it.
inline std::string in_quotes(std::string_view text) { return '"' + std::string(text) + '"'; }

enum class FieldKind : std::int32_t {
  tensor = 0,
  dict = 1,         // a dictionary of any content
  value = 2,        // a non-tensor value
  tensorclass = 3,  // a tensorclass of another type
};

// What is declared of an entry. Sizes of features are those behind the batch size; -1 is any size.
struct TensorclassField {
  std::string name;
  FieldKind kind = FieldKind::tensor;
  bool optional = false;
  std::optional<c10::ScalarType> dtype = std::nullopt;
  std::optional<Sizes> feature = std::nullopt;
  at::Tensor default_tensor = {};  // of one element of the batch; undefined: none
  std::optional<std::string> default_json = std::nullopt;
  TensorclassTypePtr tensorclass = nullptr;

  bool has_default() const { return default_tensor.defined() || default_json.has_value(); }
  bool is_made() const { return !optional || has_default(); }  // by make_tensorclass()
};

// For messages: what is declared, and what is found.
std::string describe(const TensorclassField& field);
std::string describe(const Value& value);

// Whether `sizes` are `wanted` behind `batch_dims` others.
bool sizes_match(const Sizes& wanted, SizesView sizes, std::size_t batch_dims);

// What Python pickled of a tensorclass that it saved, because it is no JSON. The file is kept as it is for the next
// save; joined tensorclasses keep that of the first one.
struct PickledFields {
  std::shared_ptr<const std::string> file;  // none: it was too long to be kept
  std::vector<format::Field> values;        // where all of them are plain values
  std::vector<std::string> unread;          // else their names, as far as they can be told

  bool is_unread(std::string_view name) const noexcept;
};
using PickledPtr = std::shared_ptr<const PickledFields>;

struct TensorclassOptions {
  bool autocast = false;  // tensors of another dtype are converted; else they are refused
  bool frozen = false;    // tensorclasses are locked
  TensorclassTypePtr base = nullptr;  // its fields come first
  PickledPtr pickled = nullptr;       // of a tensorclass that was loaded
};

// Never changes, so any thread may use it.
class TensorclassType {
 public:
  // Throws when the declaration contradicts itself.
  TensorclassType(std::string name, std::vector<TensorclassField> fields,
                  const TensorclassOptions& options);

  const std::string& name() const noexcept { return name_; }
  const std::vector<TensorclassField>& fields() const noexcept { return fields_; }
  const TensorclassField* find(std::string_view name) const noexcept;
  bool autocast() const noexcept { return autocast_; }
  bool frozen() const noexcept { return frozen_; }

  // Of the one dictionary that has this type, and what is made of it.
  const PickledPtr& pickled() const noexcept { return pickled_; }

  // The names of the fields that a new tensorclass has.
  const SchemaPtr& schema() const noexcept { return schema_; }

  // Fields of the same names and kinds, whatever the order.
  bool has_members_of(const TensorclassType& other) const;

 private:
  void check(const TensorclassField& field) const;

  std::string name_;
  std::vector<TensorclassField> fields_;
  SchemaPtr names_;        // of all fields
  SchemaPtr schema_;       // of those that are made
  std::size_t depth_ = 1;  // of tensorclasses inside tensorclasses
  bool autocast_;
  bool frozen_;
  PickledPtr pickled_;

  friend TensorclassTypePtr with_pickled(const TensorclassTypePtr& type, PickledPtr pickled);
};

// The same type with these fields of a file, or none.
TensorclassTypePtr with_pickled(const TensorclassTypePtr& type, PickledPtr pickled);

// Throws when a dictionary is not what the type says, and names the field.
void check_tensorclass(const TensorclassTypePtr& type, const TensorDict& td);

// A new tensorclass: defaults, zeros where dtype and feature sizes are known, no optional field.
TensorDict make_tensorclass(const TensorclassTypePtr& type, SizesView batch,
                            std::optional<c10::Device> device);

// Makes a tensorclass of a dictionary, in place: missing fields get their default, tensors are converted
// where the type says so, and nested tensorclasses are marked too. What Python pickled of a tensorclass that was loaded
// stays with it. No type takes all marks off again, and that.
void mark_tensorclass(const TensorclassTypePtr& type, const TensorDict& td);

// What a tensorclass takes for an entry that is set: checked, and converted where the type says so. `path`
// runs from the tensorclass on.
Value fit_field(const Node& tensorclass, Path path, Value value);

// Throws unless the field may be empty.
void require_optional(const TensorclassType& type, std::string_view name);

// The type of what two dictionaries are joined to: none when one of them is plain, else the first one.
// Throws when they have different fields.
TensorclassTypePtr common_tensorclass(const TensorclassTypePtr& a, const TensorclassTypePtr& b);

// Throws when a tensorclass with other fields, or a dictionary with entries that are not declared, would be
// written into a part of `target`, a tensorclass.
void require_alike(const Node& target, const Node& source);

}  // namespace td
