// Dictionaries that are records: made, marked, and looked at.
#include "core/tree/tensorclass.h"

#include "core/tree/device.h"
#include "core/tree/paths.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

std::string in_quotes(std::string_view text) { return '"' + std::string(text) + '"'; }

[[noreturn]] void fail_field(Code code, const RecordType& type, const RecordField& field,
                             SizesView batch, const Value& found) {
  fail(code, "field ", in_quotes(field.name), " of record ", in_quotes(type.name()), " is ",
       describe(field), "; found ", describe(found), " under batch size ", show_sizes(batch));
}

[[noreturn]] void fail_undeclared(const RecordType& type, std::string_view name) {
  std::string names;
  for (const RecordField& field : type.fields()) {
    if (names.size() > 200) {  // a message is a line
      names += ", …";
      break;
    }
    names += (names.empty() ? "" : ", ") + in_quotes(field.name);
  }
  fail(Code::key_invalid, "record ", in_quotes(type.name()), " has no field ", in_quotes(name),
       "; it has ", names.empty() ? "none" : names);
}

void require_declared(const RecordType& type, const Node& node) {
  for (const std::string& name : entry_names(node)) {
    if (type.find(name) == nullptr) fail_undeclared(type, name);
  }
}

// What the field takes. The content of a nested record is not looked at.
Value fit_value(const RecordType& type, const RecordField& field, SizesView batch,
                const Value& value, bool cast) {
  const EntryKind kind = kind_of(value);
  const EntryKind wanted = field.kind == FieldKind::tensor  ? EntryKind::tensor
                           : field.kind == FieldKind::value ? EntryKind::data
                                                            : EntryKind::dict;
  // Parts of different shapes are a tensor, too, where nothing is said of its dtype and sizes.
  const bool free = !field.dtype && !field.feature;
  if (kind == EntryKind::ragged && wanted == EntryKind::tensor && free) return value;
  if (kind != wanted) fail_field(Code::wrong_entry, type, field, batch, value);
  if (kind != EntryKind::tensor) return value;
  const at::Tensor& tensor = value.tensor();
  if (field.feature && !sizes_match(*field.feature, tensor.sizes(), batch.size())) {
    fail_field(Code::shape, type, field, batch, value);
  }
  if (!field.dtype || tensor.scalar_type() == *field.dtype) return value;
  if (!cast) fail_field(Code::dtype, type, field, batch, value);
  return tensor.to(*field.dtype);
}

// One element of the batch, for all of them, in memory of its own.
at::Tensor spread(const at::Tensor& element, SizesView batch, std::optional<c10::Device> device) {
  Sizes sizes(batch.begin(), batch.end());
  sizes.append(element.sizes().begin(), element.sizes().end());
  const at::Tensor tensor = element.expand(sizes).clone(at::MemoryFormat::Contiguous);
  return device ? move_to(tensor, *device) : tensor;
}

Value default_of(const RecordField& field, SizesView batch, std::optional<c10::Device> device) {
  if (field.default_tensor.defined()) return spread(field.default_tensor, batch, device);
  return NodePtr(c10::make_intrusive<DataNode>(*field.default_json, batch, device));
}

at::Tensor zeros_of(const RecordType& type, const RecordField& field, SizesView batch,
                    std::optional<c10::Device> device) {
  const bool known =
      field.dtype && field.feature &&
      std::find(field.feature->begin(), field.feature->end(), -1) == field.feature->end();
  if (!known) {
    fail(Code::invalid_argument, "field ", in_quotes(field.name), " of record ",
         in_quotes(type.name()), " is ", describe(field),
         ": it cannot be made without a default, a dtype and sizes");
  }
  Sizes sizes(batch.begin(), batch.end());
  sizes.append(field.feature->begin(), field.feature->end());
  at::TensorOptions options(*field.dtype);
  if (device) options = options.device(*device);
  return at::zeros(sizes, options);
}

// What is to be done to a tree so that it is a record: looked at as a whole before anything changes.
class Marking {
 public:
  // With `complete` a record is asked for as it is, else what a record can be made of.
  Marking(const RecordTypePtr& type, const NodePtr& root, bool complete) : complete_(complete) {
    pending_.emplace_back(type, root);
    while (!pending_.empty()) {
      const auto [inner, node] = pending_.back();
      pending_.pop_back();
      look(inner, node);
    }
  }

  void run() {
    for (Put& put : puts_) put.node->put(put.name, std::move(put.value));
    for (auto& [type, node] : marks_) {
      const RecordTypePtr& before = node->record();
      node->set_record(with_pickled(type, before ? before->pickled() : nullptr));
    }
  }

 private:
  void look(const RecordTypePtr& type, const NodePtr& node) {
    marks_.emplace_back(type, node);
    if (const LazyNode* lazy = as_lazy(node.get()); lazy != nullptr && !lazy->holds_data()) {
      for (const NodePtr& element : lazy->elements()) pending_.emplace_back(type, element);
      return;
    }
    if (is_opaque(*node)) {
      fail(Code::wrong_entry, "record ", in_quotes(type->name()),
           " is a dictionary; found a value");
    }
    require_declared(*type, *node);
    for (const RecordField& field : type->fields()) look(*type, field, node);
  }

