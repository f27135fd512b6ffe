using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>How the tensors in an archive are stored.</summary>
    public enum Compression
    {
        /// <summary>As they are: they are read without a copy.</summary>
        Stored = 0,

        /// <summary>Compressed: they are inflated when the archive is opened.</summary>
        Deflate = 1,
    }

    /// <summary>How files go into an archive and out of it.</summary>
    public sealed record PackOptions
    {
        /// <summary>How tensors are stored; says nothing when unpacking.</summary>
        public Compression Compression { get; set; }

        /// <summary>Fails if the archive or the folder exists.</summary>
        public bool FailIfExists { get; set; }

        /// <summary>Returns only when all of it is on the disk.</summary>
        public bool Durable { get; set; }

        internal td_memmap_pack_options ToRaw()
        {
            td_memmap_pack_options raw = td_memmap_pack_options.Default;
            raw.compression = (td_compression)Compression;
            raw.fail_if_exists = FailIfExists ? 1 : 0;
            raw.durable = Durable ? 1 : 0;
            return raw;
        }
    }

    /// <content>A folder of a dictionary as one file, a zip archive.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// Packs a folder that <see cref="Memmap"/> or Python's tensordict has written into one archive: any program
        /// that reads zip files reads it, and <see cref="Load"/> opens it, without a copy of tensors that are not
        /// compressed.
        /// </summary>
        public static void PackMemmap(string directory, string file, PackOptions? options = null)
        {
            Argument.NotNull(directory, nameof(directory));
            Argument.NotNull(file, nameof(file));
            td_memmap_pack_options raw = (options ?? new PackOptions()).ToRaw();
            byte* first = stackalloc byte[Utf8.StackBytes];
            byte* second = stackalloc byte[Utf8.StackBytes];
            using var from = new Utf8Text(directory, nameof(directory), first);
            using var to = new Utf8Text(file, nameof(file), second);
            Status.Check(Native.td_memmap_pack(from.Pointer, to.Pointer, &raw));
        }

        /// <summary>
        /// Unpacks an archive into a new or empty folder. Nothing is written outside of it,
        /// whatever the names in the archive are.
        /// </summary>
        public static void UnpackMemmap(string file, string directory, PackOptions? options = null)
        {
            Argument.NotNull(file, nameof(file));
            Argument.NotNull(directory, nameof(directory));
            td_memmap_pack_options raw = (options ?? new PackOptions()).ToRaw();
            byte* first = stackalloc byte[Utf8.StackBytes];
            byte* second = stackalloc byte[Utf8.StackBytes];
            using var from = new Utf8Text(file, nameof(file), first);
            using var to = new Utf8Text(directory, nameof(directory), second);
            Status.Check(Native.td_memmap_unpack(from.Pointer, to.Pointer, &raw));
        }

        /// <summary>Whether there is a file that <see cref="Load"/> takes for an archive.</summary>
        public static bool IsMemmapArchive(string file)
        {
            Argument.NotNull(file, nameof(file));
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Text(file, nameof(file), stack);
            int result;
            Status.Check(Native.td_memmap_is_archive(path.Pointer, &result));
            return result != 0;
        }

        /// <summary>
        /// Computes the checksums of an archive anew after its tensors were written to, see
        /// <see cref="LoadOptions.WriteThrough"/>. Unpacking and other programs look at them.
        /// </summary>
        public static void RefreshArchiveChecksums(string file)
        {
            Argument.NotNull(file, nameof(file));
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Text(file, nameof(file), stack);
            Status.Check(Native.td_memmap_write_archive_checksums(path.Pointer));
        }
    }
}
