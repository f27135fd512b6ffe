#include "core/flat/flat_tree.h"

#include "core/base/quote.h"
#include "core/formats/format.h"
#include "core/formats/json_text.h"
#include "core/tree/lazy_ops.h"
#include "core/tree/names.h"
#include "core/tree/non_tensor.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/walk.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <unordered_set>

namespace td {

namespace {

std::string separator_of(const FileOptions& options) { return options.separator.value_or("."); }

OwnedPath own(Path path) { return OwnedPath(path.begin(), path.end()); }

std::string join(const OwnedPath& path, const std::string& separator) {
  std::string name;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i != 0) name += separator;
    name += path[i];
  }
  return name;
}

void require_values(const at::Tensor& tensor, Path path) {
  if (tensor.layout() != c10::kStrided || tensor.is_nested() || !tensor.has_storage()) {
    fail(Code::unsupported, show_path(path),
         " cannot be stored in this file: it is not a dense tensor");
  }
  if (tensor.is_meta()) {
    fail(Code::device, show_path(path), " cannot be stored: it is on meta and has no values");
  }
}

// Whether there are names besides those inherited from the parent.
bool more_names(const Names& names, const Names& above, std::size_t above_dims) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] && (i >= above_dims || i >= above.size() || !above[i])) return true;
  }
  return false;
}

}  // namespace

OwnedPath split_name(std::string_view name, const FileOptions& options) {
  return split_name(name, separator_of(options));
}

FlatTree flatten(const TensorDict& td, const FileOptions& options) {
  const std::string separator = separator_of(options);
  const NodePtr root = dense_with_all_keys(td.node());
  if (!is_dict(*root)) {
    fail(Code::wrong_entry, "a non-tensor value cannot be stored alone");
  }
  FlatTree tree;
  struct Level {
    SizesView batch;
    Names names;
  };
  std::vector<Level> levels{{root->batch(), names_of(*root)}};
  tree.extras.dicts.push_back({{}, root->batch().vec(), levels[0].names});
  std::unordered_set<std::string> seen;
  visit_paths(*root, [&](Path path, const Value& value) {
    levels.resize(path.size());
    const Level& above = levels.back();
    if (!value.is_node()) {
      require_values(value.tensor(), path);
      OwnedPath owned = own(path);
      if (separator.empty() && owned.size() > 1) {
        fail(Code::key_invalid, show_path(path), " is nested, and the options do not join names");
      }
      std::string name = join(owned, separator);
      if (!seen.insert(name).second) {
        fail(Code::key_exists, "two tensors are called ", quote(name), " when joined with ",
             quote(separator), ": choose another separator");
      }
      if (split_name(name, options) != owned) tree.extras.exact.push_back({name, owned});
      tree.leaves.push_back({std::move(name), std::move(owned), value.tensor()});
      return;
    }
    const Node& node = *value.node();
    if (!is_dict(node)) {
      const Plain* one = one_value(node);
      tree.extras.data.push_back(
          {own(path), one == nullptr ? non_tensor_lists(node) : *one, one == nullptr});
      return;
    }
    Names names = names_of(node);
    if (entry_names(node).empty() || node.batch() != above.batch ||
        more_names(names, above.names, above.batch.size())) {
      tree.extras.dicts.push_back({own(path), node.batch().vec(), names});
    }
    levels.push_back({node.batch(), std::move(names)});
  });
  return tree;
}

void require_tensors_only(const FlatTree& tree, const char* format) {
  if (tree.extras.data.empty()) return;
  fail(Code::unsupported, show_path(path_view(tree.extras.data[0].path)), " is not a tensor, and ",
       format, " holds only tensors");
}

std::size_t levels_there(const Node& root, Path path) {
  NodePtr at = retain(root);
  for (std::size_t i = 0; i < path.size(); ++i) {
    std::optional<Value> value = entry_of(at, path[i]);
    if (!value) return i;
    if (!value->is_node()) return i + 1;
    at = value->take_node();
  }
  return path.size();
}

