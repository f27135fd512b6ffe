using System;
using System.Runtime.InteropServices;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>A function over every tensor.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// Makes a dictionary of what a function returns for each tensor, in the order of the keys; null drops
        /// the entry. What the function throws ends the walk and comes back as it is.
        /// </summary>
        public TensorDict Apply(Func<Tensor, Tensor?> function, ApplyOptions? options = null)
        {
            Argument.NotNull(function, nameof(function));
            return Apply((_, tensor) => function(tensor), options);
        }

        /// <summary>As with a function of the tensor alone, but it gets the full key, too.</summary>
        public TensorDict Apply(Func<NestedKey, Tensor, Tensor?> function, ApplyOptions? options = null)
        {
            td_apply_options raw = (options ?? new ApplyOptions()).ToRaw();
            var context = new ApplyContext(Argument.NotNull(function, nameof(function)));
            GCHandle user = GCHandle.Alloc(context);
            try
            {
                using var handle = Handle.Borrow();
                td_tensordict* result = null;
                td_status status = Native.td_apply(
                    handle.Pointer, &raw, Trampolines.Apply, (void*)GCHandle.ToIntPtr(user), &result);
                context.Failure?.Throw();
                Status.Check(status);
                return Own(result);
            }
            finally
            {
                user.Free();
            }
        }
    }
}
