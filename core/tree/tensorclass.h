// core/tree/tensorclass.h: record types. A record is a dictionary with declared fields.
#pragma once

#include "core/meta/format.h"
#include "core/tree/tensordict.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace td {

enum class FieldKind : std::int32_t {
  tensor = 0,
  dict = 1,    // a dictionary of any content
  value = 2,   // a value that is no tensor
  record = 3,  // a record of another type
};

// What is declared of an entry. Sizes of features are those behind the batch size; -1 is any size.
struct RecordField {
  std::string name;
  FieldKind kind = FieldKind::tensor;
  bool optional = false;
  std::optional<c10::ScalarType> dtype = std::nullopt;
  std::optional<Sizes> feature = std::nullopt;
  at::Tensor default_tensor = {};  // of one element of the batch; undefined: none
  std::optional<std::string> default_json = std::nullopt;
  RecordTypePtr record = nullptr;

  bool has_default() const { return default_tensor.defined() || default_json.has_value(); }
  bool is_made() const { return !optional || has_default(); }  // by make_record()
};

// For messages: what is declared, and what is found.
std::string describe(const RecordField& field);
std::string describe(const Value& value);

// Whether `sizes` are `wanted` behind `batch_dims` others.
bool sizes_match(const Sizes& wanted, SizesView sizes, std::size_t batch_dims);

// What Python pickled of a record that it saved, because it is no JSON. The file is kept as it is for the next
// save; joined records keep that of the first one.
struct PickledFields {
  std::shared_ptr<const std::string> file;  // none: it was too long to be kept
  std::vector<format::Field> values;        // where all of them are plain values
  std::vector<std::string> unread;          // else their names, as far as they can be told

  bool is_unread(std::string_view name) const noexcept;
};
using PickledPtr = std::shared_ptr<const PickledFields>;

struct RecordOptions {
  bool autocast = false;         // tensors of another dtype are converted; else they are refused
  bool frozen = false;           // records are locked
  RecordTypePtr base = nullptr;  // its fields come first
  PickledPtr pickled = nullptr;  // of a record that was loaded
};

// Never changes, so any thread may use it.
class RecordType {
 public:
  // Throws when the declaration contradicts itself.
  RecordType(std::string name, std::vector<RecordField> fields, const RecordOptions& options);

  const std::string& name() const noexcept { return name_; }
  const std::vector<RecordField>& fields() const noexcept { return fields_; }
  const RecordField* find(std::string_view name) const noexcept;
  bool autocast() const noexcept { return autocast_; }
  bool frozen() const noexcept { return frozen_; }

  // Of the one dictionary that has this type, and what is made of it.
  const PickledPtr& pickled() const noexcept { return pickled_; }

  // The names of the fields that a new record has.
  const SchemaPtr& schema() const noexcept { return schema_; }

  // Fields of the same names and kinds, whatever the order.
  bool has_members_of(const RecordType& other) const;

 private:
  void check(const RecordField& field) const;

  std::string name_;
  std::vector<RecordField> fields_;
  SchemaPtr names_;        // of all fields
  SchemaPtr schema_;       // of those that are made
  std::size_t depth_ = 1;  // of records inside records
  bool autocast_;
  bool frozen_;
  PickledPtr pickled_;

  friend RecordTypePtr with_pickled(const RecordTypePtr& type, PickledPtr pickled);
};

// The same type with these fields of a file, or none.
RecordTypePtr with_pickled(const RecordTypePtr& type, PickledPtr pickled);

// Throws when a dictionary is not what the type says, and names the field.
void check_record(const RecordTypePtr& type, const TensorDict& td);

// A new record: defaults, zeros where dtype and feature sizes are known, no optional field.
TensorDict make_record(const RecordTypePtr& type, SizesView batch,
                       std::optional<c10::Device> device);

// Makes a record of a dictionary, in place: missing fields get their default, tensors are converted
// where the type says so, and nested records are marked too. What Python pickled of a record that was loaded
// stays with it. No type takes all marks off again, and that.
void mark_record(const RecordTypePtr& type, const TensorDict& td);

// What a record takes for an entry that is set: checked, and converted where the type says so. `path`
// runs from the record on.
Value fit_field(const Node& record, Path path, Value value);

// Throws unless the field may be empty.
void require_optional(const RecordType& type, std::string_view name);

// The type of what two dictionaries are joined to: none when one of them is plain, else the first one.
// Throws when they have different fields.
RecordTypePtr common_record(const RecordTypePtr& a, const RecordTypePtr& b);

// Throws when a record with other fields, or a dictionary with entries that are not declared, would be
// written into a part of `target`, a record.
void require_alike(const Node& target, const Node& source);

}  // namespace td
