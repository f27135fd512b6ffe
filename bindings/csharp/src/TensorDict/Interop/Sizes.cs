using System;

namespace TensorDicts.Interop
{
    /// <summary>Reads lists of numbers that a call writes into a buffer of the caller.</summary>
    internal static unsafe class Sizes
    {
        internal delegate td_status Writer(long* sizes, nuint capacity, nuint* dims);

        internal static long[] Read(Writer write)
        {
            const int guess = 16;
            long* stack = stackalloc long[guess];
            nuint dims = 0;
            td_status status = write(stack, guess, &dims);
            if (status == td_status.TD_ERR_BUFFER_TOO_SMALL)
            {
                long[] heap = new long[checked((int)dims)];
                fixed (long* sizes = heap)
                {
                    Status.Check(write(sizes, dims, &dims));
                }
                return heap;
            }
            Status.Check(status);
            return new ReadOnlySpan<long>(stack, (int)dims).ToArray();
        }
    }
}
