// tensordict/td_consolidate.h
#include "arguments.h"
#include "give.h"
#include "guard.h"

#include "core/consolidated/consolidate.h"

namespace {

td::ConsolidateOptions consolidate_options_in(const td_consolidate_options* options) {
  const td_consolidate_options given =
      capi::options_in(options, td_consolidate_options TD_CONSOLIDATE_OPTIONS_INIT,
                       offsetof(td_consolidate_options, num_threads));
  td::ConsolidateOptions result;
  result.device = capi::device_in(given.device_type, given.device_index);
  result.pinned = given.pin_memory != 0;
  result.num_threads = given.num_threads;
  result.durable = given.durable != 0;
  return result;
}

td::OpenOptions open_options_in(const td_load_options* options) {
  const td_load_options given = capi::options_in(options, td_load_options TD_LOAD_OPTIONS_INIT,
                                                 offsetof(td_load_options, write_through));
  td::OpenOptions result;
  result.device = capi::device_in(given.device_type, given.device_index);
  if (given.max_depth != 0) result.max_depth = given.max_depth;
  if (given.max_entries != 0) result.max_entries = given.max_entries;
  result.write_through = given.write_through != 0;
  return result;
}

}  // namespace

td_status td_consolidate(const td_tensordict* td, const char* file,
                         const td_consolidate_options* options, td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    const td::ConsolidateOptions how = consolidate_options_in(options);
    return file == nullptr ? td::consolidate(in(td), how) : td::consolidate_file(in(td), file, how);
  });
}

td_status td_consolidate_inplace(td_tensordict* td,
                                 const td_consolidate_options* options) noexcept {
  return guard(__func__, [&] {
    td::ConsolidateOptions how = consolidate_options_in(options);
    how.inplace = true;
    td::consolidate(in(td), how);
  });
}

td_status td_is_consolidated(const td_tensordict* td, int32_t* result) noexcept {
  return guard(__func__,
               [&] { *not_null(result, "result") = td::is_consolidated(in(td)) ? 1 : 0; });
}

td_status td_consolidated_load(const char* file, const td_load_options* options,
                               td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    return td::load_consolidated(not_null(file, "file"), open_options_in(options));
  });
}
