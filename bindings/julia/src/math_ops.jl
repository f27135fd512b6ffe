# Made by bindings/tools/ops.py from core/math/ops.def.
export abs!, acos!, asin!, atan!, ceil!, cos!, cosh!, erf
export erf!, erfc, erfc!, exp!, expm1!, floor!, frac, frac!
export lgamma, lgamma!, log!, log10!, log1p!, log2!, neg, neg!
export reciprocal, reciprocal!, round!, sigmoid, sigmoid!, sign!, sin!, sinh!
export sqrt!, tan!, tanh!, trunc!, bitwise_not, bitwise_not!, logical_not, logical_not!
export isneginf, isposinf, add, add!, sub, sub!, rsub, mul
export divide, divide!, rdiv, pow, pow!, mod!, max!, min!
export clamp_max, clamp_max!, clamp_min, clamp_min!, bitwise_and, bitwise_and!, bitwise_or, bitwise_or!
export bitwise_xor, bitwise_xor!, logical_and, eq, ne, lt, le, gt
export ge


Base.abs(td::TensorDict) = unary(TD_UNARY_ABS, td)
Base.Broadcast.broadcasted(::typeof(abs), td::TensorDict) = unary(TD_UNARY_ABS, td)
"Absolute value, into the tensors."
abs!(td::TensorDict) = unary!(TD_UNARY_ABS, td)

Base.acos(td::TensorDict) = unary(TD_UNARY_ACOS, td)
Base.Broadcast.broadcasted(::typeof(acos), td::TensorDict) = unary(TD_UNARY_ACOS, td)
"Inverse cosine, into the tensors."
acos!(td::TensorDict) = unary!(TD_UNARY_ACOS, td)

Base.asin(td::TensorDict) = unary(TD_UNARY_ASIN, td)
Base.Broadcast.broadcasted(::typeof(asin), td::TensorDict) = unary(TD_UNARY_ASIN, td)
"Inverse sine, into the tensors."
asin!(td::TensorDict) = unary!(TD_UNARY_ASIN, td)

Base.atan(td::TensorDict) = unary(TD_UNARY_ATAN, td)
Base.Broadcast.broadcasted(::typeof(atan), td::TensorDict) = unary(TD_UNARY_ATAN, td)
"Inverse tangent, into the tensors."
atan!(td::TensorDict) = unary!(TD_UNARY_ATAN, td)

Base.ceil(td::TensorDict) = unary(TD_UNARY_CEIL, td)
Base.Broadcast.broadcasted(::typeof(ceil), td::TensorDict) = unary(TD_UNARY_CEIL, td)
"Rounded up, into the tensors."
ceil!(td::TensorDict) = unary!(TD_UNARY_CEIL, td)

Base.cos(td::TensorDict) = unary(TD_UNARY_COS, td)
Base.Broadcast.broadcasted(::typeof(cos), td::TensorDict) = unary(TD_UNARY_COS, td)
"Cosine, into the tensors."
cos!(td::TensorDict) = unary!(TD_UNARY_COS, td)

Base.cosh(td::TensorDict) = unary(TD_UNARY_COSH, td)
Base.Broadcast.broadcasted(::typeof(cosh), td::TensorDict) = unary(TD_UNARY_COSH, td)
"Hyperbolic cosine, into the tensors."
cosh!(td::TensorDict) = unary!(TD_UNARY_COSH, td)

"Error function."
erf(td::TensorDict) = unary(TD_UNARY_ERF, td)
Base.Broadcast.broadcasted(::typeof(erf), td::TensorDict) = unary(TD_UNARY_ERF, td)
"Error function, into the tensors."
erf!(td::TensorDict) = unary!(TD_UNARY_ERF, td)

"Complementary error function."
erfc(td::TensorDict) = unary(TD_UNARY_ERFC, td)
Base.Broadcast.broadcasted(::typeof(erfc), td::TensorDict) = unary(TD_UNARY_ERFC, td)
"Complementary error function, into the tensors."
erfc!(td::TensorDict) = unary!(TD_UNARY_ERFC, td)

Base.exp(td::TensorDict) = unary(TD_UNARY_EXP, td)
Base.Broadcast.broadcasted(::typeof(exp), td::TensorDict) = unary(TD_UNARY_EXP, td)
"Exponential, into the tensors."
exp!(td::TensorDict) = unary!(TD_UNARY_EXP, td)

