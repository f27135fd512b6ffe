using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>How a file of another program is read or written.</summary>
    public sealed record TensorFileOptions
    {
        /// <summary>The format; found out if it is not given.</summary>
        public TensorFileFormat Format { get; set; }

        /// <summary>
        /// Stands between the names of a path that are one in the file, a dot if it is not given; an empty text
        /// keeps names whole.
        /// </summary>
        public string? Separator { get; set; }

        /// <summary>Reading: so many leading dimensions are the batch; 0: as the file says, or none.</summary>
        public int BatchDims { get; set; }

        /// <summary>Reading: what is written to the tensors reaches the file.</summary>
        public bool WriteThrough { get; set; }

        /// <summary>Writing .npz: compressed.</summary>
        public bool Deflate { get; set; }

        /// <summary>Writing: returns when the file is on the disk.</summary>
        public bool Durable { get; set; }

        /// <summary>The deepest nesting accepted; 0: the library's own limit.</summary>
        public uint MaxDepth { get; set; }

        /// <summary>The most entries accepted; 0: the library's own limit.</summary>
        public uint MaxEntries { get; set; }

        /// <summary>Writing safetensors: a JSON object of texts that stands beside the tensors.</summary>
        public string? Metadata { get; set; }

        /// <summary>What lies where in raw records.</summary>
        public StructMembers? Records { get; set; }

        /// <summary>Bytes before the first raw record.</summary>
        public int HeaderBytes { get; set; }

        internal unsafe delegate td_status Use(byte* path, td_file_options* options);

        /// <summary>Makes a call with the path and the options as the library takes them.</summary>
        internal unsafe void Call(string file, Use use)
        {
            byte* stack = stackalloc byte[3 * Utf8.StackBytes];
            using var path = new Utf8Text(Argument.NotNull(file, nameof(file)), nameof(file), stack);
            using var separator = new Utf8Text(Separator, nameof(Separator), stack + Utf8.StackBytes);
            using var metadata = new Utf8Text(Metadata, nameof(Metadata), stack + (2 * Utf8.StackBytes));
            using var members = Records?.CopyOut();
            td_file_options raw = td_file_options.Default;
            raw.format = (td_file_format)(int)Format;
            raw.separator = separator.Pointer;
            raw.batch_dims = BatchDims;
            raw.write_through = WriteThrough ? 1 : 0;
            raw.deflate = Deflate ? 1 : 0;
            raw.durable = Durable ? 1 : 0;
            raw.max_depth = MaxDepth;
            raw.max_entries = MaxEntries;
            raw.metadata = metadata.Pointer;
            if (Records != null && members != null)
            {
                raw.members = members.Pointer;
                raw.members_len = members.Count;
                raw.item_bytes = checked((nuint)Records.ItemBytes);
                raw.header_bytes = checked((nuint)HeaderBytes);
            }
            Status.Check(use(path.Pointer, &raw));
        }
    }

    /// <content>Files of other programs: safetensors, NumPy, torch.save, raw records.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// Reads a file of any of the formats. Nothing in it is trusted and nothing in it is run. Tensors are views
        /// of the mapped file wherever they can be.
        /// </summary>
        public static TensorDict LoadFile(string file, TensorFileOptions? options = null)
        {
            td_tensordict* result = null;
            td_tensordict** to = &result;
            (options ?? new TensorFileOptions()).Call(file, (path, raw) => Native.td_file_load(path, raw, to));
            return Own(result);
        }

        /// <summary>The texts that a safetensors file keeps beside its tensors, as a JSON object.</summary>
        public static string FileMetadata(string file)
        {
            string text = string.Empty;
            new TensorFileOptions().Call(file, (path, raw) =>
            {
                text = Utf8.Read((to, room, length) => Native.td_file_metadata(path, raw, to, room, length));
                return (td_status)0;
            });
            return text;
        }

        /// <summary>
        /// Writes a file in the format that its name ends with. What was there is replaced once the new file is
        /// whole.
        /// </summary>
        public void SaveFile(string file, TensorFileOptions? options = null)
        {
            using var handle = Handle.Borrow();
            td_tensordict* td = handle.Pointer;
            (options ?? new TensorFileOptions()).Call(file, (path, raw) => Native.td_file_save(td, path, raw));
        }
    }

    /// <content>A tensor in a file of its own.</content>
    public sealed unsafe partial class Tensor
    {
        /// <summary>Reads a file of one tensor: .npy, or .pt.</summary>
        public static Tensor LoadFile(string file, TensorFileOptions? options = null)
        {
            td_tensor* result = null;
            td_tensor** to = &result;
            (options ?? new TensorFileOptions()).Call(file, (path, raw) => Native.td_file_load_tensor(path, raw, to));
            return Own(result);
        }

        /// <summary>Writes a .npy file.</summary>
        public void SaveFile(string file, TensorFileOptions? options = null)
        {
            using var handle = Handle.Borrow();
            td_tensor* tensor = handle.Pointer;
            var given = options ?? new TensorFileOptions { Format = TensorFileFormat.Npy };
            given.Call(file, (path, raw) => Native.td_file_save_tensor(tensor, path, raw));
        }
    }
}
