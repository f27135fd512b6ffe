// Reads folders into the lines of a tree. What it shows is what the library would show; where it is not sure, it leaves
// the folder to the library.
#include "light.h"

#include "light_meta.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace light {

namespace {

constexpr off_t max_bytes = off_t{1} << 24;  // of a meta.json
constexpr std::size_t max_lines = 200000, max_levels = 200;
constexpr std::uint64_t max_size = std::uint64_t{1} << 62;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {
    if (number_ < 0) throw NotPlain();
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() { ::close(number_); }
  int get() const noexcept { return number_; }

 private:
  int number_;
};

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

// A folder with counted rows has others than its meta.json says.
std::string read_meta(int folder) {
  struct stat counted {};
  if (::fstatat(folder, ".%rows", &counted, AT_SYMLINK_NOFOLLOW) == 0) throw NotPlain();
  const Descriptor file(
      ::openat(folder, "meta.json", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > max_bytes)
    throw NotPlain();
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t at = 0;
  while (at < text.size()) {
    const ssize_t count = ::read(file.get(), &text[at], text.size() - at);
    if (count <= 0) throw NotPlain();
    at += static_cast<std::size_t>(count);
  }
  // Words for numbers that JSON lacks.
  if (text.find("NaN") != std::string::npos || text.find("Infinity") != std::string::npos)
    throw NotPlain();
  return text;
}

struct Work {                                // something that becomes a line
  std::shared_ptr<const Descriptor> folder;  // where its file or folder lies
  Field field;
  std::size_t parent = 0;
  std::vector<std::int64_t> batch_said;  // of the dictionary around it, as its meta.json says
  bool last = false;
};

class TreeReader {
 public:
  explicit TreeReader(tree *of) : tree_(of) {}

  void run(const std::string &path, const key *wanted) {
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    auto folder = std::make_shared<const Descriptor>(::open(path.c_str(), flags));
    for (std::size_t i = 0; wanted != nullptr && i < wanted->length; ++i) {
      read_meta(folder->get());
      const std::string name = escaped(wanted->names[i]);
      folder = std::make_shared<const Descriptor>(
          ::openat(folder->get(), name.c_str(), flags | O_NOFOLLOW));
    }
    dictionary(new_line({}), folder, parse_meta(read_meta(folder->get())));
    while (!todo_.empty()) {
      const Work now = std::move(todo_.back());
      todo_.pop_back();
      line(now);
    }
  }

 private:
  entry &at(std::size_t position) { return tree_->entries[position]; }

  std::size_t new_line(const Work &from) {
    if (tree_->length == max_lines) throw NotPlain();
    if (tree_->length == capacity_) {
      capacity_ = capacity_ != 0 ? 2 * capacity_ : 64;
      tree_->entries = static_cast<entry *>(xrealloc(tree_->entries, capacity_ * sizeof(entry)));
    }
    const std::size_t position = tree_->length++;
    entry line{};
    line.last = position == 0 || from.last;
    line.parent = from.parent;
    line.kind = TD_ENTRY_DICT;
    tree_->entries[position] = line;
    if (position == 0) return position;
    at(position).name = xstrdup(from.field.name.c_str());
    at(position).depth = at(from.parent).depth + 1;
    at(position).dims_before = at(from.parent).dims;
    if (at(position).depth > max_levels) throw NotPlain();
    return position;
  }

  void set_sizes(std::size_t position, const std::vector<std::int64_t> &sizes) {
    entry &line = at(position);
    line.dims = sizes.size();
    line.sizes = static_cast<std::int64_t *>(xcalloc(sizes.size(), sizeof *line.sizes));
    std::copy(sizes.begin(), sizes.end(), line.sizes);
  }

  static std::uint64_t bytes_of(const std::vector<std::int64_t> &sizes, std::uint64_t item) {
    std::uint64_t bytes = item;
    for (const std::int64_t size : sizes) {
      const auto count = static_cast<std::uint64_t>(size);
      if (count > max_size / std::max<std::uint64_t>(bytes, 1)) throw NotPlain();
      bytes *= count;
    }
    return bytes;
  }

  void line(const Work &work) {
    const std::size_t position = new_line(work);
    if (!work.field.is_node) {
      tensor(position, work);
      return;
    }
    const std::string name = escaped(work.field.name);
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
    auto folder =
        std::make_shared<const Descriptor>(::openat(work.folder->get(), name.c_str(), flags));
    Meta meta = parse_meta(read_meta(folder->get()));
    if (meta.is_value) {
      at(position).kind = TD_ENTRY_NON_TENSOR;
      at(position).value = xstrdup(meta.data.c_str());
    } else {
      dictionary(position, folder, std::move(meta));
    }
  }

  void tensor(std::size_t position, const Work &work) {
    const Field &field = work.field;
    const std::string prefix = "torch.";
    if (!field.has_shape || field.dtype.compare(0, prefix.size(), prefix) != 0) throw NotPlain();
    std::uint64_t item = 0;
    const td_dtype dtype = dtype_called(field.dtype.c_str() + prefix.size(), &item);
    // Whether these can be read depends on the libtorch.
    if (dtype == TD_DTYPE_OTHER || dtype >= TD_DTYPE_UINT16) throw NotPlain();
    std::vector<std::int64_t> sizes = field.shape;
    if (!begins_with(sizes, work.batch_said)) throw NotPlain();
    if (!work.batch_said.empty()) sizes[0] = at(work.parent).sizes[0];
    const std::uint64_t bytes = bytes_of(sizes, item);
    if (bytes != 0) {
      struct stat info {};
      const std::string name = escaped(field.name) + ".memmap";
      if (::fstatat(work.folder->get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 ||
          !S_ISREG(info.st_mode) || static_cast<std::uint64_t>(info.st_size) < bytes)
        throw NotPlain();
    }
    at(position).kind = TD_ENTRY_TENSOR;
    at(position).dtype = dtype;
    at(position).bytes = bytes;
    set_sizes(position, sizes);
  }

  static bool begins_with(const std::vector<std::int64_t> &sizes,
                          const std::vector<std::int64_t> &first) {
    return sizes.size() >= first.size() && std::equal(first.begin(), first.end(), sizes.begin());
  }

  // A file may hold more rows than the dictionary above says, which is right.
  void dictionary(std::size_t position, const std::shared_ptr<const Descriptor> &folder,
                  Meta meta) {
    if (meta.is_value) throw NotPlain();
    bytes_of(meta.batch, 1);
    std::vector<std::int64_t> batch = meta.batch;
    at(position).dict_kind = TD_DICT_DENSE;
    if (position != 0) {
      const entry &above = at(at(position).parent);
      if (above.dims != 0 && !batch.empty()) batch[0] = std::min(batch[0], above.sizes[0]);
      if (!begins_with(batch, {above.sizes, above.sizes + above.dims})) throw NotPlain();
    }
    set_sizes(position, batch);
    at(position).same_batch = position != 0 && same_sizes(&at(position), &at(at(position).parent));
    // The first releases listed no nested dictionaries.
    if (std::none_of(meta.fields.begin(), meta.fields.end(),
                     [](const Field &one) { return one.is_node || one.has_is_nested; }))
      throw NotPlain();
    bool last = true;
    for (auto field = meta.fields.rbegin(); field != meta.fields.rend(); ++field) {
      todo_.push_back({folder, std::move(*field), position, meta.batch, last});
      last = false;
    }
  }

  tree *tree_;
  std::size_t capacity_ = 0;
  std::vector<Work> todo_;
};

}  // namespace

}  // namespace light

extern "C" bool read_folder(const char *path, const char *typed, tree *of) {
  *of = {};
  key wanted{};
  if (typed != nullptr && *typed != '\0') wanted = key_parse(typed);
  bool done = true;
  try {
    light::TreeReader(of).run(path, &wanted);
    tree_sum(of);
  } catch (const std::exception &) {
    tree_free(of);
    done = false;
  }
  key_free(&wanted);
  return done;
}
