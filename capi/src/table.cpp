// tensordict/td_table.h
#include "core/interop/table.h"
#include "choices.h"
#include "guard.h"

using capi::guard;
using capi::in;
using capi::not_null;
using capi::Out;

namespace {

td::TableOptions table_in(td_table_format format, const char* separator) {
  return {capi::choice_in<td::TableFormat>(format, TD_TABLE_CSV, TD_TABLE_JSON, "format"),
          separator == nullptr ? "" : separator};
}

}  // namespace

td_status td_table_load(const char* file, td_table_format format, const char* separator,
                        td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    out.put(td::load_table(not_null(file, "file"), table_in(format, separator)));
  });
}

td_status td_table_save(const td_tensordict* td, const char* file, td_table_format format,
                        const char* separator) noexcept {
  return guard(__func__, [&] {
    auto dict = in(td);
    td::save_table(dict, not_null(file, "file"), table_in(format, separator));
  });
}
