// core/tensor/device.h: available devices and their canonical names.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <string>

namespace td {

// Whether libtorch can use this type of device in this process.
bool device_available(c10::DeviceType type) noexcept;

// Sets the device's index: none for the CPU and meta, by default the current one for others. Throws
// Code::device if the device does not exist.
c10::Device resolve_device(c10::Device device);

// The tensor on the device; the same tensor if it is there already.
at::Tensor move_to(const at::Tensor& tensor, c10::Device device, bool non_blocking = false);

// A device by number. Code::device for numbers that do not fit libtorch's byte.
c10::Device make_device(c10::DeviceType type, std::int64_t index);

// Parses libtorch's notation, such as "cuda:0". Throws Code::device for a device that does not exist,
// Code::format for other text.
c10::Device parse_device(const std::string& text);

}  // namespace td
