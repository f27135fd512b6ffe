using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>
    /// A generator of random numbers: the same seed gives the same numbers as in Python, with the same version of
    /// libtorch.
    /// </summary>
    public sealed unsafe class Generator : IDisposable
    {
        /// <summary>A generator whose numbers follow from a seed.</summary>
        public Generator(ulong seed)
        {
            td_generator* result = null;
            Status.Check(Native.td_generator_create(seed, &result));
            Handle = new GeneratorHandle(result);
        }

        internal GeneratorHandle Handle { get; }

        /// <summary>Its state, for a checkpoint.</summary>
        public Tensor GetState()
        {
            using var own = Handle.Borrow();
            td_tensor* result = null;
            return Tensor.Own(Native.td_generator_state(own.Pointer, &result), result);
        }

        /// <summary>Goes on where another generator was.</summary>
        public void LoadState(Tensor state)
        {
            using var own = Handle.Borrow();
            using var source = Argument.NotNull(state, nameof(state)).Handle.Borrow();
            Status.Check(Native.td_generator_load_state(own.Pointer, source.Pointer));
        }

        /// <summary>Gives the generator back.</summary>
        public void Dispose() => Handle.Dispose();
    }

    /// <content>Random numbers, and numbers in order.</content>
    public sealed unsafe partial class Tensor
    {
        /// <summary>The whole numbers below n in random order; without a generator by libtorch's own.</summary>
        public static Tensor RandPerm(long n, Generator? generator = null)
        {
            using var source = generator == null ? default : generator.Handle.Borrow();
            td_tensor* result = null;
            return Own(Native.td_tensor_randperm(n, source.Pointer, &result), result);
        }

        /// <summary>Random whole numbers from low to below high.</summary>
        public static Tensor RandInt(long low, long high, long[] shape, DType dtype = DType.Int64, Generator? generator = null)
        {
            Argument.NotNull(shape, nameof(shape));
            using var source = generator == null ? default : generator.Handle.Borrow();
            td_tensor* result = null;
            fixed (long* sizes = shape)
            {
                Status.Check(Native.td_tensor_randint(
                    low, high, sizes, (nuint)shape.Length, (td_dtype)(int)dtype, source.Pointer, &result));
            }
            return Own(result);
        }

        /// <summary>The numbers start, start + step, … before end.</summary>
        public static Tensor Arange(long start, long end, long step = 1, DType dtype = DType.Int64)
        {
            td_tensor* result = null;
            return Own(Native.td_tensor_arange(start, end, step, (td_dtype)(int)dtype, &result), result);
        }
    }
}
