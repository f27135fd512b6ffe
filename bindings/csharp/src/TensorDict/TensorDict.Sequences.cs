using System;
using System.Collections.Generic;
using System.Linq;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>Samples of different lengths: padded, without padding again, collated.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// Stacks dictionaries along a new first dimension, each tensor padded to the longest. Only entries that all
        /// of them have are taken. With a key for masks each tensor has one there, true where there was a value.
        /// </summary>
        /// <param name="sources">The samples.</param>
        /// <param name="dim">The dimension of each tensor that is padded.</param>
        /// <param name="value">What is padded with.</param>
        /// <param name="masks">Where masks go.</param>
        /// <param name="left">Whether the padding stands before the data.</param>
        /// <param name="values">What single tensors are padded with.</param>
        public static TensorDict PadSequence(
            IEnumerable<TensorDict> sources,
            long dim = 0,
            double value = 0,
            NestedKey? masks = null,
            bool left = false,
            IReadOnlyDictionary<NestedKey, double>? values = null)
        {
            using var keys = new Utf8Keys(values?.Keys ?? Enumerable.Empty<NestedKey>());
            double[] numbers = values?.Values.ToArray() ?? Array.Empty<double>();
            return MadeOf(sources, (list, count, made) =>
            {
                byte* stack = stackalloc byte[Utf8.StackBytes];
                using var path = new Utf8Path(masks ?? default, stack);
                fixed (double* paddings = numbers)
                {
                    td_pad_sequence_options options = td_pad_sequence_options.Default;
                    options.left = left ? 1 : 0;
                    options.dim = dim;
                    options.value = value;
                    options.masks = path.Pointer;
                    options.masks_len = path.Length;
                    options.keys = keys.Pointer;
                    options.values = paddings;
                    options.keys_len = keys.Length;
                    return Native.td_pad_sequence(list, count, &options, made);
                }
            });
        }

        /// <summary>
        /// Takes the padding away: a lazy stack of the samples, each as long as its mask says, over the same memory.
        /// The entry "masks" has a mask for each tensor, and is not in the result.
        /// </summary>
        public TensorDict UnpadSequence(long dim = 0) => Unpadded(null, null, dim);

        /// <summary>The same by one mask for all tensors: bools, samples × positions.</summary>
        public TensorDict UnpadSequence(Tensor mask, long dim = 0) =>
            Unpadded(Argument.NotNull(mask, nameof(mask)), null, dim);

        /// <summary>The same by a mask for each tensor.</summary>
        public TensorDict UnpadSequence(TensorDict masks, long dim = 0) =>
            Unpadded(null, Argument.NotNull(masks, nameof(masks)), dim);

        private TensorDict Unpadded(Tensor? mask, TensorDict? masks, long dim)
        {
            using var handle = Handle.Borrow();
            using var one = mask == null ? default : mask.Handle.Borrow();
            using var each = DictHandle.BorrowOrNull(masks);
            td_unpad_sequence_options options = td_unpad_sequence_options.Default;
            options.dim = dim;
            options.mask = one.Pointer;
            options.masks = each.Pointer;
            td_tensordict* result = null;
            return Own(Native.td_unpad_sequence(handle.Pointer, &options, &result), result);
        }

        /// <summary>
        /// Makes one dictionary of samples, along a new first dimension: dense if they are alike, else lazy.
        /// </summary>
        /// <param name="samples">The samples.</param>
        /// <param name="pad">Tensors to pad along their first dimension, and with what.</param>
        /// <param name="nested">Tensors that become nested tensors.</param>
        /// <param name="masks">Where masks of the padded ones go, true where there was a value.</param>
        public static TensorDict Collate(
            IEnumerable<TensorDict> samples,
            IReadOnlyDictionary<NestedKey, double>? pad = null,
            IEnumerable<NestedKey>? nested = null,
            NestedKey? masks = null)
        {
            using var padKeys = new Utf8Keys(pad?.Keys ?? Enumerable.Empty<NestedKey>());
            using var nestedKeys = new Utf8Keys(nested ?? Enumerable.Empty<NestedKey>());
            double[] numbers = pad?.Values.ToArray() ?? Array.Empty<double>();
            return MadeOf(samples, (list, count, made) =>
            {
                byte* stack = stackalloc byte[Utf8.StackBytes];
                using var path = new Utf8Path(masks ?? default, stack);
                fixed (double* paddings = numbers)
                {
                    td_collate_options options = td_collate_options.Default;
                    options.pad_keys = padKeys.Pointer;
                    options.pad_values = paddings;
                    options.pad_keys_len = padKeys.Length;
                    options.nested_keys = nestedKeys.Pointer;
                    options.nested_keys_len = nestedKeys.Length;
                    options.masks = path.Pointer;
                    options.masks_len = path.Length;
                    return Native.td_collate(list, count, &options, made);
                }
            });
        }
    }
}
