using System;
using System.Collections;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <content>A function over the pieces of a dictionary, on several threads.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>
        /// Makes a dictionary of what a function returns for each piece, in order; null leaves a piece out, and
        /// without any result Map returns null. The function runs on several threads at once unless there is
        /// only one worker. Pieces share memory with this dictionary, so that values written in place are
        /// written here. What the first piece in order throws comes back as it is.
        /// </summary>
        public TensorDict? Map(Func<TensorDict, TensorDict?> function, MapOptions? options = null)
        {
            Argument.NotNull(function, nameof(function));
            return Map((_, piece) => function(piece), options);
        }

        /// <summary>As with a function of the piece alone, but it is told which one it is, too.</summary>
        public TensorDict? Map(Func<MapPiece, TensorDict, TensorDict?> function, MapOptions? options = null)
        {
            options ??= new MapOptions();
            td_map_options raw = options.ToRaw();
            var context = new PiecesContext(Argument.NotNull(function, nameof(function)), options.Progress);
            GCHandle user = GCHandle.Alloc(context);
            try
            {
                using var handle = Handle.BorrowUnseen();
                using var target = options.Out == null ? default : options.Out.Handle.BorrowUnseen();
                raw.@out = target.Pointer;
                raw.progress = options.Progress == null ? IntPtr.Zero : Trampolines.Progress;
                raw.progress_user = (void*)GCHandle.ToIntPtr(user);
                td_tensordict* result = null;
                td_status status = Native.td_map(
                    handle.Pointer, &raw, Trampolines.Piece, (void*)GCHandle.ToIntPtr(user), &result);
                if (status != td_status.TD_OK)
                {
                    context.Rethrow();
                    Status.Check(status);
                }
                return result == null ? null : Own(result);
            }
            finally
            {
                user.Free();
            }
        }

        /// <summary>
        /// What a function returns for each piece, one by one and in order, while workers go ahead; null leaves
        /// a piece out. Leaving the loop waits for the pieces that have been begun.
        /// </summary>
        public IEnumerable<TensorDict> MapEach(Func<MapPiece, TensorDict, TensorDict?> function, MapOptions? options = null)
        {
            Argument.NotNull(function, nameof(function));
            options ??= new MapOptions();
            options.ToRaw();
            return new MapResults(this, function, options);
        }

        private sealed class MapResults : IEnumerable<TensorDict>
        {
            private readonly TensorDict td;
            private readonly Func<MapPiece, TensorDict, TensorDict?> function;
            private readonly MapOptions options;

            internal MapResults(TensorDict td, Func<MapPiece, TensorDict, TensorDict?> function, MapOptions options)
            {
                this.td = td;
                this.function = function;
                this.options = options;
            }

            public IEnumerator<TensorDict> GetEnumerator() => new MapEnumerator(td, function, options);

            IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
        }

        private sealed class MapEnumerator : IEnumerator<TensorDict>
        {
            private readonly PiecesContext context;
            private readonly MapIterHandle handle;
            private TensorDict? current;

            internal MapEnumerator(TensorDict td, Func<MapPiece, TensorDict, TensorDict?> function, MapOptions options)
            {
                td_map_options raw = options.ToRaw();
                context = new PiecesContext(function, null);
                GCHandle user = GCHandle.Alloc(context);
                try
                {
                    using var borrowed = td.Handle.BorrowUnseen();
                    td_map_iter* result = null;
                    Status.Check(Native.td_map_iter_create(
                        borrowed.Pointer, &raw, Trampolines.Piece, (void*)GCHandle.ToIntPtr(user), &result));
                    handle = new MapIterHandle(result, user);
                }
                catch
                {
                    user.Free();
                    throw;
                }
            }

            public TensorDict Current => current ?? throw new InvalidOperationException("the iterator has no current result");

            object IEnumerator.Current => Current;

            public bool MoveNext()
            {
                current = null;
                using var borrowed = handle.Borrow();
                td_tensordict* result = null;
                td_status status = Native.td_map_iter_next(borrowed.Pointer, &result, null);
                if (status != td_status.TD_OK)
                {
                    context.Rethrow();
                    Status.Check(status);
                }
                current = result == null ? null : Own(result);
                return current != null;
            }

            public void Reset() => throw new NotSupportedException();

            public void Dispose() => handle.Dispose();
        }
    }
}
