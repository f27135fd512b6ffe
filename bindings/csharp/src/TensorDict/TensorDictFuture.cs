using System;
using System.Runtime.CompilerServices;
using System.Threading;
using System.Threading.Tasks;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>
    /// Work on a thread of the library that gives a dictionary. It can be awaited. Disposing of it waits for
    /// nothing: work that goes on is finished.
    /// </summary>
    public sealed unsafe class TensorDictFuture : IDisposable
    {
        private readonly FutureHandle handle;

        internal TensorDictFuture(FutureHandle handle) => this.handle = handle;

        /// <summary>Whether the work is done, well or not.</summary>
        public bool IsCompleted => Ask(0);

        /// <summary>
        /// How many steps are done, and of how many; of a dictionary that is saved these are tensors. The total is
        /// 0 while it is being worked out.
        /// </summary>
        public (long Done, long Total) Progress
        {
            get
            {
                using var borrowed = handle.Borrow();
                nuint done, total;
                Status.Check(Native.td_future_progress(borrowed.Pointer, &done, &total));
                return ((long)done, (long)total);
            }
        }

        /// <summary>Waits for the end of the work.</summary>
        public void Wait() => Ask(-1);

        /// <summary>Waits for the end of the work for some time, and says whether it was reached.</summary>
        public bool Wait(TimeSpan time) => Ask(time == Timeout.InfiniteTimeSpan ? -1 : Math.Max(0, (long)time.TotalMilliseconds));

        /// <summary>Waits and gives the dictionary, the same one each time; or throws why the work has failed.</summary>
        public TensorDict GetResult()
        {
            using var borrowed = handle.Borrow();
            return ResultOf(borrowed.Pointer);
        }

        /// <summary>A task that ends with the work, also when this object is disposed of before.</summary>
        public Task<TensorDict> AsTask()
        {
            // Held from here on: the task may begin after a Dispose.
            td_future* held = handle.Hold();
            try
            {
                return Task.Factory.StartNew(
                    () =>
                    {
                        try
                        {
                            return ResultOf(held);
                        }
                        finally
                        {
                            handle.Drop();
                        }
                    },
                    CancellationToken.None,
                    TaskCreationOptions.LongRunning,
                    TaskScheduler.Default);
            }
            catch
            {
                handle.Drop();
                throw;
            }
        }

        /// <summary>For <c>await</c>.</summary>
        public TaskAwaiter<TensorDict> GetAwaiter() => AsTask().GetAwaiter();

        /// <summary>
        /// Tells the work to end: its result then throws, unless it was done. Transfers of a <see cref="Group"/> can be
        /// cancelled; saves cannot.
        /// </summary>
        public void Cancel()
        {
            using var borrowed = handle.Borrow();
            Status.Check(Native.td_future_cancel(borrowed.Pointer));
        }

        /// <inheritdoc/>
        public void Dispose() => handle.Dispose();

        private static TensorDict ResultOf(td_future* future)
        {
            td_tensordict* result = null;
            return TensorDict.Own(Native.td_future_result(future, &result), result);
        }

        private bool Ask(long timeoutMs)
        {
            using var borrowed = handle.Borrow();
            int done;
            Status.Check(Native.td_future_wait(borrowed.Pointer, timeoutMs, &done));
            return done != 0;
        }
    }
}
