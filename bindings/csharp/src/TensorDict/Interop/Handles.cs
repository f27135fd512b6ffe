using System;
using System.Runtime.InteropServices;
using System.Threading;

namespace TensorDicts.Interop
{
    /// <summary>
    /// Owns one handle of the library. Calls use it through <see cref="Borrow"/>, so that a Dispose on
    /// another thread waits for the call instead of freeing under it.
    /// </summary>
    internal abstract unsafe class NativeHandle<T> : SafeHandle
        where T : unmanaged
    {
        // SafeHandle counts as open as long as a view holds it; for the user it is closed by then.
        private volatile bool disposed;

        protected NativeHandle(T* pointer)
            : base(IntPtr.Zero, ownsHandle: true)
        {
            SetHandle((IntPtr)pointer);
#if !NET
            // Where the loader is not ours, the first object is the first chance to look.
            Status.RequireVersion();
#endif
        }

        public override bool IsInvalid => handle == IntPtr.Zero;

        /// <summary>The name under which a user knows the owner.</summary>
        protected abstract string Owner { get; }

        internal Borrowed<T> Borrow() => new Borrowed<T>(this, Hold());

        /// <summary>Keeps the handle until <see cref="Drop"/>, for lists of them; else use Borrow.</summary>
        internal T* Hold()
        {
            if (disposed)
            {
                throw new ObjectDisposedException(Owner);
            }
            bool taken = false;
            DangerousAddRef(ref taken);
            return (T*)handle;
        }

        internal void Drop() => DangerousRelease();

        protected override void Dispose(bool disposing)
        {
            disposed = true;
            base.Dispose(disposing);
        }
    }

    /// <summary>A handle that cannot go before Dispose.</summary>
    internal readonly unsafe ref struct Borrowed<T>
        where T : unmanaged
    {
        private readonly NativeHandle<T>? owner;

        internal Borrowed(NativeHandle<T> owner, T* pointer)
        {
            this.owner = owner;
            Pointer = pointer;
        }

        internal T* Pointer { get; }

        public void Dispose() => owner?.Drop();
    }

    internal sealed unsafe class DictHandle : NativeHandle<td_tensordict>
    {
        internal DictHandle(td_tensordict* pointer)
            : base(pointer)
        {
        }

        protected override string Owner => nameof(TensorDict);

        /// <summary>NULL for a dictionary that was not given.</summary>
        internal static Borrowed<td_tensordict> BorrowOrNull(TensorDict? dict) =>
            dict is null ? default : dict.Handle.Borrow();

        protected override bool ReleaseHandle()
        {
            Native.td_free((td_tensordict*)handle);
            return true;
        }
    }

    internal sealed unsafe class TensorHandle : NativeHandle<td_tensor>
    {
        // What the garbage collector is told about memory that only the library sees.
        private readonly long pressure;

        internal TensorHandle(td_tensor* pointer, long pressure)
            : base(pointer)
        {
            if (pressure > 0)
            {
                GC.AddMemoryPressure(pressure);
                this.pressure = pressure;
            }
        }

        protected override string Owner => nameof(Tensor);

        protected override bool ReleaseHandle()
        {
            Native.td_tensor_free((td_tensor*)handle);
            if (pressure > 0)
            {
                GC.RemoveMemoryPressure(pressure);
            }
            return true;
        }
    }

    internal sealed unsafe class KeysHandle : NativeHandle<td_keys>
    {
        internal KeysHandle(td_keys* pointer)
            : base(pointer)
        {
        }

        protected override string Owner => "Keys";

        protected override bool ReleaseHandle()
        {
            Native.td_keys_free((td_keys*)handle);
            return true;
        }
    }

    internal sealed unsafe class FutureHandle : NativeHandle<td_future>
    {
        internal FutureHandle(td_future* pointer)
            : base(pointer)
        {
        }

        protected override string Owner => nameof(TensorDictFuture);

        protected override bool ReleaseHandle()
        {
            int done;
            if (Native.td_future_wait((td_future*)handle, 0, &done) == td_status.TD_OK && done != 0)
            {
                Native.td_future_free((td_future*)handle);
                return true;
            }
            // The finalizer must not wait for the work.
            IntPtr token = handle;
            return ThreadPool.UnsafeQueueUserWorkItem(_ => Native.td_future_free((td_future*)token), null);
        }
    }

    internal sealed unsafe class MapIterHandle : NativeHandle<td_map_iter>
    {
        // What the callbacks are called with, as long as the library may call them.
        private GCHandle user;

        internal MapIterHandle(td_map_iter* pointer, GCHandle user)
            : base(pointer)
        {
            this.user = user;
        }

        protected override string Owner => "MapEach";

        protected override bool ReleaseHandle()
        {
            Native.td_map_iter_free((td_map_iter*)handle);
            user.Free();
            return true;
        }
    }

    internal sealed unsafe class WriterHandle : NativeHandle<td_writer>
    {
        internal WriterHandle(td_writer* pointer)
            : base(pointer)
        {
        }

        protected override string Owner => nameof(TensorDictWriter);

        protected override bool ReleaseHandle()
        {
            Native.td_writer_free((td_writer*)handle);
            return true;
        }
    }

    internal sealed unsafe class RecordTypeHandle : NativeHandle<td_record_type>
    {
        internal RecordTypeHandle(td_record_type* pointer)
            : base(pointer)
        {
        }

        protected override string Owner => nameof(RecordType);

        protected override bool ReleaseHandle()
        {
            Native.td_record_type_free((td_record_type*)handle);
            return true;
        }
    }
}
