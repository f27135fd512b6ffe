// core/tensor/device.h: which devices exist, and one way of writing each.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <string>

namespace td {

// Whether libtorch can use a kind of device in this process.
bool device_available(c10::DeviceType type) noexcept;

// The device with its index worked out: none for the CPU and meta, the current one where none was
// given. Throws Code::device when there is no such device.
c10::Device resolve_device(c10::Device device);

// The tensor on the device; the same one when it is there already.
at::Tensor move_to(const at::Tensor& tensor, c10::Device device, bool non_blocking = false);

// A device by number. libtorch keeps the number in a byte: Code::device for one that does not fit, where
// it would cut off.
c10::Device make_device(c10::DeviceType type, std::int64_t index);

// "cuda:0", as libtorch writes it. Throws Code::device for a number that does not fit or a device that
// does not exist, Code::format for what is no device.
c10::Device parse_device(const std::string& text);

}  // namespace td
