using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>Where the buffer of a consolidated dictionary lies.</summary>
    public sealed record ConsolidateOptions
    {
        /// <summary>The device of the buffer; null: that of the dictionary, or the CPU if it has none.</summary>
        public Device? Device { get; set; }

        /// <summary>Takes memory that an accelerator copies from without waiting.</summary>
        public bool PinMemory { get; set; }

        /// <summary>How many threads copy in memory; 0 and 1: the calling one.</summary>
        public int Threads { get; set; }

        /// <summary>Returns only when a file is on the disk.</summary>
        public bool Durable { get; set; }

        internal td_consolidate_options ToRaw()
        {
            td_consolidate_options raw = td_consolidate_options.Default;
            raw.device_type = TensorDicts.Device.RawOf(Device);
            raw.device_index = TensorDicts.Device.IndexOf(Device);
            raw.pin_memory = PinMemory ? 1 : 0;
            raw.num_threads = Threads;
            raw.durable = Durable ? 1 : 0;
            return raw;
        }
    }

    /// <summary>
    /// A dictionary that is locked, or unlocked, until this is disposed; then it is again what it was.
    /// </summary>
    public sealed class LockScope : IDisposable
    {
        private readonly bool before;
        private TensorDict? dictionary;

        internal LockScope(TensorDict dictionary, bool locked)
        {
            before = dictionary.IsLocked;
            if (locked)
            {
                dictionary.Lock();
            }
            else
            {
                dictionary.Unlock();
            }
            this.dictionary = dictionary;
        }

        /// <summary>Locks or unlocks the dictionary again, as it was before.</summary>
        public void Dispose()
        {
            TensorDict? td = dictionary;
            dictionary = null;
            if (td == null)
            {
                return;
            }
            if (before)
            {
                td.Lock();
            }
            else
            {
                td.Unlock();
            }
        }
    }

    /// <content>Shared memory, one buffer for all tensors, and locks for a while.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// Whether it is flagged as shared: by <see cref="ShareMemory"/> and not unlocked since, or because it lies
        /// on a CUDA device. Views and parts keep the flag, clones do not.
        /// </summary>
        public bool IsShared
        {
            get
            {
                using var handle = Handle.Borrow();
                int result;
                Status.Check(Native.td_is_shared(handle.Pointer, &result));
                return result != 0;
            }
        }

        /// <summary>
        /// The name by which another process of the same user opens this dictionary, as long as the process that
        /// shared it runs and has it.
        /// </summary>
        public string SharedName
        {
            get
            {
                using var handle = Handle.Borrow();
                td_tensordict* td = handle.Pointer;
                return Utf8.Read((text, room, length) => Native.td_shared_name(td, text, room, length));
            }
        }

        /// <summary>
        /// Whether it is locked and all its tensors lie in one buffer as <see cref="Consolidate"/> puts them there.
        /// </summary>
        public bool IsConsolidated
        {
            get
            {
                using var handle = Handle.Borrow();
                int result;
                Status.Check(Native.td_is_consolidated(handle.Pointer, &result));
                return result != 0;
            }
        }

        /// <summary>Opens what another process has shared: its tensors are the very same memory.</summary>
        public static TensorDict OpenShared(string name)
        {
            Argument.NotNull(name, nameof(name));
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var text = new Utf8Text(name, nameof(name), stack);
            td_tensordict* result = null;
            return Own(Native.td_shared_open(text.Pointer, &result), result);
        }

        /// <summary>
        /// Maps a file that <see cref="ConsolidateTo"/> or Python's <c>consolidate</c> has written. What is written to
        /// the tensors reaches the file only with <see cref="LoadOptions.WriteThrough"/>.
        /// </summary>
        public static TensorDict LoadConsolidated(string file, LoadOptions? options = null)
        {
            Argument.NotNull(file, nameof(file));
            td_load_options raw = (options ?? new LoadOptions()).ToRaw();
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Text(file, nameof(file), stack);
            td_tensordict* result = null;
            return Own(Native.td_consolidated_load(path.Pointer, &raw, &result), result);
        }

        /// <summary>
        /// Moves all tensors to one piece of memory that other processes see, too; the dictionary becomes locked.
        /// Addresses and spans taken before speak of the old memory.
        /// </summary>
        public void ShareMemory()
        {
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_share_memory(handle.Pointer));
        }

        /// <summary>
        /// The same content with all tensors in one buffer, one after the other: locked, and moved to another device
        /// in one piece.
        /// </summary>
        public TensorDict Consolidate(ConsolidateOptions? options = null)
        {
            td_consolidate_options raw = (options ?? new ConsolidateOptions()).ToRaw();
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_consolidate(handle.Pointer, null, &raw, &result), result);
        }

        /// <summary>Puts the tensors of this dictionary itself into one buffer; it becomes locked.</summary>
        public void ConsolidateInPlace(ConsolidateOptions? options = null)
        {
            td_consolidate_options raw = (options ?? new ConsolidateOptions()).ToRaw();
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_consolidate_inplace(handle.Pointer, &raw));
        }

        /// <summary>
        /// Writes one file, in the format of Python's <c>consolidate</c>, and maps it: what is written to the tensors
        /// of the result does not reach the file.
        /// </summary>
        public TensorDict ConsolidateTo(string file, ConsolidateOptions? options = null)
        {
            Argument.NotNull(file, nameof(file));
            td_consolidate_options raw = (options ?? new ConsolidateOptions()).ToRaw();
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Text(file, nameof(file), stack);
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_consolidate(handle.Pointer, path.Pointer, &raw, &result), result);
        }

        /// <summary>Locks the dictionary until the scope is disposed.</summary>
        public LockScope Locked() => new LockScope(this, true);

        /// <summary>
        /// Unlocks the dictionary until the scope is disposed. The flags of mapped, shared and consolidated
        /// dictionaries go with the lock and do not come back.
        /// </summary>
        public LockScope Unlocked() => new LockScope(this, false);
    }
}
