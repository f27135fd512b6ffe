// tensordict/td_memmap.h
#include "arguments.h"
#include "choices.h"
#include "give.h"
#include "guard.h"
#include "memmap_options.h"

namespace capi {

td::MemmapOptions memmap_options_in(const td_memmap_options* options) {
  const td_memmap_options given = capi::options_in(
      options, td_memmap_options TD_MEMMAP_OPTIONS_INIT, offsetof(td_memmap_options, archive));
  td::MemmapOptions result;
  result.num_threads = given.num_threads;
  result.copy_existing = given.copy_existing != 0;
  result.fail_if_exists = given.fail_if_exists != 0;
  result.verbatim_names = given.verbatim_names != 0;
  result.dense_sub_tensordicts = given.dense_sub_tensordicts != 0;
  result.durable = given.durable != 0;
  result.checksums = given.checksums != 0;
  result.archive = capi::choice_in<td::Archive>(given.archive, 0, 2, "archive");
  result.compression = capi::choice_in<td::Compression>(given.compression, 0, 1, "compression");
  return result;
}

td::LoadOptions load_options_in(const td_load_options* options) {
  const td_load_options given = capi::options_in(options, td_load_options TD_LOAD_OPTIONS_INIT,
                                                 offsetof(td_load_options, write_through));
  td::LoadOptions result;
  result.device = capi::device_in(given.device_type, given.device_index);
  result.private_mapping = given.private_mapping != 0;
  result.verbatim_names = given.verbatim_names != 0;
  if (given.max_depth != 0) result.max_depth = given.max_depth;
  if (given.max_entries != 0) result.max_entries = given.max_entries;
  result.write_through = given.write_through != 0;
  result.num_threads = given.num_threads;
  if (given.subpath_len != 0) {
    const PathIn path(given.subpath, given.subpath_len);
    for (const std::string_view name : td::Path(path)) result.subpath.emplace_back(name);
  }
  return result;
}

std::string dir_in(const char* dir) { return dir == nullptr ? std::string() : std::string(dir); }

}  // namespace capi

td_status td_memmap(const td_tensordict* td, const char* dir, const td_memmap_options* options,
                    td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    return td::memmap(in(td), capi::dir_in(dir), capi::memmap_options_in(options));
  });
}

td_status td_memmap_inplace(td_tensordict* td, const char* dir,
                            const td_memmap_options* options) noexcept {
  return guard(__func__, [&] {
    td::memmap_inplace(in(td), capi::dir_in(dir), capi::memmap_options_in(options));
  });
}

td_status td_memmap_like(const td_tensordict* td, const char* dir, const td_memmap_options* options,
                         td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    return td::memmap_like(in(td), capi::dir_in(dir), capi::memmap_options_in(options));
  });
}

td_status td_memmap_load(const char* dir, const td_load_options* options,
                         td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    return td::load_memmap(not_null(dir, "dir"), capi::load_options_in(options));
  });
}

td_status td_saved_path(const td_tensordict* td, char* text, size_t text_cap,
                        size_t* length) noexcept {
  return guard_plain(__func__,
                     [&] { capi::write_text(in(td)->saved_path(), text, text_cap, length); });
}

td_status td_memmap_flush(const td_tensordict* td) noexcept {
  return guard(__func__, [&] { td::memmap_flush(in(td)); });
}
