using System;
using System.Collections.Generic;
using System.Linq;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>Names of batch dimensions.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// The names of the batch dimensions, null for one that has none. Results have the names of the dimensions
        /// that they keep. A dictionary without names takes over those of a dictionary that is stored in it; into
        /// one with names only what agrees with them can be stored.
        /// </summary>
        public IReadOnlyList<string?> Names
        {
            get
            {
                td_keys* raw = null;
                using (var handle = Handle.Borrow())
                {
                    Status.Check(Native.td_names(handle.Pointer, &raw));
                }
                using var owner = new KeysHandle(raw);
                return KeyList.ReadFirstNames(raw);
            }
        }

        /// <summary>
        /// Names the batch dimensions, and the leading ones of nested dictionaries alike; null for a dimension
        /// without a name. No names at all takes them away, those of nested dictionaries too. Allowed when locked.
        /// </summary>
        public TensorDict SetNames(params string?[] names)
        {
            using var list = new RawNames(Argument.NotNull(names, nameof(names)));
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_set_names(handle.Pointer, list.Pointer, list.Length));
            return this;
        }

        /// <summary>Gives named dimensions other names; null takes a name away. Allowed when locked.</summary>
        public TensorDict RenameDimsInPlace(params (string Old, string? New)[] renames)
        {
            Argument.NotNull(renames, nameof(renames));
            using var from = new RawNames(renames.Select(one => (string?)one.Old).ToArray());
            using var to = new RawNames(renames.Select(one => one.New).ToArray());
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_rename_dims(handle.Pointer, from.Pointer, to.Pointer, from.Length));
            return this;
        }

        /// <summary>As RenameDimsInPlace, for a dictionary of its own over the same tensors.</summary>
        public TensorDict RenameDims(params (string Old, string? New)[] renames)
        {
            TensorDict copy = Copy(td_clone_flags.TD_CLONE_SHALLOW);
            try
            {
                return copy.RenameDimsInPlace(renames);
            }
            catch
            {
                copy.Dispose();
                throw;
            }
        }

        /// <summary>
        /// Names dimensions that have no name yet; a name that is set may only be repeated. "..." stands, once, for
        /// as many dimensions as needed, which keep what they have. Allowed when locked.
        /// </summary>
        public TensorDict RefineNames(params string?[] names)
        {
            using var list = new RawNames(Argument.NotNull(names, nameof(names)));
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_refine_names(handle.Pointer, list.Pointer, list.Length));
            return this;
        }
    }
}
