#include "core/record/publisher.h"

#include "core/io/mappings.h"
#include "core/io/new_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <set>

namespace td::record {

namespace {

using files::Descriptor;
using files::Found;

std::uint64_t bytes_of(const LayoutLeaf& leaf, std::int64_t rows) noexcept {
  return static_cast<std::uint64_t>(rows) * leaf.row_bytes;
}

}  // namespace

Publisher::Publisher(Layout& folder, files::FolderLock& lock, bool durable,
                     std::unique_ptr<RowSums> sums)
    : folder_(folder), lock_(lock), durable_(durable), sums_(std::move(sums)) {
  files::FolderReplacement::sweep(folder.dir(), lock);
  for (const LayoutNode& node : folder.nodes()) {
    if (!node.grows()) continue;
    const Descriptor open = files::open_beneath(folder.folder(), node.folder, files::folder_flags);
    if (open.is_open()) files::remove_left_files(open.get(), folder.at(node.folder));
  }
}

void Publisher::resume(std::int64_t rows) {
  if (rows != folder_.stored_rows()) {
    if (sums_) sums_->read(rows);
    for (std::size_t i = 0; durable_ && i < folder_.leaves().size(); ++i) {
      if (folder_.leaves()[i].row_bytes != 0) sync_file(open(i, rows).get(), path(i));
    }
    publish(rows);
  }
  forget();
}

void cut_file(int file, std::uint64_t bytes, const std::string& path) {
  struct stat info {};
  if (::fstat(file, &info) != 0) files::fail_io("cannot look at", path, errno);
  const auto lock = Mappings::get().lock();
  if (Mappings::get().reach_beyond(info, bytes)) return;
  while (::ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    if (errno != EINTR) files::fail_io("cannot cut", path, errno);
  }
}

void sync_file(int file, const std::string& path) {
  while (::fdatasync(file) != 0) {
    if (errno == EINVAL || errno == EROFS) return;
    if (errno != EINTR) files::fail_io("cannot write back", path, errno);
  }
}

Descriptor Publisher::open(std::size_t leaf, std::int64_t rows) {
  constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const std::string file = path(leaf);
  Descriptor result = files::open_beneath(folder_.folder(), folder_.leaves()[leaf].file, flags);
  if (!result.is_open()) {
    if (errno == ELOOP) fail(Code::io, "refused: \"", file, "\" is a symbolic link");
    files::fail_io("cannot open", file, errno);
  }
  struct stat info {};
  if (::fstat(result.get(), &info) != 0) files::fail_io("cannot look at", file, errno);
  if (!S_ISREG(info.st_mode)) fail(Code::io, "refused: \"", file, "\" is not a regular file");
  const auto size = static_cast<std::uint64_t>(info.st_size);
  const std::uint64_t needed = bytes_of(folder_.leaves()[leaf], std::max(rows, folder_.rows()));
  if (size < needed) {
    fail(Code::format, "\"", file, "\" is too short: ", needed, " bytes expected, ", size,
         " found");
  }
  if (size > needed) cut_file(result.get(), needed, file);
  return result;
}

void Publisher::trim() noexcept {
  for (std::size_t i = 0; i < folder_.leaves().size(); ++i) {
    const LayoutLeaf& leaf = folder_.leaves()[i];
    if (leaf.row_bytes == 0) continue;
    try {
      const files::Look look = folder_.look(leaf.file);
      if (look.found != Found::file || look.bytes <= bytes_of(leaf, folder_.rows())) continue;
      if (folder_.rows() != 0) {
        open(i);
        continue;
      }
      const Descriptor above = files::open_beneath(
          folder_.folder(), std::string(files::folder_part(leaf.file)), files::folder_flags);
      if (above.is_open()) ::unlinkat(above.get(), files::name_part(leaf.file), 0);
    } catch (...) {
      // The next writer cuts it.
    }
  }
}

void Publisher::make_folders(files::FolderReplacement& aside) const {
  for (const LayoutNode& node : folder_.nodes()) {
    if (!node.folder.empty()) aside.make_folder(node.folder);
  }
}

// Renames the files in one by one: while the folder has no rows, readers open none of them.
std::vector<Descriptor> Publisher::create(const std::vector<std::string_view>& first) {
  files::FolderReplacement aside(folder_.dir(), &lock_, /*exchange_wanted=*/false);
  make_folders(aside);
  std::vector<Descriptor> result(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i].empty()) continue;
    result[i] = aside.create(folder_.leaves()[i].file, files::Look());
    files::write_all_at(result[i].get(), first[i].data(), first[i].size(), 0, path(i));
  }
  aside.commit();
  return result;
}

bool Publisher::publish(std::int64_t rows) {
  if (rows == folder_.stored_rows()) {
    if (rows == folder_.rows()) return false;
    // With the file of counts, counted rows disappear for readers.
    const std::string name(format::count_file);
    if (::unlinkat(folder_.folder(), name.c_str(), 0) != 0 && errno != ENOENT) {
      files::fail_io("cannot remove", folder_.at(name), errno);
    }
    if (durable_) files::sync(folder_.folder(), folder_.dir());
    count_.reset();
    folder_.set_counted(folder_.next_count(rows));
    return false;
  }
  const format::RowCount next = folder_.next_base(rows);
  const bool by_name = rows != 0 && folder_.growing_nodes() == 1 && sums_ == nullptr;
  if (by_name) {
    std::size_t node = 0;
    while (!folder_.nodes()[node].grows()) ++node;
    publish_one(folder_.nodes()[node], node, next);
  } else {
    publish_all(next);
  }
  return !by_name;
}