Base.expm1(td::TensorDict) = unary(TD_UNARY_EXPM1, td)
Base.Broadcast.broadcasted(::typeof(expm1), td::TensorDict) = unary(TD_UNARY_EXPM1, td)
"Exponential minus 1, into the tensors."
expm1!(td::TensorDict) = unary!(TD_UNARY_EXPM1, td)

Base.floor(td::TensorDict) = unary(TD_UNARY_FLOOR, td)
Base.Broadcast.broadcasted(::typeof(floor), td::TensorDict) = unary(TD_UNARY_FLOOR, td)
"Rounded down, into the tensors."
floor!(td::TensorDict) = unary!(TD_UNARY_FLOOR, td)

"Fractional part."
frac(td::TensorDict) = unary(TD_UNARY_FRAC, td)
Base.Broadcast.broadcasted(::typeof(frac), td::TensorDict) = unary(TD_UNARY_FRAC, td)
"Fractional part, into the tensors."
frac!(td::TensorDict) = unary!(TD_UNARY_FRAC, td)

"Logarithm of the gamma function."
lgamma(td::TensorDict) = unary(TD_UNARY_LGAMMA, td)
Base.Broadcast.broadcasted(::typeof(lgamma), td::TensorDict) = unary(TD_UNARY_LGAMMA, td)
"Logarithm of the gamma function, into the tensors."
lgamma!(td::TensorDict) = unary!(TD_UNARY_LGAMMA, td)

Base.log(td::TensorDict) = unary(TD_UNARY_LOG, td)
Base.Broadcast.broadcasted(::typeof(log), td::TensorDict) = unary(TD_UNARY_LOG, td)
"Natural logarithm, into the tensors."
log!(td::TensorDict) = unary!(TD_UNARY_LOG, td)

Base.log10(td::TensorDict) = unary(TD_UNARY_LOG10, td)
Base.Broadcast.broadcasted(::typeof(log10), td::TensorDict) = unary(TD_UNARY_LOG10, td)
"Decimal logarithm, into the tensors."
log10!(td::TensorDict) = unary!(TD_UNARY_LOG10, td)

Base.log1p(td::TensorDict) = unary(TD_UNARY_LOG1P, td)
Base.Broadcast.broadcasted(::typeof(log1p), td::TensorDict) = unary(TD_UNARY_LOG1P, td)
"Natural logarithm of 1 plus the value, into the tensors."
log1p!(td::TensorDict) = unary!(TD_UNARY_LOG1P, td)

Base.log2(td::TensorDict) = unary(TD_UNARY_LOG2, td)
Base.Broadcast.broadcasted(::typeof(log2), td::TensorDict) = unary(TD_UNARY_LOG2, td)
"Binary logarithm, into the tensors."
log2!(td::TensorDict) = unary!(TD_UNARY_LOG2, td)

"Negative."
neg(td::TensorDict) = unary(TD_UNARY_NEG, td)
Base.:(-)(td::TensorDict) = unary(TD_UNARY_NEG, td)
Base.Broadcast.broadcasted(::typeof((-)), td::TensorDict) = unary(TD_UNARY_NEG, td)
Base.Broadcast.broadcasted(::typeof(neg), td::TensorDict) = unary(TD_UNARY_NEG, td)
"Negative, into the tensors."
neg!(td::TensorDict) = unary!(TD_UNARY_NEG, td)

"1 divided by the value."
reciprocal(td::TensorDict) = unary(TD_UNARY_RECIPROCAL, td)
Base.inv(td::TensorDict) = unary(TD_UNARY_RECIPROCAL, td)
Base.Broadcast.broadcasted(::typeof(inv), td::TensorDict) = unary(TD_UNARY_RECIPROCAL, td)
Base.Broadcast.broadcasted(::typeof(reciprocal), td::TensorDict) = unary(TD_UNARY_RECIPROCAL, td)
"1 divided by the value, into the tensors."
reciprocal!(td::TensorDict) = unary!(TD_UNARY_RECIPROCAL, td)

Base.round(td::TensorDict) = unary(TD_UNARY_ROUND, td)
Base.Broadcast.broadcasted(::typeof(round), td::TensorDict) = unary(TD_UNARY_ROUND, td)
"Rounded to the nearest integer, halves to even, into the tensors."
round!(td::TensorDict) = unary!(TD_UNARY_ROUND, td)

