#include "memmap_plan.h"

#include "format_index.h"
#include "record_plan.h"
#include "td/data_values.h"
#include "td/fast_path.h"
#include "td/file_io.h"
#include "td/format.h"
#include "td/mapped_file.h"
#include "td/paths.h"

#include <algorithm>
#include <climits>
#include <deque>

namespace td {

namespace {

using files::Found;
using FolderUse = SavePlan::FolderUse;

constexpr std::size_t max_name = 255;            // of Linux's file systems
constexpr std::size_t max_path = PATH_MAX - 64;  // leaves room for a temporary name

// A function: a constant of this type would be made at load.
c10::Device cpu() { return c10::Device(c10::DeviceType::CPU); }

// Whether a tensor is all of what is mapped, as it lies there.
bool is_whole(const at::Tensor& tensor, const MappedFile& file) {
  return fast::plain_cpu(tensor) && tensor.is_contiguous() && tensor.data_ptr() == file.data() &&
         tensor.nbytes() == file.bytes();
}

class Planner {
 public:
  Planner(const MemmapOptions& options, Content content) : options_(options), content_(content) {}

  SavePlan run(const Node& root, const std::string& dir) {
    return run(root, dir, !dir.empty() && folder_exists(files::join(dir, ".")));
  }

  SavePlan run(const Node& root, std::string dir, bool exists) {
    const Node* node = &root;
    std::vector<std::pair<const PartNode*, std::string>> windows;
    while (const PartNode* part = as_part(node)) {
      windows.emplace_back(part, dir);
      begin_window(*part, dir, exists);
      node = part->parent().get();
    }
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
    for (; !windows.empty(); windows.pop_back()) {
      const auto& [part, place] = windows.back();
      plan_.result =
          c10::make_intrusive<PartNode>(std::move(plan_.result), part->items(), part->batch());
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
    PickledPtr pickled = nullptr;  // of a record: its values stand in a file already
    std::size_t next = 0;
  };

  NodePtr begin(const Node& source, const std::string& dir, bool exists) {
    if (const LazyNode* lazy = as_lazy(&source)) return begin_lazy(*lazy, dir, exists);
    return begin_dense(*as_dense(&source), dir, exists);
  }

  // Whether a folder that names a record stands around the node. Of a lazy stack of records each element
  // has its own; one that is a record itself has elements that are none.
  static bool is_record(const Node& source) {
    const LazyNode* lazy = as_lazy(&source);
    if (lazy == nullptr) return source.record() != nullptr;
    return source.record() && !lazy->elements().empty() && !lazy->elements()[0]->record();
  }

  NodePtr begin_lazy(const LazyNode& source, std::string dir, bool exists) {
    const std::size_t n = source.elements().size();
    auto target = c10::make_intrusive<LazyNode>(std::vector<NodePtr>(n), source.stack_dim(),
                                                source.batch(), cpu());
    copy_tags(source, *target);
    finish_node(*target, dir);
    if (!dir.empty() && is_record(source)) begin_record(source, dir, exists);
    if (!dir.empty()) {
      check_length(dir);
      if (exists) check_meta(dir);
      plan_.folders.push_back({dir, format::lazy_text(source.stack_dim()), FolderUse::numbered});
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
      exists = level.exists && folder_exists(dir);
    }
    stack->set_element(k, begin(*element, dir, exists));  // the levels may move
  }

  // A window is its index, and what it is a part of in a folder of its own.
  void begin_window(const PartNode& part, std::string& dir, bool& exists) {
    if (dir.empty()) return;
    check_length(dir);
    if (exists) check_meta(dir);
    plan_.folders.push_back({dir, format::part_text(format::index_text(part.items()))});
    dir = files::join(dir, std::string(format::source_folder));
    exists = exists && folder_exists(dir);
  }

  // A record is a dictionary in a folder of its own, inside one that says what it is.
  PickledPtr begin_record(const Node& source, std::string& dir, bool& exists) {
    RecordPlan record = plan_record(source);
    if (exists) check_meta(dir);
    plan_.folders.push_back({dir, std::move(record.meta)});
    if (record.pickled) {
      std::string path = files::join(dir, format::pickle_file);
      check_length(path);
      if (exists) check_file(path);
      plan_.files.push_back({std::move(path), record.pickled->file});
    }
    dir = files::join(dir, std::string(format::record_folder));
    exists = exists && folder_exists(dir);
    return std::move(record.pickled);
  }

  NodePtr begin_dense(const DenseNode& source, std::string dir, bool exists) {
    auto target = c10::make_intrusive<DenseNode>(source.schema(), source.batch(), cpu());
    target->reserve(source.size());
    if (source.record()) target->set_record(source.record());
    finish_node(*target, dir);
    PickledPtr pickled;
    if (!dir.empty() && source.record()) pickled = begin_record(source, dir, exists);
    if (!dir.empty()) {
      check_length(dir);
      if (exists) check_meta(dir);
      plan_.folders.push_back(
          {dir, {}, source.size() == 0 ? FolderUse::empty : FolderUse::entries});
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
    } else if (const RaggedNode* ragged = as_ragged(value.node().get())) {
      add_ragged(level, i, *ragged);
      path_.pop_back();
    } else if (is_data(*value.node())) {
      add_data(level, *value.node());
      path_.pop_back();
    } else {
      add_node(level, *value.node());  // its name stays on the path until it is done
    }
  }

  void add_node(Level& level, const Node& inner) {
    std::string dir;
    bool exists = false;
    if (!level.dir.empty()) {
      dir = folder_of(level);
      exists = level.exists && folder_exists(dir);
      if (is_record(inner)) {
        level.text.record(path_.back(), inner.record()->name());
      } else if (inner.kind() == NodeKind::lazy) {
        level.text.node(path_.back(), format::NodeType::lazy);
      } else {
        level.text.node(path_.back(), format::NodeType::dense);
      }
    }
    DenseNode* target = level.target;  // the levels may move
    target->push_value(begin(inner, dir, exists));
  }

  void add_data(Level& level, const Node& node) {
    const auto* one = node.kind() == NodeKind::data ? static_cast<const DataNode*>(&node) : nullptr;
    const NodePtr copy = node.shallow_copy();
    copy->set_device(cpu());
    std::string dir;
    if (!level.dir.empty() && !is_pickled(level)) {
      dir = folder_of(level);
      check_length(dir);
      if (level.exists && folder_exists(dir)) check_meta(dir);
      level.text.node(path_.back(),
                      one != nullptr ? format::NodeType::data : format::NodeType::data_stack);
      const std::string json = format::compact(one != nullptr ? one->json() : data_json(node),
                                               show_path(path_), format::max_json_depth);
      plan_.folders.push_back(
          {dir, one != nullptr
                    ? format::data_text(json)
                    : format::data_stack_text(
                          json, static_cast<const LazyNode&>(node).stack_dim(),
                          node.device() ? std::optional(node.device()->str()) : std::nullopt)});
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
  void add_ragged(Level& level, std::size_t slot, const RaggedNode& source) {
    SavePlan::Leaf values = leaf_of(level, slot, source.values(), format::leaf_suffix);
    SavePlan::Leaf table = leaf_of(level, slot, source.sizes(), format::table_suffix);
    const RaggedPtr target = source.with_values({}, cpu());
    target->set_memmapped(true);
    values.ragged = target.get();
    table.is_table = true;
    if (!level.dir.empty()) {
      check_table_name(*level.source);
      level.text.leaf(path_.back(), source.values().device().str(), source.sizes().sizes(),
                      format::dtype_name(source.values().scalar_type()), /*ragged=*/true);
    }
    level.target->push_value(NodePtr(target));
    plan_.leaves.push_back(std::move(values));
    if (!level.dir.empty()) plan_.leaves.push_back(std::move(table));
  }

  // The sizes of "a" stand in the file that the values of "a.shape" would have.
  void check_table_name(const DenseNode& source) const {
    const std::string other = std::string(path_.back()) + ".shape";
    for (const std::string& name : {other, other + std::string(format::leaf_suffix)}) {
      if (source.find(name) == nullptr) continue;
      fail(Code::key_invalid, show_path(path_), " cannot be stored: the file of its sizes and ",
           format::quote(name), " would be called the same");
    }
  }

  SavePlan::Leaf leaf_of(const Level& level, std::size_t slot, const at::Tensor& tensor,
                         std::string_view suffix) const {
    check_tensor(tensor);
    SavePlan::Leaf leaf{tensor, {}, tensor.nbytes(), SavePlan::Action::write, level.target, slot};
    files::Look there;
    if (!level.dir.empty()) {
      check_name(path_.back(), false, suffix);
      leaf.path = files::join(level.dir, name_of(path_.back())).append(suffix);
      check_length(leaf.path);
      if (level.exists) there = check_file(leaf.path);
    }
    if (leaf.bytes == 0) {
      leaf.action = SavePlan::Action::empty;
    } else if (content_ == Content::values) {
      leaf.action = check_mapping(leaf, there);
    }
    return leaf;
  }

  void check_tensor(const at::Tensor& tensor) const {
    if (tensor.layout() != c10::kStrided || tensor.is_nested() || !tensor.has_storage()) {
      fail(Code::unsupported, show_path(path_), " cannot be stored: it is no dense tensor");
    }
    if (format::dtype_name(tensor.scalar_type()).empty()) {
      fail(Code::dtype, show_path(path_), " cannot be stored: the format has no dtype ",
           c10::toString(tensor.scalar_type()));
    }
    if (!format::checked_bytes(tensor.sizes(), tensor.element_size())) {
      fail(Code::shape, show_path(path_), " with shape ", show_sizes(tensor.sizes()),
           " is too large");
    }
    if (content_ == Content::values && tensor.device().type() == c10::DeviceType::Meta) {
      fail(Code::device, show_path(path_), " cannot be stored: it is on meta and has no values");
    }
  }

  // Whether a leaf that is mapped may stay as it is.
  SavePlan::Action check_mapping(const SavePlan::Leaf& leaf, const files::Look& there) const {
    const MappedFile* file = MappedFile::of(leaf.source);
    if (file == nullptr) return SavePlan::Action::write;
    const bool same = leaf.path.empty() ? file->path().empty() : file->is_file(leaf.path);
    if (same) {
      const bool fits = leaf.path.empty() || (file->writes_through() && there.bytes == leaf.bytes);
      return fits && is_whole(leaf.source, *file) ? SavePlan::Action::keep
                                                  : SavePlan::Action::write;
    }
    if (!options_.copy_existing) {
      fail(Code::invalid_argument, show_path(path_), " is mapped from ",
           file->path().empty() ? "nameless memory" : "\"" + file->path() + "\"",
           " already and is copied only with copy_existing");
    }
    return SavePlan::Action::write;
  }

  std::string name_of(std::string_view key) const {
    return options_.verbatim_names ? std::string(key) : format::escape(key);
  }

  std::string folder_of(const Level& level) const {
    const std::string_view key = path_.back();
    check_name(key, true);
    // The file of a leaf "a" and the folder of a dictionary "a.memmap" are called the same.
    if (files::ends_with(key, format::leaf_suffix)) {
      const Value* leaf =
          level.source->find(key.substr(0, key.size() - format::leaf_suffix.size()));
      if (leaf != nullptr && elements_of(*leaf) != nullptr) {
        fail(Code::key_invalid, show_path(path_),
             " cannot be stored: a tensor beside it has a file of this name");
      }
    }
    return files::join(level.dir, name_of(key));
  }

  void check_name(std::string_view key, bool is_node,
                  std::string_view file_suffix = format::leaf_suffix) const {
    const auto refuse = [&](const char* why) {
      fail(Code::key_invalid, show_path(path_), " cannot be stored: ", why);
    };
    if (format::reserved(key) || (is_node && key == format::meta_file)) {
      refuse("the format needs this name for itself");
    }
    if (options_.verbatim_names && !format::safe_verbatim(key, is_node)) {
      refuse("as a file name this would lead elsewhere");
    }
    const std::size_t suffix = is_node ? 0 : file_suffix.size();
    if (name_of(key).size() + suffix > max_name) refuse("as a file name this is too long");
  }

  void check_length(const std::string& path) const {
    if (path.size() <= max_path) return;
    const std::string name = path_.size() > 4
                                 ? "an entry " + std::to_string(path_.size()) + " levels deep"
                                 : show_path(path_);
    fail(Code::key_invalid, name, " cannot be stored: its path would take ", path.size(),
         " bytes, more than the ", max_path, " that are safe");
  }

  // No link is followed below the folder that the caller has named.
  static bool folder_exists(const std::string& path) {
    const Found found = files::look(path).found;
    if (found == Found::link) fail(Code::io, "refused: \"", path, "\" is a symbolic link");
    if (found == Found::nothing) return false;
    if (found != Found::folder) fail(Code::io, "\"", path, "\" is there and is not a folder");
    return true;
  }

  files::Look check_file(const std::string& path) const {
    const files::Look there = files::look(path);
    if (there.found == Found::nothing) return there;
    if (there.found == Found::link) fail(Code::io, "refused: \"", path, "\" is a symbolic link");
    if (there.found != Found::file) fail(Code::io, "\"", path, "\" is there and is not a file");
    if (options_.fail_if_exists) fail(Code::io, "\"", path, "\" is there already");
    return there;
  }

  void check_meta(const std::string& dir) const { check_file(files::join(dir, format::meta_file)); }

  const MemmapOptions& options_;
  Content content_;
  SavePlan plan_;
  std::vector<Level> levels_;
  PathBuffer path_;
  std::deque<std::string> element_names_;  // of elements of lazy stacks, on the path
};

// What can be saved: dense where a window is to be.
NodePtr checked(const NodePtr& root, const MemmapOptions& options) {
  if (is_data(*root)) fail(Code::wrong_entry, "a value that is no tensor cannot be saved alone");
  if (options.num_threads < 0) {
    fail(Code::invalid_argument, "a number of threads cannot be ", options.num_threads);
  }
  return root->kind() == NodeKind::part && options.dense_windows ? dense_form(root) : root;
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
