using System;

namespace TensorDicts
{
    /// <summary>
    /// An entry: a <see cref="Tensor"/>, a <see cref="TensorDict"/>, <see cref="NonTensor"/> or a
    /// <see cref="NestedTensor"/>.
    /// Tell them apart by pattern matching.
    /// </summary>
    public abstract class Entry : IDisposable
    {
        private protected Entry()
        {
        }

        /// <summary>The object that owns the reference: this one, but for a nested tensor.</summary>
        internal virtual Entry Held => this;

        /// <summary>Whether Dispose was called.</summary>
        internal abstract bool IsDisposed { get; }

        /// <summary>Gives the reference back. What it refers to lives on where else it is used.</summary>
        public abstract void Dispose();
    }

    /// <summary>A non-tensor value, such as a text, as JSON. It can be read only.</summary>
    public sealed class NonTensor : Entry
    {
        internal NonTensor(string json)
        {
            Json = json;
        }

        /// <summary>The value as JSON text: a text stands in quotes.</summary>
        public string Json { get; }

        internal override bool IsDisposed => true;

        /// <summary>Nothing to give back: the value is a copy.</summary>
        public override void Dispose()
        {
        }

        /// <summary>The JSON text.</summary>
        public override string ToString() => Json;
    }
}