"Logistic function."
sigmoid(td::TensorDict) = unary(TD_UNARY_SIGMOID, td)
Base.Broadcast.broadcasted(::typeof(sigmoid), td::TensorDict) = unary(TD_UNARY_SIGMOID, td)
"Logistic function, into the tensors."
sigmoid!(td::TensorDict) = unary!(TD_UNARY_SIGMOID, td)

Base.sign(td::TensorDict) = unary(TD_UNARY_SIGN, td)
Base.Broadcast.broadcasted(::typeof(sign), td::TensorDict) = unary(TD_UNARY_SIGN, td)
"Sign: -1, 0 or 1, into the tensors."
sign!(td::TensorDict) = unary!(TD_UNARY_SIGN, td)

Base.sin(td::TensorDict) = unary(TD_UNARY_SIN, td)
Base.Broadcast.broadcasted(::typeof(sin), td::TensorDict) = unary(TD_UNARY_SIN, td)
"Sine, into the tensors."
sin!(td::TensorDict) = unary!(TD_UNARY_SIN, td)

Base.sinh(td::TensorDict) = unary(TD_UNARY_SINH, td)
Base.Broadcast.broadcasted(::typeof(sinh), td::TensorDict) = unary(TD_UNARY_SINH, td)
"Hyperbolic sine, into the tensors."
sinh!(td::TensorDict) = unary!(TD_UNARY_SINH, td)

Base.sqrt(td::TensorDict) = unary(TD_UNARY_SQRT, td)
Base.Broadcast.broadcasted(::typeof(sqrt), td::TensorDict) = unary(TD_UNARY_SQRT, td)
"Square root, into the tensors."
sqrt!(td::TensorDict) = unary!(TD_UNARY_SQRT, td)

Base.tan(td::TensorDict) = unary(TD_UNARY_TAN, td)
Base.Broadcast.broadcasted(::typeof(tan), td::TensorDict) = unary(TD_UNARY_TAN, td)
"Tangent, into the tensors."
tan!(td::TensorDict) = unary!(TD_UNARY_TAN, td)

Base.tanh(td::TensorDict) = unary(TD_UNARY_TANH, td)
Base.Broadcast.broadcasted(::typeof(tanh), td::TensorDict) = unary(TD_UNARY_TANH, td)
"Hyperbolic tangent, into the tensors."
tanh!(td::TensorDict) = unary!(TD_UNARY_TANH, td)

Base.trunc(td::TensorDict) = unary(TD_UNARY_TRUNC, td)
Base.Broadcast.broadcasted(::typeof(trunc), td::TensorDict) = unary(TD_UNARY_TRUNC, td)
"Rounded towards 0, into the tensors."
trunc!(td::TensorDict) = unary!(TD_UNARY_TRUNC, td)

"Inverted bits of integers, or bools."
bitwise_not(td::TensorDict) = unary(TD_UNARY_BITWISE_NOT, td)
Base.:(~)(td::TensorDict) = unary(TD_UNARY_BITWISE_NOT, td)
Base.Broadcast.broadcasted(::typeof((~)), td::TensorDict) = unary(TD_UNARY_BITWISE_NOT, td)
Base.:(!)(td::TensorDict) = unary(TD_UNARY_BITWISE_NOT, td)
Base.Broadcast.broadcasted(::typeof((!)), td::TensorDict) = unary(TD_UNARY_BITWISE_NOT, td)
Base.Broadcast.broadcasted(::typeof(bitwise_not), td::TensorDict) = unary(TD_UNARY_BITWISE_NOT, td)
"Inverted bits of integers, or bools, into the tensors."
bitwise_not!(td::TensorDict) = unary!(TD_UNARY_BITWISE_NOT, td)

"Whether a value is 0."
logical_not(td::TensorDict) = unary(TD_UNARY_LOGICAL_NOT, td)
Base.Broadcast.broadcasted(::typeof(logical_not), td::TensorDict) = unary(TD_UNARY_LOGICAL_NOT, td)
"Whether a value is 0, into the tensors."
logical_not!(td::TensorDict) = unary!(TD_UNARY_LOGICAL_NOT, td)

