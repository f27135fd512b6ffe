using System;
using System.Collections.Generic;
using System.Diagnostics.CodeAnalysis;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>Entries by key.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>The entry under a key; set it to a tensor or a dictionary to store that.</summary>
        /// <exception cref="TensorKeyException">Read, and there is nothing.</exception>
        public Entry this[NestedKey key]
        {
            get
            {
                if (TryGetValue(key, out Entry? entry))
                {
                    return entry;
                }
                // Asks for it as a tensor for the text of the library, which names what there is.
                return GetTensor(key);
            }

            set
            {
                switch (Argument.NotNull(value, nameof(value)))
                {
                    case NestedTensor nested_tensor:
                        Set(key, nested_tensor);
                        break;
                    case Tensor tensor:
                        Set(key, tensor);
                        break;
                    case TensorDict dict:
                        Set(key, dict);
                        break;
                    default:
                        throw new ArgumentException("non-tensor data can only be read", nameof(value));
                }
            }
        }

        /// <summary>The entry under a name.</summary>
        public Entry this[string key]
        {
            get => this[(NestedKey)key];
            set => this[(NestedKey)key] = value;
        }

        /// <summary>The entry under a key of several names, outermost first.</summary>
        public Entry this[params string[] key]
        {
            get => this[(NestedKey)key];
            set => this[(NestedKey)key] = value;
        }

        /// <summary>Stores a tensor. The dictionary keeps this very tensor; missing dictionaries on the way are made.</summary>
        public void Set(NestedKey key, Tensor value)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.BorrowToChange();
            using var source = Argument.NotNull(value, nameof(value)).Handle.Borrow();
            Status.Check(Native.td_set(handle.Pointer, path.Pointer, path.Length, source.Pointer));
            Handle.TakeOver(value.Handle);
        }

        /// <summary>Stores a dictionary: this very one when its batch size begins with the one here.</summary>
        public void Set(NestedKey key, TensorDict value)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.BorrowToChange();
            using var source = Argument.NotNull(value, nameof(value)).Handle.Borrow();
            Status.Check(Native.td_set_dict(handle.Pointer, path.Pointer, path.Length, source.Pointer));
            Handle.TakeOver(value.Handle);
        }

        /// <summary>Writes values into the tensor that is stored, which keeps its dtype and memory. Allowed when locked.</summary>
        public void SetInPlace(NestedKey key, Tensor value)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.BorrowToChange();
            using var source = Argument.NotNull(value, nameof(value)).Handle.Borrow();
            Status.Check(Native.td_set_inplace(handle.Pointer, path.Pointer, path.Length, source.Pointer));
        }

        /// <summary>The tensor under a key. It shares memory with the entry.</summary>
        public Tensor GetTensor(NestedKey key)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.Borrow();
            td_tensor* result = null;
            return Tensor.Own(Native.td_get(handle.Pointer, path.Pointer, path.Length, &result), result);
        }

        /// <summary>The tensor under a key of several names, outermost first.</summary>
        public Tensor GetTensor(params string[] key) => GetTensor((NestedKey)key);

        /// <summary>The dictionary under a key: the same one as inside, not a copy.</summary>
        public TensorDict GetDict(NestedKey key)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_get_dict(handle.Pointer, path.Pointer, path.Length, &result), result);
        }

        /// <summary>The dictionary under a key of several names, outermost first.</summary>
        public TensorDict GetDict(params string[] key) => GetDict((NestedKey)key);

        /// <summary>The non-tensor data under a key, as JSON text.</summary>
        public string GetJson(NestedKey key) => ReadText(key, Native.td_get_non_tensor_json);

        private delegate td_status TextAt(
            td_tensordict* td, byte** path, nuint pathLen, byte* text, nuint capacity, nuint* length);

        // The text that a call writes about an entry.
        private string ReadText(NestedKey key, TextAt write)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.Borrow();
            td_tensordict* td = handle.Pointer;
            byte** names = path.Pointer;
            nuint count = path.Length;
            return Utf8.Read((text, room, length) => write(td, names, count, text, room, length));
        }

        /// <summary>The non-tensor data under a key of several names, as JSON text.</summary>
        public string GetJson(params string[] key) => GetJson((NestedKey)key);

        /// <summary>Whether a key has an entry.</summary>
        public bool ContainsKey(NestedKey key) => KindOf(key) != td_entry_kind.TD_ENTRY_NONE;

        /// <summary>Whether a key of several names has an entry.</summary>
        public bool ContainsKey(params string[] key) => ContainsKey((NestedKey)key);

        /// <summary>Gets the entry under a key, if there is one.</summary>
        public bool TryGetValue(NestedKey key, [NotNullWhen(true)] out Entry? value)
        {
            value = Get(key, KindOf(key));
            return value != null;
        }

        /// <summary>Removes an entry; false when there is none. Dictionaries on the way stay.</summary>
        public bool Remove(NestedKey key)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.BorrowToChange();
            return Status.Found(Native.td_remove(handle.Pointer, path.Pointer, path.Length));
        }

        /// <summary>Removes the entry under a key of several names; false when there is none.</summary>
        public bool Remove(params string[] key) => Remove((NestedKey)key);

        /// <summary>The keys as they are now; what is changed later does not change the list.</summary>
        public IReadOnlyList<NestedKey> Keys(bool includeNested = false, bool leavesOnly = false, bool sort = false) =>
            KeyList.Read(Handle, includeNested, leavesOnly, sort).ConvertAll(item => item.Key);

        /// <summary>The entries under the keys as they are now.</summary>
        public IEnumerable<(NestedKey Key, Entry Value)> Items(bool includeNested = false, bool sort = false)
        {
            foreach (var (key, kind) in KeyList.Read(Handle, includeNested, leavesOnly: false, sort))
            {
                // What was removed since the list was made is left out.
                if (TryGetValue(key, out Entry? value))
                {
                    yield return (key, value);
                }
            }
        }

        /// <summary>All tensors, at every level, under the keys as they are now.</summary>
        public IEnumerable<(NestedKey Key, Tensor Value)> Leaves(bool sort = false)
        {
            foreach (var (key, _) in KeyList.Read(Handle, includeNested: true, leavesOnly: true, sort))
            {
                yield return (key, GetTensor(key));
            }
        }

        private td_entry_kind KindOf(NestedKey key)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.Borrow();
            td_entry_kind kind;
            Status.Check(Native.td_get_kind(handle.Pointer, path.Pointer, path.Length, &kind));
            return kind;
        }

        private Entry? Get(NestedKey key, td_entry_kind kind)
        {
            switch (kind)
            {
                case td_entry_kind.TD_ENTRY_TENSOR:
                    return GetTensor(key);
                case td_entry_kind.TD_ENTRY_DICT:
                    return GetDict(key);
                case td_entry_kind.TD_ENTRY_NON_TENSOR:
                    return new NonTensor(GetJson(key));
                case td_entry_kind.TD_ENTRY_NESTED_TENSOR:
                    return GetNestedTensor(key);
                default:
                    return null;
            }
        }
    }
}
