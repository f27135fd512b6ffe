#include "core/append/match.h"

#include "core/memmap/tensorclass_plan.h"
#include "core/tensor/known_sizes.h"

#include "core/base/key.h"
#include "core/tensor/dtype.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/paths.h"
#include "core/tree/tensordict.h"

#include <ATen/ATen.h>

namespace td {

namespace {

using format::NodeType;

class Matcher {
 public:
  explicit Matcher(const record::Layout& folder) : folder_(folder) {
    result_.leaves.resize(folder.leaves().size());
  }

  Sources run(const TensorDict& td) {
    if (td.batch_size().empty()) {
      fail(Code::shape, "rows are needed: the dictionary has no batch dimension");
    }
    rows_ = known_size(td.batch_size(), 0);
    pending_.push_back({0, td.node()});
    while (!pending_.empty()) {
      const Pending at = std::move(pending_.back());
      pending_.pop_back();
      enter(at);
    }
    return std::move(result_);
  }

 private:
  struct Pending {
    std::size_t index;  // of the node in Layout::nodes()
    NodePtr node;       // the node to append
    // For the dictionary of a tensorclass: fields stored outside of it.
    std::vector<const format::Field*> outside = {};
  };

  std::string name(std::size_t i) const {
    const std::vector<std::string>& path = folder_.nodes()[i].path;
    if (path.empty()) return "the dictionary";
    const std::vector<std::string_view> views(path.begin(), path.end());
    return show_path(views);
  }

  [[noreturn]] void fail_kind(std::size_t i, const char* what) const {
    fail(Code::wrong_entry, name(i), " is ", what, " in \"", folder_.dir(),
         "\" and something else in the dictionary to append");
  }

  void enter(const Pending& at) {
    const auto& [i, node, outside] = at;
    const record::LayoutNode& to = folder_.nodes()[i];
    switch (to.text.type) {
      case NodeType::lazy: return enter_lazy(i, node);
      case NodeType::tensorclass: return enter_tensorclass(i, node);
      case NodeType::non_tensor:
      case NodeType::non_tensor_stack:
        if (kind_of(Value(node)) != EntryKind::non_tensor) fail_kind(i, "no tensor");
        result_.values.emplace_back(i, node);
        return;
      default: return enter_dense(i, node, outside);
    }
  }

  void enter_tensorclass(std::size_t i, const NodePtr& node) {
    const TensorclassTypePtr& type = node->tensorclass();
    if (type && type->name() != folder_.nodes()[i].text.tensorclass) {
      fail(Code::wrong_entry, name(i), " is a ", folder_.nodes()[i].text.tensorclass, " in \"",
           folder_.dir(), "\" and a ", type->name(), " in the dictionary to append");
    }
    std::vector<const format::Field*> outside;
    for (const format::Field& field : folder_.nodes()[i].text.fields) outside.push_back(&field);
    if (type && type->pickled() && unchanged(*node, *type->pickled())) {
      check_pickled(i, *type->pickled());
      for (const format::Field& field : type->pickled()->values) outside.push_back(&field);
    }
    pending_.push_back({folder_.nodes()[i].entries.front().index, node, std::move(outside)});
  }

  // Values that Python has pickled are shared by all rows and cannot change.
  void check_pickled(std::size_t i, const PickledFields& pickled) const {
    const std::string path =
        folder_.at(files::below(folder_.nodes()[i].folder, format::pickle_file));
    const files::Look look = files::look(path);
    const bool same = pickled.file && look.found == files::Found::file &&
                      look.bytes == pickled.file->size() &&
                      files::read(path, pickled.file->size()) == *pickled.file;
    if (!same) fail_kind(i, "a tensorclass with other pickled fields");
  }