Base.isfinite(td::TensorDict) = unary(TD_UNARY_ISFINITE, td)
Base.Broadcast.broadcasted(::typeof(isfinite), td::TensorDict) = unary(TD_UNARY_ISFINITE, td)

Base.isnan(td::TensorDict) = unary(TD_UNARY_ISNAN, td)
Base.Broadcast.broadcasted(::typeof(isnan), td::TensorDict) = unary(TD_UNARY_ISNAN, td)

"Whether a value is minus infinity."
isneginf(td::TensorDict) = unary(TD_UNARY_ISNEGINF, td)
Base.Broadcast.broadcasted(::typeof(isneginf), td::TensorDict) = unary(TD_UNARY_ISNEGINF, td)

"Whether a value is plus infinity."
isposinf(td::TensorDict) = unary(TD_UNARY_ISPOSINF, td)
Base.Broadcast.broadcasted(::typeof(isposinf), td::TensorDict) = unary(TD_UNARY_ISPOSINF, td)

Base.isreal(td::TensorDict) = unary(TD_UNARY_ISREAL, td)
Base.Broadcast.broadcasted(::typeof(isreal), td::TensorDict) = unary(TD_UNARY_ISREAL, td)

"Sum; alpha times the operand."
add(td::TensorDict, other; options...) = binary(TD_BINARY_ADD, td, other; options...)
Base.:(+)(td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_ADD, td, other)
Base.Broadcast.broadcasted(::typeof((+)), td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_ADD, td, other)
"Sum; alpha times the operand, into the tensors."
add!(td::TensorDict, other; options...) = binary!(TD_BINARY_ADD, td, other; options...)

"Difference; alpha times the operand."
sub(td::TensorDict, other; options...) = binary(TD_BINARY_SUB, td, other; options...)
Base.:(-)(td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_SUB, td, other)
Base.Broadcast.broadcasted(::typeof((-)), td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_SUB, td, other)
"Difference; alpha times the operand, into the tensors."
sub!(td::TensorDict, other; options...) = binary!(TD_BINARY_SUB, td, other; options...)

"The operand minus alpha times the value."
rsub(td::TensorDict, other; options...) = binary(TD_BINARY_RSUB, td, other; options...)

"Product."
mul(td::TensorDict, other; options...) = binary(TD_BINARY_MUL, td, other; options...)
Base.:(*)(td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_MUL, td, other)
Base.Broadcast.broadcasted(::typeof((*)), td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_MUL, td, other)
"Product, into the tensors."
mul!(td::TensorDict, other; options...) = binary!(TD_BINARY_MUL, td, other; options...)

"Quotient; integers give floats."
divide(td::TensorDict, other; options...) = binary(TD_BINARY_DIV, td, other; options...)
Base.:(/)(td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_DIV, td, other)
Base.Broadcast.broadcasted(::typeof((/)), td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_DIV, td, other)
"Quotient; integers give floats, into the tensors."
divide!(td::TensorDict, other; options...) = binary!(TD_BINARY_DIV, td, other; options...)

"The operand divided by the value."
rdiv(td::TensorDict, other; options...) = binary(TD_BINARY_RDIV, td, other; options...)

"Power."
pow(td::TensorDict, other; options...) = binary(TD_BINARY_POW, td, other; options...)
Base.:(^)(td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_POW, td, other)
Base.Broadcast.broadcasted(::typeof((^)), td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_POW, td, other)
"Power, into the tensors."
pow!(td::TensorDict, other; options...) = binary!(TD_BINARY_POW, td, other; options...)

"Remainder with the sign of the operand."
Base.mod(td::TensorDict, other::Operand; options...) = binary(TD_BINARY_MOD, td, other; options...)
Base.Broadcast.broadcasted(::typeof(mod), td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_MOD, td, other)
Base.:(%)(td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_MOD, td, other)
Base.Broadcast.broadcasted(::typeof((%)), td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_MOD, td, other)
"Remainder with the sign of the operand, into the tensors."
mod!(td::TensorDict, other; options...) = binary!(TD_BINARY_MOD, td, other; options...)

"The larger value; NaN if either is NaN."
Base.max(td::TensorDict, other::Operand; options...) = binary(TD_BINARY_MAXIMUM, td, other; options...)
Base.Broadcast.broadcasted(::typeof(max), td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_MAXIMUM, td, other)
"The larger value; NaN if either is NaN, into the tensors."
max!(td::TensorDict, other; options...) = binary!(TD_BINARY_MAXIMUM, td, other; options...)

