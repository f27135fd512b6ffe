// Reads folders in the format of Python's tensordict into the tree that the library would build. If in doubt,
// leaves the whole folder to the library.
#include <algorithm>
#include <vector>

#include "core/formats/format.h"
#include "disk_places.h"

namespace disk {

namespace {

using td::format::escape;
using td::format::NodeText;
using td::format::NodeType;
using Field = td::format::Entry;
using Folder = std::shared_ptr<const Place>;

constexpr td::format::Limits limits{100, 100000};

// Accepts dictionaries and values; other kinds, and names of dimensions, are left to the library.
NodeText meta_of(const Folder &folder) {
  NodeText meta = td::format::read_node(folder->meta(), "", limits);
  const bool value = meta.type == NodeType::non_tensor && !meta.data.empty();
  if (!value && (meta.type != NodeType::dense || !meta.names.empty())) throw NotPlain();
  return meta;
}

Folder inside(const Folder &folder, const std::string &key) {
  Folder found = folder->inside(escape(key));
  if (found == nullptr) throw NotPlain();
  return found;
}

struct Work {     // a node to build
  Folder folder;  // location of its file or folder
  Field field;
  Node *parent;
  Sizes batch_said;  // of its parent, from the meta.json
  std::size_t level;
};

class TreeReader {
 public:
  explicit TreeReader(const Folder &folder, NodeText meta) : tree_(meta.batch) {
    content(tree_.root(), folder, std::move(meta), 1);
    while (!todo_.empty()) {
      const Work now = std::move(todo_.back());
      todo_.pop_back();
      entry(now);
    }
  }
  std::shared_ptr<const Node> take() { return tree_.take(); }

 private:
  void entry(const Work &work) {
    if (work.level > max_levels) throw NotPlain();
    Node &made = tree_.add(*work.parent, work.field.key);
    if (!work.field.is_node) return tensor(made, work);
    const Folder folder = inside(work.folder, work.field.key);
    NodeText meta = meta_of(folder);
    if (meta.type == NodeType::dense) return dictionary(made, work, folder, std::move(meta));
    made.kind = TD_ENTRY_NON_TENSOR;
    made.json = std::move(meta.data);
  }

  void tensor(Node &made, const Work &work) {
    const Field &field = work.field;
    if (!field.has_shape || field.nested_tensor) throw NotPlain();
    const td::DType dtype = td::format::parse_dtype(field.dtype, "");
    Sizes sizes = field.shape;
    if (!begins_with(sizes, work.batch_said)) throw NotPlain();
    if (!work.batch_said.empty()) sizes[0] = work.parent->sizes[0];
    const std::uint64_t bytes = bytes_of(sizes, item_of(dtype));
    const std::string name = escape(field.key) + std::string(td::format::leaf_suffix);
    if (bytes != 0 && !work.folder->holds(name, bytes)) throw NotPlain();
    tree_.tensor(made, dtype, sizes,
                 [folder = work.folder, name, bytes] { return folder->bytes(name, bytes); });
  }

  // A file may hold more rows than its parent declares: the parent counts.
  void dictionary(Node &made, const Work &work, const Folder &folder, NodeText meta) {
    const Sizes &above = work.parent->sizes;
    Sizes batch = meta.batch;
    if (!above.empty() && !batch.empty()) batch[0] = std::min(batch[0], above[0]);
    tree_.dictionary(made, batch);
    content(made, folder, std::move(meta), work.level + 1);
  }

  void content(Node &made, const Folder &folder, NodeText meta, std::size_t level) {
    // The first releases did not list nested dictionaries.
    if (std::none_of(meta.entries.begin(), meta.entries.end(),
                     [](const Field &one) { return one.is_node || one.has_is_nested; }))
      throw NotPlain();
    // As the library loads them, and Python: tensors first.
    std::stable_partition(meta.entries.begin(), meta.entries.end(),
                          [](const Field &one) { return !one.is_node; });
    for (auto field = meta.entries.rbegin(); field != meta.entries.rend(); ++field)
      todo_.push_back({folder, std::move(*field), &made, meta.batch, level});
  }

  Tree tree_;
  std::vector<Work> todo_;
};

// The folder of the dictionary at a key; null if the key may be a tensor or a value.
Folder find_dictionary(Folder folder, const key &wanted, NodeText &meta) {
  for (std::size_t i = 0; i < wanted.length; ++i) {
    const std::string name = wanted.names[i];
    folder->meta();
    Folder next = folder->inside(escape(name));
    // Older folders use keys as names, and tensorclasses have separate folders: the library looks there, too.
    const bool elsewhere = name != escape(name) ||
                           folder->inside(std::string(td::format::tensorclass_folder)) != nullptr;
    if (next == nullptr && elsewhere) throw NotPlain();
    if (next == nullptr) return nullptr;
    folder = std::move(next);
  }
  meta = meta_of(folder);
  return meta.type == NodeType::dense ? folder : nullptr;
}

}  // namespace

std::shared_ptr<const Node> read_nodes(const Folder &root, const key &wanted, bool &found) {
  NodeText meta;
  const Folder folder = find_dictionary(root, wanted, meta);
  found = folder != nullptr;
  if (found) return TreeReader(folder, std::move(meta)).take();
  if (wanted.length == 0) throw NotPlain();
  meta = meta_of(root);
  if (meta.type != NodeType::dense) throw NotPlain();
  return TreeReader(root, std::move(meta)).take();
}

}  // namespace disk
