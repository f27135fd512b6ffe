using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>A function over every entry.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// Makes a dictionary of what a function returns for each tensor, in the order of the keys; null drops
        /// the entry. What the function throws ends the walk and comes back as it is. When nothing is left, the
        /// result is empty; see <see cref="ApplyOrNull"/>.
        /// </summary>
        public TensorDict Apply(Func<Tensor, Tensor?> function, ApplyOptions? options = null)
        {
            Argument.NotNull(function, nameof(function));
            return Apply((_, tensor) => function(tensor), options);
        }

        /// <summary>As with a function of the tensor alone, but it gets the full key, too.</summary>
        public TensorDict Apply(Func<NestedKey, Tensor, Tensor?> function, ApplyOptions? options = null) =>
            ApplyOrNull(function, options) ?? new TensorDict(options?.BatchSize ?? BatchSize.ToArray(), options?.Device ?? Device);

        /// <summary>
        /// As Apply, but null when nothing is left: when the function dropped all entries, and
        /// <see cref="ApplyOptions.FilterEmpty"/> does not say that empty dictionaries are kept.
        /// </summary>
        public TensorDict? ApplyOrNull(Func<NestedKey, Tensor, Tensor?> function, ApplyOptions? options = null)
        {
            var context = new ApplyContext(Argument.NotNull(function, nameof(function)));
            GCHandle user = GCHandle.Alloc(context);
            try
            {
                using var given = new RawApplyOptions(options);
                using var handle = Handle.BorrowUnseen();
                td_apply_options raw = given.Raw;
                td_tensordict* result = null;
                td_status status = given.InPlace
                    ? Native.td_apply_inplace(handle.Pointer, &raw, Trampolines.Apply, (void*)GCHandle.ToIntPtr(user))
                    : Native.td_apply(handle.Pointer, &raw, Trampolines.Apply, (void*)GCHandle.ToIntPtr(user), &result);
                context.Failure?.Throw();
                Status.Check(status);
                return given.InPlace ? Share() : result == null ? null : Own(result);
            }
            finally
            {
                user.Free();
            }
        }

        /// <summary>
        /// Makes a dictionary of what a function returns for each entry and those of other dictionaries under the
        /// same key; null drops it. Keys that only others have are passed over. The entries are tensors; with
        /// <see cref="ApplyOptions.CallOnNested"/> also the dictionaries of the first level, as they are. Null
        /// when nothing is left.
        /// </summary>
        public TensorDict? ApplyEntries(
            IReadOnlyList<TensorDict> others, Func<NestedKey, Entry?[], Entry?> function, ApplyOptions? options = null)
        {
            Argument.NotNull(others, nameof(others));
            var context = new EntriesContext(Argument.NotNull(function, nameof(function)));
            GCHandle user = GCHandle.Alloc(context);
            try
            {
                using var given = new RawApplyOptions(options);
                using var handle = Handle.BorrowUnseen();
                td_tensordict* td = handle.Pointer;
                td_apply_options wanted = given.Raw;
                bool inPlace = given.InPlace;
                td_tensordict* result = null;
                WithAll(others, (list, count) =>
                {
                    td_tensordict* made = null;
                    td_apply_options raw = wanted;
                    td_status status = inPlace
                        ? Native.td_apply_entries_inplace(
                            td, list, count, &raw, Trampolines.Entries, (void*)GCHandle.ToIntPtr(user))
                        : Native.td_apply_entries(
                            td, list, count, &raw, Trampolines.Entries, (void*)GCHandle.ToIntPtr(user), &made);
                    context.Failure?.Throw();
                    Status.Check(status);
                    result = made;
                }, nameof(others));
                return inPlace ? Share() : result == null ? null : Own(result);
            }
            finally
            {
                user.Free();
            }
        }
    }
}
