#include "core/record/resize.h"

#include "core/io/file_io.h"
#include "core/record/publisher.h"

#include <algorithm>

namespace td::record {

namespace {

using files::Found;
using format::NodeType;

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

}  // namespace td::record
