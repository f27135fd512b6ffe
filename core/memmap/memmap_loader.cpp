#include "core/memmap/memmap_loader.h"

#include "core/base/recursion_guard.h"
#include "core/memmap/memmap_reader.h"
#include "core/memmap/tensorclass_loader.h"
#include "core/tensor/assign.h"
#include "core/tensor/device.h"
#include "core/tensor/format_index.h"
#include "core/tensor/parallel.h"
#include "core/tree/lazy_index.h"
#include "core/tree/names.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/paths.h"
#include "core/tree/sub_tensordict.h"

#include <algorithm>
#include <deque>

namespace td {

namespace {

using format::NodeType;

constexpr std::int64_t any_rows = std::numeric_limits<std::int64_t>::max();

bool is_value(const Opened& opened) noexcept {
  return opened.text.type == NodeType::non_tensor || opened.text.type == NodeType::non_tensor_stack;
}

class Loader {
 public:
  Loader(const FolderPtr& root, const LoadOptions& options) : root_(root), reader_(options) {
    if (options.device) device_ = resolve_device(*options.device);
  }

  NodePtr run() {
    Opened opened = reader_.open_nested(root_, reader_.options().subpath);
    if (is_value(opened)) {
      fail(Code::unsupported, "\"", opened.dir->path(), "\" holds a value, not a dictionary");
    }
    NodePtr result;
    try {
      result = read(std::move(opened));
    } catch (const Error&) {
      read_leaves();  // leaves before it fail first
      throw;
    }
    read_leaves();
    for (const Mark& mark : marks_) records_.finish(mark.stack, mark.opened);
    if (!reader_.options().quiet) records_.warn();
    return result;
  }

  bool counted() const noexcept { return reader_.counted(); }

 private:
  // What a node inherits. A file left by an interrupted writer may hold more rows than the parent dictionary
  // declares: the parent counts.
  struct Above {
    bool is_root = true;
    SizesView batch = {};
    std::optional<c10::Device> device = std::nullopt;
    std::int64_t rows = any_rows;  // along the first dimension
    std::size_t depth = 0;
    Names names = {};  // of the leading dimensions; empty: none has a name
  };
  // A dictionary in the result whose entries are still to be read.
  struct Pending {
    Opened opened;
    c10::intrusive_ptr<DenseNode> node;
    std::size_t depth;
  };

  struct Leaf {
    const Pending* in;
    const format::Entry* entry;
  };

  // A lazy stack that is a tensorclass: its fields are known once its elements are read.
  struct Mark {
    NodePtr stack;
    Opened opened;
  };

  static Above below(const Pending& at) {
    const SizesView batch = at.node->batch();
    return {false,        batch,           at.node->device(), batch.empty() ? any_rows : batch[0],
            at.depth + 1, at.node->names()};
  }

  NodePtr read(Opened opened) {
    NodePtr result = enter(std::move(opened), {});
    while (!pending_.empty()) {
      Pending at = std::move(pending_.back());
      pending_.pop_back();
      fill(threads() > 1 ? filled_.emplace_back(std::move(at)) : at);
    }
    return result;
  }

  void check_depth(const Opened& at, std::size_t depth) const {
    if (depth <= reader_.options().max_depth) return;
    fail(Code::format, at.where, ": nested deeper than ", reader_.options().max_depth, " levels");
  }

  // The caller's device, else the parent's, else the file's.
  std::optional<c10::Device> device_of(const Opened& opened, const Above& above) const {
    if (device_) return device_;
    if (above.device) return above.device;
    if (!opened.text.device) return std::nullopt;
    try {
      return parse_device(*opened.text.device);
    } catch (const Error& error) {
      fail(error.code(), opened.where, ": ", error.what());
    }
  }