namespace {

class Builder {
 public:
  Builder(const FileOptions& options, const std::string& where)
      : options_(options), where_(where) {}

  TensorDict build(const std::vector<FlatLeaf>& leaves, const FlatExtras* extras) {
    const bool told = extras != nullptr && !extras->dicts.empty() && options_.batch_dims == 0;
    const Sizes batch = told ? Sizes(extras->dicts[0].batch.begin(), extras->dicts[0].batch.end())
                             : batch_of(leaves);
    TensorDict root{SizesView(batch)};
    if (told) {
      for (std::size_t i = 1; i < extras->dicts.size(); ++i) {
        put(root, extras->dicts[i].path,
            [&](Path path) { root.set(path, TensorDict(extras->dicts[i].batch)); });
      }
    }
    for (const FlatLeaf& leaf : leaves) {
      put(root, leaf.path, [&](Path path) { root.set(path, leaf.tensor); });
    }
    if (extras == nullptr) return root;
    for (const FlatExtras::NonTensor& value : extras->data) {
      put(root, value.path, [&](Path path) {
        value.each ? set_values(root, path, value.value) : set_value(root, path, value.value);
      });
    }
    if (told) name_dims(root, *extras);
    return root;
  }

 private:
  Sizes batch_of(const std::vector<FlatLeaf>& leaves) const {
    const auto dims = static_cast<std::size_t>(std::max<std::int64_t>(options_.batch_dims, 0));
    Sizes batch;
    for (const FlatLeaf& leaf : leaves) {
      const SizesView sizes = leaf.tensor.sizes();
      if (sizes.size() < dims) {
        fail(Code::shape, where_, ": ", show_path(path_view(leaf.path)), " has shape ",
             show_sizes(sizes), ", too short for ", dims, " batch dimensions");
      }
      if (&leaf == leaves.data()) batch.append(sizes.begin(), sizes.begin() + dims);
    }
    if (leaves.empty() && dims != 0) {
      fail(Code::shape, where_, ": a file without tensors cannot have ", dims, " batch dimensions");
    }
    return batch;
  }

  template <class Set>
  void put(const TensorDict& root, const OwnedPath& owned, Set&& set) {
    const std::vector<std::string_view> path = path_view(owned);
    if (path.size() > options_.max_depth) {
      fail(Code::format, where_, ": nested deeper than ", options_.max_depth, " levels");
    }
    check_path(path);
    // Count dictionaries that a path creates, too: a short joined name may create many.
    entries_ += path.size() - levels_there(*root.node(), path);
    if (entries_ > options_.max_entries) {
      fail(Code::format, where_, ": more than ", options_.max_entries, " entries");
    }
    try {
      if (root.kind_of(path) == EntryKind::none) return set(path);
    } catch (const Error& error) {
      if (error.code() == Code::locked || error.code() == Code::out_of_memory) throw;
      fail(error.code(), where_, ": ", error.what());
    }
    fail(Code::key_exists, where_, ": ", show_path(path),
         " occurs twice, or is both a tensor and a dictionary: choose another separator");
  }

  void name_dims(const TensorDict& root, const FlatExtras& extras) const {
    for (const FlatExtras::Dict& dict : extras.dicts) {
      if (dict.names.empty()) continue;
      try {
        const std::vector<std::string_view> path = path_view(dict.path);
        set_names(path.empty() ? root : root.get_dict(path), dict.names);
      } catch (const Error& error) {
        fail(Code::format, where_, ": ", error.what());
      }
    }
  }

  const FileOptions& options_;
  const std::string& where_;
  std::size_t entries_ = 0;  // of all levels
};

}  // namespace

TensorDict build_tree(const std::vector<FlatLeaf>& leaves, const FlatExtras* extras,
                      const FileOptions& options, const std::string& where) {
  return Builder(options, where).build(leaves, extras);
}

}  // namespace td
