// tensordict/td_math.h
#include "core/math/math.h"

#include "arguments.h"
#include "core/math/reduce.h"
#include "give.h"
#include "guard.h"

namespace {

// Header and core use the same numbers.
#define TD_UNARY(number, NAME, name, doc) static_assert(TD_UNARY_##NAME == (number));
#define TD_PREDICATE TD_UNARY
#define TD_BINARY(number, NAME, name, out, in, doc) static_assert(TD_BINARY_##NAME == (number));
#define TD_BINARY_OUT(number, NAME, name, out, doc) static_assert(TD_BINARY_##NAME == (number));
#define TD_COMPARE(number, NAME, name, doc) static_assert(TD_BINARY_##NAME == (number));
#define TD_TERNARY(number, NAME, name, out, in, doc) static_assert(TD_TERNARY_##NAME == (number));
#define TD_REDUCTION(number, NAME, name, flags, doc) static_assert(TD_REDUCE_##NAME == (number));
#include "core/math/ops.def"

td::Operand operand_in(const td_operand* operand, const char* name) {
  const td_operand& given = *not_null(operand, name);
  if (given.zero != 0 || given.reserved[0] != 0 || given.reserved[1] != 0 || given.reserved[2] != 0)
    td::fail(td::Code::invalid_argument, name, " has a reserved field that is not zero");
  switch (given.kind) {
    case TD_OPERAND_DICT: return td::TensorDict(in(not_null(given.dict, "dict")));
    case TD_OPERAND_TENSOR: return at::Tensor(in(not_null(given.tensor, "tensor")));
    case TD_OPERAND_INT: return c10::Scalar(given.integer);
    case TD_OPERAND_DOUBLE: return c10::Scalar(given.real);
    case TD_OPERAND_BOOL: return c10::Scalar(given.integer != 0);
    default:
      td::fail(td::Code::unsupported, name, " is of kind ", given.kind,
               ", which this version does not know");
  }
}

c10::Scalar number_in(const td::Operand& operand) {
  if (const c10::Scalar* number = std::get_if<c10::Scalar>(&operand)) return *number;
  const at::Tensor* tensor = std::get_if<at::Tensor>(&operand);
  if (tensor == nullptr || tensor->numel() != 1)
    td::fail(td::Code::invalid_argument, "a number is needed, or a tensor with one element");
  return tensor->item();
}

// libtorch refuses a double as the factor of integers, even a whole one.
c10::Scalar factor_in(double factor) {
  const bool whole = factor >= -1e15 && factor <= 1e15 &&
                     static_cast<double>(static_cast<std::int64_t>(factor)) == factor;
  return whole ? c10::Scalar(static_cast<std::int64_t>(factor)) : c10::Scalar(factor);
}

td::BinaryOptions binary_options_in(const td_binary_options* options) {
  using Missing = td::WalkRules::Missing;
  const td_binary_options given =
      capi::options_in(options, td_binary_options TD_BINARY_OPTIONS_INIT);
  td::BinaryOptions result;
  result.alpha = factor_in(given.alpha);
  switch (given.missing) {
    case TD_MISSING_ERROR: result.missing = Missing::error; break;
    case TD_MISSING_DEFAULT: result.missing = Missing::fill; break;
    case TD_MISSING_INTERSECT: result.missing = Missing::intersect; break;
    default:
      td::fail(td::Code::invalid_argument, "missing is ", given.missing, "; it must be 0, 1 or 2");
  }
  if (given.fallback != nullptr) result.fallback = in(given.fallback);
  return result;
}

const char* interpolation_in(td_interpolation interpolation) {
  switch (interpolation) {
    case TD_INTERPOLATION_LINEAR: return "linear";
    case TD_INTERPOLATION_LOWER: return "lower";
    case TD_INTERPOLATION_HIGHER: return "higher";
    case TD_INTERPOLATION_MIDPOINT: return "midpoint";
    case TD_INTERPOLATION_NEAREST: return "nearest";
    default:
      td::fail(td::Code::invalid_argument, "interpolation is ", interpolation,
               "; it must be 0 to 4");
  }
}

td::Over over_in(td_reduce_over over) {
  switch (over) {
    case TD_REDUCE_OVER_ALL: return td::Over::everything;
    case TD_REDUCE_OVER_DIMS: return td::Over::dims;
    case TD_REDUCE_OVER_FEATURES: return td::Over::features;
    default: td::fail(td::Code::invalid_argument, "over is ", over, "; it must be 0, 1 or 2");
  }
}

td::ReduceOptions reduce_options_in(const td_reduce_options* options) {
  const td_reduce_options given =
      capi::options_in(options, td_reduce_options TD_REDUCE_OPTIONS_INIT);
  td::ReduceOptions result;
  result.over = over_in(given.over);
  result.dims = sizes_in(given.dims, given.dims_len, "dims");
  result.keepdim = given.keepdim != 0;
  if (given.dtype != 0) result.dtype = capi::dtype_in(given.dtype);
  result.correction = given.correction;
  result.q = given.q;
  result.interpolation = interpolation_in(given.interpolation);
  return result;
}

// Clamp with one bound is a binary operation.
template <class Three, class Two>
void with_operands(td_ternary_op op, const td_operand* b, const td_operand* c, Three&& three,
                   Two&& two) {
  const bool open = op == TD_TERNARY_CLAMP && (b == nullptr) != (c == nullptr);
  if (!open) {
    three(operand_in(b, "b"), operand_in(c, "c"));
  } else if (b == nullptr) {
    two(td::Binary::clamp_max_op, operand_in(c, "c"));
  } else {
    two(td::Binary::clamp_min_op, operand_in(b, "b"));
  }
}

}  // namespace

