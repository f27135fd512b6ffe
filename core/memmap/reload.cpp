// Reads a folder into an existing dictionary: plans all changes, then commits them.
#include "core/memmap/reload.h"
#include "core/tensor/assign.h"
#include "core/tree/changes.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/walk.h"

#include <unordered_set>

namespace td {

namespace {

class Reload {
 public:
  // Checks everything; changes nothing.
  void plan(const Node& to, const Node& from) {
    pairs_.push_back({&to, &from});
    while (!pairs_.empty()) {
      const Pair at = pairs_.back();
      pairs_.pop_back();
      if (!seen_.insert(at.to).second) continue;  // a dictionary that occurs twice
      if (at.to->locked() && !at.to->memmapped()) {
        fail(Code::locked, "cannot load into a dictionary that is locked and not mapped");
      }
      if (holds_entries(*at.to)) {
        plan_dense(*as_dense(at.to), *as_dense(at.from));
      } else {
        plan_lazy(*as_lazy(at.to), *as_lazy(at.from));
      }
      changes_.set_batch(*at.to, at.from->batch());
      changes_.set_saved_path(*at.to, at.from->saved_path());
    }
  }

  void run() { changes_.run(); }

  // Whether the content of `from` can go into `to`.
  static bool fits(const Node& to, const Node& from) {
    if (to.kind() != from.kind() || to.batch().size() != from.batch().size()) return false;
    if (holds_entries(to)) return true;
    const LazyNode* lazy = as_dict_stack(&to);
    return lazy != nullptr && lazy->stack_dim() == as_dict_stack(&from)->stack_dim();
  }

 private:
  struct Pair {
    const Node* to;
    const Node* from;
  };

  void plan_dense(const DenseNode& to, const DenseNode& from) {
    auto entries = c10::make_intrusive<DenseNode>(to.schema(), from.batch(), to.device());
    entries->reserve(to.size() + from.size());
    for (std::size_t i = 0; i < to.size(); ++i) {
      const Value& old = to.value(i);
      const Value* found = from.find(to.name(i));
      if (found == nullptr) {
        check_kept(to.name(i), old, from.batch());
        entries->push_value(old);
      } else {
        entries->push_value(merged(to, old, *found));
      }
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (to.find(from.name(i)) == nullptr) entries->put(from.name(i), added(to, from.value(i)));
    }
    changes_.replace(to, std::move(entries));
  }

  // A new entry of a mapped dictionary is flagged as mapped, too.
  Value added(const Node& to, const Value& found) {
    if (!to.locked() || !found.is_node()) return found;
    visit_nodes(found.node(), [&](const Node& node) { changes_.set_memmapped(node, true); });
    return found;
  }

  Value merged(const Node& to, const Value& old, const Value& found) {
    const bool both = old.is_node() && found.is_node();
    if (!both || !fits(*old.node(), *found.node())) return added(to, found);
    pairs_.push_back({old.node().get(), found.node().get()});
    return old;
  }

  static void check_kept(const std::string& name, const Value& value, SizesView batch) {
    const SizesView sizes = value.is_node() ? value.node()->batch() : value.tensor().sizes();
    if (begins_with(sizes, batch)) return;
    fail(Code::shape, "\"", name, "\" is not in the folder, and its shape ", show_sizes(sizes),
         " does not begin with the batch size there, ", show_sizes(batch));
  }

  void plan_lazy(const LazyNode& to, const LazyNode& from) {
    std::vector<NodePtr> elements;
    for (std::size_t k = 0; k < from.elements().size(); ++k) {
      const NodePtr& found = from.elements()[k];
      const bool there = k < to.elements().size();
      const Value value = there ? merged(to, to.elements()[k], found) : added(to, found);
      elements.push_back(value.node());
    }
    changes_.set_elements(to, std::move(elements));
  }

  std::vector<Pair> pairs_;
  std::unordered_set<const Node*> seen_;
  Changes changes_;
};

void reload(TensorDict& td, const std::string& dir, LoadOptions options, bool same_batch) {
  const Node& node = *td.node();
  if (!holds_entries(node) && !is_lazy_stack(node)) {
    fail(Code::unsupported, "a sub-tensordict, or a value, cannot be loaded into");
  }
  if (!options.device) options.device = node.device();
  const TensorDict loaded = load_memmap(dir, options);
  const Node& from = *loaded.node();
  if (!Reload::fits(node, from)) {
    const bool alike = node.kind() == from.kind();
    fail(alike ? Code::shape : Code::wrong_entry, "\"", dir, "\" holds a ", row_of(from).word,
         " of batch size ", show_sizes(from.batch()), ", which does not fit the one of ",
         show_sizes(node.batch()));
  }
  if (same_batch && from.batch() != node.batch()) {
    fail(Code::shape, "\"", dir, "\" has the batch size ", show_sizes(from.batch()),
         ", the dictionary ", show_sizes(node.batch()));
  }
  Reload reload;
  reload.plan(node, from);
  reload.run();
}

}  // namespace

void load_into(TensorDict& td, const std::string& dir, const LoadOptions& options) {
  reload(td, dir, options, /*same_batch=*/true);
}

void memmap_refresh(TensorDict& td, LoadOptions options) {
  if (td.saved_path().empty()) {
    fail(Code::invalid_argument, "the dictionary has no folder to be read from again");
  }
  options.subpath.clear();
  reload(td, td.saved_path(), std::move(options), /*same_batch=*/false);
}

}  // namespace td
