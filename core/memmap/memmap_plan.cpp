#include "core/memmap/memmap_plan.h"

#include "core/formats/checksums.h"
#include "core/formats/format.h"
#include "core/io/file_io.h"
#include "core/memmap/save_checks.h"
#include "core/memmap/tensorclass_plan.h"
#include "core/tensor/dtype.h"
#include "core/tensor/format_index.h"
#include "core/tree/engine.h"
#include "core/tree/names.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/paths.h"

#include <algorithm>

namespace td {

namespace {

using FolderUse = SavePlan::FolderUse;

// A function, to avoid a constant that is built at load time.
c10::Device cpu() { return c10::Device(c10::DeviceType::CPU); }

// Plans each node's folder and each tensor's file. A shared node is stored once for each path.
class Planner : public WalkSink<Take::elements> {
 public:
  Planner(const MemmapOptions& options, Content content)
      : content_(content), checks_(options, content, path_) {}

  SavePlan run(const Node& root, std::string dir, bool exists) {
    const Node* node = &root;
    std::vector<std::pair<const SubTensorDictNode*, std::string>> sub_tensordicts;
    while (is_part(*node)) {
      const SubTensorDictNode& part = part_node(*node);
      sub_tensordicts.emplace_back(&part, dir);
      begin_sub_tensordict(part, dir, exists);
      node = part.parent().get();
    }
    root_ = {std::move(dir), exists};
    WalkRules rules = all_paths();
    rules.numbered = true;
    walk(retain(*node), *this, rules);
    for (; !sub_tensordicts.empty(); sub_tensordicts.pop_back()) {
      const auto& [part, place] = sub_tensordicts.back();
      plan_.result = c10::make_intrusive<SubTensorDictNode>(std::move(plan_.result), part->items(),
                                                            part->batch());
      finish_node(*plan_.result, place);
    }
    return std::move(plan_);
  }

  void enter(const Here& here, Dicts dicts) {
    Folder folder = folder_for(here, *dicts[0]);
    begin_dense(here, *dicts[0], std::move(folder));
  }
  void enter_lazy(const Here& here, const LazyNode& lazy, NodesHere) {
    Folder folder = folder_for(here, lazy);
    begin_lazy(here, lazy, std::move(folder));
  }
  void leaf(const Here& here, Tensors tensors) {
    path_ = here.path();
    add_leaf(levels_.back(), here.index(), *tensors[0]);
  }
  void value(const Here& here, NodesHere nodes) {
    path_ = here.path();
    add_non_tensor(levels_.back(), *nodes[0]);
  }
  void nested_tensor(const Here& here, const NestedTensorNode& node, NodesHere) {
    path_ = here.path();
    add_nested_tensor(levels_.back(), here.index(), node);
  }
  Made leave(const Here&, bool) {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    if (!level.dir.empty() && level.stack == nullptr) {
      plan_.folders[level.folder].meta =
          std::move(level.text).finish(level.source->batch(), "cpu", level.source->names());
    }
    return {};
  }

 private:
  struct Folder {
    std::string dir;      // empty: anonymous memory
    bool exists = false;  // exists already
  };
  struct Level {
    const DenseNode* source = nullptr;
    DenseNode* target = nullptr;
    LazyNode* stack = nullptr;  // for a lazy stack
    std::string dir;
    bool exists = false;
    std::size_t folder = 0;  // its index in the plan
    format::DenseText text = {};
    PickledPtr pickled = nullptr;  // of a tensorclass: its values are already in this file
  };

  // The folder of a dictionary; the parent's meta.json names it.
  Folder folder_for(const Here& here, const Node& node) {
    path_ = here.path();
    if (here.is_root()) return root_;
    Level& above = levels_.back();
    if (above.dir.empty()) return {};
    if (above.stack != nullptr) {
      std::string dir = files::join(above.dir, std::string(path_.back()));
      const bool exists = above.exists && SaveChecks::folder_exists(dir);
      return {std::move(dir), exists};
    }
    std::string dir = checks_.folder_of(*above.source, above.dir);
    const bool exists = above.exists && folder_exists(above, dir);
    if (is_tensorclass(node)) {
      above.text.tensorclass(path_.back(), node.tensorclass()->name());
    } else {
      above.text.node(path_.back(),
                      is_lazy_stack(node) ? format::NodeType::lazy : format::NodeType::dense);
    }
    return {std::move(dir), exists};
  }

  // Puts the planned node into its parent.
  void put(const Here& here, NodePtr made) {
    if (here.is_root()) {
      plan_.result = std::move(made);
    } else if (Level& above = levels_.back(); above.stack != nullptr) {
      above.stack->set_element(here.index(), std::move(made));
    } else {
      above.target->push_value(std::move(made));
    }
  }

