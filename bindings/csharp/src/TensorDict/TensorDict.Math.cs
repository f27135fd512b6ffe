using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>
    /// Arithmetic, comparison, logic and reductions: operators, and what the methods made from the table call.
    /// </content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>Sum.</summary>
        public static TensorDict operator +(TensorDict left, Operand right) => left.Add(right);

        /// <summary>Sum.</summary>
        public static TensorDict operator +(double left, TensorDict right) => right.Add(left);

        /// <summary>Sum.</summary>
        public static TensorDict operator +(long left, TensorDict right) => right.Add(left);

        /// <summary>Difference.</summary>
        public static TensorDict operator -(TensorDict left, Operand right) => left.Sub(right);

        /// <summary>Difference.</summary>
        public static TensorDict operator -(double left, TensorDict right) => right.RSub(left);

        /// <summary>Difference.</summary>
        public static TensorDict operator -(long left, TensorDict right) => right.RSub(left);

        /// <summary>Product.</summary>
        public static TensorDict operator *(TensorDict left, Operand right) => left.Mul(right);

        /// <summary>Product.</summary>
        public static TensorDict operator *(double left, TensorDict right) => right.Mul(left);

        /// <summary>Product.</summary>
        public static TensorDict operator *(long left, TensorDict right) => right.Mul(left);

        /// <summary>Quotient; integers give floats.</summary>
        public static TensorDict operator /(TensorDict left, Operand right) => left.Div(right);

        /// <summary>Quotient.</summary>
        public static TensorDict operator /(double left, TensorDict right) => right.RDiv(left);

        /// <summary>Quotient; integers give floats.</summary>
        public static TensorDict operator /(long left, TensorDict right) => right.RDiv(left);

        /// <summary>Remainder with the sign of the right side.</summary>
        public static TensorDict operator %(TensorDict left, Operand right) => left.Mod(right);

        /// <summary>Bits of both; of bools: and.</summary>
        public static TensorDict operator &(TensorDict left, Operand right) => left.BitwiseAnd(right);

        /// <summary>Bits of either; of bools: or.</summary>
        public static TensorDict operator |(TensorDict left, Operand right) => left.BitwiseOr(right);

        /// <summary>Bits of one alone; of bools: unequal.</summary>
        public static TensorDict operator ^(TensorDict left, Operand right) => left.BitwiseXor(right);

        /// <summary>Whether less, for each value.</summary>
        public static TensorDict operator <(TensorDict left, Operand right) => left.Lt(right);

        /// <summary>Whether greater, for each value.</summary>
        public static TensorDict operator >(TensorDict left, Operand right) => left.Gt(right);

        /// <summary>Whether less or equal, for each value.</summary>
        public static TensorDict operator <=(TensorDict left, Operand right) => left.Le(right);

        /// <summary>Whether greater or equal, for each value.</summary>
        public static TensorDict operator >=(TensorDict left, Operand right) => left.Ge(right);

        /// <summary>Negative.</summary>
        public static TensorDict operator -(TensorDict td) => td.Negate();

        /// <summary>Bits of integers, or bools, turned over.</summary>
        public static TensorDict operator ~(TensorDict td) => td.BitwiseNot();

        /// <summary>this + weight * (end - this).</summary>
        public TensorDict Lerp(Operand end, Operand weight) => Ternary(td_ternary_op.TD_TERNARY_LERP, end, weight, 1);

        /// <summary>this + weight * (end - this), into the tensors.</summary>
        public TensorDict LerpInPlace(Operand end, Operand weight) =>
            TernaryInPlace(td_ternary_op.TD_TERNARY_LERP, end, weight, 1);

        /// <summary>this + value * b * c.</summary>
        public TensorDict AddCMul(Operand b, Operand c, double value = 1) =>
            Ternary(td_ternary_op.TD_TERNARY_ADDCMUL, b, c, value);

        /// <summary>this + value * b * c, into the tensors.</summary>
        public TensorDict AddCMulInPlace(Operand b, Operand c, double value = 1) =>
            TernaryInPlace(td_ternary_op.TD_TERNARY_ADDCMUL, b, c, value);

        /// <summary>this + value * b / c.</summary>
        public TensorDict AddCDiv(Operand b, Operand c, double value = 1) =>
            Ternary(td_ternary_op.TD_TERNARY_ADDCDIV, b, c, value);

        /// <summary>this + value * b / c, into the tensors.</summary>
        public TensorDict AddCDivInPlace(Operand b, Operand c, double value = 1) =>
            TernaryInPlace(td_ternary_op.TD_TERNARY_ADDCDIV, b, c, value);

        /// <summary>Values between two bounds; see ClampMin and ClampMax for one.</summary>
        public TensorDict Clamp(Operand min, Operand max) => Ternary(td_ternary_op.TD_TERNARY_CLAMP, min, max, 1);

        /// <summary>Values between two bounds, into the tensors.</summary>
        public TensorDict ClampInPlace(Operand min, Operand max) =>
            TernaryInPlace(td_ternary_op.TD_TERNARY_CLAMP, min, max, 1);

        /// <summary>Whether all elements of all tensors are not 0; true without tensors.</summary>
        public bool All()
        {
            using var handle = Handle.Borrow();
            int result = 0;
            Status.Check(Native.td_all(handle.Pointer, &result));
            return result != 0;
        }

        /// <summary>Whether any element of any tensor is not 0; false without tensors.</summary>
        public bool Any()
        {
            using var handle = Handle.Borrow();
            int result = 0;
            Status.Check(Native.td_any(handle.Pointer, &result));
            return result != 0;
        }

        /// <summary>Writes 0 into all tensors. Allowed when locked.</summary>
        public TensorDict ZeroInPlace()
        {
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_zero(handle.Pointer));
            return this;
        }

        /// <summary>Writes one number into a tensor, or into all of a nested dictionary. Allowed when locked.</summary>
        public TensorDict FillInPlace(NestedKey key, Operand value)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.BorrowToChange();
            using var operand = value.Borrow();
            td_operand raw = operand.Raw;
            Status.Check(Native.td_fill(handle.Pointer, path.Pointer, path.Length, &raw));
            return this;
        }

        private TensorDict Unary(td_unary_op op)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_unary(handle.Pointer, op, &result), result);
        }

        private TensorDict UnaryInPlace(td_unary_op op)
        {
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_unary_inplace(handle.Pointer, op));
            return this;
        }

        private TensorDict Binary(td_binary_op op, Operand other, BinaryOptions? options)
        {
            using var handle = Handle.Borrow();
            using var operand = other.Borrow();
            using var fallback = BorrowDefault(options);
            td_operand raw = operand.Raw;
            td_binary_options how = (options ?? new BinaryOptions()).ToRaw(fallback.Pointer);
            td_tensordict* result = null;
            return Own(Native.td_binary(handle.Pointer, op, &raw, &how, &result), result);
        }

        private TensorDict BinaryInPlace(td_binary_op op, Operand other, BinaryOptions? options)
        {
            using var handle = Handle.BorrowToChange();
            using var operand = other.Borrow();
            using var fallback = BorrowDefault(options);
            td_operand raw = operand.Raw;
            td_binary_options how = (options ?? new BinaryOptions()).ToRaw(fallback.Pointer);
            Status.Check(Native.td_binary_inplace(handle.Pointer, op, &raw, &how));
            return this;
        }

        private static Borrowed<td_tensor> BorrowDefault(BinaryOptions? options) =>
            options?.Default is Tensor tensor ? tensor.Handle.Borrow() : default;

        private TensorDict Ternary(td_ternary_op op, Operand b, Operand c, double value)
        {
            using var handle = Handle.Borrow();
            using var first = b.Borrow();
            using var second = c.Borrow();
            td_operand rawB = first.Raw, rawC = second.Raw;
            td_tensordict* result = null;
            return Own(Native.td_ternary(handle.Pointer, op, &rawB, &rawC, value, &result), result);
        }

        private TensorDict TernaryInPlace(td_ternary_op op, Operand b, Operand c, double value)
        {
            using var handle = Handle.BorrowToChange();
            using var first = b.Borrow();
            using var second = c.Borrow();
            td_operand rawB = first.Raw, rawC = second.Raw;
            Status.Check(Native.td_ternary_inplace(handle.Pointer, op, &rawB, &rawC, value));
            return this;
        }

        private TensorDict Reduce(td_reduce_op op, Reduction? over)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            fixed (long* dims = over?.Dims)
            {
                td_reduce_options how = (over ?? new Reduction()).ToRaw(dims);
                Status.Check(Native.td_reduce(handle.Pointer, op, &how, &result));
            }
            return Own(result);
        }

        private Tensor ReduceLeaves(td_reduce_op op, Reduction? over)
        {
            using var handle = Handle.Borrow();
            td_tensor* result = null;
            fixed (long* dims = over?.Dims)
            {
                td_reduce_options how = (over ?? new Reduction()).ToRaw(dims);
                Status.Check(Native.td_reduce_leaves(handle.Pointer, op, &how, &result));
            }
            return Tensor.Own(result);
        }

        private (TensorDict Values, TensorDict Positions) ReducePair(td_reduce_op op, Reduction over)
        {
            using var handle = Handle.Borrow();
            td_tensordict* values = null;
            td_tensordict* positions = null;
            fixed (long* dims = Argument.NotNull(over, nameof(over)).Dims)
            {
                td_reduce_options how = over.ToRaw(dims);
                Status.Check(Native.td_reduce_pair(handle.Pointer, op, &how, &values, &positions));
            }
            return (Own(values), Own(positions));
        }
    }
}
