// tensordict/td_device.h
#include "arguments.h"
#include "guard.h"

using capi::guard;
using capi::in;
using capi::Out;

td_status td_to_device(const td_tensordict* td, td_device_type device_type, int32_t device_index,
                       const td_to_options* options, td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    const td_to_options given =
        capi::options_in(options, td_to_options TD_TO_OPTIONS_INIT, sizeof(td_to_options));
    out.put(in(td)->to(capi::real_device_in(device_type, device_index), given.non_blocking != 0));
  });
}

td_status td_to_dtype(const td_tensordict* td, td_dtype dtype, td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    out.put(in(td)->to(capi::dtype_in(dtype)));
  });
}

td_status td_clear_device(td_tensordict* td) noexcept {
  return guard(__func__, [&] { in(td)->clear_device(); });
}
