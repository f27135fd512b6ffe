using System;
using System.Runtime.InteropServices;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>Ways to the values.</content>
    public sealed unsafe partial class Tensor
    {
        /// <summary>The values in row-major order, from any device.</summary>
        public T[] ToArray<T>()
            where T : unmanaged
        {
            DTypes.Require<T>(DType, nameof(ToArray));
            var values = new T[checked((int)ElementCount)];
            CopyTo<T>(values);
            return values;
        }

        /// <summary>Copies the values in row-major order, from any device. The number of values must fit.</summary>
        public void CopyTo<T>(Span<T> target)
            where T : unmanaged
        {
            DTypes.Require<T>(DType, nameof(CopyTo));
            using var handle = Handle.Borrow();
            Span<byte> bytes = MemoryMarshal.AsBytes(target);
            fixed (byte* data = bytes)
            {
                Status.Check(Native.td_tensor_copy_to(handle.Pointer, data, (nuint)bytes.Length));
            }
        }

        /// <summary>Overwrites the values in row-major order, on any device. The number of values must fit.</summary>
        public void CopyFrom<T>(ReadOnlySpan<T> source)
            where T : unmanaged
        {
            DTypes.Require<T>(DType, nameof(CopyFrom));
            using var handle = Handle.Borrow();
            ReadOnlySpan<byte> bytes = MemoryMarshal.AsBytes(source);
            fixed (byte* data = bytes)
            {
                Status.Check(Native.td_tensor_copy_from(handle.Pointer, data, (nuint)bytes.Length));
            }
        }

        /// <summary>Overwrites the values in row-major order, on any device. The number of values must fit.</summary>
        public void CopyFrom<T>(T[] source)
            where T : unmanaged => CopyFrom(new ReadOnlySpan<T>(source));

        /// <summary>Overwrites the values with those of another tensor, broadcast and converted to this dtype.</summary>
        public void CopyFrom(Tensor source)
        {
            using var handle = Handle.Borrow();
            using var second = Argument.NotNull(source, nameof(source)).Handle.Borrow();
            Status.Check(Native.td_tensor_copy(handle.Pointer, second.Pointer));
        }

        /// <summary>The bytes of the values in row-major order, whatever their dtype.</summary>
        public byte[] ToBytes()
        {
            using var handle = Handle.Borrow();
            var bytes = new byte[checked((int)Bytes(handle.Pointer))];
            fixed (byte* data = bytes)
            {
                Status.Check(Native.td_tensor_copy_to(handle.Pointer, data, (nuint)bytes.Length));
            }
            return bytes;
        }

        /// <summary>The value of a tensor of one element.</summary>
        public T Item<T>()
            where T : unmanaged
        {
            T value = default;
            CopyTo(MemoryMarshal.CreateSpan(ref value, 1));
            return value;
        }

        /// <summary>
        /// The values where they lie, without a copy, until the view is disposed. The tensor must lie densely
        /// on the CPU.
        /// </summary>
        public TensorView<T> View<T>()
            where T : unmanaged
        {
            DTypes.Require<T>(DType, nameof(View));
            Device device = Device;
            if (device.Type != DeviceType.Cpu)
            {
                throw new InvalidOperationException($"View needs memory of the CPU, the tensor is on {device}");
            }
            if (!IsContiguous)
            {
                throw new InvalidOperationException($"View needs values that lie densely, the strides are {Strides} for {Shape}");
            }
            int count = checked((int)ElementCount);
            TensorHandle handle = Handle;
            td_tensor* tensor = handle.Hold();
            void* data = null;
            td_status status = Native.td_tensor_data(tensor, &data);
            if (status != td_status.TD_OK)
            {
                handle.Drop();
            }
            Status.Check(status);
            return new TensorView<T>(handle, new Span<T>(data, count));
        }
    }

    /// <summary>Values of a tensor where they lie. While it is not disposed the tensor stays.</summary>
    public ref struct TensorView<T>
        where T : unmanaged
    {
        private TensorHandle? handle;

        internal TensorView(TensorHandle handle, Span<T> span)
        {
            this.handle = handle;
            Span = span;
        }

        /// <summary>The values in row-major order.</summary>
        public Span<T> Span { get; private set; }

        /// <summary>The number of values.</summary>
        public int Length => Span.Length;

        /// <summary>One value, by its place in row-major order.</summary>
        public ref T this[int position] => ref Span[position];

        /// <summary>Lets the tensor go; the span is empty from here on.</summary>
        public void Dispose()
        {
            Span = default;
            handle?.Drop();
            handle = null;
        }
    }
}
