#include "core/record/resize.h"

#include "core/io/file_io.h"
#include "core/record/publisher.h"

#include <fcntl.h>
#include <algorithm>
#include <cerrno>

namespace td::record {

namespace {

using files::Found;
using format::NodeType;

constexpr std::int64_t read_at_once = std::int64_t{1} << 16;  // bytes of flags

// Refuses rows that some file lacks.
void check_stored(const Layout& folder, std::int64_t rows) {
  for (const LayoutLeaf& leaf : folder.leaves()) {
    const std::uint64_t needed = static_cast<std::uint64_t>(rows) * leaf.row_bytes;
    const std::string path = folder.at(leaf.file);
    const files::Look look = needed == 0 ? files::Look() : folder.look(leaf.file);
    if (look.found == Found::link) fail(Code::io, "refused: \"", path, "\" is a symbolic link");
    if (look.bytes >= needed) continue;
    fail(Code::format, "\"", path, "\" is too short: ", needed, " bytes are needed for ", rows,
         " rows, ", look.bytes, " found");
  }
}

// After rows were removed, ignore files that cannot be cut: a longer file is still valid.
void cut(Publisher& publisher, const Layout& folder) {
  for (std::size_t i = 0; i < folder.leaves().size() && folder.rows() != 0; ++i) {
    if (folder.leaves()[i].row_bytes != 0) publisher.open(i);
  }
}

// Keeps the non-tensor values of the first rows.
void keep_values(Layout& folder, std::int64_t rows) {
  for (std::size_t i = 0; i < folder.nodes().size(); ++i) {
    const format::NodeText& text = folder.nodes()[i].text;
    if (text.type != NodeType::non_tensor_stack || rows == folder.rows()) continue;
    const Plain lists = read_json(text.data, "a list", max_json_depth + 1, Repeated::kept);
    folder.set_non_tensor(i, text.type,
                          json_text(head_of_list(lists, static_cast<std::size_t>(rows))));
  }
}

// The rows up to the last one whose bytes are all set.
std::int64_t last_set(const Layout& folder, const LayoutLeaf& leaf, std::int64_t rows) {
  if (rows == 0) return 0;
  const std::string path = folder.at(leaf.file);
  const files::Descriptor file =
      files::open_beneath(folder.folder(), leaf.file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (!file.is_open()) files::fail_io("cannot open", path, errno);
  const auto at_once =
      std::max<std::int64_t>(read_at_once / static_cast<std::int64_t>(leaf.row_bytes), 1);
  std::string flags;
  for (std::int64_t end = rows; end > 0;) {
    const std::int64_t first = std::max<std::int64_t>(end - at_once, 0);
    flags.resize(static_cast<std::size_t>(end - first) * leaf.row_bytes);
    files::read_all_at(file.get(), flags.data(), flags.size(),
                       static_cast<std::uint64_t>(first) * leaf.row_bytes, path);
    for (; end > first; --end) {
      const auto row = static_cast<std::size_t>(end - 1 - first) * leaf.row_bytes;
      if (std::string_view(flags).substr(row, leaf.row_bytes).find('\0') == std::string_view::npos)
        return end;
    }
  }
  return 0;
}

}  // namespace

Length length_of(const Layout& folder) {
  Length result;
  result.rows = result.stored = folder.rows();
  if (folder.is_stack()) return result;
  result.stored = std::min(folder.whole_rows().value_or(folder.rows()), folder.kept_rows());
  for (const LayoutLeaf& leaf : folder.leaves()) {
    if (leaf.row_bytes == 0) continue;
    const files::Look look = folder.look(leaf.file);
    const std::uint64_t bytes = look.found == Found::file ? look.bytes : 0;
    const std::uint64_t needed = static_cast<std::uint64_t>(folder.rows()) * leaf.row_bytes;
    if (bytes > needed) result.spare += static_cast<std::int64_t>(bytes - needed);
  }
  return result;
}

void fail_kept(const Layout& folder, std::int64_t rows, std::int64_t all) {
  fail(Code::index, "cannot keep ", rows, " of the ", all, " rows of \"", folder.dir(), "\"");
}

void truncate(Layout& folder, files::FolderLock& lock, std::int64_t rows, const Options& options) {
  if (rows < 0 || rows > folder.kept_rows()) fail_kept(folder, rows, folder.kept_rows());
  check_stored(folder, rows);
  if (rows >= folder.rows() && rows != folder.stored_rows()) {
    Publisher publisher(folder, lock, options.durable, open_sums(folder, options.checksums));
    publisher.resume(rows);
    return publisher.trim();
  }
  std::unique_ptr<RowSums> sums;
  if (rows != folder.rows() && (options.checksums || RowSums::present(folder))) {
    sums = std::make_unique<RowSums>(folder, rows, /*check=*/false);
  }
  Publisher publisher(folder, lock, options.durable, std::move(sums));
  keep_values(folder, rows);
  const bool fewer = rows != folder.rows();
  if (!fewer) publisher.forget();  // before the rows beyond the end are cut
  publisher.publish(rows);
  publisher.forget();
  if (fewer) {
    publisher.trim();
  } else {
    cut(publisher, folder);
  }
}

void keep_episodes(Layout& folder, files::FolderLock& lock, Path path, const Options& options) {
  const LayoutLeaf& leaf = folder.leaves()[folder.find(path)];
  if (leaf.dtype != DType::boolean) {
    fail(Code::dtype, show_path(path), " in \"", folder.dir(), "\" is ",
         find_dtype(leaf.dtype)->torch, "; an end of an episode must be torch.bool");
  }
  if (leaf.row_bytes == 0) {
    fail(Code::shape, show_path(path), " in \"", folder.dir(),
         "\" has no element in a row and tells no end of an episode");
  }
  check_stored(folder, folder.kept_rows());
  const std::int64_t rows = last_set(folder, leaf, folder.kept_rows());
  if (rows != folder.kept_rows()) truncate(folder, lock, rows, options);
}

}  // namespace td::record
