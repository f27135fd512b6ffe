// core/nn/guarded.h: what libtorch throws while it reads or runs a module, as our errors.
#pragma once

#include "core/base/error.h"

#include <c10/util/Exception.h>

#include <exception>
#include <new>
#include <string>

namespace td {

// `told` gets the text without a backtrace, and throws. Memory that ran out stays what it is.
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
