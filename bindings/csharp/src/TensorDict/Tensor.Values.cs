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
            var values = new T[CountFor(ElementCount, nameof(ToArray), "an array", "values")];
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
            var bytes = new byte[CountFor((long)Bytes(handle.Pointer), nameof(ToBytes), "an array", "bytes")];
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
            int count = CountFor(ElementCount, nameof(View), "a span", "values");
            using var handle = Handle.Borrow();
            td_tensor* lease = null;
            void* data = null;
            Status.Check(Native.td_tensor_data(handle.Pointer, &data));
            Status.Check(Native.td_tensor_dup(handle.Pointer, &lease));
            return new TensorView<T>(lease, new Span<T>(data, count));
        }

        // What .NET counts in an int, said before an allocation or a conversion fails.
        private static int CountFor(long count, string what, string holder, string unit) => count <= int.MaxValue
            ? (int)count
            : throw new InvalidOperationException(
                $"{what} gives {holder} of at most {int.MaxValue} {unit}, the tensor has {count}; take parts of it by index");
    }

    /// <summary>Values of a tensor where they lie. While it is not disposed the tensor stays.</summary>
    public unsafe ref struct TensorView<T>
        where T : unmanaged
    {
        // A handle of its own. The library passes over one that was freed, so copies of the view do no harm.
        private td_tensor* lease;

        internal TensorView(td_tensor* lease, Span<T> span)
        {
            this.lease = lease;
            Span = span;
        }

        /// <summary>The values in row-major order.</summary>
        public Span<T> Span { get; private set; }

        /// <summary>The number of values.</summary>
        public int Length => Span.Length;

        /// <summary>One value, by its place in row-major order.</summary>
        public ref T this[int position] => ref Span[position];

        /// <summary>Lets the tensor go; the span is empty from here on. For all copies of the view, too.</summary>
        public void Dispose()
        {
            Span = default;
            TensorLease.End(lease);
            lease = null;
        }
    }
}
