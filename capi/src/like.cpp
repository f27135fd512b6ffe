// tensordict/td_like.h
#include "tensordict/td_like.h"

#include "choices.h"
#include "core/math/allclose.h"
#include "core/shape/fill.h"
#include "give.h"
#include "guard.h"

namespace {

td::FillOptions fill_in(td_like_kind kind, const td_like_options* options) {
  const td_like_options given = capi::options_in(options, td_like_options TD_LIKE_OPTIONS_INIT);
  td::FillOptions result;
  result.kind = capi::choice_in<td::Filling>(kind, 0, 5, "kind");
  result.value = given.value;
  if (given.dtype != TD_DTYPE_OTHER) result.dtype = capi::dtype_in(given.dtype);
  result.device = capi::device_in(given.device_type, given.device_index);
  return result;
}

td::CloseOptions close_in(const td_allclose_options* options) {
  const td_allclose_options given =
      capi::options_in(options, td_allclose_options TD_ALLCLOSE_OPTIONS_INIT);
  td::CloseOptions result;
  result.equal_nan = given.nan_differs == 0;
  result.common_keys = given.common_keys != 0;
  if (given.has_tolerance == 0) return result;
  if (!(given.relative >= 0 && given.absolute >= 0)) {
    td::fail(td::Code::invalid_argument, "tolerances are ", given.relative, " and ", given.absolute,
             "; they must be at least 0");
  }
  result.relative = given.relative;
  result.absolute = given.absolute;
  return result;
}

}  // namespace

td_status td_like(const td_tensordict* td, td_like_kind kind, const td_like_options* options,
                  td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return td::filled_like(in(td), fill_in(kind, options)); });
}

td_status td_like_sized(const td_tensordict* td, td_like_kind kind, const int64_t* sizes,
                        size_t dims, const td_like_options* options,
                        td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    return td::filled_new(in(td), sizes_in(sizes, dims), fill_in(kind, options));
  });
}

td_status td_allclose(const td_tensordict* td, const td_tensordict* other,
                      const td_allclose_options* options, int32_t* result, char* text,
                      size_t text_cap, size_t* length) noexcept {
  return guard(__func__, [&] {
    not_null(result, "result");
    not_null(length, "length");
    const std::string found = td::difference(in(td), in(other), close_in(options));
    *result = found.empty() ? 1 : 0;
    capi::write_text(found, text, text_cap, length);
  });
}
