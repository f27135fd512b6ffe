using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;

namespace TensorDicts.Interop
{
    /// <summary>Arguments of an operator in the form of the library; what they point at lives until Dispose.</summary>
    internal sealed unsafe class RawCallArguments : IDisposable
    {
        private readonly List<IntPtr> texts = new List<IntPtr>();
        private readonly List<GCHandle> pinned = new List<GCHandle>();
        private readonly List<SafeHandle> held = new List<SafeHandle>();

        internal RawCallArguments(CallArgument[] arguments)
        {
            Items = new td_call_argument[arguments.Length];
            try
            {
                for (int i = 0; i < Items.Length; i++)
                {
                    Items[i] = Raw(arguments[i]);
                }
            }
            catch
            {
                Dispose();
                throw;
            }
        }

        internal td_call_argument[] Items { get; }

        public void Dispose()
        {
            texts.ForEach(Marshal.FreeCoTaskMem);
            pinned.ForEach(pin => pin.Free());
            held.ForEach(handle => handle.DangerousRelease());
        }

        private td_call_argument Raw(CallArgument given)
        {
            td_call_argument raw = td_call_argument.Default;
            raw.kind = given.Kind;
            raw.name = given.Name == null ? null : Text(given.Name);
            switch (given.Value)
            {
                case long number:
                    raw.integer = number;
                    break;
                case double number:
                    raw.real = number;
                    break;
                case string text:
                    raw.text = Text(text);
                    break;
                case Device device:
                    raw.integer = (long)device.Raw;
                    raw.device_index = device.Index;
                    break;
                case Tensor tensor:
                    raw.tensor = tensor.Handle.Hold();
                    held.Add(tensor.Handle);
                    break;
                case TensorDict dict:
                    raw.dict = dict.Handle.Hold();
                    held.Add(dict.Handle);
                    break;
                case long[] numbers:
                    raw.integers = (long*)Pin(numbers);
                    raw.count = (nuint)numbers.Length;
                    break;
                case double[] numbers:
                    raw.reals = (double*)Pin(numbers);
                    raw.count = (nuint)numbers.Length;
                    break;
            }
            return raw;
        }

        private byte* Text(string text)
        {
            Utf8.RefuseNul(text, "text");
            IntPtr copy = Marshal.StringToCoTaskMemUTF8(text);
            texts.Add(copy);
            return (byte*)copy;
        }

        private void* Pin(Array numbers)
        {
            GCHandle pin = GCHandle.Alloc(numbers, GCHandleType.Pinned);
            pinned.Add(pin);
            return (void*)pin.AddrOfPinnedObject();
        }
    }

    /// <summary>Names of dimensions, NULL where there is none; they live until Dispose.</summary>
    internal sealed unsafe class RawNames : IDisposable
    {
        private readonly IntPtr[] texts;
        private GCHandle pin;

        internal RawNames(IReadOnlyList<string?> names)
        {
            texts = new IntPtr[names.Count];
            pin = GCHandle.Alloc(texts, GCHandleType.Pinned);
            try
            {
                for (int i = 0; i < texts.Length; i++)
                {
                    string? name = names[i];
                    if (name != null)
                    {
                        Utf8.RefuseNul(name, "name");
                        texts[i] = Marshal.StringToCoTaskMemUTF8(name);
                    }
                }
            }
            catch
            {
                Dispose();
                throw;
            }
        }

        internal byte** Pointer => (byte**)pin.AddrOfPinnedObject();

        internal nuint Length => (nuint)texts.Length;

        public void Dispose()
        {
            pin.Free();
            Array.ForEach(texts, Marshal.FreeCoTaskMem);
        }
    }
}
