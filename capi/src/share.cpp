// tensordict/td_share.h
#include "arguments.h"
#include "give.h"
#include "guard.h"

#include "core/consolidated/share.h"

td_status td_share_memory(td_tensordict* td) noexcept {
  return guard(__func__, [&] { td::share_memory(in(td)); });
}

td_status td_is_shared(const td_tensordict* td, int32_t* result) noexcept {
  return guard_plain(__func__,
                     [&] { *not_null(result, "result") = td::is_shared(in(td)) ? 1 : 0; });
}

td_status td_shared_name(const td_tensordict* td, char* text, size_t text_cap,
                         size_t* length) noexcept {
  return guard(__func__, [&] {
    not_null(length, "length");
    capi::write_text(td::shared_name(in(td)), text, text_cap, length);
  });
}

td_status td_shared_open(const char* name, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return td::open_shared(not_null(name, "name")); });
}
