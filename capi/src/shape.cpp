// tensordict/td_shape.h
#include "arguments.h"
#include "choices.h"
#include "give.h"
#include "guard.h"

#include "core/shape/join.h"
#include "core/shape/shape.h"

td_status td_view(const td_tensordict* td, const int64_t* sizes, size_t dims,
                  td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(td)->view(sizes_in(sizes, dims)); });
}

td_status td_reshape(const td_tensordict* td, const int64_t* sizes, size_t dims,
                     td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(td)->reshape(sizes_in(sizes, dims)); });
}

td_status td_permute(const td_tensordict* td, const int64_t* order, size_t dims,
                     td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(td)->permute(sizes_in(order, dims, "order")); });
}

td_status td_transpose(const td_tensordict* td, int64_t dim0, int64_t dim1,
                       td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(td)->transpose(dim0, dim1); });
}

td_status td_squeeze(const td_tensordict* td, int64_t dim, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(td)->squeeze(dim); });
}

td_status td_squeeze_all(const td_tensordict* td, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(td)->squeeze(); });
}

td_status td_unsqueeze(const td_tensordict* td, int64_t dim, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(td)->unsqueeze(dim); });
}

td_status td_expand(const td_tensordict* td, const int64_t* sizes, size_t dims,
                    td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(td)->expand(sizes_in(sizes, dims)); });
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
  return give(__func__, result,
              [&] { return td::stack(capi::dicts_in(sources, sources_len), dim); });
}

td_status td_cat(const td_tensordict* const* sources, size_t sources_len, int64_t dim,
                 td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return td::cat(capi::dicts_in(sources, sources_len), dim); });
}

td_status td_contiguous(const td_tensordict* td, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(td)->contiguous(); });
}

td_status td_flatten(const td_tensordict* td, int64_t start, int64_t end,
                     td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return td::flatten(in(td), start, end); });
}

td_status td_unflatten(const td_tensordict* td, int64_t dim, const int64_t* sizes, size_t dims,
                       td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return td::unflatten(in(td), dim, sizes_in(sizes, dims)); });
}

td_status td_movedim(const td_tensordict* td, const int64_t* from, const int64_t* to, size_t dims,
                     td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    return td::move_dims(in(td), sizes_in(from, dims, "from"), sizes_in(to, dims, "to"));
  });
}

td_status td_narrow(const td_tensordict* td, int64_t dim, int64_t start, int64_t length,
                    td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return td::narrow(in(td), dim, start, length); });
}

td_status td_atleast(const td_tensordict* td, size_t dims, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return td::atleast(in(td), dims); });
}

td_status td_split(const td_tensordict* td, int64_t dim, td_split_kind kind, const int64_t* numbers,
                   size_t numbers_len, td_tensordict** results, size_t results_cap,
                   size_t* count) noexcept {
  return guard(__func__, [&] {
    capi::OutList<td_tensordict> out(results, results_cap, count);
    auto source = in(td);
    const td::Sizes lengths =
        td::split_lengths(source, dim, capi::choice_in<td::Split>(kind, 0, 4, "kind"),
                          capi::numbers_in(numbers, numbers_len, "numbers"));
    if (out.expect(lengths.size())) out.put(td::split(source, dim, lengths));
  });
}

td_status td_view_dtype(const td_tensordict* td, td_dtype dtype, td_view_dtype_flags flags,
                        const int64_t* sizes, size_t dims, td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    const td::Sizes given = sizes_in(sizes, dims);
    std::optional<td::SizesView> batch;
    if (capi::flag_in(flags, TD_VIEW_DTYPE_HAS_SIZES)) batch = given;
    return td::view_as(in(td), capi::dtype_in(dtype), batch);
  });
}

td_status td_contiguous_canonical(const td_tensordict* td, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return td::contiguous(in(td), /*canonical=*/true); });
}

td_status td_is_contiguous(const td_tensordict* td, int32_t* result) noexcept {
  return guard(__func__, [&] { *not_null(result, "result") = td::is_contiguous(in(td)) ? 1 : 0; });
}

td_status td_become(td_tensordict* td, const td_tensordict* source) noexcept {
  return guard(__func__, [&] { td::become(in(td), in(source)); });
}
