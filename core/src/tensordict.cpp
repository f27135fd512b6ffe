#include "td/tensordict.h"

#include "td/assign.h"
#include "td/device.h"
#include "td/fast_path.h"
#include "td/foreign.h"
#include "td/walk.h"

#include <algorithm>
#include <unordered_set>

namespace td {

namespace {

DenseNode& dense(const NodePtr& node) {
  DenseNode* result = as_dense(node.get());
  if (result == nullptr) fail(Code::wrong_entry, "this entry is a value, not a dictionary");
  return *result;
}

// What stands at one level, for messages: at most a dozen names.
std::string show_names(const DenseNode& node) {
  if (node.size() == 0) return "nothing";
  std::string text;
  for (std::size_t i = 0; i < node.size(); ++i) {
    if (i == 12) return text + ", … (" + std::to_string(node.size()) + " in all)";
    if (i != 0) text += ", ";
    text += '"' + node.name(i) + '"';
  }
  return text;
}

// The node that the first `n` names of a path lead to, or nullptr; `stopped` is the level of the stop.
DenseNode* descend(DenseNode* node, Path path, std::size_t n, std::size_t& stopped) noexcept {
  for (stopped = 0; stopped < n; ++stopped) {
    const Value* value = node->find(path[stopped]);
    if (value == nullptr || !value->is_node()) return nullptr;
    DenseNode* inner = as_dense(value->node().get());
    if (inner == nullptr) return nullptr;
    node = inner;
  }
  return node;
}

// Says why a look-up failed. Names are checked only now: a look-up that succeeds has no need.
[[noreturn]] void fail_lookup(const NodePtr& root, Path path) {
  check_path(path);
  const DenseNode* node = &dense(root);
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Path here = path.slice(0, i);
    const Value* value = node->find(path[i]);
    if (value == nullptr) {
      fail(Code::key_not_found, "no entry ", show_path(path), "; ",
           here.empty() ? "the dictionary" : show_path(here), " holds ", show_names(*node));
    }
    if (i + 1 == path.size()) break;
    const DenseNode* inner = value->is_node() ? as_dense(value->node().get()) : nullptr;
    if (inner == nullptr) {
      fail(Code::wrong_entry, "no entry ", show_path(path), ": ", show_path(path.slice(0, i + 1)),
           " is not a dictionary");
    }
    node = inner;
  }
  fail(Code::internal, "look-up of ", show_path(path), " failed without a reason");
}

const Value& find(const NodePtr& root, Path path) {
  std::size_t stopped;
  if (!path.empty()) {
    DenseNode* node = descend(as_dense(root.get()), path, path.size() - 1, stopped);
    const Value* value = node == nullptr ? nullptr : node->find(path.back());
    if (value != nullptr) return *value;
  }
  fail_lookup(root, path);
}

EntryKind kind_of(const Value& value) noexcept {
  if (!value.is_node()) return EntryKind::tensor;
  return value.node()->kind() == NodeKind::data ? EntryKind::data : EntryKind::dict;
}

[[noreturn]] void fail_kind(Path path, const Value& value, const char* wanted) {
  const EntryKind kind = kind_of(value);
  fail(Code::wrong_entry, show_path(path), " is a ",
       kind == EntryKind::tensor ? "tensor"
       : kind == EntryKind::dict ? "dictionary"
                                 : "value",
       ", not a ", wanted);
}

void require_unlocked(const Node& node) {
  if (node.locked()) {
    fail(Code::locked,
         "the dictionary is locked: values can be written in place, entries cannot be added, "
         "replaced "
         "or removed");
  }
}

void require_sizes(SizesView batch) {
  for (const std::int64_t size : batch) {
    if (size < 0) fail(Code::shape, "batch size ", show_sizes(batch), " has a negative size");
  }
}

void require_batch(Path path, SizesView sizes, SizesView batch) {
  if (!begins_with(sizes, batch)) {
    fail(Code::shape, "batch dimension mismatch: ", show_path(path), " has shape ",
         show_sizes(sizes), ", which does not begin with the batch size ", show_sizes(batch));
  }
}

// Where a path ends in a tree: an existing node and the names that are still to be made below it.
struct Place {
  DenseNode* node;
  std::size_t missing;  // first name without a node; path.size() - 1 when nothing is missing
};

Place place_for(const NodePtr& root, Path path) {
  check_path(path);
  std::size_t stopped;
  DenseNode* node = &dense(root);
  DenseNode* end = descend(node, path, path.size() - 1, stopped);
  if (end != nullptr) {
    require_unlocked(*end);
    return {end, path.size() - 1};
  }
  std::size_t ignored;
  node = descend(node, path, stopped, ignored);
  if (node->find(path[stopped]) != nullptr) {
    fail(Code::key_exists, "cannot set ", show_path(path), ": ",
         show_path(path.slice(0, stopped + 1)), " is there already and is not a dictionary");
  }
  require_unlocked(*node);
  return {node, stopped};
}

// Puts a value at its place, making the dictionaries on the way. Nothing is seen before all is made.
void put(const Place& place, Path path, Value value) {
  for (std::size_t i = path.size() - 1; i > place.missing; --i) {
    auto node = c10::make_intrusive<DenseNode>(place.node->batch(), place.node->device());
    node->put(path[i], std::move(value));
    value = NodePtr(std::move(node));
  }
  place.node->put(path[place.missing], std::move(value));
}

// A node that is held in several places is looked at once: a graph may have more paths than can be walked.
bool reaches(const NodePtr& from, const std::unordered_set<const Node*>& targets) {
  if (targets.count(from.get()) != 0) return true;
  // Each of the targets but the first lies in the one before it. When nobody else holds them (the second
  // reference is that of borrow()), none lies in `from`: a tree that is built from the bottom upwards
  // would otherwise be walked again for each of its levels.
  const auto held_once = [](const Node* node) { return borrow(*node).use_count() <= 2; };
  if (std::all_of(targets.begin(), targets.end(), held_once)) return false;
  std::vector<const DenseNode*> pending;
  std::unordered_set<const Node*> seen;
  if (const DenseNode* dense = as_dense(from.get())) pending.push_back(dense);
  while (!pending.empty()) {
    const DenseNode* node = pending.back();
    pending.pop_back();
    for (std::size_t i = 0; i < node->size(); ++i) {
      const Node* inner = node->value(i).node().get();
      if (inner == nullptr || !seen.insert(inner).second) continue;
      if (targets.count(inner) != 0) return true;
      if (const DenseNode* dense = as_dense(inner)) pending.push_back(dense);
    }
  }
  return false;
}

}  // namespace

