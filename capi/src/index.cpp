// tensordict/td_index.h
#include "arguments.h"
#include "give.h"
#include "guard.h"

#include "core/tensor/tensor_index.h"

td_status td_index(const td_tensordict* td, const td_index_item* items, size_t items_len,
                   td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(td)->index(items_in(items, items_len)); });
}

td_status td_set_at(td_tensordict* td, const td_index_item* items, size_t items_len,
                    const td_tensordict* source) noexcept {
  return guard(__func__, [&] { in(td)->set_at(items_in(items, items_len), in(source)); });
}

td_status td_fill_at(td_tensordict* td, const td_index_item* items, size_t items_len,
                     const td_tensor* source) noexcept {
  return guard(__func__, [&] { in(td)->fill_at(items_in(items, items_len), in(source)); });
}

td_status td_tensor_index(const td_tensor* tensor, const td_index_item* items, size_t items_len,
                          td_tensor** result) noexcept {
  return give(__func__, result,
              [&] { return td::tensor_index(in(tensor), items_in(items, items_len)); });
}

td_status td_tensor_set_at(td_tensor* tensor, const td_index_item* items, size_t items_len,
                           const td_tensor* source) noexcept {
  return guard(__func__,
               [&] { td::tensor_set_at(in(tensor), items_in(items, items_len), in(source)); });
}

td_status td_index_parse(const char* text, td_index_item* items, size_t items_cap,
                         size_t* items_len) noexcept {
  return guard_plain(__func__, [&] {
    not_null(items_len, "items_len");
    capi::write_items(td::parse_index(not_null(text, "text")), items, items_cap, items_len);
  });
}
