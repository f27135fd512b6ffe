// tensordict/td_layout.h
#include "td/layout.h"
#include "arguments.h"
#include "guard.h"

#include <deque>

using capi::guard;
using capi::in;
using capi::Out;

namespace {

// The members as the core wants them. Paths are viewed, not copied.
class Members {
 public:
  Members(const td_member* members, std::size_t count, std::size_t item_bytes)
      : item_bytes_(item_bytes) {
    if (count != 0) capi::not_null(members, "members");
    for (std::size_t i = 0; i < count; ++i) {
      const td_member& member = members[i];
      if (member.reserved != 0) {
        td::fail(td::Code::invalid_argument, "member ", i,
                 " has a reserved field that is not zero");
      }
      paths_.emplace_back(member.path, member.path_len);
      fields_.push_back({paths_.back(), capi::dtype_in(member.dtype),
                         capi::sizes_in(member.sizes, member.dims), member.offset});
    }
  }
  td::Layout layout() const { return {fields_, item_bytes_}; }

 private:
  std::deque<capi::PathIn> paths_;
  std::vector<td::Field> fields_;
  std::size_t item_bytes_;
};

}  // namespace

td_status td_from_structs(const void* data, size_t bytes, const int64_t* batch_size,
                          size_t batch_dims, size_t item_bytes, const td_member* members,
                          size_t members_len, td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    out.put(td::from_structs(data, bytes, capi::sizes_in(batch_size, batch_dims, "batch_size"),
                             Members(members, members_len, item_bytes).layout()));
  });
}

td_status td_view_structs(void* data, size_t bytes, const int64_t* batch_size, size_t batch_dims,
                          size_t item_bytes, const td_member* members, size_t members_len,
                          td_release_fn release, void* user, td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    std::shared_ptr<void> owner;
    if (release != nullptr) owner = std::shared_ptr<void>(user, release);
    Out<td_tensordict> out(result);
    out.put(td::view_structs(data, bytes, capi::sizes_in(batch_size, batch_dims, "batch_size"),
                             Members(members, members_len, item_bytes).layout(), owner));
  });
}

td_status td_to_structs(const td_tensordict* td, void* data, size_t bytes, size_t item_bytes,
                        const td_member* members, size_t members_len) noexcept {
  return guard(__func__, [&] {
    td::to_structs(in(td), data, bytes, Members(members, members_len, item_bytes).layout());
  });
}
