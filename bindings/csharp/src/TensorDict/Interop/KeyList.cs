using System.Collections.Generic;

namespace TensorDicts.Interop
{
    /// <summary>Reads a snapshot of keys.</summary>
    internal static unsafe class KeyList
    {
        internal static List<(NestedKey Key, td_entry_kind Kind)> Read(
            DictHandle dict, bool includeNested, bool leavesOnly, bool sort)
        {
            td_keys_options options = td_keys_options.Default;
            options.include_nested = includeNested ? 1 : 0;
            options.leaves_only = leavesOnly ? 1 : 0;
            options.sort = sort ? 1 : 0;
            td_keys* raw = null;
            using (var borrowed = dict.Borrow())
            {
                Status.Check(Native.td_keys_of(borrowed.Pointer, &options, &raw));
            }
            using var owner = new KeysHandle(raw);
            return Read(raw);
        }

        internal static List<(NestedKey Key, td_entry_kind Kind)> Read(td_keys* raw)
        {
            nuint count = Native.td_keys_len(raw);
            var keys = new List<(NestedKey, td_entry_kind)>((int)count);
            for (nuint i = 0; i < count; i++)
            {
                byte** path = null;
                nuint length = 0;
                td_entry_kind kind = td_entry_kind.TD_ENTRY_NONE;
                Status.Check(Native.td_keys_at(raw, i, &path, &length));
                Status.Check(Native.td_keys_kind_at(raw, i, &kind));
                keys.Add((ReadPath(path, length), kind));
            }
            return keys;
        }

        /// <summary>The first name of each path; null for a path without names.</summary>
        internal static string?[] ReadFirstNames(td_keys* raw)
        {
            var names = new string?[(int)Native.td_keys_len(raw)];
            for (int i = 0; i < names.Length; i++)
            {
                byte** path = null;
                nuint length = 0;
                Status.Check(Native.td_keys_at(raw, (nuint)i, &path, &length));
                names[i] = length == 0 ? null : Utf8.Read(path[0]);
            }
            return names;
        }

        internal static NestedKey ReadPath(byte** path, nuint length)
        {
            var names = new string[(int)length];
            for (int i = 0; i < names.Length; i++)
            {
                names[i] = Utf8.Read(path[i]);
            }
            return NestedKey.Own(names);
        }
    }
}
