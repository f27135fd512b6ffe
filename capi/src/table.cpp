// tensordict/td_table.h
#include "core/interop/table.h"
#include "choices.h"
#include "guard.h"

using capi::guard;
using capi::in;
using capi::not_null;
using capi::Out;

namespace {

td::TableOptions table_in(const td_table_options* options) {
  const td_table_options given =
      capi::options_in(options, td_table_options TD_TABLE_OPTIONS_INIT, sizeof(td_table_options));
  return {capi::choice_in<td::TableFormat>(given.format, TD_TABLE_CSV, TD_TABLE_JSON, "format"),
          given.separator == nullptr ? "" : given.separator};
}

}  // namespace

td_status td_table_load(const char* file, const td_table_options* options,
                        td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    out.put(td::load_table(not_null(file, "file"), table_in(options)));
  });
}

td_status td_table_save(const td_tensordict* td, const char* file,
                        const td_table_options* options) noexcept {
  return guard(__func__, [&] {
    auto dict = in(td);
    td::save_table(dict, not_null(file, "file"), table_in(options));
  });
}
