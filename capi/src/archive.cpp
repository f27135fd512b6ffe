// tensordict/td_archive.h
#include "arguments.h"
#include "choices.h"
#include "guard.h"

#include "core/memmap/archive.h"

namespace {

td::PackOptions pack_options_in(const td_memmap_pack_options* options) {
  const td_memmap_pack_options given =
      capi::options_in(options, td_memmap_pack_options TD_MEMMAP_PACK_OPTIONS_INIT);
  td::PackOptions result;
  result.compression = capi::choice_in<td::Compression>(given.compression, 0, 1, "compression");
  result.fail_if_exists = given.fail_if_exists != 0;
  result.durable = given.durable != 0;
  return result;
}

}  // namespace

td_status td_memmap_pack(const char* dir, const char* file,
                         const td_memmap_pack_options* options) noexcept {
  return guard(__func__, [&] {
    td::pack_folder(not_null(dir, "dir"), not_null(file, "file"), pack_options_in(options));
  });
}

td_status td_memmap_unpack(const char* file, const char* dir,
                           const td_memmap_pack_options* options) noexcept {
  return guard(__func__, [&] {
    td::unpack_archive(not_null(file, "file"), not_null(dir, "dir"), pack_options_in(options));
  });
}

td_status td_memmap_is_archive(const char* file, int32_t* result) noexcept {
  return guard(__func__,
               [&] { *not_null(result, "result") = td::is_archive(not_null(file, "file")); });
}

td_status td_memmap_write_archive_checksums(const char* file) noexcept {
  return guard(__func__, [&] { td::refresh_checksums(not_null(file, "file")); });
}
