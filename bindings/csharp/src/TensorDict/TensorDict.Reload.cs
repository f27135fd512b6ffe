using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>Folders read into existing dictionaries, and entries created in both at once.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>Maps a nested dictionary of a folder alone: only its own files are looked at.</summary>
        public static TensorDict LoadPart(string directory, NestedKey key, LoadOptions? options = null)
        {
            Argument.NotNull(directory, nameof(directory));
            td_load_options raw = (options ?? new LoadOptions()).ToRaw();
            byte* stack = stackalloc byte[Utf8.StackBytes];
            byte* names = stackalloc byte[Utf8.StackBytes];
            using var text = new Utf8Text(directory, nameof(directory), stack);
            using var path = new Utf8Path(key, names);
            raw.subpath = path.Pointer;
            raw.subpath_len = path.Length;
            td_tensordict* result = null;
            return Own(Native.td_memmap_load(text.Pointer, &raw, &result), result);
        }

        /// <summary>
        /// Reads a folder into this dictionary: tensors take the place of those of the same name, nested
        /// dictionaries are filled, other entries stay. A locked dictionary must be mapped.
        /// </summary>
        public void LoadInto(string directory, LoadOptions? options = null)
        {
            Argument.NotNull(directory, nameof(directory));
            td_load_options raw = (options ?? new LoadOptions()).ToRaw();
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var text = new Utf8Text(directory, nameof(directory), stack);
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_memmap_load_into(handle.Pointer, text.Pointer, &raw));
        }

        /// <summary>
        /// Reads again the folder behind this dictionary, and takes over what has come meanwhile: new entries,
        /// files that were replaced, a batch size that has grown. Entries that have gone stay.
        /// </summary>
        public void Refresh(LoadOptions? options = null)
        {
            td_load_options raw = (options ?? new LoadOptions()).ToRaw();
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_memmap_refresh(handle.Pointer, &raw));
        }

        /// <summary>
        /// Adds a tensor of zeros to a mapped dictionary, locked or not, and its file to the folder. Dictionaries
        /// that are missing on the way are made, with their folders.
        /// </summary>
        public Tensor MakeMemmap(NestedKey key, DType dtype, long[] shape, MemmapOptions? options = null)
        {
            Argument.NotNull(shape, nameof(shape));
            td_memmap_options raw = (options ?? new MemmapOptions()).ToRaw();
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.BorrowToChange();
            td_tensor* result = null;
            fixed (long* sizes = shape)
            {
                Status.Check(Native.td_memmap_make(
                    handle.Pointer, path.Pointer, path.Length, sizes, (nuint)shape.Length, (td_dtype)(int)dtype, &raw, &result));
            }
            return Tensor.Own(result);
        }

        /// <summary>As <see cref="MakeMemmap"/>, with the shape, the dtype and the values of a tensor.</summary>
        public Tensor MakeMemmapFrom(NestedKey key, Tensor source, MemmapOptions? options = null)
        {
            Argument.NotNull(source, nameof(source));
            td_memmap_options raw = (options ?? new MemmapOptions()).ToRaw();
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.BorrowToChange();
            using var from = source.Handle.Borrow();
            td_tensor* result = null;
            return Tensor.Own(Native.td_memmap_make_from_tensor(
                handle.Pointer, path.Pointer, path.Length, from.Pointer, &raw, &result), result);
        }

        /// <summary>
        /// Saves on a thread of the library, and returns at once. What is saved is the dictionary as it is now;
        /// values that are written into its tensors before the work is done may be saved or not.
        /// </summary>
        public TensorDictFuture MemmapStart(string? directory = null, MemmapOptions? options = null)
        {
            td_memmap_options raw = (options ?? new MemmapOptions()).ToRaw();
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var text = new Utf8Text(directory, nameof(directory), stack);
            using var handle = Handle.Borrow();
            td_future* result = null;
            Status.Check(Native.td_memmap_async(handle.Pointer, text.Pointer, &raw, &result));
            return new TensorDictFuture(new FutureHandle(result));
        }
    }
}
