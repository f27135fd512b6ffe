using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>What becomes of numbers that are missing in a table of Arrow.</summary>
    public enum ArrowNulls
    {
        /// <summary>They are refused.</summary>
        Refuse = 0,

        /// <summary>NaN in columns of floating point; others are refused.</summary>
        NaN = 1,

        /// <summary>A bool tensor "name.valid" beside a column "name" says which values are there.</summary>
        Mask = 2,
    }

    /// <summary>How a table of Arrow is taken over.</summary>
    public sealed record FromArrowOptions
    {
        /// <summary>What becomes of numbers that are missing.</summary>
        public ArrowNulls Nulls { get; set; }

        /// <summary>Tensors of their own, which may be written.</summary>
        public bool Copy { get; set; }

        /// <summary>Splits names of columns into nested keys; null: does not.</summary>
        public string? Separator { get; set; }

        /// <summary>The deepest nesting accepted; 0: the library's own limit.</summary>
        public uint MaxDepth { get; set; }

        /// <summary>The most columns accepted; 0: the library's own limit.</summary>
        public uint MaxEntries { get; set; }

        internal unsafe td_from_arrow_options Raw(byte* separator)
        {
            td_from_arrow_options raw = td_from_arrow_options.Default;
            raw.flags = Copy ? td_from_arrow_flags.TD_FROM_ARROW_COPY : 0;
            raw.nulls = (td_arrow_nulls_kind)(int)Nulls;
            raw.max_depth = MaxDepth;
            raw.max_entries = MaxEntries;
            raw.separator = separator;
            return raw;
        }
    }

    /// <summary>How a dictionary is lent as a table of Arrow.</summary>
    public sealed record ToArrowOptions
    {
        /// <summary>Complex numbers become lists of two; otherwise they are refused.</summary>
        public bool ComplexPairs { get; set; }

        /// <summary>Joins the names of nested dictionaries into names of columns; null: these are structs.</summary>
        public string? Separator { get; set; }

        internal unsafe td_to_arrow_options Raw(byte* separator)
        {
            td_to_arrow_options raw = td_to_arrow_options.Default;
            raw.flags = ComplexPairs ? td_to_arrow_flags.TD_TO_ARROW_COMPLEX_PAIRS : 0;
            raw.separator = separator;
            return raw;
        }
    }

    /// <content>
    /// Tables of Arrow in this process, by the C data interface. The structs are the caller's: with Apache.Arrow,
    /// those of CArrowSchema.Create(), CArrowArray.Create() and CArrowArrayStream.Create().
    /// </content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// Takes over a record batch, without a copy where the memory permits. Both structs are used up when this
        /// succeeds, and unchanged otherwise. Arrow's memory is immutable: do not write into these tensors, or ask
        /// for copies.
        /// </summary>
        public static TensorDict FromArrow(IntPtr schema, IntPtr array, FromArrowOptions? options = null)
        {
            options ??= new FromArrowOptions();
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var separator = new Utf8Text(options.Separator, nameof(options.Separator), stack);
            td_from_arrow_options raw = options.Raw(separator.Pointer);
            td_tensordict* result = null;
            return Own(Native.td_from_arrow((ArrowSchema*)schema, (ArrowArray*)array, &raw, &result), result);
        }

        /// <summary>
        /// Reads all record batches of a stream, one after the other. The stream is used up, whatever comes.
        /// </summary>
        public static TensorDict FromArrowStream(IntPtr stream, FromArrowOptions? options = null)
        {
            options ??= new FromArrowOptions();
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var separator = new Utf8Text(options.Separator, nameof(options.Separator), stack);
            td_from_arrow_options raw = options.Raw(separator.Pointer);
            td_tensordict* result = null;
            return Own(Native.td_from_arrow_stream((ArrowArrayStream*)stream, &raw, &result), result);
        }

        /// <summary>
        /// Lends the dictionary as a record batch, a row for each element of the first batch dimension, without a
        /// copy where tensors are row-major on the CPU. The receiver calls release of both structs once.
        /// </summary>
        public void ToArrow(IntPtr schema, IntPtr array, ToArrowOptions? options = null)
        {
            options ??= new ToArrowOptions();
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var separator = new Utf8Text(options.Separator, nameof(options.Separator), stack);
            td_to_arrow_options raw = options.Raw(separator.Pointer);
            using var handle = Handle.Borrow();
            Status.Check(Native.td_to_arrow(handle.Pointer, &raw, (ArrowSchema*)schema, (ArrowArray*)array));
        }

        /// <summary>
        /// Lends the dictionary as a stream of record batches of so many rows each, the last with what is left, as
        /// <see cref="ToArrow"/> lends the whole. The receiver calls release of the struct once.
        /// </summary>
        public void ToArrowStream(long rows, IntPtr stream, ToArrowOptions? options = null)
        {
            options ??= new ToArrowOptions();
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var separator = new Utf8Text(options.Separator, nameof(options.Separator), stack);
            td_to_arrow_options raw = options.Raw(separator.Pointer);
            using var handle = Handle.Borrow();
            Status.Check(Native.td_to_arrow_stream(handle.Pointer, rows, &raw, (ArrowArrayStream*)stream));
        }
    }
}
