#include "disk.h"

#include <sys/stat.h>

#include "core/formats/format.h"
#include "core/formats/npy_header.h"
#include "disk_places.h"

td_tensordict *disk_handle(std::shared_ptr<const disk::Node> root);

namespace disk {

namespace {

using td::MappedFile;
using td::zip_file::MappedArchive;
using Root = std::shared_ptr<const Node>;

bool is_folder(const std::string &path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

// A zip archive with a meta.json at the top is ours; others may be NumPy's.
Root read_zip(const std::string &path, const key &wanted, bool &found, form &which) {
  const auto archive =
      std::make_shared<const MappedArchive>(MappedArchive::open(path, false, max_nodes));
  if (archive->reader().find(td::format::meta_file) != nullptr) {
    which = FORM_ARCHIVE;
    return read_nodes(open_archive(archive), wanted, found);
  }
  if (form_of_name(path.c_str()) == FORM_TORCH) throw NotPlain();
  which = FORM_NPZ;
  return read_npz(archive);
}

// Detects a file's form by its first bytes; other forms are left to the library. `found`: only the content of the
// key was read.
Root read(const std::string &path, const key &wanted, bool &found, form &which) {
  const form named = form_of_name(path.c_str());
  if (named == FORM_STORE) throw NotPlain();
  if (is_folder(path)) {
    which = FORM_FOLDER;
    return read_nodes(open_folder(path), wanted, found);
  }
  const File file = MappedFile::open(path, MappedFile::whole, td::MapMode::priv);
  const std::string_view bytes(file->data(), file->bytes());
  if (bytes.substr(0, 4) == "PK\3\4") return read_zip(path, wanted, found, which);
  const bool numpy = bytes.substr(0, td::numpy::magic.size()) == td::numpy::magic;
  if (!numpy && (named == FORM_CSV || named == FORM_JSON || named == FORM_TORCH)) throw NotPlain();
  if (!numpy && (bytes.size() < 9 || bytes[8] != '{')) throw NotPlain();
  which = numpy ? FORM_NPY : FORM_SAFETENSORS;
  return numpy ? read_npy(file) : read_safetensors(file);
}

}  // namespace

}  // namespace disk

extern "C" td_tensordict *disk_open(const char *path, const char *typed, form *which) {
  key wanted{};
  if (typed != nullptr && *typed != '\0') wanted = key_parse(typed);
  td_tensordict *result = nullptr;
  try {
    bool found = wanted.length == 0;
    result = disk_handle(disk::read(path, wanted, found, *which));
    // The library checks batch dimensions requested for other files.
    const bool own_batch = *which == FORM_FOLDER || *which == FORM_ARCHIVE;
    if (!own_batch && common.batch_dims > 0) throw disk::NotPlain();
    if (!found) {
      td_tensordict *whole = result;
      const td_key one{wanted.names, wanted.length};
      result = nullptr;
      if (td_get_dict(whole, wanted.names, wanted.length, &result) != TD_OK)
        td_select(whole, &one, 1, nullptr, &result);
      td_free(whole);
    }
  } catch (const std::exception &) {
    td_free(result);
    result = nullptr;
  }
  key_free(&wanted);
  return result;
}
