// Writes values of another dictionary into a part of existing entries.
#include "core/keys/entries.h"
#include "core/tensor/assign.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/tensor_index.h"
#include "core/tensor/writes.h"
#include "core/tree/engine.h"
#include "core/tree/paths.h"
#include "core/tree/traverse.h"
#include "core/tree/walk.h"

namespace td {

namespace {

// Like an indexed write, except that a missing entry is an error and each tensor is broadcast separately:
// batch sizes need not agree. The source is the first tree, the target the second.
class UpdateAt : public WalkSink<Take::reads> {
 public:
  UpdateAt(const NodePtr& root, IndexPlan& plan, const UpdateAtOptions& options)
      : root_(root), plan_(plan), options_(options) {}

  // Returns false if only a write of the whole dictionary can handle it.
  bool plan(const NodePtr& source) {
    WalkRules rules = all_entries();
    rules.missing = WalkRules::Missing::fill;
    rules.ignore_extra = true;
    walk_pair(source, root_, *this, rules);
    return plain_;
  }

  Take meet(const Here& here, NodesHere nodes) {
    if (nodes[1] == nullptr) target_of(here);
    plain_ = plain_ && holds_entries(*nodes[0]) && holds_entries(*nodes[1]);
    return plain_ ? Take::reads : Take::nothing;
  }
  void leaf(const Here& here, Tensors tensors) {
    if (tensors[1] == nullptr) target_of(here);
    const Path path = here.path();
    leaves_.set(path, *tensors[1], fitted(path, *tensors[1], *tensors[0]), &plan_);
  }
  void value(const Here& here, NodesHere nodes) {
    if (!here.is_root() && nodes[1] == nullptr) mixed(here);
    plain_ = false;
  }
  bool mixed(const Here& here) {
    plain_ = false;
    if (here.is_root()) return true;
    const Value& into = target_of(here);
    fail(Code::wrong_entry, "cannot write a ", kind_word(here.value()), " into ",
         show_path(here.path()), ", which is a ", kind_word(into));
  }
  bool done() const noexcept { return !plain_; }

  void run() { leaves_.run(); }

 private:
  // Returns the entry to write. Throws key_not_found if it is missing.
  const Value& target_of(const Here& here) const {
    const Value* found = find_stored(root_, here.path());
    if (found == nullptr)
      fail(Code::key_not_found, "no entry ", show_path(here.path()), " to write");
    return *found;
  }

  const at::Tensor& fitted(Path path, const at::Tensor& target, const at::Tensor& source) {
    require_batch(path, target.sizes(), plan_.view().in());
    const Sizes part = plan_.sizes(target.sizes());
    const at::Tensor& value = options_.exact ? source : fitted_.fit(source, part.size());
    const bool fits =
        options_.exact ? source.sizes() == SizesView(part) : broadcasts(value.sizes(), part);
    if (!fits) {
      fail(Code::shape, "cannot write shape ", show_sizes(source.sizes()), " into the part of ",
           show_path(path), " of shape ", show_sizes(part));
    }
    return value;
  }

  const NodePtr& root_;
  IndexPlan& plan_;
  const UpdateAtOptions& options_;
  bool plain_ = true;
  FittedValues fitted_;
  Writes leaves_;  // held by the dictionaries, or by fitted_
};

}  // namespace

void update_at(const TensorDict& td, c10::ArrayRef<IndexItem> items, const TensorDict& source,
               const UpdateAtOptions& options) {
  IndexPlan plan(items, td.batch_size());
  if (options.exact && plan.gathers()) {
    fail(Code::invalid_argument,
         "an exact write needs an index that gives a view: no tensors and no masks");
  }
  UpdateAt update(td.node(), plan, options);
  if (update.plan(source.node())) return update.run();
  // Lazy stacks, sub-tensordicts and non-tensor values.
  if (options.exact) {
    fail(Code::unsupported, "an exact write takes dictionaries of tensors only");
  }
  visit_paths(*source.node(), [&](Path path, const Value&) {
    if (td.kind_of(path) == EntryKind::none) find_entry(td.node(), path);
  });
  TensorDict target = td;
  target.set_at(items, source);
}

}  // namespace td
