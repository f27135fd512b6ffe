// Small dictionaries and what the tests ask of their tensors.
#pragma once

#include "core/tensor/fast_path.h"
#include "core/tree/walk.h"
#include "folders.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace td::test {

using Index = std::vector<IndexItem>;

// How a call failed: with one line of text.
inline Code code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.code();
  }
  return Code::ok;
}

// 0, 1, 2, … in the shape asked for.
inline at::Tensor ramp(at::IntArrayRef sizes, c10::ScalarType dtype = at::kFloat) {
  std::int64_t n = 1;
  for (const std::int64_t size : sizes) n *= size;
  return at::arange(n, at::kLong).to(dtype).reshape(sizes);
}

inline at::Tensor ints(std::vector<std::int64_t> values) { return at::tensor(values, at::kLong); }

inline at::Tensor mask(std::vector<int> values) {
  return at::tensor(values, at::kInt).to(at::kBool);
}

// { "a": (4,3,2), "n": { "b": (4,3) } } of batch size [4,3].
inline TensorDict sample() {
  TensorDict td = dict({4, 3});
  td.set({"a"}, ramp({4, 3, 2}));
  td.set({"n", "b"}, ramp({4, 3}, at::kLong));
  return td;
}

// n dictionaries, one in the other, and a leaf at the bottom.
inline TensorDict chain(std::size_t n, SizesView batch = {}) {
  TensorDict td(batch);
  at::Tensor leaf = at::ones(batch);
  const std::vector<std::string_view> path(n, "n");
  td.set(Path(path), std::move(leaf));
  return td;
}

// The bytes of the elements in row-major order, read without any operator of libtorch.
inline std::string content(const at::Tensor& tensor) {
  const auto item = tensor.element_size();
  std::string bytes;
  if (tensor.numel() == 0) return bytes;
  bytes.reserve(static_cast<std::size_t>(tensor.numel()) * item);
  const char* base = static_cast<const char*>(tensor.data_ptr());
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    std::int64_t left = i, at = 0;
    for (std::int64_t d = tensor.dim(); d-- > 0;) {
      at += left % tensor.size(d) * tensor.stride(d);
      left /= tensor.size(d);
    }
    bytes.append(base + at * static_cast<std::int64_t>(item), item);
  }
  return bytes;
}

inline std::vector<std::int64_t> list(SizesView sizes) { return {sizes.begin(), sizes.end()}; }

// Whether the two count their changes together, as a view and its base do.
inline bool share_version(const at::Tensor& a, const at::Tensor& b) {
  const auto before = b._version();
  fast::bump_version(a);
  return b._version() == before + 1;
}

// The values of a tensor of integers or floats.
inline std::vector<double> numbers(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.detach().to(at::kCPU, at::kDouble).contiguous();
  const double* at = flat.data_ptr<double>();
  return {at, at + flat.numel()};
}

}  // namespace td::test
