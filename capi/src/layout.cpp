// tensordict/td_layout.h
#include "give.h"
#include "guard.h"
#include "members_in.h"
#include "owner.h"

td_status td_from_structs(const void* data, size_t bytes, const int64_t* batch_size,
                          size_t batch_dims, size_t item_bytes, const td_member* members,
                          size_t members_len, td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    return td::from_structs(data, bytes, sizes_in(batch_size, batch_dims, "batch_size"),
                            MembersIn(members, members_len, item_bytes).layout());
  });
}

td_status td_view_structs(void* data, size_t bytes, const int64_t* batch_size, size_t batch_dims,
                          size_t item_bytes, const td_member* members, size_t members_len,
                          td_release_fn release, void* user, td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    capi::Owner owner(release, user);
    Out<td_tensordict> out(result);
    out.put(td::view_structs(data, bytes, sizes_in(batch_size, batch_dims, "batch_size"),
                             MembersIn(members, members_len, item_bytes).layout(), owner.share()));
  });
}

td_status td_to_structs(const td_tensordict* td, void* data, size_t bytes, size_t item_bytes,
                        const td_member* members, size_t members_len) noexcept {
  return guard(__func__, [&] {
    td::to_structs(in(td), data, bytes, MembersIn(members, members_len, item_bytes).layout());
  });
}