"The smaller value; NaN if either is NaN."
Base.min(td::TensorDict, other::Operand; options...) = binary(TD_BINARY_MINIMUM, td, other; options...)
Base.Broadcast.broadcasted(::typeof(min), td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_MINIMUM, td, other)
"The smaller value; NaN if either is NaN, into the tensors."
min!(td::TensorDict, other; options...) = binary!(TD_BINARY_MINIMUM, td, other; options...)

"At most the operand."
clamp_max(td::TensorDict, other; options...) = binary(TD_BINARY_CLAMP_MAX, td, other; options...)
"At most the operand, into the tensors."
clamp_max!(td::TensorDict, other; options...) = binary!(TD_BINARY_CLAMP_MAX, td, other; options...)

"At least the operand."
clamp_min(td::TensorDict, other; options...) = binary(TD_BINARY_CLAMP_MIN, td, other; options...)
"At least the operand, into the tensors."
clamp_min!(td::TensorDict, other; options...) = binary!(TD_BINARY_CLAMP_MIN, td, other; options...)

"Bitwise and; for bool, logical and."
bitwise_and(td::TensorDict, other; options...) = binary(TD_BINARY_BITWISE_AND, td, other; options...)
Base.:(&)(td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_BITWISE_AND, td, other)
Base.Broadcast.broadcasted(::typeof((&)), td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_BITWISE_AND, td, other)
"Bitwise and; for bool, logical and, into the tensors."
bitwise_and!(td::TensorDict, other; options...) = binary!(TD_BINARY_BITWISE_AND, td, other; options...)

"Bitwise or; for bool, logical or."
bitwise_or(td::TensorDict, other; options...) = binary(TD_BINARY_BITWISE_OR, td, other; options...)
Base.:(|)(td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_BITWISE_OR, td, other)
Base.Broadcast.broadcasted(::typeof((|)), td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_BITWISE_OR, td, other)
"Bitwise or; for bool, logical or, into the tensors."
bitwise_or!(td::TensorDict, other; options...) = binary!(TD_BINARY_BITWISE_OR, td, other; options...)

"Bitwise exclusive or; for bool, not equal."
bitwise_xor(td::TensorDict, other; options...) = binary(TD_BINARY_BITWISE_XOR, td, other; options...)
Base.xor(td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_BITWISE_XOR, td, other)
Base.Broadcast.broadcasted(::typeof(xor), td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_BITWISE_XOR, td, other)
"Bitwise exclusive or; for bool, not equal, into the tensors."
bitwise_xor!(td::TensorDict, other; options...) = binary!(TD_BINARY_BITWISE_XOR, td, other; options...)

"Whether both are not 0."
logical_and(td::TensorDict, other; options...) = binary(TD_BINARY_LOGICAL_AND, td, other; options...)

"Whether equal."
eq(td::TensorDict, other; options...) = binary(TD_BINARY_EQ, td, other; options...)
Base.Broadcast.broadcasted(::typeof((==)), td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_EQ, td, other)

"Whether not equal."
ne(td::TensorDict, other; options...) = binary(TD_BINARY_NE, td, other; options...)
Base.Broadcast.broadcasted(::typeof((!=)), td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_NE, td, other)

"Whether less."
lt(td::TensorDict, other; options...) = binary(TD_BINARY_LT, td, other; options...)
Base.Broadcast.broadcasted(::typeof((<)), td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_LT, td, other)

"Whether less or equal."
le(td::TensorDict, other; options...) = binary(TD_BINARY_LE, td, other; options...)
Base.Broadcast.broadcasted(::typeof((<=)), td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_LE, td, other)

"Whether greater."
gt(td::TensorDict, other; options...) = binary(TD_BINARY_GT, td, other; options...)
Base.Broadcast.broadcasted(::typeof((>)), td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_GT, td, other)

"Whether greater or equal."
ge(td::TensorDict, other; options...) = binary(TD_BINARY_GE, td, other; options...)
Base.Broadcast.broadcasted(::typeof((>=)), td::TensorDict, other::Union{TensorDict,Tensor,Number}) = binary(TD_BINARY_GE, td, other)