  // Whether the node gets a folder that names its tensorclass. In a lazy stack of tensorclasses each element
  // has one; in a lazy stack that is itself a tensorclass the elements do not.
  static bool is_tensorclass(const Node& source) {
    if (!is_lazy_stack(source)) return source.tensorclass() != nullptr;
    const c10::ArrayRef<NodePtr> elements = stacked(source);
    return source.tensorclass() && !elements.empty() && !elements[0]->tensorclass();
  }

  void begin_lazy(const Here& here, const LazyNode& source, Folder folder) {
    auto& [dir, exists] = folder;
    auto target = c10::make_intrusive<LazyNode>(std::vector<NodePtr>(source.elements().size()),
                                                source.stack_dim(), source.batch(), cpu());
    copy_tags(source, *target);
    finish_node(*target, dir);
    if (!dir.empty() && is_tensorclass(source)) begin_tensorclass(source, dir, exists);
    if (!dir.empty()) {
      checks_.check_length(dir);
      const Names names = names_of(source);
      const auto dim = static_cast<std::size_t>(source.stack_dim());
      plan_.folders.push_back(
          {dir, format::lazy_text(source.stack_dim(), names.empty() ? std::nullopt : names[dim]),
           FolderUse::numbered, exists ? checks_.check_meta(dir) : files::Look()});
    }
    Level level;
    level.stack = target.get();
    level.dir = dir;
    level.exists = exists;
    put(here, std::move(target));
    levels_.push_back(std::move(level));
  }

  // A sub-tensordict stores its index, and its source in a separate folder.
  void begin_sub_tensordict(const SubTensorDictNode& part, std::string& dir, bool& exists) {
    if (dir.empty()) return;
    checks_.check_length(dir);
    plan_.folders.push_back({dir, format::part_text(format::index_text(part.items())),
                             FolderUse::entries, exists ? checks_.check_meta(dir) : files::Look()});
    dir = files::join(dir, std::string(format::source_folder));
    exists = exists && SaveChecks::folder_exists(dir);
  }

  // A tensorclass is stored as a folder that names the class, with the dictionary's folder inside.
  PickledPtr begin_tensorclass(const Node& source, std::string& dir, bool& exists) {
    TensorclassPlan tensorclass = plan_tensorclass(source);
    plan_.folders.push_back({dir, std::move(tensorclass.meta), FolderUse::entries,
                             exists ? checks_.check_meta(dir) : files::Look()});
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

  void begin_dense(const Here& here, const DenseNode& source, Folder folder) {
    auto& [dir, exists] = folder;
    auto target = c10::make_intrusive<DenseNode>(source.shared_schema(), source.batch(), cpu());
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
    put(here, std::move(target));
    levels_.push_back(std::move(level));
  }

  static void finish_node(Node& node, const std::string& dir) {
    node.set_memmapped(true);
    if (!dir.empty()) node.set_saved_path(dir);
  }

  // The old dictionary's checksums are replaced, so their file does not block a key.
  bool folder_exists(const Level& level, const std::string& dir) const {
    const bool checksums = &level == &levels_.front() && path_.back() == checksums_file;
    return !(checksums && files::look(dir).found == files::Found::file) &&
           SaveChecks::folder_exists(dir);
  }

  void add_non_tensor(Level& level, const Node& node) {
    const Plain* one = one_value(node);
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
      const std::string json =
          json_text(one != nullptr ? *one : non_tensor_lists(node), show_path(path_));
      plan_.folders.push_back(
          {dir,
           one != nullptr ? format::non_tensor_text(json)
                          : format::non_tensor_stack_text(
                                json, stack_of(node).stack_dim(),
                                node.device() ? std::optional(node.device()->str()) : std::nullopt),
           FolderUse::entries, old});
    }
    finish_node(*copy, dir);
    level.target->push_value(copy);
  }

  // Whether the entry is stored in Python's pickle.
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
                      stored_name(tensor.scalar_type()));
    }
    level.target->push_value(at::Tensor());
    plan_.leaves.push_back(std::move(leaf));
  }

  // Two files: the values and the table of sizes.
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
                      stored_name(source.values().scalar_type()), /*nested=*/true);
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
  Folder root_;
  Path path_;  // of the current entry
  SaveChecks checks_;
};

// What can be saved: a dense copy if a sub-tensordict is to be saved as its selection.
NodePtr checked(const NodePtr& root, const MemmapOptions& options) {
  if (!is_dict(*root)) fail(Code::wrong_entry, "a non-tensor value cannot be saved alone");
  if (options.num_threads < 0) {
    fail(Code::invalid_argument, "a number of threads cannot be ", options.num_threads);
  }
  return options.dense_sub_tensordicts ? part_form(root) : root;
}

}  // namespace

SavePlan plan_save(const NodePtr& root, const std::string& dir, bool exists,
                   const MemmapOptions& options, Content content) {
  return Planner(options, content).run(*checked(root, options), dir, exists);
}

SavePlan plan_archive(const NodePtr& root, const MemmapOptions& options, Content content) {
  return Planner(options, content).run(*checked(root, options), "/", /*exists=*/false);
}

}  // namespace td