  // Creates the node of a folder and queues its entries.
  NodePtr enter(Opened opened, const Above& above) {
    NodePtr node;
    switch (opened.text.type) {
      case NodeType::non_tensor:
      case NodeType::non_tensor_stack: node = value(opened, above); break;
      case NodeType::lazy: node = lazy(opened, above); break;
      case NodeType::sub_tensordict: node = begin_sub_tensordict(opened, above); break;
      default: return dense(std::move(opened), above);
    }
    check_batch(opened, *node, above);
    node->set_saved_path(opened.place().saved_path());
    if (!opened.tensorclass.empty() && opened.text.type == NodeType::lazy)
      marks_.push_back({node, std::move(opened)});
    return node;
  }

  NodePtr dense(Opened opened, const Above& above) {
    Sizes batch(opened.text.batch);
    if (!checked_bytes(batch, 1)) {
      fail(Code::format, opened.where, ": the batch size ", show_sizes(batch), " is too large");
    }
    if (!batch.empty()) batch[0] = std::min(batch[0], above.rows);
    auto node = c10::make_intrusive<DenseNode>(batch, device_of(opened, above));
    check_batch(opened, *node, above);
    node->set_names(with_leading(opened, opened.text.names, above.names, batch.size()));
    node->set_saved_path(opened.place().saved_path());
    pending_.push_back({std::move(opened), node, above.depth});
    return node;
  }

  // A file repeats the names of the dictionary above; old files do not.
  static Names with_leading(const Opened& opened, Names names, const Names& leading,
                            std::size_t dims) {
    if (leading.empty()) return names;
    names.resize(dims);
    for (std::size_t i = 0; i < std::min(leading.size(), dims); ++i) {
      if (!leading[i]) continue;
      if (names[i] && *names[i] != *leading[i]) {
        fail(Code::format, opened.where, ": dimension ", i, " is called ", quote(*names[i]),
             ", in the dictionary above ", quote(*leading[i]));
      }
      names[i] = leading[i];
    }
    for (auto one = names.begin(); one != names.end(); ++one) {
      if (*one && std::find(names.begin(), one, *one) != one)
        fail(Code::format, opened.where, ": two dimensions are called ", quote(**one));
    }
    return names;
  }

  static void check_batch(const Opened& opened, const Node& node, const Above& above) {
    if (begins_with(node.batch(), above.batch)) return;
    fail(Code::format, opened.where, ": the batch size ", show_sizes(node.batch()),
         " does not begin with that of the dictionary above, ", show_sizes(above.batch));
  }

  // Below a dictionary, which cannot hold one, a sub-tensordict becomes a copy of its selection. Reads its
  // whole source first.
  NodePtr begin_sub_tensordict(const Opened& opened, const Above& above) {
    const RecursionGuard guard;
    check_depth(opened, above.depth + 1);
    reader_.count_entry(opened);
    Opened source = reader_.open_source(opened);
    if (is_value(source))
      fail(Code::format, source.where, ": non-tensor data has no nested entries");
    std::vector<Pending> waiting;
    waiting.swap(pending_);
    const TensorDict whole(read(std::move(source)));
    waiting.swap(pending_);
    read_leaves();
    try {
      std::int64_t longest = 0;
      for (const std::int64_t size : whole.batch_size()) longest = std::max(longest, size);
      const auto items = format::read_index(opened.text.index, longest, opened.where);
      if (above.is_root) return sub_tensordict(whole, items).node();
      return dense_form(read_at(whole.node(), items))->shallow_copy();
    } catch (const Error& error) {
      if (error.code() == Code::format) throw;
      fail(error.code() == Code::unsupported ? error.code() : Code::format, opened.where, ": ",
           error.what());
    }
  }

  // Lists nest as deep as the batch; deeper ones belong to the values.
  NodePtr value(const Opened& opened, const Above& above) {
    if (opened.text.type == NodeType::non_tensor)
      return c10::make_intrusive<NonTensorNode>(read_value(opened.text.data, opened.where),
                                                above.batch, above.device);
    if (opened.text.data.empty()) return numbered_values(opened, above);
    try {
      Plain lists = read_json(opened.text.data, "the text", max_json_depth + above.batch.size(),
                              Repeated::kept);
      if (above.rows != any_rows) lists = head_of_list(lists, static_cast<std::size_t>(above.rows));
      const NodePtr node = stacked_along(non_tensor_of_lists(lists, above.batch, above.device),
                                         opened.text.stack_dim);
      // A stack's own device overrides the parent's.
      if (opened.text.own_device && !device_ && one_value(*node) == nullptr) {
        node->set_device(opened.text.device ? std::optional(parse_device(*opened.text.device))
                                            : std::nullopt);
      }
      return node;
    } catch (const Error& error) {
      fail(Code::format, opened.where, ": ", error.what());
    }
  }

