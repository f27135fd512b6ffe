// A function of the caller over every leaf.
#include "td/assign.h"
#include "td/device.h"
#include "td/fast_path.h"
#include "td/inherit.h"
#include "td/tensordict.h"
#include "td/walk.h"

#include <ATen/MemoryOverlap.h>

namespace td {

namespace {

// Calls the function on every leaf, in order, and puts the results into new nodes. The dictionary
// itself is not touched before all calls have come back.
class Apply {
 public:
  Apply(const ApplyOptions& options, const ApplyFn& callback)
      : options_(options), callback_(callback) {}

  NodePtr run(const DenseNode& root) {
    levels_.push_back({&root, begin(root), 0});
    while (true) {
      if (levels_.back().next < levels_.back().source->size()) {
        step();
        continue;
      }
      Level done = std::move(levels_.back());
      levels_.pop_back();
      if (levels_.empty()) return done.target;
      if (keep(done)) levels_.back().target->put(path_.back(), NodePtr(done.target));
      path_.pop_back();
    }
  }

 private:
  struct Level {
    const DenseNode* source;
    c10::intrusive_ptr<DenseNode> target;
    std::size_t next;
  };

  static c10::intrusive_ptr<DenseNode> begin(const DenseNode& source) {
    return c10::make_intrusive<DenseNode>(source.batch(), source.device());
  }

  void step() {
    Level& level = levels_.back();
    const std::size_t i = level.next++;
    const Value& value = level.source->value(i);
    path_.push_back(level.source->name(i));
    if (!value.is_node()) {
      at::Tensor result = callback_(path_, value.tensor());
      if (result.defined()) {
        check(result, value.tensor(), *level.target);
        if (level.target->device()) result = move_to(result, *level.target->device());
        level.target->put(path_.back(), std::move(result));
      }
    } else if (const DenseNode* inner = as_dense(value.node().get())) {
      levels_.push_back({inner, begin(*inner), 0});
      return;  // the name stays on the path until the node is done
    } else {
      level.target->put(path_.back(), value.node()->shallow_copy());
    }
    path_.pop_back();
  }

  void check(const at::Tensor& result, const at::Tensor& leaf, const DenseNode& node) const {
    const SizesView sizes = result.sizes();
    if (options_.inplace) {
      if (!broadcasts(sizes, leaf.sizes())) {
        fail(Code::shape, "the function returned shape ", show_sizes(sizes), " for ",
             show_path(path_), ", which cannot be written into shape ", show_sizes(leaf.sizes()));
      }
      if (!result.is_same(leaf)) {
        require_writable(path_.back(), leaf, result);
        if (leaf.layout() == c10::kStrided) at::assert_no_internal_overlap(leaf);
      }
      return;
    }
    const SizesView batch = node.batch();
    if (!begins_with(sizes, batch)) {
      fail(Code::shape, "the function returned shape ", show_sizes(sizes), " for ",
           show_path(path_), ", which does not begin with the batch size ", show_sizes(batch));
    }
  }

  bool keep(const Level& done) const {
    if (done.target->size() != 0 || options_.filter_empty == FilterEmpty::no) return true;
    return options_.filter_empty == FilterEmpty::unset && done.source->size() == 0;
  }

  const ApplyOptions& options_;
  const ApplyFn& callback_;
  std::vector<Level> levels_;
  PathBuffer path_;
};

}  // namespace

TensorDict TensorDict::apply(const ApplyOptions& options, const ApplyFn& callback) const {
  if (as_dense(node_.get()) == nullptr)
    fail(Code::unsupported, "a value that is no tensor has no leaves");
  // The function may have another handle on the dictionary and change or free it, though it must not:
  // what is walked are nodes of our own.
  const TensorDict self = *this;
  const TensorDict walked = clone(/*recurse=*/false);
  NodePtr result = Apply(options, callback).run(*as_dense(walked.node().get()));
  if (options.inplace) {
    const bool fast = fast::thread_at_rest();
    visit_paths(*result, [&](Path path, const Value& value) {
      if (!value.is_node()) assign(walked.get(path), value.tensor(), fast);
    });
    return self;
  }
  if (options.propagate_lock) inherit_flags(*self.node(), result, /*memmap=*/false);
  return TensorDict(std::move(result));
}

}  // namespace td
