// core/nn/guarded.h: converts exceptions of libtorch while it loads or runs a module.
#pragma once

#include "core/base/error.h"

#include <c10/util/Exception.h>

#include <exception>
#include <new>
#include <string>

namespace td {

// Passes the error's text, without its backtrace, to `told`, which throws. Out-of-memory errors pass
// unchanged.
template <class Call, class Told>
decltype(auto) guarded(Call&& call, Told&& told) {
  try {
    return call();
  } catch (const c10::OutOfMemoryError&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const c10::Error& error) {
    told(std::string(error.what_without_backtrace()));
    throw;
  } catch (const std::exception& error) {
    told(std::string(error.what()));
    throw;
  }
}

}  // namespace td
