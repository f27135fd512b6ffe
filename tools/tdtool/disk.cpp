#include "disk.h"

#include "core/formats/file_formats.h"
#include "disk_places.h"

td_tensordict *disk_handle(std::shared_ptr<const disk::Node> root);

namespace disk {

namespace {

using td::MappedFile;
using td::zip_file::MappedArchive;
using Root = std::shared_ptr<const Node>;

// Other forms are left to the library. `found`: only the content of the key was read.
Root read(const std::string &path, const key &wanted, bool &found, form &which) {
  which = form_of_file(path.c_str());
  if (which == FORM_FOLDER) return read_nodes(open_folder(path), wanted, found);
  const auto format = static_cast<td::FileFormat>(which);
  const auto archive = [&] {
    return std::make_shared<const MappedArchive>(MappedArchive::open(path, false, max_nodes));
  };
  const auto file = [&] { return MappedFile::open(path, MappedFile::whole, td::MapMode::priv); };
  if (format == td::FileFormat::archive) return read_nodes(open_archive(archive()), wanted, found);
  if (format == td::FileFormat::npz) return read_npz(archive());
  if (format == td::FileFormat::npy) return read_npy(file());
  if (format == td::FileFormat::safetensors) return read_safetensors(file());
  throw NotPlain();
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
      td_status status = td_get_dict(whole, wanted.names, wanted.length, &result);
      if (status != TD_OK) status = td_select(whole, &one, 1, nullptr, &result);
      if (status != TD_OK) result = nullptr;
      td_free(whole);
    }
  } catch (const std::exception &) {
    td_free(result);
    result = nullptr;
  }
  key_free(&wanted);
  return result;
}
