// Reads a folder into an existing dictionary: plans all changes, then commits them.
#include "core/memmap/reload.h"
#include "core/tensor/assign.h"
#include "core/tree/changes.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/traverse.h"

#include <unordered_set>

namespace td {

namespace {

class Reload {
 public:
  // Checks everything; changes nothing.
  void plan(const NodePtr& to, const NodePtr& from) {
    pairs_.push_back({to, from});
    while (!pairs_.empty()) {
      const Pair at = pairs_.back();
      pairs_.pop_back();
      if (!seen_.insert(at.to.get()).second) continue;  // done already: the dictionary occurs twice
      if (at.to->locked() && !at.to->memmapped()) {
        fail(Code::locked, "cannot load into a dictionary that is locked and not mapped");
      }
      const NodePtr from = part_form(at.from);  // a folder may hold a sub-tensordict
      if (is_lazy_stack(*at.to)) {
        plan_lazy(stack_of(*at.to), stack_of(*from).elements());
      } else {
        plan_dense(entries_of(at.to), entries_of(from));
      }
      changes_.set_batch(*at.to, at.from->batch());
      changes_.set_saved_path(*at.to, at.from->saved_path());
    }
  }

  void run() { changes_.run(); }

  // Whether the content of `from` can go into `to`.
  static bool fits(const Node& to, const NodePtr& from) {
    if (to.batch().size() != from->batch().size() || !is_dict(to)) return false;
    const NodePtr read = part_form(from);
    return &row_of(to) == &row_of(*read) && stack_dim_of(to) == stack_dim_of(*read);
  }

 private:
  struct Pair {
    NodePtr to, from;
  };

  void plan_dense(const DenseNode& to, const DenseNode& from) {
    auto entries = c10::make_intrusive<DenseNode>(to.shared_schema(), from.batch(), to.device());
    entries->reserve(to.size() + from.size());
    for_each_entry(to, [&](const std::string& name, const Value& old) {
      const Value* found = from.find(name);
      if (found == nullptr) check_kept(name, old, from.batch());
      entries->push_value(found == nullptr ? old : merged(to, old, *found));
    });
    for_each_entry(from, [&](const std::string& name, const Value& value) {
      if (to.find(name) == nullptr) entries->put(name, added(to, value));
    });
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
    if (!both || !fits(*old.node(), found.node())) return added(to, found);
    pairs_.push_back({old.node(), found.node()});
    return old;
  }

  static void check_kept(const std::string& name, const Value& value, SizesView batch) {
    const SizesView sizes = value.is_node() ? value.node()->batch() : value.tensor().sizes();
    if (begins_with(sizes, batch)) return;
    fail(Code::shape, "\"", name, "\" is not in the folder, and its shape ", show_sizes(sizes),
         " does not begin with the batch size there, ", show_sizes(batch));
  }

  void plan_lazy(const LazyNode& to, c10::ArrayRef<NodePtr> from) {
    std::vector<NodePtr> elements;
    for (const NodePtr& found : from) {
      const std::size_t k = elements.size();
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
  const char* const refused = "a sub-tensordict, or a value, cannot be loaded into";
  require_own(node, refused);
  if (!is_dict(node)) fail(Code::unsupported, refused);
  if (!options.device) options.device = node.device();
  const TensorDict loaded = load_memmap(dir, options);
  const Node& from = *loaded.node();
  if (!Reload::fits(node, loaded.node())) {
    const bool alike = &row_of(node) == &row_of(from);
    fail(alike ? Code::shape : Code::wrong_entry, "\"", dir, "\" holds a ", row_of(from).word,
         " of batch size ", show_sizes(from.batch()), ", which does not fit the one of ",
         show_sizes(node.batch()));
  }
  if (same_batch && from.batch() != node.batch()) {
    fail(Code::shape, "\"", dir, "\" has the batch size ", show_sizes(from.batch()),
         ", the dictionary ", show_sizes(node.batch()));
  }
  Reload reload;
  reload.plan(td.node(), loaded.node());
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
