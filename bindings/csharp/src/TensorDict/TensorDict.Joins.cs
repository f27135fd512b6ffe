using System;
using System.Collections.Generic;
using System.Linq;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>Dictionaries joined where Stack and Cat are not enough.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// As Stack, but where dictionaries differ in keys or shapes a lazy stack takes the place of the dense one,
        /// there and nowhere else.
        /// </summary>
        public static TensorDict MaybeDenseStack(IEnumerable<TensorDict> sources, long dim = 0) =>
            MadeOf(sources, (list, count, made) => Native.td_maybe_dense_stack(list, count, dim, made));

        /// <summary>
        /// Writes a stack into existing tensors. Keys that this dictionary or all sources lack are passed
        /// over, unless it is strict.
        /// </summary>
        public void StackFrom(IEnumerable<TensorDict> sources, long dim = 0, bool strict = false) =>
            JoinFrom(td_join_kind.TD_JOIN_STACK, sources, dim, strict);

        /// <summary>As StackFrom, along a dimension that the sources have.</summary>
        public void CatFrom(IEnumerable<TensorDict> sources, long dim = 0, bool strict = false) =>
            JoinFrom(td_join_kind.TD_JOIN_CAT, sources, dim, strict);

        /// <summary>Stacks tensors into a new entry; they are removed unless they are kept.</summary>
        public void StackTensors(IEnumerable<NestedKey> keys, NestedKey key, long dim = 0, bool keep = false) =>
            JoinEntries(td_join_kind.TD_JOIN_STACK, keys, key, dim, keep);

        /// <summary>As StackTensors, along a dimension that they have.</summary>
        public void CatTensors(IEnumerable<NestedKey> keys, NestedKey key, long dim = 0, bool keep = false) =>
            JoinEntries(td_join_kind.TD_JOIN_CAT, keys, key, dim, keep);

        /// <summary>All tensors stacked into one, in the order of the keys, or of their names.</summary>
        public Tensor StackLeaves(long dim = 0, bool sorted = false) => JoinLeaves(td_join_kind.TD_JOIN_STACK, dim, sorted);

        /// <summary>As StackLeaves, along a dimension that they have.</summary>
        public Tensor CatLeaves(long dim = 0, bool sorted = false) => JoinLeaves(td_join_kind.TD_JOIN_CAT, dim, sorted);

        private void JoinFrom(td_join_kind kind, IEnumerable<TensorDict> sources, long dim, bool strict)
        {
            using var handle = Handle.BorrowToChange();
            td_tensordict* target = handle.Pointer;
            WithAll(sources, (list, count) =>
                Status.Check(Native.td_join_into(target, kind, list, count, dim, strict ? td_join_into_flags.TD_JOIN_INTO_STRICT : 0)));
        }

        private void JoinEntries(td_join_kind kind, IEnumerable<NestedKey> keys, NestedKey key, long dim, bool keep)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var list = new Utf8Keys(keys);
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_join_entries(
                handle.Pointer, kind, list.Pointer, list.Length, path.Pointer, path.Length, dim,
                keep ? td_join_entries_flags.TD_JOIN_ENTRIES_KEEP : 0));
        }

        private Tensor JoinLeaves(td_join_kind kind, long dim, bool sorted)
        {
            using var handle = Handle.Borrow();
            td_tensor* result = null;
            return Tensor.Own(Native.td_join_tensors(handle.Pointer, kind, dim, sorted ? td_join_tensors_flags.TD_JOIN_TENSORS_SORTED : 0, &result), result);
        }

        internal delegate td_status MakeOf(td_tensordict** list, nuint count, td_tensordict** made);

        // The dictionary that a call makes of others.
        internal static TensorDict MadeOf(IEnumerable<TensorDict> sources, MakeOf make)
        {
            td_tensordict* result = null;
            WithAll(sources, (list, count) =>
            {
                td_tensordict* made = null;
                Status.Check(make(list, count, &made));
                result = made;
            });
            return Own(result);
        }

        internal delegate void UseAll(td_tensordict** list, nuint count);

        // Holds all of them for the length of a call.
        internal static void WithAll(IEnumerable<TensorDict> sources, UseAll use, string name = "sources")
        {
            TensorDict[] all = Argument.NotNull(sources, name).ToArray();
            var raw = new IntPtr[all.Length];
            int held = 0;
            try
            {
                for (; held < all.Length; held++)
                {
                    raw[held] = (IntPtr)Argument.NotNull(all[held], name).Handle.Hold();
                }
                fixed (IntPtr* handles = raw)
                {
                    use((td_tensordict**)handles, (nuint)raw.Length);
                }
            }
            finally
            {
                while (held > 0)
                {
                    all[--held].Handle.Drop();
                }
            }
        }
    }
}
