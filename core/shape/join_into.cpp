// Joins into existing tensors, and joins of entries of one dictionary.
#include "core/shape/join.h"
#include "core/tensor/assign.h"
#include "core/tensor/fast_path.h"
#include "core/tensor/known_sizes.h"
#include "core/tensor/writes.h"
#include "core/tree/paths.h"
#include "core/tree/sub_tensordict.h"
#include "core/tree/walk.h"
#include "core/tree/zip.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace td {

namespace {

const char* name_of(Join kind) { return kind == Join::stack ? "stack" : "cat"; }

// The sizes of a joined tensor; throws Code::shape if the sources do not fit.
Sizes joined_sizes(Join kind, Path path, c10::ArrayRef<const at::Tensor*> sources,
                   std::int64_t dim) {
  const auto at = static_cast<std::size_t>(dim);
  const SizesView first = sources[0]->sizes();
  Sizes result(first.begin(), first.end());
  for (std::size_t k = 1; k < sources.size(); ++k) {
    const SizesView sizes = sources[k]->sizes();
    bool agree = sizes.size() == first.size();
    for (std::size_t i = 0; agree && i < sizes.size(); ++i) {
      agree = sizes[i] == first[i] || (kind == Join::cat && i == at);
    }
    if (!agree || (kind == Join::cat && at >= first.size())) {
      fail(Code::shape, name_of(kind), " needs shapes that agree, entry ", show_path(path),
           ": found ", show_sizes(first), " and ", show_sizes(sizes));
    }
    if (kind == Join::cat) result[at] += sizes[at];
  }
  if (kind == Join::stack) {
    result.insert(result.begin() + dim, static_cast<std::int64_t>(sources.size()));
  }
  return result;
}

// Collects and checks writes into existing tensors.
class IntoTensors {
 public:
  IntoTensors(Join kind, std::int64_t dim, bool strict) : kind_(kind), dim_(dim), strict_(strict) {}

  void plan(const Here& here, Tensors tensors) {
    const at::Tensor* target = tensors.front();
    const Tensors sources = tensors.slice(1);
    const auto missing = std::count(sources.begin(), sources.end(), nullptr);
    const bool nowhere = missing == static_cast<std::ptrdiff_t>(sources.size());
    if (target == nullptr || missing != 0) {
      if (!strict_ && (target == nullptr || nowhere)) return;
      fail(Code::key_not_found, name_of(kind_), ": ", show_path(here.path()), " is not in ",
           target == nullptr ? "the dictionary to write into" : "all of the sources");
    }
    const Sizes sizes = joined_sizes(kind_, here.path(), sources, dim_);
    if (target->sizes() != SizesView(sizes)) {
      fail(Code::shape, name_of(kind_), ": ", show_path(here.path()), " has shape ",
           show_sizes(sizes), " and is to be written into shape ", show_sizes(target->sizes()));
    }
    require_distinct(here.path(), *target);
    std::int64_t at = 0;
    for (const at::Tensor* source : sources) {
      const std::int64_t length = kind_ == Join::stack ? 1 : source->size(dim_);
      writes_.set(
          here.path(),
          kind_ == Join::stack ? target->select(dim_, at) : target->narrow(dim_, at, length),
          *source);
      at += length;
    }
  }

  void run() { writes_.run(); }

 private:
  Join kind_;
  std::int64_t dim_;
  bool strict_;
  Writes writes_{Writes::Hold::owns};
};

}  // namespace

void join_into(const TensorDict& target, Join kind, c10::ArrayRef<TensorDict> sources,
               std::int64_t dim, bool strict) {
  dim = join_dim(kind, sources, dim);
  Sizes batch(sources[0].batch_size().begin(), sources[0].batch_size().end());
  if (kind == Join::cat) known_size(batch, static_cast<std::size_t>(dim));
  if (kind == Join::stack) {
    batch.insert(batch.begin() + dim, static_cast<std::int64_t>(sources.size()));
  } else {
    for (const TensorDict& source : sources.slice(1)) {
      if (source.batch_size().size() == batch.size()) {
        batch[static_cast<std::size_t>(dim)] +=
            known_size(source.batch_size(), static_cast<std::size_t>(dim));
      }
    }
  }
  if (target.batch_size() != SizesView(batch)) {
    fail(Code::shape, name_of(kind), " has batch size ", show_sizes(batch),
         " and is to be written into batch size ", show_sizes(target.batch_size()));
  }
  if (has_lazy(target.node())) {
    // Each element of a lazy stack takes its part of the whole.
    TensorDict whole = target;
    whole.set_at(IndexItem::ellipsis(),
                 kind == Join::stack ? td::stack(sources, dim) : td::cat(sources, dim));
    return;
  }
  InPlace into(target.node());
  std::vector<NodePtr> roots{into.node()};
  for (const TensorDict& source : sources) {
    if (source.batch_size().size() != sources[0].batch_size().size()) {
      fail(Code::shape, name_of(kind), " needs batch sizes that agree: found ",
           show_sizes(sources[0].batch_size()), " and ", show_sizes(source.batch_size()));
    }
    roots.push_back(all_dense(source.node()));
  }
  WalkRules policy;
  policy.missing = WalkRules::Missing::fill;
  policy.what = name_of(kind);
  IntoTensors write(kind, dim, strict);
  visit_zip(
      roots, Take::elements, [&](const Here& here, Tensors tensors) { write.plan(here, tensors); },
      policy);
  write.run();
  into.commit();
}

