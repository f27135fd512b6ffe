// Updates a dictionary with the entries of another one.
#include "core/base/recursion_guard.h"
#include "core/keys/entries.h"
#include "core/tensor/assign.h"
#include "core/tensor/device.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/writes.h"
#include "core/tree/key_tree.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/paths.h"
#include "core/tree/sub_tensordict.h"
#include "core/tree/tensorclass.h"
#include "core/tree/traverse.h"
#include "core/tree/walk.h"

#include <algorithm>
#include <unordered_set>

namespace td {

namespace {

class Update {
 public:
  Update(const UpdateOptions& options, const KeyTree* keys) : options_(options), keys_(keys) {}

  void plan(const NodePtr& target, const NodePtr& source) {
    if (options_.update_batch_size) require_replaced(target, source);
    begin(no_level, "", target, source, 0);
    for (std::size_t at = 0; at < levels_.size(); ++at) step(at);
    if (!nodes_put_.empty()) require_no_cycle();
  }

  void run() { changes_.run(); }

 private:
  static constexpr std::size_t no_level = static_cast<std::size_t>(-1);

  struct Level {
    std::size_t above;  // index of its parent level
    std::string_view name;
    const DenseNode* target;  // held by the dictionary, or by held_
    const DenseNode* source;
    std::uint32_t keys;  // level of the key tree; only used if `filtered`
    bool filtered;
  };
  struct NodePut {
    std::size_t level;
    NodePtr node;
  };

  // Merges two dictionaries. A lazy stack is merged element by element.
  void begin(std::size_t above, std::string_view name, const NodePtr& target, const NodePtr& source,
             std::uint32_t keys, bool filtered) {
    // In place it is written into itself: another entry may hold its tensors, too.
    if (target == source && options_.mode == UpdateMode::store) return;
    require_alike(above, name, *target, *source);
    const bool root = levels_.empty();
    if (!root && !seen_.first({target.get(), source.get()}, 2 * std::uintptr_t{keys} + filtered)) {
      return;
    }
    if (const std::optional<std::int64_t> dim = stack_dim_of(*target)) {
      const RecursionGuard guard;
      if (options_.update_batch_size) {
        fail(Code::unsupported, "the batch size of a lazy stack cannot be updated");
      }
      const std::vector<NodePtr> parts = parts_of(source, *target, *dim);
      for (std::size_t k = 0; k < parts.size(); ++k) {
        begin(above, name, stacked(*target)[k], parts[k], keys, filtered);
      }
      return;
    }
    NodePtr form = dense_form(source);
    levels_.push_back({above, name, &entries_of(target), &entries_of(form), keys, filtered});
    held_.push_back(std::move(form));
    if (options_.update_batch_size) resize(*levels_.back().target, *levels_.back().source);
  }
  void begin(std::size_t above, std::string_view name, const NodePtr& target, const NodePtr& source,
             std::uint32_t keys) {
    begin(above, name, target, source, keys, keys_ != nullptr);
  }

  void resize(const DenseNode& target, const DenseNode& source) {
    changes_.set_batch(target, source.batch());
    changes_.set_names(target, source.names());
    if (source.tensorclass()) changes_.set_tensorclass(target, source.tensorclass());
  }

  // The source's counterpart for each element of a lazy stack.
  static std::vector<NodePtr> parts_of(const NodePtr& source, const Node& target,
                                       std::int64_t dim) {
    if (stacked_alike(*source, target)) return stacked(*source).vec();
    if (source->batch().size() <= static_cast<std::size_t>(dim)) {
      fail(Code::shape, "a dictionary of batch size ", show_sizes(source->batch()),
           " cannot be taken apart along dimension ", dim, ", the one of a lazy stack");
    }
    std::vector<NodePtr> parts;
    for (const TensorDict& part : TensorDict(source).unbind(dim)) {
      parts.push_back(part.node());
    }
    return parts;
  }

  void require_alike(std::size_t above, std::string_view name, const Node& target,
                     const Node& source) const {
    if (options_.update_batch_size) return;
    const std::size_t n = std::min(target.batch().size(), source.batch().size());
    if (target.batch().slice(0, n) == source.batch().slice(0, n)) return;
    fail(Code::shape, "cannot update ", above == no_level ? "the dictionary" : show(above, name),
         " of batch size ", show_sizes(target.batch()), " with one of ",
         show_sizes(source.batch()));
  }

