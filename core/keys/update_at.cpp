// Values of another dictionary into a part of the entries that are there.
#include "core/keys/entries.h"
#include "core/tensor/assign.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/writes.h"
#include "core/tree/paths.h"
#include "core/tree/walk.h"

namespace td {

namespace {

bool is_dict(const Value& value) { return value.is_node() && !is_opaque(*value.node()); }

// As an indexed write, but an entry that is missing is an error, and every tensor is broadcast for
// itself: the batch sizes need not agree.
class UpdateAt {
 public:
  UpdateAt(IndexPlan& plan, const UpdateAtOptions& options) : plan_(plan), options_(options) {}

  // False when there is something that only a write of the whole dictionary knows how to do.
  bool plan(const NodePtr& target, const NodePtr& source) {
    pairs_.push_back({target.get(), source.get(), {}});
    for (std::size_t at = 0; at < pairs_.size(); ++at) {
      const Pair pair = pairs_[at];
      const DenseNode* into = as_dense(pair.target);
      const DenseNode* from = as_dense(pair.source);
      if (into == nullptr || from == nullptr) return false;
      const KeyMatch where(*from, *into);
      for (std::size_t i = 0; i < from->size(); ++i) {
        PathBuffer path = pair.path;
        path.push_back(from->name(i));
        if (!entry(path, *into, where(i), from->value(i))) return false;
      }
    }
    return true;
  }

  void run() { leaves_.run(); }

 private:
  struct Pair {
    const Node *target, *source;
    PathBuffer path;
  };

  bool entry(const PathBuffer& path, const DenseNode& holder, std::size_t at, const Value& from) {
    if (at == Schema::npos) {
      fail(Code::key_not_found, "no entry ", show_path(path), " to write");
    }
    const Value& into = holder.value(at);
    if (into.is_node() != from.is_node() || is_dict(into) != is_dict(from)) {
      fail(Code::wrong_entry, "cannot write a ", is_dict(from) ? "dictionary" : "value", " into ",
           show_path(path), ", which is another kind of entry");
    }
    if (from.is_node()) {
      if (!is_dict(from)) return false;
      pairs_.push_back({into.node().get(), from.node().get(), path});
      return true;
    }
    require_fit(path, into.tensor(), from.tensor());
    leaves_.set(path, into.tensor(), from.tensor(), &plan_);
    return true;
  }

  void require_fit(Path path, const at::Tensor& target, const at::Tensor& source) const {
    require_batch(path, target.sizes(), plan_.view().in());
    const Sizes part = plan_.sizes(target.sizes());
    const bool fits =
        options_.exact ? source.sizes() == SizesView(part) : broadcasts(source.sizes(), part);
    if (!fits) {
      fail(Code::shape, "cannot write shape ", show_sizes(source.sizes()), " into the part of ",
           show_path(path), " of shape ", show_sizes(part));
    }
  }

  IndexPlan& plan_;
  const UpdateAtOptions& options_;
  std::vector<Pair> pairs_;
  Writes leaves_;
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
