using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>
    /// What stands beside a dictionary in an operation: another dictionary, tensor by tensor; a number or a
    /// tensor without dimensions, for all values; any other tensor, broadcast against the batch size and along
    /// the features. Dictionaries, tensors and numbers convert to it.
    /// </summary>
    public readonly struct Operand
    {
        private readonly object? owner;
        private readonly td_operand_kind kind;
        private readonly long integer;
        private readonly double real;

        private Operand(td_operand_kind kind, object? owner, long integer, double real)
        {
            this.kind = kind;
            this.owner = owner;
            this.integer = integer;
            this.real = real;
        }

        /// <summary>A dictionary.</summary>
        public static implicit operator Operand(TensorDict dict) =>
            new Operand(td_operand_kind.TD_OPERAND_DICT, Argument.NotNull(dict, nameof(dict)), 0, 0);

        /// <summary>A tensor.</summary>
        public static implicit operator Operand(Tensor tensor) =>
            new Operand(td_operand_kind.TD_OPERAND_TENSOR, Argument.NotNull(tensor, nameof(tensor)), 0, 0);

        /// <summary>An integer.</summary>
        public static implicit operator Operand(long number) =>
            new Operand(td_operand_kind.TD_OPERAND_INT, null, number, 0);

        /// <summary>An integer.</summary>
        public static implicit operator Operand(int number) => (long)number;

        /// <summary>A number.</summary>
        public static implicit operator Operand(double number) =>
            new Operand(td_operand_kind.TD_OPERAND_DOUBLE, null, 0, number);

        /// <summary>True or false.</summary>
        public static implicit operator Operand(bool truth) =>
            new Operand(td_operand_kind.TD_OPERAND_BOOL, null, truth ? 1 : 0, 0);

        internal Borrowed Borrow() => new Borrowed(this);

        /// <summary>An operand as the library takes it, whose handle cannot go before Dispose.</summary>
        internal readonly unsafe ref struct Borrowed
        {
            private readonly Borrowed<td_tensordict> dict;
            private readonly Borrowed<td_tensor> tensor;

            internal Borrowed(Operand operand)
            {
                dict = operand.owner is TensorDict td ? td.Handle.Borrow() : default;
                tensor = operand.owner is Tensor t ? t.Handle.Borrow() : default;
                td_operand raw = td_operand.Default;
                raw.kind = operand.kind;
                raw.integer = operand.integer;
                raw.real = operand.real;
                raw.dict = dict.Pointer;
                raw.tensor = tensor.Pointer;
                Raw = raw;
            }

            internal td_operand Raw { get; }

            public void Dispose()
            {
                dict.Dispose();
                tensor.Dispose();
            }
        }
    }

    /// <summary>How an operation of two dictionaries works.</summary>
    public sealed record BinaryOptions
    {
        /// <summary>Only keys that both dictionaries have take part; else it is an error when one lacks a key.</summary>
        public bool Intersect { get; set; }

        /// <summary>A tensor without dimensions that stands for entries that one of the dictionaries lacks.</summary>
        public Tensor? Default { get; set; }

        /// <summary>A factor for the operand of Add, Sub and RSub.</summary>
        public double Alpha { get; set; } = 1;

        internal unsafe td_binary_options ToRaw(td_tensor* fallback)
        {
            td_binary_options raw = td_binary_options.Default;
            raw.missing = Default != null ? td_missing.TD_MISSING_DEFAULT
                : Intersect ? td_missing.TD_MISSING_INTERSECT
                : td_missing.TD_MISSING_ERROR;
            raw.alpha = Alpha;
            raw.fallback = fallback;
            return raw;
        }
    }

    /// <summary>How a quantile between two values is found.</summary>
    public enum Interpolation
    {
        /// <summary>On the line between them.</summary>
        Linear = 0,

        /// <summary>The lower one.</summary>
        Lower = 1,

        /// <summary>The higher one.</summary>
        Higher = 2,

        /// <summary>Half way.</summary>
        Midpoint = 3,

        /// <summary>The nearer one.</summary>
        Nearest = 4,
    }

    /// <summary>
    /// What is reduced, and how. A number, or an array of numbers, converts to the batch dimensions; without one
    /// each tensor is reduced to one value.
    /// </summary>
    public sealed record Reduction
    {
        /// <summary>Batch dimensions; negative ones count from the end. Null: batch and features.</summary>
        public long[]? Dims { get; set; }

        /// <summary>The features: one value for each element of the batch.</summary>
        public bool Features { get; set; }

        /// <summary>Dimensions stay, of size 1.</summary>
        public bool KeepDim { get; set; }

        /// <summary>The dtype of the computation and its result.</summary>
        public DType? DType { get; set; }

        /// <summary>Degrees of freedom that Std and Var take off.</summary>
        public long Correction { get; set; } = 1;

        /// <summary>Which quantile, 0 to 1.</summary>
        public double Q { get; set; } = 0.5;

        /// <summary>How a quantile between two values is found.</summary>
        public Interpolation Interpolation { get; set; }

        /// <summary>One batch dimension.</summary>
        public static implicit operator Reduction(int dim) => new Reduction { Dims = new long[] { dim } };

        /// <summary>Several batch dimensions.</summary>
        public static implicit operator Reduction(long[] dims) => new Reduction { Dims = dims };

        internal unsafe td_reduce_options ToRaw(long* dims)
        {
            td_reduce_options raw = td_reduce_options.Default;
            raw.over = Features ? td_reduce_over.TD_REDUCE_OVER_FEATURES
                : Dims != null ? td_reduce_over.TD_REDUCE_OVER_DIMS
                : td_reduce_over.TD_REDUCE_OVER_ALL;
            raw.dims = dims;
            raw.dims_len = (nuint)(Dims?.Length ?? 0);
            raw.keepdim = KeepDim ? 1 : 0;
            raw.dtype = (td_dtype)(int)(DType ?? TensorDicts.DType.Other);
            raw.correction = Correction;
            raw.q = Q;
            raw.interpolation = (td_interpolation)(int)Interpolation;
            return raw;
        }
    }
}
