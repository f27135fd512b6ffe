// Collects the tensors of a dictionary by name. load_state_dict.cpp reads what is written here.
#include "core/inspect/state_dict.h"

#include "core/formats/format.h"
#include "core/formats/json_text.h"
#include "core/tensor/known_sizes.h"
#include "core/tree/dense_copy.h"
#include "core/tree/engine.h"
#include "core/tree/evenness.h"
#include "core/tree/lazy_index.h"
#include "core/tree/lazy_ops.h"
#include "core/tree/paths.h"

#include <ATen/ATen.h>

namespace td {

namespace {

// The tensors, and the metadata: {"dicts": [{"name": "", "batch_size": [4], "device": null}, {"in": 0, …}, …]}.
// "in" is the place in this list of the dictionary that holds the one described.
class Collecting : public WalkSink<Take::reads> {
 public:
  explicit Collecting(const StateOptions& options) : options_(options) {}

  void enter(const Here& here, Dicts dicts) {
    const std::string name(here.is_root() ? std::string_view() : here.name());
    Level level{described_, prefix_.size(), result_};
    describe(name, *dicts[0]);
    if (!here.is_root() && options_.nested) {
      level.target = empty();
      levels_.back().target->put(name, NodePtr(level.target));
    } else if (!here.is_root()) {
      prefix_ += name + state_separator;
    }
    levels_.push_back(std::move(level));
  }
  Made leave(const Here&, bool) {
    prefix_.resize(levels_.back().prefix);
    levels_.pop_back();
    return {};
  }
  void leaf(const Here& here, Tensors tensors) {
    at::Tensor leaf = options_.keep_vars ? *tensors[0] : tensors[0]->detach();
    const std::string name = prefix_ + std::string(here.name());
    DenseNode& target = *levels_.back().target;
    if (target.find(name) != nullptr) {
      fail(Code::key_exists, "two tensors are called \"", name, "\" when joined with dots");
    }
    target.put(name, std::move(leaf));
  }
  void nested_tensor(const Here& here, const NestedTensorNode&, NodesHere) {
    fail(Code::unsupported, show_path(here.path()),
         " is a nested tensor, which a state cannot hold");
  }

  TensorDict finish() {
    TensorDict result(result_);
    if (result.kind_of(state_metadata) != EntryKind::none) {
      fail(Code::key_exists, "the entry ", show_path(state_metadata),
           " uses the name that a state dict reserves for its metadata");
    }
    result.set_non_tensor(state_metadata, metadata_ + "]}");
    return result;
  }

 private:
  using Target = c10::intrusive_ptr<DenseNode>;
  struct Level {
    std::size_t number;  // of the dictionary in the metadata
    std::size_t prefix;  // length of the prefix before it
    Target target;
  };

  static Target empty() { return c10::make_intrusive<DenseNode>(SizesView(), std::nullopt); }

  void describe(const std::string& name, const Node& node) {
    metadata_ += (described_++ == 0 ? "{\"name\":" : ",{\"name\":") + quote(name);
    if (!levels_.empty()) metadata_ += ",\"in\":" + std::to_string(levels_.back().number);
    metadata_ += ",\"batch_size\":";
    append_sizes(metadata_, node.batch());
    metadata_ += ",\"device\":" + (node.device() ? quote(node.device()->str()) : "null") + "}";
  }

  const StateOptions options_;
  const Target result_ = empty();
  std::string metadata_ = "{\"dicts\":[";
  std::size_t described_ = 0;
  std::string prefix_;  // of the names in the open dictionary; empty if nested
  std::vector<Level> levels_;
};

// A tree of dense dictionaries: reads lazy stacks; one that is uneven, or has an uneven one below, becomes a
// dictionary of its elements, named 0, 1, 2 ….
NodePtr state_form(const NodePtr& root) {
  const auto form = [](const NodePtr& node) -> NodePtr {
    if (!is_lazy_stack(*node)) return dense_form(node);
    if (reads_as_one(node)) return all_dense(node);  // so that none below is asked again
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
  Collecting collecting(options);
  walk(state_form(td.node()), collecting, all_paths());
  return collecting.finish();
}

}  // namespace td
