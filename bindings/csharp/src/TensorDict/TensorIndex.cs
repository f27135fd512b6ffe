using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>
    /// One item of an index. Integers, C# ranges and ^ indices, truth values and tensors turn into an
    /// item by themselves: <c>td[0, 1..3, ^1, mask]</c>.
    /// </summary>
    public readonly struct TensorIndex
    {
        private readonly td_index_kind kind;
        private readonly td_index_flags flags;
        private readonly long start;
        private readonly long stop;
        private readonly long step;

        private TensorIndex(
            td_index_kind kind, td_index_flags flags = 0, long start = 0, long stop = 0, long step = 0, Tensor? tensor = null)
        {
            this.kind = kind;
            this.flags = flags;
            this.start = start;
            this.stop = stop;
            this.step = step;
            Tensor = tensor;
        }

        /// <summary>All dimensions that no other item speaks of; at most once in an index.</summary>
        public static TensorIndex Ellipsis => new TensorIndex(td_index_kind.TD_INDEX_ELLIPSIS);

        /// <summary>A new dimension of size 1.</summary>
        public static TensorIndex NewAxis => new TensorIndex(td_index_kind.TD_INDEX_NONE);

        internal Tensor? Tensor { get; }

        /// <summary>One position; negative ones count from the end.</summary>
        public static implicit operator TensorIndex(long position) => new TensorIndex(td_index_kind.TD_INDEX_INT, 0, position);

        /// <summary>One position; negative ones count from the end.</summary>
        public static implicit operator TensorIndex(int position) => (long)position;

        /// <summary>One position; ^1 is the last.</summary>
        public static implicit operator TensorIndex(Index position)
        {
            if (position.IsFromEnd && position.Value == 0)
            {
                throw new ArgumentOutOfRangeException(nameof(position), "^0 is behind the last position, the last is ^1");
            }
            return position.IsFromEnd ? -(long)position.Value : position.Value;
        }

        /// <summary>A slice. Bounds outside the dimension are cut to it, as in Python.</summary>
        public static implicit operator TensorIndex(Range range)
        {
            // "-0" would be the beginning: ^0 as a start is the end, whatever the size, and as a stop no bound at all.
            long first = range.Start.IsFromEnd
                ? (range.Start.Value == 0 ? long.MaxValue : -(long)range.Start.Value)
                : range.Start.Value;
            bool open = range.End.IsFromEnd && range.End.Value == 0;
            long? past = open ? (long?)null : range.End.IsFromEnd ? -(long)range.End.Value : range.End.Value;
            return Slice.Of(first, past);
        }

        /// <summary>A new dimension of size 1 for true, of size 0 for false.</summary>
        public static implicit operator TensorIndex(bool truth) =>
            new TensorIndex(td_index_kind.TD_INDEX_BOOL, 0, truth ? 1 : 0);

        /// <summary>Integers, or a boolean mask over as many dimensions as it has.</summary>
        public static implicit operator TensorIndex(Tensor tensor) =>
            new TensorIndex(
                td_index_kind.TD_INDEX_TENSOR, tensor: tensor ?? throw new ArgumentNullException(nameof(tensor)));

        /// <summary>
        /// Reads an index as Python writes it: integers, slices, "...", "None", "True" and "False", separated
        /// by commas, as in "..., ::2, None".
        /// </summary>
        public static unsafe TensorIndex[] Parse(string text)
        {
            if (text == null)
            {
                throw new ArgumentNullException(nameof(text));
            }
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var utf8 = new Utf8Text(text, nameof(text), stack);
            nuint count = 0;
            td_status status = Native.td_index_parse(utf8.Pointer, null, 0, &count);
            if (status != td_status.TD_ERR_BUFFER_TOO_SMALL)
            {
                Status.Check(status);
            }
            var items = new td_index_item[checked((int)count)];
            fixed (td_index_item* target = items)
            {
                Status.Check(Native.td_index_parse(utf8.Pointer, target, count, &count));
            }
            return Array.ConvertAll(items, i => new TensorIndex(i.kind, i.flags, i.start, i.stop, i.step));
        }

        internal static TensorIndex Between(long? start, long? stop, long? step)
        {
            td_index_flags flags = (start.HasValue ? td_index_flags.TD_INDEX_HAS_START : 0)
                | (stop.HasValue ? td_index_flags.TD_INDEX_HAS_STOP : 0)
                | (step.HasValue ? td_index_flags.TD_INDEX_HAS_STEP : 0);
            return new TensorIndex(td_index_kind.TD_INDEX_SLICE, flags, start ?? 0, stop ?? 0, step ?? 0);
        }

        internal void Encode(ref td_index_item item)
        {
            item = default;
            item.kind = kind;
            item.flags = flags;
            item.start = start;
            item.stop = stop;
            item.step = step;
        }
    }

    /// <summary>Slices with a step, which C# ranges do not have.</summary>
    public static class Slice
    {
        /// <summary>Every element.</summary>
        public static TensorIndex All => TensorIndex.Between(null, null, null);

        /// <summary>
        /// From start to before stop; negative bounds count from the end, a bound left out is that end of
        /// the dimension. A step is at least 1.
        /// </summary>
        public static TensorIndex Of(long? start = null, long? stop = null, long? step = null) =>
            TensorIndex.Between(start, stop, step);
    }
}
