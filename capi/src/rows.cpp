// tensordict/td_rows.h
#include "tensordict/td_rows.h"

#include "choices.h"
#include "core/keys/group_by.h"
#include "core/shape/pad.h"
#include "core/shape/select_rows.h"
#include "give.h"
#include "guard.h"
#include "keys_in.h"

namespace {

using DictOut = Out<td_tensordict>;

// The size of td_pad_sequence_options in its first version.
constexpr std::size_t first_pad_sequence_options = offsetof(td_pad_sequence_options, keys);

}  // namespace

td_status td_repeat(const td_tensordict* td, const int64_t* counts, size_t dims,
                    td_repeat_flags flags, td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    const td::Sizes given = sizes_in(counts, dims, "counts");
    return capi::flag_in(flags, TD_REPEAT_TILE) ? td::tile(in(td), given)
                                                : td::repeat(in(td), given);
  });
}

td_status td_repeat_interleave(const td_tensordict* td, const td_tensor* repeats, int64_t dim,
                               td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return td::repeat_interleave(in(td), in(repeats), dim); });
}

td_status td_roll(const td_tensordict* td, const int64_t* shifts, const int64_t* along, size_t dims,
                  td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    const bool all = along == nullptr && dims != 0;
    const td::Sizes given = sizes_in(along, all ? 0 : dims, "along");
    return td::roll(in(td), sizes_in(shifts, dims, "shifts"),
                    all ? std::nullopt : std::optional<td::SizesView>(given));
  });
}

td_status td_flip(const td_tensordict* td, const int64_t* order, size_t dims,
                  td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return td::flip(in(td), sizes_in(order, dims, "order")); });
}

td_status td_rot90(const td_tensordict* td, int64_t times, int64_t dim0, int64_t dim1,
                   td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return td::rot90(in(td), times, dim0, dim1); });
}

td_status td_gather(const td_tensordict* td, int64_t dim, const td_tensor* index,
                    td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return td::gather(in(td), dim, in(index)); });
}

td_status td_pad(const td_tensordict* td, const int64_t* sizes, size_t dims, double value,
                 td_tensordict** result) noexcept {
  return give(__func__, result,
              [&] { return td::pad(in(td), capi::numbers_in(sizes, dims, "sizes"), value); });
}

td_status td_pad_sequence(const td_tensordict* const* sources, size_t sources_len,
                          const td_pad_sequence_options* options, td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    const td_pad_sequence_options given = capi::options_in(
        options, td_pad_sequence_options TD_PAD_SEQUENCE_OPTIONS_INIT, first_pad_sequence_options);
    const capi::OptionalPath masks(given.masks, given.masks_len);
    return td::pad_sequence(
        capi::dicts_in(sources, sources_len),
        {given.dim, given.value, masks, given.left != 0, KeysIn(given.keys, given.keys_len),
         capi::array_in(given.values, given.keys_len, "values")});
  });
}

td_status td_unpad_sequence(const td_tensordict* td, const td_unpad_sequence_options* options,
                            td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    const td_unpad_sequence_options given =
        capi::options_in(options, td_unpad_sequence_options TD_UNPAD_SEQUENCE_OPTIONS_INIT);
    capi::require_zero(given.reserved);
    capi::OptionalTensor mask(given.mask);
    OptionalDict masks(given.masks);
    return td::unpad_sequence(in(td), {given.dim, mask.get(), masks.get()});
  });
}

td_status td_isin(const td_tensordict* td, const td_tensordict* reference, const char* const* path,
                  size_t path_len, int64_t dim, td_tensor** result) noexcept {
  return give(__func__, result,
              [&] { return td::is_in(in(td), in(reference), PathIn(path, path_len), dim); });
}

td_status td_remove_duplicates(const td_tensordict* td, const char* const* path, size_t path_len,
                               int64_t dim, td_tensordict** result,
                               td_tensor** positions) noexcept {
  return guard(__func__, [&] {
    capi::clear_results(result, positions);
    DictOut out(result);
    Out<td_tensor> positions_out(positions);
    at::Tensor left;
    out.put(td::remove_duplicates(in(td), PathIn(path, path_len), dim, &left));
    positions_out.put(std::move(left));
  });
}

td_status td_group_by(const td_tensordict* td, const char* const* path, size_t path_len,
                      td_tensordict** values, td_tensordict** results, size_t results_cap,
                      size_t* count) noexcept {
  return guard(__func__, [&] {
    DictOut values_out(values);
    capi::OutList<td_tensordict> groups_out(results, results_cap, count);
    td::Groups result = td::group_by(in(td), PathIn(path, path_len));
    if (groups_out.expect(result.groups.size())) groups_out.put(std::move(result.groups));
    values_out.put(result.values);
  });
}
