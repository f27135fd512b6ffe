using System;
using System.Threading;

namespace TensorDicts.Interop
{
    /// <summary>
    /// A handle on what owns memory that the garbage collector does not see. It is told how much, so that it
    /// collects before objects that nobody disposes of fill the machine. A view owns nothing and costs nothing.
    /// </summary>
    internal abstract unsafe class MemoryHandle<T> : NativeHandle<T>
        where T : unmanaged
    {
        // Below this the memory is not looked at again.
        private const long Slack = 1 << 20;

        private long pressure;
        private long limit;

        protected MemoryHandle(T* pointer)
            : base(pointer)
        {
        }

        /// <summary>What the collector was told.</summary>
        internal long Pressure => Interlocked.Read(ref pressure);

        /// <summary>The bytes that freeing this handle now would give back.</summary>
        protected abstract long OwnedBytes();

        protected abstract void Free();

        /// <summary>Tells the collector what a new handle owns.</summary>
        protected void Weigh()
        {
            long bytes = OwnedBytes();
            if (bytes > 0)
            {
                GC.AddMemoryPressure(bytes);
                pressure = bytes;
            }
            limit = Slack + 2 * bytes;
        }

        /// <summary>
        /// What was put in here is given back with this handle, not with its own. Now and then the memory is
        /// looked at anew: what was put in may have replaced something.
        /// </summary>
        internal void TakeOver<TOther>(MemoryHandle<TOther> from)
            where TOther : unmanaged
        {
            long moved = Interlocked.Exchange(ref from.pressure, 0);
            if (moved == 0 || Interlocked.Add(ref pressure, moved) <= limit)
            {
                return;
            }
            // The other handle still holds what has just come: it does not count as owned yet.
            long owned = OwnedBytes() + moved;
            long excess = Interlocked.Exchange(ref pressure, owned) - owned;
            if (excess > 0)
            {
                GC.RemoveMemoryPressure(excess);
            }
            else if (excess < 0)
            {
                GC.AddMemoryPressure(-excess);
            }
            limit = Slack + 2 * owned;
        }

        protected override bool ReleaseHandle()
        {
            Free();
            long bytes = Interlocked.Exchange(ref pressure, 0);
            if (bytes > 0)
            {
                GC.RemoveMemoryPressure(bytes);
            }
            return true;
        }
    }
}
