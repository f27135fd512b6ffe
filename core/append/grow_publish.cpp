#include "core/append/grow_publish.h"

#include "core/io/mappings.h"
#include "core/memmap/memmap_plan.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <set>

namespace td {

namespace {

using files::Descriptor;
using files::Found;

std::uint64_t bytes_of(const GrowLeaf& leaf, std::int64_t rows) noexcept {
  return static_cast<std::uint64_t>(rows) * leaf.row_bytes;
}

void write_text(const std::string& path, const std::string& text, bool durable) {
  files::NewFile file(path);
  file.write(text.data(), text.size());
  if (durable) file.sync();
  file.close();
  file.commit();
}

// The text of a meta.json that was not renamed to its place, of a process that is no more.
void remove_unfinished(const std::string& folder) {
  constexpr std::string_view begin = ".tmp-";
  for (const files::Item& item : files::list(folder)) {
    if (item.found != Found::file || item.name.compare(0, begin.size(), begin) != 0) continue;
    const long process = std::strtol(item.name.c_str() + begin.size(), nullptr, 10);
    if (process <= 0 || !files::is_unfinished(item.name)) continue;
    if (::kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH) continue;
    ::unlink(files::join(folder, item.name).c_str());
  }
}

}  // namespace

Publisher::Publisher(GrowFolder& folder, files::FolderLock& lock, bool durable,
                     std::unique_ptr<GrowSums> sums)
    : folder_(folder), lock_(lock), durable_(durable), sums_(std::move(sums)) {
  files::FolderReplacement::sweep(folder.dir(), lock);
  for (const GrowNode& node : folder.nodes()) {
    if (node.grows()) remove_unfinished(folder.at(node.folder));
  }
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

std::string Publisher::path(std::size_t leaf) const {
  const std::string& file = folder_.leaves()[leaf].file;
  return aside_ && folder_.rows() == 0 ? files::join(aside_->path(), file) : folder_.at(file);
}

Descriptor Publisher::open(std::size_t leaf) {
  constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const bool fresh = folder_.rows() == 0;
  if (fresh) begin_aside();
  const std::string file = path(leaf);
  Descriptor result(::open(file.c_str(), flags | (fresh ? O_CREAT : 0), 0666));
  if (!result.is_open()) {
    if (errno == ELOOP) fail(Code::io, "refused: \"", file, "\" is a symbolic link");
    files::fail_io("cannot open", file, errno);
  }
  struct stat info {};
  if (::fstat(result.get(), &info) != 0) files::fail_io("cannot look at", file, errno);
  if (!S_ISREG(info.st_mode)) fail(Code::io, "refused: \"", file, "\" is not a regular file");
  const auto size = static_cast<std::uint64_t>(info.st_size);
  const std::uint64_t needed = bytes_of(folder_.leaves()[leaf], folder_.rows());
  if (size < needed) {
    fail(Code::format, "\"", file, "\" is too short: ", needed, " bytes expected, ", size,
         " found");
  }
  if (size > needed) cut_file(result.get(), needed, file);
  return result;
}

void Publisher::begin_aside() {
  if (aside_) return;
  auto aside = std::make_unique<files::FolderReplacement>(folder_.dir(), &lock_);
  for (const GrowNode& node : folder_.nodes()) {
    if (!node.folder.empty()) aside->make_folder(node.folder);
  }
  aside_ = std::move(aside);
}

void Publisher::publish(std::int64_t rows) {
  if (rows == folder_.rows()) return;
  const bool one = folder_.growing_nodes() == 1 && sums_ == nullptr;
  if (one && rows != 0 && folder_.rows() != 0) {
    std::size_t node = 0;
    while (!folder_.nodes()[node].grows()) ++node;
    publish_one(node, rows);
  } else {
    publish_all(rows);
  }
  folder_.set_rows(rows);
}

void Publisher::publish_one(std::size_t node, std::int64_t rows) {
  const std::string folder = folder_.at(folder_.nodes()[node].folder);
  write_text(files::join(folder, format::meta_file), folder_.text(node, rows), durable_);
  if (durable_) files::sync(folder);
}

void Publisher::publish_all(std::int64_t rows) {
  const bool carries_values = folder_.rows() == 0;  // they are not to be lost with the step
  try {
    begin_aside();
    keep_others(rows);
    for (std::size_t i = 0; i < folder_.nodes().size(); ++i) {
      const GrowNode& node = folder_.nodes()[i];
      if (!node.changes()) continue;
      const std::string meta = files::join(below(aside_->path(), node.folder), format::meta_file);
      write_text(meta, folder_.text(i, rows), false);
    }
    if (sums_) {
      write_text(files::join(aside_->path(), checksums_file), sums_->text(rows), false);
    }
    aside_->commit(durable_);
  } catch (...) {
    if (!carries_values) aside_.reset();
    throw;
  }
  aside_.reset();
}

// All but what is written anew.
void Publisher::keep_others(std::int64_t rows) {
  std::set<std::string> known;
  if (sums_) known.emplace(checksums_file);
  for (const GrowNode& node : folder_.nodes()) {
    known.insert(node.folder);
    if (node.changes()) known.insert(below(node.folder, format::meta_file));
  }
  std::set<std::string> values;
  if (rows == 0 || folder_.rows() == 0) {
    for (const GrowLeaf& leaf : folder_.leaves()) values.insert(leaf.file);
  }
  for (const GrowNode& node : folder_.nodes()) {
    for (const files::Item& item : files::list(folder_.at(node.folder))) {
      const std::string relative = below(node.folder, item.name);
      if (files::is_unfinished(item.name) || known.count(relative) != 0) continue;
      if (values.count(relative) != 0) {
        if (rows == 0) aside_->drop(relative);
      } else if (files::look(files::join(aside_->path(), relative)).found == Found::nothing) {
        aside_->keep(relative);
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

std::optional<files::FolderLock> make_grow_folder(const std::string& dir, const TensorDict& like,
                                                  bool durable) {
  if (like.batch_size().empty()) {
    fail(Code::shape, "rows are needed: the dictionary has no batch dimension");
  }
  const IndexItem none = IndexItem::range(0, 0);
  const TensorDict empty = like.index(none);
  const SavePlan plan = plan_save(empty.node(), dir, {}, Content::zeros);
  // A folder that is there is filled in place: what else lies in it stays.
  files::FolderLock lock;
  try {
    if (files::look(files::join(dir, ".")).found != Found::nothing) {
      lock = files::FolderLock(dir);
      if (holds_dictionary(dir)) return std::nullopt;
    }
    files::FolderReplacement made(dir, &lock, /*exchange_wanted=*/false);
    for (const SavePlan::Folder& folder : plan.folders) {
      const std::string inner =
          folder.path.size() > dir.size() ? folder.path.substr(dir.size() + 1) : std::string();
      if (!inner.empty()) made.make_folder(inner);
      write_text(files::join(below(made.path(), inner), format::meta_file), folder.meta, false);
    }
    for (const SavePlan::File& file : plan.files) {
      write_text(files::join(made.path(), file.path.substr(dir.size() + 1)), *file.content, false);
    }
    made.commit(durable);
  } catch (const Error& error) {
    if (error.code() == Code::busy) return std::nullopt;
    throw;
  }
  return lock;
}

void make_stack_folder(const std::string& dir, bool durable) {
  files::FolderReplacement made(dir, nullptr, /*exchange_wanted=*/false);
  if (holds_dictionary(dir)) return;
  write_text(files::join(made.path(), format::meta_file), format::lazy_text(0), false);
  made.commit(durable);
}

}  // namespace td
