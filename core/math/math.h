// core/math/math.h: arithmetic, comparison and logic on every leaf.
// Results keep keys, batch size, device and non-tensor values. Functions with a trailing underscore write
// into the existing tensors, which a locked dictionary allows; they check everything before the first write.
#pragma once

#include "core/tree/tensordict.h"
#include "core/tree/zip.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>

#include <variant>

namespace td {

enum class Unary : std::int32_t {
#define TD_UNARY(number, NAME, name, doc) name##_op = (number),
#define TD_PREDICATE TD_UNARY
#include "core/math/ops.def"
};
enum class Binary : std::int32_t {
#define TD_BINARY(number, NAME, name, out, in, doc) name##_op = (number),
#define TD_BINARY_OUT(number, NAME, name, out, doc) name##_op = (number),
#define TD_COMPARE(number, NAME, name, doc) name##_op = (number),
#include "core/math/ops.def"
};
enum class Ternary : std::int32_t {
#define TD_TERNARY(number, NAME, name, out, in, doc) name##_op = (number),
#include "core/math/ops.def"
};

// The other operand of an operation:
// - a dictionary: leaf by leaf;
// - a tensor without dimensions, or a number: for all leaves;
// - any other tensor: broadcast against the batch size, then along the features on the right.
// Batch sizes that differ are broadcast.
using Operand = std::variant<TensorDict, at::Tensor, c10::Scalar>;

struct BinaryOptions {
  c10::Scalar alpha = 1;  // for add, sub and rsub
  WalkRules::Missing missing = WalkRules::Missing::error;
  at::Tensor fallback = {};  // value of missing entries, for Missing::fill
};

TensorDict unary(const TensorDict& td, Unary op);
void unary_(const TensorDict& td, Unary op);
TensorDict binary(const TensorDict& td, Binary op, const Operand& other,
                  const BinaryOptions& options = {});
// Ignores keys that only `other` has.
void binary_(const TensorDict& td, Binary op, const Operand& other,
             const BinaryOptions& options = {});
// `value` is a factor of addcmul and addcdiv.
TensorDict ternary(const TensorDict& td, Ternary op, const Operand& b, const Operand& c,
                   const c10::Scalar& value = 1);
void ternary_(const TensorDict& td, Ternary op, const Operand& b, const Operand& c,
              const c10::Scalar& value = 1);

// Whether all, or any, elements of all leaves are nonzero. Without leaves: true, and false.
bool all(const TensorDict& td);
bool any(const TensorDict& td);

void zero_(const TensorDict& td);
// The tensor at a path, or all tensors of the dictionary there.
void fill_(const TensorDict& td, Path path, const c10::Scalar& value);

}  // namespace td
