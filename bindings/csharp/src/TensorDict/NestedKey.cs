using System;
using System.Collections;
using System.Collections.Generic;

namespace TensorDicts
{
    /// <summary>
    /// Where an entry stands: one name for each level. A text, a tuple of texts and an array of texts
    /// turn into a key by themselves.
    /// </summary>
    public readonly struct NestedKey : IReadOnlyList<string>, IEquatable<NestedKey>
    {
        private readonly string[]? names;

        /// <summary>A key of these names, outermost first.</summary>
        public NestedKey(params string[] names)
        {
            this.names = (string[])names.Clone();
        }

        private NestedKey(string[] names, bool owned)
        {
            _ = owned;
            this.names = names;
        }

        /// <summary>The number of names.</summary>
        public int Count => names?.Length ?? 0;

        internal ReadOnlySpan<string> Span => names;

        /// <summary>One name, outermost first.</summary>
        public string this[int level] => Span[level];

        /// <summary>A key of one name; dots and slashes in it mean nothing.</summary>
        public static implicit operator NestedKey(string name) => Own(new[] { name });

        /// <summary>A key of these names.</summary>
        public static implicit operator NestedKey(string[] names) => new NestedKey(names);

        /// <summary>A key of two names.</summary>
        public static implicit operator NestedKey((string First, string Second) names) =>
            new NestedKey(names.First, names.Second);

        /// <summary>A key of three names.</summary>
        public static implicit operator NestedKey((string First, string Second, string Third) names) =>
            new NestedKey(names.First, names.Second, names.Third);

        /// <summary>Whether two keys have the same names.</summary>
        public static bool operator ==(NestedKey left, NestedKey right) => left.Equals(right);

        /// <summary>Whether two keys differ.</summary>
        public static bool operator !=(NestedKey left, NestedKey right) => !left.Equals(right);

        /// <inheritdoc/>
        public bool Equals(NestedKey other) => Span.SequenceEqual(other.Span);

        /// <inheritdoc/>
        public override bool Equals(object? obj) => obj is NestedKey other && Equals(other);

        /// <inheritdoc/>
        public override int GetHashCode()
        {
            var hash = default(HashCode);
            foreach (string name in Span)
            {
                hash.Add(name);
            }
            return hash.ToHashCode();
        }

        /// <summary>The name itself, or all of them as in ("agents", "reward").</summary>
        public override string ToString() =>
            Count == 1 ? this[0] : "(" + string.Join(", ", Array.ConvertAll(names ?? Array.Empty<string>(), n => $"\"{n}\"")) + ")";

        /// <inheritdoc/>
        public IEnumerator<string> GetEnumerator() => ((IEnumerable<string>)(names ?? Array.Empty<string>())).GetEnumerator();

        IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

        /// <summary>A key over an array that nobody else has.</summary>
        internal static NestedKey Own(string[] names) => new NestedKey(names, owned: true);
    }
}