  // Files list values by batch position; in memory they are stacked along one dimension.
  static NodePtr stacked_along(NodePtr values, std::int64_t dim) {
    if (dim <= 0 || dim >= static_cast<std::int64_t>(values->batch().size())) return values;
    if (values->batch()[static_cast<std::size_t>(dim)] == 0) return values;
    std::vector<NodePtr> elements;
    for (const TensorDict& element : TensorDict(values).unbind(dim))
      elements.push_back(element.node());
    return lazy_stack(std::move(elements), dim);
  }

  // Before 0.4 each value of a stack had its own folder.
  NodePtr numbered_values(const Opened& opened, const Above& above) {
    const auto dim = static_cast<std::size_t>(opened.text.stack_dim);
    if (dim >= above.batch.size())
      fail(Code::format, opened.where, ": the field \"data\" is missing, and so is dimension ",
           dim);
    Sizes batch(above.batch);
    batch.erase(batch.begin() + static_cast<std::ptrdiff_t>(dim));
    return stack(
        opened, {false, batch, above.device, dim == 0 ? any_rows : above.rows, above.depth}, above);
  }

  // Elements inherit no batch size; the stack's is checked.
  NodePtr lazy(const Opened& opened, const Above& above) {
    const bool first = opened.text.stack_dim == 0;
    const auto dim = static_cast<std::size_t>(opened.text.stack_dim);
    Names inner = above.names;
    if (dim < inner.size()) inner.erase(inner.begin() + static_cast<std::ptrdiff_t>(dim));
    NodePtr node = stack(
        opened,
        {false, {}, above.device, first ? any_rows : above.rows, above.depth + 1, std::move(inner)},
        above);
    Names names = names_of(*node);
    if (opened.text.stack_dim_name) {
      names.resize(node->batch().size());
      names[dim] = opened.text.stack_dim_name;
    }
    names = with_leading(opened, std::move(names), above.names, node->batch().size());
    if (dim < names.size() && names[dim]) node->set_names(std::move(names));
    return node;
  }

  // The folders 0, 1, 2 …; each inherits `inner`.
  NodePtr stack(const Opened& opened, const Above& inner, const Above& above) {
    const RecursionGuard guard;
    const bool values = is_value(opened);
    const std::int64_t dim = opened.text.stack_dim;
    std::size_t n = reader_.numbered(opened);
    if (dim == 0) n = std::min(n, static_cast<std::size_t>(above.rows));
    std::vector<NodePtr> elements;
    for (std::size_t i = 0; i < n; ++i) {
      check_depth(opened, inner.depth);
      reader_.count_entry(opened);
      Opened element = reader_.open_folder(opened, std::to_string(i));
      if (is_value(element) != values) {
        fail(Code::unsupported, element.where, values ? ": a dictionary" : ": a value",
             " cannot be an element of a ", values ? "stack of values" : "lazy stack");
      }
      elements.push_back(enter(std::move(element), inner));
    }
    if (elements.empty()) return empty_stack(opened, above);
    try {
      return lazy_stack(std::move(elements), dim);
    } catch (const Error& error) {
      fail(Code::format, opened.where, ": ", error.what());
    }
  }

  static NodePtr empty_stack(const Opened& opened, const Above& above) {
    Sizes batch(above.batch);
    if (batch.empty()) batch.push_back(0);
    const auto dim = static_cast<std::size_t>(opened.text.stack_dim);
    if (dim >= batch.size() || batch[dim] != 0) {
      fail(Code::format, opened.where, ": a lazy stack without elements");
    }
    return c10::make_intrusive<LazyNode>(std::vector<NodePtr>{}, opened.text.stack_dim, batch,
                                         above.device, is_value(opened));
  }

