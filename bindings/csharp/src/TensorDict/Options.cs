using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>What becomes of dictionaries in which no entry is left.</summary>
    public enum FilterEmpty
    {
        /// <summary>Dropped if they lost all entries, kept if they were empty before.</summary>
        Default = 0,

        /// <summary>Dropped.</summary>
        Yes = 1,

        /// <summary>Kept.</summary>
        No = 2,
    }

    /// <summary>How <see cref="TensorDict.Apply(System.Func{Tensor, Tensor?}, ApplyOptions?)"/> and its kin work.</summary>
    public sealed record ApplyOptions
    {
        /// <summary>Writes the results into the existing tensors.</summary>
        public bool InPlace { get; set; }

        /// <summary>What becomes of empty dictionaries.</summary>
        public FilterEmpty FilterEmpty { get; set; }

        /// <summary>Locks the result if the source is locked.</summary>
        public bool PropagateLock { get; set; }

        /// <summary>Gives nested dictionaries as they are, where the function takes entries.</summary>
        public bool CallOnNested { get; set; }

        /// <summary>Gives null, or <see cref="DefaultValue"/>, for what other dictionaries lack.</summary>
        public bool AllowMissing { get; set; }

        /// <summary>Stands for tensors that other dictionaries lack; together with <see cref="AllowMissing"/>.</summary>
        public Tensor? DefaultValue { get; set; }

        /// <summary>The batch size of each dictionary of the result.</summary>
        public long[]? BatchSize { get; set; }

        /// <summary>The device of the result, to which values move.</summary>
        public Device? Device { get; set; }

        /// <summary>Names of the batch dimensions of the result; null for one without.</summary>
        public string?[]? Names { get; set; }

        /// <summary>Takes the results, and is the result.</summary>
        public TensorDict? Out { get; set; }
    }

    /// <summary>How a dictionary is stored.</summary>
    public sealed record MemmapOptions
    {
        /// <summary>How many threads write; 0 and 1: the calling one.</summary>
        public int Threads { get; set; }

        /// <summary>Copies tensors that are mapped from another folder.</summary>
        public bool CopyExisting { get; set; }

        /// <summary>Fails if a file exists, instead of overwriting it.</summary>
        public bool FailIfExists { get; set; }

        /// <summary>Names files by the keys as they are, not escaped.</summary>
        public bool VerbatimNames { get; set; }

        /// <summary>
        /// Whether all goes into one file, a zip archive; null: when its name ends with <c>.tdz</c>.
        /// </summary>
        public bool? Archive { get; set; }

        /// <summary>How the tensors in an archive are stored.</summary>
        public Compression Compression { get; set; }

        /// <summary>Returns only when all of it is on the disk, its name included.</summary>
        public bool Durable { get; set; }

        /// <summary>Makes a file with checksums, for <see cref="TensorDict.VerifyMemmap"/>.</summary>
        public bool Checksums { get; set; }

        /// <summary>Saves a sub-tensordict as what it reads, not with all that it is a part of.</summary>
        public bool DenseSubTensorDicts { get; set; }

        internal td_memmap_options ToRaw()
        {
            td_memmap_options raw = td_memmap_options.Default;
            raw.num_threads = Threads;
            raw.copy_existing = CopyExisting ? 1 : 0;
            raw.fail_if_exists = FailIfExists ? 1 : 0;
            raw.verbatim_names = VerbatimNames ? 1 : 0;
            raw.dense_sub_tensordicts = DenseSubTensorDicts ? 1 : 0;
            raw.archive = Archive switch
            {
                null => td_archive.TD_ARCHIVE_BY_NAME,
                true => td_archive.TD_ARCHIVE_YES,
                false => td_archive.TD_ARCHIVE_NO,
            };
            raw.compression = (td_compression)Compression;
            raw.durable = Durable ? 1 : 0;
            raw.checksums = Checksums ? 1 : 0;
            return raw;
        }
    }

    /// <summary>How a folder is read.</summary>
    public sealed record LoadOptions
    {
        /// <summary>Where the tensors go; the meta device opens no file of values.</summary>
        public Device? Device { get; set; }

        /// <summary>Keeps what is written to the tensors away from the files.</summary>
        public bool PrivateMapping { get; set; }

        /// <summary>Takes file names for the keys as they are, not escaped.</summary>
        public bool VerbatimNames { get; set; }

        /// <summary>Deepest nesting accepted; 0 is 1,000.</summary>
        public uint MaxDepth { get; set; }

        /// <summary>Most entries accepted, all levels together; 0 is 1,000,000.</summary>
        public uint MaxEntries { get; set; }

        /// <summary>
        /// Lets what is written to tensors of an archive, or of a consolidated file, reach it.
        /// </summary>
        public bool WriteThrough { get; set; }

        /// <summary>Threads that read the tensors of a folder or an archive; 0 and 1: the caller.</summary>
        public int Threads { get; set; }

        internal td_load_options ToRaw()
        {
            td_load_options raw = td_load_options.Default;
            raw.device_type = TensorDicts.Device.RawOf(Device);
            raw.device_index = TensorDicts.Device.IndexOf(Device);
            raw.private_mapping = PrivateMapping ? 1 : 0;
            raw.verbatim_names = VerbatimNames ? 1 : 0;
            raw.max_depth = MaxDepth;
            raw.max_entries = MaxEntries;
            raw.write_through = WriteThrough ? 1 : 0;
            raw.num_threads = Threads;
            return raw;
        }
    }

    /// <summary>Where a writer begins and how far it goes.</summary>
    public sealed record WriterOptions
    {
        /// <summary>Where writing begins.</summary>
        public long FirstRow { get; set; }

        /// <summary>Rows that may be written, from the first one; 0: up to the last.</summary>
        public long Capacity { get; set; }

        internal td_writer_options ToRaw()
        {
            td_writer_options raw = td_writer_options.Default;
            raw.first_row = FirstRow;
            raw.capacity = Capacity;
            return raw;
        }
    }
}
