// core/memmap/memmap_reader.h: reads one folder of a dictionary: its meta.json and the files and folders of
// its entries. Nothing is trusted: names, sizes, nesting and links are checked.
#pragma once

#include "core/formats/format.h"
#include "core/formats/row_count.h"
#include "core/memmap/memmap.h"
#include "core/memmap/memmap_folder.h"
#include "core/tree/nested_tensor.h"

#include <string>
#include <vector>

namespace td {

// A node's inherited row count: unchecked, absent or present.
struct Counting {
  bool decided = false;
  std::optional<format::RowCount> count = std::nullopt;
};

// A node with its parsed meta.json, adjusted to the counted rows.
struct Opened {
  FolderPtr dir;
  std::string where;  // file and entry, for messages
  format::NodeText text;
  FolderPtr outer = nullptr;     // the folder around the dictionary of a tensorclass
  std::string tensorclass = {};  // name of the type, for a tensorclass
  std::vector<std::string> empty_fields = {};
  std::vector<format::Field> fields = {};  // stored outside of that dictionary
  Counting counting = {};

  const MemmapFolder& place() const noexcept { return outer ? *outer : *dir; }
};

class MemmapReader {
 public:
  explicit MemmapReader(const LoadOptions& options) : options_(options) {}

  // `key` is empty for the root. `outer` is the folder around the dictionary of a tensorclass.
  Opened open(FolderPtr dir, const std::string& key, const Counting& above = {},
              FolderPtr outer = nullptr);

  // Opens a nested node by its path from the root.
  Opened open_nested(const FolderPtr& root, const std::vector<std::string>& path);

  // Whether any node read so far has counted rows.
  bool counted() const noexcept { return counted_; }

  // Opens an entry that is a node, a folder of this name, and the source of a sub-tensordict.
  Opened open_entry(const Opened& at, const std::string& key);
  Opened open_folder(const Opened& at, const std::string& name);
  Opened open_source(const Opened& at);

  // The names of the folders with a meta.json.
  std::vector<std::string> nodes_in(const MemmapFolder& dir) const;

  // The number of folders 0, 1, 2 …; Code::format if one is missing.
  std::size_t numbered(const Opened& at) const;

  // The values of a leaf, mapped or moved; on the meta device only the shape. `rows`: its first size, since
  // the file may hold more rows.
  at::Tensor leaf(const Opened& at, const format::Entry& entry, std::int64_t rows,
                  const std::optional<c10::Device>& device) const;

  // A nested tensor, from two files. `rows` as above, if there is a batch size.
  NestedTensorPtr nested_tensor(const Opened& at, const format::Entry& entry, std::int64_t rows,
                                const std::optional<c10::Device>& device) const;

  void count_entry(const Opened& at);
  std::size_t entries_left() const noexcept { return options_.max_entries - entries_; }
  const LoadOptions& options() const noexcept { return options_; }

 private:
  static bool has_meta(const MemmapFolder& dir);
  FolderPtr find_nested(const MemmapFolder& dir, const std::string& key) const;
  Counting counting_above(const std::vector<FolderPtr>& folders);
  void count(Opened& opened, const std::string& text);
  Opened open_inside(const MemmapFolder& dir, const std::string& name, const Counting& above);
  std::optional<Opened> try_open(FolderPtr dir, const std::string& key, const Counting& above,
                                 FolderPtr outer);
  static void require_values(const Opened& opened);
  template <class Accept>
  bool locate(const std::string& where, const std::string& key, std::string_view suffix,
              Accept&& accept) const;
  at::Tensor values(const Opened& at, const std::string& key, SizesView sizes,
                    c10::ScalarType dtype, std::string_view suffix = format::leaf_suffix) const;
  void require_file(const Opened& at, const std::string& key, std::uint64_t bytes) const;
  [[noreturn]] void fail_missing(const Opened& at, const std::string& key) const;

  const LoadOptions& options_;
  std::size_t entries_ = 0;
  bool counted_ = false;
};

}  // namespace td
