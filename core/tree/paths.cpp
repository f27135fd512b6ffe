#include "core/tree/paths.h"

#include "core/base/recursion_guard.h"
#include "core/tensor/assign.h"
#include "core/tensor/device.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/view_plan.h"
#include "core/tree/along.h"
#include "core/tree/nested_tensor.h"
#include "core/tree/tensorclass.h"
#include "core/tree/traverse.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace td {

namespace {

// The names at one level, for messages: at most a dozen.
std::string show_names(const Node& node) {
  const std::vector<std::string> names = entry_names(node);
  if (names.empty()) return "nothing";
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i == 12) return text + ", … (" + std::to_string(names.size()) + " in all)";
    if (i != 0) text += ", ";
    text += '"' + names[i] + '"';
  }
  return text;
}

// Explains a failed lookup. Checks names only now, to keep successful lookups fast.
[[noreturn]] void fail_lookup(const NodePtr& root, Path path) {
  check_path(path);
  NodePtr node = root;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Path here = path.slice(0, i);
    if (is_opaque(*node)) {
      fail(Code::wrong_entry, "no entry ", show_path(path), ": ",
           here.empty() ? "this" : show_path(here), " is not a dictionary");
    }
    const EntryKind kind = kind_below(node, path[i]);
    if (kind == EntryKind::none) {
      fail(Code::key_not_found, "no entry ", show_path(path), "; ",
           here.empty() ? "the dictionary" : show_path(here), " holds ", show_names(*node));
    }
    if (i + 1 == path.size()) break;
    if (kind != EntryKind::dict) {
      fail(Code::wrong_entry, "no entry ", show_path(path), ": ", show_path(path.slice(0, i + 1)),
           " is not a dictionary");
    }
    node = entry_of(node, path[i])->take_node();
  }
  fail(Code::internal, "look-up of ", show_path(path), " failed without a reason");
}

}  // namespace

EntryKind kind_of(const Value& value) noexcept {
  if (!value.is_node()) return EntryKind::tensor;
  if (value.node()->kind() == NodeKind::nested_tensor) return EntryKind::nested_tensor;
  return is_opaque(*value.node()) ? EntryKind::non_tensor : EntryKind::dict;
}

const char* kind_word(const Value& value) noexcept {
  switch (kind_of(value)) {
    case EntryKind::tensor: return "tensor";
    case EntryKind::non_tensor: return "non-tensor value";
    case EntryKind::nested_tensor: return "nested tensor";
    default: return "dictionary";
  }
}

[[noreturn]] void fail_kind(Path path, const Value& value, const char* wanted) {
  fail(Code::wrong_entry, show_path(path), " is a ", kind_word(value), ", not a ", wanted);
}

const Value* find_stored(const NodePtr& root, Path path) {
  if (path.empty()) return nullptr;
  const DenseNode* node = as_dense(root.get());
  for (std::size_t i = 0; node != nullptr; ++i) {
    const Value* value = node->find(path[i]);
    if (value == nullptr || i + 1 == path.size()) return value;
    node = value->is_node() ? as_dense(value->node().get()) : nullptr;
  }
  return nullptr;
}

std::optional<Value> look_up(const NodePtr& root, Path path) {
  if (const Value* stored = find_stored(root, path)) return *stored;
  if (path.empty()) return std::nullopt;
  NodePtr node = root;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    if (kind_below(node, path[i]) != EntryKind::dict) return std::nullopt;
    std::optional<Value> value = entry_of(node, path[i]);
    if (!value) return std::nullopt;
    node = value->take_node();
  }
  return entry_of(node, path.back());
}

Holders dicts_holding(const NodePtr& root, Path path) {
  Holders holders;
  walk_along(root, path, [&](const NodePtr& node, Path rest) {
    const DenseNode* dense = as_dense(node.get());
    const std::size_t at = dense == nullptr ? Schema::npos : dense->schema()->find(rest[0]);
    if (at == Schema::npos) return NodePtr();
    if (rest.size() == 1) {
      holders.push_back({dense, at});
      return NodePtr();
    }
    const Value* const inner = dense->node_at(at);
    return inner == nullptr ? NodePtr() : inner->node();
  });
  return holders;
}

void plan_remove(Changes& changes, const NodePtr& root, Path path) {
  check_path(path);
  NodePtr from = root;
  while (const SubTensorDictNode* part = as_sub_tensordict(from.get())) from = part->parent();
  const Holders holders = dicts_holding(from, path);
  for (const Holder& holder : holders) {
    require_unlocked(*holder.dict);
    if (holder.dict->tensorclass()) require_optional(*holder.dict->tensorclass(), path.back());
    changes.erase(*holder.dict, holder.position);
  }
  if (holders.empty()) find_entry(from, path);  // throws: the entry is missing
}

Value find_entry(const NodePtr& root, Path path) {
  std::optional<Value> value = look_up(root, path);
  if (!value) fail_lookup(root, path);
  return *std::move(value);
}

void fail_locked() {
  fail(
      Code::locked,
      "the dictionary is locked: values can be written in place, entries cannot be added, replaced "
      "or removed");
}

void require_unlocked(const Node& node) {
  if (node.locked()) fail_locked();
}

void require_batch(Path path, SizesView sizes, SizesView batch) {
  if (!begins_with(sizes, batch)) {
    fail(Code::shape, "batch dimension mismatch: ", show_path(path), " has shape ",
         show_sizes(sizes), ", which does not begin with the batch size ", show_sizes(batch));
  }
}