TensorDict::TensorDict(SizesView batch, std::optional<c10::Device> device) {
  require_sizes(batch);
  if (device) device = resolve_device(*device);
  node_ = c10::make_intrusive<DenseNode>(batch, device);
}

bool TensorDict::is_empty() const {
  bool empty = node_->kind() != NodeKind::data;
  visit(*node_,
        [&](const Value& value) { empty = empty && td::kind_of(value) == EntryKind::dict; });
  return empty;
}

std::size_t TensorDict::nbytes() const {
  std::size_t bytes = 0;
  visit(*node_, [&](const Value& value) {
    if (!value.is_node()) bytes += bytes_of(value.tensor());
  });
  return bytes;
}

void TensorDict::set(Path path, at::Tensor value) {
  if (replace(path, value)) return;
  const Place place = place_for(node_, path);
  require_batch(path, value.sizes(), place.node->batch());
  if (place.node->device()) value = move_to(value, *place.node->device());
  put(place, path, std::move(value));
}

// The common case, without a second look: the entry is there and nothing has to be checked, made or
// moved.
bool TensorDict::replace(Path path, at::Tensor& value) {
  std::size_t stopped;
  if (path.empty()) return false;
  DenseNode* node = descend(as_dense(node_.get()), path, path.size() - 1, stopped);
  if (node == nullptr || node->locked() || node->device()) return false;
  const std::size_t i = node->schema()->find(path.back());
  if (i == Schema::npos || !begins_with(value.sizes(), node->batch())) return false;
  node->set_value(i, std::move(value));
  return true;
}

void TensorDict::set(Path path, const TensorDict& value) {
  const Place place = place_for(node_, path);
  std::unordered_set<const Node*> above{node_.get()};
  const DenseNode* node = as_dense(node_.get());
  for (std::size_t i = 0; i < place.missing; ++i) {
    node = as_dense(node->find(path[i])->node().get());
    above.insert(node);
  }
  if (reaches(value.node(), above)) {
    fail(Code::cycle, "cannot set ", show_path(path), ": the dictionary would lie inside itself");
  }
  NodePtr fitting = value.node();
  const SizesView batch = place.node->batch();
  if (!begins_with(fitting->batch(), batch)) {
    TensorDict copy = value.clone(false);
    try {
      copy.set_batch_size(batch);
    } catch (const Error& error) {
      fail(Code::shape, "batch dimension mismatch: the dictionary for ", show_path(path),
           " has batch size ", show_sizes(value.batch_size()), " and cannot take ",
           show_sizes(batch), ": ", error.what());
    }
    fitting = copy.node();
  }
  if (place.node->device() && fitting->device() != place.node->device()) {
    fitting = TensorDict(fitting).to(*place.node->device()).node();
  }
  put(place, path, std::move(fitting));
}

