using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>What <see cref="TensorDict.Like"/> and <see cref="TensorDict.New"/> fill tensors with.</summary>
    public enum Filling
    {
        /// <summary>Whatever the memory holds.</summary>
        Empty = 0,

        /// <summary>0.</summary>
        Zeros = 1,

        /// <summary>1.</summary>
        Ones = 2,

        /// <summary><see cref="FillOptions.Value"/>.</summary>
        Value = 3,

        /// <summary>Evenly from 0 to 1.</summary>
        Rand = 4,

        /// <summary>Normally, around 0 with deviation 1.</summary>
        Randn = 5,
    }

    /// <summary>How <see cref="TensorDict.Like"/> and <see cref="TensorDict.New"/> make tensors.</summary>
    public sealed record FillOptions
    {
        /// <summary>What <see cref="Filling.Value"/> fills with.</summary>
        public double Value { get; set; }

        /// <summary>The dtype of all tensors; null: each keeps its own.</summary>
        public DType? DType { get; set; }

        /// <summary>The device of all tensors; null: each keeps its own.</summary>
        public Device? Device { get; set; }

        internal td_like_options ToRaw()
        {
            td_like_options raw = td_like_options.Default;
            raw.dtype = DType is DType dtype ? (td_dtype)(int)dtype : td_dtype.TD_DTYPE_OTHER;
            raw.device_type = TensorDicts.Device.RawOf(Device);
            raw.device_index = TensorDicts.Device.IndexOf(Device);
            raw.value = Value;
            return raw;
        }
    }

    /// <summary>How <see cref="TensorDict.Difference"/> compares.</summary>
    public sealed record CloseOptions
    {
        /// <summary>Allowed difference as a part of the other value; null: what suits each dtype.</summary>
        public double? Relative { get; set; }

        /// <summary>Allowed difference on top of that; null: what suits each dtype, or 0 beside a relative one.</summary>
        public double? Absolute { get; set; }

        /// <summary>NaN is not close to NaN.</summary>
        public bool NanDiffers { get; set; }

        /// <summary>Only keys are compared that both have.</summary>
        public bool CommonKeys { get; set; }
    }

    /// <content>The same structure with other values, and how near two dictionaries are.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>The same structure and batch size with other values, in new memory; locked if this is.</summary>
        public TensorDict Like(Filling filling, FillOptions? options = null)
        {
            td_like_options raw = (options ?? new FillOptions()).ToRaw();
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_like(handle.Pointer, (td_like_kind)(int)filling, &raw, &result), result);
        }

        /// <summary>The same structure, filled with 0.</summary>
        public TensorDict ZerosLike() => Like(Filling.Zeros);

        /// <summary>The same structure, filled with 1.</summary>
        public TensorDict OnesLike() => Like(Filling.Ones);

        /// <summary>
        /// The same structure under another batch size with other values; what lies behind the batch dimensions
        /// stays.
        /// </summary>
        public TensorDict New(Filling filling, long[] sizes, FillOptions? options = null)
        {
            td_like_options raw = (options ?? new FillOptions()).ToRaw();
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            fixed (long* numbers = Argument.NotNull(sizes, nameof(sizes)))
            {
                Status.Check(Native.td_like_sized(
                    handle.Pointer, (td_like_kind)(int)filling, numbers, (nuint)sizes.Length, &raw, &result));
            }
            return Own(result);
        }

        /// <summary>
        /// Whether keys, batch sizes, shapes, dtypes and devices are those of another dictionary, and values nearly
        /// so.
        /// </summary>
        public bool AllClose(TensorDict other, CloseOptions? options = null) => Difference(other, options) == null;

        /// <summary>Where two dictionaries differ first by more than is allowed; null if they do not.</summary>
        public string? Difference(TensorDict other, CloseOptions? options = null)
        {
            options ??= new CloseOptions();
            td_allclose_options raw = td_allclose_options.Default;
            raw.has_tolerance = options.Relative != null || options.Absolute != null ? 1 : 0;
            raw.relative = options.Relative ?? 0;
            raw.absolute = options.Absolute ?? 0;
            raw.nan_differs = options.NanDiffers ? 1 : 0;
            raw.common_keys = options.CommonKeys ? 1 : 0;
            using var handle = Handle.Borrow();
            using var source = Argument.NotNull(other, nameof(other)).Handle.Borrow();
            td_tensordict* one = handle.Pointer;
            td_tensordict* two = source.Pointer;
            int close = 0;
            string text = Utf8.Read((buffer, room, length) =>
            {
                td_allclose_options given = raw;
                int found = 0;
                td_status status = Native.td_allclose(one, two, &given, &found, buffer, room, length);
                close = found;
                return status;
            });
            return close != 0 ? null : text;
        }
    }
}
