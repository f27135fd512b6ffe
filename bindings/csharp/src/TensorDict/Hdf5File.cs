using System;
using System.Collections.Generic;
using System.Linq;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>What is read of an HDF5 file.</summary>
    public sealed record Hdf5Options
    {
        /// <summary>Only this group.</summary>
        public string? Group { get; set; }

        /// <summary>Only these entries.</summary>
        public IEnumerable<NestedKey>? Keys { get; set; }

        /// <summary>Attributes of groups become non-tensor data.</summary>
        public bool Attributes { get; set; }

        /// <summary>Leaves out what has no place in a dictionary, such as links into other files.</summary>
        public bool Skip { get; set; }

        /// <summary>The groups are the elements of a lazy stack: demonstrations of different lengths.</summary>
        public bool Stack { get; set; }

        /// <summary>So many leading dimensions are the batch; 0: as Python's from_h5 finds them.</summary>
        public long BatchDims { get; set; }

        /// <summary>The most memory that one reading may take; 0: the library's own limit.</summary>
        public ulong MaxBytes { get; set; }

        /// <summary>The deepest nesting accepted; 0: the library's own limit.</summary>
        public uint MaxDepth { get; set; }

        /// <summary>The most entries accepted; 0: the library's own limit.</summary>
        public uint MaxEntries { get; set; }

        internal unsafe delegate td_status Use(byte* path, td_hdf5_options* options);

        /// <summary>Makes a call with the path and the options as the library takes them.</summary>
        internal unsafe void Call(string file, Use use)
        {
            byte* stack = stackalloc byte[2 * Utf8.StackBytes];
            using var path = new Utf8Text(Argument.NotNull(file, nameof(file)), nameof(file), stack);
            using var group = new Utf8Text(Group, nameof(Group), stack + Utf8.StackBytes);
            using var keys = new Utf8Keys(Keys ?? Array.Empty<NestedKey>());
            td_hdf5_options raw = td_hdf5_options.Default;
            raw.flags = (Attributes ? td_hdf5_flags.TD_HDF5_ATTRIBUTES : 0)
                | (Skip ? td_hdf5_flags.TD_HDF5_SKIP : 0)
                | (Stack ? td_hdf5_flags.TD_HDF5_STACK : 0);
            raw.group = group.Pointer;
            raw.keys = keys.Pointer;
            raw.keys_len = keys.Length;
            raw.batch_dims = BatchDims;
            raw.max_bytes = MaxBytes;
            raw.max_depth = MaxDepth;
            raw.max_entries = MaxEntries;
            Status.Check(use(path.Pointer, &raw));
        }
    }

    /// <summary>How an HDF5 file is written.</summary>
    public sealed record Hdf5SaveOptions
    {
        /// <summary>Into this group.</summary>
        public string? Group { get; set; }

        /// <summary>The elements of a lazy stack become the groups demo_0, demo_1, ...</summary>
        public bool Stack { get; set; }

        /// <summary>Returns when the file is on the disk.</summary>
        public bool Durable { get; set; }

        /// <summary>Level of compression, 1 to 9; 0: not compressed.</summary>
        public long Deflate { get; set; }

        /// <summary>Rows of a chunk.</summary>
        public long ChunkRows { get; set; }
    }

    /// <summary>An open HDF5 file, of which parts are read. Threads may share it.</summary>
    public sealed unsafe class Hdf5File : IDisposable
    {
        private readonly Hdf5Handle handle;

        private Hdf5File(td_hdf5* raw) => handle = new Hdf5Handle(raw);

        /// <summary>Opens a file, and looks at what it holds; values are read later.</summary>
        public static Hdf5File Open(string file, Hdf5Options? options = null)
        {
            td_hdf5* result = null;
            (options ?? new Hdf5Options()).Call(file, (path, raw) =>
            {
                td_hdf5* opened = null;
                td_status status = Native.td_hdf5_open(path, raw, &opened);
                result = opened;
                return status;
            });
            return new Hdf5File(result);
        }

        /// <summary>The batch size; -1 where the elements of a stack differ.</summary>
        public long[] BatchSize
        {
            get
            {
                using var own = handle.Borrow();
                td_hdf5* raw = own.Pointer;
                return Sizes.Read((sizes, room, dims) => Native.td_hdf5_batch_size(raw, sizes, room, dims));
            }
        }

        /// <summary>The keys of all tensors and non-tensor values.</summary>
        public IReadOnlyList<NestedKey> Keys
        {
            get
            {
                using var own = handle.Borrow();
                td_keys* list = null;
                Status.Check(Native.td_hdf5_keys(own.Pointer, &list));
                using var owner = new KeysHandle(list);
                return KeyList.Read(list).Select(row => row.Key).ToArray();
            }
        }

        /// <summary>The part that an index picks; only its rows are read.</summary>
        public TensorDict this[params TensorIndex[] index]
        {
            get
            {
                Argument.NotNull(index, nameof(index));
                td_index_item* stack = stackalloc td_index_item[IndexItems.Room(index)];
                using var items = new IndexItems(index, stack);
                using var own = handle.Borrow();
                td_tensordict* result = null;
                return TensorDict.Own(Native.td_hdf5_read(own.Pointer, items.Pointer, items.Length, &result), result);
            }
        }

        /// <summary>Closes the file.</summary>
        public void Dispose() => handle.Dispose();
    }

    /// <content>HDF5 files.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>Reads a whole HDF5 file.</summary>
        public static TensorDict LoadHdf5(string file, Hdf5Options? options = null)
        {
            td_tensordict* result = null;
            (options ?? new Hdf5Options()).Call(file, (path, raw) =>
            {
                td_tensordict* read = null;
                td_status status = Native.td_hdf5_load(path, raw, &read);
                result = read;
                return status;
            });
            return TensorDict.Own(result);
        }

        /// <summary>Writes an HDF5 file as Python's to_h5 does.</summary>
        public void SaveHdf5(string file, Hdf5SaveOptions? options = null)
        {
            options ??= new Hdf5SaveOptions();
            byte* stack = stackalloc byte[2 * Utf8.StackBytes];
            using var path = new Utf8Text(Argument.NotNull(file, nameof(file)), nameof(file), stack);
            using var group = new Utf8Text(options.Group, nameof(options.Group), stack + Utf8.StackBytes);
            td_hdf5_save_options raw = td_hdf5_save_options.Default;
            raw.flags = (options.Stack ? td_hdf5_save_flags.TD_HDF5_SAVE_STACK : 0)
                | (options.Durable ? td_hdf5_save_flags.TD_HDF5_SAVE_DURABLE : 0);
            raw.group = group.Pointer;
            raw.deflate = options.Deflate;
            raw.chunk_rows = options.ChunkRows;
            using var own = Handle.Borrow();
            Status.Check(Native.td_hdf5_save(own.Pointer, path.Pointer, &raw));
        }
    }
}
