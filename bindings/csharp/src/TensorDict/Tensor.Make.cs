using System;
using System.Runtime.InteropServices;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>Ways to make a tensor.</content>
    public sealed unsafe partial class Tensor
    {
        /// <summary>Copies row-major values. Without sizes the tensor has one dimension.</summary>
        public static Tensor FromArray<T>(T[] values, params long[] shape)
            where T : unmanaged
        {
            Argument.NotNull(values, nameof(values));
            return FromSpan<T>(values, Argument.NotNull(shape, nameof(shape)).Length == 0 ? new long[] { values.Length } : shape);
        }

        /// <summary>Copies row-major values. Without sizes there must be one value, and the tensor is a scalar.</summary>
        public static Tensor FromSpan<T>(ReadOnlySpan<T> values, params long[] shape)
            where T : unmanaged
        {
            DType dtype = DTypes.Of<T>();
            ReadOnlySpan<byte> bytes = MemoryMarshal.AsBytes(values);
            Argument.NotNull(shape, nameof(shape));
            td_tensor* result = null;
            fixed (byte* data = bytes)
            fixed (long* sizes = shape)
            {
                Status.Check(Native.td_tensor_from_data(
                    data, (nuint)bytes.Length, sizes, (nuint)shape.Length, (td_dtype)(int)dtype, &result));
            }
            return Own(result);
        }

        /// <summary>A tensor without dimensions.</summary>
        public static Tensor Scalar<T>(T value)
            where T : unmanaged => FromSpan(MemoryMarshal.CreateReadOnlySpan(ref value, 1));

        /// <summary>A tensor of zeros on the CPU.</summary>
        public static Tensor Zeros<T>(params long[] shape)
            where T : unmanaged => Zeros(DTypes.Of<T>(), shape);

        /// <summary>A tensor of zeros.</summary>
        public static Tensor Zeros(DType dtype, long[] shape, Device? device = null)
        {
            Argument.NotNull(shape, nameof(shape));
            td_tensor* result = null;
            fixed (long* sizes = shape)
            {
                Status.Check(Native.td_tensor_zeros(
                    sizes, (nuint)shape.Length, (td_dtype)(int)dtype, Device.RawOf(device), Device.IndexOf(device), &result));
            }
            return Own(result);
        }

        /// <summary>
        /// A tensor over memory of this process, without a copy. The memory is pinned until nothing uses the
        /// tensor, or a view of it, any more. Without sizes the tensor has one dimension.
        /// </summary>
        public static Tensor FromMemory<T>(Memory<T> memory, params long[] shape)
            where T : unmanaged
        {
            DType dtype = DTypes.Of<T>();
            Argument.NotNull(shape, nameof(shape));
            if (shape.Length == 0)
            {
                shape = new long[] { memory.Length };
            }
            // The library trusts the sizes; here is the only place that knows how much memory there is.
            var sizes = new Shape(shape);
            if (sizes.ElementCount != memory.Length)
            {
                throw new ArgumentException(
                    $"shape {sizes} needs {sizes.ElementCount} values, found {memory.Length}", nameof(shape));
            }
            var pin = memory.Pin();
            return FromPointer((IntPtr)pin.Pointer, dtype, shape, release: () => pin.Dispose());
        }

        /// <summary>
        /// A tensor over memory at an address, without a copy. Strides are in elements, null for row-major.
        /// The memory must be as large as sizes and strides say; `release` is called once, on any thread, when
        /// nothing uses it any more, also when this call fails.
        /// </summary>
        public static Tensor FromPointer(
            IntPtr data, DType dtype, long[] shape, long[]? strides = null, Device? device = null, Action? release = null)
        {
            CheckLayout(shape, strides);
            return release == null
                ? Wrap(data, dtype, shape, strides, device, IntPtr.Zero, null)
                : Wrap(data, dtype, shape, strides, device, Trampolines.Release, Trampolines.User(release));
        }

        /// <summary>
        /// A tensor over memory at an address, without a copy and without a call into managed code when the
        /// memory is free again: the flag is set then. For programs that cannot be called from a foreign thread.
        /// </summary>
        public static Tensor FromPointer(
            IntPtr data, DType dtype, long[] shape, ReleaseFlag flag, long[]? strides = null, Device? device = null)
        {
            CheckLayout(shape, strides);
            void* user = Argument.NotNull(flag, nameof(flag)).Lend();
            return Wrap(data, dtype, shape, strides, device, ReleaseFlag.Setter, user);
        }

        /// <summary>Takes over a DLManagedTensorVersioned (DLPack 1), without a copy, whatever the call gives.</summary>
        public static Tensor FromDLPack(IntPtr managed)
        {
            td_tensor* result = null;
            return Own(Native.td_tensor_from_dlpack((DLManagedTensorVersioned*)managed, &result), result);
        }

        /// <summary>Takes over a DLManagedTensor (before DLPack 1), without a copy, whatever the call gives.</summary>
        public static Tensor FromDLPackLegacy(IntPtr managed)
        {
            td_tensor* result = null;
            return Own(Native.td_tensor_from_dlpack_legacy((DLManagedTensor*)managed, &result), result);
        }

        /// <summary>Lends the memory as a DLManagedTensorVersioned (DLPack 1); call its deleter once.</summary>
        public IntPtr ToDLPack()
        {
            using var handle = Handle.Borrow();
            DLManagedTensorVersioned* result = null;
            Status.Check(Native.td_tensor_to_dlpack(handle.Pointer, &result));
            return (IntPtr)result;
        }

        /// <summary>Lends the memory as a DLManagedTensor (before DLPack 1); call its deleter once.</summary>
        public IntPtr ToDLPackLegacy()
        {
            using var handle = Handle.Borrow();
            DLManagedTensor* result = null;
            Status.Check(Native.td_tensor_to_dlpack_legacy(handle.Pointer, &result));
            return (IntPtr)result;
        }

        private static void CheckLayout(long[] shape, long[]? strides)
        {
            Argument.NotNull(shape, nameof(shape));
            if (strides != null && strides.Length != shape.Length)
            {
                throw new ArgumentException($"{shape.Length} sizes need as many strides, found {strides.Length}", nameof(strides));
            }
        }

        private static Tensor Wrap(
            IntPtr data, DType dtype, long[] shape, long[]? strides, Device? device, IntPtr release, void* user)
        {
            td_tensor* result = null;
            Device place = device ?? Device.Cpu;
            fixed (long* sizes = shape)
            fixed (long* steps = strides)
            {
                Status.Check(Native.td_tensor_from_blob(
                    (void*)data, sizes, steps, (nuint)shape.Length, (td_dtype)(int)dtype, place.Raw, place.Index, release, user, &result));
            }
            return Own(result);
        }
    }
}
