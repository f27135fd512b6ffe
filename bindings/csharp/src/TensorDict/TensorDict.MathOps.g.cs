// Made by bindings/tools/ops.py from core/math/ops.def.
#nullable enable
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>Operations on every tensor.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>Absolute value.</summary>
        public TensorDict Abs() => Unary(td_unary_op.TD_UNARY_ABS);

        /// <summary>Absolute value, into the tensors.</summary>
        public TensorDict AbsInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_ABS);

        /// <summary>Inverse cosine.</summary>
        public TensorDict Acos() => Unary(td_unary_op.TD_UNARY_ACOS);

        /// <summary>Inverse cosine, into the tensors.</summary>
        public TensorDict AcosInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_ACOS);

        /// <summary>Inverse sine.</summary>
        public TensorDict Asin() => Unary(td_unary_op.TD_UNARY_ASIN);

        /// <summary>Inverse sine, into the tensors.</summary>
        public TensorDict AsinInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_ASIN);

        /// <summary>Inverse tangent.</summary>
        public TensorDict Atan() => Unary(td_unary_op.TD_UNARY_ATAN);

        /// <summary>Inverse tangent, into the tensors.</summary>
        public TensorDict AtanInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_ATAN);

        /// <summary>Rounded up.</summary>
        public TensorDict Ceil() => Unary(td_unary_op.TD_UNARY_CEIL);

        /// <summary>Rounded up, into the tensors.</summary>
        public TensorDict CeilInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_CEIL);

        /// <summary>Cosine.</summary>
        public TensorDict Cos() => Unary(td_unary_op.TD_UNARY_COS);

        /// <summary>Cosine, into the tensors.</summary>
        public TensorDict CosInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_COS);

        /// <summary>Hyperbolic cosine.</summary>
        public TensorDict Cosh() => Unary(td_unary_op.TD_UNARY_COSH);

        /// <summary>Hyperbolic cosine, into the tensors.</summary>
        public TensorDict CoshInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_COSH);

        /// <summary>Error function.</summary>
        public TensorDict Erf() => Unary(td_unary_op.TD_UNARY_ERF);

        /// <summary>Error function, into the tensors.</summary>
        public TensorDict ErfInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_ERF);

        /// <summary>Complementary error function.</summary>
        public TensorDict Erfc() => Unary(td_unary_op.TD_UNARY_ERFC);

        /// <summary>Complementary error function, into the tensors.</summary>
        public TensorDict ErfcInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_ERFC);

        /// <summary>Exponential.</summary>
        public TensorDict Exp() => Unary(td_unary_op.TD_UNARY_EXP);

        /// <summary>Exponential, into the tensors.</summary>
        public TensorDict ExpInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_EXP);

        /// <summary>Exponential minus 1.</summary>
        public TensorDict Expm1() => Unary(td_unary_op.TD_UNARY_EXPM1);

        /// <summary>Exponential minus 1, into the tensors.</summary>
        public TensorDict Expm1InPlace() => UnaryInPlace(td_unary_op.TD_UNARY_EXPM1);

        /// <summary>Rounded down.</summary>
        public TensorDict Floor() => Unary(td_unary_op.TD_UNARY_FLOOR);

        /// <summary>Rounded down, into the tensors.</summary>
        public TensorDict FloorInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_FLOOR);

        /// <summary>Fractional part.</summary>
        public TensorDict Frac() => Unary(td_unary_op.TD_UNARY_FRAC);

        /// <summary>Fractional part, into the tensors.</summary>
        public TensorDict FracInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_FRAC);

        /// <summary>Logarithm of the gamma function.</summary>
        public TensorDict Lgamma() => Unary(td_unary_op.TD_UNARY_LGAMMA);

        /// <summary>Logarithm of the gamma function, into the tensors.</summary>
        public TensorDict LgammaInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_LGAMMA);

        /// <summary>Natural logarithm.</summary>
        public TensorDict Log() => Unary(td_unary_op.TD_UNARY_LOG);

        /// <summary>Natural logarithm, into the tensors.</summary>
        public TensorDict LogInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_LOG);

        /// <summary>Decimal logarithm.</summary>
        public TensorDict Log10() => Unary(td_unary_op.TD_UNARY_LOG10);

        /// <summary>Decimal logarithm, into the tensors.</summary>
        public TensorDict Log10InPlace() => UnaryInPlace(td_unary_op.TD_UNARY_LOG10);

        /// <summary>Natural logarithm of 1 plus the value.</summary>
        public TensorDict Log1p() => Unary(td_unary_op.TD_UNARY_LOG1P);

        /// <summary>Natural logarithm of 1 plus the value, into the tensors.</summary>
        public TensorDict Log1pInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_LOG1P);

        /// <summary>Binary logarithm.</summary>
        public TensorDict Log2() => Unary(td_unary_op.TD_UNARY_LOG2);

        /// <summary>Binary logarithm, into the tensors.</summary>
        public TensorDict Log2InPlace() => UnaryInPlace(td_unary_op.TD_UNARY_LOG2);

        /// <summary>Negative.</summary>
        public TensorDict Negate() => Unary(td_unary_op.TD_UNARY_NEG);

        /// <summary>Negative, into the tensors.</summary>
        public TensorDict NegateInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_NEG);

        /// <summary>1 divided by the value.</summary>
        public TensorDict Reciprocal() => Unary(td_unary_op.TD_UNARY_RECIPROCAL);

        /// <summary>1 divided by the value, into the tensors.</summary>
        public TensorDict ReciprocalInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_RECIPROCAL);

        /// <summary>Rounded to the nearest integer, halves to even.</summary>
        public TensorDict Round() => Unary(td_unary_op.TD_UNARY_ROUND);

        /// <summary>Rounded to the nearest integer, halves to even, into the tensors.</summary>
        public TensorDict RoundInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_ROUND);

        /// <summary>Logistic function.</summary>
        public TensorDict Sigmoid() => Unary(td_unary_op.TD_UNARY_SIGMOID);

        /// <summary>Logistic function, into the tensors.</summary>
        public TensorDict SigmoidInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_SIGMOID);

        /// <summary>Sign: -1, 0 or 1.</summary>
        public TensorDict Sign() => Unary(td_unary_op.TD_UNARY_SIGN);

        /// <summary>Sign: -1, 0 or 1, into the tensors.</summary>
        public TensorDict SignInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_SIGN);

        /// <summary>Sine.</summary>
        public TensorDict Sin() => Unary(td_unary_op.TD_UNARY_SIN);

        /// <summary>Sine, into the tensors.</summary>
        public TensorDict SinInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_SIN);

        /// <summary>Hyperbolic sine.</summary>
        public TensorDict Sinh() => Unary(td_unary_op.TD_UNARY_SINH);

        /// <summary>Hyperbolic sine, into the tensors.</summary>
        public TensorDict SinhInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_SINH);

        /// <summary>Square root.</summary>
        public TensorDict Sqrt() => Unary(td_unary_op.TD_UNARY_SQRT);

        /// <summary>Square root, into the tensors.</summary>
        public TensorDict SqrtInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_SQRT);

        /// <summary>Tangent.</summary>
        public TensorDict Tan() => Unary(td_unary_op.TD_UNARY_TAN);

        /// <summary>Tangent, into the tensors.</summary>
        public TensorDict TanInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_TAN);

        /// <summary>Hyperbolic tangent.</summary>
        public TensorDict Tanh() => Unary(td_unary_op.TD_UNARY_TANH);

        /// <summary>Hyperbolic tangent, into the tensors.</summary>
        public TensorDict TanhInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_TANH);

        /// <summary>Rounded towards 0.</summary>
        public TensorDict Trunc() => Unary(td_unary_op.TD_UNARY_TRUNC);

        /// <summary>Rounded towards 0, into the tensors.</summary>
        public TensorDict TruncInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_TRUNC);

        /// <summary>Inverted bits of integers, or bools.</summary>
        public TensorDict BitwiseNot() => Unary(td_unary_op.TD_UNARY_BITWISE_NOT);

        /// <summary>Inverted bits of integers, or bools, into the tensors.</summary>
        public TensorDict BitwiseNotInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_BITWISE_NOT);

        /// <summary>Whether a value is 0.</summary>
        public TensorDict LogicalNot() => Unary(td_unary_op.TD_UNARY_LOGICAL_NOT);

        /// <summary>Whether a value is 0, into the tensors.</summary>
        public TensorDict LogicalNotInPlace() => UnaryInPlace(td_unary_op.TD_UNARY_LOGICAL_NOT);

        /// <summary>Whether a value is neither infinite nor NaN.</summary>
        public TensorDict IsFinite() => Unary(td_unary_op.TD_UNARY_ISFINITE);

        /// <summary>Whether a value is NaN.</summary>
        public TensorDict IsNaN() => Unary(td_unary_op.TD_UNARY_ISNAN);

        /// <summary>Whether a value is minus infinity.</summary>
        public TensorDict IsNegativeInfinity() => Unary(td_unary_op.TD_UNARY_ISNEGINF);

        /// <summary>Whether a value is plus infinity.</summary>
        public TensorDict IsPositiveInfinity() => Unary(td_unary_op.TD_UNARY_ISPOSINF);

        /// <summary>Whether a value has no imaginary part.</summary>
        public TensorDict IsReal() => Unary(td_unary_op.TD_UNARY_ISREAL);

        /// <summary>Sum; alpha times the operand.</summary>
        public TensorDict Add(Operand other, BinaryOptions? options = null) => Binary(td_binary_op.TD_BINARY_ADD, other, options);

        /// <summary>Sum; alpha times the operand, into the tensors.</summary>
        public TensorDict AddInPlace(Operand other, BinaryOptions? options = null) => BinaryInPlace(td_binary_op.TD_BINARY_ADD, other, options);

        /// <summary>Difference; alpha times the operand.</summary>
        public TensorDict Sub(Operand other, BinaryOptions? options = null) => Binary(td_binary_op.TD_BINARY_SUB, other, options);

        /// <summary>Difference; alpha times the operand, into the tensors.</summary>
        public TensorDict SubInPlace(Operand other, BinaryOptions? options = null) => BinaryInPlace(td_binary_op.TD_BINARY_SUB, other, options);

        /// <summary>The operand minus alpha times the value.</summary>
        public TensorDict RSub(Operand other, BinaryOptions? options = null) => Binary(td_binary_op.TD_BINARY_RSUB, other, options);

        /// <summary>Product.</summary>
        public TensorDict Mul(Operand other, BinaryOptions? options = null) => Binary(td_binary_op.TD_BINARY_MUL, other, options);

        /// <summary>Product, into the tensors.</summary>
        public TensorDict MulInPlace(Operand other, BinaryOptions? options = null) => BinaryInPlace(td_binary_op.TD_BINARY_MUL, other, options);

        /// <summary>Quotient; integers give floats.</summary>
        public TensorDict Div(Operand other, BinaryOptions? options = null) => Binary(td_binary_op.TD_BINARY_DIV, other, options);

        /// <summary>Quotient; integers give floats, into the tensors.</summary>
        public TensorDict DivInPlace(Operand other, BinaryOptions? options = null) => BinaryInPlace(td_binary_op.TD_BINARY_DIV, other, options);

        /// <summary>The operand divided by the value.</summary>
        public TensorDict RDiv(Operand other, BinaryOptions? options = null) => Binary(td_binary_op.TD_BINARY_RDIV, other, options);

        /// <summary>Power.</summary>
        public TensorDict Pow(Operand other, BinaryOptions? options = null) => Binary(td_binary_op.TD_BINARY_POW, other, options);

        /// <summary>Power, into the tensors.</summary>
        public TensorDict PowInPlace(Operand other, BinaryOptions? options = null) => BinaryInPlace(td_binary_op.TD_BINARY_POW, other, options);

        /// <summary>Remainder with the sign of the operand.</summary>
        public TensorDict Mod(Operand other, BinaryOptions? options = null) => Binary(td_binary_op.TD_BINARY_MOD, other, options);

        /// <summary>Remainder with the sign of the operand, into the tensors.</summary>
        public TensorDict ModInPlace(Operand other, BinaryOptions? options = null) => BinaryInPlace(td_binary_op.TD_BINARY_MOD, other, options);

        /// <summary>The larger value; NaN if either is NaN.</summary>
        public TensorDict Maximum(Operand other, BinaryOptions? options = null) => Binary(td_binary_op.TD_BINARY_MAXIMUM, other, options);

        /// <summary>The larger value; NaN if either is NaN, into the tensors.</summary>
        public TensorDict MaximumInPlace(Operand other, BinaryOptions? options = null) => BinaryInPlace(td_binary_op.TD_BINARY_MAXIMUM, other, options);

        /// <summary>The smaller value; NaN if either is NaN.</summary>
        public TensorDict Minimum(Operand other, BinaryOptions? options = null) => Binary(td_binary_op.TD_BINARY_MINIMUM, other, options);

        /// <summary>The smaller value; NaN if either is NaN, into the tensors.</summary>
        public TensorDict MinimumInPlace(Operand other, BinaryOptions? options = null) => BinaryInPlace(td_binary_op.TD_BINARY_MINIMUM, other, options);

        /// <summary>At most the operand.</summary>
        public TensorDict ClampMax(Operand other, BinaryOptions? options = null) => Binary(td_binary_op.TD_BINARY_CLAMP_MAX, other, options);

        /// <summary>At most the operand, into the tensors.</summary>
        public TensorDict ClampMaxInPlace(Operand other, BinaryOptions? options = null) => BinaryInPlace(td_binary_op.TD_BINARY_CLAMP_MAX, other, options);

        /// <summary>At least the operand.</summary>
        public TensorDict ClampMin(Operand other, BinaryOptions? options = null) => Binary(td_binary_op.TD_BINARY_CLAMP_MIN, other, options);

        /// <summary>At least the operand, into the tensors.</summary>
        public TensorDict ClampMinInPlace(Operand other, BinaryOptions? options = null) => BinaryInPlace(td_binary_op.TD_BINARY_CLAMP_MIN, other, options);

        /// <summary>Bitwise and; for bool, logical and.</summary>
        public TensorDict BitwiseAnd(Operand other, BinaryOptions? options = null) => Binary(td_binary_op.TD_BINARY_BITWISE_AND, other, options);

        /// <summary>Bitwise and; for bool, logical and, into the tensors.</summary>
        public TensorDict BitwiseAndInPlace(Operand other, BinaryOptions? options = null) => BinaryInPlace(td_binary_op.TD_BINARY_BITWISE_AND, other, options);

        /// <summary>Bitwise or; for bool, logical or.</summary>
        public TensorDict BitwiseOr(Operand other, BinaryOptions? options = null) => Binary(td_binary_op.TD_BINARY_BITWISE_OR, other, options);

        /// <summary>Bitwise or; for bool, logical or, into the tensors.</summary>
        public TensorDict BitwiseOrInPlace(Operand other, BinaryOptions? options = null) => BinaryInPlace(td_binary_op.TD_BINARY_BITWISE_OR, other, options);

        /// <summary>Bitwise exclusive or; for bool, not equal.</summary>
        public TensorDict BitwiseXor(Operand other, BinaryOptions? options = null) => Binary(td_binary_op.TD_BINARY_BITWISE_XOR, other, options);

        /// <summary>Bitwise exclusive or; for bool, not equal, into the tensors.</summary>
        public TensorDict BitwiseXorInPlace(Operand other, BinaryOptions? options = null) => BinaryInPlace(td_binary_op.TD_BINARY_BITWISE_XOR, other, options);

        /// <summary>Whether both are not 0.</summary>
        public TensorDict LogicalAnd(Operand other, BinaryOptions? options = null) => Binary(td_binary_op.TD_BINARY_LOGICAL_AND, other, options);

        /// <summary>Whether equal.</summary>
        public TensorDict Eq(Operand other) => Binary(td_binary_op.TD_BINARY_EQ, other, null);

        /// <summary>Whether not equal.</summary>
        public TensorDict Ne(Operand other) => Binary(td_binary_op.TD_BINARY_NE, other, null);

        /// <summary>Whether less.</summary>
        public TensorDict Lt(Operand other) => Binary(td_binary_op.TD_BINARY_LT, other, null);

        /// <summary>Whether less or equal.</summary>
        public TensorDict Le(Operand other) => Binary(td_binary_op.TD_BINARY_LE, other, null);

        /// <summary>Whether greater.</summary>
        public TensorDict Gt(Operand other) => Binary(td_binary_op.TD_BINARY_GT, other, null);

        /// <summary>Whether greater or equal.</summary>
        public TensorDict Ge(Operand other) => Binary(td_binary_op.TD_BINARY_GE, other, null);

        /// <summary>Sum of each tensor.</summary>
        public TensorDict Sum(Reduction? over = null) => Reduce(td_reduce_op.TD_REDUCE_SUM, over);

        /// <summary>Sum of all tensors together.</summary>
        public Tensor SumLeaves(Reduction? over = null) => ReduceLeaves(td_reduce_op.TD_REDUCE_SUM, over);

        /// <summary>Mean of each tensor.</summary>
        public TensorDict Mean(Reduction? over = null) => Reduce(td_reduce_op.TD_REDUCE_MEAN, over);

        /// <summary>Mean of all tensors together.</summary>
        public Tensor MeanLeaves(Reduction? over = null) => ReduceLeaves(td_reduce_op.TD_REDUCE_MEAN, over);

        /// <summary>Product of each tensor.</summary>
        public TensorDict Prod(Reduction? over = null) => Reduce(td_reduce_op.TD_REDUCE_PROD, over);

        /// <summary>Product of all tensors together.</summary>
        public Tensor ProdLeaves(Reduction? over = null) => ReduceLeaves(td_reduce_op.TD_REDUCE_PROD, over);

        /// <summary>Standard deviation of each tensor.</summary>
        public TensorDict Std(Reduction? over = null) => Reduce(td_reduce_op.TD_REDUCE_STD, over);

        /// <summary>Standard deviation of all tensors together.</summary>
        public Tensor StdLeaves(Reduction? over = null) => ReduceLeaves(td_reduce_op.TD_REDUCE_STD, over);

        /// <summary>Variance of each tensor.</summary>
        public TensorDict Var(Reduction? over = null) => Reduce(td_reduce_op.TD_REDUCE_VAR, over);

        /// <summary>Variance of all tensors together.</summary>
        public Tensor VarLeaves(Reduction? over = null) => ReduceLeaves(td_reduce_op.TD_REDUCE_VAR, over);

        /// <summary>Sum of non-NaN values of each tensor.</summary>
        public TensorDict NanSum(Reduction? over = null) => Reduce(td_reduce_op.TD_REDUCE_NANSUM, over);

        /// <summary>Sum of non-NaN values of all tensors together.</summary>
        public Tensor NanSumLeaves(Reduction? over = null) => ReduceLeaves(td_reduce_op.TD_REDUCE_NANSUM, over);

        /// <summary>Mean of non-NaN values of each tensor.</summary>
        public TensorDict NanMean(Reduction? over = null) => Reduce(td_reduce_op.TD_REDUCE_NANMEAN, over);

        /// <summary>Mean of non-NaN values of all tensors together.</summary>
        public Tensor NanMeanLeaves(Reduction? over = null) => ReduceLeaves(td_reduce_op.TD_REDUCE_NANMEAN, over);

        /// <summary>Least value of each tensor.</summary>
        public TensorDict Min(Reduction? over = null) => Reduce(td_reduce_op.TD_REDUCE_MIN, over);

        /// <summary>Least value of all tensors together.</summary>
        public Tensor MinLeaves(Reduction? over = null) => ReduceLeaves(td_reduce_op.TD_REDUCE_MIN, over);

        /// <summary>Least value along a dimension, and where it stands.</summary>
        public (TensorDict Values, TensorDict Positions) MinWithPositions(Reduction over) => ReducePair(td_reduce_op.TD_REDUCE_MIN, over);

        /// <summary>Greatest value of each tensor.</summary>
        public TensorDict Max(Reduction? over = null) => Reduce(td_reduce_op.TD_REDUCE_MAX, over);

        /// <summary>Greatest value of all tensors together.</summary>
        public Tensor MaxLeaves(Reduction? over = null) => ReduceLeaves(td_reduce_op.TD_REDUCE_MAX, over);

        /// <summary>Greatest value along a dimension, and where it stands.</summary>
        public (TensorDict Values, TensorDict Positions) MaxWithPositions(Reduction over) => ReducePair(td_reduce_op.TD_REDUCE_MAX, over);

        /// <summary>Least value of each tensor.</summary>
        public TensorDict AMin(Reduction? over = null) => Reduce(td_reduce_op.TD_REDUCE_AMIN, over);

        /// <summary>Least value of all tensors together.</summary>
        public Tensor AMinLeaves(Reduction? over = null) => ReduceLeaves(td_reduce_op.TD_REDUCE_AMIN, over);

        /// <summary>Greatest value of each tensor.</summary>
        public TensorDict AMax(Reduction? over = null) => Reduce(td_reduce_op.TD_REDUCE_AMAX, over);

        /// <summary>Greatest value of all tensors together.</summary>
        public Tensor AMaxLeaves(Reduction? over = null) => ReduceLeaves(td_reduce_op.TD_REDUCE_AMAX, over);

        /// <summary>Whether all are not 0 of each tensor.</summary>
        public TensorDict AllOver(Reduction? over = null) => Reduce(td_reduce_op.TD_REDUCE_ALL, over);

        /// <summary>Whether all are not 0 of all tensors together.</summary>
        public Tensor AllLeaves(Reduction? over = null) => ReduceLeaves(td_reduce_op.TD_REDUCE_ALL, over);

        /// <summary>Whether any is not 0 of each tensor.</summary>
        public TensorDict AnyOver(Reduction? over = null) => Reduce(td_reduce_op.TD_REDUCE_ANY, over);

        /// <summary>Whether any is not 0 of all tensors together.</summary>
        public Tensor AnyLeaves(Reduction? over = null) => ReduceLeaves(td_reduce_op.TD_REDUCE_ANY, over);

        /// <summary>Quantile of each tensor.</summary>
        public TensorDict Quantile(Reduction? over = null) => Reduce(td_reduce_op.TD_REDUCE_QUANTILE, over);

        /// <summary>Quantile of all tensors together.</summary>
        public Tensor QuantileLeaves(Reduction? over = null) => ReduceLeaves(td_reduce_op.TD_REDUCE_QUANTILE, over);

        /// <summary>Euclidean norm of each tensor.</summary>
        public TensorDict Norm(Reduction? over = null) => Reduce(td_reduce_op.TD_REDUCE_NORM, over);

        /// <summary>Euclidean norm of all tensors together.</summary>
        public Tensor NormLeaves(Reduction? over = null) => ReduceLeaves(td_reduce_op.TD_REDUCE_NORM, over);

        /// <summary>Logarithm of the sum of exponentials of each tensor.</summary>
        public TensorDict LogSumExp(Reduction? over = null) => Reduce(td_reduce_op.TD_REDUCE_LOGSUMEXP, over);

        /// <summary>Logarithm of the sum of exponentials of all tensors together.</summary>
        public Tensor LogSumExpLeaves(Reduction? over = null) => ReduceLeaves(td_reduce_op.TD_REDUCE_LOGSUMEXP, over);

        /// <summary>Exponentials divided by their sum of each tensor.</summary>
        public TensorDict Softmax(Reduction over) => Reduce(td_reduce_op.TD_REDUCE_SOFTMAX, over);

        /// <summary>Least value so far of each tensor.</summary>
        public TensorDict CumMin(Reduction over) => Reduce(td_reduce_op.TD_REDUCE_CUMMIN, over);

        /// <summary>Least value so far along a dimension, and where it stands.</summary>
        public (TensorDict Values, TensorDict Positions) CumMinWithPositions(Reduction over) => ReducePair(td_reduce_op.TD_REDUCE_CUMMIN, over);

        /// <summary>Greatest value so far of each tensor.</summary>
        public TensorDict CumMax(Reduction over) => Reduce(td_reduce_op.TD_REDUCE_CUMMAX, over);

        /// <summary>Greatest value so far along a dimension, and where it stands.</summary>
        public (TensorDict Values, TensorDict Positions) CumMaxWithPositions(Reduction over) => ReducePair(td_reduce_op.TD_REDUCE_CUMMAX, over);

        /// <summary>Sum so far of each tensor.</summary>
        public TensorDict CumSum(Reduction over) => Reduce(td_reduce_op.TD_REDUCE_CUMSUM, over);

        /// <summary>Product so far of each tensor.</summary>
        public TensorDict CumProd(Reduction over) => Reduce(td_reduce_op.TD_REDUCE_CUMPROD, over);

        /// <summary>Sum from here to the end of each tensor.</summary>
        public TensorDict SumFrom(Reduction over) => Reduce(td_reduce_op.TD_REDUCE_SUM_FROM, over);
    }
}
