// What it shows is what the library would show; where it is not sure, it leaves the whole to the library.
#include "light_nodes.h"

#include <algorithm>
#include <vector>

#include "light_meta.h"

namespace light {

namespace {

using Folder = std::shared_ptr<const Place>;

// The name of a file or a folder on the disk: one to one with the key, and never leaving the folder.
std::string escaped(const std::string &key) {
  if (key.empty()) return "%";
  if (key == ".") return "%2E";
  if (key == "..") return "%2E%2E";
  std::string name;
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 32 || byte == 127 || std::string("/<>:\"|?*\\ %").find(c) != std::string::npos) {
      constexpr char digits[] = "0123456789ABCDEF";
      name += {'%', digits[byte >> 4], digits[byte & 15]};
    } else {
      name += c;
    }
  }
  return name;
}

Folder inside(const Folder &folder, const std::string &key) {
  Folder found = folder->inside(escaped(key));
  if (found == nullptr) throw NotPlain();
  return found;
}

struct Work {     // something that becomes a line
  Folder folder;  // where its file or folder lies
  Field field;
  std::size_t parent = 0;
  Sizes batch_said;  // of the dictionary around it, as its meta.json says
  bool last = false;
};

class TreeReader {
 public:
  explicit TreeReader(Lines &to) : lines_(to) {}

  void run(const Folder &folder, Meta meta) {
    bytes_of(meta.batch, 1);
    lines_.root(meta.batch);
    content(0, folder, std::move(meta));
    while (!todo_.empty()) {
      const Work now = std::move(todo_.back());
      todo_.pop_back();
      line(now);
    }
  }

 private:
  void line(const Work &work) {
    const std::size_t line = lines_.add(work.parent, work.field.name, work.last);
    if (!work.field.is_node) {
      tensor(line, work);
      return;
    }
    const Folder folder = inside(work.folder, work.field.name);
    Meta meta = parse_meta(folder->meta());
    if (meta.is_value) {
      lines_.value(line, meta.data);
    } else {
      dictionary(line, work.parent, folder, std::move(meta));
    }
  }

  void tensor(std::size_t line, const Work &work) {
    const Field &field = work.field;
    const std::string prefix = "torch.";
    if (!field.has_shape || field.dtype.compare(0, prefix.size(), prefix) != 0) throw NotPlain();
    const Dtype dtype = dtype_named(field.dtype.substr(prefix.size()));
    Sizes sizes = field.shape;
    if (!begins_with(sizes, work.batch_said)) throw NotPlain();
    if (!work.batch_said.empty()) sizes[0] = lines_.sizes_of(work.parent)[0];
    const std::uint64_t bytes = bytes_of(sizes, dtype.bytes);
    if (bytes != 0 && !work.folder->holds(escaped(field.name) + ".memmap", bytes)) throw NotPlain();
    lines_.tensor(line, dtype, sizes);
  }

  // A file may hold more rows than the dictionary above says, which is right.
  void dictionary(std::size_t line, std::size_t parent, const Folder &folder, Meta meta) {
    bytes_of(meta.batch, 1);
    const Sizes above = lines_.sizes_of(parent);
    Sizes batch = meta.batch;
    if (!above.empty() && !batch.empty()) batch[0] = std::min(batch[0], above[0]);
    if (!begins_with(batch, above)) throw NotPlain();
    lines_.dictionary(line, batch);
    content(line, folder, std::move(meta));
  }

  void content(std::size_t line, const Folder &folder, Meta meta) {
    // The first releases listed no nested dictionaries.
    if (std::none_of(meta.fields.begin(), meta.fields.end(),
                     [](const Field &one) { return one.is_node || one.has_is_nested; }))
      throw NotPlain();
    bool last = true;
    for (auto field = meta.fields.rbegin(); field != meta.fields.rend(); ++field) {
      todo_.push_back({folder, std::move(*field), line, meta.batch, last});
      last = false;
    }
  }

  Lines &lines_;
  std::vector<Work> todo_;
};

// The folder of a dictionary at a key; null where the key may be a tensor or a value.
Folder find_dictionary(Folder folder, const key &wanted, Meta &meta) {
  for (std::size_t i = 0; i < wanted.length; ++i) {
    const std::string name = wanted.names[i];
    folder->meta();
    Folder next = folder->inside(escaped(name));
    // Older folders have keys as they are, and tensorclasses a folder of their own: the library looks there, too.
    if (next == nullptr && (name != escaped(name) || folder->inside("_tensordict") != nullptr))
      throw NotPlain();
    if (next == nullptr) return nullptr;
    folder = std::move(next);
  }
  meta = parse_meta(folder->meta());
  return meta.is_value ? nullptr : folder;
}

}  // namespace

void read_nodes(const Folder &root, const key &wanted, Lines &to) {
  Meta meta;
  if (const Folder folder = find_dictionary(root, wanted, meta)) {
    TreeReader(to).run(folder, std::move(meta));
    return;
  }
  if (wanted.length == 0) throw NotPlain();
  TreeReader(to).run(root, parse_meta(root->meta()));
  to.keep(wanted);
}

}  // namespace light
