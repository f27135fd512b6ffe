// Applies a callback to every entry.
#include "core/apply/apply.h"

#include "core/tensor/assign.h"
#include "core/tensor/device.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/writes.h"
#include "core/tree/engine.h"
#include "core/tree/inherit.h"
#include "core/tree/names.h"
#include "core/tree/paths.h"
#include "core/tree/walk.h"
#include "core/tree/zip.h"

#include <ATen/MemoryOverlap.h>

namespace td {

namespace {

bool any(const Value& value) { return value.is_node() || value.tensor().defined(); }

class WriteBack {
 public:
  void plan(Path path, const at::Tensor& leaf, const at::Tensor& result) {
    if (!broadcasts(result.sizes(), leaf.sizes())) {
      fail(Code::shape, "the function returned shape ", show_sizes(result.sizes()), " for ",
           show_path(path), ", which cannot be written into shape ", show_sizes(leaf.sizes()));
    }
    writes_.set(path, leaf, result);
  }

  void plan(Path path, const NodePtr& node, const NodePtr& result) {
    PathBuffer full(path.begin(), path.end());
    const auto extend = [&](Path inner) {
      full.resize(path.size());
      full.append(inner.begin(), inner.end());
      return Path(full);
    };
    visit_paths(*result, [&](Path inner, const Value& value) {
      if (value.is_node() || look_up(node, inner)) return;
      fail(Code::key_not_found, "the function returned an entry ", show_path(extend(inner)),
           ", which does not exist");
    });
    // Walk the written tree first, to reach the elements of its lazy stacks.
    const NodePtr trees[] = {node, result};
    WalkRules rules;
    rules.missing = WalkRules::Missing::intersect;
    rules.what = "apply in place";
    visit_zip(
        trees, Take::elements,
        [&](const Here& here, Tensors tensors) {
          plan(extend(here.path()), *tensors[0], *tensors[1]);
        },
        rules);
  }

  void run() { writes_.run(); }

 private:
  Writes writes_{Writes::Hold::owns};
};

// Calls the callback and collects results in new nodes, or as writes. Changes nothing before all calls have
// returned.
class Apply : public WalkSink<Take::elements> {
 public:
  Apply(const ApplyManyOptions& options, const ApplyManyFn& callback)
      : options_(options), callback_(callback), batch_(batch_for(options)) {
    if (options.device) device_ = resolve_device(*options.device);
  }

  void run(c10::ArrayRef<NodePtr> roots) {
    WalkRules rules;
    if (options_.fill_missing) rules.missing = WalkRules::Missing::fill;
    rules.ignore_extra = true;
    rules.what = "apply";
    rules.each_path = true;  // the callback receives the path
    walk_beside(roots, *this, rules);
  }

  // Passes dictionaries to the callback, or enters them.
  Take meet(const Here& here, NodesHere nodes) {
    if (!options_.call_on_nested) return Take::elements;
    if (here.is_root()) return Take::reads;
    c10::SmallVector<Value, 3> sources;
    for (const Node* node : nodes) sources.push_back(node == nullptr ? Value() : retain(*node));
    call(here, sources);
    return Take::nothing;
  }
  void enter(const Here& here, Dicts) {
    const DenseNode& lead = here.holder();
    auto node = c10::make_intrusive<DenseNode>(batch_ ? SizesView(*batch_) : lead.batch(),
                                               device_ ? device_ : lead.device());
    label(lead, *node);
    levels_.push_back({std::move(node), nullptr, {}, lead.size() == 0, false});
  }
  void enter_lazy(const Here&, const LazyNode& lead, NodesHere) {
    levels_.push_back({{}, &lead, {}, false, false});
  }

  void leaf(const Here& here, Tensors tensors) {
    c10::SmallVector<Value, 3> sources;
    for (const at::Tensor* tensor : tensors) {
      sources.push_back(tensor == nullptr ? Value(options_.default_value) : Value(*tensor));
    }
    call(here, sources);
  }

  void value(const Here& here, NodesHere nodes) {
    if (options_.inplace) return;
    NodePtr copy = nodes[0]->shallow_copy();
    if (batch_ && one_value(*copy) != nullptr) copy->set_batch(*batch_);
    if (device_) copy->set_device(levels_.back().node->device());
    put(here, std::move(copy));
  }

