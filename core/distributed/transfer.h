// core/distributed/transfer.h: what calls between two ranks share.
#pragma once

#include "core/distributed/group.h"

#include <string>
#include <string_view>

namespace td::distributed {

// Messages use tags that Python's calls do not use, so that neither is received in place of the
// other: gloo ends the process when more bytes arrive than the receiver has room for.
constexpr int last_tag = (1 << 28) - 1;
// Code::invalid_argument if there are not as many tags from `init_tag` on.
void check_tags(const GroupCall& call, std::size_t leaves);

std::string from_rank(int rank);
std::string to_rank(int rank);

at::Tensor bytes_of(const void* data, std::size_t bytes);
inline std::string_view text_in(const at::Tensor& row, std::size_t bytes) {
  return {static_cast<const char*>(row.data_ptr()), bytes};
}
// Received bytes as a tensor of the dtype and shape of `like`.
at::Tensor view_like(const at::Tensor& bytes, std::size_t start, const at::Tensor& like);

}  // namespace td::distributed
