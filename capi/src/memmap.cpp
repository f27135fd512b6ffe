// tensordict/td_memmap.h
#include "arguments.h"
#include "guard.h"

#include "td/memmap.h"

using capi::guard;
using capi::in;
using capi::not_null;
using capi::Out;

namespace {

td::MemmapOptions save_options_in(const td_memmap_options* options) {
  const td_memmap_options given = capi::options_in(
      options, td_memmap_options TD_MEMMAP_OPTIONS_INIT, sizeof(td_memmap_options));
  td::MemmapOptions result;
  result.num_threads = given.num_threads;
  result.copy_existing = given.copy_existing != 0;
  result.fail_if_exists = given.fail_if_exists != 0;
  result.verbatim_names = given.verbatim_names != 0;
  return result;
}

td::LoadOptions load_options_in(const td_load_options* options) {
  const td_load_options given =
      capi::options_in(options, td_load_options TD_LOAD_OPTIONS_INIT, sizeof(td_load_options));
  td::LoadOptions result;
  result.device = capi::device_in(given.device_type, given.device_index);
  result.private_mapping = given.private_mapping != 0;
  result.verbatim_names = given.verbatim_names != 0;
  if (given.max_depth != 0) result.max_depth = given.max_depth;
  if (given.max_entries != 0) result.max_entries = given.max_entries;
  return result;
}

std::string dir_in(const char* dir) { return dir == nullptr ? std::string() : std::string(dir); }

}  // namespace

td_status td_memmap(const td_tensordict* td, const char* dir, const td_memmap_options* options,
                    td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    out.put(td::memmap(in(td), dir_in(dir), save_options_in(options)));
  });
}

td_status td_memmap_inplace(td_tensordict* td, const char* dir,
                            const td_memmap_options* options) noexcept {
  return guard(__func__,
               [&] { td::memmap_inplace(in(td), dir_in(dir), save_options_in(options)); });
}

td_status td_memmap_like(const td_tensordict* td, const char* dir, const td_memmap_options* options,
                         td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    out.put(td::memmap_like(in(td), dir_in(dir), save_options_in(options)));
  });
}

td_status td_load_memmap(const char* dir, const td_load_options* options,
                         td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    out.put(td::load_memmap(not_null(dir, "dir"), load_options_in(options)));
  });
}

td_status td_saved_path(const td_tensordict* td, char* text, size_t text_cap,
                        size_t* length) noexcept {
  return capi::guard_plain(__func__,
                           [&] { capi::write_text(in(td)->saved_path(), text, text_cap, length); });
}

td_status td_memmap_flush(const td_tensordict* td) noexcept {
  return guard(__func__, [&] { td::memmap_flush(in(td)); });
}
