using System;
using System.Collections.Generic;
using System.Linq;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>
    /// A connection to one dictionary in a server that speaks Redis' protocol. It lies there as Python's
    /// TensorDictStore keeps it. What is got is a copy; what is set is there for everybody at once. Threads may share it.
    /// </summary>
    public sealed unsafe class TensorDictStore : IDisposable
    {
        private readonly StoreHandle handle;

        internal TensorDictStore(td_store* raw) => handle = new StoreHandle(raw);

        /// <summary>A dictionary that is there, by its id.</summary>
        public static TensorDictStore Open(StoreOptions options) => Argument.NotNull(options, nameof(options)).Call(
            (raw, result) => Native.td_store_open(raw, result));

        /// <summary>A new one without entries.</summary>
        public static TensorDictStore Create(StoreOptions options, params long[] batchSize)
        {
            Argument.NotNull(batchSize, nameof(batchSize));
            return Argument.NotNull(options, nameof(options)).Call((raw, result) =>
            {
                fixed (long* sizes = batchSize)
                {
                    return Native.td_store_create(sizes, (nuint)batchSize.Length, raw, result);
                }
            });
        }

        /// <summary>A copy of a dictionary.</summary>
        public static TensorDictStore From(TensorDict td, StoreOptions? options = null)
        {
            using var source = Argument.NotNull(td, nameof(td)).Handle.Borrow();
            td_tensordict* given = source.Pointer;
            return (options ?? new StoreOptions()).Call((raw, result) => Native.td_store_from(given, raw, result));
        }

        /// <summary>Zeros, which the server makes itself; the text is that of <see cref="TensorDict.Schema"/>.</summary>
        public static TensorDictStore FromSchema(string schema, StoreOptions? options = null)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var text = new Utf8Text(Argument.NotNull(schema, nameof(schema)), nameof(schema), stack);
            byte* given = text.Pointer;
            return (options ?? new StoreOptions()).Call(
                (raw, result) => Native.td_store_from_schema(given, raw, result));
        }

        /// <summary>Removes the dictionary from the server.</summary>
        public void Delete()
        {
            using var own = handle.Borrow();
            Status.Check(Native.td_store_delete(own.Pointer));
        }

        /// <summary>The id by which others open it.</summary>
        public string Id
        {
            get
            {
                using var own = handle.Borrow();
                td_store* raw = own.Pointer;
                return Utf8.Read((text, room, length) => Native.td_store_id(raw, text, room, length));
            }
        }

        /// <summary>The batch size.</summary>
        public long[] BatchSize
        {
            get
            {
                using var own = handle.Borrow();
                td_store* raw = own.Pointer;
                return Sizes.Read((sizes, room, dims) => Native.td_store_batch_size(raw, sizes, room, dims));
            }
        }

        /// <summary>The keys of all tensors and non-tensor values, as the server has them now.</summary>
        public IReadOnlyList<NestedKey> Keys
        {
            get
            {
                using var own = handle.Borrow();
                td_keys* list = null;
                Status.Check(Native.td_store_keys(own.Pointer, &list));
                using var owner = new KeysHandle(list);
                return KeyList.Read(list).Select(row => row.Key).ToArray();
            }
        }

        /// <summary>A copy of a tensor.</summary>
        public Tensor GetTensor(NestedKey key)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var own = handle.Borrow();
            td_tensor* result = null;
            return Tensor.Own(Native.td_store_get(own.Pointer, path.Pointer, path.Length, &result), result);
        }

        /// <summary>A non-tensor value as JSON text.</summary>
        public string GetJson(NestedKey key)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var own = handle.Borrow();
            td_store* raw = own.Pointer;
            byte** names = path.Pointer;
            nuint count = path.Length;
            return Utf8.Read((text, room, length) =>
                Native.td_store_get_non_tensor_json(raw, names, count, text, room, length));
        }

        /// <summary>A copy of a nested dictionary.</summary>
        public TensorDict GetDict(NestedKey key)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var own = handle.Borrow();
            td_tensordict* result = null;
            return TensorDict.Own(Native.td_store_get_dict(own.Pointer, path.Pointer, path.Length, &result), result);
        }

        /// <summary>A copy of the whole.</summary>
        public TensorDict Load()
        {
            using var own = handle.Borrow();
            td_tensordict* result = null;
            return TensorDict.Own(Native.td_store_load(own.Pointer, &result), result);
        }

        /// <summary>Stores a tensor.</summary>
        public void Set(NestedKey key, Tensor value)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var own = handle.Borrow();
            using var source = Argument.NotNull(value, nameof(value)).Handle.Borrow();
            Status.Check(Native.td_store_set(own.Pointer, path.Pointer, path.Length, source.Pointer));
        }

        /// <summary>Stores a non-tensor value, given as JSON text.</summary>
        public void SetJson(NestedKey key, string json)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            byte* room = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var text = new Utf8Text(Argument.NotNull(json, nameof(json)), nameof(json), room);
            using var own = handle.Borrow();
            Status.Check(Native.td_store_set_non_tensor_json(own.Pointer, path.Pointer, path.Length, text.Pointer));
        }

        /// <summary>Stores all entries of a dictionary below a key, in one request.</summary>
        public void SetDict(NestedKey key, TensorDict value)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var own = handle.Borrow();
            using var source = Argument.NotNull(value, nameof(value)).Handle.Borrow();
            Status.Check(Native.td_store_set_dict(own.Pointer, path.Pointer, path.Length, source.Pointer));
        }

        /// <summary>Stores all entries of a dictionary, in one request.</summary>
        public void Update(TensorDict value)
        {
            using var own = handle.Borrow();
            using var source = Argument.NotNull(value, nameof(value)).Handle.Borrow();
            Status.Check(Native.td_store_update(own.Pointer, source.Pointer));
        }

        /// <summary>Writes values into a tensor that is there, broadcast and converted.</summary>
        public void SetInPlace(NestedKey key, Tensor value)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var own = handle.Borrow();
            using var source = Argument.NotNull(value, nameof(value)).Handle.Borrow();
            Status.Check(Native.td_store_set_inplace(own.Pointer, path.Pointer, path.Length, source.Pointer));
        }

        /// <summary>A part of a tensor; only its rows are sent. The index counts from its first dimension.</summary>
        public Tensor GetTensorAt(NestedKey key, params TensorIndex[] index)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            td_index_item* room = stackalloc td_index_item[IndexItems.Room(Argument.NotNull(index, nameof(index)))];
            using var path = new Utf8Path(key, stack);
            using var items = new IndexItems(index, room);
            using var own = handle.Borrow();
            td_tensor* result = null;
            return Tensor.Own(Native.td_store_get_at(
                own.Pointer, path.Pointer, path.Length, items.Pointer, items.Length, &result), result);
        }

        /// <summary>Writes into a part of a tensor, broadcast and converted; nobody sees half of it.</summary>
        public void SetTensorAt(NestedKey key, Tensor value, params TensorIndex[] index)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            td_index_item* room = stackalloc td_index_item[IndexItems.Room(Argument.NotNull(index, nameof(index)))];
            using var path = new Utf8Path(key, stack);
            using var items = new IndexItems(index, room);
            using var own = handle.Borrow();
            using var source = Argument.NotNull(value, nameof(value)).Handle.Borrow();
            Status.Check(Native.td_store_set_at(
                own.Pointer, path.Pointer, path.Length, items.Pointer, items.Length, source.Pointer));
        }

        /// <summary>A copy of the part that an index picks; only its rows are sent.</summary>
        public TensorDict this[params TensorIndex[] index]
        {
            get
            {
                Argument.NotNull(index, nameof(index));
                td_index_item* stack = stackalloc td_index_item[IndexItems.Room(index)];
                using var items = new IndexItems(index, stack);
                using var own = handle.Borrow();
                td_tensordict* result = null;
                return TensorDict.Own(Native.td_store_index(own.Pointer, items.Pointer, items.Length, &result), result);
            }
        }

        /// <summary>Removes an entry, or a nested dictionary.</summary>
        public void Remove(NestedKey key)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var own = handle.Borrow();
            Status.Check(Native.td_store_remove(own.Pointer, path.Pointer, path.Length));
        }

        /// <summary>Through this object no entry is set or removed any more; values are still written in place.</summary>
        public void Lock()
        {
            using var own = handle.Borrow();
            Status.Check(Native.td_store_lock(own.Pointer));
        }

        /// <summary>Undoes <see cref="Lock"/>.</summary>
        public void Unlock()
        {
            using var own = handle.Borrow();
            Status.Check(Native.td_store_unlock(own.Pointer));
        }

        /// <summary>Whether this object is locked.</summary>
        public bool IsLocked
        {
            get
            {
                using var own = handle.Borrow();
                int locked = 0;
                Status.Check(Native.td_store_is_locked(own.Pointer, &locked));
                return locked == 1;
            }
        }

        /// <summary>Closes the connection; the dictionary stays on the server.</summary>
        public void Dispose() => handle.Dispose();
    }
}
