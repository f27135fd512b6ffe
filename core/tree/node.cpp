#include "core/tree/node.h"

#include "core/tree/batch_op.h"
#include "core/tree/kinds.h"
#include "core/base/recycler.h"

#include <algorithm>
#include <unordered_set>

namespace td {

Node::~Node() = default;

Node::Extras& Node::extras() {
  if (!extras_) extras_ = std::make_unique<Extras>();
  return *extras_;
}

const std::string& Node::saved_path() const noexcept {
  static const std::string* const nowhere =
      new std::string;  // never destroyed: nothing runs at exit
  return extras_ ? extras_->saved_path : *nowhere;
}

void Node::set_saved_path(std::string path) { extras().saved_path = std::move(path); }

const Names& Node::names() const noexcept {
  static const Names* const none = new Names;  // never destroyed, as above
  return extras_ ? extras_->names : *none;
}

const RecordTypePtr& Node::record() const noexcept {
  static const RecordTypePtr* const none = new RecordTypePtr;
  return extras_ ? extras_->record : *none;
}

void Node::set_names(Names names) {
  const bool any = std::any_of(names.begin(), names.end(), [](const auto& name) { return name; });
  if (!any && !extras_) return;
  extras().names = any ? std::move(names) : Names{};
  tagged_ = any || extras_->record != nullptr;
}

void Node::set_record(RecordTypePtr record) {
  if (record == nullptr && !extras_) return;
  extras().record = std::move(record);
  tagged_ = extras_->record != nullptr || !extras_->names.empty();
}

DenseNode::DenseNode(SizesView batch, std::optional<c10::Device> device)
    : DenseNode(c10::make_intrusive<Schema>(), batch, device) {}

DenseNode::DenseNode(SchemaPtr schema, SizesView batch, std::optional<c10::Device> device)
    : Node(NodeKind::dense, batch, device), schema_(std::move(schema)) {}

DenseNode::~DenseNode() { drop_values(); }

void* DenseNode::operator new(std::size_t) { return Recycler<sizeof(DenseNode)>::take(); }

void DenseNode::operator delete(void* memory) { Recycler<sizeof(DenseNode)>::give(memory); }

// Weak references run from a node to its holder. Kept until the memory goes, they would free a deep tree
// from its leaves up to its root by recursion.
void DenseNode::release_resources() {
  drop_values();
  forget_holders();
}

// A tree may be as deep as memory allows: nested nodes are taken out and freed in a loop.
void DenseNode::drop_values() noexcept {
  bool nested = false;
  for (const Value& value : values_) nested = nested || value.is_node();
  if (nested) {
    c10::SmallVector<NodePtr, 8> pending;
    surrender(pending);
    while (!pending.empty()) {
      NodePtr node = pending.pop_back_val();
      if (node.use_count() == 1) node->surrender(pending);
    }
  }
  values_.clear();
}

void DenseNode::collect(NodeList& into) const {
  for (const Value& value : values_) {
    if (value.is_node()) into.push_back(value.node());
  }
}

void DenseNode::surrender(NodeList& pending) noexcept {
  for (Value& value : values_) {
    if (value.is_node()) pending.push_back(value.take_node());
  }
}

void DenseNode::own_schema() {
  if (schema_.use_count() > 1) {
    auto copy = c10::make_intrusive<Schema>();
    for (std::size_t i = 0; i < schema_->size(); ++i) {
      copy->append(schema_->name(i), schema_->hash(i));
    }
    schema_ = std::move(copy);
  }
}

void DenseNode::swap_entries(DenseNode& other) {
  std::swap(schema_, other.schema_);
  values_.swap(other.values_);
}

void DenseNode::put(std::string_view name, Value value) {
  const std::size_t i = schema_->find(name);
  if (i != Schema::npos) {
    values_[i] = std::move(value);
    return;
  }
  if (values_.size() == values_.capacity()) values_.reserve(2 * values_.size());
  own_schema();
  schema_->append(name);
  values_.push_back(std::move(value));
}

void DenseNode::erase(std::size_t i) {
  own_schema();
  schema_->erase(i);
  values_.erase(values_.begin() + i);
}

NodePtr DenseNode::transform(const BatchOp& op) const {
  // The walk only reads, but holds what it walks by owning pointers.
  return map(borrow(*this), op);
}

NodePtr DenseNode::shallow_copy() const {
  auto copy = c10::make_intrusive<DenseNode>(schema_, batch(), device());
  copy->reserve(size());
  for (const Value& value : values_) copy->push_value(value);
  copy_tags(*this, *copy);
  return copy;
}

NodePtr DataNode::transform(const BatchOp& op) const {
  auto result = c10::make_intrusive<DataNode>(json_, op.batch(batch()), op.device(device()));
  if (tagged()) op.tags(*this, *result);
  return result;
}

NodePtr DataNode::shallow_copy() const {
  auto copy = c10::make_intrusive<DataNode>(json_, batch(), device());
  copy_tags(*this, *copy);
  return copy;
}

namespace {

// Every node below and including `root`, each once.
std::vector<NodePtr> reachable(const NodePtr& root) {
  std::vector<NodePtr> nodes{root};
  std::unordered_set<const Node*> seen{root.get()};
  c10::SmallVector<NodePtr, 8> held;
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    held.clear();
    nodes[at]->collect(held);
    for (const NodePtr& node : held) {
      if (seen.insert(node.get()).second) nodes.push_back(node);
    }
  }
  return nodes;
}

// Parents that are gone still take memory. They are let go when the list would grow, so that a node
// that is locked below one short-lived parent after the other keeps few of them.
void add_parent(std::vector<WeakNodePtr>& parents, const WeakNodePtr& parent) {
  if (parents.size() == parents.capacity()) {
    const auto gone = [](const WeakNodePtr& one) { return one.expired(); };
    parents.erase(std::remove_if(parents.begin(), parents.end(), gone), parents.end());
    if (2 * parents.size() > parents.capacity()) parents.reserve(2 * parents.capacity());
  }
  parents.push_back(parent);
}

}  // namespace

