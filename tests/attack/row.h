// A row that only draws arguments and makes a call names their kinds: ROW(td_get, reads, Source, Key, OutTensor).
#pragma once

#include "operation.h"

#include <tuple>

namespace attack {

// The kinds of arguments, in the order in which they are drawn. `td` is the first dictionary, which most of them look at.
namespace drawn {

#define DRAWN(kind, ...)                                                          \
  struct kind {                                                                   \
    static auto of(Call &c, [[maybe_unused]] td_tensordict *&td) { __VA_ARGS__; } \
  }

DRAWN(Target, return std::make_tuple(td = c.target()));
DRAWN(Source, const td_tensordict *source = c.source(); td = const_cast<td_tensordict *>(source);
      return std::make_tuple(source));
DRAWN(Another, return std::make_tuple(c.source()));
DRAWN(Like, return std::make_tuple(c.source_like(td)));
DRAWN(Beside, return std::make_tuple(c.source_beside(td)));
DRAWN(Several, const auto &all = c.several(); td = const_cast<td_tensordict *>(all[0]);
      return std::make_tuple(all.data(), all.size()));
DRAWN(Key, const auto &path = c.path(td); return std::make_tuple(path.data(), path.size()));
DRAWN(At, const auto &items = c.items(Call::batch(td)).items;
      return std::make_tuple(items.data(), items.size()));
DRAWN(Dim, return std::make_tuple(c.dim(Call::batch(td))));
DRAWN(Tensor, return std::make_tuple(c.tensor()));
DRAWN(TensorOf, return std::make_tuple(c.tensor_of(Call::batch(td))));
DRAWN(TargetTensor, return std::make_tuple(c.target_tensor()));
DRAWN(Mask, return std::make_tuple(c.mask(Call::batch(td))));
DRAWN(OutDict, return std::make_tuple(c.dict()));
DRAWN(OutDicts, return std::make_tuple(c.dicts(8), std::size_t{8}, c.out_count()));
DRAWN(OutTensor, return std::make_tuple(c.out_tensor()));
DRAWN(OutFlag, return std::make_tuple(c.out_flag()));
DRAWN(OutCount, return std::make_tuple(c.out_count()));
DRAWN(OutKeys, return std::make_tuple(c.out_keys()));
DRAWN(OutText, return std::make_tuple(c.out_text(), Call::text_room, c.out_count()));
DRAWN(OutSizes, return std::make_tuple(c.sizes(Sizes(8, 0)).data(), std::size_t{8}, c.out_count()));
#undef DRAWN

}  // namespace drawn

template <auto Function, class... Kinds>
td_status call_of(Call &c) {
  td_tensordict *td = nullptr;
  // In braces they are drawn from left to right.
  const std::tuple<decltype(Kinds::of(c, td))...> arguments{Kinds::of(c, td)...};
  return std::apply(
      [](const auto &...each) { return std::apply(Function, std::tuple_cat(each...)); }, arguments);
}

#define ROW(function, flags, ...) \
  { #function, flags, call_of < function, __VA_ARGS__> }

}  // namespace attack