  void enter_lazy(std::size_t i, const NodePtr& node) {
    const record::LayoutNode& to = folder_.nodes()[i];
    if (!is_dict(*node) || stack_dim_of(*node) != to.text.stack_dim) {
      fail_kind(i, ("a lazy stack along dimension " + std::to_string(to.text.stack_dim)).c_str());
    }
    const c10::ArrayRef<NodePtr> elements = stacked(*node);
    if (elements.size() != to.entries.size()) {
      fail(Code::shape, name(i), " has ", to.entries.size(), " elements in \"", folder_.dir(),
           "\" and ", elements.size(), " in the dictionary to append");
    }
    for (std::size_t k = 0; k < to.entries.size(); ++k) {
      pending_.push_back({to.entries[k].index, elements[k]});
    }
  }

  void check_sizes(const std::string& what, SizesView sizes, ShapeView row) const {
    if (!sizes.empty() && sizes[0] == rows_ && ShapeView(sizes.slice(1)) == row) return;
    Sizes wanted{rows_};
    wanted.append(row.begin(), row.end());
    fail(Code::shape, what, " has shape ", show_sizes(sizes), "; rows for \"", folder_.dir(),
         "\" need ", show_sizes(wanted));
  }

  void enter_dense(std::size_t i, const NodePtr& given,
                   const std::vector<const format::Field*>& outside) {
    const record::LayoutNode& to = folder_.nodes()[i];
    if (!is_dict(*given)) fail_kind(i, "a dictionary");
    result_.held.push_back(dense_form(given));
    const DenseNode& node = entries_of(result_.held.back());
    check_sizes(name(i), node.batch(), to.row());
    for (const record::LayoutNode::Entry& entry : to.entries) {
      const Value* value = node.find(entry.key);
      if (value == nullptr) {
        fail(Code::key_not_found, name(i), " has no entry ", quote(entry.key), ", which is in \"",
             folder_.dir(), "\"");
      }
      if (entry.is_leaf) {
        add_leaf(entry.index, *value);
      } else if (!value->is_node()) {
        fail_kind(entry.index, "no tensor");
      } else {
        pending_.push_back({entry.index, value->node()});
      }
    }
    if (node.size() == to.entries.size()) return;
    for (std::size_t k = 0; k < node.size(); ++k)
      check_known(i, node.name(k), node.value(k), outside);
  }

  void check_known(std::size_t i, const std::string& key, const Value& value,
                   const std::vector<const format::Field*>& outside) const {
    for (const format::Field* field : outside) {
      if (field->name == key && holds(value, *field)) return;
    }
    for (const record::LayoutNode::Entry& entry : folder_.nodes()[i].entries) {
      if (entry.key == key) return;
    }
    fail(Code::key_not_found, name(i), " has an entry ", quote(key), ", which is not in \"",
         folder_.dir(), "\"");
  }

  void add_leaf(std::size_t index, const Value& value) {
    const record::LayoutLeaf& leaf = folder_.leaves()[index];
    const std::vector<std::string_view> views(leaf.path.begin(), leaf.path.end());
    if (value.is_node()) {
      fail(Code::wrong_entry, show_path(views), " is a tensor in \"", folder_.dir(),
           "\" and something else in the dictionary to append");
    }
    const at::Tensor& tensor = value.tensor();
    if (dtype_of(tensor.scalar_type()) != leaf.dtype) {
      fail(Code::dtype, show_path(views), " is ", find_dtype(leaf.dtype)->torch, " in \"",
           folder_.dir(), "\" and ", dtype_name(tensor.scalar_type()),
           " in the dictionary to append");
    }
    check_sizes(show_path(views), tensor.sizes(), leaf.row);
    if (tensor.layout() != c10::kStrided || tensor.is_nested() || !tensor.has_storage()) {
      fail(Code::unsupported, show_path(views), " cannot be stored: it is not a dense tensor");
    }
    result_.leaves[index] = tensor;
  }

  const record::Layout& folder_;
  Sources result_;
  std::int64_t rows_ = 0;
  std::vector<Pending> pending_;
};

}  // namespace

Sources match(const record::Layout& folder, const TensorDict& td) {
  return Matcher(folder).run(td);
}

}  // namespace td
