using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>Whether a growing writer writes to the folder itself or to one of its own inside it.</summary>
    public enum Shard
    {
        /// <summary>The folder itself.</summary>
        None = 0,

        /// <summary>A shard that nobody has written to. All shards load as one lazy stack.</summary>
        New = 1,

        /// <summary>A shard that nobody writes to now, or a new one.</summary>
        Any = 2,
    }

    /// <summary>How a folder grows. By default a thread of the writer publishes rows every 10 ms.</summary>
    public sealed record AppendOptions
    {
        /// <summary>Whether what is published is on the disk, and survives a loss of power.</summary>
        public bool Durable { get; set; }

        /// <summary>Whether a file of checksums is kept.</summary>
        public bool Checksums { get; set; }

        /// <summary>Where a writer writes.</summary>
        public Shard Shard { get; set; }

        /// <summary>
        /// After how many rows a writer publishes by itself; 0: every 10 ms, or 1,000 rows without a thread; -1: only
        /// at Flush and Close.
        /// </summary>
        public long PublishRows { get; set; }

        /// <summary>After how many bytes a writer publishes by itself; 0: not by bytes.</summary>
        public long PublishBytes { get; set; }

        /// <summary>Memory for rows that are in no file yet; 0: 16 MiB, or 1 MiB without a thread.</summary>
        public long BufferBytes { get; set; }

        /// <summary>
        /// Whether a thread of the writer writes to the files and publishes. Then Put and Next wait for no file while
        /// there is room in memory. Failures come back from Flush and Close.
        /// </summary>
        public bool Background { get; set; } = true;

        /// <summary>
        /// After how many milliseconds other programs, such as Python, see rows that a writer has published by itself;
        /// 0: 1000; -1: only after a flush.
        /// </summary>
        public int MetaMs { get; set; }

        /// <summary>
        /// The key of the bool tensor that is true in the last row of an episode. A writer then drops the rows after
        /// the last whole episode before it goes on.
        /// </summary>
        public NestedKey? ResumeAt { get; set; }

        internal td_append_options ToRaw()
        {
            td_append_options raw = td_append_options.Default;
            raw.durable = Durable ? 1 : 0;
            raw.checksums = Checksums ? 1 : 0;
            raw.shard = (td_shard)Shard;
            raw.publish_rows = PublishRows;
            raw.publish_bytes = PublishBytes;
            raw.buffer_bytes = BufferBytes;
            raw.background = Background ? 1 : -1;
            raw.meta_ms = MetaMs;
            return raw;
        }
    }

    /// <summary>How long a folder is.</summary>
    public readonly struct MemmapLength
    {
        internal MemmapLength(long rows, long stored, long spare)
        {
            Rows = rows;
            Stored = stored;
            Spare = spare;
        }

        /// <summary>Rows that the folder says it has, or elements of a lazy stack.</summary>
        public long Rows { get; }

        /// <summary>
        /// Rows that each of its files holds: more while a writer is at work or when it was interrupted, fewer when
        /// files are damaged.
        /// </summary>
        public long Stored { get; }

        /// <summary>Bytes behind the end, all files together.</summary>
        public long Spare { get; }
    }

    /// <content>Writers without fixed capacity, over folders.</content>
    public sealed unsafe partial class TensorDictWriter
    {
        private TensorDictWriter(WriterHandle handle, DictHandle target)
        {
            this.handle = handle;
            this.target = target;
        }

        /// <summary>
        /// Opens a writer without fixed capacity over a folder, behind the rows that it has. A folder that is not
        /// there is made with the entries of a dictionary, and has no rows at first; without one it must be there.
        /// A row is all that stands at one place of the first batch dimension. Flush publishes the rows: whoever
        /// loads the folder meets all of them, or those from before, at each moment.
        /// </summary>
        public static TensorDictWriter OpenAppend(string directory, TensorDict? like = null, AppendOptions? options = null)
        {
            Argument.NotNull(directory, nameof(directory));
            td_append_options raw = (options ?? new AppendOptions()).ToRaw();
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Text(directory, nameof(directory), stack);
            byte* names = stackalloc byte[Utf8.StackBytes];
            using var resumeAt = new Utf8Path(options?.ResumeAt ?? default, names);
            raw.resume_at = resumeAt.Pointer;
            raw.resume_at_len = resumeAt.Length;
            td_writer* result = null;
            using var borrowed = DictHandle.BorrowOrNull(like);
            Status.Check(Native.td_writer_open_append(path.Pointer, borrowed.Pointer, &raw, &result));
            var handle = new WriterHandle(result);
            try
            {
                // What is known of its tensors; no file of values is opened.
                var meta = new LoadOptions { Device = Device.Meta };
                using TensorDict loaded = TensorDict.Load(FolderOf(handle)!, meta);
                return new TensorDictWriter(handle, loaded.Handle.Share());
            }
            catch
            {
                handle.Dispose();
                throw;
            }
        }

        /// <summary>The folder of a growing writer, its shard if it has one; null for others.</summary>
        public string? Folder => FolderOf(handle);

        private static string? FolderOf(WriterHandle handle)
        {
            using var borrowed = handle.Borrow();
            td_writer* writer = borrowed.Pointer;
            string path = Utf8.Read((text, room, length) => Native.td_writer_folder(writer, text, room, length));
            return path.Length > 0 ? path : null;
        }
    }

    /// <content>Folders that become longer or shorter.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// Adds the rows of this dictionary to a folder, all of them or none. Keys, dtypes and sizes must be those
        /// of the folder, but for the number of rows. A folder that is not there is made. A folder with a lazy stack
        /// along the first dimension gets the dictionary as one more element.
        /// </summary>
        public void AppendTo(string directory, AppendOptions? options = null)
        {
            Argument.NotNull(directory, nameof(directory));
            td_append_options raw = (options ?? new AppendOptions()).ToRaw();
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Text(directory, nameof(directory), stack);
            using var handle = Handle.Borrow();
            Status.Check(Native.td_memmap_append(path.Pointer, handle.Pointer, &raw));
        }

        /// <summary>
        /// Keeps the first rows of a folder, or the first elements of a lazy stack, and gives back the room of the
        /// others and of what an interrupted writer has left behind the end.
        /// </summary>
        public static void Truncate(string directory, long rows, AppendOptions? options = null)
        {
            Argument.NotNull(directory, nameof(directory));
            td_append_options raw = (options ?? new AppendOptions()).ToRaw();
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Text(directory, nameof(directory), stack);
            Status.Check(Native.td_memmap_truncate(path.Pointer, rows, &raw));
        }

        /// <summary>How long a folder is, without opening its values.</summary>
        public static MemmapLength LengthOf(string directory)
        {
            Argument.NotNull(directory, nameof(directory));
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Text(directory, nameof(directory), stack);
            long rows;
            long stored;
            long spare;
            Status.Check(Native.td_memmap_length(path.Pointer, &rows, &stored, &spare));
            return new MemmapLength(rows, stored, spare);
        }
    }
}
