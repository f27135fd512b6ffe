#include "core/memmap/memmap_plan.h"

#include "core/io/checksums.h"
#include "core/io/file_io.h"
#include "core/memmap/save_checks.h"
#include "core/memmap/tensorclass_plan.h"
#include "core/meta/format.h"
#include "core/meta/format_index.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/paths.h"
#include "core/tree/traverse.h"

#include <algorithm>
#include <deque>

namespace td {

namespace {

using FolderUse = SavePlan::FolderUse;

// A function: a constant of this type would be made at load.
c10::Device cpu() { return c10::Device(c10::DeviceType::CPU); }

class Planner {
 public:
  Planner(const MemmapOptions& options, Content content)
      : content_(content), checks_(options, content, path_) {}

  SavePlan run(const Node& root, const std::string& dir) {
    return run(root, dir, !dir.empty() && SaveChecks::folder_exists(files::join(dir, ".")));
  }

  SavePlan run(const Node& root, std::string dir, bool exists) {
    const Node* node = &root;
    std::vector<std::pair<const SubTensorDictNode*, std::string>> sub_tensordicts;
    while (const SubTensorDictNode* part = as_sub_tensordict(node)) {
      sub_tensordicts.emplace_back(part, dir);
      begin_sub_tensordict(*part, dir, exists);
      node = part->parent().get();
    }
    limit_.emplace(*node);
    plan_.result = begin(*node, dir, exists);
    while (!levels_.empty()) {
      const Level& level = levels_.back();
      if (level.lazy != nullptr && level.next < level.lazy->elements().size()) {
        step_element();
      } else if (level.lazy == nullptr && level.next < level.source->size()) {
        step();
      } else {
        finish();
      }
    }
    for (; !sub_tensordicts.empty(); sub_tensordicts.pop_back()) {
      const auto& [part, place] = sub_tensordicts.back();
      plan_.result = c10::make_intrusive<SubTensorDictNode>(std::move(plan_.result), part->items(),
                                                            part->batch());
      finish_node(*plan_.result, place);
    }
    return std::move(plan_);
  }

 private:
  struct Level {
    const DenseNode* source = nullptr;
    DenseNode* target = nullptr;
    const LazyNode* lazy = nullptr;  // a lazy stack instead
    LazyNode* stack = nullptr;
    std::string dir;         // empty: nameless memory
    bool exists = false;     // the folder is there already
    std::size_t folder = 0;  // its place in the plan
    format::DenseText text = {};
    PickledPtr pickled = nullptr;  // of a tensorclass: its values stand in a file already
    std::size_t next = 0;
  };

  NodePtr begin(const Node& source, const std::string& dir, bool exists) {
    if (!levels_.empty()) limit_->enter(source);
    if (const LazyNode* lazy = as_lazy(&source)) return begin_lazy(*lazy, dir, exists);
    return begin_dense(*as_dense(&source), dir, exists);
  }

  // Whether a folder that names a tensorclass stands around the node. Of a lazy stack of tensorclasses each element
  // has its own; one that is a tensorclass itself has elements that are none.
  static bool is_tensorclass(const Node& source) {
    const LazyNode* lazy = as_lazy(&source);
    if (lazy == nullptr) return source.tensorclass() != nullptr;
    return source.tensorclass() && !lazy->elements().empty() && !lazy->elements()[0]->tensorclass();
  }

  NodePtr begin_lazy(const LazyNode& source, std::string dir, bool exists) {
    const std::size_t n = source.elements().size();
    auto target = c10::make_intrusive<LazyNode>(std::vector<NodePtr>(n), source.stack_dim(),
                                                source.batch(), cpu());
    copy_tags(source, *target);
    finish_node(*target, dir);
    if (!dir.empty() && is_tensorclass(source)) begin_tensorclass(source, dir, exists);
    if (!dir.empty()) {
      checks_.check_length(dir);
      plan_.folders.push_back({dir, format::lazy_text(source.stack_dim()), FolderUse::numbered,
                               exists ? checks_.check_meta(dir) : files::Look()});
    }
    Level level;
    level.lazy = &source;
    level.stack = target.get();
    level.dir = dir;
    level.exists = exists;
    levels_.push_back(std::move(level));
    return target;
  }

  void step_element() {
    Level& level = levels_.back();
    const std::size_t k = level.next++;
    LazyNode* stack = level.stack;
    const NodePtr& element = level.lazy->elements()[k];
    element_names_.push_back(std::to_string(k));
    path_.push_back(element_names_.back());
    std::string dir;
    bool exists = false;
    if (!level.dir.empty()) {
      dir = files::join(level.dir, element_names_.back());
      exists = level.exists && SaveChecks::folder_exists(dir);
    }
    stack->set_element(k, begin(*element, dir, exists));  // the levels may move
  }

