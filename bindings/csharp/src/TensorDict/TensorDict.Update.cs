using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>Entries of another dictionary into this one, and single entries written.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// Puts the entries of another dictionary into this one. Dictionaries that both have are merged and stay
        /// the same dictionaries.
        /// </summary>
        public void Update(TensorDict source, UpdateOptions? options = null)
        {
            td_update_options raw = (options ?? new UpdateOptions()).ToRaw();
            using var keys = new Utf8Keys(options?.Keys ?? Array.Empty<NestedKey>());
            raw.keys = keys.Pointer;
            raw.keys_len = keys.Length;
            using var handle = Handle.BorrowToChange();
            using var from = Argument.NotNull(source, nameof(source)).Handle.Borrow();
            Status.Check(Native.td_update(handle.Pointer, from.Pointer, &raw));
        }

        /// <summary>Writes the values of another dictionary into the tensors here, which must all be there. Allowed when locked.</summary>
        public void UpdateInPlace(TensorDict source) => Update(source, new UpdateOptions { Mode = UpdateMode.Strict });

        /// <summary>A dictionary of its own with the entries of both, over the same tensors.</summary>
        public TensorDict Replace(TensorDict source)
        {
            TensorDict copy = ShallowClone();
            try
            {
                copy.Update(source);
                return copy;
            }
            catch
            {
                copy.Dispose();
                throw;
            }
        }

        /// <summary>
        /// Writes the values of another dictionary into a part of the entries that are here; each is broadcast for
        /// itself. Allowed when locked.
        /// </summary>
        public void UpdateAt(TensorDict source, params TensorIndex[] index) => UpdateAt(source, index, 0);

        /// <summary>As UpdateAt, for sizes that agree and an index that gives a view: no tensor is part of it.</summary>
        public void CopyAt(TensorDict source, params TensorIndex[] index) => UpdateAt(source, index, td_update_at_flags.TD_UPDATE_AT_EXACT);

        /// <summary>Writes values into the tensor that is stored, or stores this one when nothing is there.</summary>
        public void Write(NestedKey key, Tensor value)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.BorrowToChange();
            using var source = Argument.NotNull(value, nameof(value)).Handle.Borrow();
            Status.Check(Native.td_write_or_set(handle.Pointer, path.Pointer, path.Length, source.Pointer));
        }

        /// <summary>Writes a value, broadcast, into a tensor, or into all tensors of a nested dictionary. Allowed when locked.</summary>
        public void FillEntry(NestedKey key, Tensor value)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.BorrowToChange();
            using var source = Argument.NotNull(value, nameof(value)).Handle.Borrow();
            Status.Check(Native.td_fill_entry(handle.Pointer, path.Pointer, path.Length, source.Pointer));
        }

        /// <summary>A part of a tensor. The index counts from its first dimension and may go beyond the batch.</summary>
        public Tensor GetTensorAt(NestedKey key, params TensorIndex[] index)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            td_index_item* room = stackalloc td_index_item[IndexItems.Room(Argument.NotNull(index, nameof(index)))];
            using var path = new Utf8Path(key, stack);
            using var items = new IndexItems(index, room);
            using var handle = Handle.Borrow();
            td_tensor* result = null;
            return Tensor.Own(Native.td_get_entry_at(
                handle.Pointer, path.Pointer, path.Length, items.Pointer, items.Length, &result), result);
        }

        /// <summary>Writes into a part of a tensor; the values are broadcast. Allowed when locked.</summary>
        public void SetTensorAt(NestedKey key, Tensor value, params TensorIndex[] index)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            td_index_item* room = stackalloc td_index_item[IndexItems.Room(Argument.NotNull(index, nameof(index)))];
            using var path = new Utf8Path(key, stack);
            using var items = new IndexItems(index, room);
            using var handle = Handle.BorrowToChange();
            using var source = Argument.NotNull(value, nameof(value)).Handle.Borrow();
            Status.Check(Native.td_set_entry_at(
                handle.Pointer, path.Pointer, path.Length, items.Pointer, items.Length, source.Pointer));
        }

        /// <summary>The tensor under a key; when nothing is there, <paramref name="value"/> is stored first.</summary>
        public Tensor GetOrSet(NestedKey key, Tensor value)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.BorrowToChange();
            using var source = Argument.NotNull(value, nameof(value)).Handle.Borrow();
            td_tensor* result = null;
            return Tensor.Own(Native.td_get_or_set(handle.Pointer, path.Pointer, path.Length, source.Pointer, &result), result);
        }

        private void UpdateAt(TensorDict source, TensorIndex[] index, td_update_at_flags flags)
        {
            td_index_item* room = stackalloc td_index_item[IndexItems.Room(Argument.NotNull(index, nameof(index)))];
            using var items = new IndexItems(index, room);
            using var handle = Handle.BorrowToChange();
            using var from = Argument.NotNull(source, nameof(source)).Handle.Borrow();
            Status.Check(Native.td_update_at(handle.Pointer, items.Pointer, items.Length, from.Pointer, flags));
        }
    }
}
