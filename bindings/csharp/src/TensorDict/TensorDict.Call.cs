using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>Any operator of libtorch, by its name.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// Calls an operator of libtorch for every tensor: Call("aten::clamp", 0.0, CallArgument.Named("max", 1.0)).
        /// The tensor is the first argument, unless <see cref="CallArgument.Leaf"/> stands elsewhere. The name may
        /// say an overload, "aten::add.Tensor"; without one it is the first that takes the arguments, without a
        /// namespace one of "aten". The operator must give one tensor for each, whose sizes begin with the batch
        /// size; see <see cref="CallMany"/>.
        /// </summary>
        public TensorDict Call(string name, params CallArgument[] arguments)
        {
            TensorDict[] results = CallMany(name, arguments);
            if (results.Length != 1)
            {
                Array.ForEach(results, result => result.Dispose());
                throw new ArgumentException($"{name} gives {results.Length} tensors: use CallMany", nameof(name));
            }
            return results[0];
        }

        /// <summary>
        /// As Call, for an operator that gives several tensors for each: as many dictionaries. The batch size is
        /// that of the results and of all dictionaries in them, if it changes.
        /// </summary>
        public TensorDict[] CallMany(string name, CallArgument[] arguments, long[]? batchSize = null)
        {
            if (Writes(name))
            {
                throw new ArgumentException($"{name} writes into the tensors: use CallInPlace", nameof(name));
            }
            return CallOperator(name, arguments, batchSize);
        }

        /// <summary>
        /// Calls an operator of libtorch that writes into its tensor, such as "aten::mul_", and returns this
        /// dictionary. When it fails for one of the tensors, nothing has been written. Allowed when locked.
        /// </summary>
        public TensorDict CallInPlace(string name, params CallArgument[] arguments)
        {
            if (!Writes(name))
            {
                throw new ArgumentException($"{name} does not write into the tensors: use Call", nameof(name));
            }
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var text = new Utf8Text(name, nameof(name), stack);
            using var list = new RawCallArguments(Argument.NotNull(arguments, nameof(arguments)));
            using var handle = Handle.Borrow();
            fixed (td_call_argument* items = list.Items)
            {
                Status.Check(Native.td_call_inplace(
                    handle.Pointer, text.Pointer, items, (nuint)list.Items.Length));
            }
            return this;
        }

        // The name of an operator that writes into its tensor ends so.
        private static bool Writes(string name)
        {
            string bare = Argument.NotNull(name, nameof(name));
            bare = bare.Substring(bare.LastIndexOf(':') + 1);
            int dot = bare.IndexOf('.');
            return (dot < 0 ? bare : bare.Substring(0, dot)).EndsWith('_');
        }

        private TensorDict[] CallOperator(string name, CallArgument[] arguments, long[]? batchSize)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var text = new Utf8Text(name, nameof(name), stack);
            using var list = new RawCallArguments(Argument.NotNull(arguments, nameof(arguments)));
            using var handle = Handle.Borrow();
            td_call_options options = td_call_options.Default;
            nuint count = 0;
            fixed (td_call_argument* items = list.Items)
            fixed (long* sizes = batchSize)
            {
                options.has_batch_size = batchSize == null ? 0 : 1;
                options.batch_size = sizes;
                options.batch_dims = (nuint)(batchSize?.Length ?? 0);
                var length = (nuint)list.Items.Length;
                Status.Check(Native.td_call(handle.Pointer, text.Pointer, items, length, &options, null, 0, &count));
                var raw = new IntPtr[checked((int)count)];
                fixed (IntPtr* results = raw)
                {
                    Status.Check(Native.td_call(
                        handle.Pointer, text.Pointer, items, length, &options, (td_tensordict**)results, count, &count));
                }
                return Array.ConvertAll(raw, pointer => Own((td_tensordict*)pointer));
            }
        }
    }
}
