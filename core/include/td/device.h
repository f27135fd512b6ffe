// td/device.h: which devices exist, and one way of writing each.
#pragma once

#include "td/node.h"

namespace td {

// Whether libtorch can use a kind of device in this process.
bool device_available(c10::DeviceType type) noexcept;

// The device with its index worked out: none for the CPU and meta, the current one where none was
// given. Throws Code::device when there is no such device.
c10::Device resolve_device(c10::Device device);

// The tensor on the device; the same one when it is there already.
at::Tensor move_to(const at::Tensor& tensor, c10::Device device, bool non_blocking = false);

}  // namespace td
