using System;
using System.Collections.Generic;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>
    /// Tensors and dictionaries that are disposed together, last one first. Nothing is added by itself, unless
    /// the scope is that of <see cref="Begin"/>. For one thread at a time.
    /// </summary>
    public sealed class TensorScope : IDisposable
    {
        // Before this many objects nothing is looked through for those that are disposed already.
        private const int Few = 64;

        [ThreadStatic]
        private static TensorScope? current;

        private readonly List<Entry> entries = new List<Entry>();
        private TensorScope? around;
        private int limit = Few;
        private bool disposed;

        /// <summary>
        /// A scope for everything that this thread makes until the result is disposed: what operators, indices and
        /// getters give, too. What shall stay is named by <see cref="AmbientScope.Keep{T}"/>; inside of another such
        /// scope it then belongs to that one.
        /// </summary>
        /// <example><code>
        /// using var scope = TensorScope.Begin();
        /// return scope.Keep((td * 2 + 1) / 3);
        /// </code></example>
        public static AmbientScope Begin()
        {
            var scope = new TensorScope { around = current };
            current = scope;
            return new AmbientScope(scope);
        }

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
            if (entries.Count >= limit)
            {
                entries.RemoveAll(other => other.IsDisposed);
                limit = Math.Max(Few, 2 * entries.Count);
            }
            entries.Add(entry.Held);
            return entry;
        }

        /// <summary>Lets an object that was added outlive the scope, and gives it back.</summary>
        /// <exception cref="ArgumentException">It was not added.</exception>
        public T Keep<T>(T entry)
            where T : Entry
        {
            Argument.NotNull(entry, nameof(entry));
            if (entries.RemoveAll(other => ReferenceEquals(other, entry.Held)) == 0)
            {
                throw new ArgumentException($"the scope holds {entries.Count} objects, but not this {entry.GetType().Name}", nameof(entry));
            }
            around?.Add(entry);
            return entry;
        }

        /// <summary>Disposes what was added and not kept.</summary>
        public void Dispose()
        {
            disposed = true;
            for (TensorScope? scope = current; scope != null; scope = scope.around)
            {
                if (ReferenceEquals(scope, this))
                {
                    // Those inside that nobody has disposed end, too.
                    current = around;
                    break;
                }
            }
            for (int i = entries.Count - 1; i >= 0; i--)
            {
                entries[i].Dispose();
            }
            entries.Clear();
        }

        /// <summary>What was made belongs to the scope of this thread, if there is one.</summary>
        internal static void Enter(Entry entry) => current?.Add(entry);
    }

    /// <summary>
    /// A stretch of code on one thread; Dispose disposes of all that the thread has made in it. It is a ref struct
    /// because code behind an await may run on another thread.
    /// </summary>
    public readonly ref struct AmbientScope
    {
        private readonly TensorScope? scope;

        internal AmbientScope(TensorScope scope)
        {
            this.scope = scope;
        }

        /// <summary>Has an object from before the scope disposed with it, and gives it back.</summary>
        public T Add<T>(T entry)
            where T : Entry => Scope.Add(entry);

        /// <summary>Lets an object outlive the scope, and gives it back.</summary>
        /// <exception cref="ArgumentException">It was not made in the scope.</exception>
        public T Keep<T>(T entry)
            where T : Entry => Scope.Keep(entry);

        /// <summary>Disposes what was made and not kept.</summary>
        public void Dispose() => scope?.Dispose();

        private TensorScope Scope => scope ?? throw new InvalidOperationException("not a scope; TensorScope.Begin() makes one");
    }
}
