// core/nn/guarded.h: converts exceptions of libtorch while it loads or runs a module.
#pragma once

#include "core/base/error.h"

#include <c10/util/Exception.h>

#include <exception>
#include <new>
#include <string>

namespace td {

// libtorch's interpreter wraps what a failed allocation threw.
inline void rethrow_no_memory(const std::string& text) {
  for (const char* const sign : {"can't allocate memory", "not enough memory"})
    if (text.find(sign) != std::string::npos) throw std::bad_alloc();
}

// Passes the error's text, without its backtrace, to `told`, which throws. Out-of-memory errors stay such
// errors.
template <class Call, class Told>
decltype(auto) guarded(Call&& call, Told&& told) {
  try {
    return call();
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const c10::Error& error) {
    const std::string text(error.what_without_backtrace());
    rethrow_no_memory(text);
    told(text);
    throw;
  } catch (const std::exception& error) {
    const std::string text(error.what());
    rethrow_no_memory(text);
    told(text);
    throw;
  }
}

}  // namespace td
