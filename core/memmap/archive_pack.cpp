// Copies files between folders and archives, whatever they contain.
#include "core/formats/crc32.h"
#include "core/memmap/archive_target.h"

#include "core/formats/format.h"
#include "core/formats/zip_file.h"
#include "core/io/file_io.h"
#include "core/io/folder.h"
#include "core/io/mapped_file.h"
#include "core/memmap/archive.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>

namespace td {

namespace {

using files::Found;
using zip_file::Entry;
using zip_file::Form;

constexpr std::size_t packed_at_once = std::size_t{1} << 20;
constexpr std::size_t max_entries = 10000000;

void add_file(zip_file::Writer& writer, int root, const std::string& path, const std::string& name,
              bool deflated, std::vector<char>& buffer) {
  const files::Descriptor file = files::open_beneath(root, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat info {};
  if (!file.is_open() || ::fstat(file.get(), &info) != 0) {
    if (errno == ELOOP) fail(Code::io, "refused: \"", path, "\" is behind a symbolic link");
    files::fail_io("cannot open", path, errno);
  }
  if (!S_ISREG(info.st_mode)) fail(Code::io, "refused: \"", path, "\" is not a regular file");
  const bool leaf = files::ends_with(name, format::leaf_suffix);
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  writer.begin(name, !leaf ? Form::stored : deflated ? Form::deflated : Form::aligned, bytes);
  for (std::uint64_t left = bytes; left != 0;) {
    const ssize_t n =
        ::read(file.get(), buffer.data(), std::min<std::uint64_t>(left, packed_at_once));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) files::fail_io("cannot read", path, errno);
    if (n == 0) break;  // the file became shorter: end() reports it
    writer.append(buffer.data(), static_cast<std::size_t>(n));
    left -= static_cast<std::uint64_t>(n);
  }
  writer.end();
}

// The state of a folder and its meta.json, for comparison.
struct Mark {
  explicit Mark(const std::string& dir, int open) {
    ::stat(files::join(dir, ".").c_str(), &folder);
    ::fstatat(open, format::meta_file.data(), &meta, AT_SYMLINK_NOFOLLOW);
  }
  bool operator==(const Mark& other) const noexcept {
    return folder.st_dev == other.folder.st_dev && folder.st_ino == other.folder.st_ino &&
           meta.st_ino == other.meta.st_ino && meta.st_size == other.meta.st_size &&
           meta.st_mtim.tv_sec == other.meta.st_mtim.tv_sec &&
           meta.st_mtim.tv_nsec == other.meta.st_mtim.tv_nsec;
  }
  struct stat folder {};
  struct stat meta {};
};

// Creates the folders for an entry, once for consecutive entries.
void make_folders(files::FolderReplacement& to, const std::string& name, std::string& last) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string::npos || name.compare(0, slash, last) == 0) return;
  last = name.substr(0, slash);
  to.make_folder(last);
}

}  // namespace

void prepare_archive(const std::string& target, bool fail_if_exists, files::NewFolders& folders) {
  switch (files::look(target).found) {
    case Found::nothing: break;
    case Found::file:
      if (fail_if_exists) fail(Code::io, "\"", target, "\" already exists");
      break;
    case Found::folder: fail(Code::io, "\"", target, "\" exists and is a folder");
    case Found::link: fail(Code::io, "refused: \"", target, "\" is a symbolic link");
    case Found::other: fail(Code::io, "\"", target, "\" exists and is not a file");
  }
  const std::string parent = target.substr(0, target.rfind('/'));
  if (!parent.empty()) folders.make_with_parents(parent);
}

