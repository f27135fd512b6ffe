using System;
using System.Runtime.InteropServices;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>A tensor that a writer writes to, found once. Only that writer takes it.</summary>
    public readonly struct WriterField
    {
        private readonly TensorDictWriter? writer;

        internal WriterField(TensorDictWriter writer, int number, DType dtype)
        {
            this.writer = writer;
            Number = number;
            DType = dtype;
        }

        internal int Number { get; }

        internal DType DType { get; }

        /// <summary>This field, for the writer that has bound it.</summary>
        internal WriterField Of(TensorDictWriter asking) => ReferenceEquals(writer, asking) ? this : throw Stranger();

        private TensorIndexException Stranger() => new TensorIndexException(
            TensorDictStatus.Index,
            writer == null
                ? "the field was not bound to a tensor; Bind of this writer gives one"
                : "the field was bound by another writer; Bind of this writer gives one",
            "");
    }

    /// <summary>
    /// Writes rows of plain memory into the tensors of a dictionary, for a hot loop: Put and Next allocate
    /// nothing. A row is one element of the batch, in row-major order.
    /// </summary>
    public sealed unsafe partial class TensorDictWriter : IDisposable
    {
        private readonly WriterHandle handle;

        // Tells dtypes only. It is no object of the user's, whose scopes have nothing to do with it.
        private readonly DictHandle target;

        /// <summary>Opens a writer. The dictionary must be on the CPU and hold the tensors already.</summary>
        public TensorDictWriter(TensorDict td, WriterOptions? options = null)
        {
            td_writer_options raw = (options ?? new WriterOptions()).ToRaw();
            target = Argument.NotNull(td, nameof(td)).Handle.Share();
            try
            {
                using var borrowed = target.Borrow();
                td_writer* result = null;
                Status.Check(Native.td_writer_open(borrowed.Pointer, &raw, &result));
                handle = new WriterHandle(result);
            }
            catch
            {
                target.Dispose();
                throw;
            }
        }

        /// <summary>How many rows were completed by Next.</summary>
        public long Rows
        {
            get
            {
                using var borrowed = handle.Borrow();
                long result;
                Status.Check(Native.td_writer_rows(borrowed.Pointer, &result));
                return result;
            }
        }

        /// <summary>Finds the tensor under a key once.</summary>
        public WriterField Bind(NestedKey key)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var borrowed = handle.Borrow();
            int field;
            Status.Check(Native.td_writer_bind(borrowed.Pointer, path.Pointer, path.Length, &field));
            return new WriterField(this, field, DTypeOf(path));
        }

        private DType DTypeOf(in Utf8Path path)
        {
            using var borrowed = target.Borrow();
            td_tensor* result = null;
            Status.Check(Native.td_get(borrowed.Pointer, path.Pointer, path.Length, &result));
            using var owner = new TensorHandle(result);
            td_dtype dtype;
            Status.Check(Native.td_tensor_dtype(result, &dtype));
            return (DType)(int)dtype;
        }

        /// <summary>How many bytes one row of a field takes.</summary>
        public long RowBytes(WriterField field)
        {
            using var borrowed = handle.Borrow();
            nuint result;
            Status.Check(Native.td_writer_row_bytes(borrowed.Pointer, field.Of(this).Number, &result));
            return (long)result;
        }

        /// <summary>Copies one field of the current row. The type and the number of values must fit.</summary>
        public void Put<T>(WriterField field, ReadOnlySpan<T> row)
            where T : unmanaged
        {
            DTypes.Require<T>(field.Of(this).DType, nameof(Put));
            PutBytes(field, MemoryMarshal.AsBytes(row));
        }

        /// <summary>Copies one field of the current row. The type and the number of values must fit.</summary>
        public void Put<T>(WriterField field, T[] row)
            where T : unmanaged => Put(field, new ReadOnlySpan<T>(row));

        /// <summary>Copies a field that has one value in a row.</summary>
        public void Put<T>(WriterField field, T value)
            where T : unmanaged => Put(field, MemoryMarshal.CreateReadOnlySpan(ref value, 1));

        /// <summary>Copies one field of the current row, whatever its dtype.</summary>
        public void PutBytes(WriterField field, ReadOnlySpan<byte> row)
        {
            using var borrowed = handle.Borrow();
            fixed (byte* data = row)
            {
                Status.Check(Native.td_writer_put(borrowed.Pointer, field.Of(this).Number, data, (nuint)row.Length));
            }
        }

        /// <summary>
        /// Finds an entry with a text for each row once, for PutText. Only a folder that grows has such.
        /// </summary>
        public WriterField BindText(NestedKey key)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var borrowed = handle.Borrow();
            int field;
            Status.Check(Native.td_writer_bind(borrowed.Pointer, path.Pointer, path.Length, &field));
            return new WriterField(this, field, DType.UInt8);
        }

        /// <summary>Copies the text of the current row; a row without one has an empty text.</summary>
        public void PutText(WriterField field, string text)
        {
            Argument.NotNull(text, nameof(text));
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var raw = new Utf8Text(text, nameof(text), stack);
            using var borrowed = handle.Borrow();
            Status.Check(Native.td_writer_put_text(borrowed.Pointer, field.Of(this).Number, raw.Pointer));
        }

        /// <summary>Moves on to the next row. Fields that were not put keep what was there.</summary>
        public void Next()
        {
            using var borrowed = handle.Borrow();
            Status.Check(Native.td_writer_next(borrowed.Pointer));
        }

        /// <summary>Waits until what was put is on the disk. A growing writer publishes its rows.</summary>
        public void Flush()
        {
            using var borrowed = handle.Borrow();
            Status.Check(Native.td_writer_flush(borrowed.Pointer));
        }

        /// <summary>Flushes, and lets go of the dictionary. Tells of a disk that failed, which Dispose does not.</summary>
        public void Close()
        {
            using var borrowed = handle.Borrow();
            Status.Check(Native.td_writer_close(borrowed.Pointer));
            target.Dispose();
        }

        /// <summary>Closes without waiting for the disk if Close was not called.</summary>
        public void Dispose()
        {
            handle.Dispose();
            target.Dispose();
        }
    }
}
