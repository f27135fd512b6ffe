// members_in.h: converts the members of a struct to the type of the core.
#pragma once

#include "arguments.h"
#include "core/inspect/layout.h"

#include <deque>
#include <vector>

namespace capi {

// Views the paths of the caller.
class MembersIn {
 public:
  MembersIn(const td_member* members, std::size_t count, std::size_t item_bytes)
      : item_bytes_(item_bytes) {
    if (count != 0) not_null(members, "members");
    for (std::size_t i = 0; i < count; ++i) {
      const td_member& member = members[i];
      if (member.reserved != 0) {
        td::fail(td::Code::invalid_argument, "member ", i,
                 " has a reserved field that is not zero");
      }
      paths_.emplace_back(member.path, member.path_len);
      sizes_.push_back(sizes_in(member.sizes, member.dims));
      fields_.push_back({paths_.back(), dtype_in(member.dtype), sizes_.back(), member.offset});
    }
  }
  td::Layout layout() const { return {fields_, item_bytes_}; }

 private:
  std::deque<PathIn> paths_;
  std::deque<td::Sizes> sizes_;
  std::vector<td::Field> fields_;
  std::size_t item_bytes_;
};

}  // namespace capi

using capi::MembersIn;
