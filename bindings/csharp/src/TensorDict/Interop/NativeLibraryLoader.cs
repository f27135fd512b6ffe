#if NET
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;

namespace TensorDicts.Interop
{
    /// <summary>
    /// Finds the native library: a path set by the program, then the environment, then the copy of a
    /// package, then the system. What fails is said with every place that was tried.
    /// </summary>
    internal static unsafe class NativeLibraryLoader
    {
        internal const string Variable = "TENSORDICT_LIBRARY";

        private static readonly object Gate = new object();
        private static IntPtr loaded;

        /// <summary>Set before the first call of the library.</summary>
        internal static string? ExplicitPath { get; set; }

        /// <summary>What was loaded; null before the first call.</summary>
        internal static string? LoadedFrom { get; private set; }

        // Before any code of this assembly runs: later the runtime may have looked for the library by itself.
#pragma warning disable CA2255 // a library that brings a native one is what module initializers are for
        [ModuleInitializer]
        internal static void Register() =>
            NativeLibrary.SetDllImportResolver(typeof(NativeLibraryLoader).Assembly, Resolve);
#pragma warning restore CA2255

        private static IntPtr Resolve(string name, Assembly assembly, DllImportSearchPath? search) =>
            name == Native.Library ? Load() : IntPtr.Zero;

        private static IntPtr Load()
        {
            lock (Gate)
            {
                if (loaded == IntPtr.Zero)
                {
                    (IntPtr library, string path) = Open(Demanded());
                    RequireVersion(library, path);
                    LoadedFrom = path;
                    loaded = library;
                }
                return loaded;
            }
        }

        private static string? Demanded() =>
            string.IsNullOrEmpty(ExplicitPath) ? Environment.GetEnvironmentVariable(Variable) : ExplicitPath;

        internal static (IntPtr Library, string Path) Open(string? demanded)
        {
            // Whoever names a file wants that one: going on to another would hide a typing error.
            IEnumerable<string> candidates = string.IsNullOrEmpty(demanded) ? Candidates() : new[] { demanded };
            var tried = new List<string>();
            foreach (string path in candidates)
            {
                try
                {
                    return (NativeLibrary.Load(path), path);
                }
                catch (Exception failure) when (failure is DllNotFoundException || failure is BadImageFormatException)
                {
                    bool absent = Path.IsPathRooted(path) && !File.Exists(path);
                    tried.Add(absent ? $"{path} (no such file)" : $"{path} ({Reason(failure)})");
                }
            }
            throw new DllNotFoundException(
                $"the native library of tensordict cannot be loaded; set {Variable} to its file; tried: {string.Join("; ", tried)}");
        }

        // The runtime's advice comes first, what the loader of the system says comes last.
        private static string Reason(Exception failure) =>
            failure.Message.Split('\n', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries)[^1];

        private static IEnumerable<string> Candidates()
        {
            string file = OperatingSystem.IsWindows() ? "tensordict.dll"
                : OperatingSystem.IsMacOS() || OperatingSystem.IsIOS() ? "libtensordict.dylib"
                : "libtensordict.so";
            string home = AppContext.BaseDirectory;
            yield return Path.Combine(home, "runtimes", RuntimeInformation.RuntimeIdentifier, "native", file);
            yield return Path.Combine(home, file);
            yield return file;
        }

        private static void RequireVersion(IntPtr library, string path)
        {
            var supports = (delegate* unmanaged[Cdecl]<int, int>)NativeLibrary.GetExport(library, "td_supports_abi");
            if (supports(Native.TD_ABI_VERSION) == 0)
            {
                var version = (delegate* unmanaged[Cdecl]<int>)NativeLibrary.GetExport(library, "td_abi_version");
                throw new TensorUnsupportedException(
                    TensorDictStatus.Version,
                    $"this binding speaks version {Native.TD_ABI_VERSION} of the interface, the library {path} version {version()}",
                    "td_supports_abi");
            }
        }
    }
}
#endif
