using System;
using System.Collections.Generic;
using System.Linq;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>
    /// A row of tensors that have as many dimensions and one dtype, and differ in sizes: an entry of a dictionary
    /// (Python's nested tensor). It follows copies, conversions, an index along the batch and files; whatever else
    /// meets it is refused.
    /// </summary>
    public sealed unsafe class NestedTensor : Entry
    {
        private readonly TensorDict owner;

        internal NestedTensor(TensorDict owner)
        {
            this.owner = owner;
        }

        /// <summary>How many parts there are.</summary>
        public long Count => owner.BatchSize[0];

        internal TensorDict Owner => owner;

        internal override Entry Held => owner;

        internal override bool IsDisposed => owner.IsDisposed;

        /// <summary>One part, which shares memory; negative positions count from the end.</summary>
        public Tensor this[long position]
        {
            get
            {
                using var handle = owner.Handle.Borrow();
                td_tensor* result = null;
                return Tensor.Own(Native.td_nested_tensor_at(handle.Pointer, position, &result), result);
            }
        }

        /// <summary>A nested tensor with a copy of each of several tensors.</summary>
        public static NestedTensor FromTensors(IEnumerable<Tensor> parts)
        {
            Tensor[] all = Argument.NotNull(parts, nameof(parts)).ToArray();
            var raw = new IntPtr[all.Length];
            int held = 0;
            try
            {
                for (; held < all.Length; held++)
                {
                    raw[held] = (IntPtr)Argument.NotNull(all[held], nameof(parts)).Handle.Hold();
                }
                td_tensordict* result = null;
                fixed (IntPtr* list = raw)
                {
                    Status.Check(Native.td_nested_tensor_from_tensors((td_tensor**)list, (nuint)all.Length, &result));
                }
                return new NestedTensor(TensorDict.Own(result));
            }
            finally
            {
                while (held > 0)
                {
                    all[--held].Handle.Drop();
                }
            }
        }

        /// <summary>
        /// Over values that lie one part after the other, which are shared, and sizes: <c>long</c> of shape [parts,
        /// dimensions of a part].
        /// </summary>
        public static NestedTensor FromValues(Tensor values, Tensor sizes)
        {
            using var all = Argument.NotNull(values, nameof(values)).Handle.Borrow();
            using var table = Argument.NotNull(sizes, nameof(sizes)).Handle.Borrow();
            td_tensordict* result = null;
            Status.Check(Native.td_nested_tensor_create(all.Pointer, table.Pointer, &result));
            return new NestedTensor(TensorDict.Own(result));
        }

        /// <summary>All values in one dimension, which share memory, and the sizes of the parts, a copy.</summary>
        public (Tensor Values, Tensor Sizes) Tensors()
        {
            using var handle = owner.Handle.Borrow();
            td_tensor* values = null;
            td_tensor* sizes = null;
            Status.Check(Native.td_nested_tensor_values(handle.Pointer, &values, &sizes));
            return (Tensor.Own(values), Tensor.Own(sizes));
        }

        /// <summary>
        /// The parts as one tensor, each padded to the longest, and a mask that is true where there are values.
        /// </summary>
        public (Tensor Values, Tensor Mask) Padded(Padding padding = default)
        {
            using var handle = owner.Handle.Borrow();
            td_padding_options options = padding.Raw(Padding.Padded);
            td_tensor* values = null;
            td_tensor* mask = null;
            Status.Check(Native.td_nested_tensor_to_padded(handle.Pointer, &options, &values, &mask));
            return (Tensor.Own(values), Tensor.Own(mask));
        }

        /// <inheritdoc/>
        public override void Dispose() => owner.Dispose();
    }

    /// <content>Entries of different shapes.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>Stores a nested tensor, which is shared.</summary>
        public void Set(NestedKey key, NestedTensor value) => Set(key, Argument.NotNull(value, nameof(value)).Owner);

        /// <summary>Looks up a nested tensor. It shares memory with the entry and outlives it.</summary>
        public NestedTensor GetNestedTensor(NestedKey key)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            Status.Check(Native.td_get_nested_tensor(handle.Pointer, path.Pointer, path.Length, &result));
            return new NestedTensor(Own(result));
        }
    }
}