  Made leave(const Here& here, bool) {
    Level done = std::move(levels_.back());
    levels_.pop_back();
    const bool kept = keep(done);
    NodePtr node = done.lazy == nullptr ? NodePtr(std::move(done.node)) : stacked(done);
    if (options_.out && !here.is_root()) extend_batch(here, node);
    if (levels_.empty()) {
      if (kept) result_ = std::move(node);
    } else if (levels_.back().lazy != nullptr) {
      levels_.back().elements.push_back(std::move(node));
      levels_.back().any_kept = levels_.back().any_kept || kept;
    } else if (kept) {
      put(here, std::move(node));
    }
    return {};
  }

  const NodePtr& result() const noexcept { return result_; }
  WriteBack& writes() noexcept { return writes_; }

 private:
  struct Level {
    c10::intrusive_ptr<DenseNode> node;  // for a dictionary
    const LazyNode* lazy;                // for a lazy stack; held by the walked tree
    std::vector<NodePtr> elements;
    bool was_empty;
    bool any_kept;  // of the elements
  };

  static std::optional<Sizes> batch_for(const ApplyManyOptions& options) {
    if (!options.out) return options.batch_size;
    const SizesView batch = options.out->batch_size();
    return Sizes(batch.begin(), batch.end());
  }

  // A dictionary that `out` lacks keeps its further batch dimensions.
  void extend_batch(const Here& here, const NodePtr& node) const {
    if (look_up(options_.out->node(), here.path())) return;
    Sizes batch = *batch_;
    const SizesView own = here.node().batch();
    const std::size_t shared = std::min(batch.size(), own.size());
    batch.append(own.begin() + static_cast<std::ptrdiff_t>(shared), own.end());
    TensorDict(node).set_batch_size(batch);
  }

  void call(const Here& here, c10::ArrayRef<Value> sources) {
    const Path path = here.path();
    Value result = callback_(path, sources);
    if (!any(result)) return;
    if (!options_.inplace) return put(here, fitted(path, std::move(result)));
    const Value& source = sources[0];
    if (result.is_node() != source.is_node()) {
      fail(Code::wrong_entry, "the function returned a ", kind_word(result), " for ",
           show_path(path), ", which is a ", kind_word(source), " and cannot take it in place");
    }
    if (result.is_node()) {
      writes_.plan(path, source.node(), result.node());
    } else {
      writes_.plan(path, source.tensor(), result.tensor());
    }
  }

  void put(const Here& here, Value value) {
    levels_.back().node->put(here.name(), std::move(value));
  }

  // Converts a result so that the dictionary can hold it.
  Value fitted(Path path, Value result) const {
    const Node& holder = *levels_.back().node;
    if (result.is_node()) return fitted(holder, result.take_node());
    const at::Tensor& tensor = result.tensor();
    if (!begins_with(tensor.sizes(), holder.batch())) {
      fail(Code::shape, "the function returned shape ", show_sizes(tensor.sizes()), " for ",
           show_path(path), ", which does not begin with the batch size ",
           show_sizes(holder.batch()));
    }
    return holder.device() ? Value(move_to(tensor, *holder.device())) : std::move(result);
  }

  static NodePtr fitted(const Node& holder, NodePtr node) {
    TensorDict td(part_form(node));
    if (!begins_with(td.batch_size(), holder.batch())) {
      td = td.clone(/*recurse=*/false);
      td.set_batch_size(holder.batch());
    }
    if (holder.device() && td.device() != holder.device()) td = td.to(*holder.device());
    return td.node();
  }

  // Copies dimension names, unless new ones are given, and the tensorclass.
  void label(const Node& lead, Node& node) const {
    if (!lead.tagged()) return;
    if (batch_ || options_.names) {
      node.set_tensorclass(lead.tensorclass());
    } else {
      copy_tags(lead, node);
    }
  }

  NodePtr stacked(Level& level) const {
    auto node = c10::make_intrusive<LazyNode>(std::move(level.elements), level.lazy->stack_dim(),
                                              level.lazy->batch(),
                                              device_ ? device_ : level.lazy->device());
    label(*level.lazy, *node);
    return node;
  }

  bool keep(const Level& level) const {
    const bool filled = level.lazy == nullptr ? level.node->size() != 0 : level.any_kept;
    if (filled || options_.filter_empty == FilterEmpty::no) return true;
    return options_.filter_empty == FilterEmpty::unset && level.was_empty;
  }

