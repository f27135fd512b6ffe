#include "core/append/elements.h"

#include "core/memmap/memmap.h"
#include "core/memmap/verify.h"
#include "core/record/row_sums.h"

#include <unistd.h>
#include <cerrno>
#include <limits>

namespace td {

namespace {

using files::FolderLock;
using files::FolderReplacement;
using files::Found;

std::string element(std::int64_t k) { return std::to_string(k); }

// The number in an element's name; too large for names that no element can have.
std::int64_t number_of(const std::string& name) {
  return name.size() > 18 ? std::numeric_limits<std::int64_t>::max() : std::stoll(name);
}

// The element's folder will be replaced: a writer would continue in the old one.
void require_no_writer(const record::Layout& folder) {
  for (std::int64_t k = 0; k < folder.rows(); ++k) {
    FolderLock element_lock;
    files::Descriptor open = files::open_beneath(folder.folder(), element(k), files::folder_flags);
    const std::string path = folder.at(element(k));
    if (!open.is_open()) files::fail_io("cannot open the folder", path, errno);
    if (!element_lock.take(std::move(open), path)) files::fail_busy(path);
  }
}

// Keeps everything except the elements from `count` on and the checksums.
void keep_others(const record::Layout& folder, FolderReplacement& aside, std::int64_t count) {
  const std::string checksums = checksums_name(folder.folder());
  for (const files::Item& item : files::list(folder.folder(), folder.dir())) {
    if (item.name == checksums || files::is_unfinished(folder.folder(), item)) continue;
    if (item.found != Found::folder || !format::is_number(item.name)) {
      aside.keep(item.name);
      continue;
    }
    if (number_of(item.name) < count) aside.keep(item.name);
  }
  for (std::int64_t k = folder.rows(); k-- > count;) aside.drop(element(k));
}

// The checksums of the elements below `count`, unchanged: damage stays detectable.
std::vector<Checksum> checksums_there(const record::Layout& folder, std::int64_t count) {
  const std::string where = "\"" + folder.at(checksums_name(folder.folder())) + "\"";
  std::vector<Checksum> result;
  for (Checksum& one : read_checksums(record::RowSums::stored(folder), where)) {
    const std::string first = one.path.substr(0, one.path.find('/'));
    const bool inside = first.size() != one.path.size() && format::is_number(first);
    if (!inside || number_of(first) < count) result.push_back(std::move(one));
  }
  return result;
}

void add_checksums(std::vector<Checksum>& all, const std::string& dir, const std::string& prefix) {
  for (Checksum& one : checksums_of(dir, 1, {})) {
    one.path = files::join(prefix, one.path);
    all.push_back(std::move(one));
  }
}

// Moves an element's own checksums into those of the stack.
void take_checksums(std::vector<Checksum>& all, int root, const std::string& prefix) {
  const files::Descriptor element = files::open_beneath(root, prefix, files::folder_flags);
  if (!element.is_open()) files::fail_io("cannot open the folder", prefix, errno);
  const std::string name = checksums_name(element.get());
  for (Checksum& one :
       read_checksums(files::read_beneath(element.get(), name, max_checksums_bytes, name), name)) {
    one.path = files::join(prefix, one.path);
    all.push_back(std::move(one));
  }
  if (::unlinkat(element.get(), name.c_str(), 0) != 0) files::fail_io("cannot remove", name, errno);
}

// The checksums of `count` elements and of the stack itself.
std::vector<Checksum> checksums_for(const record::Layout& folder, std::int64_t count) {
  if (record::RowSums::present(folder)) return checksums_there(folder, count);
  const std::string text = files::read_beneath(folder.folder(), std::string(format::meta_file),
                                               format::max_meta_bytes, folder.dir());
  std::vector<Checksum> all{
      {std::string(format::meta_file), text.size(), digest_of(text.data(), text.size())}};
  for (std::int64_t k = 0; k < count; ++k) add_checksums(all, folder.at(element(k)), element(k));
  return all;
}

void check_dims(const record::Layout& folder, const TensorDict& td) {
  const std::string first = folder.at(element(0));
  if (!record::holds_dictionary(first)) return;
  LoadOptions load;
  load.device = c10::Device(c10::DeviceType::Meta);
  const std::size_t dims = load_memmap(first, load).batch_size().size();
  if (dims == td.batch_size().size()) return;
  fail(Code::shape, "an element of the lazy stack in \"", folder.dir(), "\" has ", dims,
       " batch dimensions, the dictionary ", td.batch_size().size());
}

}  // namespace

void append_element(const record::Layout& folder, FolderLock& lock, const TensorDict& td,
                    const AppendOptions& options) {
  check_dims(folder, td);
  FolderReplacement::sweep(folder.dir(), lock);
  const std::string name = element(folder.rows());
  MemmapOptions how;
  how.copy_existing = true;
  how.fail_if_exists = true;
  how.archive = Archive::no;
  if (!options.checksums && !record::RowSums::present(folder)) {
    how.durable = options.durable;
    lock.require_name(folder.dir());
    memmap(td, folder.at(name), how);
    lock.require_name(folder.dir());
    return;
  }
  require_no_writer(folder);
  std::vector<Checksum> checksums = checksums_for(folder, folder.rows());
  FolderReplacement aside(folder.dir(), &lock);
  keep_others(folder, aside, folder.rows());
  how.aside = how.checksums = true;
  memmap(td, files::join(aside.path(), name), how);
  take_checksums(checksums, aside.folder(), name);
  aside.write(checksums_name(folder.folder()), checksums_text(checksums));
  aside.commit(options.durable);
}

void keep_elements(const record::Layout& folder, FolderLock& lock, std::int64_t count,
                   const AppendOptions& options) {
  FolderReplacement::sweep(folder.dir(), lock);
  const bool sums = options.checksums || record::RowSums::present(folder);
  if (count == folder.rows() && (!sums || record::RowSums::present(folder))) return;
  require_no_writer(folder);
  std::vector<Checksum> checksums;
  if (sums) checksums = checksums_for(folder, count);
  FolderReplacement aside(folder.dir(), &lock);
  keep_others(folder, aside, count);
  if (sums) aside.write(checksums_name(folder.folder()), checksums_text(checksums));
  aside.commit(options.durable);
}

}  // namespace td