void pack_folder(const std::string& dir, const std::string& path, const PackOptions& options) {
  if (dir.empty() || path.empty()) fail(Code::io, "no such file: the path is empty");
  const std::string root = files::absolute(dir);
  const std::string target = files::absolute(path);
  const files::Descriptor open(::open(root.c_str(), files::folder_flags));
  if (!open.is_open()) files::fail_io("cannot open the folder", root, errno);
  const Mark before(root, open.get());
  if (!S_ISREG(before.meta.st_mode)) {
    fail(Code::io, "no dictionary in \"", root, "\": it has no meta.json");
  }
  files::NewFolders folders;
  prepare_archive(target, options.fail_if_exists, folders);
  zip_file::Writer writer(target);
  std::vector<char> buffer(packed_at_once);
  std::vector<std::string> pending{{}};  // folders inside, ending with '/'; the last is next
  while (!pending.empty()) {
    const std::string folder = std::move(pending.back());
    pending.pop_back();
    const std::string inside = folder.substr(0, folder.size() - (folder.empty() ? 0 : 1));
    const files::Descriptor at = files::open_beneath(open.get(), inside, files::folder_flags);
    if (!at.is_open()) {
      if (errno == ELOOP || errno == ENOTDIR) {
        fail(Code::io, "refused: \"", files::join(root, inside), "\" is a symbolic link");
      }
      files::fail_io("cannot open the folder", files::join(root, inside), errno);
    }
    std::vector<files::Item> items = files::list(at.get(), files::join(root, inside));
    std::stable_partition(items.begin(), items.end(),
                          [](const auto& item) { return item.name == format::meta_file; });
    const std::size_t inner = pending.size();
    for (const files::Item& item : items) {
      const std::string name = folder + item.name;
      const std::string file = files::join(root, name);
      if (files::is_unfinished(at.get(), item) || file == target) continue;
      if (item.found == Found::link) fail(Code::io, "refused: \"", file, "\" is a symbolic link");
      if (item.found == Found::folder) pending.push_back(name + '/');
      if (item.found == Found::file)
        add_file(writer, open.get(), file, name, options.compression != Compression::stored,
                 buffer);
    }
    std::reverse(pending.begin() + static_cast<std::ptrdiff_t>(inner), pending.end());
  }
  if (!(Mark(root, open.get()) == before)) {
    fail(Code::busy, "\"", root, "\" was changed by a writer while it was packed");
  }
  if (options.durable) folders.sync();
  writer.finish(options.durable);
  folders.keep();
}

void unpack_archive(const std::string& path, const std::string& dir, const PackOptions& options) {
  if (dir.empty() || path.empty()) fail(Code::io, "no such file: the path is empty");
  const auto archive = zip_file::MappedArchive::open(path, false, max_entries);
  const zip_file::Reader& reader = archive.reader();
  if (reader.find(format::meta_file) == nullptr) {
    fail(Code::format, reader.where(), " is not an archive of a dictionary: it has no meta.json");
  }
  for (const Entry& entry : reader.entries()) {
    if (zip_file::stays_inside(entry.name)) continue;
    fail(Code::format, reader.where(), ": ", quote(entry.name), " leads out of the folder");
  }
  const std::string target = files::absolute(dir);
  const Found found = files::look(files::join(target, ".")).found;
  if (found == Found::folder && (options.fail_if_exists || !files::list(target).empty())) {
    fail(Code::io, "\"", target, "\" already exists",
         options.fail_if_exists ? "" : ", and is not empty");
  }
  files::check_target(target);
  files::FolderReplacement to(target);
  std::string last;
  std::vector<char> content;
  for (const Entry& entry : reader.entries()) {
    make_folders(to, entry.name, last);
    if (entry.is_folder()) continue;
    const files::Descriptor file = to.create(entry.name, {});
    const char* data = archive.file()->data() + entry.offset;
    if (entry.method != zip_file::method_stored) {
      content.resize(entry.bytes);
      reader.read(entry, content.data());
      data = content.data();
    } else if (!reader.intact(entry)) {
      fail(Code::format, reader.where(), ": ", quote(entry.name),
           " is damaged: its checksum differs");
    }
    files::write_all(file.get(), data, entry.bytes, files::join(target, entry.name));
  }
  to.commit(options.durable);
}

void refresh_checksums(const std::string& path) {
  if (path.empty()) fail(Code::io, "no such file: the path is empty");
  const std::string name = files::absolute(path);
  const auto archive = zip_file::MappedArchive::open(name, true, max_entries);
  const zip_file::Reader& reader = archive.reader();
  if (reader.find(format::meta_file) == nullptr) {
    fail(Code::format, reader.where(), " is not an archive of a dictionary: it has no meta.json");
  }
  const files::Descriptor file(::open(name.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file.is_open()) files::fail_io("cannot open", name, errno);
  for (const Entry& entry : reader.entries()) {
    if (entry.method != zip_file::method_stored)
      continue;  // compressed entries are never mapped for writing
    const std::uint32_t crc = crc32(0, archive.file()->data() + entry.offset, entry.bytes);
    if (crc == entry.crc) continue;
    char bytes[4];
    for (int i = 0; i < 4; ++i) bytes[i] = static_cast<char>(crc >> (8 * i) & 0xff);
    for (const std::uint64_t at : reader.checksums_of(entry)) {
      files::write_all_at(file.get(), bytes, sizeof bytes, at, name);
    }
  }
}

}  // namespace td
