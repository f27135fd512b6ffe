#include "core/interop/flat_tree.h"

#include "core/formats/format.h"
#include "core/formats/json_text.h"
#include "core/formats/json_tree.h"
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

using json::Tree;

constexpr int extras_version = 1;

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

// Whether the names say more than those of the dictionary above, which are taken over.
bool more_names(const Names& names, const Names& above, std::size_t above_dims) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] && (i >= above_dims || i >= above.size() || !above[i])) return true;
  }
  return false;
}

void append_path(std::string& text, const OwnedPath& path) {
  text += "\"path\":[";
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (i != 0) text += ',';
    append_quoted(text, path[i]);
  }
  text += ']';
}

// The members of what is described beside the tensors. Its form is ours: what deviates is damaged.
class ExtrasReader {
 public:
  explicit ExtrasReader(const std::string& where) : where_(where) {}

  const Tree& member(const Tree& of, const char* name, Tree::Kind kind) const {
    const Tree* found = of.find(name, kind);
    if (found == nullptr) fail_form();
    return *found;
  }
  const std::string& text(const Tree& of, const char* name) const {
    return member(of, name, Tree::text).characters;
  }
  OwnedPath path(const Tree& of) const {
    OwnedPath result;
    for (const Tree& name : member(of, "path", Tree::list).items) {
      if (name.kind != Tree::text) fail_form();
      result.push_back(name.characters);
    }
    return result;
  }
  Sizes sizes(const Tree& of) const {
    Sizes result;
    for (const Tree& size : member(of, "batch_size", Tree::list).items) {
      if (size.kind != Tree::integer || size.integral < 0) fail_form();
      result.push_back(size.integral);
    }
    return result;
  }
  Names names(const Tree& of) const {
    Names result;
    const Tree* list = of.find("names");
    if (list == nullptr) return result;
    for (const Tree& name : list->items) {
      if (name.kind != Tree::null && name.kind != Tree::text) fail_form();
      result.push_back(name.kind == Tree::null ? std::nullopt : std::optional(name.characters));
    }
    return result;
  }
  // The objects of a list, which may be missing.
  const std::vector<Tree>& list(const Tree& of, const char* name) const {
    static const std::vector<Tree> none;
    const Tree* found = of.find(name);
    if (found == nullptr) return none;
    if (found->kind != Tree::list) fail_form();
    return found->items;
  }
  [[noreturn]] void fail_form() const {
    fail(Code::format, where_, ": the description beside the tensors has an unexpected form");
  }

 private:
  const std::string& where_;
};

}  // namespace

std::vector<std::string_view> path_view(const OwnedPath& path) {
  return std::vector<std::string_view>(path.begin(), path.end());
}

OwnedPath split_name(std::string_view name, const FileOptions& options) {
  const std::string separator = separator_of(options);
  OwnedPath path;
  for (std::size_t at = 0;;) {
    const std::size_t end = separator.empty() ? std::string_view::npos : name.find(separator, at);
    path.emplace_back(name.substr(at, end == std::string_view::npos ? end : end - at));
    if (end == std::string_view::npos) return path;
    at = end + separator.size();
  }
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
  tree.extras.dicts.push_back(
      {{}, Sizes(root->batch().begin(), root->batch().end()), levels[0].names});
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
      const std::string* one = one_value(node);
      tree.extras.data.push_back(
          {own(path), one == nullptr ? non_tensor_json(node) : *one, one == nullptr});
      return;
    }
    Names names = names_of(node);
    if (entry_names(node).empty() || node.batch() != above.batch ||
        more_names(names, above.names, above.batch.size())) {
      tree.extras.dicts.push_back(
          {own(path), Sizes(node.batch().begin(), node.batch().end()), names});
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

std::string FlatExtras::text() const {
  std::string text = "{\"format\":" + std::to_string(extras_version);
  const auto begin = [&](std::size_t i, const char* name) {
    if (i == 0) text.append(",\"").append(name).append("\":[");
    text += i == 0 ? "{" : ",{";
  };
  for (std::size_t i = 0; i < dicts.size(); ++i) {
    begin(i, "dicts");
    append_path(text, dicts[i].path);
    text += ",\"batch_size\":";
    append_sizes(text, dicts[i].batch);
    const Names& names = dicts[i].names;
    if (std::any_of(names.begin(), names.end(), [](const auto& name) { return !!name; })) {
      for (std::size_t k = 0; k < names.size(); ++k) {
        text += k == 0 ? ",\"names\":[" : ",";
        text += names[k] ? quote(*names[k]) : "null";
      }
      text += ']';
    }
    text += i + 1 == dicts.size() ? "}]" : "}";
  }
  for (std::size_t i = 0; i < data.size(); ++i) {
    begin(i, "values");
    append_path(text, data[i].path);
    text += ",\"json\":" + quote(data[i].json) + ",\"each\":" + (data[i].each ? "true" : "false");
    text += i + 1 == data.size() ? "}]" : "}";
  }
  for (std::size_t i = 0; i < exact.size(); ++i) {
    begin(i, "paths");
    text += "\"name\":" + quote(exact[i].name) + ',';
    append_path(text, exact[i].path);
    text += i + 1 == exact.size() ? "}]" : "}";
  }
  return text + '}';
}

FlatExtras FlatExtras::parse(const std::string& text, const std::string& where) {
  FlatExtras result;
  // Nothing here is nested deeper than this.
  const Tree tree = json::read_tree(text, where, 8);
  const ExtrasReader read(where);
  if (read.member(tree, "format", Tree::integer).integral != extras_version) {
    fail(Code::unsupported, where, ": the description beside the tensors is of a later version");
  }
  for (const Tree& entry : read.list(tree, "dicts")) {
    Dict dict{read.path(entry), read.sizes(entry), read.names(entry)};
    if (dict.path.empty() != result.dicts.empty()) {
      fail(Code::format, where, ": the batch sizes beside the tensors do not match them");
    }
    result.dicts.push_back(std::move(dict));
  }
  for (const Tree& entry : read.list(tree, "values")) {
    const bool each = read.member(entry, "each", Tree::boolean).truth;
    result.data.push_back({read.path(entry), read.text(entry, "json"), each});
  }
  for (const Tree& entry : read.list(tree, "paths")) {
    result.exact.push_back({read.text(entry, "name"), read.path(entry)});
  }
  return result;
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
    TensorDict root(told ? extras->dicts[0].batch : batch_of(leaves));
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
        value.each ? set_values(root, path, value.json) : set_value(root, path, value.json);
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
    // Dictionaries that a path makes on its way count, too: joined names are shorter than what they make.
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
