using System;
using System.Diagnostics.CodeAnalysis;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>
    /// A dictionary of tensors and dictionaries whose leading sizes agree: the batch size. The object is a
    /// cheap reference; what it refers to is shared and counted. Dispose gives the reference back early,
    /// otherwise the garbage collector does.
    /// </summary>
    /// <remarks>
    /// Threads: calls that only read may run beside each other; a call that changes the dictionary needs it
    /// for itself.
    /// </remarks>
    public sealed unsafe partial class TensorDict : Entry
    {
        /// <summary>An empty dictionary; without sizes it has no batch dimensions.</summary>
        public TensorDict(params long[] batchSize)
            : this(batchSize, null)
        {
        }

        /// <summary>An empty dictionary that moves to a device what is set.</summary>
        public TensorDict(long[] batchSize, Device? device)
            : this(Create(batchSize, device))
        {
        }

        private TensorDict(td_tensordict* pointer)
            : this(new DictHandle(pointer))
        {
        }

        private TensorDict(DictHandle handle)
        {
            Handle = handle;
            TensorScope.Enter(this);
        }

        /// <summary>The leading sizes that all entries share. Written to, all entries must begin with the new ones.</summary>
        public Shape BatchSize
        {
            get
            {
                using var handle = Handle.Borrow();
                td_tensordict* td = handle.Pointer;
                return Shape.Own(Sizes.Read((sizes, room, dims) => Native.td_batch_size(td, sizes, room, dims)));
            }

            set
            {
                using var handle = Handle.BorrowToChange();
                fixed (long* sizes = value.Span)
                {
                    Status.Check(Native.td_set_batch_size(handle.Pointer, sizes, (nuint)value.Count));
                }
            }
        }

        /// <summary>The device to which entries are moved; null when they may live anywhere.</summary>
        public Device? Device
        {
            get
            {
                using var handle = Handle.Borrow();
                td_device_type type;
                int index;
                Status.Check(Native.td_device(handle.Pointer, &type, &index));
                return TensorDicts.Device.From(type, index);
            }
        }

        /// <summary>Whether structural change is forbidden.</summary>
        public bool IsLocked
        {
            get
            {
                using var handle = Handle.Borrow();
                int result;
                Status.Check(Native.td_is_locked(handle.Pointer, &result));
                return result != 0;
            }
        }

        /// <summary>Whether files stand behind its tensors.</summary>
        public bool IsMemmap
        {
            get
            {
                using var handle = Handle.Borrow();
                int result;
                Status.Check(Native.td_is_memmap(handle.Pointer, &result));
                return result != 0;
            }
        }

        /// <summary>Whether no tensor and no other value stands anywhere in it.</summary>
        public bool IsEmpty
        {
            get
            {
                using var handle = Handle.Borrow();
                int result;
                Status.Check(Native.td_is_empty(handle.Pointer, &result));
                return result != 0;
            }
        }

        /// <summary>The bytes of all tensors, at every level.</summary>
        public long ByteCount
        {
            get
            {
                using var handle = Handle.Borrow();
                nuint result;
                Status.Check(Native.td_nbytes(handle.Pointer, &result));
                return (long)result;
            }
        }

        internal DictHandle Handle { get; }

        internal override bool IsDisposed => Handle.IsDisposed;

        /// <summary>Forbids structural change here and in every nested dictionary. Values can still be written.</summary>
        public void Lock()
        {
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_lock(handle.Pointer));
        }

        /// <summary>Allows structural change again, here and in every nested dictionary.</summary>
        public void Unlock()
        {
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_unlock(handle.Pointer));
        }

        /// <summary>A second reference to the same dictionary.</summary>
        public TensorDict Share() => new TensorDict(Handle.Share());

        /// <summary>A copy with memory of its own, unlocked.</summary>
        public TensorDict Clone() => Copy(0);

        /// <summary>New dictionaries at every level over the same tensors, unlocked.</summary>
        public TensorDict ShallowClone() => Copy(td_clone_flags.TD_CLONE_SHALLOW);

        /// <summary>A dictionary whose tensors lie densely; those that already do are shared.</summary>
        public TensorDict Contiguous()
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_contiguous(handle.Pointer, &result), result);
        }

        /// <summary>
        /// A dictionary whose entries lie on a device, and which moves there what is set later. Tensors that
        /// are there already are shared.
        /// </summary>
        public TensorDict To(Device device, bool nonBlocking = false)
        {
            td_to_options options = td_to_options.Default;
            options.non_blocking = nonBlocking ? 1 : 0;
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_to_device(handle.Pointer, device.Raw, device.Index, &options, &result), result);
        }

        /// <summary>A dictionary whose tensors are all of a dtype, integers too.</summary>
        public TensorDict To(DType dtype)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_to_dtype(handle.Pointer, (td_dtype)(int)dtype, &result), result);
        }

        /// <summary>Forgets the device, here and in every nested dictionary. Nothing moves.</summary>
        public void ClearDevice()
        {
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_clear_device(handle.Pointer));
        }

        /// <summary>Whether both speak of the same dictionary: a change through one is seen through the other.</summary>
        public bool IsSameAs([NotNullWhen(true)] TensorDict? other)
        {
            if (other is null)
            {
                return false;
            }
            using var handle = Handle.Borrow();
            using var second = other.Handle.Borrow();
            int result;
            Status.Check(Native.td_is_same(handle.Pointer, second.Pointer, &result));
            return result != 0;
        }

        /// <summary>Whether both have the same batch size, the same keys in any order, and equal tensors.</summary>
        public bool EqualTo([NotNullWhen(true)] TensorDict? other)
        {
            if (other is null)
            {
                return false;
            }
            using var handle = Handle.Borrow();
            using var second = other.Handle.Borrow();
            int result;
            Status.Check(Native.td_equal(handle.Pointer, second.Pointer, &result));
            return result != 0;
        }

        /// <summary>The dictionary as Python's tensordict prints it.</summary>
        public override string ToString()
        {
            using var handle = Handle.Borrow();
            td_tensordict* td = handle.Pointer;
            return Utf8.Read((text, room, length) => Native.td_to_string(td, text, room, length));
        }

        /// <summary>The dictionary as Python's tensordict prints it with these options.</summary>
        public string ToString(PrintOptions options)
        {
            using var handle = Handle.Borrow();
            td_tensordict* td = handle.Pointer;
            td_print_options raw = Argument.NotNull(options, nameof(options)).ToRaw();
            return Utf8.Read((text, room, length) =>
            {
                td_print_options given = raw;
                return Native.td_print(td, &given, text, room, length);
            });
        }

        /// <inheritdoc/>
        public override void Dispose() => Handle.Dispose();

        /// <summary>Takes over a handle.</summary>
        internal static TensorDict Own(td_tensordict* pointer) => new TensorDict(pointer);

        /// <summary>What a call has made, unless it failed.</summary>
        internal static TensorDict Own(td_status status, td_tensordict* pointer)
        {
            Status.Check(status);
            return Own(pointer);
        }

        private static td_tensordict* Create(long[] batchSize, Device? device)
        {
            Argument.NotNull(batchSize, nameof(batchSize));
            td_tensordict* result = null;
            fixed (long* sizes = batchSize)
            {
                Status.Check(Native.td_create(
                    sizes, (nuint)batchSize.Length, TensorDicts.Device.RawOf(device), TensorDicts.Device.IndexOf(device), &result));
            }
            return result;
        }

        private TensorDict Copy(td_clone_flags flags)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_clone(handle.Pointer, flags, &result), result);
        }
    }
}
