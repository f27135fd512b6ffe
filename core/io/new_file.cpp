#include "core/io/new_file.h"

#include "core/io/folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>

namespace td::files {

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Descriptor open_parent(const std::string& target, bool in_new) {
  if (!in_new) check_target(target);
  Descriptor parent(::open(parent_of(target).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!parent.is_open()) fail_io("cannot write", target, errno);
  return parent;
}

NewFile::NewFile(const std::string& target, bool in_new)
    : target_(target),
      aside_(open_parent(target, in_new), parent_of(target), last_name(target), Aside::Kind::file,
             target) {}

void NewFile::write(const char* data, std::size_t bytes) {
  write_all(aside_.content(), data, bytes, target_);
}

void NewFile::write_at(std::uint64_t offset, const char* data, std::size_t bytes) {
  write_all_at(aside_.content(), data, bytes, offset, target_);
}

void NewFile::resize(std::size_t bytes) { files::resize(aside_.content(), bytes, target_); }

void NewFile::commit(bool durable) {
  const std::string name = last_name(target_);
  const Look old = look_beneath(aside_.parent(), name, target_);
  keep_manner(aside_.content(), old, target_);
  if (!durable) {
    if (const int error = aside_.rename_to(name, Rename::plain)) {
      fail_io("cannot replace", target_, error);
    }
    return;
  }
  sync(aside_.content(), target_);
  // With `durable`, keep the old file until the new name is on disk.
  const bool there = old.found != Found::nothing;
  Rename how = !there                       ? Rename::no_replace
               : old.found == Found::folder ? Rename::plain
                                            : Rename::exchange;
  int error = aside_.rename_to(name, how);
  if (error == EINVAL || (error == EEXIST && !there))
    error = aside_.rename_to(name, how = Rename::plain);
  if (error != 0) fail_io("cannot replace", target_, error);
  try {
    sync_folder(aside_.parent(), parent_of(target_));
  } catch (...) {
    if (how == Rename::exchange) {
      aside_.rename_to(name, how);
    } else if (!there) {
      aside_.take_back(name, Rename::plain);
    }
    throw;
  }
}

void replace_file(int folder, const std::string& name, const std::string& path,
                  std::string_view content, bool durable, Replaced& replaced) {
  static std::atomic<unsigned> counter{0};
  replaced = Replaced::no;
  const Look old = look_beneath(folder, name, path);
  const bool there = old.found == Found::file;
  std::string aside;
  Descriptor file;
  for (int attempt = 0; !file.is_open(); ++attempt) {
    aside = name_of_new_file(counter.fetch_add(1, std::memory_order_relaxed));
    file = open_beneath(folder, aside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                        there ? old.mode & 0777U : 0666U);
    if (!file.is_open() && (errno != EEXIST || attempt == 100)) {
      fail_io("cannot write", path, errno);
    }
  }
  struct Remove {
    int folder;
    const std::string& name;
    bool wanted = true;
    ~Remove() {
      if (wanted) ::unlinkat(folder, name.c_str(), 0);
    }
  } remove{folder, aside};
  // The lock protects the file from cleanups of unfinished work.
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EINTR) {
  }
  write_all(file.get(), content.data(), content.size(), path);
  keep_manner(file.get(), old, path);
  if (durable) sync(file.get(), path);
  // An exchange keeps the old file until the new one is on disk.
  Rename how = durable && there ? Rename::exchange : Rename::plain;
  int error = rename_as(folder, aside.c_str(), folder, name.c_str(), how);
  if (error == EINVAL && how == Rename::exchange) {
    error = rename_as(folder, aside.c_str(), folder, name.c_str(), how = Rename::plain);
  }
  if (error != 0) fail_io("cannot replace", path, error);
  remove.wanted = how == Rename::exchange;
  replaced = Replaced::yes;
  if (!durable) return;
  try {
    sync(folder, path);
  } catch (...) {
    if (how == Rename::exchange &&
        rename_as(folder, aside.c_str(), folder, name.c_str(), how) == 0) {
      replaced = Replaced::no;
    }
    throw;
  }
}

}  // namespace td::files
