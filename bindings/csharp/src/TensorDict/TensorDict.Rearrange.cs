using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>Batch dimensions made of others, moved, and cut into parts.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>Makes one batch dimension of several that follow one another, sharing memory where that is possible.</summary>
        public TensorDict Flatten(long start = 0, long end = -1)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_flatten(handle.Pointer, start, end, &result), result);
        }

        /// <summary>Makes several batch dimensions of one, sharing memory. At most one -1 is worked out.</summary>
        public TensorDict Unflatten(long dim, params long[] sizes)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            fixed (long* numbers = Argument.NotNull(sizes, nameof(sizes)))
            {
                Status.Check(Native.td_unflatten(handle.Pointer, dim, numbers, (nuint)sizes.Length, &result));
            }
            return Own(result);
        }

        /// <summary>Moves a batch dimension to another place, sharing memory; the others keep their order.</summary>
        public TensorDict MoveDim(long from, long to) => MoveDim(new[] { from }, new[] { to });

        /// <summary>Moves batch dimensions to other places, sharing memory; the others keep their order.</summary>
        public TensorDict MoveDim(long[] from, long[] to)
        {
            if (Argument.NotNull(from, nameof(from)).Length != Argument.NotNull(to, nameof(to)).Length)
            {
                throw new ArgumentException($"{from.Length} dimensions cannot move to {to.Length} places", nameof(to));
            }
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            fixed (long* sources = Argument.NotNull(from, nameof(from)))
            fixed (long* places = Argument.NotNull(to, nameof(to)))
            {
                Status.Check(Native.td_movedim(handle.Pointer, sources, places, (nuint)from.Length, &result));
            }
            return Own(result);
        }

        /// <summary>Some positions of a batch dimension, sharing memory; locked if this is.</summary>
        public TensorDict Narrow(long dim, long start, long length)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_narrow(handle.Pointer, dim, start, length, &result), result);
        }

        /// <summary>Adds batch dimensions of size 1 in front until there are so many, sharing memory.</summary>
        public TensorDict AtLeast(int dims)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_atleast(handle.Pointer, (nuint)Math.Max(dims, 0), &result), result);
        }

        /// <summary>Expands to the batch size of another dictionary, without using memory.</summary>
        public TensorDict ExpandAs(TensorDict other) => Expand(Argument.NotNull(other, nameof(other)).BatchSize.ToArray());

        /// <summary>Parts of this length along a batch dimension, sharing memory; the last one may be shorter.</summary>
        public TensorDict[] Split(long length, long dim = 0) => Parts(td_split_kind.TD_SPLIT_LENGTH, new[] { length }, dim);

        /// <summary>Parts of these lengths, which add up to the size of the dimension.</summary>
        public TensorDict[] Split(long[] lengths, long dim = 0) => Parts(td_split_kind.TD_SPLIT_LENGTHS, lengths, dim);

        /// <summary>At most so many parts, of equal length but for the last.</summary>
        public TensorDict[] Chunk(long chunks, long dim = 0) => Parts(td_split_kind.TD_SPLIT_CHUNKS, new[] { chunks }, dim);

        /// <summary>Exactly so many parts; the first of them may be longer by one.</summary>
        public TensorDict[] TensorSplit(long parts, long dim = 0) => Parts(td_split_kind.TD_SPLIT_PARTS, new[] { parts }, dim);

        /// <summary>Parts that begin at these positions, and one in front of them.</summary>
        public TensorDict[] TensorSplit(long[] positions, long dim = 0) => Parts(td_split_kind.TD_SPLIT_POSITIONS, positions, dim);

        /// <summary>
        /// Reads the memory of every tensor as another dtype. Where that changes the length of a batch dimension,
        /// the second argument says what the batch size becomes.
        /// </summary>
        public TensorDict ViewAs(DType dtype, long[]? batchSize = null)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            fixed (long* sizes = batchSize)
            {
                Status.Check(Native.td_view_dtype(
                    handle.Pointer, (td_dtype)(int)dtype, batchSize == null ? 0 : td_view_dtype_flags.TD_VIEW_DTYPE_HAS_SIZES, sizes,
                    (nuint)(batchSize?.Length ?? 0), &result));
            }
            return Own(result);
        }

        /// <summary>As Contiguous; dimensions of size 1 get the strides of a dense tensor, too.</summary>
        public TensorDict ContiguousCanonical()
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_contiguous_canonical(handle.Pointer, &result), result);
        }

        /// <summary>Whether all tensors lie densely.</summary>
        public bool IsContiguous
        {
            get
            {
                using var handle = Handle.Borrow();
                int dense = 0;
                Status.Check(Native.td_is_contiguous(handle.Pointer, &dense));
                return dense != 0;
            }
        }

        /// <summary>
        /// Puts what another dictionary has in place of what this one has: entries, batch size, device and names.
        /// With it any operation works in place. Nested dictionaries are shared with the other from then on.
        /// </summary>
        public void Become(TensorDict other)
        {
            using var handle = Handle.BorrowToChange();
            using var source = Argument.NotNull(other, nameof(other)).Handle.Borrow();
            Status.Check(Native.td_become(handle.Pointer, source.Pointer));
        }

        private TensorDict[] Parts(td_split_kind kind, long[] numbers, long dim)
        {
            using var handle = Handle.Borrow();
            nuint count = 0;
            fixed (long* list = Argument.NotNull(numbers, nameof(numbers)))
            {
                var length = (nuint)numbers.Length;
                Status.Check(Native.td_split(handle.Pointer, dim, kind, list, length, null, 0, &count));
                var raw = new IntPtr[checked((int)count)];
                fixed (IntPtr* results = raw)
                {
                    Status.Check(Native.td_split(
                        handle.Pointer, dim, kind, list, length, (td_tensordict**)results, count, &count));
                }
                return Array.ConvertAll(raw, pointer => Own((td_tensordict*)pointer));
            }
        }
    }
}
