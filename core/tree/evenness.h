// core/tree/evenness.h: whether lazy stacks lose nothing when they are read as dense dictionaries.
#pragma once

#include "core/tensor/known_sizes.h"
#include "core/tree/engine.h"
#include "core/tree/lazy_ops.h"

namespace td {

namespace detail {

class Evenness : public WalkSink<Take::looks> {
 public:
  bool done() const { return !even_; }
  Take meet(const Here&, NodesHere nodes) {
    if (is_lazy_stack(*nodes[0])) check(*as_lazy(nodes[0]));
    return even_ ? Take::looks : Take::nothing;
  }
  void look(const Here&, const NodePtr& node, const std::string& name) {
    if (is_uneven(look_at_leaf(node, name).sizes)) even_ = false;
  }

 private:
  void check(const LazyNode& lazy) {
    if (is_uneven(lazy.batch())) even_ = false;
    for (const KeyList::Key& key : keys_lost(lazy)) {
      if (key.kind != EntryKind::non_tensor) even_ = false;
    }
  }

  bool even_ = true;
};

}  // namespace detail

// Whether the elements of all lazy stacks of a tree have the same tensors and dictionaries, in the same sizes.
inline bool reads_as_one(const NodePtr& root) {
  detail::Evenness sink;
  walk(root, sink, all_entries());
  return !sink.done();
}

}  // namespace td
