using System;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>Non-tensor values: texts, numbers, lists, maps, bytes. They travel as JSON text.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>Stores a non-tensor value, one for the whole batch, given as JSON text.</summary>
        public void SetJson(NestedKey key, string json)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            byte* room = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var text = new Utf8Text(Argument.NotNull(json, nameof(json)), nameof(json), room);
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_set_non_tensor_json(handle.Pointer, path.Pointer, path.Length, text.Pointer));
        }

        /// <summary>Stores a text, one for the whole batch.</summary>
        public void SetText(NestedKey key, string text) =>
            SetJson(key, JsonText.Quote(Argument.NotNull(text, nameof(text))));

        /// <summary>Stores one text for each element of the batch, row by row.</summary>
        public void SetTexts(NestedKey key, params string[] texts)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var list = new RawNames(Argument.NotNull(texts, nameof(texts)));
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_set_texts(handle.Pointer, path.Pointer, path.Length, list.Pointer, list.Length));
        }

        /// <summary>The text under a key, which all elements of the batch have.</summary>
        /// <exception cref="TensorKeyException">The entry is not a text.</exception>
        public string GetText(NestedKey key) => ReadText(key, Native.td_get_text);

        /// <summary>The text of one row; a negative row counts from the end.</summary>
        /// <exception cref="TensorKeyException">The entry is not a text.</exception>
        public string GetRowText(NestedKey key, long row) =>
            ReadText(key, (td, path, length, text, cap, written) =>
                Native.td_get_row_text(td, path, length, row, text, cap, written));

        /// <summary>Stores one value for each element of the batch: JSON lists nested as the batch dimensions are.</summary>
        public void SetJsonList(NestedKey key, string json)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            byte* room = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var text = new Utf8Text(Argument.NotNull(json, nameof(json)), nameof(json), room);
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_set_non_tensor_stack_json(handle.Pointer, path.Pointer, path.Length, text.Pointer));
        }

        /// <summary>The value of each element of the batch, as JSON lists nested as the batch dimensions are.</summary>
        public string GetJsonList(NestedKey key) => ReadText(key, Native.td_get_non_tensor_stack_json);

        /// <summary>The one value that all elements of the batch have, as JSON text.</summary>
        public string GetJsonValue(NestedKey key) => ReadText(key, Native.td_get_non_tensor_value_json);

        /// <summary>Makes the value of the whole batch one value for each element.</summary>
        public void SpreadNonTensor(NestedKey key)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.BorrowToChange();
            Status.Check(Native.td_spread_non_tensor(handle.Pointer, path.Pointer, path.Length));
        }

        /// <summary>Stores bytes, one value for the whole batch.</summary>
        public void SetBytes(NestedKey key, ReadOnlySpan<byte> bytes)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.BorrowToChange();
            fixed (byte* data = bytes)
            {
                Status.Check(Native.td_set_non_tensor_bytes(handle.Pointer, path.Pointer, path.Length, data, (nuint)bytes.Length));
            }
        }

        /// <summary>The bytes stored under a key.</summary>
        public byte[] GetBytes(NestedKey key)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.Borrow();
            nuint length = 0;
            Status.Check(Native.td_get_non_tensor_bytes(handle.Pointer, path.Pointer, path.Length, null, 0, &length));
            byte[] bytes = new byte[checked((int)length)];
            fixed (byte* data = bytes)
            {
                Status.Check(Native.td_get_non_tensor_bytes(handle.Pointer, path.Pointer, path.Length, data, length, &length));
            }
            return bytes;
        }
    }
}