  void step(std::size_t at) {
    const Level level = levels_[at];
    const DenseNode& source = *level.source;
    const KeyMatch where(source, *level.target);
    for (std::size_t i = 0; i < source.size(); ++i) {
      const Value& from = source.value(i);
      std::uint32_t keys = 0;
      bool filtered = false;
      if (level.filtered) {
        const KeyTree::Level& wanted = (*keys_)[level.keys];
        const std::size_t k = wanted.names->find(source.name(i), source.schema()->hash(i));
        if (k == Schema::npos) continue;
        keys = wanted.entries[k].deeper;
        filtered = !wanted.entries[k].whole;
        if (filtered && !is_dict(from)) continue;  // a tensor has no entries below it
      }
      entry(at, level, source.name(i), from, where(i), keys, filtered);
    }
  }

  void entry(std::size_t at, const Level& level, std::string_view name, const Value& from,
             std::size_t found, std::uint32_t keys, bool filtered) {
    if (found == Schema::npos) return add(at, level, name, from, keys, filtered);
    const Value& into = level.target->value(found);
    const bool replaced = options_.whole_nodes && options_.mode == UpdateMode::store && !filtered;
    if (is_dict(from) && is_dict(into) && !replaced) {
      return merge(at, name, found, into, from, keys, filtered);
    }
    if (options_.mode == UpdateMode::store) return put(at, level, name, found, from);
    if (is_dict(from) != is_dict(into) || from.is_node() != into.is_node()) {
      fail(Code::wrong_entry, "cannot write a ", kind_word(from), " into ", show(at, name),
           ", which is a ", kind_word(into));
    }
    if (!from.is_node()) return write(at, name, into.tensor(), from.tensor());
    if (!is_dict(*from.node()) && same_non_tensor(*into.node(), *from.node())) return;
    put(at, level, name, found, from);
  }

  // Merges into an existing dictionary. A lazy stack converts the source to a lazy stack.
  void merge(std::size_t at, std::string_view name, std::size_t found, const Value& into,
             const Value& from, std::uint32_t keys, bool filtered) {
    const std::optional<std::int64_t> dim = stack_dim_of(*from.node());
    const bool stays = !dim || !holds_entries(*into.node()) ||
                       options_.mode == UpdateMode::strict || options_.update_batch_size;
    if (stays) return begin(at, name, into.node(), from.node(), keys, filtered);
    require_alike(at, name, *into.node(), *from.node());
    std::vector<NodePtr> parts;
    for (const TensorDict& part : TensorDict(into.node()).unbind(*dim)) {
      parts.push_back(part.node());
    }
    NodePtr lazy = lazy_stack(std::move(parts), *dim);
    require_open(*levels_[at].target);
    changes_.set(*levels_[at].target, found, lazy);
    begin(at, name, lazy, from.node(), keys, filtered);
  }

  // Adds an entry that the target lacks.
  void add(std::size_t at, const Level& level, std::string_view name, const Value& from,
           std::uint32_t keys, bool filtered) {
    if (options_.mode == UpdateMode::strict) {
      PathBuffer path = path_to(at, name);
      find_entry(retain(*levels_[0].target), path);  // throws: the entry is missing
      fail(Code::key_not_found, "no entry ", show_path(path), " to write");
    }
    if (!filtered) return put(at, level, name, Schema::npos, from);
    // The new dictionary receives only the selected entries.
    auto made = c10::make_intrusive<DenseNode>(level.target->batch(), level.target->device());
    copy_tags(*level.target, *made);
    made->set_tensorclass(nullptr);
    require_open(*level.target);
    if (level.target->tensorclass()) fit_field(*level.target, name, Value(NodePtr(made)));
    changes_.set(*level.target, name, NodePtr(made));
    begin(at, name, NodePtr(made), from.node(), keys, true);
  }

  // `found`: position of the existing entry, or npos.
  void put(std::size_t at, const Level& level, std::string_view name, std::size_t found,
           const Value& from) {
    require_open(*level.target);
    const PathBuffer path = path_to(at, name);
    Value value =
        options_.update_batch_size ? moved(*level.target, from) : fitted(*level.target, path, from);
    if (is_dict(value) && !options_.update_batch_size)
      value = fit_names(changes_, *level.target, path, value.take_node());
    if (level.target->tensorclass()) value = fit_field(*level.target, name, std::move(value));
    if (from.is_node() && value.node() == from.node()) nodes_put_.push_back({at, value.node()});
    // A dictionary that was converted to fit still shares tensors with the source.
    const bool made = !from.is_node() && !value.tensor().is_same(from.tensor());
    if (options_.clone && !made) value = copy(value, fast_);
    if (found == Schema::npos) {
      changes_.set(*level.target, name, std::move(value));
    } else {
      changes_.set(*level.target, found, std::move(value));
    }
  }

