using System;
using System.Collections.Generic;
using System.Linq;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>What kind of dictionary stands behind an object. All kinds take all calls, with few exceptions.</summary>
    public enum DictKind
    {
        /// <summary>Holds its tensors.</summary>
        Dense = td_dict_kind.TD_DICT_DENSE,

        /// <summary>A list of dictionaries, stacked when an entry is read.</summary>
        Lazy = td_dict_kind.TD_DICT_LAZY_STACK,

        /// <summary>A sub-tensordict.</summary>
        SubTensorDict = td_dict_kind.TD_DICT_SUB_TENSORDICT,

        /// <summary>A non-tensor value.</summary>
        NonTensor = td_dict_kind.TD_DICT_NON_TENSOR,
    }

    /// <summary>What tensors of different shapes are padded with.</summary>
    public readonly struct Padding
    {
        /// <summary>Padding with a value; in front when <paramref name="left"/> is set, else behind.</summary>
        public Padding(double value, bool left = false)
        {
            Value = value;
            Left = left;
        }

        /// <summary>What shorter tensors are padded with, converted to the dtype of each.</summary>
        public double Value { get; }

        /// <summary>Whether padding stands in front.</summary>
        public bool Left { get; }

        // What the shapes that differ are.
        internal const int Refused = 0;
        internal const int Padded = 1;
        internal const int NestedTensor = 2;

        internal td_padding_options Raw(int pad)
        {
            td_padding_options raw = td_padding_options.Default;
            raw.pad = pad;
            raw.left = Left ? 1 : 0;
            raw.value = Value;
            return raw;
        }
    }

    /// <content>Dictionaries side by side that are stacked when read, and sub-tensordicts.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>What kind of dictionary this is.</summary>
        public DictKind DictKind
        {
            get
            {
                using var handle = Handle.Borrow();
                td_dict_kind kind;
                Status.Check(Native.td_kind(handle.Pointer, &kind));
                return (DictKind)kind;
            }
        }

        /// <summary>Whether this object alone leads to the dictionary and to each one below it.</summary>
        public bool IsUniquelyOwned
        {
            get
            {
                using var handle = Handle.Borrow();
                int only;
                Status.Check(Native.td_is_uniquely_owned(handle.Pointer, &only));
                return only != 0;
            }
        }

        /// <summary>The dimension of a lazy stack and the number of its elements.</summary>
        public (long Dim, long Elements) LazyInfo
        {
            get
            {
                using var handle = Handle.Borrow();
                long dim;
                nuint elements;
                Status.Check(Native.td_lazy_info(handle.Pointer, &dim, &elements));
                return (dim, (long)elements);
            }
        }

        /// <summary>
        /// Puts dictionaries side by side without copying: an entry is stacked when it is read. They may differ in
        /// keys and in the shapes of tensors; the keys are those that all of them have.
        /// </summary>
        public static TensorDict LazyStack(IEnumerable<TensorDict> sources, long dim = 0) =>
            MadeOf(sources, (list, count, made) => Native.td_lazy_stack(list, count, dim, made));

        /// <summary>Puts a dictionary into a lazy stack, in front of the one at a position. It is held as it is.</summary>
        public void LazyInsert(long position, TensorDict source)
        {
            using var handle = Handle.BorrowToChange();
            using var element = Argument.NotNull(source, nameof(source)).Handle.Borrow();
            Status.Check(Native.td_lazy_insert(handle.Pointer, position, element.Pointer));
        }

        /// <summary>Appends dictionaries to a lazy stack: all of them, or none.</summary>
        public void LazyExtend(IEnumerable<TensorDict> sources)
        {
            using var handle = Handle.BorrowToChange();
            td_tensordict* td = handle.Pointer;
            WithAll(sources, (list, count) => Status.Check(Native.td_lazy_extend(td, list, count)));
        }

        /// <summary>The keys that some dictionaries of a lazy stack have and others lack.</summary>
        public IReadOnlyList<NestedKey> ExclusiveKeys()
        {
            td_keys* raw = null;
            using (var handle = Handle.Borrow())
            {
                Status.Check(Native.td_lazy_exclusive_keys(handle.Pointer, &raw));
            }
            using var owner = new KeysHandle(raw);
            return KeyList.Read(raw).ConvertAll(item => item.Key);
        }

        /// <summary>The tensors of a key of a lazy stack as one, each padded to the longest.</summary>
        public Tensor GetPadded(NestedKey key, Padding padding = default)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.Borrow();
            td_padding_options options = padding.Raw(Padding.Padded);
            td_tensor* result = null;
            return Tensor.Own(Native.td_lazy_get_padded(handle.Pointer, path.Pointer, path.Length, &options, &result), result);
        }

        /// <summary>
        /// The tensors of a key of a lazy stack one after the other along their first dimension, and where each begins.
        /// </summary>
        public (Tensor Values, Tensor Offsets) GetJagged(NestedKey key)
        {
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var path = new Utf8Path(key, stack);
            using var handle = Handle.Borrow();
            td_tensor* values = null;
            td_tensor* offsets = null;
            Status.Check(Native.td_lazy_get_jagged(handle.Pointer, path.Pointer, path.Length, &values, &offsets));
            return (Tensor.Own(values), Tensor.Own(offsets));
        }

        /// <summary>The parts along a dimension as a lazy stack, sharing memory.</summary>
        public TensorDict ToLazyStack(long dim = 0)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_to_lazy_stack(handle.Pointer, dim, &result), result);
        }

        /// <summary>
        /// The same content without lazy stacks and sub-tensordicts at any level. Without padding, shapes that differ are an
        /// error.
        /// </summary>
        public TensorDict Densify(Padding? padding = null)
        {
            return Densify(padding.GetValueOrDefault().Raw(padding.HasValue ? Padding.Padded : Padding.Refused));
        }

        /// <summary>As Densify, with a nested tensor in place of tensors whose shapes differ.</summary>
        public TensorDict DensifyNestedTensor() => Densify(default(Padding).Raw(Padding.NestedTensor));

        private TensorDict Densify(td_padding_options options)
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_densify(handle.Pointer, &options, &result), result);
        }

        /// <summary>
        /// A sub-tensordict: what is written to it reaches the part, also where tensors or masks pick it. Keeps the
        /// dictionary alive.
        /// </summary>
        public TensorDict SubTensorDict(params TensorIndex[] index)
        {
            Argument.NotNull(index, nameof(index));
            td_index_item* stack = stackalloc td_index_item[IndexItems.Room(index)];
            using var items = new IndexItems(index, stack);
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_sub_tensordict(handle.Pointer, items.Pointer, items.Length, &result), result);
        }

        /// <summary>The dictionary behind a sub-tensordict.</summary>
        public TensorDict SubTensorDictParent()
        {
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_sub_tensordict_parent(handle.Pointer, &result), result);
        }
    }
}
