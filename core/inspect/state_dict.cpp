#include "core/inspect/state_dict.h"

#include "core/base/recursion_guard.h"
#include "core/formats/format.h"
#include "core/formats/json_tree.h"
#include "core/math/gradient.h"
#include "core/tensor/assign.h"
#include "core/tensor/device.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/known_sizes.h"
#include "core/tensor/writes.h"
#include "core/tree/dense_copy.h"
#include "core/tree/lazy_index.h"
#include "core/tree/lazy_ops.h"
#include "core/tree/paths.h"
#include "core/tree/tensorclass.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <charconv>
#include <limits>
#include <memory>
#include <unordered_map>

namespace td {

namespace {

constexpr std::string_view metadata_key = "_metadata";
constexpr char flat_separator = '.';
constexpr char nested_separator = '\0';  // in no name, so that joined paths are unique

std::string join(Path path, char separator) {
  std::string text;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i != 0 || separator == nested_separator) text += separator;
    text += path[i];
  }
  return text;
}

std::string metadata_of(const TensorDict& td) {
  std::string text;
  std::unordered_set<std::string> seen;
  const auto add = [&](const std::string& name, const Node& node) {
    if (!seen.insert(name).second) {
      fail(Code::key_exists, "two dictionaries are called \"", name, "\" when joined with dots");
    }
    text += text.empty() ? "{" : ",";
    text += quote(name) + ":{\"batch_size\":[";
    for (std::size_t i = 0; i < node.batch().size(); ++i) {
      if (i != 0) text += ',';
      text += std::to_string(node.batch()[i]);
    }
    text += "],\"device\":";
    text += node.device() ? quote(node.device()->str()) : "null";
    text += "}";
  };
  add("", *td.node());
  visit_paths(*td.node(), [&](Path path, const Value& value) {
    if (is_dict(value)) {
      add(join(path, flat_separator), *value.node());
    }
  });
  return text + "}";
}

// The state of one dictionary.
struct NodeState {
  Sizes batch;
  std::string device;  // may be empty
};
using Metadata = std::unordered_map<std::string, NodeState>;

Metadata read_metadata(const TensorDict& state) {
  Metadata result;
  if (state.kind_of(metadata_key) != EntryKind::non_tensor) return result;
  const auto refuse = [] { fail(Code::format, "the metadata of the state dict is invalid"); };
  using json::Tree;
  const Tree json =
      json::read_tree(state.get_non_tensor(metadata_key), "the metadata of the state dict");
  if (json.kind != Tree::object) refuse();
  for (std::size_t i = 0; i < json.items.size(); ++i) {
    NodeState& node = result[json.names[i]];
    const Tree* const batch = json.items[i].find("batch_size", Tree::list);
    if (batch == nullptr) refuse();
    for (const Tree& size : batch->items) {
      // -1: a lazy stack whose elements differ.
      if (size.kind != Tree::integer || size.integral < -1) refuse();
      node.batch.push_back(size.integral);
    }
    const Tree* const device = json.items[i].find("device");
    if (device == nullptr || device->kind == Tree::null) continue;
    if (device->kind != Tree::text) refuse();
    node.device = device->characters;
  }
  return result;
}

