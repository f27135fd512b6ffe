using System;
using System.Collections.Generic;
using System.Diagnostics.CodeAnalysis;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>Entries taken out, moved and made; what is known of them.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>Removes an entry and gives it.</summary>
        /// <exception cref="TensorKeyException">There is nothing.</exception>
        public Entry Pop(NestedKey key)
        {
            Status.Check(Pop(key, out Entry? entry));
            return entry!;
        }

        /// <summary>Removes an entry and gives it, if there is one.</summary>
        public bool TryPop(NestedKey key, [NotNullWhen(true)] out Entry? entry) => Status.Found(Pop(key, out entry));

        /// <summary>Removes the entry of the first level that was set last, and gives it, if there is one.</summary>
        public bool TryPopLast(out NestedKey key, [NotNullWhen(true)] out Entry? entry)
        {
            td_keys* keys = null;
            td_tensor* tensor = null;
            td_tensordict* dict = null;
            key = default;
            entry = null;
            using (var handle = Handle.BorrowToChange())
            {
                if (!Status.Found(Native.td_pop_last(handle.Pointer, &keys, &tensor, &dict)))
                {
                    return false;
                }
            }
            using var owner = new KeysHandle(keys);
            td_entry_kind kind;
            (key, kind) = KeyList.Read(keys)[0];
            entry = Taken(key, kind, tensor, dict);
            return true;
        }

        /// <summary>Makes an empty dictionary under a key, replacing what was there.</summary>
        public void CreateNested(NestedKey key)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_create_nested(handle.Pointer, path.Pointer, path.Length));
        }

        /// <summary>
        /// Moves an entry to another key, replacing what was there; if <paramref name="safe"/>, that is an error.
        /// Missing dictionaries on the way are made.
        /// </summary>
        public void RenameKey(NestedKey key, NestedKey newKey, bool safe = false)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            byte* newStack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var newPath = new Utf8Path(newKey, newStack);
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_rename_key(
                handle.Pointer, path.Pointer, path.Length, newPath.Pointer, newPath.Length,
                safe ? td_rename_key_flags.TD_RENAME_KEY_SAFE : 0));
        }

        /// <summary>
        /// A dictionary over the same tensors in which several entries have other keys, all at once: two may change
        /// places. If <paramref name="strict"/>, all keys must exist.
        /// </summary>
        public TensorDict RenameKeys(IReadOnlyDictionary<NestedKey, NestedKey> pairs, bool strict = true)
        {
            using var keys = new Utf8Keys(Argument.NotNull(pairs, nameof(pairs)).Keys);
            using var newKeys = new Utf8Keys(pairs.Values);
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_rename_keys(
                handle.Pointer, keys.Pointer, newKeys.Pointer, keys.Length,
                strict ? 0 : td_rename_keys_flags.TD_RENAME_KEYS_IGNORE_MISSING, &result), result);
        }

        /// <summary>Removes all entries. Batch size and device stay.</summary>
        public void Clear()
        {
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_clear(handle.Pointer));
        }

        /// <summary>How many dictionaries lie around the deepest tensor or other value, this one not counted.</summary>
        public int Depth
        {
            get
            {
                using var handle = Handle.Borrow();
                nuint result;
                Status.Check(Native.td_depth(handle.Pointer, &result));
                return (int)result;
            }
        }

        /// <summary>The sizes of a tensor, or the batch size of any other entry.</summary>
        public Shape ShapeOf(NestedKey key)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.Borrow();
            td_tensordict* td = handle.Pointer;
            byte** names = path.Pointer;
            nuint count = path.Length;
            return Shape.Own(Sizes.Read((sizes, room, dims) => Native.td_get_sizes(td, names, count, sizes, room, dims)));
        }

        /// <summary>
        /// Sets the longest batch size with which all entries begin, of at most <paramref name="maxDims"/>
        /// dimensions, in nested dictionaries too; if <paramref name="keepCompliant"/>, not in those that have as
        /// many already.
        /// </summary>
        public void AutoBatchSize(int? maxDims = null, bool keepCompliant = false)
        {
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_auto_batch_size(
                handle.Pointer, maxDims ?? -1,
                keepCompliant ? td_auto_batch_size_flags.TD_AUTO_BATCH_SIZE_KEEP_COMPLIANT : 0));
        }

        /// <summary>
        /// All keys as they are now, a dictionary before its content or, if <paramref name="contentsFirst"/>, after
        /// it. With <paramref name="leavesOnly"/> only tensors, and non-tensor values if
        /// <paramref name="includeNonTensor"/>, or what the predicate says of entries that are not tensors. What it calls a leaf
        /// is not descended into.
        /// </summary>
        public IReadOnlyList<NestedKey> NestedKeys(
            bool leavesOnly = false, bool sort = false, bool includeNonTensor = false, bool contentsFirst = false,
            Func<NestedKey, bool>? isLeaf = null)
        {
            using var handle = Handle.BorrowUnseen();
            td_tensordict* td = handle.Pointer;
            IntPtr list = IntPtr.Zero;
            Status.Check(Trampolines.Asking(isLeaf, (callback, user) =>
            {
                td_keys_options options = td_keys_options.Default;
                options.include_nested = 1;
                options.leaves_only = leavesOnly ? 1 : 0;
                options.sort = sort ? 1 : 0;
                options.include_non_tensor = includeNonTensor ? 1 : 0;
                options.contents_first = contentsFirst ? 1 : 0;
                options.is_leaf = callback;
                options.user = (void*)user;
                td_keys* raw = null;
                td_status status = Native.td_keys_of(td, &options, &raw);
                list = (IntPtr)raw;
                return status;
            }));
            using var owner = new KeysHandle((td_keys*)list);
            return KeyList.Read((td_keys*)list).ConvertAll(item => item.Key);
        }

        private td_status Pop(NestedKey key, out Entry? entry)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.BorrowToChange();
            td_entry_kind kind;
            td_tensor* tensor = null;
            td_tensordict* dict = null;
            td_status status = Native.td_pop(handle.Pointer, path.Pointer, path.Length, &kind, &tensor, &dict);
            entry = status == td_status.TD_OK ? Taken(key, kind, tensor, dict) : null;
            return status;
        }

        // A non-tensor value comes in a dictionary that holds it under its name.
        private static Entry Taken(NestedKey key, td_entry_kind kind, td_tensor* tensor, td_tensordict* dict)
        {
            switch (kind)
            {
                case td_entry_kind.TD_ENTRY_TENSOR:
                    return Tensor.Own(tensor);
                case td_entry_kind.TD_ENTRY_DICT:
                    return Own(dict);
                case td_entry_kind.TD_ENTRY_NESTED_TENSOR:
                    return new NestedTensor(Own(dict));
                default:
                    using (TensorDict holder = Own(dict))
                    {
                        return new NonTensor(holder.GetJson((NestedKey)key[key.Count - 1]));
                    }
            }
        }
    }
}