// Visits a shared node once: a graph may have more paths than can be walked.
bool reaches(const NodePtr& from, c10::ArrayRef<const Node*> targets) {
  const auto is_from = [&](const Node* node) { return node == from.get(); };
  if (std::any_of(targets.begin(), targets.end(), is_from)) return true;
  // Each target except the first is below an earlier one. If none has another holder, none is below `from`.
  // Without this test, building a tree bottom-up would walk it again for each level.
  const auto held_once = [](const Node* node) { return holders_of(*node) < 2; };
  if (std::all_of(targets.begin(), targets.end(), held_once)) return false;
  const std::unordered_set<const Node*> set(targets.begin(), targets.end());
  return visit_nodes(from, [&](const Node& node) -> bool { return set.count(&node) != 0; });
}

Value fitted(const DenseNode& node, Path full, const Value& value) {
  const SizesView batch = node.batch();
  const auto& device = node.device();
  if (!value.is_node()) {
    require_batch(full, value.tensor().sizes(), batch);
    return device ? Value(move_to(value.tensor(), *device)) : value;
  }
  NodePtr fitting = value.node();
  if (fitting->kind() == NodeKind::sub_tensordict) fitting = dense_form(fitting);
  if (const NestedTensorNode* nested_tensor = as_nested_tensor(fitting.get())) {
    if (batch.size() > 1 || nested_tensor->batch().size() != 1 ||
        !begins_with(nested_tensor->batch(), batch)) {
      fitting = for_batch(*nested_tensor, batch, show_path(full));
    }
  } else if (!begins_with(fitting->batch(), batch)) {
    TensorDict copy = TensorDict(fitting).clone(false);
    try {
      copy.set_batch_size(batch);
    } catch (const Error& error) {
      fail(Code::shape, "batch dimension mismatch: the dictionary for ", show_path(full),
           " has batch size ", show_sizes(value.node()->batch()), " and cannot take ",
           show_sizes(batch), ": ", error.what());
    }
    fitting = copy.node();
  }
  if (device && fitting->device() != device) fitting = TensorDict(fitting).to(*device).node();
  return fitting;
}

namespace {

// Splits a value along the dimension of a lazy stack.
std::vector<Value> parts_for(const LazyNode& lazy, Path full, const Value& value) {
  const auto dim = lazy.stack_dim();
  const SizesView batch = lazy.batch();
  std::vector<Value> parts;
  if (value.is_node()) {
    const TensorDict whole(fitted(DenseNode(batch, lazy.device()), full, value).take_node());
    for (const TensorDict& part : whole.unbind(dim)) parts.emplace_back(part.node());
    return parts;
  }
  require_batch(full, value.tensor().sizes(), batch);
  // Like other views, without gradients while recording is off.
  const bool fast = fast::can_skip_dispatcher();
  for (std::size_t k = 0; k < lazy.elements().size(); ++k) {
    ViewPlan part(batch);
    for (std::int64_t d = 0; d < static_cast<std::int64_t>(batch.size()); ++d) {
      if (d != dim) part.keep(d);
    }
    part.drop(dim, static_cast<std::int64_t>(k));
    parts.emplace_back(part.apply(value.tensor(), fast));
  }
  return parts;
}

// Finds the dictionaries that take an entry.
class Placing {
 public:
  Placing(Changes& changes, Path full) : changes_(changes), full_(full) {}

  void run(const NodePtr& root, Path path, const Value& value) {
    const Node* node = root.get();
    for (std::size_t i = 0;; ++i) {
      above_.push_back(node);
      const Path rest = path.slice(i);
      if (const LazyNode* lazy = as_lazy(node); lazy != nullptr && !lazy->holds_non_tensor()) {
        const RecursionGuard guard;
        require_unlocked(*lazy);
        const std::vector<Value> parts = parts_for(*lazy, full_, value);
        for (std::size_t k = 0; k < parts.size(); ++k) run(lazy->elements()[k], rest, parts[k]);
        return;
      }
      const DenseNode* dense = as_dense(node);
      if (dense == nullptr) fail_place(full_.size() - rest.size());
      const Value* inner = rest.size() == 1 ? nullptr : changes_.find(*dense, rest[0]);
      if (inner == nullptr) return put(*dense, rest, value);
      if (!inner->is_node()) fail_place(full_.size() - rest.size() + 1);
      node = inner->node().get();
    }
  }

  const auto& above() const noexcept { return above_; }

 private:
  void put(const DenseNode& holder, Path rest, const Value& value) {
    require_unlocked(holder);
    Value fitting = fitted(holder, full_, value);
    if (is_dict(fitting)) fitting = fit_names(changes_, holder, full_, fitting.take_node());
    if (holder.tensorclass()) fitting = fit_field(holder, rest, std::move(fitting));
    for (std::size_t i = rest.size() - 1; i > 0; --i) {
      auto made = c10::make_intrusive<DenseNode>(holder.batch(), holder.device());
      made->set_names(changes_.names_of(holder));
      made->put(rest[i], std::move(fitting));
      fitting = NodePtr(std::move(made));
    }
    changes_.set(holder, rest[0], std::move(fitting));
  }

  [[noreturn]] void fail_place(std::size_t names) const {
    fail(Code::key_exists, "cannot set ", show_path(full_), ": ",
         names == 0 ? "this" : show_path(full_.slice(0, names)),
         " already exists and is not a dictionary");
  }

  Changes& changes_;
  Path full_;
  c10::SmallVector<const Node*, 8> above_;  // nodes on the path
};

}  // namespace

void plan_set(Changes& changes, const NodePtr& root, Path path, const Value& value) {
  check_path(path);
  Placing placing(changes, path);
  placing.run(root, path, value);
  if (value.is_node() && reaches(value.node(), placing.above())) {
    fail(Code::cycle, "cannot set ", show_path(path), ": the dictionary would contain itself");
  }
}

}  // namespace td
