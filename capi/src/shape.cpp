// tensordict/td_shape.h
#include "arguments.h"
#include "guard.h"

using capi::guard;
using capi::in;
using capi::sizes_in;

namespace {

using DictOut = capi::Out<td_tensordict>;

}  // namespace

td_status td_view(const td_tensordict* td, const int64_t* sizes, size_t dims,
                  td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    DictOut out(result);
    out.put(in(td)->view(sizes_in(sizes, dims)));
  });
}

td_status td_reshape(const td_tensordict* td, const int64_t* sizes, size_t dims,
                     td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    DictOut out(result);
    out.put(in(td)->reshape(sizes_in(sizes, dims)));
  });
}

td_status td_permute(const td_tensordict* td, const int64_t* order, size_t dims,
                     td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    DictOut out(result);
    out.put(in(td)->permute(sizes_in(order, dims, "order")));
  });
}

td_status td_transpose(const td_tensordict* td, int64_t dim0, int64_t dim1,
                       td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    DictOut out(result);
    out.put(in(td)->transpose(dim0, dim1));
  });
}

td_status td_squeeze(const td_tensordict* td, int64_t dim, td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    DictOut out(result);
    out.put(in(td)->squeeze(dim));
  });
}

td_status td_squeeze_all(const td_tensordict* td, td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    DictOut out(result);
    out.put(in(td)->squeeze());
  });
}

td_status td_unsqueeze(const td_tensordict* td, int64_t dim, td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    DictOut out(result);
    out.put(in(td)->unsqueeze(dim));
  });
}

td_status td_expand(const td_tensordict* td, const int64_t* sizes, size_t dims,
                    td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    DictOut out(result);
    out.put(in(td)->expand(sizes_in(sizes, dims)));
  });
}

td_status td_unbind(const td_tensordict* td, int64_t dim, td_tensordict** results,
                    size_t results_cap, size_t* count) noexcept {
  return guard(__func__, [&] {
    capi::OutList<td_tensordict> out(results, results_cap, count);
    auto source = in(td);
    if (out.expect(source->dim_size(dim))) out.put(source->unbind(dim));
  });
}

td_status td_stack(const td_tensordict* const* sources, size_t sources_len, int64_t dim,
                   td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    DictOut out(result);
    out.put(td::TensorDict::stack(capi::dicts_in(sources, sources_len), dim));
  });
}

td_status td_cat(const td_tensordict* const* sources, size_t sources_len, int64_t dim,
                 td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    DictOut out(result);
    out.put(td::TensorDict::cat(capi::dicts_in(sources, sources_len), dim));
  });
}

td_status td_contiguous(const td_tensordict* td, td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    DictOut out(result);
    out.put(in(td)->contiguous());
  });
}