class Loading : public WalkSink<Take::into> {
 public:
  Loading(const TensorDict& td, const TensorDict& state, const LoadStateOptions& options,
          Changes& changes)
      : td_(td),
        state_(state),
        options_(options),
        metadata_(read_metadata(state)),
        changes_(changes) {
    bool nested = false;
    visit_paths(*state_.node(), [&](Path path, const Value& value) {
      nested = nested || is_dict(value);
      if (!value.is_node()) leaves_.push_back({{path.begin(), path.end()}, value.tensor()});
    });
    if (options.form == StateForm::nested) nested = true;
    if (options.form == StateForm::flat) nested = false;
    separator_ = nested ? nested_separator : flat_separator;
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      unused_.emplace(join(leaves_[i].path, separator_), i);
    }
  }

  // Checks everything; changes nothing.
  void plan() {
    walk(td_.node(), *this, all_paths());
    if (options_.strict && (!missing_.empty() || !unused_.empty())) fail_keys();
  }

  void enter(const Here& here, Dicts dicts) { plan_node(here.path(), *dicts[0]); }
  Made leave(const Here&, bool) {
    batches_.pop_back();
    return {};
  }
  void stack(const Here& here, const LazyNode& lazy, NodesHere) { plan_lazy(here.path(), lazy); }
  void leaf(const Here& here, Tensors tensors) { plan_leaf(here, *tensors[0]); }
  void nested_tensor(const Here& here, const NestedTensorNode&, NodesHere) {
    fail(Code::unsupported, show_path(here.path()),
         " is a nested tensor, which a state cannot be loaded into");
  }

 private:
  // Each element of a lazy stack takes its part of each tensor, or the state under its number.
  void plan_lazy(Path path, const LazyNode& lazy) {
    const RecursionGuard guard;
    const auto known = metadata_.find(join(path, flat_separator));
    if (known != metadata_.end() && SizesView(known->second.batch) != lazy.batch()) {
      fail(Code::shape, show(path), " is a lazy stack of batch size ", show_sizes(lazy.batch()),
           ", the state was taken from one of ", show_sizes(known->second.batch));
    }
    const std::size_t n = lazy.elements().size();
    std::vector<Below> below;
    bool by_number = true;
    for (const Leaf& leaf : leaves_) {
      std::optional<std::vector<std::string_view>> rest = rest_of(leaf.path, path);
      if (!rest) continue;
      below.push_back({&leaf, *std::move(rest), n, {}});
      number(below.back());
      by_number = by_number && below.back().element < n;
      unused_.erase(join(leaf.path, separator_));
    }
    LoadStateOptions options = options_;
    options.form = separator_ == flat_separator ? StateForm::flat : StateForm::nested;
    for (std::size_t k = 0; k < n; ++k) {
      TensorDict part;
      for (const Below& one : below) {
        if (!by_number) {
          part.set(Path(one.rest), part_of(one, lazy, k));
        } else if (one.element == k) {
          part.set(Path(one.inner), one.leaf->tensor);
        }
      }
      elements_.push_back(
          std::make_unique<Loading>(TensorDict(lazy.elements()[k]), part, options, changes_));
      elements_.back()->plan();
    }
  }

  struct Leaf {
    std::vector<std::string_view> path;
    at::Tensor tensor;
  };
  // A tensor of the state below a lazy stack.
  struct Below {
    const Leaf* leaf;
    std::vector<std::string_view> rest;   // of its path
    std::size_t element;                  // the number at the start of `rest`, if any
    std::vector<std::string_view> inner;  // the rest after the number
  };

  // The rest of a path after a prefix; nullopt if it has another prefix.
  std::optional<std::vector<std::string_view>> rest_of(Path full, Path path) const {
    if (separator_ == flat_separator) {
      const std::string prefix = path.empty() ? "" : join(path, flat_separator) + flat_separator;
      if (full[0].substr(0, prefix.size()) != prefix) return std::nullopt;
      return std::vector<std::string_view>{full[0].substr(prefix.size())};
    }
    if (full.size() <= path.size() || full.slice(0, path.size()) != path) return std::nullopt;
    const Path rest = full.slice(path.size());
    return std::vector<std::string_view>(rest.begin(), rest.end());
  }

  void number(Below& one) const {
    std::string_view name = one.rest[0];
    if (separator_ == flat_separator) {
      const std::size_t dot = name.find(flat_separator);
      if (dot == std::string_view::npos) return;
      one.inner.assign(1, name.substr(dot + 1));
      name = name.substr(0, dot);
    } else {
      one.inner.assign(one.rest.begin() + 1, one.rest.end());
    }
    std::size_t k = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), k);
    const bool whole = read.ec == std::errc() && read.ptr == name.data() + name.size();
    if (whole && !one.inner.empty() && k < one.element) {
      one.element = k;
    } else {
      one.element = std::numeric_limits<std::size_t>::max();
    }
  }

  at::Tensor part_of(const Below& one, const LazyNode& lazy, std::size_t k) const {
    const at::Tensor& tensor = one.leaf->tensor;
    const std::int64_t dim = lazy.stack_dim();
    if (tensor.dim() <= dim ||
        tensor.size(dim) != static_cast<std::int64_t>(lazy.elements().size())) {
      fail(Code::shape, "cannot load shape ", show_sizes(tensor.sizes()), " into ",
           show_path(one.leaf->path), ", which is stacked of ", lazy.elements().size(),
           " along dimension ", dim);
    }
    return tensor.select(dim, static_cast<std::int64_t>(k));
  }

  SizesView batch_above() const {
    return batches_.empty() ? SizesView() : SizesView(batches_.back());
  }

  void plan_node(Path path, const DenseNode& node) {
    const SizesView above = batch_above();
    Sizes batch(node.batch().begin(), node.batch().end());
    const auto found = metadata_.find(join(path, flat_separator));
    if (found != metadata_.end()) {
      batch = found->second.batch;
      for (const std::int64_t size : batch) {
        if (size < 0)
          fail(Code::shape, show(path), " is not a lazy stack and cannot have a size of -1");
      }
      const std::string device = node.device() ? node.device()->str() : "";
      if (found->second.device != device) {
        fail(Code::device, show(path), " has ", name_of(device), ", the state was taken from ",
             name_of(found->second.device));
      }
    }
    if (!begins_with(batch, above)) {
      fail(Code::shape, "batch dimension mismatch: ", show(path), " would have batch size ",
           show_sizes(batch), ", which does not begin with ", show_sizes(above));
    }
    if (options_.assign && node.locked()) {
      fail(Code::locked, show(path), " is locked: its tensors cannot be replaced");
    }
    if (node.batch() != SizesView(batch)) {
      changes_.set_batch(node, batch);
      if (node.batch().size() != batch.size()) changes_.set_names(node, {});
    }
    batches_.push_back(std::move(batch));
  }

  // Replaces an existing tensor.
  void replace(const Here& here, const at::Tensor& tensor) {
    const DenseNode& holder = here.holder();
    Value value = holder.device() ? move_to(tensor, *holder.device()) : tensor;
    if (holder.tensorclass()) value = fit_field(holder, here.name(), std::move(value));
    changes_.set(holder, here.index(), std::move(value));
  }

  void plan_leaf(const Here& here, const at::Tensor& target) {
    const Path path = here.path();
    const SizesView batch = batch_above();
    const auto found = unused_.find(join(path, separator_));
    const at::Tensor* source = found == unused_.end() ? nullptr : &leaves_[found->second].tensor;
    const SizesView sizes = options_.assign && source ? source->sizes() : target.sizes();
    if (!begins_with(sizes, batch)) {
      fail(Code::shape, "batch dimension mismatch: ", show_path(path), " has shape ",
           show_sizes(sizes), ", which does not begin with the batch size ", show_sizes(batch),
           " of the state");
    }
    if (source == nullptr) {
      missing_.push_back(show_path(path));
      return;
    }
    if (!options_.assign) {
      if (!broadcasts(source->sizes(), target.sizes())) {
        fail(Code::shape, "cannot load shape ", show_sizes(source->sizes()), " into ",
             show_path(path), " of shape ", show_sizes(target.sizes()));
      }
      changes_.writes().set(path, target, *source);
    } else {
      replace(here, *source);
    }
    unused_.erase(found);
  }

  [[noreturn]] void fail_keys() const {
    const auto list = [](const std::vector<std::string>& names) {
      std::string text;
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (i == 12) return text + ", … (" + std::to_string(names.size()) + " in all)";
        text += (i == 0 ? "" : ", ") + names[i];
      }
      return names.empty() ? std::string("nothing") : text;
    };
    std::vector<std::string> extra;
    for (const Leaf& leaf : leaves_) {
      if (unused_.count(join(leaf.path, separator_)) != 0) extra.push_back(show_path(leaf.path));
    }
    fail(Code::key_not_found, "the keys do not match: the state lacks ", list(missing_),
         ", and has in addition ", list(extra));
  }

  static std::string show(Path path) { return path.empty() ? "the dictionary" : show_path(path); }
  static std::string name_of(const std::string& device) {
    return device.empty() ? "no device" : "device \"" + device + "\"";
  }

  const TensorDict td_, state_;
  const LoadStateOptions options_;
  const Metadata metadata_;
  char separator_ = flat_separator;
  std::vector<Leaf> leaves_;
  std::unordered_map<std::string, std::size_t> unused_;  // of leaves_, by joined name
  std::vector<Sizes> batches_;                           // of the dictionaries that are open
  std::vector<std::string> missing_;
  std::vector<std::unique_ptr<Loading>> elements_;  // of lazy stacks
  Changes& changes_;
};

