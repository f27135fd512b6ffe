using System;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>
    /// A tensor. The object is a cheap reference; what it refers to is shared and counted. Dispose gives
    /// the reference back early, otherwise the garbage collector does.
    /// </summary>
    public sealed unsafe partial class Tensor : Entry
    {
        private Tensor(td_tensor* pointer)
        {
            Handle = new TensorHandle(pointer);
            TensorScope.Enter(this);
        }

        /// <summary>The element type.</summary>
        public DType DType
        {
            get
            {
                using var handle = Handle.Borrow();
                td_dtype dtype;
                Status.Check(Native.td_tensor_dtype(handle.Pointer, &dtype));
                return (DType)(int)dtype;
            }
        }

        /// <summary>Where it lies.</summary>
        public Device Device
        {
            get
            {
                using var handle = Handle.Borrow();
                td_device_type type;
                int index;
                Status.Check(Native.td_tensor_device(handle.Pointer, &type, &index));
                return new Device((DeviceType)(int)type, index);
            }
        }

        /// <summary>The sizes.</summary>
        public Shape Shape
        {
            get
            {
                using var handle = Handle.Borrow();
                td_tensor* tensor = handle.Pointer;
                return Shape.Own(Sizes.Read((sizes, room, dims) => Native.td_tensor_sizes(tensor, sizes, room, dims)));
            }
        }

        /// <summary>The strides, in elements.</summary>
        public Shape Strides
        {
            get
            {
                using var handle = Handle.Borrow();
                td_tensor* tensor = handle.Pointer;
                return Shape.Own(Sizes.Read((sizes, room, dims) => Native.td_tensor_strides(tensor, sizes, room, dims)));
            }
        }

        /// <summary>The number of elements.</summary>
        public long ElementCount => Shape.ElementCount;

        /// <summary>The bytes of all elements.</summary>
        public long ByteCount
        {
            get
            {
                using var handle = Handle.Borrow();
                return (long)Bytes(handle.Pointer);
            }
        }

        /// <summary>Whether the elements lie densely in row-major order.</summary>
        public bool IsContiguous
        {
            get
            {
                using var handle = Handle.Borrow();
                int result;
                Status.Check(Native.td_tensor_is_contiguous(handle.Pointer, &result));
                return result != 0;
            }
        }

        /// <summary>Whether nobody else holds this tensor or its memory: no other object, dictionary or view.</summary>
        public bool IsUniquelyOwned
        {
            get
            {
                using var handle = Handle.Borrow();
                int result;
                Status.Check(Native.td_tensor_is_uniquely_owned(handle.Pointer, &result));
                return result != 0;
            }
        }

        /// <summary>Whether it, or what it is a view of, lies in a file or nameless memory that the library has mapped.</summary>
        public bool IsMemmap
        {
            get
            {
                using var handle = Handle.Borrow();
                int result;
                Status.Check(Native.td_tensor_is_memmap(handle.Pointer, &result));
                return result != 0;
            }
        }

        /// <summary>Whether operations on this tensor are recorded for gradients.</summary>
        public bool RequiresGrad
        {
            get
            {
                using var handle = Handle.Borrow();
                int result;
                Status.Check(Native.td_tensor_requires_grad(handle.Pointer, &result));
                return result != 0;
            }

            set
            {
                using var handle = Handle.Borrow();
                Status.Check(Native.td_tensor_set_requires_grad(handle.Pointer, value ? 1 : 0));
            }
        }

        /// <summary>
        /// The address of the first element, valid while this object is not disposed; zero without elements.
        /// <see cref="View{T}"/> is the safe way to the memory.
        /// </summary>
        public IntPtr DataPointer
        {
            get
            {
                using var handle = Handle.Borrow();
                void* result;
                Status.Check(Native.td_tensor_data(handle.Pointer, &result));
                return (IntPtr)result;
            }
        }

        internal TensorHandle Handle { get; }

        internal override bool IsDisposed => Handle.IsDisposed;

        /// <summary>Reads a part; integers, slices, new dimensions and the ellipsis share memory.</summary>
        /// <remarks>Written to, it overwrites the part with a tensor, broadcast and converted.</remarks>
        // C# calls an indexer "Item" unless told otherwise; that name belongs to Item<T>().
        [IndexerName("Part")]
        public Tensor this[params TensorIndex[] index]
        {
            get => Index(index);
            set => SetAt(value, index);
        }

#if NET
        /// <summary>Reads or writes a part, as with an array of items.</summary>
        [IndexerName("Part")]
        public Tensor this[params ReadOnlySpan<TensorIndex> index]
        {
            get => Index(index);
            set => SetAt(value, index);
        }
#endif

        /// <summary>Reads a part; integers, slices, new dimensions and the ellipsis share memory.</summary>
        public Tensor Index(ReadOnlySpan<TensorIndex> index)
        {
            td_index_item* stack = stackalloc td_index_item[IndexItems.Room(index)];
            using var items = new IndexItems(index, stack);
            using var handle = Handle.Borrow();
            td_tensor* result = null;
            return Own(Native.td_tensor_index(handle.Pointer, items.Pointer, items.Length, &result), result);
        }

        /// <summary>Overwrites a part with a tensor, broadcast and converted.</summary>
        public void SetAt(Tensor value, ReadOnlySpan<TensorIndex> index)
        {
            td_index_item* stack = stackalloc td_index_item[IndexItems.Room(index)];
            using var items = new IndexItems(index, stack);
            using var handle = Handle.Borrow();
            using var source = Argument.NotNull(value, nameof(value)).Handle.Borrow();
            Status.Check(Native.td_tensor_set_at(handle.Pointer, items.Pointer, items.Length, source.Pointer));
        }

        /// <summary>A second reference to the same tensor.</summary>
        public Tensor Share()
        {
            using var handle = Handle.Borrow();
            td_tensor* result = null;
            return Own(Native.td_tensor_dup(handle.Pointer, &result), result);
        }

        /// <summary>A tensor of the same values in memory of its own.</summary>
        public Tensor Clone()
        {
            using var handle = Handle.Borrow();
            td_tensor* result = null;
            return Own(Native.td_tensor_clone(handle.Pointer, &result), result);
        }

        /// <summary>The same values lying densely: the same tensor when they already do, else a copy.</summary>
        public Tensor Contiguous()
        {
            using var handle = Handle.Borrow();
            td_tensor* result = null;
            return Own(Native.td_tensor_contiguous(handle.Pointer, &result), result);
        }

        /// <summary>Converts to a dtype; shares memory when it is that already.</summary>
        public Tensor To(DType dtype) => To(dtype, null);

        /// <summary>Moves to a device; shares memory when it is there already.</summary>
        public Tensor To(Device device) => To(DType.Other, device);

        /// <summary>Converts and moves; DType.Other and null keep what there is.</summary>
        public Tensor To(DType dtype, Device? device)
        {
            using var handle = Handle.Borrow();
            td_tensor* result = null;
            return Own(Native.td_tensor_to(
                handle.Pointer, (td_dtype)(int)dtype, Device.RawOf(device), Device.IndexOf(device), &result), result);
        }

        /// <summary>Whether both have the same dtype, device, sizes and values. NaN equals nothing.</summary>
        public bool EqualTo([NotNullWhen(true)] Tensor? other)
        {
            if (other is null)
            {
                return false;
            }
            using var handle = Handle.Borrow();
            using var second = other.Handle.Borrow();
            int result;
            Status.Check(Native.td_tensor_equal(handle.Pointer, second.Pointer, &result));
            return result != 0;
        }

        /// <summary>The line that a dictionary prints for this tensor.</summary>
        public override string ToString()
        {
            using var handle = Handle.Borrow();
            td_tensor* tensor = handle.Pointer;
            return Utf8.Read((text, room, length) => Native.td_tensor_to_string(tensor, text, room, length));
        }

        /// <inheritdoc/>
        public override void Dispose() => Handle.Dispose();

        /// <summary>Takes over a handle.</summary>
        internal static Tensor Own(td_tensor* pointer) => new Tensor(pointer);

        /// <summary>What a call has made, unless it failed.</summary>
        internal static Tensor Own(td_status status, td_tensor* pointer)
        {
            Status.Check(status);
            return Own(pointer);
        }

        private static nuint Bytes(td_tensor* tensor)
        {
            nuint result;
            Status.Check(Native.td_tensor_nbytes(tensor, &result));
            return result;
        }
    }
}
