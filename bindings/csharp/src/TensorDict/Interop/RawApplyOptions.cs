using System;
using System.Runtime.InteropServices;

namespace TensorDicts.Interop
{
    /// <summary>Options of apply in the form of the library; what they point at lives until Dispose.</summary>
    internal sealed unsafe class RawApplyOptions : IDisposable
    {
        private readonly ApplyOptions given;
        private readonly IntPtr[] texts;
        private GCHandle sizes;
        private GCHandle names;
        private bool holdsValue;
        private bool holdsOut;

        internal RawApplyOptions(ApplyOptions? options)
        {
            given = options ?? new ApplyOptions();
            texts = new IntPtr[given.Names?.Length ?? 0];
            td_apply_options raw = td_apply_options.Default;
            raw.filter_empty = (td_filter_empty)(int)given.FilterEmpty;
            raw.propagate_lock = given.PropagateLock ? 1 : 0;
            raw.call_on_nested = given.CallOnNested ? 1 : 0;
            raw.fill_missing = given.AllowMissing ? 1 : 0;
            raw.device_type = Device.RawOf(given.Device);
            raw.device_index = Device.IndexOf(given.Device);
            try
            {
                if (given.BatchSize != null)
                {
                    sizes = GCHandle.Alloc(given.BatchSize, GCHandleType.Pinned);
                    raw.has_batch_size = 1;
                    raw.batch_size = (long*)sizes.AddrOfPinnedObject();
                    raw.batch_dims = (nuint)given.BatchSize.Length;
                }
                if (given.Names != null)
                {
                    FillTexts(given.Names);
                    names = GCHandle.Alloc(texts, GCHandleType.Pinned);
                    raw.names = (byte**)names.AddrOfPinnedObject();
                    raw.names_len = (nuint)texts.Length;
                }
                if (given.DefaultValue != null)
                {
                    raw.default_value = given.DefaultValue.Handle.Hold();
                    holdsValue = true;
                }
                if (given.Out != null)
                {
                    raw.@out = given.Out.Handle.Hold();
                    holdsOut = true;
                }
            }
            catch
            {
                Dispose();
                throw;
            }
            Raw = raw;
        }

        internal td_apply_options Raw { get; }

        internal bool InPlace => given.InPlace;

        public void Dispose()
        {
            if (sizes.IsAllocated)
            {
                sizes.Free();
            }
            if (names.IsAllocated)
            {
                names.Free();
            }
            foreach (IntPtr text in texts)
            {
                Marshal.FreeCoTaskMem(text);
            }
            if (holdsValue)
            {
                given.DefaultValue!.Handle.Drop();
            }
            if (holdsOut)
            {
                given.Out!.Handle.Drop();
            }
        }

        private void FillTexts(string?[] from)
        {
            for (int i = 0; i < from.Length; i++)
            {
                string? name = from[i];
                if (name != null)
                {
                    Utf8.RefuseNul(name, "name");
                    texts[i] = Marshal.StringToCoTaskMemUTF8(name);
                }
            }
        }
    }
}
