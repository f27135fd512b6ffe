// tensordict/td_device.h
#include "choices.h"
#include "core/inspect/nbytes.h"
#include "core/keys/convert_keys.h"
#include "core/tree/copies.h"
#include "give.h"
#include "guard.h"
#include "keys_in.h"

namespace {

// The size of td_to_options in its first version.
constexpr std::size_t first_to_options = offsetof(td_to_options, pin_memory);

// The measures that the core has as one number.
td::Measure measure_in(td_measure_kind kind) {
  switch (kind) {
    case TD_MEASURE_ELEMENTS: return td::Measure::elements;
    case TD_MEASURE_ELEMENTS_ONCE: return td::Measure::elements_once;
    case TD_MEASURE_BYTES: return td::Measure::bytes;
    case TD_MEASURE_BYTES_ONCE: return td::Measure::bytes_once;
    case TD_MEASURE_IS_FLOATING_POINT: return td::Measure::is_floating_point;
    case TD_MEASURE_REQUIRES_GRAD: return td::Measure::requires_grad;
    case TD_MEASURE_IS_PINNED: return td::Measure::is_pinned;
    default: td::fail(td::Code::invalid_argument, "kind is ", kind, ", which is not a measure");
  }
}

constexpr bool same_bit(int ours, int theirs) { return ours == theirs; }
static_assert(same_bit(TD_TO_KINDS_FLOATING, td::floating_kinds) &&
              same_bit(TD_TO_KINDS_COMPLEX, td::complex_kinds) &&
              same_bit(TD_TO_KINDS_INTEGER, td::integer_kinds) &&
              same_bit(TD_TO_KINDS_BOOL, td::bool_kinds));

std::uint32_t kinds_in(td_to_kinds kinds) {
  check_flags(kinds,
              TD_TO_KINDS_FLOATING | TD_TO_KINDS_COMPLEX | TD_TO_KINDS_INTEGER | TD_TO_KINDS_BOOL);
  return kinds;
}

td_to_options options_of(const td_to_options* options) {
  return capi::options_in(options, td_to_options TD_TO_OPTIONS_INIT, first_to_options);
}

td::TensorDict converted(const td::TensorDict& from, const td_tensordict* like, td_dtype dtype,
                         td_device_type device_type, int32_t device_index,
                         const td_to_options* options, bool inplace) {
  const td_to_options given = options_of(options);
  OptionalDict model(like);
  const KeysIn keys(given.keys, given.keys_len);
  td::ConvertOptions wanted;
  if (dtype != TD_DTYPE_OTHER) wanted.dtype = capi::dtype_in(dtype);
  wanted.device = capi::device_in(device_type, device_index);
  wanted.non_blocking = given.non_blocking != 0;
  wanted.pin = given.pin_memory != 0;
  wanted.inplace = inplace;
  wanted.like = model.get();
  wanted.each_like = given.each_like != 0;
  wanted.kinds = kinds_in(given.kinds);
  capi::require_zero(given.reserved);
  return td::convert_keys(
      from, given.keys_len != 0 ? std::optional<td::PathList>(keys) : std::nullopt, wanted);
}

}  // namespace

td_status td_to_device(const td_tensordict* td, td_device_type device_type, int32_t device_index,
                       const td_to_options* options, td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    return in(td)->to(capi::real_device_in(device_type, device_index),
                      options_of(options).non_blocking != 0);
  });
}

td_status td_to_dtype(const td_tensordict* td, td_dtype dtype, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return in(td)->to(capi::dtype_in(dtype)); });
}

td_status td_to(const td_tensordict* td, const td_tensordict* like, td_dtype dtype,
                td_device_type device_type, int32_t device_index, const td_to_options* options,
                td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    return converted(in(td), like, dtype, device_type, device_index, options, /*inplace=*/false);
  });
}

td_status td_to_inplace(td_tensordict* td, const td_tensordict* like, td_dtype dtype,
                        td_device_type device_type, int32_t device_index,
                        const td_to_options* options) noexcept {
  return guard(__func__, [&] {
    converted(in(td), like, dtype, device_type, device_index, options, /*inplace=*/true);
  });
}

td_status td_clear_device(td_tensordict* td) noexcept {
  return guard(__func__, [&] { in(td)->clear_device(); });
}

td_status td_auto_device(td_tensordict* td) noexcept {
  return guard(__func__, [&] { td::set_common_device(in(td)); });
}

td_status td_record_stream(const td_tensordict* td, td_device_type device_type,
                           int32_t device_index, int64_t stream) noexcept {
  return guard(__func__, [&] {
    auto dict = in(td);
    td::record_stream(dict, capi::real_device_in(device_type, device_index), stream);
  });
}

td_status td_measure(const td_tensordict* td, td_measure_kind kind, int64_t* result) noexcept {
  return guard(__func__, [&] {
    *not_null(result, "result") = 0;
    if (kind == TD_MEASURE_DTYPE) {
      const auto dtype = td::common_dtype(in(td));
      *result = dtype ? capi::dtype_out(*dtype) : TD_DTYPE_OTHER;
    } else {
      *result = td::measure(in(td), measure_in(kind));
    }
  });
}

td_status td_data_pointers(const td_tensordict* td, td_data_pointers_flags flags,
                           int64_t* addresses, size_t addresses_cap, size_t* count) noexcept {
  return guard(__func__, [&] {
    const bool storage = capi::flag_in(flags, TD_DATA_POINTERS_STORAGE);
    capi::write_sizes(td::data_pointers(in(td), storage), addresses, addresses_cap, count);
  });
}
