#include "td/device.h"

#include <c10/core/impl/VirtualGuardImpl.h>

namespace td {

bool device_available(c10::DeviceType type) noexcept {
  if (type == c10::DeviceType::CPU || type == c10::DeviceType::Meta) return true;
  try {
    return c10::impl::hasDeviceGuardImpl(type) &&
           c10::impl::VirtualGuardImpl(type).deviceCount() > 0;
  } catch (...) {
    return false;  // a driver that cannot be asked is no device
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

}  // namespace td
