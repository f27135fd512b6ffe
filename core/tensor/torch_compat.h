// core/tensor/torch_compat.h: all differences between libtorch's versions (1.13 to 2.14).
#pragma once

#include <torch/version.h>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>
#include <c10/util/Exception.h>

#include <optional>
#include <string>

#define TD_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) ||     \
   (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

// uint16, uint32 and uint64: since 2.3.
#define TD_TORCH_HAS_WIDE_UNSIGNED TD_TORCH_AT_LEAST(2, 3)

// Packages of AOTInductor: since 2.6.
#if __has_include(<torch/csrc/inductor/aoti_package/model_package_loader.h>)
#define TD_TORCH_HAS_PACKAGES 1
#else
#define TD_TORCH_HAS_PACKAGES 0
#endif

namespace td::compat {

// c10::optional became std::optional in 2.2, and was removed later.
#if TD_TORCH_AT_LEAST(2, 2)
template <class T>
using optional = std::optional<T>;
inline constexpr std::nullopt_t nullopt = std::nullopt;
#else
template <class T>
using optional = c10::optional<T>;
inline constexpr c10::nullopt_t nullopt = c10::nullopt;
#endif

// A dtype of the same size, for moving values. Some kernels, such as gather and scatter, do not support
// dtypes added since 2.1.
inline c10::ScalarType kernel_dtype(c10::ScalarType dtype) noexcept {
#if TD_TORCH_HAS_WIDE_UNSIGNED
  switch (dtype) {
    case c10::ScalarType::UInt16: return c10::ScalarType::Short;
    case c10::ScalarType::UInt32: return c10::ScalarType::Int;
    case c10::ScalarType::UInt64: return c10::ScalarType::Long;
    case c10::ScalarType::Float8_e5m2:
    case c10::ScalarType::Float8_e4m3fn:
    case c10::ScalarType::Float8_e5m2fnuz:
    case c10::ScalarType::Float8_e4m3fnuz: return c10::ScalarType::Byte;
    default: return dtype;
  }
#else
  return dtype;
#endif
}

// Collects libtorch's warnings as text on the thread of the guard. Since 2.0 they are objects.
class WarningSink : public c10::WarningHandler {
 public:
  virtual void warn(const std::string& message) = 0;
#if TD_TORCH_AT_LEAST(2, 0)
  void process(const c10::Warning& warning) final { warn(warning.msg()); }
};
using WarningGuard = c10::WarningUtils::WarningHandlerGuard;
#else
  void process(const c10::SourceLocation&, const std::string& message, const bool) final {
    warn(message);
  }
};
using WarningGuard = c10::Warning::WarningHandlerGuard;
#endif

}  // namespace td::compat
