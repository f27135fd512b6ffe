#include "core/tree/changes.h"

#include "core/tree/lock.h"
#include "core/tree/nested_tensor.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <variant>

namespace td {

namespace {

struct Mapped {
  bool value;
};
struct Shared {
  bool value;
};
using Fact = std::variant<Sizes, std::optional<c10::Device>, TensorclassTypePtr, std::string,
                          Mapped, Shared>;

}  // namespace

struct Changes::More {
  struct Contents {
    DenseNode* node;
    c10::intrusive_ptr<DenseNode> entries;
  };
  struct Elements {
    LazyNode* node;
    std::vector<NodePtr> elements;
    Sizes batch;
  };
  struct Insertion {
    LazyNode* node;
    std::size_t position;
    std::vector<NodePtr> elements;
  };
  struct Tensors {
    NestedTensorNode* node;
    NestedTensorPtr other;
  };

  std::vector<Contents> contents;
  std::vector<Elements> elements;
  std::vector<Insertion> insertions;
  std::vector<Tensors> tensors;
  c10::SmallVector<std::pair<Node*, Fact>, 4> facts;
  std::unordered_map<const Node*, Names> names;
  Locking locking;
  std::unordered_multimap<std::uint64_t, std::size_t> index;  // of the sets, if there are many
};

Changes::Changes() noexcept = default;
Changes::~Changes() = default;

Changes::More& Changes::more() {
  if (!more_) more_ = std::make_unique<More>();
  return *more_;
}

void Changes::add_now(const DenseNode& node, std::string_view name, std::uint64_t hash,
                      Value value) {
  std::string copy(name);
  const LeafRowPtr before = mutable_node(node).make_room(1, 0);
  mutable_node(node).add(std::move(copy), hash, std::move(value));
}

void Changes::set(const DenseNode& node, std::string_view name, Value value) {
  const std::uint64_t hash = hash_name(name);
  const std::size_t i = node.schema()->find(name, hash);
  if (i != Schema::npos && !erases(node, i)) return set(node, i, std::move(value));
  sets_.push_back({&mutable_node(node), Schema::npos, hash, std::string(name), std::move(value)});
  ++adds_;
}

void Changes::set(const DenseNode& node, std::size_t i, Value value) {
  sets_.push_back({&mutable_node(node), i, 0, {}, std::move(value)});
}

void Changes::erase(const DenseNode& node, std::size_t i) {
  erases_.push_back({&mutable_node(node), i, {}});
}

bool Changes::erases(const DenseNode& node, std::size_t i) const noexcept {
  return std::any_of(erases_.begin(), erases_.end(),
                     [&](const Erase& one) { return one.node == &node && one.position == i; });
}

DenseNode& Changes::replace(const DenseNode& node) {
  auto entries = c10::make_intrusive<DenseNode>(node.batch(), node.device());
  DenseNode& result = *entries;
  replace(node, std::move(entries));
  return result;
}

void Changes::replace(const DenseNode& node, c10::intrusive_ptr<DenseNode> entries) {
  more().contents.push_back({&mutable_node(node), std::move(entries)});
}

DenseNode& Changes::replace(const DenseNode& node, const DenseNode& entries) {
  auto copy = c10::static_intrusive_pointer_cast<DenseNode>(entries.shallow_copy());
  DenseNode& result = *copy;
  replace(node, std::move(copy));
  return result;
}

void Changes::set_elements(const LazyNode& node, std::vector<NodePtr> elements) {
  Sizes batch = node.batch_of(elements);
  more().elements.push_back({&mutable_node(node), std::move(elements), std::move(batch)});
}

void Changes::insert(const LazyNode& node, std::size_t position, c10::ArrayRef<NodePtr> elements) {
  more().insertions.push_back({&mutable_node(node), position, elements.vec()});
}

void Changes::set_tensors(const NestedTensorNode& node, NestedTensorPtr other) {
  more().tensors.push_back({&mutable_node(node), std::move(other)});
}

void Changes::set_tensors(const NestedTensorNode& node, const Node& other) {
  set_tensors(node, c10::static_intrusive_pointer_cast<NestedTensorNode>(retain(other)));
}

void Changes::set_batch(const Node& node, SizesView batch) {
  require_dims(batch.size());
  more().facts.emplace_back(&mutable_node(node), Sizes(batch.begin(), batch.end()));
}

void Changes::set_device(const Node& node, std::optional<c10::Device> device) {
  more().facts.emplace_back(&mutable_node(node), device);
}

void Changes::set_tensorclass(const Node& node, TensorclassTypePtr tensorclass) {
  more().facts.emplace_back(&mutable_node(node), std::move(tensorclass));
}

void Changes::set_saved_path(const Node& node, std::string path) {
  more().facts.emplace_back(&mutable_node(node), std::move(path));
}

void Changes::set_memmapped(const Node& node, bool memmapped) {
  more().facts.emplace_back(&mutable_node(node), Mapped{memmapped});
}

void Changes::set_shared(const Node& node, bool shared) {
  more().facts.emplace_back(&mutable_node(node), Shared{shared});
}

void Changes::set_names(const Node& node, Names names) { more().names[&node] = std::move(names); }

void Changes::lock(const NodePtr& root) { more().locking.add(root); }

const Value* Changes::find(const DenseNode& node, std::string_view name) {
  const std::uint64_t hash = hash_name(name);
  std::size_t i = node.schema()->find(name, hash);
  if (i != Schema::npos && erases(node, i)) i = Schema::npos;
  if (const Set* set = last_set(node, i, name, hash)) return &set->value;
  return i == Schema::npos ? nullptr : &node.value(i);
}

const Changes::Set* Changes::last_set(const DenseNode& node, std::size_t i, std::string_view name,
                                      std::uint64_t hash) {
  const auto is_it = [&](const Set& set) {
    return set.node == &node && set.position == i &&
           (i != Schema::npos || (set.hash == hash && set.name == name));
  };
  constexpr std::size_t scan_limit = 16;  // above it a table is faster than a scan
  if (sets_.size() <= scan_limit) {
    const auto found = std::find_if(sets_.rbegin(), sets_.rend(), is_it);
    return found == sets_.rend() ? nullptr : &*found;
  }
  const auto key = [](const DenseNode* at, std::size_t position, std::uint64_t of_name) {
    return detail::mix(reinterpret_cast<std::uintptr_t>(at),
                       position == Schema::npos ? of_name : position);
  };
  auto& index = more().index;
  for (std::size_t k = index.size(); k < sets_.size(); ++k) {
    index.emplace(key(sets_[k].node, sets_[k].position, sets_[k].hash), k);
  }
  const Set* last = nullptr;
  const auto [first, end] = index.equal_range(key(&node, i, hash));
  for (auto at = first; at != end; ++at) {
    const Set& set = sets_[at->second];
    if (is_it(set) && (last == nullptr || last < &set)) last = &set;
  }
  return last;
}

const Names& Changes::names_of(const Node& node) const noexcept {
  if (!more_) return node.names();
  const auto planned = more_->names.find(&node);
  return planned == more_->names.end() ? node.names() : planned->second;
}

void Changes::run() {
  prepare();
  if (writes_) writes_->run();
  commit();
}

void Changes::prepare() {
  if (writes_) writes_->prepare();
  prepare_sets();
  if (!erases_.empty()) prepare_erases();
  if (more_) prepare_more();
}

void Changes::prepare_sets() {
  for (const Set& set : sets_) {
    const bool locked = set.node->locked() || (more_ && more_->locking.has(*set.node));
    if (locked && set.value.is_node()) lock_new(*set.node, set.value.node());
  }
  const auto inner = static_cast<std::size_t>(std::count_if(
      sets_.begin(), sets_.end(), [](const Set& set) { return set.value.is_node(); }));
  if (sets_.size() == 1) return keep(sets_[0].node->make_room(adds_, inner));
  for (const Set& set : sets_) keep(set.node->make_room(0, inner));
  if (adds_ == 0) return;
  c10::SmallVector<DenseNode*, 12> nodes;
  for (const Set& set : sets_) {
    if (set.position == Schema::npos) nodes.push_back(set.node);
  }
  std::sort(nodes.begin(), nodes.end());
  for (auto* first = nodes.begin(); first != nodes.end();) {
    auto* const end = std::upper_bound(first, nodes.end(), *first);
    keep((*first)->make_room(static_cast<std::size_t>(end - first), inner));
    first = end;
  }
}

// Later positions first, so that earlier ones stay valid.
void Changes::prepare_erases() {
  if (erases_.size() == 1) return keep(erases_[0].node->prepare_erase());
  const auto key = [](const Erase& one) { return std::make_pair(one.node, one.position); };
  std::sort(erases_.begin(), erases_.end(),
            [&](const Erase& a, const Erase& b) { return key(b) < key(a); });
  // A dictionary may occur in a lazy stack twice.
  erases_.erase(std::unique(erases_.begin(), erases_.end(),
                            [&](const Erase& a, const Erase& b) { return key(a) == key(b); }),
                erases_.end());
  for (const Erase& one : erases_) keep(one.node->prepare_erase());
}

void Changes::lock_new(const Node& holder, const NodePtr& node) {
  more().locking.add(node, retain(holder));
}

void Changes::prepare_more() {
  for (const auto& [node, entries] : more_->contents) {
    if (!node->locked()) continue;
    c10::SmallVector<Node*, 8> held;
    entries->collect(held);
    for (const Node* inner : held) {
      if (!inner->locked()) lock_new(*node, retain(*inner));
    }
  }
  for (const auto& change : more_->elements) {
    if (!change.node->locked()) continue;
    for (const NodePtr& element : change.elements) {
      if (!element->locked()) lock_new(*change.node, element);
    }
  }
  for (const auto& [node, position, elements] : more_->insertions) {
    std::vector<NodePtr>& all = node->elements_;
    const std::size_t size = all.size() + elements.size();
    if (size > all.capacity()) all.reserve(std::max(size, 2 * all.size()));
  }
  for (auto& [node, fact] : more_->facts) {
    const auto* tensorclass = std::get_if<TensorclassTypePtr>(&fact);
    if (std::holds_alternative<std::string>(fact) || (tensorclass != nullptr && *tensorclass))
      node->extras();
  }
  for (const auto& [node, names] : more_->names) {
    if (!names.empty()) mutable_node(*node).extras();
  }
  more_->locking.prepare();
}

void Changes::commit() noexcept {
  for (Set& set : sets_) {
    if (set.position != Schema::npos) set.node->exchange(set.position, set.value);
  }
  for (Erase& one : erases_) one.before = one.node->take(one.position);
  if (adds_ != 0) {
    for (Set& set : sets_) {
      if (set.position != Schema::npos) continue;
      // A dictionary may occur in a lazy stack twice.
      const std::size_t i =
          adds_ == 1 ? Schema::npos : set.node->schema()->find(set.name, set.hash);
      if (i == Schema::npos) {
        set.node->add(std::move(set.name), set.hash, std::move(set.value));
      } else {
        set.node->exchange(i, set.value);
      }
    }
  }
  if (more_) commit_more();
}

void Changes::commit_more() noexcept {
  for (const auto& [node, entries] : more_->contents) node->swap_entries(*entries);
  for (auto& [node, elements, batch] : more_->elements) {
    std::swap(node->elements_, elements);
    node->batch_ = std::move(batch);
  }
  for (auto& [node, position, elements] : more_->insertions) {
    const auto at = node->elements_.begin() + static_cast<std::ptrdiff_t>(position);
    node->elements_.insert(at, elements.begin(), elements.end());
    node->batch_[static_cast<std::size_t>(node->stack_dim())] +=
        static_cast<std::int64_t>(elements.size());
  }
  for (auto& [node, other] : more_->tensors) node->swap_tensors(*other);
  for (auto& [node, fact] : more_->facts) {
    std::visit(
        [at = node](auto& value) noexcept {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, Sizes>) at->batch_ = std::move(value);
          if constexpr (std::is_same_v<T, std::optional<c10::Device>>) at->set_device(value);
          if constexpr (std::is_same_v<T, TensorclassTypePtr>) at->set_tensorclass(value);
          if constexpr (std::is_same_v<T, std::string>) at->set_saved_path(std::move(value));
          if constexpr (std::is_same_v<T, Mapped>) at->set_memmapped(value.value);
          if constexpr (std::is_same_v<T, Shared>) at->set_shared(value.value);
        },
        fact);
  }
  for (auto& [node, names] : more_->names) mutable_node(*node).set_names(std::move(names));
  more_->locking.commit();
}

}  // namespace td
