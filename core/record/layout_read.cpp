// Reads the layout of a folder from its meta.json files.
#include "core/formats/stack_text.h"
#include "core/record/layout.h"

#include <cerrno>

namespace td::record {

namespace {

using files::Found;
using format::NodeType;

constexpr std::size_t max_nodes = 1000000;

Path path_of(const std::vector<std::string>& names, std::vector<std::string_view>& buffer) {
  buffer.assign(names.begin(), names.end());
  return buffer;
}

std::string show(const std::vector<std::string>& names) {
  std::vector<std::string_view> buffer;
  return names.empty() ? "the dictionary" : show_path(path_of(names, buffer));
}

}  // namespace

// Reads the nodes one by one and queues their children.
class Layout::Reader {
 public:
  explicit Reader(Layout& folder) : folder_(folder) {}

  void run() {
    begin({}, {});
    for (std::size_t i = 0; i < folder_.nodes_.size() && !folder_.stack_; ++i) enter(i);
    if (folder_.rows_ < 0) {
      fail(Code::shape, "\"", folder_.dir_, "\" has no rows: a batch dimension is needed");
    }
    Hasher stamp;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      if (folder_.goes_with_count(i)) stamp.add(texts_[i].data(), texts_[i].size());
    }
    folder_.counter_meta_ = stamp.digest();
    folder_.stored_rows_ = folder_.kept_rows_ = folder_.rows_;
    folder_.read_count();
  }

 private:
  std::size_t begin(std::string folder, std::vector<std::string> path) {
    if (folder_.nodes_.size() == max_nodes) {
      fail(Code::format, "\"", folder_.dir_, "\" holds more than ", max_nodes, " dictionaries");
    }
    const std::string dir = folder_.at(folder);
    const files::Descriptor open = open_folder(folder, dir);
    const std::string name(format::meta_file);
    const std::string meta = files::join(dir, name);
    if (folder.empty() && files::look_beneath(open.get(), name, meta).found == Found::nothing) {
      fail(Code::io, "no dictionary in \"", dir, "\": it has no meta.json");
    }
    const std::string inner = files::join(std::string(format::tensorclass_folder), name);
    const bool tensorclass = files::look_beneath(open.get(), inner, meta).found == Found::file;
    LayoutNode node;
    const std::string text = files::read_beneath(open.get(), name, format::max_meta_bytes, meta);
    if (std::optional<format::StackText> stack = format::find_stack(text)) {
      node.text = std::move(stack->node);
      node.listed = stack->count;
    } else {
      node.text =
          format::read_node(text, "\"" + meta + "\"", {max_json_depth + 1, max_nodes, tensorclass});
      if (node.by_row()) node.listed = format::count_list(node.text.data);
    }
    // The root dictionary, or the one directly inside a root tensorclass.
    const std::size_t at = folder_.nodes_.size();
    const bool outermost =
        at == 0 || (at == 1 && folder_.nodes_[0].text.type == NodeType::tensorclass);
    if (outermost && node.text.type == NodeType::dense) folder_.counter_ = at;
    texts_.push_back(node.grows() ? text : std::string());
    node.folder = std::move(folder);
    node.path = std::move(path);
    folder_.nodes_.push_back(std::move(node));
    return folder_.nodes_.size() - 1;
  }

  files::Descriptor open_folder(const std::string& relative, const std::string& dir) const {
    files::Descriptor open = files::open_beneath(folder_.folder(), relative, files::folder_flags);
    if (open.is_open()) return open;
    if (errno == ELOOP) fail(Code::io, "refused: \"", dir, "\" is a symbolic link");
    if (errno == ENOENT || errno == ENOTDIR) {
      fail(Code::format, "no such folder: \"", dir, "\"");
    }
    files::fail_io("cannot open the folder", dir, errno);
  }

  void enter(std::size_t i) {
    switch (folder_.nodes_[i].text.type) {
      case NodeType::dense: enter_dense(i); break;
      case NodeType::tensorclass: {
        const LayoutNode& node = folder_.nodes_[i];
        add(i, "", begin(below(node.folder, format::tensorclass_folder), node.path));
        break;
      }
      case NodeType::lazy: enter_lazy(i); break;
      case NodeType::non_tensor:
      case NodeType::non_tensor_stack:
        if (i == 0) fail_entry(i, "holds a value, not a dictionary");
        if (folder_.nodes_[i].text.data.empty()) {
          fail_entry(i, "has values in files of their own, and cannot grow");
        }
        break;
      default: fail_entry(i, "is a sub-tensordict, and cannot grow");
    }
  }

  [[noreturn]] void fail_entry(std::size_t i, const char* why) const {
    fail(Code::unsupported, show(folder_.nodes_[i].path), " in \"", folder_.dir_, "\" ", why);
  }

  void add(std::size_t node, std::string key, std::size_t inner) {
    folder_.nodes_[node].entries.push_back({std::move(key), false, inner});
  }

