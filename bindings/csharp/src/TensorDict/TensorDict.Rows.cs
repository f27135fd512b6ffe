using System;
using System.Collections.Generic;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>Results that are made of rows of a dictionary, in new memory.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>The content as often along each batch dimension as its count says.</summary>
        public TensorDict Repeat(params long[] counts) => Repeated(counts, 0);

        /// <summary>As Repeat; fewer counts speak of the last dimensions, for more dimensions are added in front.</summary>
        public TensorDict Tile(params long[] counts) => Repeated(counts, td_repeat_flags.TD_REPEAT_TILE);

        private TensorDict Repeated(long[] counts, td_repeat_flags flags)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            fixed (long* numbers = Argument.NotNull(counts, nameof(counts)))
            {
                Status.Check(Native.td_repeat(handle.Pointer, numbers, (nuint)counts.Length, flags, &result));
            }
            return Own(result);
        }

        /// <summary>Each position of a batch dimension so often.</summary>
        public TensorDict RepeatInterleave(long repeats, long dim = 0)
        {
            using Tensor number = Tensor.Scalar(repeats);
            return RepeatInterleave(number, dim);
        }

        /// <summary>Each position of a batch dimension as often as its number says.</summary>
        public TensorDict RepeatInterleave(Tensor repeats, long dim = 0)
        {
            using var numbers = Argument.NotNull(repeats, nameof(repeats)).Handle.Borrow();
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_repeat_interleave(handle.Pointer, numbers.Pointer, dim, &result), result);
        }

        /// <summary>Moves positions along a batch dimension; those that leave at the end come in at the start.</summary>
        public TensorDict Roll(long shift, long dim) => Roll(new[] { shift }, new[] { dim });

        /// <summary>Moves positions along batch dimensions.</summary>
        public TensorDict Roll(long[] shifts, long[] dims)
        {
            if (Argument.NotNull(shifts, nameof(shifts)).Length != Argument.NotNull(dims, nameof(dims)).Length)
            {
                throw new ArgumentException($"{shifts.Length} shifts for {dims.Length} dimensions", nameof(dims));
            }
            return Rolled(shifts, dims);
        }

        /// <summary>Rolls the batch as if it were flat.</summary>
        public TensorDict Roll(long shift) => Rolled(new[] { shift }, null);

        private TensorDict Rolled(long[] shifts, long[]? dims)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            fixed (long* numbers = shifts)
            fixed (long* along = dims)
            {
                Status.Check(Native.td_roll(handle.Pointer, numbers, along, (nuint)shifts.Length, &result));
            }
            return Own(result);
        }

        /// <summary>Turns batch dimensions round.</summary>
        public TensorDict Flip(params long[] dims)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            fixed (long* order = Argument.NotNull(dims, nameof(dims)))
            {
                Status.Check(Native.td_flip(handle.Pointer, order, (nuint)dims.Length, &result));
            }
            return Own(result);
        }

        /// <summary>Turns the first batch dimension round.</summary>
        public TensorDict FlipUD() => Flip(0);

        /// <summary>Turns the second batch dimension round.</summary>
        public TensorDict FlipLR() => Flip(1);

        /// <summary>Turns the plane of two batch dimensions by 90 degrees, from the first towards the second.</summary>
        public TensorDict Rot90(long times = 1, long dim0 = 0, long dim1 = 1)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_rot90(handle.Pointer, times, dim0, dim1, &result), result);
        }

        /// <summary>Picks a position of one batch dimension for each position of the others.</summary>
        public TensorDict Gather(long dim, Tensor index)
        {
            using var positions = Argument.NotNull(index, nameof(index)).Handle.Borrow();
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_gather(handle.Pointer, dim, positions.Pointer, &result), result);
        }

        /// <summary>Adds positions before and behind: a pair for each batch dimension, from the first on; negative ones cut off.</summary>
        public TensorDict Pad(long[] widths, double value = 0)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            fixed (long* numbers = Argument.NotNull(widths, nameof(widths)))
            {
                Status.Check(Native.td_pad(handle.Pointer, numbers, (nuint)widths.Length, value, &result));
            }
            return Own(result);
        }

        /// <summary>A mask of the positions of a batch dimension that another dictionary has too, as far as one tensor tells.</summary>
        public Tensor IsIn(TensorDict reference, NestedKey key, long dim = 0)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.Borrow();
            using var other = Argument.NotNull(reference, nameof(reference)).Handle.Borrow();
            td_tensor* result = null;
            return Tensor.Own(Native.td_isin(handle.Pointer, other.Pointer, path.Pointer, path.Length, dim, &result), result);
        }

        /// <summary>
        /// Leaves out positions of a batch dimension whose value in one tensor has occurred before, and says which
        /// are left.
        /// </summary>
        public TensorDict RemoveDuplicates(NestedKey key, out Tensor positions, long dim = 0)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            td_tensor* left = null;
            Status.Check(Native.td_remove_duplicates(handle.Pointer, path.Pointer, path.Length, dim, &result, &left));
            positions = Tensor.Own(left);
            return Own(result);
        }

        /// <summary>As with positions, which are not asked for.</summary>
        public TensorDict RemoveDuplicates(NestedKey key, long dim = 0)
        {
            TensorDict kept = RemoveDuplicates(key, out Tensor positions, dim);
            positions.Dispose();
            return kept;
        }

        /// <summary>
        /// Groups the rows of the first batch dimension by the value of an entry. Gives the rows of each value, and the
        /// values, sorted, in a dictionary with this entry alone.
        /// </summary>
        public TensorDict[] GroupBy(NestedKey key, out TensorDict values)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.Borrow();
            Shape batch = BatchSize;
            var raw = new IntPtr[batch.Count == 0 ? 0 : checked((int)Math.Max(batch[0], 0))];
            nuint count = 0;
            td_tensordict* found = null;
            fixed (IntPtr* groups = raw)
            {
                Status.Check(Native.td_group_by(
                    handle.Pointer, path.Pointer, path.Length, &found, (td_tensordict**)groups, (nuint)raw.Length, &count));
            }
            values = Own(found);
            return Array.ConvertAll(raw[..(int)count], pointer => Own((td_tensordict*)pointer));
        }
    }
}
