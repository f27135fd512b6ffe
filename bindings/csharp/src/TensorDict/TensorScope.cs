using System;
using System.Collections.Generic;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>
    /// Tensors and dictionaries that are disposed together, last one first. Nothing is added by itself.
    /// For one thread at a time.
    /// </summary>
    public sealed class TensorScope : IDisposable
    {
        private readonly List<Entry> entries = new List<Entry>();
        private bool disposed;

        /// <summary>Has an object disposed with the scope, and gives it back.</summary>
        /// <exception cref="ObjectDisposedException">The scope is disposed; the object is left alone.</exception>
        public T Add<T>(T entry)
            where T : Entry
        {
            Argument.NotNull(entry, nameof(entry));
            if (disposed)
            {
                throw new ObjectDisposedException(nameof(TensorScope));
            }
            entries.Add(entry);
            return entry;
        }

        /// <summary>Lets an object that was added outlive the scope, and gives it back.</summary>
        /// <exception cref="ArgumentException">It was not added.</exception>
        public T Keep<T>(T entry)
            where T : Entry
        {
            Argument.NotNull(entry, nameof(entry));
            if (entries.RemoveAll(other => ReferenceEquals(other, entry)) == 0)
            {
                throw new ArgumentException($"the scope holds {entries.Count} objects, but not this {entry.GetType().Name}", nameof(entry));
            }
            return entry;
        }

        /// <summary>Disposes what was added and not kept.</summary>
        public void Dispose()
        {
            disposed = true;
            for (int i = entries.Count - 1; i >= 0; i--)
            {
                entries[i].Dispose();
            }
            entries.Clear();
        }
    }
}
