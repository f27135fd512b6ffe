using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>Parts of the batch.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// Reads a part: the index is applied to the batch dimensions of every entry. Integers, slices, new
        /// dimensions and the ellipsis share memory.
        /// </summary>
        /// <remarks>
        /// Written to, existing entries are overwritten in place, and keys that are new here are made with
        /// zeros of the full batch size first.
        /// </remarks>
        public TensorDict this[params TensorIndex[] index]
        {
            get => Index(index);
            set => SetAt(value, index);
        }

#if NET
        /// <summary>Reads or writes a part, as with an array of items.</summary>
        public TensorDict this[params ReadOnlySpan<TensorIndex> index]
        {
            get => Index(index);
            set => SetAt(value, index);
        }
#endif

        /// <summary>Reads a part: the index is applied to the batch dimensions of every entry.</summary>
        public TensorDict Index(ReadOnlySpan<TensorIndex> index)
        {
            td_index_item* stack = stackalloc td_index_item[IndexItems.Room(index)];
            using var items = new IndexItems(index, stack);
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_index(handle.Pointer, items.Pointer, items.Length, &result), result);
        }

        /// <summary>Writes a dictionary into a part; its batch size must be, or expand to, that of the part.</summary>
        public void SetAt(TensorDict value, ReadOnlySpan<TensorIndex> index)
        {
            td_index_item* stack = stackalloc td_index_item[IndexItems.Room(index)];
            using var items = new IndexItems(index, stack);
            using var handle = Handle.BorrowToChange();
            using var source = Argument.NotNull(value, nameof(value)).Handle.Borrow();
            Status.Check(Native.td_set_at(handle.Pointer, items.Pointer, items.Length, source.Pointer));
        }

        /// <summary>Writes one tensor, broadcast, into a part of every tensor; a scalar fills.</summary>
        public void FillAt(Tensor value, params TensorIndex[] index)
        {
            Argument.NotNull(index, nameof(index));
            td_index_item* stack = stackalloc td_index_item[IndexItems.Room(index)];
            using var items = new IndexItems(index, stack);
            using var handle = Handle.BorrowToChange();
            using var source = Argument.NotNull(value, nameof(value)).Handle.Borrow();
            Status.Check(Native.td_fill_at(handle.Pointer, items.Pointer, items.Length, source.Pointer));
        }
    }
}