  const ApplyManyOptions& options_;
  const ApplyManyFn& callback_;
  std::optional<Sizes> batch_;
  std::optional<c10::Device> device_;
  std::vector<Level> levels_;
  NodePtr result_;
  WriteBack writes_;
};

void check_options(const TensorDict& td, const ApplyManyOptions& options) {
  const SizesView batch = options.batch_size ? SizesView(*options.batch_size)
                          : options.out      ? options.out->batch_size()
                                             : td.batch_size();
  if (options.inplace && (options.out || options.batch_size || options.device || options.names)) {
    fail(Code::invalid_argument,
         "apply in place keeps the dictionary: it excludes out, batch_size, device and names");
  }
  if (options.inplace && options.call_on_nested && is_lazy_stack(*td.node())) {
    fail(Code::unsupported,
         "apply in place on nested dictionaries of a lazy stack: apply it to its elements");
  }
  if (options.names && options.names->size() != batch.size()) {
    fail(Code::invalid_argument, options.names->size(), " names for batch size ",
         show_sizes(batch));
  }
  if (!options.out) return;
  const TensorDict& out = *options.out;
  const char* const wanted = "out must be a dictionary of its own, not a sub-tensordict";
  require_own(*out.node(), wanted);
  if (!is_dict(*out.node())) fail(Code::unsupported, wanted);
  if (out.is_locked()) fail(Code::locked, "the dictionary for the results is locked");
  if (options.names) fail(Code::invalid_argument, "out already has names");
  if (batch != out.batch_size()) {
    fail(Code::shape, "apply was asked for batch size ", show_sizes(batch),
         ", but out has batch size ", show_sizes(out.batch_size()));
  }
  if (options.device && out.device() != resolve_device(*options.device)) {
    fail(Code::device, "apply was asked for device ", options.device->str(), ", but out is on ",
         out.device() ? out.device()->str() : "none");
  }
}

// Puts all entries of `result` into `out`, or none. Missing dictionaries are stored as they are.
void put_into(const TensorDict& out, const NodePtr& result) {
  Changes changes;
  visit_paths(*result, [&](Path path, const Value& value) {
    if (path.size() > 1 && !look_up(out.node(), path.slice(0, path.size() - 1))) return;
    if (is_branch(value) && look_up(out.node(), path)) return;
    plan_set(changes, out.node(), path, value);
  });
  changes.run();
}

// Walk our own nodes: the callback might change or free the dictionary through another handle.
NodePtr own_nodes(const NodePtr& node, const ApplyManyOptions& options) {
  if (options.batch_size || options.out) return all_dense(node);
  return TensorDict(part_form(node)).clone(/*recurse=*/false).node();
}

}  // namespace

std::optional<TensorDict> apply(const TensorDict& td, c10::ArrayRef<TensorDict> others,
                                const ApplyManyOptions& options, const ApplyManyFn& callback) {
  const TensorDict self = td;  // NOLINT: keeps the caller's dictionary alive
  if (!is_dict(*self.node())) fail(Code::unsupported, "a non-tensor value has no leaves");
  check_options(self, options);
  const std::optional<TensorDict> out = options.out;
  std::optional<InPlace> in_place;
  if (options.inplace) in_place.emplace(self.node());
  c10::SmallVector<NodePtr, 3> roots{own_nodes(in_place ? in_place->node() : self.node(), options)};
  for (const TensorDict& other : others) roots.push_back(own_nodes(other.node(), options));
  Apply walk(options, callback);
  walk.run(roots);
  if (in_place) {
    walk.writes().run();
    in_place->commit();
    return self;
  }
  if (out) {
    if (walk.result().defined()) put_into(*out, walk.result());
    return out;
  }
  if (!walk.result().defined()) return std::nullopt;
  if (options.names) set_names(TensorDict(walk.result()), *options.names);
  if (options.propagate_lock && self.is_locked()) lock(walk.result());
  return TensorDict(walk.result());
}

std::optional<TensorDict> apply_leaves(const TensorDict& td, const ApplyManyOptions& options,
                                       const ApplyFn& callback) {
  if (options.call_on_nested) {
    fail(Code::invalid_argument, "call_on_nested: this function takes tensors, not dictionaries");
  }
  return apply(td, {}, options, [&](Path path, c10::ArrayRef<Value> sources) {
    return Value(callback(path, sources[0].tensor()));
  });
}

TensorDict apply(const TensorDict& td, const ApplyOptions& options, const ApplyFn& callback) {
  ApplyManyOptions many;
  static_cast<ApplyOptions&>(many) = options;
  if (std::optional<TensorDict> result = apply_leaves(td, many, callback)) return *result;
  NodePtr empty = c10::make_intrusive<DenseNode>(td.batch_size(), td.device());
  copy_tags(*td.node(), *empty);
  return TensorDict(std::move(empty));
}

}  // namespace td
