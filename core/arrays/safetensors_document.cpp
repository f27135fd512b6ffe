#include "core/arrays/safetensors_document.h"

#include "core/formats/events.h"
#include "core/formats/format.h"
#include "core/formats/json_text.h"
#include "core/tensor/dtype.h"
#include "core/tensorclass/found_type.h"
#include "core/tree/names.h"
#include "core/tree/non_tensor.h"
#include "core/tree/non_tensor_values.h"
#include "core/tree/paths.h"

#include <unordered_map>
#include <unordered_set>

namespace td::safetensors {

namespace {

constexpr std::int64_t version = 1;
// Three levels of JSON each.
constexpr std::size_t most_levels = (max_json_depth - 10) / 3;

// Tells the levels one by one, without recursion.
class Writer {
 public:
  explicit Writer(const FileOptions& options) : separator_(options.separator.value_or(".")) {}

  Document run(const NodePtr& root) {
    to_.open(true);
    to_.name("version");
    to_.add(Plain::of_integer(version));
    to_.name("root");
    enter(root, "");
    while (!levels_.empty()) {
      Level& at = levels_.back();
      if (at.next == at.names.size()) {
        to_.close(true);
        to_.close(true);
        if (levels_.size() > 1) to_.close(true);  // of the entry
        levels_.pop_back();
      } else {
        const std::string name = at.names[at.next++];
        if (!entry(at.node, name, at.prefix + name)) {
          result_.too_deep = true;
          return result_;
        }
      }
    }
    to_.close(true);
    result_.text = to_.take();
    return std::move(result_);
  }

 private:
  struct Level {
    NodePtr node;
    std::string prefix;  // of the names of its tensors
    std::vector<std::string> names;
    std::size_t next = 0;
  };

  void enter(const NodePtr& node, std::string prefix) {
    to_.open(true);
    to_.name("batch_size");
    to_.open(false);
    for (const std::int64_t size : node->batch()) to_.add(Plain::of_integer(size));
    to_.close(false);
    to_.name("names");
    send(plain_names(names_of(*node)), to_);
    if (const std::optional<std::int64_t> dim = stack_dim_of(*node)) {
      to_.name("stack_dim");
      to_.add(Plain::of_integer(*dim));
      result_.has_kinds = true;
    }
    if (node->tensorclass()) {
      to_.name("class");
      to_.add(Plain::of_text(format::class_of_tensorclass(node->tensorclass()->name())));
      result_.has_kinds = true;
    }
    to_.name("keys");
    to_.open(true);
    levels_.push_back({node, std::move(prefix), entry_names(*node)});
  }

  // Tensors of a lazy stack are not read. False if the text would nest too deep.
  bool entry(const NodePtr& node, const std::string& name, const std::string& tensor_name) {
    to_.name(name);
    to_.open(true);
    const EntryKind kind = kind_below(node, name);
    if (kind == EntryKind::dict) {
      if (levels_.size() == most_levels) return false;
      to_.name("td");
      enter(entry_of(node, name)->take_node(), tensor_name + separator_);
      return true;
    }
    if (kind == EntryKind::non_tensor) {
      const NodePtr values = entry_of(node, name)->take_node();
      // Elements of a lazy stack that hold one value: Python reads it for each of them.
      const Plain* one = stack_dim_of(*node) ? common_value(*values) : one_value(*values);
      const Plain value = one == nullptr ? non_tensor_lists(*values) : *one;
      if (is_deeper(value, max_json_depth - 3 * levels_.size() - 3)) return false;
      to_.name("non_tensor");
      send(value, to_);
    } else {
      to_.name("tensor");
      to_.add(Plain::of_text(tensor_name));
    }
    to_.close(true);
    return true;
  }

  std::string separator_;
  JsonEvents to_{JsonStyle::python};
  std::vector<Level> levels_;
  Document result_;
};

class Builder {
 public:
  Builder(const Header& header, const FileBytes& file, const FileOptions& options)
      : file_(file), options_(options) {
    for (const Header::Entry& entry : header.entries) entries_.emplace(entry.name, &entry);
  }

  TensorDict run(const Plain& document, const FlatExtras* native) {
    if (!document.is(Plain::object)) fail_form("is not an object");
    const Plain* const found = document.find("version");
    if (found == nullptr || !found->is_number() || found->number() != version) {
      fail(Code::unsupported, file_.where(), ": the document \"", extras_key, "\" has the version ",
           found == nullptr ? "null" : json_text(*found), ", and ", version, " can be read");
    }
    TensorDict root(level(member(document, "root")));
    for (const auto& [name, entry] : entries_) {
      if (used_.count(name) == 0) fail_form("does not name the tensor " + quote(std::string(name)));
    }
    FlatExtras extras;
    extras.data = std::move(data_);
    // Other batch dimensions than those of the file: nothing but the tensors and the values is taken.
    if (options_.batch_dims != 0) root = build_tree(leaves_, &extras, options_, file_.where());
    if (native != nullptr) {
      for (const FlatExtras::NonTensor& data : native->data) {
        attempt([&] { set_values(root, path_view(data.path), data.value); });
      }
    }
    return root;
  }

 private:
  [[noreturn]] void fail_form(const std::string& what) const {
    fail(Code::format, file_.where(), ": the document \"", extras_key, "\" ", what);
  }

  const Plain& member(const Plain& of, const char* name) const {
    const Plain* found = of.find(name);
    if (found == nullptr) fail_form("has a level without " + quote(name));
    return *found;
  }

  template <class Do>
  void attempt(Do&& what) const {
    try {
      what();
    } catch (const Error& error) {
      if (error.code() == Code::out_of_memory) throw;
      fail(error.code(), file_.where(), ": ", error.what());
    }
  }