// Whether the elements of a lazy stack have the same sizes and shapes.
bool reads_as_one(const NodePtr& lazy) {
  if (is_uneven(lazy->batch())) return false;
  for (const std::string& name : entry_names(*lazy)) {
    if (kind_below(lazy, name) != EntryKind::tensor) continue;
    if (is_uneven(look_at_leaf(lazy, name).sizes)) return false;
  }
  return true;
}

// A tree of dense dictionaries: reads lazy stacks; an uneven one becomes a dictionary of its elements, named
// 0, 1, 2 ….
NodePtr state_form(const NodePtr& root) {
  const auto form = [](const NodePtr& node) -> NodePtr {
    if (!is_lazy_stack(*node) || reads_as_one(node)) return dense_form(node);
    auto numbered = c10::make_intrusive<DenseNode>(node->batch(), node->device());
    for (const NodePtr& element : stacked(*node))
      numbered->put(std::to_string(numbered->size()), element);
    return numbered;
  };
  return copy_dense(picked_form(root), form,
                    [](const Node&) { return std::optional<at::Tensor>(); });
}

}  // namespace

TensorDict state_dict(const TensorDict& td, const StateOptions& options) {
  const TensorDict source(state_form(td.node()));
  TensorDict result;
  visit_paths(*source.node(), [&](Path path, const Value& value) {
    if (value.is_node()) {
      if (is_nested_tensor(*value.node())) {
        fail(Code::unsupported, show_path(path), " is a nested tensor, which a state cannot hold");
      }
      if (options.nested && is_dict(value)) result.set(path, TensorDict());
      return;
    }
    at::Tensor leaf = options.keep_vars ? value.tensor() : value.tensor().detach();
    if (options.nested) {
      result.set(path, std::move(leaf));
      return;
    }
    const std::string name = join(path, flat_separator);
    const std::string_view key = name;
    if (result.kind_of(key) != EntryKind::none) {
      fail(Code::key_exists, "two tensors are called \"", name, "\" when joined with dots");
    }
    result.set(key, std::move(leaf));
  });
  if (result.kind_of(metadata_key) != EntryKind::none) {
    fail(Code::key_exists, "the entry ", show_path(metadata_key),
         " uses the name that a state dict reserves for its metadata");
  }
  result.set_non_tensor(metadata_key, metadata_of(source));
  return result;
}

void load_state_dict(const TensorDict& td, const TensorDict& state,
                     const LoadStateOptions& options) {
  if (is_part(*td.node()) || !is_dict(*td.node())) {
    fail(Code::unsupported,
         "a state is loaded into a dictionary, not into a part of one or a value");
  }
  Changes changes;
  Loading loading(td, TensorDict(all_dense(state.node())), options, changes);
  loading.plan();
  changes.run();
}

}  // namespace td
