using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>How grave a line of the log is.</summary>
    public enum LogLevel
    {
        /// <summary>For developers of the library.</summary>
        Debug = 1,

        /// <summary>Worth knowing.</summary>
        Info = 2,

        /// <summary>Something was done that the caller may not expect.</summary>
        Warning = 3,
    }

    /// <summary>The native library as a whole.</summary>
    public static unsafe class TensorDictLibrary
    {
        /// <summary>The version, such as "0.3.0".</summary>
        public static string Version => Utf8.Read(Native.td_version());

        /// <summary>The version of the libtorch in this process, such as "1.13.1".</summary>
        public static string TorchVersion => Utf8.Read(Native.td_torch_version());

        /// <summary>The number of the C interface that is loaded.</summary>
        public static int AbiVersion => Native.td_abi_version();

        /// <summary>Whether this binding and the library that is loaded fit; loading refuses a library that does not.</summary>
        public static bool IsCompatible => Native.td_supports_abi(Native.TD_ABI_VERSION) != 0;

        /// <summary>How many handles are open in this process, for tests of leaks.</summary>
        public static long LiveHandles => Native.td_debug_live_handles();

#if NET
        /// <summary>The file of the library, null before the first call; written to, where to load it from.</summary>
        /// <exception cref="InvalidOperationException">It is loaded already.</exception>
        public static string? Path
        {
            get => NativeLibraryLoader.LoadedFrom;

            set
            {
                if (NativeLibraryLoader.LoadedFrom != null)
                {
                    throw new InvalidOperationException(
                        $"the library is loaded already, from {NativeLibraryLoader.LoadedFrom}; asked for {value}");
                }
                NativeLibraryLoader.ExplicitPath = value;
            }
        }
#endif

        /// <summary>
        /// Sets the receiver of the log, null for silence. It may be called on any thread, must not call the
        /// library, and what it throws is lost.
        /// </summary>
        public static void SetLog(Action<LogLevel, string>? log)
        {
            if (log == null)
            {
                Native.td_set_log(IntPtr.Zero, null, IntPtr.Zero);
            }
            else
            {
                Native.td_set_log(Trampolines.Log, Trampolines.User(log), Trampolines.Release);
            }
        }
    }

    /// <summary>Whether calls of this thread record gradients. They do not until asked to.</summary>
    public static class GradMode
    {
        /// <summary>Records until the result is disposed.</summary>
        public static GradScope Enable() => new GradScope(true);

        /// <summary>Stops recording until the result is disposed.</summary>
        public static GradScope Disable() => new GradScope(false);

        /// <summary>Switches recording and gives what it was before.</summary>
        public static bool Set(bool enabled) => Native.td_set_grad_enabled(enabled ? 1 : 0) != 0;
    }

    /// <summary>A stretch of code on one thread; Dispose brings back the mode from before.</summary>
    public readonly ref struct GradScope
    {
        private readonly bool before;

        internal GradScope(bool enabled)
        {
            before = GradMode.Set(enabled);
        }

        /// <summary>Brings back the mode from before.</summary>
        public void Dispose() => GradMode.Set(before);
    }
}
