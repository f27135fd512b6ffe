using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>
    /// An argument of <see cref="TensorDict.Call"/>: a number, a text, a dtype, a device, a tensor, another
    /// dictionary (leaf by leaf) or numbers, all of which become one by themselves.
    /// </summary>
    public readonly struct CallArgument
    {
        private CallArgument(td_argument_kind kind, object? value = null, string? name = null)
        {
            Kind = kind;
            Value = value;
            Name = name;
        }

        /// <summary>The tensor that the operator is called for, where it is not the first argument.</summary>
        public static CallArgument Leaf => new CallArgument(td_argument_kind.TD_ARGUMENT_LEAF);

        /// <summary>Nothing, where the operator allows that.</summary>
        public static CallArgument None => new CallArgument(td_argument_kind.TD_ARGUMENT_NONE);

        /// <summary>The name of the operator's argument; null for one that stands at its position.</summary>
        public string? Name { get; }

        internal td_argument_kind Kind { get; }

        internal object? Value { get; }

        /// <summary>An argument by its name.</summary>
        public static CallArgument Named(string name, CallArgument value) =>
            new CallArgument(value.Kind, value.Value, Argument.NotNull(name, nameof(name)));

        /// <summary>An integer.</summary>
        public static implicit operator CallArgument(long value) =>
            new CallArgument(td_argument_kind.TD_ARGUMENT_INT, value);

        /// <summary>A number.</summary>
        public static implicit operator CallArgument(double value) =>
            new CallArgument(td_argument_kind.TD_ARGUMENT_DOUBLE, value);

        /// <summary>True or false.</summary>
        public static implicit operator CallArgument(bool value) =>
            new CallArgument(td_argument_kind.TD_ARGUMENT_BOOL, value ? 1L : 0L);

        /// <summary>A text, such as the name of a memory format.</summary>
        public static implicit operator CallArgument(string value) =>
            new CallArgument(td_argument_kind.TD_ARGUMENT_TEXT, Argument.NotNull(value, nameof(value)));

        /// <summary>A dtype.</summary>
        public static implicit operator CallArgument(DType value) =>
            new CallArgument(td_argument_kind.TD_ARGUMENT_DTYPE, (long)value);

        /// <summary>A device.</summary>
        public static implicit operator CallArgument(Device value) =>
            new CallArgument(td_argument_kind.TD_ARGUMENT_DEVICE, value);

        /// <summary>This tensor, for every tensor of the dictionary.</summary>
        public static implicit operator CallArgument(Tensor value) =>
            new CallArgument(td_argument_kind.TD_ARGUMENT_TENSOR, Argument.NotNull(value, nameof(value)));

        /// <summary>The tensor of another dictionary under the same key.</summary>
        public static implicit operator CallArgument(TensorDict value) =>
            new CallArgument(td_argument_kind.TD_ARGUMENT_DICT, Argument.NotNull(value, nameof(value)));

        /// <summary>Integers.</summary>
        public static implicit operator CallArgument(long[] value) =>
            new CallArgument(td_argument_kind.TD_ARGUMENT_INTS, Argument.NotNull(value, nameof(value)));

        /// <summary>Numbers.</summary>
        public static implicit operator CallArgument(double[] value) =>
            new CallArgument(td_argument_kind.TD_ARGUMENT_DOUBLES, Argument.NotNull(value, nameof(value)));

        /// <summary>Truth values.</summary>
        public static implicit operator CallArgument(bool[] value) =>
            new CallArgument(
                td_argument_kind.TD_ARGUMENT_BOOLS,
                Array.ConvertAll(Argument.NotNull(value, nameof(value)), truth => truth ? 1L : 0L));
    }
}
