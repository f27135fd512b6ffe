using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>Dictionaries in folders, in the format of Python's tensordict.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// The folder behind the dictionary; null when there is none.
        /// </summary>
        public string? SavedPath
        {
            get
            {
                using var handle = Handle.Borrow();
                td_tensordict* td = handle.Pointer;
                string path = Utf8.Read((text, room, length) => Native.td_saved_path(td, text, room, length));
                return path.Length > 0 ? path : null;
            }
        }

        /// <summary>Maps a folder that this library or Python's tensordict has written.</summary>
        public static TensorDict Load(string directory, LoadOptions? options = null)
        {
            Argument.NotNull(directory, nameof(directory));
            td_load_options raw = (options ?? new LoadOptions()).ToRaw();
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Text(directory, nameof(directory), stack);
            td_tensordict* result = null;
            return Own(Native.td_memmap_load(path.Pointer, &raw, &result), result);
        }

        /// <summary>
        /// Saves to a folder and gives a dictionary that is mapped from it: locked, on the CPU, writing through
        /// to the files. This one is left alone. Without a folder, memory that has no name is mapped.
        /// </summary>
        public TensorDict Memmap(string? directory = null, MemmapOptions? options = null)
        {
            td_memmap_options raw = (options ?? new MemmapOptions()).ToRaw();
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Text(directory, nameof(directory), stack);
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_memmap(handle.Pointer, path.Pointer, &raw, &result), result);
        }

        /// <summary>Saves to a folder and maps the tensors of this dictionary from there; it becomes locked.</summary>
        public void MemmapInPlace(string? directory = null, MemmapOptions? options = null)
        {
            td_memmap_options raw = (options ?? new MemmapOptions()).ToRaw();
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Text(directory, nameof(directory), stack);
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_memmap_inplace(handle.Pointer, path.Pointer, &raw));
        }

        /// <summary>
        /// Makes a folder of the sizes and dtypes of this dictionary, filled with zeros, and maps it. With an
        /// expanded dictionary this pre-allocates a data set of any size.
        /// </summary>
        public TensorDict MemmapLike(string? directory = null, MemmapOptions? options = null)
        {
            td_memmap_options raw = (options ?? new MemmapOptions()).ToRaw();
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Text(directory, nameof(directory), stack);
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_memmap_like(handle.Pointer, path.Pointer, &raw, &result), result);
        }

        /// <summary>Waits until what was written to mapped tensors is on the disk.</summary>
        public void Flush()
        {
            using var handle = Handle.Borrow();
            Status.Check(Native.td_memmap_flush(handle.Pointer));
        }
    }
}
