using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace TensorDicts.Interop
{
    /// <summary>A list of keys in one block of memory: the list, the names of each key, and their text.</summary>
    internal sealed unsafe class Utf8Keys : IDisposable
    {
        private IntPtr block;

        /// <summary>One key, or none: for an option that may be NULL.</summary>
        internal static Utf8Keys Optional(NestedKey? key) =>
            new Utf8Keys(key is NestedKey one ? new[] { one } : Array.Empty<NestedKey>());

        internal Utf8Keys(IEnumerable<NestedKey> keys)
        {
            var all = new List<NestedKey>(Argument.NotNull(keys, nameof(keys)));
            nint pointers = (nint)sizeof(td_key) * all.Count;
            nint total = pointers;
            foreach (NestedKey key in all)
            {
                pointers += (nint)sizeof(byte*) * key.Count;
                total += (nint)sizeof(byte*) * key.Count;
                foreach (string name in key.Span)
                {
                    if (name == null)
                    {
                        throw new ArgumentNullException(nameof(keys), "a name of a key is null");
                    }
                    Utf8.RefuseNul(name, nameof(keys));
                    total = checked(total + Utf8.Strict.GetByteCount(name) + 1);
                }
            }
            Length = (nuint)all.Count;
            if (all.Count == 0)
            {
                return;
            }
            block = Marshal.AllocHGlobal(total);
            Pointer = (td_key*)block;
            var names = (byte**)(Pointer + all.Count);
            byte* text = (byte*)block + pointers;
            byte* end = (byte*)block + total;
            for (int i = 0; i < all.Count; i++)
            {
                Pointer[i] = new td_key { path = names, path_len = (nuint)all[i].Count };
                foreach (string name in all[i].Span)
                {
                    *names++ = text;
                    int room = (int)Math.Min(int.MaxValue, end - text);
                    text += Utf8.Strict.GetBytes(name, new Span<byte>(text, room));
                    *text++ = 0;
                }
            }
        }

        internal td_key* Pointer { get; }

        internal nuint Length { get; }

        public void Dispose()
        {
            Marshal.FreeHGlobal(block);
            block = IntPtr.Zero;
        }
    }
}
