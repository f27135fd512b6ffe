// core/tree/sub_node.h: SubTensorDict: an index into another dictionary, whose entries it reads and writes.
#pragma once

#include "core/tensor/index.h"
#include "core/tree/node.h"

#include <vector>

namespace td {

// A sub-tensordict, which keeps its parent alive (Python's _SubTensorDict). Writes go to the part. Made by
// sub_tensordict(), which copies the index and ensures that the parent is not a sub-tensordict.
class SubTensorDictNode final : public Node {
 public:
  SubTensorDictNode(NodePtr parent, std::vector<IndexItem> items, SizesView batch)
      : Node(NodeKind::sub_tensordict, batch, parent->device()),
        parent_(std::move(parent)),
        items_(std::move(items)) {}

  const NodePtr& parent() const noexcept { return parent_; }
  const std::vector<IndexItem>& items() const noexcept { return items_; }

  NodePtr transform(const BatchOp& op) const override;
  NodePtr shallow_copy() const override;
  NodePtr dense_form() const override;
  std::optional<Value> entry(std::string_view name) const override;
  EntryKind entry_kind(std::string_view name) const override;
  std::vector<std::string> entry_names() const override;
  bool locked_by_others() const noexcept override;
  void collect(HeldNodes& into) const override;

  // Code::shape if the index yields another batch size because the parent has changed.
  void require_batch(SizesView read) const;

  void release_resources() override;

 private:
  NodePtr parent_;
  std::vector<IndexItem> items_;
};

inline const SubTensorDictNode* as_sub_tensordict(const Node* node) noexcept {
  return node->kind() == NodeKind::sub_tensordict ? static_cast<const SubTensorDictNode*>(node)
                                                  : nullptr;
}

// The target of an in-place operation: the dictionary itself, or for a sub-tensordict through index tensors a
// copy of the part. commit() writes back only changed entries, since others may share memory with them or may
// not be writable. Leaves of lazy stacks are their elements'.
class InPlace {
 public:
  explicit InPlace(const NodePtr& node);
  const NodePtr& node() const noexcept { return node_; }
  void commit();

 private:
  NodePtr part_;  // null: nothing to write back
  NodePtr node_;
  std::vector<std::int64_t> versions_;  // of the copies
};

}  // namespace td
