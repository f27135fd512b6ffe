// modules/arrow/failure.h: converts failures of the Arrow libraries to a number and a text. No exception
// leaves the module.
#pragma once

#define TD_ARROW_MODULE
#include "core/arrow/module.h"

#include <arrow/status.h>

#include <cerrno>
#include <exception>
#include <new>
#include <utility>

namespace arrow_module {

// The status that `f` returns or throws: Parquet's readers and writers throw.
template <class F>
arrow::Status without_exception(F &&f) {
  try {
    return std::forward<F>(f)();
  } catch (const std::bad_alloc &) {
    return arrow::Status::OutOfMemory("no memory");
  } catch (const std::exception &error) {
    return arrow::Status::Invalid(error.what());
  } catch (...) {
    return arrow::Status::UnknownError("an unknown exception");
  }
}

// Returns 0, or an errno and fills the text.
int report(const arrow::Status &status, TdArrowError *error) noexcept;

template <class F>
int reported(TdArrowError *error, F &&f) noexcept {
  try {
    return report(without_exception(std::forward<F>(f)), error);
  } catch (...) {  // no memory for a text
    error->text[0] = '\0';
    return ENOMEM;
  }
}

}  // namespace arrow_module
