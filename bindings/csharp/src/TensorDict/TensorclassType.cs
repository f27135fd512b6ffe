using System;
using System.Collections.Generic;
using System.Linq;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>What a field of a tensorclass holds.</summary>
    public enum FieldKind
    {
        /// <summary>A tensor.</summary>
        Tensor = 0,

        /// <summary>A dictionary of any content.</summary>
        Dict = 1,

        /// <summary>A non-tensor value.</summary>
        Value = 2,

        /// <summary>A tensorclass of another type.</summary>
        Tensorclass = 3,
    }

    /// <summary>What is declared of a field of a tensorclass.</summary>
    public sealed class TensorclassField
    {
        /// <summary>A field of a name; a tensor unless said otherwise.</summary>
        public TensorclassField(string name, FieldKind kind = FieldKind.Tensor)
        {
            Name = Argument.NotNull(name, nameof(name));
            Kind = kind;
        }

        /// <summary>A field that is a tensorclass.</summary>
        public TensorclassField(string name, TensorclassType tensorclass)
            : this(name, FieldKind.Tensorclass)
        {
            Tensorclass = Argument.NotNull(tensorclass, nameof(tensorclass));
        }

        /// <summary>The key of the entry.</summary>
        public string Name { get; }

        /// <summary>What it holds.</summary>
        public FieldKind Kind { get; }

        /// <summary>Of a tensor; Other for any.</summary>
        public DType DType { get; set; }

        /// <summary>Of a tensor, behind the batch size; -1 is any size. Null for any sizes.</summary>
        public long[]? Sizes { get; set; }

        /// <summary>Whether it may be empty.</summary>
        public bool IsOptional { get; set; }

        /// <summary>What stands there for each element of the batch when nothing is said. Not told by Fields.</summary>
        public Tensor? Default { get; set; }

        /// <summary>The value that stands there when nothing is said, as JSON text.</summary>
        public string? DefaultJson { get; set; }

        /// <summary>Whether there is a default; told by Fields.</summary>
        public bool HasDefault { get; internal set; }

        internal TensorclassType? Tensorclass { get; }
    }

    /// <summary>
    /// A name, and what is declared of each field. tools/tdtensorclass makes a class with a property for each field;
    /// this is what to use when the fields are known at run time only.
    /// </summary>
    /// <remarks>
    /// A dictionary that is a tensorclass keeps its type through indices, views, stacks and copies, and what is
    /// set in it is checked. A type never changes, so any thread may use it.
    /// </remarks>
    public sealed unsafe class TensorclassType : IDisposable
    {
        /// <summary>
        /// A type of some fields. With autocast tensors of another dtype are converted instead of refused;
        /// frozen tensorclasses are locked; the fields of the base come first.
        /// </summary>
        public TensorclassType(
            string name, IEnumerable<TensorclassField> fields, bool autocast = false, bool frozen = false, TensorclassType? baseType = null)
        {
            Handle = new TensorclassTypeHandle(Create(name, Argument.NotNull(fields, nameof(fields)).ToArray(), autocast, frozen, baseType));
        }

        private TensorclassType(td_tensorclass* pointer)
        {
            Handle = new TensorclassTypeHandle(pointer);
        }

        /// <summary>Its name.</summary>
        public string Name
        {
            get
            {
                using var handle = Handle.Borrow();
                td_tensorclass* type = handle.Pointer;
                return Utf8.Read((text, room, length) => Native.td_tensorclass_name(type, text, room, length));
            }
        }

        /// <summary>What was declared of each field.</summary>
        public IReadOnlyList<TensorclassField> Fields
        {
            get
            {
                using var handle = Handle.Borrow();
                var fields = new TensorclassField[(int)Native.td_tensorclass_len(handle.Pointer)];
                for (int i = 0; i < fields.Length; i++)
                {
                    td_field raw;
                    Status.Check(Native.td_tensorclass_field(handle.Pointer, (nuint)i, &raw));
                    fields[i] = Read(raw);
                }
                return fields;
            }
        }

        internal TensorclassTypeHandle Handle { get; }

        /// <summary>A new tensorclass: defaults, zeros where dtype and sizes are declared in full, empty dictionaries.</summary>
        public TensorDict Make(long[] batchSize, Device? device = null)
        {
            Argument.NotNull(batchSize, nameof(batchSize));
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            fixed (long* sizes = batchSize)
            {
                Status.Check(Native.td_tensorclass_instantiate(
                    handle.Pointer, sizes, (nuint)batchSize.Length, Device.RawOf(device), Device.IndexOf(device), &result));
            }
            return TensorDict.Own(result);
        }

        /// <inheritdoc/>
        public override string ToString() => Name;

        /// <inheritdoc/>
        public void Dispose() => Handle.Dispose();

        internal static TensorclassType? Own(td_tensorclass* pointer) => pointer == null ? null : new TensorclassType(pointer);

        private static TensorclassField Read(in td_field raw)
        {
            var field = new TensorclassField(Utf8.Read(raw.name), (FieldKind)(int)raw.kind)
            {
                DType = (DType)(int)raw.dtype,
                IsOptional = (raw.flags & td_field_flags.TD_FIELD_OPTIONAL) != 0,
                HasDefault = (raw.flags & td_field_flags.TD_FIELD_HAS_DEFAULT) != 0,
                DefaultJson = raw.default_json == null ? null : Utf8.Read(raw.default_json),
            };
            if ((raw.flags & td_field_flags.TD_FIELD_HAS_FEATURE) != 0)
            {
                field.Sizes = new ReadOnlySpan<long>(raw.feature, (int)raw.feature_dims).ToArray();
            }
            return field;
        }

        private static td_tensorclass* Create(
            string name, TensorclassField[] fields, bool autocast, bool frozen, TensorclassType? baseType)
        {
            td_tensorclass_options options = td_tensorclass_options.Default;
            options.flags = (autocast ? td_tensorclass_flags.TD_TENSORCLASS_AUTOCAST : 0) | (frozen ? td_tensorclass_flags.TD_TENSORCLASS_FROZEN : 0);
            using var raw = new RawFields(fields);
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var text = new Utf8Text(Argument.NotNull(name, nameof(name)), nameof(name), stack);
            td_tensorclass* result = null;
            fixed (td_field* list = raw.List)
            {
                try
                {
                    options.@base = baseType == null ? null : baseType.Handle.Hold();
                    Status.Check(Native.td_tensorclass_create(text.Pointer, list, (nuint)fields.Length, &options, &result));
                }
                finally
                {
                    if (options.@base != null)
                    {
                        baseType!.Handle.Drop();
                    }
                }
            }
            return result;
        }
    }

    /// <content>Tensorclasses.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>The type of a tensorclass; null for a plain dictionary.</summary>
        public TensorclassType? TensorclassType
        {
            get
            {
                using var handle = Handle.Borrow();
                td_tensorclass* result = null;
                Status.Check(Native.td_tensorclass_of(handle.Pointer, &result));
                return TensorDicts.TensorclassType.Own(result);
            }
        }

        /// <summary>
        /// Makes a tensorclass of the dictionary: it is looked at, missing fields that have a default get it, and
        /// from then on what is set is checked. Null makes a plain dictionary of it again.
        /// </summary>
        public void MakeTensorclass(TensorclassType? type)
        {
            using var handle = Handle.BorrowToChange();
            if (type is null)
            {
                Status.Check(Native.td_set_tensorclass(handle.Pointer, null));
                return;
            }
            using var tensorclass = type.Handle.Borrow();
            Status.Check(Native.td_set_tensorclass(handle.Pointer, tensorclass.Pointer));
        }

        /// <summary>Throws when the dictionary is not what a type says; without one, the type that it has.</summary>
        public void CheckTensorclass(TensorclassType? type = null)
        {
            using var handle = Handle.Borrow();
            if (type is null)
            {
                Status.Check(Native.td_tensorclass_check(null, handle.Pointer));
                return;
            }
            using var tensorclass = type.Handle.Borrow();
            Status.Check(Native.td_tensorclass_check(tensorclass.Pointer, handle.Pointer));
        }
    }
}
