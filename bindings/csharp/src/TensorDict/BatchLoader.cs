using System;
using System.Collections;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>Minibatches.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// The rows of a dictionary as batches of so many each; a row is an element of the first batch dimension.
        /// The order follows from the seed alone, whatever the number of workers, and is the same in every language.
        /// </summary>
        public BatchLoader Batches(long rows, BatchOptions? options = null) =>
            new BatchLoader(this, null, rows, options ?? new BatchOptions());

        /// <summary>As with options, each row once in another order in each epoch.</summary>
        public BatchLoader Batches(long rows, bool shuffle, ulong? seed = null, int numWorkers = 0) =>
            new BatchLoader(this, null, rows, new BatchOptions { Shuffle = shuffle, Seed = seed, NumWorkers = numWorkers });
    }

    /// <summary>
    /// Gives the batches of a dictionary. A foreach or an await foreach runs through one epoch, or as many as the
    /// options say; the next one goes on with the epoch behind them.
    /// </summary>
    public sealed unsafe class BatchLoader : IEnumerable<TensorDict>, IDisposable
    {
        private readonly LoaderHandle handle;
        private readonly int epochs;
        private readonly bool reuse;

        // Of a dictionary or of a data set.
        internal BatchLoader(TensorDict? td, Dataset? set, long rows, BatchOptions options)
        {
            epochs = options.Epochs >= 0 ? options.Epochs
                : throw new ArgumentOutOfRangeException(nameof(options), "Epochs must be at least 0");
            reuse = options.Reuse;
            td_loader_options raw = options.ToRaw(rows);
            using var keys = new Utf8Keys(options.Keys ?? Array.Empty<NestedKey>());
            using var ends = new Utf8Keys(options.Ends ?? Array.Empty<NestedKey>());
            using var episode = Utf8Keys.Optional(options.Episode);
            raw.keys = keys.Pointer;
            raw.keys_len = keys.Length;
            raw.ends = ends.Pointer;
            raw.ends_len = ends.Length;
            raw.episode = episode.Pointer;
            using var source = td == null ? default : td.Handle.BorrowUnseen();
            using var steps = set == null ? default : set.Handle.Borrow();
            using var weights = options.Weights == null ? default : options.Weights.Handle.Borrow();
            using var module = options.Transform == null ? default : options.Transform.Handle.Borrow();
            raw.weights = weights.Pointer;
            raw.module = module.Pointer;
            td_loader* result = null;
            Status.Check(set == null
                ? Native.td_loader_create(source.Pointer, &raw, &result)
                : Native.td_loader_create_from_dataset(steps.Pointer, &raw, &result));
            handle = new LoaderHandle(result);
        }

        /// <summary>
        /// The next batch; null at the end of each epoch, once. If it fails, the next call tries the batch again.
        /// </summary>
        public TensorDict? Next()
        {
            using var own = handle.Borrow();
            td_tensordict* result = null;
            Status.Check(Native.td_loader_next(own.Pointer, &result));
            return result == null ? null : TensorDict.Own(result);
        }

        /// <summary>The number of the epoch, from 0; between two epochs that of the next one.</summary>
        public long Epoch => Place().Epoch;

        /// <summary>The number of the next batch in its epoch, from 0.</summary>
        public long Batch => Place().Batch;

        /// <summary>How many batches the epoch has; between two epochs 0.</summary>
        public long BatchCount => Place().Count;

        private (long Epoch, long Batch, long Count) Place()
        {
            using var own = handle.Borrow();
            long epoch = 0, batch = 0, batches = 0;
            Status.Check(Native.td_loader_where(own.Pointer, &epoch, &batch, &batches));
            return (epoch, batch, batches);
        }

        /// <summary>What another loader with the same options needs to go on at the same batch.</summary>
        public TensorDict GetState()
        {
            using var own = handle.Borrow();
            td_tensordict* result = null;
            return TensorDict.Own(Native.td_loader_state(own.Pointer, &result), result);
        }

        /// <summary>Goes to where another loader was.</summary>
        public void LoadState(TensorDict state)
        {
            using var own = handle.Borrow();
            using var source = Argument.NotNull(state, nameof(state)).Handle.Borrow();
            Status.Check(Native.td_loader_load_state(own.Pointer, source.Pointer));
        }

        /// <summary>One epoch, or as many as the options say.</summary>
        public IEnumerator<TensorDict> GetEnumerator() => new Epochs(this, default);

        IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

        /// <summary>
        /// For await foreach: the thread that asks is free while a batch is made. An IAsyncEnumerable it is not, or
        /// LINQ could not tell which of two Select is meant.
        /// </summary>
        public IAsyncEnumerator<TensorDict> GetAsyncEnumerator(CancellationToken cancellationToken = default) =>
            new Epochs(this, cancellationToken);

        /// <summary>Stops the workers. Batches stay.</summary>
        public void Dispose() => handle.Dispose();

        private sealed class Epochs : IEnumerator<TensorDict>, IAsyncEnumerator<TensorDict>
        {
            private readonly BatchLoader loader;
            private readonly CancellationToken cancellation;
            private TensorDict? current;
            private int ended;

            internal Epochs(BatchLoader loader, CancellationToken cancellation)
            {
                this.loader = loader;
                this.cancellation = cancellation;
            }

            public TensorDict Current => current ?? throw new InvalidOperationException("there is no current batch");

            object IEnumerator.Current => Current;

            public bool MoveNext()
            {
                if (loader.reuse)
                {
                    current?.Dispose();
                }
                current = null;
                bool over = loader.epochs != 0 && ended == loader.epochs;
                // An epoch without a batch is the end, too: there is nothing to wait for.
                for (int tries = 0; !over && tries < 2 && current == null; tries++)
                {
                    current = loader.Next();
                    over = current == null && ++ended == loader.epochs;
                }
                return current != null;
            }

            public ValueTask<bool> MoveNextAsync() => new ValueTask<bool>(Task.Run(MoveNext, cancellation));

            public void Reset() => throw new NotSupportedException();

            public void Dispose()
            {
                if (loader.reuse)
                {
                    current?.Dispose();
                }
            }

            public ValueTask DisposeAsync()
            {
                Dispose();
                return default;
            }
        }
    }
}
