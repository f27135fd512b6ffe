#include "core/io/twin_file.h"

#include "core/io/folder.h"
#include "core/io/new_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace td::files {

namespace {

Descriptor duplicate(int file, const std::string& path) {
  Descriptor result(::fcntl(file, F_DUPFD_CLOEXEC, 0));
  if (!result.is_open()) fail_io("cannot write", path, errno);
  return result;
}

}  // namespace

void FileChanges::write_to(int file, const std::string& path) const {
  write_all_at(file, tail.data(), tail.size(), from, path);
  for (const auto& piece : pieces)
    write_all_at(file, piece.second.data(), piece.second.size(), piece.first, path);
  if (end != from + tail.size()) resize(file, end, path);
}

TwinFile::TwinFile(std::string target, bool there, bool in_new)
    : target_(std::move(target)), in_new_(in_new) {
  if (!there) return;
  published_ = Descriptor(::open(target_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!published_.is_open()) fail_io("cannot open", target_, errno);
}

int TwinFile::file() {
  if (is_empty()) make_aside();
  return aside_ ? hidden_.get() : published_.get();
}

void TwinFile::make_aside() {
  aside_.emplace(open_parent(target_, in_new_), parent_of(target_), last_name(target_),
                 Aside::Kind::file, target_);
  try {
    hidden_ = duplicate(aside_->content(), target_);
    if (published_.is_open()) copy_all(published_.get(), hidden_.get(), target_);
  } catch (...) {
    drop();
    throw;
  }
}

void TwinFile::drop() noexcept {
  hidden_.reset();
  aside_.reset();
  unpublished_.clear();
}

void TwinFile::write(const FileChanges& changes) {
  if (aside_ && unpublished_.empty() && published_.is_open() && !lock()) drop();
  if (!aside_) make_aside();
  changes.write_to(hidden_.get(), target_);
  if (published_.is_open()) unpublished_.push_back(changes);
}

bool TwinFile::lock() const noexcept {
  int failed = 0;
  do {
    failed = ::flock(hidden_.get(), LOCK_EX | LOCK_NB);
  } while (failed != 0 && errno == EINTR);
  return failed == 0 || errno != EWOULDBLOCK;
}

void TwinFile::require_own() const {
  struct stat own {
  }, there{};
  const bool same =
      ::fstat(published_.get(), &own) == 0 &&
      ::fstatat(aside_->parent(), last_name(target_).c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
      is_one_file(own, there);
  if (!same) fail(Code::busy, "\"", target_, "\" was replaced by another writer meanwhile");
}

void TwinFile::publish(bool durable, bool goes_on, const std::function<void()>& then) {
  if (!aside_) return then();
  const std::string name = last_name(target_);
  if (published_.is_open()) require_own();
  keep_manner(hidden_.get(), look_beneath(aside_->parent(), name, target_), target_);
  if (durable) sync(hidden_.get(), target_);
  ::flock(hidden_.get(), LOCK_UN);
  // The file before is kept until all is done.
  const bool there = look_beneath(aside_->parent(), name, target_).found == Found::file;
  Rename how = there ? Rename::exchange : Rename::no_replace;
  int error = aside_->rename_to(name, how);
  if (error == EINVAL) error = aside_->rename_to(name, how = Rename::plain);
  if (error != 0) fail_io("cannot replace", target_, error);
  try {
    if (durable) sync_folder(aside_->parent(), parent_of(target_));
    then();
  } catch (...) {
    if (how == Rename::exchange) aside_->rename_to(name, how);
    if (!there) aside_->take_back(name, Rename::plain);
    throw;
  }
  std::swap(published_, hidden_);
  if (how != Rename::exchange || !goes_on || !hidden_.is_open()) return drop();
  if (!lock()) return drop();
  try {
    for (const FileChanges& changes : unpublished_) changes.write_to(hidden_.get(), target_);
    unpublished_.clear();
    ::flock(hidden_.get(), LOCK_UN);
  } catch (const Error&) {
    drop();  // the next step makes a new copy
  }
}

}  // namespace td::files
