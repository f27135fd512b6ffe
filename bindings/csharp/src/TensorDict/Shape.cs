using System;
using System.Collections;
using System.Collections.Generic;

namespace TensorDicts
{
    /// <summary>The sizes of a tensor or of a batch. Compares by value.</summary>
    public readonly struct Shape : IReadOnlyList<long>, IEquatable<Shape>
    {
        private readonly long[]? sizes;

        /// <summary>A shape of these sizes; none for a scalar.</summary>
        public Shape(params long[] sizes)
        {
            this.sizes = (long[])sizes.Clone();
        }

        /// <summary>The number of dimensions.</summary>
        public int Count => sizes?.Length ?? 0;

        /// <summary>The product of all sizes; 1 without dimensions.</summary>
        public long ElementCount
        {
            get
            {
                long product = 1;
                foreach (long size in Span)
                {
                    product = checked(product * size);
                }
                return product;
            }
        }

        /// <summary>The sizes.</summary>
        public ReadOnlySpan<long> Span => sizes;

        /// <summary>One size.</summary>
        public long this[int dim] => Span[dim];

        /// <summary>One size, counted from the end as in shape[^1].</summary>
        public long this[Index dim] => Span[dim.GetOffset(Count)];

        /// <summary>Lets an array stand where a shape is wanted.</summary>
        public static implicit operator Shape(long[] sizes) => new Shape(sizes);

        /// <summary>Whether two shapes have the same sizes.</summary>
        public static bool operator ==(Shape left, Shape right) => left.Equals(right);

        /// <summary>Whether two shapes differ.</summary>
        public static bool operator !=(Shape left, Shape right) => !left.Equals(right);

        /// <summary>A copy of the sizes.</summary>
        public long[] ToArray() => Span.ToArray();

        /// <inheritdoc/>
        public bool Equals(Shape other) => Span.SequenceEqual(other.Span);

        /// <inheritdoc/>
        public override bool Equals(object? obj) => obj is Shape other && Equals(other);

        /// <inheritdoc/>
        public override int GetHashCode()
        {
            var hash = default(HashCode);
            foreach (long size in Span)
            {
                hash.Add(size);
            }
            return hash.ToHashCode();
        }

        /// <summary>The sizes in brackets: "[3, 4]".</summary>
        public override string ToString() => $"[{string.Join(", ", (IEnumerable<long>)this)}]";

        /// <inheritdoc/>
        public IEnumerator<long> GetEnumerator() => ((IEnumerable<long>)(sizes ?? Array.Empty<long>())).GetEnumerator();

        IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

        internal static Shape Own(long[] sizes) => new Shape(sizes, owned: true);

        private Shape(long[] sizes, bool owned)
        {
            _ = owned;
            this.sizes = sizes;
        }
    }
}
