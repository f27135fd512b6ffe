#include "core/tensor/device.h"

#include "core/base/error.h"

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <limits>

namespace td {

bool device_available(c10::DeviceType type) noexcept {
  if (type == c10::DeviceType::CPU || type == c10::DeviceType::Meta) return true;
  try {
    return c10::impl::hasDeviceGuardImpl(type) &&
           c10::impl::VirtualGuardImpl(type).deviceCount() > 0;
  } catch (...) {
    return false;  // the driver cannot be asked
  }
}

c10::Device resolve_device(c10::Device device) {
  const c10::DeviceType type = device.type();
  if (!device_available(type)) {
    fail(Code::device, "no device \"", device.str(), "\": this libtorch or this machine has no ",
         c10::DeviceTypeName(type));
  }
  if (type == c10::DeviceType::CPU || type == c10::DeviceType::Meta) {
    if (device.index() > 0)
      fail(Code::device, "no device \"", device.str(), "\": there is only one");
    return c10::Device(type);
  }
  const c10::impl::VirtualGuardImpl guard(type);
  if (!device.has_index()) return guard.getDevice();
  if (device.index() >= guard.deviceCount()) {
    fail(Code::device, "no device \"", device.str(), "\": there are ",
         static_cast<int>(guard.deviceCount()));
  }
  return device;
}

at::Tensor move_to(const at::Tensor& tensor, c10::Device device, bool non_blocking) {
  if (tensor.device() == device) return tensor;
  return tensor.to(tensor.options().device(device), non_blocking);
}

c10::Device make_device(c10::DeviceType type, std::int64_t index) {
  const bool only_one = type == c10::DeviceType::CPU;  // libtorch asserts it in debug builds
  if (index < -1 || index > (only_one ? 0 : std::numeric_limits<c10::DeviceIndex>::max())) {
    fail(Code::device, "no device has number ", index, " of ", c10::DeviceTypeName(type));
  }
  return {type, static_cast<c10::DeviceIndex>(index)};
}

c10::Device parse_device(const std::string& text) {
  const std::size_t colon = text.find(':');
  try {
    const c10::DeviceType type = c10::Device(text.substr(0, colon)).type();
    if (colon == std::string::npos) return resolve_device(c10::Device(type));
    const std::string digits = text.substr(colon + 1);
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) {
      fail(Code::format, "no device is called \"", text, "\"");
    }
    const bool fits = digits.size() < 10;
    return resolve_device(make_device(type, fits ? std::stoll(digits) : 1000000000));
  } catch (const c10::Error&) {
  }
  fail(Code::format, "no device is called \"", text, "\"");
}

}  // namespace td
