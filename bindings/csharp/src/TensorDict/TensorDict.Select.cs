using System;
using System.Collections.Generic;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>A part of the keys, flattened and nested keys, several dictionaries in one.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>Only these entries, in this order, in a new dictionary over the same tensors.</summary>
        public TensorDict Select(params NestedKey[] keys) => Select(keys, ignoreMissing: false);

        /// <summary>As with keys alone; missing keys can be skipped.</summary>
        public TensorDict Select(IEnumerable<NestedKey> keys, bool ignoreMissing)
        {
            td_select_options options = td_select_options.Default;
            options.ignore_missing = ignoreMissing ? 1 : 0;
            return Choose(keys, options, exclude: false);
        }

        /// <summary>Keeps only these entries.</summary>
        public void SelectInPlace(params NestedKey[] keys)
        {
            td_select_options options = td_select_options.Default;
            using var list = new Utf8Keys(keys);
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_select_inplace(handle.Pointer, list.Pointer, list.Length, &options));
        }

        /// <summary>All entries but these, in a new dictionary over the same tensors. Keys that are not there are passed over.</summary>
        public TensorDict Exclude(params NestedKey[] keys) => Choose(keys, td_select_options.Default, exclude: true);

        /// <summary>Removes these entries, all in one pass.</summary>
        public void ExcludeInPlace(params NestedKey[] keys)
        {
            td_select_options options = td_select_options.Default;
            using var list = new Utf8Keys(keys);
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_exclude_inplace(handle.Pointer, list.Pointer, list.Length, &options));
        }

        /// <summary>One dictionary for each set of keys, and the rest as the last one.</summary>
        public TensorDict[] SplitKeys(IReadOnlyList<KeySet> sets, SplitKeysOptions? options = null) =>
            Split(sets, options, inPlace: false);

        /// <summary>Takes these entries out, into a new dictionary. Nested dictionaries that lose all entries go.</summary>
        public TensorDict Separate(params NestedKey[] keys)
        {
            TensorDict[] parts = Split(new[] { new KeySet(keys) }, null, inPlace: true);
            parts[1].Dispose();
            return parts[0];
        }

        /// <summary>
        /// Everything on one level, under the names of its path joined with a separator; dictionaries for which
        /// the predicate holds stay whole.
        /// </summary>
        public TensorDict FlattenKeys(string separator = ".", Func<NestedKey, bool>? isLeaf = null) =>
            Own((td_tensordict*)Flatten(separator, isLeaf, inPlace: false));

        /// <summary>As FlattenKeys, of this dictionary itself.</summary>
        public void FlattenKeysInPlace(string separator = ".", Func<NestedKey, bool>? isLeaf = null) =>
            Flatten(separator, isLeaf, inPlace: true);

        /// <summary>Takes names that hold the separator apart, into nested dictionaries.</summary>
        public TensorDict UnflattenKeys(string separator = ".")
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var text = new Utf8Text(Argument.NotNull(separator, nameof(separator)), nameof(separator), stack);
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_unflatten_keys(handle.Pointer, text.Pointer, &result), result);
        }

        /// <summary>As UnflattenKeys, of this dictionary itself.</summary>
        public void UnflattenKeysInPlace(string separator = ".")
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var text = new Utf8Text(Argument.NotNull(separator, nameof(separator)), nameof(separator), stack);
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_unflatten_keys_inplace(handle.Pointer, text.Pointer));
        }

        /// <summary>
        /// The entries of at least two dictionaries in one, over the same tensors. Where several have an entry,
        /// that of the first one stays; where all have a tensor, what the function makes of them stands, if there
        /// is one.
        /// </summary>
        public static TensorDict Merge(
            IReadOnlyList<TensorDict> sources, Func<NestedKey, IReadOnlyList<Tensor>, Tensor>? combine = null)
        {
            Argument.NotNull(sources, nameof(sources));
            var context = new EntriesContext((key, entries) =>
                combine!(key, Array.ConvertAll(entries, entry => (Tensor)entry!)));
            var user = System.Runtime.InteropServices.GCHandle.Alloc(context);
            try
            {
                return MadeOf(sources, (list, count, made) =>
                {
                    IntPtr callback = combine == null ? IntPtr.Zero : Trampolines.Entries;
                    td_status status = Native.td_merge(
                        list, count, callback, (void*)System.Runtime.InteropServices.GCHandle.ToIntPtr(user), made);
                    context.Failure?.Throw();
                    return status;
                });
            }
            finally
            {
                user.Free();
            }
        }

        /// <summary>A dictionary without batch dimensions that has one tensor under all of these keys.</summary>
        public static TensorDict FromKeys(IEnumerable<NestedKey> keys, Tensor value)
        {
            var td = new TensorDict();
            try
            {
                foreach (NestedKey key in Argument.NotNull(keys, nameof(keys)))
                {
                    td.Set(key, value);
                }
                return td;
            }
            catch
            {
                td.Dispose();
                throw;
            }
        }

        /// <summary>A dictionary of the same batch size and device without entries, or with the nested dictionaries alone.</summary>
        public TensorDict EmptyLike(bool nested = false)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_empty_like(handle.Pointer, nested ? td_empty_like_flags.TD_EMPTY_LIKE_RECURSE : 0, &result), result);
        }

        /// <summary>Removes the nested dictionaries in which nothing stands, at any depth.</summary>
        public void RemoveEmpty()
        {
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_remove_empty(handle.Pointer));
        }

        /// <summary>The same without the non-tensor values, in a new dictionary over the same tensors.</summary>
        public TensorDict FilterNonTensor()
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_filter_non_tensor(handle.Pointer, &result), result);
        }

        private TensorDict Choose(IEnumerable<NestedKey> keys, td_select_options options, bool exclude)
        {
            using var list = new Utf8Keys(keys);
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(exclude
                ? Native.td_exclude(handle.Pointer, list.Pointer, list.Length, &options, &result)
                : Native.td_select(handle.Pointer, list.Pointer, list.Length, &options, &result), result);
        }

        private TensorDict[] Split(IReadOnlyList<KeySet> sets, SplitKeysOptions? options, bool inPlace)
        {
            int count = Argument.NotNull(sets, nameof(sets)).Count;
            td_split_keys_options raw = td_split_keys_options.Default;
            raw.ignore_missing = options?.IgnoreMissing == true ? 1 : 0;
            raw.keep_structure = options?.KeepStructure == true ? 1 : 0;
            raw.keep_emptied = options?.KeepEmptied == true ? 1 : 0;
            var lists = new List<Utf8Keys>();
            var rawSets = new td_key_set[count];
            var results = new IntPtr[count + 1];
            try
            {
                for (int i = 0; i < count; i++)
                {
                    KeySet set = Argument.NotNull(sets[i], nameof(sets));
                    lists.Add(new Utf8Keys(set.Keys));
                    rawSets[i].keys = lists[lists.Count - 1].Pointer;
                    rawSets[i].keys_len = lists[lists.Count - 1].Length;
                    if (set.Names != null)
                    {
                        lists.Add(new Utf8Keys(set.Names));
                        rawSets[i].names = lists[lists.Count - 1].Pointer;
                    }
                }
                using var handle = inPlace ? Handle.BorrowToChange() : Handle.Borrow();
                nuint made = 0;
                fixed (td_key_set* first = rawSets)
                fixed (IntPtr* pointers = results)
                {
                    var list = (td_tensordict**)pointers;
                    Status.Check(inPlace
                        ? Native.td_split_keys_inplace(
                            handle.Pointer, first, (nuint)count, &raw, list, (nuint)results.Length, &made)
                        : Native.td_split_keys(
                            handle.Pointer, first, (nuint)count, &raw, list, (nuint)results.Length, &made));
                }
            }
            finally
            {
                lists.ForEach(list => list.Dispose());
            }
            return Array.ConvertAll(results, pointer => Own((td_tensordict*)pointer));
        }

        private IntPtr Flatten(string separator, Func<NestedKey, bool>? isLeaf, bool inPlace)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var text = new Utf8Text(Argument.NotNull(separator, nameof(separator)), nameof(separator), stack);
            using var handle = Handle.BorrowUnseen();
            td_tensordict* td = handle.Pointer;
            byte* pointer = text.Pointer;
            IntPtr made = IntPtr.Zero;
            Status.Check(Trampolines.Asking(isLeaf, (callback, user) =>
            {
                td_flatten_keys_options options = td_flatten_keys_options.Default;
                options.is_leaf = callback;
                options.user = (void*)user;
                if (inPlace)
                {
                    return Native.td_flatten_keys_inplace(td, pointer, &options);
                }
                td_tensordict* result = null;
                td_status status = Native.td_flatten_keys(td, pointer, &options, &result);
                made = (IntPtr)result;
                return status;
            }));
            return made;
        }
    }
}
