// tensordict/td_sub_tensordict.h
#include "arguments.h"
#include "give.h"

#include "core/tree/sub_tensordict.h"

td_status td_sub_tensordict(const td_tensordict* td, const td_index_item* items, size_t items_len,
                            td_tensordict** result) noexcept {
  return give(__func__, result,
              [&] { return td::sub_tensordict(in(td), items_in(items, items_len)); });
}

td_status td_sub_tensordict_parent(const td_tensordict* td, td_tensordict** result) noexcept {
  return give_plain(__func__, result, [&] { return td::parent_of(in(td)); });
}
