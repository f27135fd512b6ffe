#include "core/hdf5/types.h"

#include "core/formats/format.h"
#include "core/formats/npy_header.h"
#include "core/tensor/dtype.h"
#include "core/tensor/torch_compat.h"

#include <cstring>

namespace td::hdf5 {

namespace {

using c10::ScalarType;

// A 16-bit floating-point type, which the library can convert but does not predefine.
Id small_float(std::size_t exponent, std::size_t mantissa, std::size_t bias,
               const std::string& where) {
  Id type = need(H5Tcopy(H5T_NATIVE_FLOAT), Code::out_of_memory, where, "cannot make a type");
  const bool made = H5Tset_fields(type, 15, mantissa, exponent, 0, mantissa) >= 0 &&
                    H5Tset_size(type, 2) >= 0 && H5Tset_ebias(type, bias) >= 0;
  if (!made) fail_library(Code::out_of_memory, where, "cannot make a type");
  return type;
}

// A record of two numbers, as in NumPy and h5py.
Id complex_type(hid_t part, const std::string& where) {
  const std::size_t bytes = H5Tget_size(part);
  Id type =
      need(H5Tcreate(H5T_COMPOUND, 2 * bytes), Code::out_of_memory, where, "cannot make a type");
  need_done(H5Tinsert(type, "r", 0, part), Code::out_of_memory, where, "cannot make a type");
  need_done(H5Tinsert(type, "i", bytes, part), Code::out_of_memory, where, "cannot make a type");
  return type;
}

// The type that h5py uses for bool.
Id truth_type(const std::string& where) {
  Id type = need(H5Tenum_create(H5T_NATIVE_INT8), Code::out_of_memory, where, "cannot make a type");
  const signed char no = 0, yes = 1;
  need_done(H5Tenum_insert(type, "FALSE", &no), Code::out_of_memory, where, "cannot make a type");
  need_done(H5Tenum_insert(type, "TRUE", &yes), Code::out_of_memory, where, "cannot make a type");
  return type;
}

bool is_truth(hid_t type) {
  if (H5Tget_size(type) != 1 || H5Tget_nmembers(type) != 2) return false;
  signed char value = 0;
  return H5Tenum_valueof(type, "FALSE", &value) >= 0 && value == 0 &&
         H5Tenum_valueof(type, "TRUE", &value) >= 0 && value == 1;
}

ScalarType whole_dtype(std::size_t bytes, bool has_sign) {
  std::size_t wide = 1;
  while (wide < bytes) wide *= 2;
  const NumberKind kind = has_sign ? NumberKind::whole : NumberKind::natural;
  const DTypeRow* row = find_dtype(kind, wide);
  // Where libtorch lacks an unsigned dtype, the next signed one holds all of its values.
  if (row != nullptr && scalar_type(row->dtype) == ScalarType::Undefined)
    row = find_dtype(NumberKind::whole, 2 * wide);
  return row == nullptr ? ScalarType::Undefined : scalar_type(row->dtype);
}

ScalarType real_dtype(hid_t type) {
  std::size_t sign = 0, exponent_at = 0, exponent = 0, mantissa_at = 0, mantissa = 0;
  switch (H5Tget_size(type)) {
    case 2:
      H5Tget_fields(type, &sign, &exponent_at, &exponent, &mantissa_at, &mantissa);
      return exponent == 8 ? ScalarType::BFloat16 : ScalarType::Half;
    case 4: return ScalarType::Float;
    case 8: return ScalarType::Double;
    default: return ScalarType::Undefined;
  }
}

ScalarType complex_dtype(hid_t type, const std::string& where) {
  if (H5Tget_nmembers(type) != 2) return ScalarType::Undefined;
  const int real = H5Tget_member_index(type, "r"), imaginary = H5Tget_member_index(type, "i");
  if (real < 0 || imaginary < 0) return ScalarType::Undefined;
  std::size_t bytes = 0;
  for (const int i : {real, imaginary}) {
    const Id part =
        need(H5Tget_member_type(type, static_cast<unsigned>(i)), Code::format, where, "bad type");
    const std::size_t own = H5Tget_size(part);
    if (H5Tget_class(part) != H5T_FLOAT || (bytes != 0 && own != bytes)) {
      return ScalarType::Undefined;
    }
    bytes = own;
  }
  if (bytes == 4) return ScalarType::ComplexFloat;
  return bytes == 8 ? ScalarType::ComplexDouble : ScalarType::Undefined;
}

TypePlan nothing(std::string why) {
  TypePlan plan;
  plan.why = std::move(why);
  return plan;
}

TypePlan tensor_plan(ScalarType dtype, hid_t type, const std::string& where) {
  if (dtype == ScalarType::Undefined) {
    return nothing("numbers of " + std::to_string(H5Tget_size(type)) + " bytes, of no dtype");
  }
  TypePlan plan;
  plan.holds = Holds::tensor;
  plan.dtype = dtype;
  plan.memory = type_of(dtype, where);
  plan.item = c10::elementSize(dtype);
  return plan;
}

// Strings as stored: the library does not convert between kinds of strings.
TypePlan text_plan(hid_t type, const std::string& where) {
  TypePlan plan;
  plan.holds = Holds::text;
  plan.variable = H5Tis_variable_str(type) > 0;
  plan.memory = need(H5Tcopy(type), Code::format, where, "bad type");
  plan.item = plan.variable ? sizeof(char*) : H5Tget_size(type);
  plan.blanks = H5Tget_strpad(type) == H5T_STR_SPACEPAD;
  return plan;
}

// Lists of bytes, such as files of pictures; the library has no need to convert them.
TypePlan list_plan(hid_t type, const std::string& where) {
  const Id base = need(H5Tget_super(type), Code::format, where, "bad type");
  if (H5Tget_class(base) != H5T_INTEGER || H5Tget_size(base) != 1 ||
      H5Tget_sign(base) == H5T_SGN_2) {
    return nothing("lists of different lengths");
  }
  TypePlan plan;
  plan.memory = need(H5Tcopy(type), Code::format, where, "bad type");
  plan.holds = Holds::bytes;
  plan.variable = true;
  plan.item = sizeof(hvl_t);
  return plan;
}

TypePlan opaque_plan(hid_t type, const std::string& where) {
  TypePlan plan;
  plan.memory = need(H5Tcopy(type), Code::format, where, "bad type");
  plan.item = H5Tget_size(type);
  plan.holds = Holds::bytes;
  char* text = H5Tget_tag(type);
  const std::string tag = text == nullptr ? "" : text;
  H5free_memory(text);
  const auto found = dtype_of_tag(tag);
  if (!found || c10::elementSize(found->first) != plan.item) return plan;
  plan.holds = Holds::number;
  plan.dtype = found->first;
  plan.swapped = found->second;
  return plan;
}

TypePlan array_plan(hid_t type, const std::string& where) {
  const Id base = need(H5Tget_super(type), Code::format, where, "bad type");
  if (H5Tget_class(base) == H5T_ARRAY) return nothing("arrays of arrays");
  TypePlan plan = plan_type(base, where);
  if (plan.holds != Holds::tensor) return nothing("arrays of something else than numbers");
  const int dims = H5Tget_array_ndims(type);
  hsize_t sizes[H5S_MAX_RANK] = {};
  if (dims < 0 || dims > H5S_MAX_RANK || H5Tget_array_dims2(type, sizes) < 0) {
    fail_library(Code::format, where, "bad type");
  }
  for (int i = 0; i < dims; ++i) plan.inner.push_back(static_cast<std::int64_t>(sizes[i]));
  plan.memory = need(H5Tarray_create2(plan.memory, static_cast<unsigned>(dims), sizes),
                     Code::format, where, "bad type");
  plan.item = H5Tget_size(plan.memory);
  return plan;
}

}  // namespace

Id type_of(ScalarType dtype, const std::string& where) {
  const auto copy = [&](hid_t type) {
    return need(H5Tcopy(type), Code::out_of_memory, where, "cannot make a type");
  };
  switch (dtype) {
    case ScalarType::Bool: return truth_type(where);
    case ScalarType::Byte: return copy(H5T_NATIVE_UINT8);
    case ScalarType::Char: return copy(H5T_NATIVE_INT8);
    case ScalarType::Short: return copy(H5T_NATIVE_INT16);
    case ScalarType::Int: return copy(H5T_NATIVE_INT32);
    case ScalarType::Long: return copy(H5T_NATIVE_INT64);
#if TD_TORCH_HAS_WIDE_UNSIGNED
    case ScalarType::UInt16: return copy(H5T_NATIVE_UINT16);
    case ScalarType::UInt32: return copy(H5T_NATIVE_UINT32);
    case ScalarType::UInt64: return copy(H5T_NATIVE_UINT64);
#endif
    case ScalarType::Half: return small_float(5, 10, 15, where);
    case ScalarType::BFloat16: return small_float(8, 7, 127, where);
    case ScalarType::Float: return copy(H5T_NATIVE_FLOAT);
    case ScalarType::Double: return copy(H5T_NATIVE_DOUBLE);
    case ScalarType::ComplexFloat: return complex_type(H5T_NATIVE_FLOAT, where);
    case ScalarType::ComplexDouble: return complex_type(H5T_NATIVE_DOUBLE, where);
    default: return Id();
  }
}

TypePlan plan_type(hid_t type, const std::string& where) {
  const std::size_t bytes = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return tensor_plan(whole_dtype(bytes, H5Tget_sign(type) == H5T_SGN_2), type, where);
    case H5T_BITFIELD: {
      TypePlan plan = tensor_plan(whole_dtype(bytes, /*has_sign=*/false), type, where);
      // The library converts bitfields only to numbers of the same size.
      if (plan.holds == Holds::tensor && plan.item != bytes) return nothing("bits");
      if (plan.holds == Holds::tensor) {
        plan.memory =
            need(H5Tget_native_type(type, H5T_DIR_ASCEND), Code::format, where, "bad type");
      }
      return plan;
    }
    case H5T_FLOAT: return tensor_plan(real_dtype(type), type, where);
    case H5T_ENUM: {
      if (is_truth(type)) return tensor_plan(ScalarType::Bool, type, where);
      const Id base = need(H5Tget_super(type), Code::format, where, "bad type");
      return plan_type(base, where);
    }
    case H5T_STRING: return text_plan(type, where);
    case H5T_OPAQUE: return opaque_plan(type, where);
    case H5T_ARRAY: return array_plan(type, where);
    case H5T_COMPOUND: {
      const ScalarType dtype = complex_dtype(type, where);
      if (dtype != ScalarType::Undefined) return tensor_plan(dtype, type, where);
      TypePlan plan;
      plan.holds = Holds::fields;
      return plan;
    }
    case H5T_REFERENCE: return nothing("references to other places of the file");
    case H5T_VLEN: return list_plan(type, where);
    case H5T_TIME: return nothing("times");
    default: return nothing("values of an unknown type");
  }
}