  // Tensors come before dictionaries and values, as in Python's load_memmap(): both sides of a transfer or
  // reduction must have the same order.
  void fill(const Pending& at) {
    const format::NodeText& text = at.opened.text;
    const std::int64_t rows = at.node->batch().empty() ? 0 : at.node->batch()[0];
    at.node->reserve(text.entries.size());
    for (const format::Entry& entry : text.entries) {
      if (entry.is_node) continue;
      if (entry.nested_tensor) {
        at.node->put(entry.key,
                     NodePtr(reader_.nested_tensor(at.opened, entry, rows, at.node->device())));
      } else if (threads() > 1) {
        at.node->put(entry.key, at::Tensor());
        leaves_.push_back({&at, &entry});
      } else {
        at.node->put(entry.key, read_leaf({&at, &entry}));
      }
    }
    for (const format::Entry& entry : text.entries)
      if (entry.is_node) add_node(at, entry.key, reader_.open_entry(at.opened, entry.key));
    // The first releases neither listed nested dictionaries nor wrote "is_nested".
    const bool listed =
        std::any_of(text.entries.begin(), text.entries.end(),
                    [](const auto& entry) { return entry.is_node || entry.has_is_nested; });
    if (!listed) add_unlisted(at);
    if (!at.opened.tensorclass.empty()) records_.finish(at.node, at.opened);
  }

  void add_node(const Pending& at, const std::string& key, Opened opened) {
    check_depth(at.opened, at.depth + 1);
    at.node->put(key, enter(std::move(opened), below(at)));
  }

  void add_unlisted(const Pending& at) {
    for (const std::string& name : reader_.nodes_in(*at.opened.dir)) {
      if (!is_utf8(name))
        fail(Code::format, at.opened.where, ": a folder beside it has a name that is not UTF-8");
      if (at.node->find(name) != nullptr)
        fail(Code::format, at.opened.where, ": ", quote(name), " is both a file and a folder");
      reader_.count_entry(at.opened);
      check_depth(at.opened, at.depth + 1);
      add_node(at, name, reader_.open_folder(at.opened, name));
    }
  }

  std::size_t threads() const noexcept {
    return static_cast<std::size_t>(reader_.options().num_threads);
  }

  at::Tensor read_leaf(const Leaf& leaf) const {
    const DenseNode& node = *leaf.in->node;
    const std::int64_t rows = node.batch().empty() ? 0 : node.batch()[0];
    return reader_.leaf(leaf.in->opened, *leaf.entry, rows, node.device());
  }

  // Reads the leaves that were left for several threads.
  void read_leaves() {
    std::vector<at::Tensor> tensors(leaves_.size());
    for_each_tensor(leaves_.size(), threads(),
                    [&](std::size_t i) { tensors[i] = read_leaf(leaves_[i]); });
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      leaves_[i].in->node->put(leaves_[i].entry->key, std::move(tensors[i]));
    }
    leaves_.clear();
  }

  FolderPtr root_;
  MemmapReader reader_;
  TensorclassLoader records_{reader_};
  std::optional<c10::Device> device_;
  std::vector<Pending> pending_;
  std::deque<Pending> filled_;  // of the leaves
  std::vector<Leaf> leaves_;    // still to be read, by several threads
  std::vector<Mark> marks_;
};

}  // namespace

NodePtr load_nodes(const FolderPtr& root, const LoadOptions& options) {
  Loader loader(root, options);
  try {
    return loader.run();
  } catch (const Error& error) {
    // After a power failure, or in a copy, files may lack counted rows: use the meta.json files' number.
    if (error.code() != Code::format || !loader.counted() || root->changed()) throw;
  }
  LoadOptions stored = options;
  stored.counts = false;
  return Loader(root, stored).run();
}

}  // namespace td
