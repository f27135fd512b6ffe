using System;
using System.Numerics;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>The element type of a tensor; the numbers are those of the C interface.</summary>
    public enum DType
    {
        /// <summary>A dtype of libtorch that has no number here.</summary>
        Other = 0,

        /// <summary>byte</summary>
        UInt8 = 1,

        /// <summary>sbyte</summary>
        Int8 = 2,

        /// <summary>short</summary>
        Int16 = 3,

        /// <summary>int</summary>
        Int32 = 4,

        /// <summary>long</summary>
        Int64 = 5,

        /// <summary>IEEE half; System.Half where the runtime has it</summary>
        Float16 = 6,

        /// <summary>float</summary>
        Float32 = 7,

        /// <summary>double</summary>
        Float64 = 8,

        /// <summary>Two halves.</summary>
        Complex32 = 9,

        /// <summary>Two floats.</summary>
        Complex64 = 10,

        /// <summary>System.Numerics.Complex</summary>
        Complex128 = 11,

        /// <summary>bool</summary>
        Bool = 12,

        /// <summary>bfloat16</summary>
        BFloat16 = 13,

        /// <summary>ushort; libtorch 2.3 and newer</summary>
        UInt16 = 14,

        /// <summary>uint; libtorch 2.3 and newer</summary>
        UInt32 = 15,

        /// <summary>ulong; libtorch 2.3 and newer</summary>
        UInt64 = 16,
    }

    /// <summary>What can be asked of a dtype.</summary>
    public static unsafe class DTypes
    {
        /// <summary>The name as torch prints it, such as "torch.float32"; "" for a number that is not a dtype.</summary>
        public static string TorchName(this DType dtype) => Utf8.Read(Native.td_dtype_name((td_dtype)(int)dtype));

        /// <summary>Bytes of one element; 0 for a number that is not a dtype.</summary>
        public static int ByteSize(this DType dtype) => checked((int)Native.td_dtype_size((td_dtype)(int)dtype));

        /// <summary>The dtype whose elements are of a C# type.</summary>
        public static DType Of<T>()
            where T : unmanaged
        {
            if (typeof(T) == typeof(float))
            {
                return DType.Float32;
            }
            if (typeof(T) == typeof(double))
            {
                return DType.Float64;
            }
            if (typeof(T) == typeof(long))
            {
                return DType.Int64;
            }
            if (typeof(T) == typeof(int))
            {
                return DType.Int32;
            }
            if (typeof(T) == typeof(byte))
            {
                return DType.UInt8;
            }
            if (typeof(T) == typeof(bool))
            {
                return DType.Bool;
            }
            if (typeof(T) == typeof(short))
            {
                return DType.Int16;
            }
            if (typeof(T) == typeof(sbyte))
            {
                return DType.Int8;
            }
            if (typeof(T) == typeof(Complex))
            {
                return DType.Complex128;
            }
            if (typeof(T) == typeof(ushort))
            {
                return DType.UInt16;
            }
            if (typeof(T) == typeof(uint))
            {
                return DType.UInt32;
            }
            if (typeof(T) == typeof(ulong))
            {
                return DType.UInt64;
            }
#if NET
            if (typeof(T) == typeof(Half))
            {
                return DType.Float16;
            }
#endif
            throw new ArgumentException($"no dtype has elements of the type {typeof(T)}", nameof(T));
        }

        /// <summary>Refuses to read elements of one dtype as another C# type.</summary>
        internal static void Require<T>(DType found, string what)
            where T : unmanaged
        {
            DType asked = Of<T>();
            if (asked != found)
            {
                throw new TensorDTypeException(
                    TensorDictStatus.DType, $"{what} asks for {asked} ({typeof(T).Name}), the tensor is {found}", "");
            }
        }
    }
}
