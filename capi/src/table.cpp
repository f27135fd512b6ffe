// tensordict/td_table.h
#include "core/tables/table.h"
#include "choices.h"
#include "give.h"
#include "guard.h"

#include <cstddef>

namespace {

td::TableOptions table_in(const td_table_options* options) {
  const td_table_options given = capi::options_in(options, td_table_options TD_TABLE_OPTIONS_INIT,
                                                  offsetof(td_table_options, max_depth));
  td::TableOptions result;
  result.format =
      capi::choice_in<td::TableFormat>(given.format, TD_TABLE_CSV, TD_TABLE_JSON, "format");
  if (given.separator != nullptr) result.separator = given.separator;
  if (given.max_depth != 0) result.max_depth = given.max_depth;
  if (given.max_entries != 0) result.max_entries = given.max_entries;
  result.flatten = capi::flag_in(given.flags, TD_TABLE_FLATTEN);
  return result;
}

}  // namespace

td_status td_table_load(const char* file, const td_table_options* options,
                        td_tensordict** result) noexcept {
  return give(__func__, result,
              [&] { return td::load_table(not_null(file, "file"), table_in(options)); });
}

td_status td_table_save(const td_tensordict* td, const char* file,
                        const td_table_options* options) noexcept {
  return guard(__func__, [&] {
    auto dict = in(td);
    td::save_table(dict, not_null(file, "file"), table_in(options));
  });
}