  // A sub-tensordict is its index, and what it is a part of in a folder of its own.
  void begin_sub_tensordict(const SubTensorDictNode& part, std::string& dir, bool& exists) {
    if (dir.empty()) return;
    checks_.check_length(dir);
    if (exists) checks_.check_meta(dir);
    plan_.folders.push_back({dir, format::part_text(format::index_text(part.items()))});
    dir = files::join(dir, std::string(format::source_folder));
    exists = exists && SaveChecks::folder_exists(dir);
  }

  // A tensorclass is a dictionary in a folder of its own, inside one that says what it is.
  PickledPtr begin_tensorclass(const Node& source, std::string& dir, bool& exists) {
    TensorclassPlan tensorclass = plan_tensorclass(source);
    if (exists) checks_.check_meta(dir);
    plan_.folders.push_back({dir, std::move(tensorclass.meta)});
    if (tensorclass.pickled) {
      std::string path = files::join(dir, format::pickle_file);
      checks_.check_length(path);
      if (exists) checks_.check_file(path);
      plan_.files.push_back({std::move(path), tensorclass.pickled->file});
    }
    dir = files::join(dir, std::string(format::tensorclass_folder));
    exists = exists && SaveChecks::folder_exists(dir);
    return std::move(tensorclass.pickled);
  }

  NodePtr begin_dense(const DenseNode& source, std::string dir, bool exists) {
    auto target = c10::make_intrusive<DenseNode>(source.schema(), source.batch(), cpu());
    target->reserve(source.size());
    if (source.tensorclass()) target->set_tensorclass(source.tensorclass());
    finish_node(*target, dir);
    PickledPtr pickled;
    if (!dir.empty() && source.tensorclass()) pickled = begin_tensorclass(source, dir, exists);
    if (!dir.empty()) {
      checks_.check_length(dir);
      plan_.folders.push_back({dir,
                               {},
                               source.size() == 0 ? FolderUse::empty : FolderUse::entries,
                               exists ? checks_.check_meta(dir) : files::Look()});
    }
    Level level;
    level.source = &source;
    level.target = target.get();
    level.pickled = std::move(pickled);
    level.dir = dir;
    level.exists = exists;
    level.folder = plan_.folders.size() - 1;
    levels_.push_back(std::move(level));
    return target;
  }

  static void finish_node(Node& node, const std::string& dir) {
    node.set_memmapped(true);
    if (!dir.empty()) node.set_saved_path(dir);
  }

  void finish() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    if (!level.dir.empty() && level.lazy == nullptr) {
      plan_.folders[level.folder].meta = std::move(level.text).finish(level.source->batch(), "cpu");
    }
    if (!path_.empty()) path_.pop_back();
  }

  void step() {
    Level& level = levels_.back();
    const std::size_t i = level.next++;
    const Value& value = level.source->value(i);
    path_.push_back(level.source->name(i));
    if (!value.is_node()) {
      add_leaf(level, i, value.tensor());
      path_.pop_back();
    } else if (const NestedTensorNode* nested_tensor = as_nested_tensor(value.node().get())) {
      add_nested_tensor(level, i, *nested_tensor);
      path_.pop_back();
    } else if (is_opaque(*value.node())) {
      add_non_tensor(level, *value.node());
      path_.pop_back();
    } else {
      add_node(level, *value.node());  // its name stays on the path until it is done
    }
  }

  void add_node(Level& level, const Node& inner) {
    std::string dir;
    bool exists = false;
    if (!level.dir.empty()) {
      dir = checks_.folder_of(*level.source, level.dir);
      exists = level.exists && folder_exists(level, dir);
      if (is_tensorclass(inner)) {
        level.text.tensorclass(path_.back(), inner.tensorclass()->name());
      } else if (inner.kind() == NodeKind::lazy) {
        level.text.node(path_.back(), format::NodeType::lazy);
      } else {
        level.text.node(path_.back(), format::NodeType::dense);
      }
    }
    DenseNode* target = level.target;  // the levels may move
    target->push_value(begin(inner, dir, exists));
  }

  // The checksums of the old dictionary go with it, and do not stand in the way of a key.
  bool folder_exists(const Level& level, const std::string& dir) const {
    const bool checksums = &level == &levels_.front() && path_.back() == checksums_file;
    return !(checksums && files::look(dir).found == files::Found::file) &&
           SaveChecks::folder_exists(dir);
  }

