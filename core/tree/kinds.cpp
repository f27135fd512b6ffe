#include "core/tree/kinds.h"

#include "core/tree/dense_copy.h"
#include "core/tree/lazy_index.h"
#include "core/tree/traverse.h"

namespace td {

bool is_sole(const Node& root) {
  if (holders_of(root) > 1) return false;
  return !visit_nodes(retain(root), [&](const Node& node) -> bool {
    return holders_of(node) > (&node == &root ? 2 : 1);  // the walk holds the root, too
  });
}

bool has_lazy(const NodePtr& root) {
  return visit_nodes(root, [](const Node& node) -> bool { return is_lazy_stack(node); });
}

bool is_plain(const Node& root, bool or_values) {
  return !visit_nodes(retain(root), [&](const Node& node) -> bool {
    return !holds_entries(node) && !(or_values && one_value(node) != nullptr);
  });
}

void require_dict(const Node& node) {
  if (!is_dict(node)) fail(Code::wrong_entry, "this entry is a value, not a dictionary");
}

void require_own(const Node& node, const char* message) {
  if (is_part(node)) fail(Code::unsupported, message);
}

void require_entries(const Node& node, const char* message) {
  if (!holds_entries(node)) fail(Code::unsupported, message);
}

namespace {

[[noreturn]] void fail_forgotten(const Node& node) {
  fail(Code::internal, "a ", row_of(node).word, " where another kind of node was expected");
}

}  // namespace

DenseNode& entries_of(const NodePtr& node) {
  if (!holds_entries(*node)) fail_forgotten(*node);
  return static_cast<DenseNode&>(*node);
}

const LazyNode& stack_of(const Node& node) {
  const LazyNode* lazy = as_lazy(&node);
  if (lazy == nullptr) fail(Code::wrong_entry, "this dictionary is not a lazy stack");
  return *lazy;
}

const SubTensorDictNode& part_node(const Node& node) {
  const SubTensorDictNode* part = as_sub_tensordict(&node);
  if (part == nullptr) fail_forgotten(node);
  return *part;
}

NodePtr picked_form(const NodePtr& node) {
  const SubTensorDictNode* part = as_sub_tensordict(node.get());
  return part == nullptr ? node : read_at(part->parent(), part->items());
}

const NodePtr& whole_of(const NodePtr& node) noexcept {
  const NodePtr* whole = &node;
  while (const SubTensorDictNode* part = as_sub_tensordict(whole->get())) whole = &part->parent();
  return *whole;
}

std::vector<NodePtr> elements_or_self(const NodePtr& node) {
  const LazyNode* lazy = as_lazy(node.get());
  return lazy == nullptr ? std::vector<NodePtr>{node} : lazy->elements();
}

NodePtr all_dense(const NodePtr& root) {
  return copy_dense(root, dense_form, [](const Node&) { return std::optional<at::Tensor>(); });
}

NodePtr without_lazy(const NodePtr& root) { return has_lazy(root) ? all_dense(root) : root; }

}  // namespace td