TypePlan plan_bits(hid_t type, TypePlan plan, const std::string& where) {
  const bool is_natural = H5Tget_class(type) == H5T_INTEGER && H5Tget_size(type) == 8;
  if (plan.holds != Holds::nothing || !is_natural) return plan;
  plan = tensor_plan(ScalarType::Long, type, where);
  plan.memory = need(H5Tcopy(H5T_NATIVE_UINT64), Code::out_of_memory, where, "cannot make a type");
  return plan;
}

std::optional<std::pair<ScalarType, bool>> dtype_of_tag(std::string_view tag) {
  constexpr std::string_view head = "NUMPY:";
  if (tag.substr(0, head.size()) != head || tag.size() < head.size() + 3) return std::nullopt;
  const char order = tag[head.size()];
  if (order != '<' && order != '>' && order != '|') return std::nullopt;
  const std::string_view code = tag.substr(head.size() + 1);
  const DTypeRow* row = find_dtype(&DTypeRow::numpy, code);
  if (row == nullptr || row->kind == NumberKind::complex) return std::nullopt;
  const ScalarType dtype = scalar_type(row->dtype);
  if (dtype == ScalarType::Undefined) return std::nullopt;
  return std::make_pair(dtype, order == '>');
}

std::string tag_of(ScalarType dtype) {
  const std::string code = numpy::dtype_text(dtype_of(dtype));
  return code.empty() ? code : "NUMPY:" + code;
}

}  // namespace td::hdf5
