// give.h: the whole of a function that makes one result handle.
#pragma once

#include "arguments.h"
#include "guard.h"

namespace capi {

// Clears the result, and gives out what `make` returns.
template <class Handle, class Make>
td_status give(const char* function, Handle** result, Make&& make) noexcept {
  return guard(function, [&] {
    Out<Handle> out(result);
    out.put(make());
  });
}

// For calls that run no operator of libtorch.
template <class Handle, class Make>
td_status give_plain(const char* function, Handle** result, Make&& make) noexcept {
  return guard_plain(function, [&] {
    Out<Handle> out(result);
    out.put(make());
  });
}

}  // namespace capi

using capi::give;
using capi::give_plain;