bool Publisher::count(std::int64_t rows) {
  if (durable_ || sums_ != nullptr || !folder_.can_count() || !count_.is_open()) return false;
  lock_.require_name(folder_.dir());
  const format::RowCount next = folder_.next_count(rows);
  write_count(next);
  folder_.set_counted(next);
  return true;
}

void Publisher::write_count(const format::RowCount& count) const {
  const std::string text = format::count_text(count);
  files::write_all_at(count_.get(), text.data(), text.size(), format::count_offset(count),
                      folder_.at(std::string(format::count_file)));
}

// Failures are ignored: rows can be published without the file of counts.
void Publisher::remember() noexcept {
  // Values for each row are in a meta.json only, so that rows behind those are not complete.
  if (count_.is_open() || folder_.values_by_row() != nullptr) return;
  try {
    open_count(O_CREAT | O_EXCL);
    if (!count_.is_open()) return;
    const format::RowCount next = folder_.next_count(folder_.rows());
    write_count(next);
    folder_.set_counted(next);
  } catch (...) {
    forget();
  }
}

// Has the permissions of the meta.json. Another program's file of this name stays.
void Publisher::open_count(int flags) {
  const std::string name(format::count_file);
  const files::Look meta = folder_.look(std::string(format::meta_file));
  count_ = files::open_beneath(folder_.folder(), name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags,
                               meta.mode & 0777U);
  if (count_.is_open() && flags != 0) files::keep_manner(count_.get(), meta, folder_.at(name));
}

void Publisher::reopen_count() noexcept {
  try {
    open_count(0);
  } catch (...) {
    count_.reset();
  }
}

void Publisher::forget() noexcept {
  count_.reset();
  ::unlinkat(folder_.folder(), format::count_file.data(), 0);
}

// Writes into the folder that is held open. Throws afterwards if its name now leads to another folder.
void Publisher::publish_one(const LayoutNode& node, std::size_t at, const format::RowCount& next) {
  const std::string name(format::meta_file);
  const std::string path = files::join(folder_.at(node.folder), name);
  Descriptor inner;
  if (!node.folder.empty()) {
    inner = files::open_beneath(folder_.folder(), node.folder, files::folder_flags);
    if (!inner.is_open()) files::fail_io("cannot open the folder", folder_.at(node.folder), errno);
  }
  if (count_.is_open()) write_count(next);  // both counts are valid, each with its meta.json
  files::Replaced replaced = files::Replaced::no;
  try {
    files::replace_file(inner.is_open() ? inner.get() : folder_.folder(), name, path,
                        folder_.text(at, next.rows), durable_, replaced);
  } catch (...) {
    if (replaced == files::Replaced::yes) folder_.set_base(next);
    throw;
  }
  folder_.set_base(next);
  lock_.require_name(folder_.dir());
}

void Publisher::publish_all(const format::RowCount& next) {
  const std::string count_name(format::count_file);
  files::FolderReplacement aside(folder_.dir(), &lock_);
  const auto done = [&] {
    const bool remembered = count_.is_open();
    count_.reset();
    folder_.set_base(next);
    if (remembered) reopen_count();
  };
  try {
    make_folders(aside);
    keep_others(aside, next.rows);
    for (std::size_t i = 0; i < folder_.nodes().size(); ++i) {
      const LayoutNode& node = folder_.nodes()[i];
      if (!node.changes()) continue;
      aside.write(below(node.folder, format::meta_file), folder_.text(i, next.rows));
    }
    if (sums_) aside.write(checksums_name(folder_.folder()), sums_->text(next.rows));
    if (count_.is_open()) {
      const std::string hole(format::count_offset(next), '\0');
      aside.write(count_name, hole + format::count_text(next));
    }
    aside.commit(durable_);
  } catch (...) {
    if (aside.in_place()) done();
    throw;
  }
  done();
}

// Keeps all files except those written anew.
void Publisher::keep_others(files::FolderReplacement& aside, std::int64_t rows) {
  std::set<std::string> known;
  if (sums_) known.insert(checksums_name(folder_.folder()));
  for (const LayoutNode& node : folder_.nodes()) {
    known.insert(node.folder);
    if (node.changes()) known.insert(below(node.folder, format::meta_file));
  }
  std::set<std::string> values;
  if (rows == 0) {
    for (const LayoutLeaf& leaf : folder_.leaves()) values.insert(leaf.file);
  }
  for (const LayoutNode& node : folder_.nodes()) {
    const Descriptor open = files::open_beneath(folder_.folder(), node.folder, files::folder_flags);
    if (!open.is_open()) files::fail_io("cannot list", folder_.at(node.folder), errno);
    for (const files::Item& item : files::list(open.get(), folder_.at(node.folder))) {
      const std::string relative = below(node.folder, item.name);
      if (known.count(relative) != 0 || files::is_unfinished(open.get(), item)) continue;
      if (relative == format::count_file && item.found != Found::folder) continue;
      if (values.count(relative) != 0) {
        aside.drop(relative);
      } else if (files::look_beneath(aside.folder(), relative, relative).found == Found::nothing) {
        aside.keep(relative);
      }
    }
  }
}

bool Publisher::still_there(int file, const std::string& path) noexcept {
  struct stat opened {};
  struct stat there {};
  return ::fstat(file, &opened) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         opened.st_dev == there.st_dev && opened.st_ino == there.st_ino;
}

}  // namespace td::record
