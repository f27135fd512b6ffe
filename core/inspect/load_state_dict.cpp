// Loads a state into the tensors of a dictionary.
#include "core/base/recursion_guard.h"
#include "core/inspect/state_dict.h"
#include "core/inspect/state_metadata.h"
#include "core/inspect/state_reader.h"
#include "core/tensor/assign.h"
#include "core/tensor/device.h"
#include "core/tensor/writes.h"
#include "core/tree/engine.h"
#include "core/tree/lazy_ops.h"
#include "core/tree/names.h"
#include "core/tree/non_tensor.h"
#include "core/tree/tensorclass.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

namespace td {

namespace {

constexpr std::size_t most_shown = 12;

class Loading : public WalkSink<Take::into> {
 public:
  Loading(NodePtr td, std::unique_ptr<StateReader> state, StateMetadata metadata,
          const LoadStateOptions& options, Changes& changes)
      : td_(std::move(td)),
        state_(std::move(state)),
        metadata_(std::move(metadata)),
        options_(options),
        changes_(changes) {}

  // Checks everything; changes nothing.
  void plan() {
    walk(td_, *this, all_paths());
    if (options_.strict && (missing_ != 0 || state_->unused() != 0)) fail_keys();
  }

  void enter(const Here& here, Dicts dicts) {
    open(here);
    plan_node(here.path(), *dicts[0]);
  }
  Made leave(const Here&, bool) {
    batches_.pop_back();
    if (!batches_.empty()) close();
    return {};
  }
  void stack(const Here& here, const LazyNode& lazy, NodesHere) {
    open(here);
    plan_lazy(here.path(), lazy);
    if (!here.is_root()) close();
  }
  void leaf(const Here& here, Tensors tensors) { plan_leaf(here, *tensors[0]); }
  // A state has no such values: one for the whole follows the batch size of its dictionary.
  void value(const Here& here, NodesHere nodes) {
    const Node& node = *nodes[0];
    const SizesView batch = batch_above();
    if (begins_with(node.batch(), batch)) return;
    if (one_value(node) == nullptr) {
      fail(Code::shape, "batch dimension mismatch: ", show_path(here.path()),
           " has one value for each element of batch size ", show_sizes(node.batch()),
           ", which does not begin with the batch size ", show_sizes(batch), " of the state");
    }
    plan_batch(changes_, node, batch);
  }
  void nested_tensor(const Here& here, const NestedTensorNode&, NodesHere) {
    fail(Code::unsupported, show_path(here.path()),
         " is a nested tensor, which a state cannot be loaded into");
  }

 private:
  void open(const Here& here) {
    if (here.is_root()) return;
    const std::string_view name = here.name();
    state_->enter(name);
    metadata_.enter(name);
  }
  void close() {
    state_->leave();
    metadata_.leave();
  }

  // Each element of a lazy stack takes its part of each tensor, or the state under its number.
  void plan_lazy(Path path, const LazyNode& lazy) {
    const RecursionGuard guard;
    const StateMetadata::State* known = metadata_.find();
    if (known != nullptr && SizesView(known->batch) != lazy.batch()) {
      fail(Code::shape, show(path), " is a lazy stack of batch size ", show_sizes(lazy.batch()),
           ", the state was taken from one of ", show_sizes(known->batch));
    }
    require_above(path, lazy.batch());
    const std::size_t n = lazy.elements().size();
    std::vector<std::unique_ptr<StateReader>> parts = state_->split(n, lazy.stack_dim());
    for (std::size_t k = 0; k < n; ++k) {
      elements_.push_back(std::make_unique<Loading>(lazy.elements()[k], std::move(parts[k]),
                                                    StateMetadata(), options_, changes_));
      elements_.back()->plan();
    }
  }

  SizesView batch_above() const {
    return batches_.empty() ? SizesView() : SizesView(batches_.back());
  }

  void require_above(Path path, SizesView batch) const {
    if (begins_with(batch, batch_above())) return;
    fail(Code::shape, "batch dimension mismatch: ", show(path), " would have batch size ",
         show_sizes(batch), ", which does not begin with ", show_sizes(batch_above()));
  }

  void plan_node(Path path, const DenseNode& node) {
    Sizes batch(node.batch().begin(), node.batch().end());
    if (const StateMetadata::State* found = metadata_.find()) {
      batch = found->batch;
      for (const std::int64_t size : batch) {
        if (size < 0)
          fail(Code::shape, show(path), " is not a lazy stack and cannot have a size of -1");
      }
      const std::string device = node.device() ? node.device()->str() : "";
      if (found->device != device) {
        fail(Code::device, show(path), " has ", name_of(device), ", the state was taken from ",
             name_of(found->device));
      }
    }
    require_above(path, batch);
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
    const at::Tensor* source = state_->take(path.back());
    const SizesView sizes = options_.assign && source ? source->sizes() : target.sizes();
    if (!begins_with(sizes, batch)) {
      fail(Code::shape, "batch dimension mismatch: ", show_path(path), " has shape ",
           show_sizes(sizes), ", which does not begin with the batch size ", show_sizes(batch),
           " of the state");
    }
    if (source == nullptr) {
      if (missing_++ < most_shown) missing_paths_.push_back(show_path(path));
      return;
    }
    if (options_.assign) return replace(here, *source);
    if (!broadcasts(source->sizes(), target.sizes())) {
      fail(Code::shape, "cannot load shape ", show_sizes(source->sizes()), " into ",
           show_path(path), " of shape ", show_sizes(target.sizes()));
    }
    changes_.writes().set(path, target, *source);
  }

  [[noreturn]] void fail_keys() const {
    const auto list = [](const std::vector<std::string>& names, std::size_t all) {
      std::string text;
      for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
      if (names.size() < all) text += ", … (" + std::to_string(all) + " in all)";
      return all == 0 ? std::string("nothing") : text;
    };
    fail(Code::key_not_found, "the keys do not match: the state lacks ",
         list(missing_paths_, missing_), ", and has in addition ",
         list(state_->unused_paths(td_, most_shown), state_->unused()));
  }

  static std::string show(Path path) { return path.empty() ? "the dictionary" : show_path(path); }
  static std::string name_of(const std::string& device) {
    return device.empty() ? "no device" : "device \"" + device + "\"";
  }

  const NodePtr td_;
  const std::unique_ptr<StateReader> state_;  // holds what is written
  StateMetadata metadata_;
  const LoadStateOptions options_;
  std::vector<Sizes> batches_;  // of the dictionaries that are open
  std::size_t missing_ = 0;
  std::vector<std::string> missing_paths_;          // the first ones
  std::vector<std::unique_ptr<Loading>> elements_;  // of lazy stacks
  Changes& changes_;
};

bool has_dicts(const Node& state) {
  bool found = false;
  visit_paths(state, [&](Path, const Value& value) { found = found || is_dict(value); });
  return found;
}

}  // namespace

void load_state_dict(const TensorDict& td, const TensorDict& state,
                     const LoadStateOptions& options) {
  const char* const wanted =
      "a state is loaded into a dictionary, not into a part of one or a value";
  require_own(*td.node(), wanted);
  if (!is_dict(*td.node())) fail(Code::unsupported, wanted);
  const TensorDict source(all_dense(state.node()));
  const bool nested = options.form == StateForm::detect ? has_dicts(*source.node())
                                                        : options.form == StateForm::nested;
  Changes changes;
  Loading loading(td.node(), nested ? read_nested(source.node()) : read_flat(source.node()),
                  StateMetadata(source), options, changes);
  loading.plan();
  changes.run();
}

}  // namespace td
