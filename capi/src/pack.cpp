// tensordict/td_pack.h
#include "tensordict/td_pack.h"

#include "core/shape/pack.h"
#include "give.h"
#include "guard.h"

td_status td_pack(const td_tensordict* td, int64_t dim, const char* layout,
                  td_tensor** result) noexcept {
  return give(__func__, result, [&] {
    if (layout == nullptr) return td::pack(in(td), dim);
    const td::PackLayout given = td::read_layout(layout);
    return td::pack(in(td), dim, &given);
  });
}

td_status td_pack_layout(const td_tensordict* td, int64_t dim, char* text, size_t text_cap,
                         size_t* length) noexcept {
  return guard(__func__, [&] {
    capi::write_text(td::layout_text(td::pack_layout(in(td), dim)), text, text_cap, length);
  });
}

td_status td_unpack(const td_tensor* packed, const char* layout, td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    not_null(layout, "layout");
    return td::unpack(td::read_layout(layout), in(packed));
  });
}
