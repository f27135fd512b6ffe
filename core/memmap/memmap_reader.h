// core/memmap/memmap_reader.h: reads one folder of a dictionary: its meta.json and the files and folders of
// its entries. Nothing is trusted: names, sizes, nesting and links are checked.
#pragma once

#include "core/formats/format.h"
#include "core/formats/row_count.h"
#include "core/memmap/memmap.h"
#include "core/memmap/memmap_source.h"
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
  std::string dir;
  std::string where;  // file and entry, for messages
  format::NodeText text;
  std::string tensorclass = {};  // name of the type, for a tensorclass
  std::vector<std::string> empty_fields = {};
  std::vector<format::Field> fields = {};  // stored outside of that dictionary
  std::string outer = {};                  // the folder around a tensorclass
  Counting counting = {};
};

class MemmapReader {
 public:
  MemmapReader(const MemmapSource& source, const LoadOptions& options)
      : source_(source), options_(options) {}

  // `key` is empty for the root.
  Opened open(std::string dir, const std::string& key, const Counting& above = {});

  // Opens a nested node by its path from the root.
  Opened open_nested(const std::vector<std::string>& path);

  // Whether any node read so far has counted rows.
  bool counted() const noexcept { return counted_; }

  // Opens an entry that is a node, or an element of a stack.
  Opened open_entry(const Opened& at, const std::string& key);
  Opened open_element(const Opened& at, std::size_t number);

  bool has_meta(const std::string& dir) const;
  std::vector<std::string> folders_in(const std::string& dir) const;

  // The number of folders 0, 1, 2 …; Code::format if one is missing.
  std::size_t numbered(const Opened& at) const;

  // The values of a leaf, mapped or moved; on the meta device only the shape. `rows`: its first size, since
  // the file may hold more rows.
  at::Tensor leaf(const Opened& at, const format::Entry& entry, std::int64_t rows,
                  const std::optional<c10::Device>& device) const;

  // A nested tensor, from two files. `rows` as above, if there is a batch size.
  NestedTensorPtr nested_tensor(const Opened& at, const format::Entry& entry, std::int64_t rows,
                                const std::optional<c10::Device>& device) const;

  // Opens the source of a sub-tensordict.
  Opened open_source(const Opened& at);

  void count_entry(const Opened& at);
  std::size_t entries_left() const noexcept { return options_.max_entries - entries_; }
  const MemmapSource& source() const noexcept { return source_; }
  const LoadOptions& options() const noexcept { return options_; }

 private:
  std::string descend(const std::vector<std::string>& path) const;
  Counting counting_above(const std::string& dir);
  void count(Opened& opened, const std::string& text, const std::string& dir);
  std::optional<Opened> try_open(std::string dir, const std::string& key, const Counting& above);
  Opened open_record(const std::string& dir, const std::string& key, const Counting& above);
  void require_values(const Opened& opened) const;
  template <class Accept>
  bool locate(const std::string& dir, const std::string& where, const std::string& key,
              std::string_view suffix, Accept&& accept) const;
  at::Tensor values(const Opened& at, const std::string& key, SizesView sizes,
                    c10::ScalarType dtype, std::string_view suffix = format::leaf_suffix) const;
  void require_file(const Opened& at, const std::string& key, std::uint64_t bytes) const;
  [[noreturn]] void fail_missing(const Opened& at, const std::string& key) const;

  const MemmapSource& source_;
  const LoadOptions& options_;
  std::size_t entries_ = 0;
  bool counted_ = false;
};

}  // namespace td
