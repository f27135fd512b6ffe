using System;
using System.Collections.Generic;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>How <see cref="TensorDict.LoadStateDict"/> works.</summary>
    public sealed record LoadStateOptions
    {
        /// <summary>The keys must be the same; else what both have is loaded.</summary>
        public bool Strict { get; set; } = true;

        /// <summary>The tensors of the state take the place of those in the dictionary.</summary>
        public bool Assign { get; set; }

        /// <summary>Whether its names are joined with dots; found out if it is not said.</summary>
        public bool? Flat { get; set; }

        internal td_load_state_dict_options ToRaw()
        {
            td_load_state_dict_options raw = td_load_state_dict_options.Default;
            raw.partial = Strict ? 0 : 1;
            raw.assign = Assign ? 1 : 0;
            raw.form = Flat switch
            {
                null => td_state_form.TD_STATE_DETECT,
                true => td_state_form.TD_STATE_FLAT,
                false => td_state_form.TD_STATE_NESTED,
            };
            return raw;
        }
    }

    /// <summary>What stands in the tensors of <see cref="TensorDict.FromSchema"/>.</summary>
    public enum SchemaContent
    {
        /// <summary>Zeros.</summary>
        Zeros = 0,

        /// <summary>Whatever the memory holds.</summary>
        Uninitialized = 1,

        /// <summary>Nothing: meta tensors, which have no memory.</summary>
        Meta = 2,
    }

    /// <content>Tensors and structure in forms that can be stored.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// Makes a dictionary of the structure that <see cref="Schema"/> gives, or that was written by hand.
        /// </summary>
        public static TensorDict FromSchema(
            string json, SchemaContent content = SchemaContent.Zeros, Device? device = null)
        {
            td_schema_options options = td_schema_options.Default;
            options.content = (td_schema_content)(int)content;
            options.device_type = TensorDicts.Device.RawOf(device);
            options.device_index = TensorDicts.Device.IndexOf(device);
            byte* stack = stackalloc byte[Utf8.StackBytes];
            using var text = new Utf8Text(Argument.NotNull(json, nameof(json)), nameof(json), stack);
            td_tensordict* result = null;
            return Own(Native.td_from_schema(text.Pointer, &options, &result), result);
        }

        /// <summary>
        /// Makes a dictionary of a map: values are tensors, dictionaries, or maps for nested ones.
        /// <see cref="ToDictionary"/> is the way back.
        /// </summary>
        public static TensorDict FromDictionary(
            IReadOnlyDictionary<string, object> entries, long[]? batchSize = null, Device? device = null)
        {
            var result = new TensorDict(batchSize ?? Array.Empty<long>(), device);
            var pending = new Stack<(IReadOnlyDictionary<string, object> From, TensorDict Into)>();
            pending.Push((Argument.NotNull(entries, nameof(entries)), result));
            while (pending.Count > 0)
            {
                var (from, into) = pending.Pop();
                foreach (KeyValuePair<string, object> entry in from)
                {
                    if (entry.Value is IReadOnlyDictionary<string, object> nested)
                    {
                        into.Set(entry.Key, new TensorDict(batchSize ?? Array.Empty<long>(), device));
                        pending.Push((nested, into.GetDict(entry.Key)));
                    }
                    else
                    {
                        into[entry.Key] = entry.Value as Entry
                            ?? throw new ArgumentException($"\"{entry.Key}\" is neither a tensor nor a dictionary", nameof(entries));
                    }
                }
            }
            return result;
        }

        /// <summary>The entries as they are, in a map of their names; nested dictionaries become maps, too.</summary>
        public Dictionary<string, object> ToDictionary()
        {
            var result = new Dictionary<string, object>();
            var pending = new Stack<(TensorDict From, Dictionary<string, object> Into)>();
            pending.Push((this, result));
            while (pending.Count > 0)
            {
                var (from, into) = pending.Pop();
                foreach (NestedKey key in from.Keys())
                {
                    Entry entry = from[key];
                    if (entry is TensorDict dict)
                    {
                        var nested = new Dictionary<string, object>();
                        into[key[0]] = nested;
                        pending.Push((dict, nested));
                    }
                    else
                    {
                        into[key[0]] = entry;
                    }
                }
            }
            return result;
        }

        /// <summary>
        /// The tensors by their names joined with dots (or, nested, in dictionaries), and under "_metadata" the
        /// batch size and the device of each dictionary.
        /// </summary>
        public TensorDict StateDict(bool nested = false, bool keepHistory = false)
        {
            td_state_dict_options options = td_state_dict_options.Default;
            options.nested = nested ? 1 : 0;
            options.keep_vars = keepHistory ? 1 : 0;
            using var handle = Handle.Borrow();
            td_tensordict* result = null;
            return Own(Native.td_state_dict(handle.Pointer, &options, &result), result);
        }

        /// <summary>
        /// Writes the values of a state dict into the existing tensors. Allowed when locked; either everything
        /// changes or nothing.
        /// </summary>
        public void LoadStateDict(TensorDict state, LoadStateOptions? options = null)
        {
            td_load_state_dict_options raw = (options ?? new LoadStateOptions()).ToRaw();
            using var handle = Handle.BorrowToChange();
            using var source = Argument.NotNull(state, nameof(state)).Handle.Borrow();
            Status.Check(Native.td_load_state_dict(handle.Pointer, source.Pointer, &raw));
        }

        /// <summary>
        /// The structure as JSON: keys, batch sizes, devices, dtypes, shapes, and non-tensor values.
        /// </summary>
        public string Schema()
        {
            using var handle = Handle.Borrow();
            td_tensordict* td = handle.Pointer;
            return Utf8.Read((text, room, length) => Native.td_schema(td, text, room, length));
        }
    }
}