  void add_non_tensor(Level& level, const Node& node) {
    const auto* one =
        node.kind() == NodeKind::non_tensor ? static_cast<const NonTensorNode*>(&node) : nullptr;
    const NodePtr copy = node.shallow_copy();
    copy->set_device(cpu());
    std::string dir;
    if (!level.dir.empty() && !is_pickled(level)) {
      dir = checks_.folder_of(*level.source, level.dir);
      checks_.check_length(dir);
      files::Look old;
      if (level.exists && folder_exists(level, dir)) old = checks_.check_meta(dir);
      level.text.node(path_.back(), one != nullptr ? format::NodeType::non_tensor
                                                   : format::NodeType::non_tensor_stack);
      const std::string json = compact(one != nullptr ? one->json() : non_tensor_json(node),
                                       show_path(path_), max_json_depth);
      plan_.folders.push_back(
          {dir,
           one != nullptr ? format::non_tensor_text(json)
                          : format::non_tensor_stack_text(
                                json, static_cast<const LazyNode&>(node).stack_dim(),
                                node.device() ? std::optional(node.device()->str()) : std::nullopt),
           FolderUse::entries, old});
    }
    finish_node(*copy, dir);
    level.target->push_value(copy);
  }

  // Whether the entry on the path stands in the file that Python pickled.
  bool is_pickled(const Level& level) const {
    if (!level.pickled) return false;
    const auto& values = level.pickled->values;
    return std::any_of(values.begin(), values.end(),
                       [&](const format::Field& field) { return field.name == path_.back(); });
  }

  void add_leaf(Level& level, std::size_t slot, const at::Tensor& tensor) {
    SavePlan::Leaf leaf = leaf_of(level, slot, tensor, format::leaf_suffix);
    if (!level.dir.empty()) {
      level.text.leaf(path_.back(), tensor.device().str(), tensor.sizes(),
                      format::dtype_name(tensor.scalar_type()));
    }
    level.target->push_value(at::Tensor());
    plan_.leaves.push_back(std::move(leaf));
  }

  // Two files: the values, and the table of the sizes.
  void add_nested_tensor(Level& level, std::size_t slot, const NestedTensorNode& source) {
    SavePlan::Leaf values = leaf_of(level, slot, source.values(), format::leaf_suffix);
    SavePlan::Leaf table = leaf_of(level, slot, source.sizes(), format::table_suffix);
    const NestedTensorPtr target = source.with_values({}, cpu());
    target->set_memmapped(true);
    values.nested_tensor = target.get();
    table.is_table = true;
    if (!level.dir.empty()) {
      checks_.check_table_name(*level.source);
      level.text.leaf(path_.back(), source.values().device().str(), source.sizes().sizes(),
                      format::dtype_name(source.values().scalar_type()), /*nested=*/true);
    }
    level.target->push_value(NodePtr(target));
    plan_.leaves.push_back(std::move(values));
    if (!level.dir.empty()) plan_.leaves.push_back(std::move(table));
  }

  SavePlan::Leaf leaf_of(const Level& level, std::size_t slot, const at::Tensor& tensor,
                         std::string_view suffix) const {
    checks_.check_tensor(tensor);
    SavePlan::Leaf leaf{tensor, {}, tensor.nbytes(), SavePlan::Action::write, level.target, slot};
    files::Look there;
    if (!level.dir.empty()) {
      checks_.check_name(path_.back(), false, suffix);
      leaf.path = files::join(level.dir, checks_.name_of(path_.back())).append(suffix);
      checks_.check_length(leaf.path);
      if (level.exists) there = checks_.check_file(leaf.path);
      leaf.old = there;
    }
    if (leaf.bytes == 0) {
      leaf.action = SavePlan::Action::empty;
    } else if (content_ == Content::values) {
      leaf.action = checks_.check_mapping(leaf, there);
    }
    return leaf;
  }

  Content content_;
  SavePlan plan_;
  std::vector<Level> levels_;
  std::optional<PathLimit> limit_;  // each place is a folder of its own
  PathBuffer path_;
  SaveChecks checks_;
  std::deque<std::string> element_names_;  // of elements of lazy stacks, on the path
};

// What can be saved: dense where a sub-tensordict is to be.
NodePtr checked(const NodePtr& root, const MemmapOptions& options) {
  if (is_opaque(*root)) fail(Code::wrong_entry, "a non-tensor value cannot be saved alone");
  if (options.num_threads < 0) {
    fail(Code::invalid_argument, "a number of threads cannot be ", options.num_threads);
  }
  return root->kind() == NodeKind::sub_tensordict && options.dense_sub_tensordicts
             ? dense_form(root)
             : root;
}

}  // namespace

SavePlan plan_save(const NodePtr& root, const std::string& dir, const MemmapOptions& options,
                   Content content) {
  return Planner(options, content).run(*checked(root, options), dir);
}

SavePlan plan_archive(const NodePtr& root, const MemmapOptions& options, Content content) {
  return Planner(options, content).run(*checked(root, options), "/", /*exists=*/false);
}

}  // namespace td