  static Value moved(const DenseNode& holder, const Value& value) {
    if (!holder.device()) return value;
    if (!value.is_node()) return move_to(value.tensor(), *holder.device());
    return TensorDict(value.node()).to(*holder.device()).node();
  }

  void write(std::size_t at, std::string_view name, const at::Tensor& target,
             const at::Tensor& source) {
    if (target.sizes() != source.sizes() && !broadcasts(source.sizes(), target.sizes())) {
      fail(Code::shape, "cannot write shape ", show_sizes(source.sizes()), " into ", show(at, name),
           " of shape ", show_sizes(target.sizes()));
    }
    changes_.writes().set(name, target, source);
  }

  void require_open(const Node& node) const {
    if (!options_.ignore_lock) require_unlocked(node);
  }

  // Before the batch size changes, all old entries must be replaced.
  static void require_replaced(const NodePtr& target, const NodePtr& source) {
    require_unlocked(*target);
    visit_paths(*target, [&](Path path, const Value&) { find_entry(source, path); });
  }

  // Refuses to store a dictionary inside itself. Searches all new dictionaries once, and traces paths only if
  // one of them holds an updated dictionary.
  void require_no_cycle() const {
    if (!any_reaches()) return;
    for (const NodePut& put : nodes_put_) {
      std::vector<const Node*> above;
      for (std::size_t at = put.level; at != no_level; at = levels_[at].above) {
        above.push_back(levels_[at].target);
      }
      if (reaches(put.node, above)) {
        fail(Code::cycle, "cannot update: a dictionary would lie inside itself");
      }
    }
  }

  bool any_reaches() const {
    std::unordered_set<const Node*> targets;
    bool held_once = true;  // only its parent holds it
    for (const Level& level : levels_) {
      targets.insert(level.target);
      held_once = held_once && holders_of(*level.target) < 2;
    }
    if (held_once) return false;
    std::unordered_set<const Node*> put_already;
    for (const NodePut& put : nodes_put_) {
      if (!put_already.insert(put.node.get()).second) continue;
      const auto is_target = [&](const Node& node) -> bool { return targets.count(&node) != 0; };
      if (visit_nodes(put.node, is_target)) return true;
    }
    return false;
  }

  static Value copy(const Value& value, bool fast) {
    if (!value.is_node()) return copy_of(value.tensor(), fast);
    return TensorDict(value.node()).clone().node();
  }

  PathBuffer path_to(std::size_t level, std::string_view name) const {
    PathBuffer path{name};
    for (; levels_[level].above != no_level; level = levels_[level].above) {
      path.push_back(levels_[level].name);
    }
    std::reverse(path.begin(), path.end());
    return path;
  }
  std::string show(std::size_t level, std::string_view name) const {
    return show_path(path_to(level, name));
  }

  const UpdateOptions& options_;
  const KeyTree* keys_;
  c10::SmallVector<Level, 4> levels_;
  Seen seen_;
  c10::SmallVector<NodePtr, 4> held_;
  Changes changes_;
  std::vector<NodePut> nodes_put_;
  const bool fast_ = fast::can_skip_dispatcher();
};

}  // namespace

void update(const TensorDict& td, const TensorDict& source, const UpdateOptions& options) {
  require_dict(*td.node());
  require_dict(*source.node());
  if (options.update_batch_size && (options.mode != UpdateMode::store || options.keys)) {
    fail(Code::invalid_argument,
         "update_batch_size replaces all entries: it excludes writing in place and "
         "keys");
  }
  if (td.is_same(source)) return;
  if (is_part(*td.node())) {
    const SubTensorDictNode& part = part_node(*td.node());
    // Writes to a sub-tensordict go to the selected part.
    TensorDict values = source;
    if (options.keys) values = select(source, *options.keys, {false, /*ignore_missing=*/true});
    if (options.mode == UpdateMode::strict) {
      visit_paths(*values.node(),
                  [&](Path path, const Value&) { find_entry(part.parent(), path); });
    }
    write_part(TensorDict(part.parent()), part.items(), values);
    return;
  }
  std::optional<KeyTree> keys;
  if (options.keys) keys.emplace(*options.keys);
  Update update(options, keys ? &*keys : nullptr);
  update.plan(td.node(), source.node());
  update.run();
}

}  // namespace td
