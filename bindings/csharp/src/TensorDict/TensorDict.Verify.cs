using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>What is wrong with a file.</summary>
    public enum DamageKind
    {
        /// <summary>A file or folder is missing.</summary>
        Missing = 1,

        /// <summary>A file holds fewer bytes than it must.</summary>
        Short = 2,

        /// <summary>The bytes are not those that the checksum was taken of.</summary>
        Changed = 3,

        /// <summary>There are checksums, and none of all of this file.</summary>
        NotCovered = 4,

        /// <summary>It says what cannot be.</summary>
        Format = 5,

        /// <summary>A link, a pipe or the like in the place of a file or folder.</summary>
        Refused = 6,

        /// <summary>The system cannot read it.</summary>
        Unreadable = 7,
    }

    /// <summary>One file of a folder that is damaged.</summary>
    public sealed record Damage
    {
        internal Damage(in td_damage raw, string path, string message)
        {
            Kind = (DamageKind)raw.kind;
            Path = path;
            Message = message;
            Expected = checked((long)raw.expected);
            Found = checked((long)raw.found);
        }

        /// <summary>What is wrong.</summary>
        public DamageKind Kind { get; }

        /// <summary>Relative to the folder.</summary>
        public string Path { get; }

        /// <summary>One line for people.</summary>
        public string Message { get; }

        /// <summary>Bytes that it must hold, or that must be covered; 0 when that is not known.</summary>
        public long Expected { get; }

        /// <summary>Bytes that it holds, or that are covered; 0 when that is not known.</summary>
        public long Found { get; }
    }

    /// <summary>How a folder is verified.</summary>
    public sealed record VerifyOptions
    {
        /// <summary>How many threads read; 0 and 1: the calling one.</summary>
        public int Threads { get; set; }

        /// <summary>
        /// Is told on the calling thread how many bytes of how many have been read. See <see cref="ProgressBar"/>.
        /// </summary>
        public Action<long, long>? Progress { get; set; }
    }

    /// <content>Whether a folder holds what was saved to it, and what is damaged.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// Checks a folder: all that <see cref="Load"/> would check, and, where it was saved with checksums, every
        /// byte that they cover. Gives what is damaged, sorted by path; nothing when all is well.
        /// </summary>
        public static IReadOnlyList<Damage> VerifyMemmap(string directory, VerifyOptions? options = null)
        {
            var context = new VerifyContext(options?.Progress);
            Verify(directory, options, context, verify: true);
            return context.Found;
        }

        /// <summary>Gives a folder checksums of what it holds now, for <see cref="VerifyMemmap"/>.</summary>
        public static void ChecksumMemmap(string directory, VerifyOptions? options = null)
        {
            Verify(directory, options, new VerifyContext(options?.Progress), verify: false);
        }

        private static void Verify(string directory, VerifyOptions? options, VerifyContext context, bool verify)
        {
            Argument.NotNull(directory, nameof(directory));
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Text(directory, nameof(directory), stack);
            GCHandle user = GCHandle.Alloc(context);
            try
            {
                td_verify_options raw = td_verify_options.Default;
                raw.num_threads = options?.Threads ?? 0;
                raw.damage = verify ? Trampolines.Damage : IntPtr.Zero;
                raw.user = (void*)GCHandle.ToIntPtr(user);
                raw.progress = context.Progress == null ? IntPtr.Zero : Trampolines.Bytes;
                raw.progress_user = raw.user;
                nuint damaged;
                td_status status = verify
                    ? Native.td_memmap_verify(path.Pointer, &raw, &damaged)
                    : Native.td_memmap_write_checksums(path.Pointer, &raw);
                context.Failure?.Throw();
                Status.Check(status);
            }
            finally
            {
                user.Free();
            }
        }
    }
}