  void look(const RecordType& type, const RecordField& field, const NodePtr& node) {
    const std::optional<Value> entry = entry_of(node, field.name);
    if (!entry) {
      if (field.has_default() && !complete_) {
        put(node, field, default_of(field, node->batch(), node->device()));
      } else if (!field.optional) {
        fail(Code::key_not_found, "record ", in_quotes(type.name()), " needs a field ",
             in_quotes(field.name), ", ", describe(field), ", which is missing");
      }
      return;
    }
    const Value fitting =
        fit_value(type, field, node->batch(), *entry, type.autocast() && !complete_);
    if (field.kind == FieldKind::record) pending_.emplace_back(field.record, entry->node());
    if (field.kind == FieldKind::tensor && !fitting.is_node() &&
        !fitting.tensor().is_same(entry->tensor())) {
      put(node, field, fitting);
    }
  }

  void put(const NodePtr& node, const RecordField& field, Value value) {
    DenseNode* dense = as_dense(node.get());
    if (dense == nullptr) {
      fail(Code::unsupported, "field ", in_quotes(field.name),
           " cannot be written into a window on a part of a dictionary");
    }
    require_unlocked(*dense);
    puts_.push_back({dense, field.name, std::move(value)});
  }

  struct Put {
    DenseNode* node;
    std::string name;
    Value value;
  };
  std::vector<std::pair<RecordTypePtr, NodePtr>> pending_, marks_;
  std::vector<Put> puts_;
  bool complete_;
};

}  // namespace

void check_record(const RecordTypePtr& type, const TensorDict& td) {
  if (type == nullptr) fail(Code::invalid_argument, "the dictionary is not a record");
  Marking(type, td.node(), /*complete=*/true);
}

TensorDict make_record(const RecordTypePtr& type, SizesView batch,
                       std::optional<c10::Device> device) {
  const TensorDict root(batch, device);  // checks both
  const auto make = [&](const RecordType& one) {
    return c10::make_intrusive<DenseNode>(one.schema(), batch, root.device());
  };
  auto result = make(*type);
  std::vector<std::pair<RecordTypePtr, DenseNode*>> pending{
      {with_pickled(type, nullptr), result.get()}};
  while (!pending.empty()) {
    const auto [inner, node] = pending.back();
    pending.pop_back();
    node->reserve(inner->schema()->size());
    node->set_record(inner);
    for (const RecordField& field : inner->fields()) {
      if (!field.is_made()) continue;
      if (field.has_default()) {
        node->push_value(default_of(field, batch, root.device()));
      } else if (field.kind == FieldKind::tensor) {
        node->push_value(zeros_of(*inner, field, batch, root.device()));
      } else if (field.kind == FieldKind::value) {
        node->push_value(NodePtr(c10::make_intrusive<DataNode>("null", batch, root.device())));
      } else if (field.kind == FieldKind::dict) {
        node->push_value(NodePtr(c10::make_intrusive<DenseNode>(batch, root.device())));
      } else {
        auto nested = make(*field.record);
        pending.emplace_back(field.record, nested.get());
        node->push_value(NodePtr(std::move(nested)));
      }
    }
  }
  if (type->frozen()) lock(result);
  return TensorDict(std::move(result));
}

void mark_record(const RecordTypePtr& type, const TensorDict& td) {
  if (type == nullptr) {
    td.node()->set_record(nullptr);
    visit(*td.node(), [](const Value& value) {
      if (value.is_node()) value.node()->set_record(nullptr);
    });
    return;
  }
  Marking marking(type, td.node(), /*complete=*/false);
  marking.run();
  if (type->frozen()) td.lock();
}

Value fit_field(const Node& record, Path path, Value value) {
  const RecordType& type = *record.record();
  const RecordField* field = type.find(path[0]);
  if (field == nullptr) fail_undeclared(type, path[0]);
  if (path.size() > 1) {
    if (field->kind == FieldKind::dict) return value;
    fail(Code::wrong_entry, "cannot set ", show_path(path), ": field ", in_quotes(field->name),
         " of record ", in_quotes(type.name()), " is ", describe(*field),
         " and cannot be made on the way");
  }
  Value fitting = fit_value(type, *field, record.batch(), value, type.autocast());
  if (field->kind == FieldKind::record) {
    const RecordTypePtr& found = value.node()->record();
    if (found == nullptr || !found->has_members_of(*field->record)) {
      fail_field(Code::wrong_entry, type, *field, record.batch(), value);
    }
  }
  return fitting;
}

void require_optional(const RecordType& type, std::string_view name) {
  const RecordField* field = type.find(name);
  if (field != nullptr && !field->optional) {
    fail(Code::invalid_argument, "field ", in_quotes(name), " of record ", in_quotes(type.name()),
         " is not optional: it cannot be removed");
  }
}

void require_alike(const Node& target, const Node& source) {
  const RecordTypePtr &a = target.record(), &b = source.record();
  if (b == nullptr) {
    require_declared(*a, source);
  } else if (!a->has_members_of(*b)) {
    fail(Code::invalid_argument, "a record ", in_quotes(b->name()),
         " cannot be written into a record ", in_quotes(a->name()), ": their fields differ");
  }
}

}  // namespace td
