#include "core/tensor/dtype_name.h"

#include "core/base/torch_compat.h"

namespace td {

namespace {

std::string lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

}  // namespace

std::string dtype_name(c10::ScalarType dtype) {
  switch (dtype) {
    case at::kByte: return "torch.uint8";
    case at::kChar: return "torch.int8";
    case at::kShort: return "torch.int16";
    case at::kInt: return "torch.int32";
    case at::kLong: return "torch.int64";
    case at::kHalf: return "torch.float16";
    case at::kFloat: return "torch.float32";
    case at::kDouble: return "torch.float64";
    case at::kComplexHalf: return "torch.complex32";
    case at::kComplexFloat: return "torch.complex64";
    case at::kComplexDouble: return "torch.complex128";
    case at::kBool: return "torch.bool";
    case at::kBFloat16: return "torch.bfloat16";
    case at::kQInt8: return "torch.qint8";
    case at::kQUInt8: return "torch.quint8";
    case at::kQInt32: return "torch.qint32";
    case c10::ScalarType::QUInt4x2: return "torch.quint4x2";
#if TD_TORCH_HAS_WIDE_UNSIGNED
    case c10::ScalarType::UInt16: return "torch.uint16";
    case c10::ScalarType::UInt32: return "torch.uint32";
    case c10::ScalarType::UInt64: return "torch.uint64";
#endif
    default: return "torch." + lower_case(c10::toString(dtype));  // Float8_e4m3fn and what may come
  }
}

}  // namespace td
