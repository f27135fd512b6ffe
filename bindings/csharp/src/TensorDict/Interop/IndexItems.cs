using System;
using System.Runtime.InteropServices;

namespace TensorDicts.Interop
{
    /// <summary>An index as the library takes it, with its tensors held, for the length of a call.</summary>
    internal unsafe ref struct IndexItems
    {
        /// <summary>What callers lend on the stack; libtorch has no tensor of more dimensions.</summary>
        internal const int Most = 64;

        private readonly ReadOnlySpan<TensorIndex> index;
        private int held;

        internal td_index_item* Pointer { get; }

        internal nuint Length => (nuint)index.Length;

        internal IndexItems(ReadOnlySpan<TensorIndex> index, td_index_item* stack)
        {
            this.index = index;
            held = 0;
            Pointer = stack;
            try
            {
                for (; held < index.Length; held++)
                {
                    index[held].Encode(ref stack[held]);
                    Tensor? tensor = index[held].Tensor;
                    if (tensor != null)
                    {
                        stack[held].tensor = tensor.Handle.Hold();
                    }
                }
            }
            catch
            {
                Dispose();
                throw;
            }
        }

        /// <summary>How many items a caller has to lend.</summary>
        internal static int Room(ReadOnlySpan<TensorIndex> index)
        {
            if (index.Length > Most)
            {
                throw new ArgumentException($"an index has at most {Most} items, found {index.Length}", nameof(index));
            }
            return index.Length;
        }

        public void Dispose()
        {
            while (held > 0)
            {
                index[--held].Tensor?.Handle.Drop();
            }
        }
    }
}