void TensorDict::set_data(Path path, std::string json) {
  const Place place = place_for(node_, path);
  put(place, path,
      NodePtr(c10::make_intrusive<DataNode>(std::move(json), place.node->batch(),
                                            place.node->device())));
}

void TensorDict::set_inplace(Path path, const at::Tensor& value) {
  const Value& entry = find(node_, path);
  if (entry.is_node()) fail_kind(path, entry, "tensor");
  const at::Tensor& target = entry.tensor();
  if (!broadcasts(value.sizes(), target.sizes())) {
    fail(Code::shape, "cannot write shape ", show_sizes(value.sizes()), " into ", show_path(path),
         " of shape ", show_sizes(target.sizes()));
  }
  assign(target, value, fast::thread_at_rest());
}

const at::Tensor& TensorDict::get(Path path) const {
  const Value& value = find(node_, path);
  if (value.is_node()) fail_kind(path, value, "tensor");
  return value.tensor();
}

TensorDict TensorDict::get_dict(Path path) const {
  const Value& value = find(node_, path);
  if (td::kind_of(value) != EntryKind::dict) fail_kind(path, value, "dictionary");
  return TensorDict(value.node());
}

const std::string& TensorDict::get_data(Path path) const {
  const Value& value = find(node_, path);
  if (td::kind_of(value) != EntryKind::data) fail_kind(path, value, "value that is no tensor");
  return static_cast<const DataNode&>(*value.node()).json();
}

EntryKind TensorDict::kind_of(Path path) const {
  check_path(path);
  std::size_t stopped;
  DenseNode* node = descend(&dense(node_), path, path.size() - 1, stopped);
  const Value* value = node == nullptr ? nullptr : node->find(path.back());
  return value == nullptr ? EntryKind::none : td::kind_of(*value);
}

void TensorDict::remove(Path path) {
  find(node_, path);  // says what is missing
  std::size_t stopped;
  DenseNode* node = descend(&dense(node_), path, path.size() - 1, stopped);
  require_unlocked(*node);
  node->erase(node->schema()->find(path.back()));
}

KeyList TensorDict::keys(const KeysOptions& options) const {
  KeyList list;
  const auto add = [&](Path path, const Value& value) {
    const EntryKind kind = td::kind_of(value);
    if (options.leaves_only && kind != EntryKind::tensor) return;
    KeyList::Key key{{}, kind};
    for (std::string_view name : path) key.path.emplace_back(name);
    list.keys.push_back(std::move(key));
  };
  if (options.include_nested) {
    visit_paths(*node_, add);
  } else {
    const DenseNode& node = dense(node_);
    for (std::size_t i = 0; i < node.size(); ++i) {
      const std::string_view name = node.name(i);
      add(name, node.value(i));
    }
  }
  if (options.sort) {
    const auto joined = [](const KeyList::Key& key) {
      std::string text;
      for (const std::string& name : key.path) text += text.empty() ? name : "." + name;
      return text;
    };
    std::stable_sort(list.keys.begin(), list.keys.end(),
                     [&](const auto& a, const auto& b) { return joined(a) < joined(b); });
  }
  return list;
}

void TensorDict::set_batch_size(SizesView batch) {
  require_sizes(batch);
  // First look at everything, then change: nested nodes that are shorter grow, the rest must fit.
  std::vector<Node*> growing{node_.get()};
  std::vector<Node*> changing;
  while (!growing.empty()) {
    Node* node = growing.back();
    growing.pop_back();
    changing.push_back(node);
    const DenseNode* inner = as_dense(node);
    for (std::size_t i = 0; inner != nullptr && i < inner->size(); ++i) {
      const Value& value = inner->value(i);
      if (!value.is_node()) {
        const std::string_view name = inner->name(i);
        require_batch(name, value.tensor().sizes(), batch);
      } else if (value.node()->kind() == NodeKind::data ||
                 value.node()->batch().size() < batch.size()) {
        growing.push_back(value.node().get());
      } else if (!begins_with(value.node()->batch(), batch) &&
                 !(TensorDict(value.node()).is_empty())) {
        const std::string_view name = inner->name(i);
        require_batch(name, value.node()->batch(), batch);
      } else if (!begins_with(value.node()->batch(), batch)) {
        growing.push_back(value.node().get());
      }
    }
  }
  for (Node* node : changing) node->set_batch(batch);
}

void TensorDict::clear_device() {
  node_->set_device(std::nullopt);
  visit(*node_, [](const Value& value) {
    if (value.is_node()) value.node()->set_device(std::nullopt);
  });
}

}  // namespace td
