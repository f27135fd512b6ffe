// Writes values of another dictionary into a part of existing entries.
#include "core/keys/entries.h"
#include "core/tensor/assign.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/tensor_index.h"
#include "core/tensor/writes.h"
#include "core/tree/paths.h"
#include "core/tree/traverse.h"
#include "core/tree/walk.h"

namespace td {

namespace {

// As an indexed write, but an entry that is missing is an error, and every tensor is broadcast for
// itself: the batch sizes need not agree.
class UpdateAt {
 public:
  UpdateAt(IndexPlan& plan, const UpdateAtOptions& options) : plan_(plan), options_(options) {}

  // False when there is something that only a write of the whole dictionary knows how to do.
  bool plan(const NodePtr& target, const NodePtr& source) {
    enter(*target, *source);
    walk_.run_in_order(
        [&](Level& level) {
          if (!plain_ || level.next == level.source->size()) return false;
          const std::size_t i = level.next++;
          const Level at = level;  // entry() may add a level
          path_.push_back(at.source->name(i));
          const std::size_t found = KeyMatch(*at.source, *at.target)(i);
          if (!entry(*at.target, found, at.source->value(i))) path_.pop_back();
          return true;
        },
        [&](const Level&) {
          if (!path_.empty()) path_.pop_back();
        });
    return plain_;
  }

  void run() { leaves_.run(); }

 private:
  struct Level {
    const DenseNode *target, *source;
    std::size_t next;
  };

  void enter(const Node& target, const Node& source) {
    const DenseNode* into = as_dense(&target);
    const DenseNode* from = as_dense(&source);
    plain_ = plain_ && into != nullptr && from != nullptr;
    if (plain_) walk_.add({into, from, 0});
  }

  // The entry at `path_`. True when it is a dictionary that is gone through next: its name stays on the path
  // until it is done.
  bool entry(const DenseNode& holder, std::size_t at, const Value& from) {
    if (at == Schema::npos) {
      fail(Code::key_not_found, "no entry ", show_path(path_), " to write");
    }
    const Value& into = holder.value(at);
    if (into.is_node() != from.is_node() || is_dict(into) != is_dict(from)) {
      fail(Code::wrong_entry, "cannot write a ", kind_word(from), " into ", show_path(path_),
           ", which is a ", kind_word(into));
    }
    if (!from.is_node()) {
      leaves_.set(path_, into.tensor(), fitted(into.tensor(), from.tensor()), &plan_);
      return false;
    }
    plain_ = plain_ && is_dict(from);
    if (!plain_ || !seen_.first({into.node().get(), from.node().get()})) return false;
    enter(*into.node(), *from.node());
    return plain_;
  }

  const at::Tensor& fitted(const at::Tensor& target, const at::Tensor& source) {
    require_batch(path_, target.sizes(), plan_.view().in());
    const Sizes part = plan_.sizes(target.sizes());
    const at::Tensor& value = options_.exact ? source : fitted_.fit(source, part.size());
    const bool fits =
        options_.exact ? source.sizes() == SizesView(part) : broadcasts(value.sizes(), part);
    if (!fits) {
      fail(Code::shape, "cannot write shape ", show_sizes(source.sizes()), " into the part of ",
           show_path(path_), " of shape ", show_sizes(part));
    }
    return value;
  }

  IndexPlan& plan_;
  const UpdateAtOptions& options_;
  Traversal<Level> walk_;
  Seen seen_;
  PathBuffer path_;
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
  UpdateAt update(plan, options);
  if (update.plan(td.node(), source.node())) return update.run();
  // Lazy stacks, sub-tensordicts, non-tensor values.
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