  void enter_lazy(std::size_t i) {
    const bool by_rows = folder_.nodes_[i].text.stack_dim == 0;
    if (by_rows && i != 0) {
      fail_entry(i, "is a lazy stack along the rows, and cannot grow by rows");
    }
    std::int64_t n = 0;
    const std::string dir = folder_.at(folder_.nodes_[i].folder);
    const files::Descriptor open = open_folder(folder_.nodes_[i].folder, dir);
    for (const files::Item& item : files::list(open.get(), dir)) {
      n += item.found == Found::folder && format::is_number(item.name) ? 1 : 0;
    }
    if (n > static_cast<std::int64_t>(max_nodes)) {
      fail(Code::format, "\"", dir, "\" holds more than ", max_nodes, " folders");
    }
    if (by_rows) {
      folder_.stack_ = true;
      folder_.rows_ = n;
      return;
    }
    for (std::int64_t k = 0; k < n; ++k) {
      const std::string name = std::to_string(k);
      std::vector<std::string> path = folder_.nodes_[i].path;
      path.push_back(name);
      add(i, name, begin(below(folder_.nodes_[i].folder, name), std::move(path)));
    }
  }

  void check_rows(const std::string& what, ShapeView sizes, ShapeView batch) {
    if (sizes.empty() || (folder_.rows_ >= 0 && sizes[0] != folder_.rows_) ||
        sizes.size() < batch.size() || sizes.slice(0, batch.size()) != batch) {
      fail(Code::format, what, " in \"", folder_.dir_, "\" has shape ", show_sizes(sizes),
           ", which does not begin with the batch size above it");
    }
  }

  void enter_dense(std::size_t i) {
    const Shape batch = folder_.nodes_[i].text.batch;
    if (batch.empty() && folder_.rows_ < 0) {
      fail(Code::shape, show(folder_.nodes_[i].path), " in \"", folder_.dir_,
           "\" has no batch dimension to grow along");
    }
    check_rows(show(folder_.nodes_[i].path), batch, {});
    folder_.rows_ = batch[0];
    bool listed = false;
    const std::vector<format::Entry> entries = std::move(folder_.nodes_[i].text.entries);
    for (const format::Entry& entry : entries) {
      listed = listed || entry.is_node || entry.has_is_nested;
      std::vector<std::string> path = folder_.nodes_[i].path;
      path.push_back(entry.key);
      if (entry.is_node) {
        std::string folder = locate(folder_.nodes_[i].folder, entry.key, true);
        const std::size_t inner = begin(std::move(folder), std::move(path));
        LayoutNode& node = folder_.nodes_[inner];
        if (node.by_row()) node.text.batch = batch;
        add(i, entry.key, inner);
      } else {
        add_leaf(i, entry, std::move(path));
      }
    }
    if (!listed && !entries.empty()) {
      fail(Code::unsupported, "\"", folder_.dir_,
           "\" was written by one of the first releases: save it again before it grows");
    }
  }

  void add_leaf(std::size_t i, const format::Entry& entry, std::vector<std::string> path) {
    const std::string where = show(path) + " in \"" + folder_.dir_ + "\"";
    if (entry.nested_tensor)
      fail(Code::unsupported, where, " is a nested tensor and cannot grow by rows");
    if (entry.dtype.empty() || !entry.has_shape) {
      fail(Code::format, where, " has no dtype or no shape");
    }
    check_rows(show(path), entry.shape, folder_.nodes_[i].text.batch);
    LayoutLeaf leaf;
    leaf.dtype = format::parse_dtype(entry.dtype, where);
    leaf.row.assign(entry.shape.begin() + 1, entry.shape.end());
    const std::size_t item = find_dtype(leaf.dtype)->bytes;
    const auto bytes = checked_bytes(leaf.row, item);
    if (!bytes || !checked_bytes(entry.shape, item)) {
      fail(Code::format, where, " has shape ", show_sizes(entry.shape), ", which is too large");
    }
    leaf.row_bytes = static_cast<std::size_t>(*bytes);
    leaf.file = locate(folder_.nodes_[i].folder, entry.key, false);
    leaf.path = std::move(path);
    folder_.nodes_[i].entries.push_back({entry.key, true, folder_.leaves_.size()});
    folder_.leaves_.push_back(std::move(leaf));
  }

  // The escaped name, or the bare key if only that exists, as in older folders.
  std::string locate(const std::string& folder, const std::string& key, bool is_node) const {
    const std::string suffix(is_node ? std::string_view() : format::leaf_suffix);
    std::string path = below(folder, format::escape(key) + suffix);
    if (folder_.look(path).found != Found::nothing) return path;
    if (!format::safe_verbatim(key, is_node)) return path;
    std::string other = below(folder, key + suffix);
    return folder_.look(other).found != Found::nothing ? other : path;
  }

  Layout& folder_;
  std::vector<std::string> texts_;  // of the dictionaries
};

void Layout::read() { Reader(*this).run(); }

}  // namespace td::record
