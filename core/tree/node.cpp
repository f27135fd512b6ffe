#include "core/tree/node.h"

#include <algorithm>

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

const TensorclassTypePtr& Node::tensorclass() const noexcept {
  static const TensorclassTypePtr* const none = new TensorclassTypePtr;
  return extras_ ? extras_->tensorclass : *none;
}

void Node::set_names(Names names) {
  const bool any = std::any_of(names.begin(), names.end(), [](const auto& name) { return name; });
  if (!any && !extras_) return;
  extras().names = any ? std::move(names) : Names{};
  tagged_ = any || extras_->tensorclass != nullptr;
}

void Node::set_tensorclass(TensorclassTypePtr tensorclass) {
  if (tensorclass == nullptr && !extras_) return;
  extras().tensorclass = std::move(tensorclass);
  tagged_ = extras_->tensorclass != nullptr || !extras_->names.empty();
}

NodePtr Node::dense_form() const { return retain(*this); }

std::optional<Value> Node::entry(std::string_view) const { return std::nullopt; }

EntryKind Node::entry_kind(std::string_view) const { return EntryKind::none; }

std::vector<std::string> Node::entry_names() const { return {}; }

// Descends without a stack: the way back from a node to its holder is stored in its batch size, which is no
// longer used.
void Node::free_below(Node& top) noexcept {
  for (Node* at = &top;;) {
    NodePtr next = at->take_node();
    if (next.defined()) {
      if (next.use_count() != 1) continue;
      next->batch_.assign(1, static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(at)));
      at = next.release();
      continue;
    }
    if (at == &top) return;
    Node* const back = reinterpret_cast<Node*>(static_cast<std::intptr_t>(at->batch_[0]));
    NodePtr::reclaim(at).reset();
    at = back;
  }
}

}  // namespace td
