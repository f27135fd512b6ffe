// tensordict/td_sub_tensordict.h
#include "arguments.h"
#include "guard.h"

#include "core/tree/sub_tensordict.h"

using capi::guard;
using capi::guard_plain;
using capi::in;
using capi::Out;

td_status td_sub_tensordict(const td_tensordict* td, const td_index_item* items, size_t items_len,
                            td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    out.put(td::sub_tensordict(in(td), capi::items_in(items, items_len)));
  });
}

td_status td_sub_tensordict_parent(const td_tensordict* td, td_tensordict** result) noexcept {
  return guard_plain(__func__, [&] {
    Out<td_tensordict> out(result);
    out.put(td::parent_of(in(td)));
  });
}