namespace {

at::Tensor join_all(Join kind, Path path, const std::vector<at::Tensor>& tensors,
                    std::int64_t dim) {
  if (tensors.empty()) fail(Code::invalid_argument, name_of(kind), " needs at least one tensor");
  const auto dims = tensors[0].dim() + (kind == Join::stack ? 1 : 0);
  if (dim < -dims || dim >= dims) {
    fail(Code::index, name_of(kind), ": dimension ", dim, " is out of range for shape ",
         show_sizes(tensors[0].sizes()));
  }
  if (dim < 0) dim += dims;
  std::vector<const at::Tensor*> sources;
  for (const at::Tensor& tensor : tensors) sources.push_back(&tensor);
  const Sizes sizes = joined_sizes(kind, path, sources, dim);
  return join_tensors(kind, sources, dim, sizes, fast::can_skip_dispatcher());
}

}  // namespace

void join_entries(const TensorDict& td, Join kind, c10::ArrayRef<Path> entries, Path result,
                  std::int64_t dim, bool keep) {
  std::vector<at::Tensor> tensors;
  std::vector<TensorDict> dicts;
  for (const Path path : entries) {
    const Value value = find_entry(td.node(), path);
    if (value.is_node()) {
      dicts.emplace_back(value.node());
    } else {
      tensors.push_back(value.tensor());
    }
  }
  if (!dicts.empty() && !tensors.empty()) {
    fail(Code::wrong_entry, name_of(kind), " for ", show_path(result),
         " was given tensors and other entries");
  }
  if (td.is_locked())
    fail(Code::locked, "the dictionary is locked: entries cannot be joined in it");
  const Value joined = dicts.empty()         ? Value(join_all(kind, result, tensors, dim))
                       : kind == Join::stack ? Value(td::stack(dicts, dim).node())
                                             : Value(td::cat(dicts, dim).node());
  Changes changes;
  if (!keep) {
    for (const Path path : entries) plan_remove(changes, td.node(), path);
  }
  if (!is_part(*td.node())) {
    plan_set(changes, td.node(), result, joined);
    return changes.run();
  }
  const auto set = [&](TensorDict at) {
    joined.is_node() ? at.set(result, TensorDict(joined.node())) : at.set(result, joined.tensor());
  };
  // A sub-tensordict writes into entries of its parent. If the result takes the place of an entry that goes, or lies
  // below one, it is made in a copy of the parent's structure and put in by the step that removes the entries.
  const auto above = std::find_if(entries.begin(), entries.end(), [&](Path path) {
    return path.size() <= result.size() && result.slice(0, path.size()) == path;
  });
  if (!keep && above != entries.end()) {
    const TensorDict parent = parent_of(td);
    const TensorDict copy = parent.clone(/*recurse=*/false);
    Changes removed;
    for (const Path path : entries) plan_remove(removed, copy.node(), path);
    removed.run();
    set(same_part(td, copy));
    plan_set(changes, parent.node(), *above, find_entry(copy.node(), *above));
    return changes.run();
  }
  changes.prepare();
  set(td);
  changes.commit();
}

at::Tensor join_leaves(const TensorDict& td, Join kind, std::int64_t dim, bool sorted) {
  std::vector<std::pair<std::string, at::Tensor>> leaves;
  visit_paths(*all_dense(td.node()), [&](Path path, const Value& value) {
    if (value.is_node()) return;
    std::string name;
    for (const std::string_view one : path) (name += name.empty() ? "" : ".") += one;
    leaves.emplace_back(std::move(name), value.tensor());
  });
  if (sorted) {
    std::stable_sort(leaves.begin(), leaves.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
  }
  std::vector<at::Tensor> tensors;
  for (auto& [name, tensor] : leaves) tensors.push_back(std::move(tensor));
  return join_all(kind, {}, tensors, dim);
}

}  // namespace td
