using System.Collections.Generic;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>What an update does with existing tensors, and with new ones.</summary>
    public enum UpdateMode
    {
        /// <summary>The tensors of the source are stored, in place of those that were there.</summary>
        Store = 0,

        /// <summary>Values are written into existing tensors; new entries are stored.</summary>
        InPlace = 1,

        /// <summary>Values are written; every entry of the source must be there.</summary>
        Strict = 2,
    }

    /// <summary>How <see cref="TensorDict.Update(TensorDict, UpdateOptions?)"/> works.</summary>
    public sealed record UpdateOptions
    {
        /// <summary>What is stored and what is written.</summary>
        public UpdateMode Mode { get; set; }

        /// <summary>Stores copies.</summary>
        public bool CloneValues { get; set; }

        /// <summary>Replaces dictionaries instead of merging them.</summary>
        public bool WholeDicts { get; set; }

        /// <summary>Takes over the batch size of the source, which must then have all keys.</summary>
        public bool UpdateBatchSize { get; set; }

        /// <summary>Changes entries even if the dictionary is locked.</summary>
        public bool IgnoreLock { get; set; }

        /// <summary>Only these entries of the source, and what lies below them; null for all.</summary>
        public IReadOnlyCollection<NestedKey>? Keys { get; set; }

        internal td_update_options ToRaw()
        {
            td_update_options raw = td_update_options.Default;
            raw.mode = (td_update_mode)(int)Mode;
            raw.clone = CloneValues ? 1 : 0;
            raw.whole_dicts = WholeDicts ? 1 : 0;
            raw.update_batch_size = UpdateBatchSize ? 1 : 0;
            raw.ignore_lock = IgnoreLock ? 1 : 0;
            raw.has_keys = Keys != null ? 1 : 0;
            return raw;
        }
    }

    /// <summary>How keys are split into several dictionaries.</summary>
    public sealed record SplitKeysOptions
    {
        /// <summary>Passes over keys that are not there.</summary>
        public bool IgnoreMissing { get; set; }

        /// <summary>Gives every result all nested dictionaries, empty or not.</summary>
        public bool KeepStructure { get; set; }

        /// <summary>Keeps nested dictionaries that lost all entries in the rest.</summary>
        public bool KeepEmptied { get; set; }
    }

    /// <summary>The keys of one of the dictionaries that a split makes.</summary>
    public sealed class KeySet
    {
        /// <summary>These keys.</summary>
        public KeySet(params NestedKey[] keys)
        {
            Keys = (NestedKey[])Argument.NotNull(keys, nameof(keys)).Clone();
        }

        private KeySet(NestedKey[] keys, NestedKey[] names)
        {
            Keys = keys;
            Names = names;
        }

        internal NestedKey[] Keys { get; }

        internal NestedKey[]? Names { get; }

        /// <summary>Pairs of a key and what the entry is called in the result.</summary>
        public static KeySet Renamed(params (NestedKey Key, NestedKey Name)[] pairs)
        {
            Argument.NotNull(pairs, nameof(pairs));
            return new KeySet(
                System.Array.ConvertAll(pairs, pair => pair.Key), System.Array.ConvertAll(pairs, pair => pair.Name));
        }
    }
}
