using System;
using System.Collections.Generic;
using System.Diagnostics.CodeAnalysis;
using System.Linq;

namespace TensorDicts
{
    /// <summary>
    /// The base of classes whose properties are the entries of a dictionary. tools/tdtensorclass writes such a class
    /// for each tensorclass of a schema; methods of your own go into another part of it.
    /// </summary>
    /// <remarks>Each object holds a reference to its dictionary, which Dispose gives back early.</remarks>
    public abstract class Tensorclass<TSelf> : IDisposable
        where TSelf : Tensorclass<TSelf>
    {
        /// <summary>A tensorclass over a dictionary, which has these fields and no others, and becomes a tensorclass.</summary>
        protected Tensorclass(TensorDict dict, TensorclassType type)
        {
            Dict = Argument(dict);
            Dict.MakeTensorclass(type);
        }

        /// <summary>A tensorclass over what is known to be one of this type.</summary>
        protected Tensorclass(TensorDict dict)
        {
            Dict = Argument(dict);
        }

        /// <summary>The dictionary behind it.</summary>
        public TensorDict Dict { get; }

        /// <summary>The leading sizes that all fields share.</summary>
        public Shape BatchSize => Dict.BatchSize;

        /// <summary>A part; written to, the values of another tensorclass are put there.</summary>
        public TSelf this[params TensorIndex[] index]
        {
            get => Wrap(Dict.Index(index));
            set => Dict.SetAt(Argument(value).Dict, index);
        }

        /// <summary>Joins tensorclasses along a new batch dimension.</summary>
        public static TSelf Stack(IEnumerable<TSelf> tensorclasses, long dim = 0) => Join(tensorclasses, sources => TensorDict.Stack(sources, dim));

        /// <summary>Joins tensorclasses along a batch dimension they have.</summary>
        public static TSelf Cat(IEnumerable<TSelf> tensorclasses, long dim = 0) => Join(tensorclasses, sources => TensorDict.Cat(sources, dim));

        /// <summary>The same entries under another batch size, sharing memory.</summary>
        public TSelf View(params long[] sizes) => Wrap(Dict.View(sizes));

        /// <summary>As View, but copies where a view is not possible.</summary>
        public TSelf Reshape(params long[] sizes) => Wrap(Dict.Reshape(sizes));

        /// <summary>Reorders the batch dimensions, sharing memory.</summary>
        public TSelf Permute(params long[] order) => Wrap(Dict.Permute(order));

        /// <summary>The parts along a batch dimension, sharing memory.</summary>
        public TSelf[] Unbind(long dim = 0) => Array.ConvertAll(Dict.Unbind(dim), Wrap);

        /// <summary>A copy with memory of its own.</summary>
        public TSelf Clone() => Wrap(Dict.Clone());

        /// <summary>What any operation on dictionaries makes of it.</summary>
        public TSelf With(Func<TensorDict, TensorDict> operation)
        {
            TensorDict result = Argument(operation)(Dict);
            using TensorclassType? type = result.TensorclassType;
            // A change of dtype is not undone by what was declared.
            return type is null ? Check(result) : Wrap(result);
        }

        /// <summary>A plain dictionary over the same entries.</summary>
        public TensorDict ToTensorDict()
        {
            TensorDict copy = Dict.ShallowClone();
            copy.MakeTensorclass(null);
            return copy;
        }

        /// <summary>Whether both have the same batch size and equal fields.</summary>
        public bool EqualTo([NotNullWhen(true)] TSelf? other) => Dict.EqualTo(other?.Dict);

        /// <summary>The tensorclass as Python's tensordict prints it.</summary>
        public override string ToString() => Dict.ToString();

        /// <inheritdoc/>
        public void Dispose()
        {
            Dict.Dispose();
            GC.SuppressFinalize(this);
        }

        /// <summary>A tensorclass of the same class over what is known to be one.</summary>
        protected abstract TSelf Wrap(TensorDict dict);

        /// <summary>A tensorclass of the same class over a dictionary, looked at.</summary>
        protected abstract TSelf Check(TensorDict dict);

        /// <summary>What stands in an optional field, if anything does.</summary>
        protected T? Find<T>(string field)
            where T : Entry => Dict.TryGetValue(field, out Entry? value) ? (T)value : null;

        /// <summary>The JSON text of a value in an optional field, if there is one.</summary>
        protected string? FindJson(string field) => Dict.ContainsKey(field) ? Dict.GetJson(field) : null;

        /// <summary>The text in an optional field, if there is one.</summary>
        protected string? FindText(string field) => Dict.ContainsKey(field) ? Dict.GetText(field) : null;

        /// <summary>Stores a text; null makes an optional field empty.</summary>
        protected void StoreText(string field, string? text) => StoreJson(field, Json(text));

        /// <summary>A text as JSON text, for constructors.</summary>
        protected static string? Json(string? text) => text is null ? null : Interop.JsonText.Quote(text);

        /// <summary>Stores a value as JSON text; null makes an optional field empty.</summary>
        protected void StoreJson(string field, string? json)
        {
            if (json is null)
            {
                Dict.Remove(field);
            }
            else
            {
                Dict.SetJson(field, json);
            }
        }

        /// <summary>Stores a field; null makes an optional one empty.</summary>
        protected void Store(string field, Entry? value)
        {
            if (value is null)
            {
                Dict.Remove(field);
            }
            else
            {
                Dict[field] = value;
            }
        }

        /// <summary>A dictionary of entries and JSON texts, for constructors; null leaves a field out.</summary>
        protected static TensorDict Collect(long[] batchSize, params (string Name, object? Value)[] fields)
        {
            var dict = new TensorDict(batchSize);
            try
            {
                foreach (var (name, value) in Argument(fields))
                {
                    if (value is Entry entry)
                    {
                        dict[name] = entry;
                    }
                    else if (value is string json)
                    {
                        dict.SetJson(name, json);
                    }
                }
                return dict;
            }
            catch
            {
                dict.Dispose();
                throw;
            }
        }

        private static TSelf Join(IEnumerable<TSelf> tensorclasses, Func<IEnumerable<TensorDict>, TensorDict> join)
        {
            TSelf[] all = Argument(tensorclasses).ToArray();
            if (all.Length == 0)
            {
                throw new ArgumentException("at least one tensorclass is needed", nameof(tensorclasses));
            }
            return all[0].Wrap(join(all.Select(tensorclass => tensorclass.Dict)));
        }

        private static T Argument<T>(T? value)
            where T : class => Interop.Argument.NotNull(value, nameof(value));
    }
}