td_status td_unary(const td_tensordict* td, td_unary_op op, td_tensordict** result) noexcept {
  return give(__func__, result, [&] { return td::unary(in(td), static_cast<td::Unary>(op)); });
}

td_status td_unary_inplace(td_tensordict* td, td_unary_op op) noexcept {
  return guard(__func__, [&] { td::unary_(in(td), static_cast<td::Unary>(op)); });
}

td_status td_binary(const td_tensordict* td, td_binary_op op, const td_operand* other,
                    const td_binary_options* options, td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    return td::binary(in(td), static_cast<td::Binary>(op), operand_in(other, "other"),
                      binary_options_in(options));
  });
}

td_status td_binary_inplace(td_tensordict* td, td_binary_op op, const td_operand* other,
                            const td_binary_options* options) noexcept {
  return guard(__func__, [&] {
    td::binary_(in(td), static_cast<td::Binary>(op), operand_in(other, "other"),
                binary_options_in(options));
  });
}

td_status td_ternary(const td_tensordict* td, td_ternary_op op, const td_operand* b,
                     const td_operand* c, double value, td_tensordict** result) noexcept {
  return guard(__func__, [&] {
    Out<td_tensordict> out(result);
    auto self = in(td);
    with_operands(
        op, b, c,
        [&](const td::Operand& x, const td::Operand& y) {
          out.put(td::ternary(self, static_cast<td::Ternary>(op), x, y, factor_in(value)));
        },
        [&](td::Binary bound, const td::Operand& x) { out.put(td::binary(self, bound, x)); });
  });
}

td_status td_ternary_inplace(td_tensordict* td, td_ternary_op op, const td_operand* b,
                             const td_operand* c, double value) noexcept {
  return guard(__func__, [&] {
    auto self = in(td);
    with_operands(
        op, b, c,
        [&](const td::Operand& x, const td::Operand& y) {
          td::ternary_(self, static_cast<td::Ternary>(op), x, y, factor_in(value));
        },
        [&](td::Binary bound, const td::Operand& x) { td::binary_(self, bound, x); });
  });
}

td_status td_reduce(const td_tensordict* td, td_reduce_op op, const td_reduce_options* options,
                    td_tensordict** result) noexcept {
  return give(__func__, result, [&] {
    return td::reduce(in(td), static_cast<td::Reduction>(op), reduce_options_in(options));
  });
}

td_status td_reduce_pair(const td_tensordict* td, td_reduce_op op, const td_reduce_options* options,
                         td_tensordict** values, td_tensordict** positions) noexcept {
  return guard(__func__, [&] {
    capi::clear_results(values, positions);
    Out<td_tensordict> out(values);
    Out<td_tensordict> positions_out(not_null(positions, "positions"));
    auto [reduced, where] =
        td::reduce_pair(in(td), static_cast<td::Reduction>(op), reduce_options_in(options));
    out.put(std::move(reduced));
    positions_out.put(std::move(where));
  });
}

td_status td_reduce_leaves(const td_tensordict* td, td_reduce_op op,
                           const td_reduce_options* options, td_tensor** result) noexcept {
  return give(__func__, result, [&] {
    return td::reduce_leaves(in(td), static_cast<td::Reduction>(op), reduce_options_in(options));
  });
}

td_status td_all(const td_tensordict* td, int32_t* result) noexcept {
  return guard(__func__, [&] { *not_null(result, "result") = td::all(in(td)) ? 1 : 0; });
}

td_status td_any(const td_tensordict* td, int32_t* result) noexcept {
  return guard(__func__, [&] { *not_null(result, "result") = td::any(in(td)) ? 1 : 0; });
}

td_status td_zero(td_tensordict* td) noexcept {
  return guard(__func__, [&] { td::zero_(in(td)); });
}

td_status td_fill(td_tensordict* td, const char* const* path, size_t path_len,
                  const td_operand* value) noexcept {
  return guard(__func__, [&] {
    td::fill_(in(td), PathIn(path, path_len), number_in(operand_in(value, "value")));
  });
}
