using System;
using System.Runtime.InteropServices;
using System.Text;

namespace TensorDicts.Interop
{
    /// <summary>Text across the border: always UTF-8, never the code page of the machine.</summary>
    internal static unsafe class Utf8
    {
        /// <summary>Bytes of stack that callers lend for short texts.</summary>
        internal const int StackBytes = 256;

        // Half of a surrogate pair has no UTF-8; replacing it would silently name another entry.
        internal static readonly UTF8Encoding Strict = new UTF8Encoding(false, throwOnInvalidBytes: true);

        internal delegate td_status Writer(byte* text, nuint capacity, nuint* length);

        /// <summary>Reads a text that belongs to the library.</summary>
        internal static string Read(byte* text) => Marshal.PtrToStringUTF8((IntPtr)text) ?? "";

        /// <summary>Reads a text that a call writes into a buffer of the caller.</summary>
        internal static string Read(Writer write)
        {
            const int guess = 1024;
            byte* stack = stackalloc byte[guess];
            nuint length = 0;
            td_status status = write(stack, guess, &length);
            if (status == td_status.TD_OK && length < guess)
            {
                return Encoding.UTF8.GetString(stack, (int)length);
            }
            while (status == td_status.TD_ERR_BUFFER_TOO_SMALL || (status == td_status.TD_OK && length >= guess))
            {
                byte[] heap = new byte[checked((int)length + 1)];
                fixed (byte* text = heap)
                {
                    status = write(text, (nuint)heap.Length, &length);
                    // The text may have grown in between; then the next turn has the new length.
                    if (status == td_status.TD_OK && (int)length < heap.Length)
                    {
                        return Encoding.UTF8.GetString(text, (int)length);
                    }
                }
            }
            Status.Check(status);
            return "";
        }

        /// <summary>Refuses what a NUL-terminated text cannot carry.</summary>
        internal static void RefuseNul(string text, string what)
        {
            int at = text.IndexOf('\0');
            if (at >= 0)
            {
                throw new ArgumentException($"a {what} cannot hold the character U+0000, found at position {at}", what);
            }
        }
    }

    /// <summary>One NUL-terminated text for the length of a call; null stays NULL.</summary>
    internal unsafe ref struct Utf8Text
    {
        private IntPtr heap;

        internal byte* Pointer { get; }

        internal Utf8Text(string? text, string what, byte* stack)
        {
            heap = IntPtr.Zero;
            Pointer = null;
            if (text == null)
            {
                return;
            }
            Utf8.RefuseNul(text, what);
            int bytes = Utf8.Strict.GetByteCount(text);
            byte* target = stack;
            if (bytes >= Utf8.StackBytes)
            {
                heap = Marshal.AllocHGlobal(bytes + 1);
                target = (byte*)heap;
            }
            Utf8.Strict.GetBytes(text, new Span<byte>(target, bytes));
            target[bytes] = 0;
            Pointer = target;
        }

        public void Dispose()
        {
            Marshal.FreeHGlobal(heap);
            heap = IntPtr.Zero;
        }
    }

    /// <summary>A path, one NUL-terminated text for each name, for the length of a call.</summary>
    internal unsafe ref struct Utf8Path
    {
        private IntPtr heap;

        internal byte** Pointer { get; }

        internal nuint Length { get; }

        internal Utf8Path(NestedKey key, byte* stack)
        {
            ReadOnlySpan<string> names = key.Span;
            heap = IntPtr.Zero;
            Length = (nuint)names.Length;
            int total = sizeof(byte*) * names.Length;
            foreach (string name in names)
            {
                if (name == null)
                {
                    throw new ArgumentNullException(nameof(key), "a name of a key is null");
                }
                Utf8.RefuseNul(name, nameof(key));
                total = checked(total + Utf8.Strict.GetByteCount(name) + 1);
            }
            byte* block = stack;
            if (total > Utf8.StackBytes)
            {
                heap = Marshal.AllocHGlobal(total);
                block = (byte*)heap;
            }
            Pointer = (byte**)block;
            byte* text = block + sizeof(byte*) * names.Length;
            byte* end = block + total;
            for (int i = 0; i < names.Length; i++)
            {
                Pointer[i] = text;
                text += Utf8.Strict.GetBytes(names[i], new Span<byte>(text, (int)(end - text)));
                *text++ = 0;
            }
        }

        public void Dispose()
        {
            Marshal.FreeHGlobal(heap);
            heap = IntPtr.Zero;
        }
    }
}
