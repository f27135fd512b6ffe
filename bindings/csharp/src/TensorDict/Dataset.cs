using System;
using System.Collections.Generic;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>Which library's layout a data set has.</summary>
    public enum DatasetKind
    {
        /// <summary>Found by looking at folders, files and groups.</summary>
        Detect = 0,

        /// <summary>Minari: read from HDF5, Arrow and Parquet, written in HDF5.</summary>
        Minari = 1,

        /// <summary>robomimic, and raw demonstrations of robosuite.</summary>
        Robomimic = 2,

        /// <summary>D4RL.</summary>
        D4rl = 3,

        /// <summary>LeRobot v2.0, v2.1 and v3.0.</summary>
        LeRobot = 4,

        /// <summary>Folders of replay buffers.</summary>
        TorchRl = 5,

        /// <summary>Bags of ROS 2.</summary>
        Ros = 6,
    }

    /// <summary>How a data set is opened.</summary>
    public sealed record DatasetOptions
    {
        /// <summary>It is of this kind.</summary>
        public DatasetKind Kind { get; set; }

        /// <summary>Episodes of D4RL without timeouts end after so many steps; 0: they do not.</summary>
        public long MaxEpisodeSteps { get; set; }

        /// <summary>The most memory for one dataset of a file; 0: the library's own limit.</summary>
        public ulong MaxBytes { get; set; }

        /// <summary>The most entries of a group; 0: the library's own limit.</summary>
        public uint MaxEntries { get; set; }

        /// <summary>Encoded pictures (PNG, JPEG) become tensors of bytes; otherwise they stay as they are. Videos are read, too.</summary>
        public bool Decode { get; set; }

        /// <summary>LeRobot: the frames of videos are entries; otherwise videos are left out.</summary>
        public bool Videos { get; set; }

        /// <summary>Bags of ROS: so many rows each second; 0: a row for each message of <see cref="Clock"/>.</summary>
        public double Rate { get; set; }

        /// <summary>Bags of ROS: the topic whose messages are rows; null: the one with the most messages.</summary>
        public string? Clock { get; set; }
    }

    /// <summary>What becomes of pictures in a data set of LeRobot.</summary>
    public enum DatasetVideo
    {
        /// <summary>They stay pictures: PNG, without a loss.</summary>
        None = 0,

        /// <summary>Frames of videos, which are a little different; sizes must be even.</summary>
        H264 = 1,

        /// <summary>The same in less room and more time.</summary>
        Av1 = 2,
    }

    /// <summary>How a data set is written.</summary>
    public sealed record DatasetSaveOptions
    {
        /// <summary>What the kind cannot hold is left out, or filled in; otherwise it is an error.</summary>
        public bool Lossy { get; set; }

        /// <summary>Returns when the files are on the disk.</summary>
        public bool Durable { get; set; }

        /// <summary>A <see cref="DatasetWriter"/> goes on behind the episodes of a set that is there.</summary>
        public bool Resume { get; set; }

        /// <summary>LeRobot in version 2.1, with a table, and a video, for each episode.</summary>
        public bool LeRobotV21 { get; set; }

        /// <summary>Level of compression, 1 to 9; 0: not compressed.</summary>
        public long Deflate { get; set; }

        /// <summary>LeRobot: pictures become videos.</summary>
        public DatasetVideo Video { get; set; }

        /// <summary>Quality of videos: of H.264 1 to 51, of AV1 1 to 63, less is better and larger; 0: 23, AV1 30.</summary>
        public int VideoQuality { get; set; }

        /// <summary>LeRobot: steps in a second; 0: those of the metadata, else by the times of the first episode.</summary>
        public double Fps { get; set; }

        internal td_dataset_save_options Raw()
        {
            td_dataset_save_options raw = td_dataset_save_options.Default;
            raw.flags = (Lossy ? td_dataset_save_flags.TD_DATASET_SAVE_LOSSY : 0)
                | (Durable ? td_dataset_save_flags.TD_DATASET_SAVE_DURABLE : 0)
                | (Resume ? td_dataset_save_flags.TD_DATASET_SAVE_RESUME : 0)
                | (LeRobotV21 ? td_dataset_save_flags.TD_DATASET_SAVE_LEROBOT_V21 : 0);
            raw.deflate = Deflate;
            raw.video = (td_dataset_video)(int)Video;
            raw.video_quality = VideoQuality;
            raw.fps = Fps;
            return raw;
        }
    }

    /// <summary>
    /// Recordings of episodes in a layout of Python's libraries. A step is a row, laid out as TorchRL does it. Values are
    /// read when they are asked for. Threads may share it.
    /// </summary>
    public sealed unsafe class Dataset : IDisposable
    {
        private readonly DatasetHandle handle;

        private Dataset(td_dataset* raw) => handle = new DatasetHandle(raw);

        private delegate td_status Reader(td_dataset* dataset, td_tensordict** result);

        /// <summary>Opens a folder or a file.</summary>
        public static Dataset Open(string path, DatasetOptions? options = null)
        {
            options ??= new DatasetOptions();
            byte* stack = stackalloc byte[2 * Utf8.StackBytes];
            using var text = new Utf8Text(Argument.NotNull(path, nameof(path)), nameof(path), stack);
            using var clock = new Utf8Text(options.Clock, nameof(options.Clock), stack + Utf8.StackBytes);
            td_dataset_options raw = td_dataset_options.Default;
            raw.kind = (td_dataset_kind)(int)options.Kind;
            raw.max_episode_steps = options.MaxEpisodeSteps;
            raw.max_bytes = options.MaxBytes;
            raw.max_entries = options.MaxEntries;
            raw.flags = (options.Decode ? td_dataset_flags.TD_DATASET_DECODE : 0)
                | (options.Videos ? td_dataset_flags.TD_DATASET_VIDEOS : 0);
            raw.rate = options.Rate;
            raw.clock = clock.Pointer;
            td_dataset* result = null;
            Status.Check(Native.td_dataset_open(text.Pointer, &raw, &result));
            return new Dataset(result);
        }

        /// <summary>Which library's layout it has.</summary>
        public DatasetKind Kind => About().Kind;

        /// <summary>The number of episodes.</summary>
        public long EpisodeCount => About().Episodes;

        /// <summary>The number of steps of all episodes.</summary>
        public long StepCount => About().Steps;

        /// <summary>The version of the library that wrote it, as it says itself; empty if it does not.</summary>
        public string Version
        {
            get
            {
                using var own = handle.Borrow();
                td_dataset* raw = own.Pointer;
                return Utf8.Read((text, room, length) => Native.td_dataset_version(raw, text, room, length));
            }
        }

        /// <summary>The number of steps of each episode.</summary>
        public IReadOnlyList<long> Lengths
        {
            get
            {
                using var own = handle.Borrow();
                td_dataset* raw = own.Pointer;
                return Sizes.Read((lengths, room, count) => Native.td_dataset_lengths(raw, lengths, room, count));
            }
        }

        /// <summary>A dictionary without rows that has the entries of an episode: their keys, dtypes and sizes.</summary>
        public TensorDict Structure() => Read((raw, result) => Native.td_dataset_structure(raw, result));

        /// <summary>What the data set says of itself.</summary>
        public TensorDict Metadata() => Read((raw, result) => Native.td_dataset_metadata(raw, result));

        /// <summary>What the data set says of one episode.</summary>
        public TensorDict EpisodeMetadata(long episode) =>
            Read((raw, result) => Native.td_dataset_episode_metadata(raw, episode, result));

        /// <summary>One episode, of which each step is a row.</summary>
        public TensorDict Episode(long episode) => Read((raw, result) => Native.td_dataset_episode(raw, episode, result));

        /// <summary>Episodes as the elements of a lazy stack.</summary>
        public TensorDict Episodes(long first, long count) =>
            Read((raw, result) => Native.td_dataset_episodes(raw, first, count, result));

        /// <summary>Rows of all episodes, numbered one after the other.</summary>
        public TensorDict Rows(long first, long count) =>
            Read((raw, result) => Native.td_dataset_rows(raw, first, count, result));

        /// <summary>All rows.</summary>
        public TensorDict Flat() => Read((raw, result) => Native.td_dataset_flat(raw, result));

        /// <summary>Writes it as another kind, or as the same, with all metadata.</summary>
        public void Convert(DatasetKind kind, string file, DatasetSaveOptions? options = null)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Text(Argument.NotNull(file, nameof(file)), nameof(file), stack);
            td_dataset_save_options raw = (options ?? new DatasetSaveOptions()).Raw();
            using var own = handle.Borrow();
            Status.Check(Native.td_dataset_convert(own.Pointer, (td_dataset_kind)(int)kind, path.Pointer, &raw));
        }

        /// <summary>Closes the data set. What was read from it stays.</summary>
        public void Dispose() => handle.Dispose();

        /// <inheritdoc/>
        public override string ToString() => handle.IsClosed ? "Dataset(closed)" : $"Dataset({Kind}, {EpisodeCount} episodes)";

        /// <summary>
        /// The steps of all episodes as batches, as those of <see cref="Flat"/>. They are read when a batch is made, ahead by the
        /// workers; slices stay in an episode.
        /// </summary>
        public BatchLoader Batches(long rows, BatchOptions? options = null) =>
            new BatchLoader(null, this, rows, options ?? new BatchOptions());

        internal DatasetHandle Handle => handle;

        private (DatasetKind Kind, long Episodes, long Steps) About()
        {
            using var own = handle.Borrow();
            td_dataset_kind kind = default;
            long episodes = 0;
            long steps = 0;
            Status.Check(Native.td_dataset_about(own.Pointer, &kind, &episodes, &steps));
            return ((DatasetKind)(int)kind, episodes, steps);
        }

        private TensorDict Read(Reader read)
        {
            using var own = handle.Borrow();
            td_tensordict* result = null;
            return TensorDict.Own(read(own.Pointer, &result), result);
        }
    }

    /// <summary>
    /// Writes a data set episode by episode. Whatever happens to the program, the set opens and has all episodes that were
    /// added.
    /// </summary>
    public sealed unsafe class DatasetWriter : IDisposable
    {
        private readonly DatasetWriterHandle handle;

        /// <summary>Opens a writer. Nothing is written before the first episode.</summary>
        public DatasetWriter(string file, DatasetKind kind, TensorDict? metadata = null, DatasetSaveOptions? options = null)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Text(Argument.NotNull(file, nameof(file)), nameof(file), stack);
            td_dataset_save_options raw = (options ?? new DatasetSaveOptions()).Raw();
            td_dataset_writer* result = null;
            using var about = DictHandle.BorrowOrNull(metadata);
            Status.Check(Native.td_dataset_writer_open(path.Pointer, (td_dataset_kind)(int)kind, about.Pointer, &raw, &result));
            handle = new DatasetWriterHandle(result);
        }

        /// <summary>The number of episodes in the set.</summary>
        public long EpisodeCount
        {
            get
            {
                using var own = handle.Borrow();
                long result = 0;
                Status.Check(Native.td_dataset_writer_episodes(own.Pointer, &result));
                return result;
            }
        }

        /// <summary>Adds an episode, of which each step is a row, with what there is to say of it.</summary>
        public void Add(TensorDict rows, TensorDict? metadata = null)
        {
            using var own = handle.Borrow();
            using var steps = Argument.NotNull(rows, nameof(rows)).Handle.Borrow();
            using var about = DictHandle.BorrowOrNull(metadata);
            Status.Check(Native.td_dataset_writer_add(own.Pointer, steps.Pointer, about.Pointer));
        }

        /// <summary>Ends the writing; later episodes are refused.</summary>
        public void Close()
        {
            using var own = handle.Borrow();
            Status.Check(Native.td_dataset_writer_close(own.Pointer));
        }

        /// <summary>Frees the writer. The episodes that were added stay.</summary>
        public void Dispose() => handle.Dispose();

        /// <inheritdoc/>
        public override string ToString() =>
            handle.IsClosed ? "DatasetWriter(closed)" : $"DatasetWriter({EpisodeCount} episodes)";
    }

    /// <content>Data sets.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// Writes a data set: episodes are runs of one number in "episode", or the elements of a lazy stack.
        /// </summary>
        public void SaveDataset(DatasetKind kind, string file, TensorDict? metadata = null, DatasetSaveOptions? options = null)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Text(Argument.NotNull(file, nameof(file)), nameof(file), stack);
            td_dataset_save_options raw = (options ?? new DatasetSaveOptions()).Raw();
            using var own = Handle.Borrow();
            using var about = DictHandle.BorrowOrNull(metadata);
            Status.Check(Native.td_dataset_save(own.Pointer, about.Pointer, (td_dataset_kind)(int)kind, path.Pointer, &raw));
        }
    }
}