  NodePtr level(const Plain& text) {
    if (!text.is(Plain::object)) fail_form("has a level that is not an object");
    if (path_.size() > options_.max_depth)
      fail_form("nests deeper than " + std::to_string(options_.max_depth) + " levels");
    const Sizes batch = batch_of(member(text, "batch_size"));
    const Names names = names_in(member(text, "names"));
    const Plain& keys = member(text, "keys");
    if (!keys.is(Plain::object)) fail_form("has keys that are not an object");
    TensorDict made{SizesView(batch)};
    if (!names.empty()) attempt([&] { set_names(made, names); });
    for (std::size_t i = 0; i < keys.items().size(); ++i) {
      path_.emplace_back(keys.name(i));
      if (++entries_made_ > options_.max_entries)
        fail_form("has more than " + std::to_string(options_.max_entries) + " entries");
      entry(made, keys.items()[i]);
      path_.pop_back();
    }
    NodePtr node = made.node();
    if (const Plain* dim = text.find("stack_dim"); dim != nullptr && !dim->is(Plain::null))
      node = stacked_again(made, *dim, names);
    if (const Plain* name = text.find("class"); name != nullptr && !name->is(Plain::null)) {
      const std::string tensorclass = format::tensorclass_of_class(name->characters());
      if (tensorclass.empty()) fail_form("has a class " + json_text(*name));
      node->set_tensorclass(found_type(tensorclass, node, {}, nullptr, file_.where()));
    }
    return node;
  }

  void entry(const TensorDict& into, const Plain& text) {
    if (!text.is(Plain::object)) fail_form("has an entry that is not an object");
    const std::string name_here = path_.back();  // the path moves while nested levels are read
    const std::vector<std::string_view> key{name_here};
    TensorDict made = into;
    if (const Plain* name = text.find("tensor")) {
      const at::Tensor tensor = tensor_called(*name, text);
      leaves_.push_back({std::string(name->characters()), path_, tensor});
      attempt([&] { made.set(key, tensor); });
    } else if (const Plain* value = text.find("non_tensor")) {
      data_.push_back({path_, *value, false});
      attempt([&] { set_value(made, key, *value); });
    } else {
      const Plain* const inner = text.find("td");
      if (inner == nullptr) fail_form("has an entry that is nothing known");
      const TensorDict nested(level(*inner));
      attempt([&] { made.set(key, nested); });
    }
  }

  at::Tensor tensor_called(const Plain& name, const Plain& entry) {
    const auto found = entries_.find(name.characters());
    if (!name.is(Plain::text) || found == entries_.end())
      fail_form("names a tensor " + json_text(name) + ", which is not there");
    const Plain* const unbatched = entry.find("unbatched");
    if (unbatched != nullptr && unbatched->truth()) {
      fail(Code::unsupported, file_.where(), ": ", quote(path_.back()),
           " is an unbatched tensor, which can only be read in Python");
    }
    used_.insert(found->first);
    const Header::Entry& place = *found->second;
    return file_.tensor(place.start, place.sizes, {}, need_scalar_type(place.dtype, file_.where()),
                        false, place.name);
  }

  Sizes batch_of(const Plain& list) const {
    Sizes batch;
    bool sound = list.is(Plain::list) && list.items().size() <= max_dims;
    for (const Plain& size : list.items()) {
      sound = sound && size.is(Plain::integer) && size.integral() >= 0;
      batch.push_back(size.integral());
    }
    if (!sound || !checked_bytes(batch, 1)) fail_form("has a batch size " + json_text(list));
    return batch;
  }

  Names names_in(const Plain& list) const {
    Names names;
    if (list.is(Plain::null)) return names;
    bool sound = list.is(Plain::list) && list.items().size() <= max_dims;
    for (const Plain& name : list.items()) {
      sound = sound && (name.is(Plain::null) || name.is(Plain::text));
      names.push_back(name.is(Plain::text) ? std::optional<std::string>(name.characters())
                                           : std::nullopt);
    }
    if (!sound) fail_form("has names " + json_text(list));
    return names;
  }

  NodePtr stacked_again(const TensorDict& dense, const Plain& dim, const Names& names) const {
    const auto dims = static_cast<std::int64_t>(dense.batch_size().size());
    if (!dim.is(Plain::integer) || dim.integral() < 0 || dim.integral() >= dims)
      fail_form("has a stack_dim " + json_text(dim));
    std::vector<NodePtr> elements;
    for (const TensorDict& element : dense.unbind(dim.integral()))
      elements.push_back(element.node());
    NodePtr made;
    if (elements.empty()) {
      made = c10::make_intrusive<LazyNode>(std::move(elements), dim.integral(), dense.batch_size(),
                                           std::nullopt);
    } else {
      made = lazy_stack(std::move(elements), dim.integral());
    }
    if (!names.empty()) attempt([&] { set_names(TensorDict(made), names); });
    return made;
  }

  const FileBytes& file_;
  const FileOptions& options_;
  std::unordered_map<std::string_view, const Header::Entry*> entries_;
  std::unordered_set<std::string_view> used_;
  OwnedPath path_;
  std::vector<FlatLeaf> leaves_;
  std::vector<FlatExtras::NonTensor> data_;
  std::size_t entries_made_ = 0;
};

}  // namespace

Document document_of(const TensorDict& td, const FileOptions& options) {
  return Writer(options).run(picked_form(td.node()));
}

bool is_own(const Plain& document) {
  return document.find("format") != nullptr && document.find("version") == nullptr;
}

TensorDict of_document(const Plain& document, const FlatExtras* native, const Header& header,
                       const FileBytes& file, const FileOptions& options) {
  return Builder(header, file, options).run(document, native);
}

}  // namespace td::safetensors