void lock(const NodePtr& root) {
  c10::SmallVector<NodePtr, 8> held;
  if (root->locked()) {
    // Files that have come to a mapped dictionary may have brought it nodes.
    root->collect(held);
    const auto is_new = [](const NodePtr& child) { return !child->locked(); };
    if (std::none_of(held.begin(), held.end(), is_new)) return;
  }
  const std::vector<NodePtr> nodes = reachable(root);
  std::vector<std::pair<Node*, WeakNodePtr>> edges;  // child, the locked node that holds it
  for (const NodePtr& node : nodes) {
    held.clear();
    node->collect(held);
    for (const NodePtr& child : held) {
      // Between two that are locked it is there already.
      if (!node->locked() || !child->locked()) edges.emplace_back(child.get(), node);
    }
  }
  // An edge too many says nothing false while its parent is unlocked, so a failure here is harmless.
  for (const auto& [child, parent] : edges) add_parent(child->extras().lock_parents, parent);
  for (const NodePtr& node : nodes) node->locked_ = true;
}

void unlock(const NodePtr& root) {
  if (!root->locked()) return;
  const std::vector<NodePtr> nodes = reachable(root);
  std::unordered_set<const Node*> inside;
  for (const NodePtr& node : nodes) inside.insert(node.get());
  for (const NodePtr& node : nodes) {
    if (!node->extras_) continue;
    for (const WeakNodePtr& weak : node->extras_->lock_parents) {
      const NodePtr parent = weak.lock();
      if (parent.defined() && parent->locked() && inside.count(parent.get()) == 0) {
        fail(
            Code::locked,
            "cannot unlock a dictionary that is part of a locked graph: unlock the dictionary that "
            "holds it instead");
      }
    }
  }
  for (const NodePtr& node : nodes) {
    node->locked_ = false;
    node->memmapped_ = false;
    node->shared_ = false;
    if (node->extras_) node->extras_->lock_parents.clear();
  }
}

}  // namespace td
