using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>How a table is written down.</summary>
    public enum TableFormat
    {
        /// <summary>Names in the first line, commas, quotes where needed.</summary>
        Csv = 0,

        /// <summary>A list of objects, one for each row.</summary>
        Json = 1,
    }

    /// <content>Tables in text files, one row for each element of the batch.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// Reads a table: whole numbers become long, numbers with missing ones double, truths bool, all other
        /// columns non-tensor values. A separator splits names of columns into nested keys. With flatten, columns
        /// "a[0]", "a[1]" become one tensor, and leading columns "episode" and "step" the batch size, or a lazy
        /// stack of episodes of different lengths.
        /// </summary>
        public static TensorDict LoadTable(string file, TableFormat format = TableFormat.Csv, string separator = "", bool flatten = false)
        {
            byte* stack = stackalloc byte[2 * Utf8.StackBytes];
            using var path = new Utf8Text(Argument.NotNull(file, nameof(file)), nameof(file), stack);
            using var between = new Utf8Text(separator, nameof(separator), stack + Utf8.StackBytes);
            td_table_options options = td_table_options.Default;
            options.format = (td_table_format)(int)format;
            options.separator = between.Pointer;
            options.flags = flatten ? td_table_flags.TD_TABLE_FLATTEN : 0;
            td_tensordict* result = null;
            return Own(Native.td_table_load(path.Pointer, &options, &result), result);
        }

        /// <summary>
        /// Writes a dictionary of one batch dimension as a table. A separator joins nested keys. With flatten, the
        /// batch may have several dimensions, and tensors have a column for each element of a row.
        /// </summary>
        public void SaveTable(string file, TableFormat format = TableFormat.Csv, string separator = "", bool flatten = false)
        {
            byte* stack = stackalloc byte[2 * Utf8.StackBytes];
            using var path = new Utf8Text(Argument.NotNull(file, nameof(file)), nameof(file), stack);
            using var between = new Utf8Text(separator, nameof(separator), stack + Utf8.StackBytes);
            td_table_options options = td_table_options.Default;
            options.format = (td_table_format)(int)format;
            options.separator = between.Pointer;
            options.flags = flatten ? td_table_flags.TD_TABLE_FLATTEN : 0;
            using var handle = Handle.Borrow();
            Status.Check(Native.td_table_save(handle.Pointer, path.Pointer, &options));
        }
    }
}
