// tensordict/td_mask.h
#include "tensordict/td_mask.h"

#include "choices.h"
#include "core/keys/masked.h"
#include "give.h"
#include "guard.h"

namespace {

using DictOut = Out<td_tensordict>;

}  // namespace

td_status td_masked_select(const td_tensordict* td, const td_tensor* mask,
                           td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return td::masked_select(in(td), in(mask)); });
}

td_status td_masked_fill(const td_tensordict* td, const td_tensor* mask, const td_tensor* value,
                         td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return td::masked_fill(in(td), in(mask), in(value)); });
}

td_status td_masked_fill_inplace(td_tensordict* td, const td_tensor* mask,
                                 const td_tensor* value) noexcept {
  return guard(__func__, [&] { td::masked_fill_(in(td), in(mask), in(value)); });
}

td_status td_where(const td_tensordict* td, const td_tensor* condition, const td_tensordict* other,
                   const td_tensor* value, td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    DictOut out(result);
    std::optional<at::Tensor> given;
    if (value != nullptr) given = *in(value);
    if (other != nullptr) return out.put(td::where(in(td), in(condition), in(other), given));
    not_null(value, "value");
    out.put(td::where(in(td), in(condition), *given));
  });
}

td_status td_tensor_expand_right(const td_tensor* tensor, const int64_t* sizes, size_t dims,
                                 td_tensor** result) noexcept {
  return give(__func__, result,
              [&] { return td::expand_right(in(tensor), sizes_in(sizes, dims)); });
}
