using System;
using System.Collections.Generic;
using System.Linq;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>Kinds of dtypes: which tensors get another dtype.</summary>
    [Flags]
    public enum DTypeKinds
    {
        /// <summary>All dtypes.</summary>
        All = 0,

        /// <summary>Floating-point dtypes.</summary>
        Floating = 1,

        /// <summary>Complex dtypes.</summary>
        Complex = 2,

        /// <summary>Integer dtypes, without bool.</summary>
        Integer = 4,

        /// <summary>Bool.</summary>
        Bool = 8,
    }

    /// <summary>How <see cref="TensorDict.To(ToOptions)"/> works: what you do not set stays the same.</summary>
    public sealed record ToOptions
    {
        /// <summary>The dtype of all tensors.</summary>
        public DType? DType { get; set; }

        /// <summary>Where they lie, and where what is set later moves.</summary>
        public Device? Device { get; set; }

        /// <summary>Its device, and the dtype that all its tensors have, where nothing else is said.</summary>
        public TensorDict? Like { get; set; }

        /// <summary>Each tensor becomes as the one of its key in <see cref="Like"/>; meta tensors give only a dtype.</summary>
        public bool EachLike { get; set; }

        /// <summary>Goes through pinned memory; without another device that is where they stay.</summary>
        public bool Pin { get; set; }

        /// <summary>Does not wait for the copies.</summary>
        public bool NonBlocking { get; set; }

        /// <summary>Only tensors of these dtypes get another dtype.</summary>
        public DTypeKinds Kinds { get; set; }

        /// <summary>Only these entries, and what is below them, are converted and moved; null: all.</summary>
        public IEnumerable<NestedKey>? Keys { get; set; }

        internal unsafe td_to_options ToRaw(Utf8Keys keys)
        {
            td_to_options raw = td_to_options.Default;
            raw.non_blocking = NonBlocking ? 1 : 0;
            raw.pin_memory = Pin ? 1 : 0;
            raw.each_like = EachLike ? 1 : 0;
            raw.kinds = (td_to_kinds)(uint)Kinds;
            raw.keys = keys.Pointer;
            raw.keys_len = keys.Length;
            return raw;
        }
    }

    /// <content>Other dtypes and devices, and what is asked of all tensors together.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>The dtype that all tensors have; null when they differ or there are none.</summary>
        public DType? CommonDType
        {
            get
            {
                var dtype = (DType)(int)Measure(td_measure_kind.TD_MEASURE_DTYPE);
                return dtype == DType.Other ? (DType?)null : dtype;
            }
        }

        /// <summary>Whether all tensors are of a floating dtype.</summary>
        public bool IsFloatingPoint => Measure(td_measure_kind.TD_MEASURE_IS_FLOATING_POINT) != 0;

        /// <summary>Whether all tensors lie in pinned memory.</summary>
        public bool IsPinned => Measure(td_measure_kind.TD_MEASURE_IS_PINNED) != 0;

        /// <summary>Whether the device of the dictionary is the CPU; false when it has none.</summary>
        public bool IsCpu => Device?.Type == DeviceType.Cpu;

        /// <summary>Whether the device of the dictionary is one of CUDA; false when it has none.</summary>
        public bool IsCuda => Device?.Type == DeviceType.Cuda;

        /// <summary>Of another dtype, on another device, or both, in one go.</summary>
        public TensorDict To(ToOptions options) => Converted(options);

        /// <summary>As <see cref="To(ToOptions)"/>, but the tensors of this dictionary itself are replaced.</summary>
        public void ToInPlace(ToOptions options)
        {
            using var keys = new Utf8Keys(Argument.NotNull(options, nameof(options)).Keys ?? Enumerable.Empty<NestedKey>());
            td_to_options raw = options.ToRaw(keys);
            using var handle = Handle.BorrowToChange();
            using var like = DictHandle.BorrowOrNull(options.Like);
            Status.Check(Native.td_to_inplace(
                handle.Pointer,
                like.Pointer,
                (td_dtype)(int)(options.DType ?? DType.Other),
                TensorDicts.Device.RawOf(options.Device),
                TensorDicts.Device.IndexOf(options.Device),
                &raw));
        }

        /// <summary>In pinned memory, from which copies to an accelerator are quicker. Needs one.</summary>
        public TensorDict PinMemory() => To(new ToOptions { Pin = true });

        /// <summary>
        /// Sets the device, here and in nested dictionaries, to the one that all tensors lie on; to none if they
        /// do not agree. Nothing moves.
        /// </summary>
        public void AutoDevice()
        {
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_auto_device(handle.Pointer));
        }

        /// <summary>
        /// Tells the allocator that work on a stream of an accelerator uses all tensors. The stream is
        /// libtorch's number, of CUDA also the address of a cudaStream_t.
        /// </summary>
        public void RecordStream(Device device, long stream)
        {
            using var handle = Handle.Borrow();
            Status.Check(Native.td_record_stream(handle.Pointer, device.Raw, device.Index, stream));
        }

        /// <summary>How many numbers all tensors hold. Without duplicates one that stands in two places counts once.</summary>
        public long ParameterCount(bool countDuplicates = true) => Measure(
            countDuplicates ? td_measure_kind.TD_MEASURE_ELEMENTS : td_measure_kind.TD_MEASURE_ELEMENTS_ONCE);

        /// <summary>The bytes of all tensors and of their gradients.</summary>
        public long Bytes(bool countDuplicates = true) => Measure(
            countDuplicates ? td_measure_kind.TD_MEASURE_BYTES : td_measure_kind.TD_MEASURE_BYTES_ONCE);

        /// <summary>
        /// The address of each tensor, in the order of the nested keys, or of the memory it is a view of.
        /// </summary>
        public long[] DataPointers(bool storage = false)
        {
            using var handle = Handle.Borrow();
            td_tensordict* td = handle.Pointer;
            return Sizes.Read((addresses, room, count) =>
                Native.td_data_pointers(
                    td, storage ? td_data_pointers_flags.TD_DATA_POINTERS_STORAGE : 0, addresses, room, count));
        }

        private long Measure(td_measure_kind kind)
        {
            using var handle = Handle.Borrow();
            long result;
            Status.Check(Native.td_measure(handle.Pointer, kind, &result));
            return result;
        }

        private TensorDict Converted(ToOptions options)
        {
            using var keys = new Utf8Keys(Argument.NotNull(options, nameof(options)).Keys ?? Enumerable.Empty<NestedKey>());
            td_to_options raw = options.ToRaw(keys);
            using var handle = Handle.Borrow();
            using var like = DictHandle.BorrowOrNull(options.Like);
            td_tensordict* result = null;
            return Own(Native.td_to(
                handle.Pointer,
                like.Pointer,
                (td_dtype)(int)(options.DType ?? DType.Other),
                TensorDicts.Device.RawOf(options.Device),
                TensorDicts.Device.IndexOf(options.Device),
                &raw,
                &result), result);
        }
    }
}
