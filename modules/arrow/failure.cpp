#include "failure.h"

#include <cstring>

namespace arrow_module {

namespace {

int errno_of(arrow::StatusCode code) noexcept {
  switch (code) {
    case arrow::StatusCode::OutOfMemory: return ENOMEM;
    case arrow::StatusCode::IOError: return EIO;
    case arrow::StatusCode::NotImplemented: return ENOSYS;
    default: return EINVAL;
  }
}

}  // namespace

int report(const arrow::Status &status, TdArrowError *error) noexcept {
  if (status.ok()) return 0;
  std::strncpy(error->text, status.message().c_str(), sizeof error->text - 1);
  error->text[sizeof error->text - 1] = '\0';
  return errno_of(status.code());
}

}  // namespace arrow_module

std::int32_t td_arrow_module_version() { return TD_ARROW_MODULE_VERSION; }
