// Reads files of safetensors: tensors by their names alone, by what this library wrote beside them first, or by the
// document of Python's tensordict.
#include <unordered_map>

#include "core/formats/flat_extras.h"
#include "core/formats/json_text.h"
#include "core/formats/safetensors_header.h"
#include "disk_places.h"

namespace disk {

namespace {

using td::Plain;
using Header = td::safetensors::Header;

constexpr std::size_t max_value_levels = 100;
constexpr std::string_view separator = ".";

void put_tensor(const Tree &tree, Node &made, const Header::Entry &entry, const File &file) {
  tree.tensor(made, entry.dtype, entry.sizes, values_of(Bytes(file, file->data()), entry.start));
}

void put_value(Node &made, const Plain &value) {
  if (td::is_deeper(value, max_value_levels)) throw NotPlain();
  made.kind = TD_ENTRY_NON_TENSOR;
  made.json = td::json_text(value);
}

std::shared_ptr<const Node> by_extras(const td::FlatExtras &extras, const Header &header,
                                      const File &file) {
  Tree tree(extras.dicts.empty() ? Sizes() : extras.dicts[0].batch);
  for (std::size_t i = 0; i < extras.dicts.size(); ++i) {
    if (!extras.dicts[i].names.empty()) throw NotPlain();
    if (i != 0) tree.dictionary(tree.put(extras.dicts[i].path), extras.dicts[i].batch);
  }
  std::unordered_map<std::string_view, const Path *> exact;
  for (const auto &one : extras.exact) exact[one.name] = &one.path;
  for (const auto &one : header.entries) {
    const auto found = exact.find(one.name);
    put_tensor(
        tree, tree.put(found == exact.end() ? td::split_name(one.name, separator) : *found->second),
        one, file);
  }
  for (const auto &one : extras.data) {
    Node &made = tree.put(one.path);
    // The library decides if the parent has more dimensions than the root.
    if (one.each || made.sizes != tree.root().sizes) throw NotPlain();
    put_value(made, one.value);
  }
  return tree.take();
}

// Names of dimensions, lazy stacks, tensorclasses and whatever is wrong are left to the library.
class ByDocument {
 public:
  ByDocument(const Header &header, const File &file) : file_(file) {
    for (const auto &entry : header.entries) entries_.emplace(entry.name, &entry);
  }

  std::shared_ptr<const Node> run(const Plain &document) {
    const Plain *version = document.find("version", Plain::integer);
    if (version == nullptr || version->integral() != 1) throw NotPlain();
    const Plain &root = member(document, "root", Plain::object);
    Tree tree(batch_of(root));
    level(tree, tree.root(), root, 0);
    if (!entries_.empty()) throw NotPlain();
    return tree.take();
  }

 private:
  static const Plain &member(const Plain &of, const char *name, Plain::Kind kind) {
    const Plain *found = of.find(name, kind);
    if (found == nullptr) throw NotPlain();
    return *found;
  }

  static Sizes batch_of(const Plain &level) {
    Sizes sizes;
    for (const Plain &size : member(level, "batch_size", Plain::list).items()) {
      if (!size.is(Plain::integer) || size.integral() < 0) throw NotPlain();
      sizes.push_back(size.integral());
    }
    return sizes;
  }

  void level(Tree &tree, Node &into, const Plain &text, std::size_t depth) {
    const Plain &keys = member(text, "keys", Plain::object);
    (void)member(text, "names", Plain::null);
    if (depth == max_levels || text.items().size() != 3) throw NotPlain();
    for (std::size_t i = 0; i < keys.items().size(); ++i)
      entry(tree, tree.add(into, std::string(keys.name(i))), keys.items()[i], depth);
  }

  void entry(Tree &tree, Node &made, const Plain &text, std::size_t depth) {
    if (!text.is(Plain::object) || text.items().size() != 1) throw NotPlain();
    if (const Plain *name = text.find("tensor", Plain::text)) {
      const auto found = entries_.find(name->characters());
      if (found == entries_.end()) throw NotPlain();
      put_tensor(tree, made, *found->second, file_);
      entries_.erase(found);
    } else if (const Plain *value = text.find("non_tensor")) {
      put_value(made, *value);
    } else {
      const Plain &inner = member(text, "td", Plain::object);
      tree.dictionary(made, batch_of(inner));
      level(tree, made, inner, depth + 1);
    }
  }

  const File &file_;
  std::unordered_map<std::string_view, const Header::Entry *> entries_;  // not yet read
};

}  // namespace

std::shared_ptr<const Node> read_safetensors(const File &file) {
  const auto header = Header::read({file->data(), file->bytes()}, "", max_nodes);
  const std::string *beside = nullptr;
  for (const auto &[name, text] : header.metadata) {
    if (name == td::safetensors::native_key) throw NotPlain();
    if (name == td::safetensors::extras_key) beside = &text;
  }
  if (beside == nullptr) return by_extras({}, header, file);
  const Plain document = td::read_json(*beside, "", 3 * max_levels);
  if (document.find("version") != nullptr) return ByDocument(header, file).run(document);
  return by_extras(td::FlatExtras::of(document, ""), header, file);
}

}  // namespace disk
