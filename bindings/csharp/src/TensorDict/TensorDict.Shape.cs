using System;
using System.Collections.Generic;
using System.Linq;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>Operations on the batch dimensions, and on several dictionaries at once.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>The same entries under another batch size, sharing memory. At most one -1 is worked out.</summary>
        public TensorDict View(params long[] sizes)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            fixed (long* numbers = Argument.NotNull(sizes, nameof(sizes)))
            {
                Status.Check(Native.td_view(handle.Pointer, numbers, (nuint)sizes.Length, &result));
            }
            return Own(result);
        }

        /// <summary>As View, but copies where a view is not possible.</summary>
        public TensorDict Reshape(params long[] sizes)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            fixed (long* numbers = Argument.NotNull(sizes, nameof(sizes)))
            {
                Status.Check(Native.td_reshape(handle.Pointer, numbers, (nuint)sizes.Length, &result));
            }
            return Own(result);
        }

        /// <summary>Reorders the batch dimensions, sharing memory.</summary>
        public TensorDict Permute(params long[] order)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            fixed (long* numbers = Argument.NotNull(order, nameof(order)))
            {
                Status.Check(Native.td_permute(handle.Pointer, numbers, (nuint)order.Length, &result));
            }
            return Own(result);
        }

        /// <summary>Swaps two batch dimensions, sharing memory. Negative ones count from the end.</summary>
        public TensorDict Transpose(long dim0, long dim1)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_transpose(handle.Pointer, dim0, dim1, &result), result);
        }

        /// <summary>Removes all batch dimensions of size 1, sharing memory.</summary>
        public TensorDict Squeeze()
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_squeeze_all(handle.Pointer, &result), result);
        }

        /// <summary>Removes a batch dimension if its size is 1, sharing memory.</summary>
        public TensorDict Squeeze(long dim)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_squeeze(handle.Pointer, dim, &result), result);
        }

        /// <summary>Adds a batch dimension of size 1, sharing memory; -1 adds it behind the last.</summary>
        public TensorDict Unsqueeze(long dim)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_unsqueeze(handle.Pointer, dim, &result), result);
        }

        /// <summary>Repeats dimensions of size 1, and adds dimensions in front, without using memory.</summary>
        public TensorDict Expand(params long[] sizes)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            fixed (long* numbers = Argument.NotNull(sizes, nameof(sizes)))
            {
                Status.Check(Native.td_expand(handle.Pointer, numbers, (nuint)sizes.Length, &result));
            }
            return Own(result);
        }

        /// <summary>Takes the dictionary apart along a batch dimension; the parts share memory.</summary>
        public TensorDict[] Unbind(long dim = 0)
        {
            using var handle = Handle.Borrow();
            nuint count = 0;
            td_status status = Native.td_unbind(handle.Pointer, dim, null, 0, &count);
            if (status != td_status.TD_ERR_BUFFER_TOO_SMALL)
            {
                Status.Check(status);
            }
            var raw = new IntPtr[checked((int)count)];
            fixed (IntPtr* results = raw)
            {
                Status.Check(Native.td_unbind(handle.Pointer, dim, (td_tensordict**)results, count, &count));
            }
            return Array.ConvertAll(raw, pointer => Own((td_tensordict*)pointer));
        }

        /// <summary>Joins dictionaries of the same keys and sizes along a new batch dimension, in new memory.</summary>
        public static TensorDict Stack(IEnumerable<TensorDict> sources, long dim = 0) =>
            MadeOf(sources, (list, count, made) => Native.td_stack(list, count, dim, made));

        /// <summary>Joins dictionaries of the same keys along a batch dimension they have, in new memory.</summary>
        public static TensorDict Cat(IEnumerable<TensorDict> sources, long dim = 0) =>
            MadeOf(sources, (list, count, made) => Native.td_cat(list, count, dim, made));
    }
}
