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

        internal bool IsDisposed => disposed;

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

    /// <summary>A second handle on a tensor, held by a view of its values.</summary>
    internal static unsafe class TensorLease
    {
        internal static void End(td_tensor* lease) => Native.td_tensor_free(lease);
    }

    /// <summary>A handle that cannot go before Dispose.</summary>
    internal readonly unsafe ref struct Borrowed<T>
        where T : unmanaged
    {
        private readonly NativeHandle<T>? owner;
        private readonly DictHandle.Use use;

        internal Borrowed(NativeHandle<T> owner, T* pointer, DictHandle.Use use = DictHandle.Use.Unseen)
        {
            this.owner = owner;
            this.use = use;
            Pointer = pointer;
        }

        internal T* Pointer { get; }

        public void Dispose()
        {
            if (use != DictHandle.Use.Unseen)
            {
                ((DictHandle)(object)owner!).Leave(use);
            }
            owner?.Drop();
        }
    }

    /// <summary>
    /// Owns a handle on a dictionary, and finds out when one thread changes the dictionary through it while
    /// another one uses it. The library leaves that to its callers; here it would be a broken heap.
    /// </summary>
    internal sealed unsafe class DictHandle : MemoryHandle<td_tensordict>
    {
        // How many calls read; -1 while one changes.
        private int users;

        // The thread that changes: calls inside its call are part of the change.
        private int changer;

        internal DictHandle(td_tensordict* pointer)
            : base(pointer)
        {
            Weigh();
        }

        /// <summary>What a call is for.</summary>
        internal enum Use : byte
        {
            /// <summary>Runs functions of the user, who may call for the same dictionary inside: nothing is checked.</summary>
            Unseen,

            /// <summary>Reads.</summary>
            Read,

            /// <summary>Changes the dictionary or the values in it.</summary>
            Change,
        }

        protected override string Owner => nameof(TensorDict);

        /// <summary>For a call that only reads.</summary>
        internal new Borrowed<td_tensordict> Borrow() => Enter(Use.Read);

        /// <summary>For a call that takes the dictionary without const. Of several, this one goes first.</summary>
        internal Borrowed<td_tensordict> BorrowToChange() => Enter(Use.Change);

        /// <summary>For a call that runs functions of the user.</summary>
        internal Borrowed<td_tensordict> BorrowUnseen() => base.Borrow();

        /// <summary>NULL for a dictionary that was not given.</summary>
        internal static Borrowed<td_tensordict> BorrowOrNull(TensorDict? dict) =>
            dict is null ? default : dict.Handle.Borrow();

        /// <summary>A second handle on the same dictionary.</summary>
        internal DictHandle Share()
        {
            using var borrowed = Borrow();
            td_tensordict* result = null;
            Status.Check(Native.td_dup(borrowed.Pointer, &result));
            return new DictHandle(result);
        }

        internal void Leave(Use use)
        {
            if (use == Use.Read)
            {
                Interlocked.Decrement(ref users);
                return;
            }
            Volatile.Write(ref changer, 0);
            Volatile.Write(ref users, 0);
        }

        protected override long OwnedBytes()
        {
            nuint bytes;
            return Native.td_owned_nbytes((td_tensordict*)handle, &bytes) == td_status.TD_OK ? (long)bytes : 0;
        }

        protected override void Free() => Native.td_free((td_tensordict*)handle);

        private Borrowed<td_tensordict> Enter(Use use)
        {
            td_tensordict* pointer = Hold();
            int found = use == Use.Change ? Interlocked.CompareExchange(ref users, -1, 0) : Read();
            bool mine = found < 0 && Volatile.Read(ref changer) == Environment.CurrentManagedThreadId;
            if (!mine && (found < 0 || (use == Use.Change && found > 0)))
            {
                Drop();
                throw new InvalidOperationException(
                    found < 0
                        ? "another thread is changing this TensorDict; a call that changes it needs exclusive access, use a lock"
                        : "another thread is reading this TensorDict; a call that changes it needs exclusive access, use a lock");
            }
            if (mine)
            {
                use = Use.Unseen;
            }
            else if (use == Use.Change)
            {
                Volatile.Write(ref changer, Environment.CurrentManagedThreadId);
            }
            return new Borrowed<td_tensordict>(this, pointer, use);
        }

        // Counts one more reader unless somebody changes, and gives the number from before.
        private int Read()
        {
            int found = Volatile.Read(ref users);
            while (found >= 0)
            {
                int before = Interlocked.CompareExchange(ref users, found + 1, found);
                if (before == found)
                {
                    break;
                }
                found = before;
            }
            return found;
        }
    }

    internal sealed unsafe class TensorHandle : MemoryHandle<td_tensor>
    {
        internal TensorHandle(td_tensor* pointer)
            : base(pointer)
        {
            Weigh();
        }

        protected override string Owner => nameof(Tensor);

        protected override long OwnedBytes()
        {
            nuint bytes;
            return Native.td_tensor_owned_nbytes((td_tensor*)handle, &bytes) == td_status.TD_OK ? (long)bytes : 0;
        }

        protected override void Free() => Native.td_tensor_free((td_tensor*)handle);
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

    internal sealed unsafe class TensorDictModuleHandle : NativeHandle<td_module>
    {
        internal TensorDictModuleHandle(td_module* pointer)
            : base(pointer)
        {
        }

        protected override string Owner => nameof(TensorDictModule);

        protected override bool ReleaseHandle()
        {
            Native.td_module_free((td_module*)handle);
            return true;
        }
    }

    internal sealed unsafe class OptimizerHandle : NativeHandle<td_optimizer>
    {
        internal OptimizerHandle(td_optimizer* pointer)
            : base(pointer)
        {
        }

        protected override string Owner => nameof(Optimizer);

        protected override bool ReleaseHandle()
        {
            Native.td_optimizer_free((td_optimizer*)handle);
            return true;
        }
    }

    internal sealed unsafe class GeneratorHandle : NativeHandle<td_generator>
    {
        internal GeneratorHandle(td_generator* pointer)
            : base(pointer)
        {
        }

        protected override string Owner => nameof(Generator);

        protected override bool ReleaseHandle()
        {
            Native.td_generator_free((td_generator*)handle);
            return true;
        }
    }

    internal sealed unsafe class LoaderHandle : NativeHandle<td_loader>
    {
        internal LoaderHandle(td_loader* pointer)
            : base(pointer)
        {
        }

        protected override string Owner => nameof(BatchLoader);

        protected override bool ReleaseHandle()
        {
            Native.td_loader_free((td_loader*)handle);
            return true;
        }
    }

    internal sealed unsafe class ReplayHandle : NativeHandle<td_replay>
    {
        internal ReplayHandle(td_replay* pointer)
            : base(pointer)
        {
        }

        protected override string Owner => nameof(Replay);

        protected override bool ReleaseHandle()
        {
            Native.td_replay_free((td_replay*)handle);
            return true;
        }
    }

    internal sealed unsafe class Hdf5Handle : NativeHandle<td_hdf5>
    {
        internal Hdf5Handle(td_hdf5* pointer)
            : base(pointer)
        {
        }

        protected override string Owner => nameof(Hdf5File);

        protected override bool ReleaseHandle()
        {
            Native.td_hdf5_free((td_hdf5*)handle);
            return true;
        }
    }

    internal sealed unsafe class DatasetHandle : NativeHandle<td_dataset>
    {
        internal DatasetHandle(td_dataset* pointer)
            : base(pointer)
        {
        }

        protected override string Owner => nameof(Dataset);

        protected override bool ReleaseHandle()
        {
            Native.td_dataset_free((td_dataset*)handle);
            return true;
        }
    }

    internal sealed unsafe class DatasetWriterHandle : NativeHandle<td_dataset_writer>
    {
        internal DatasetWriterHandle(td_dataset_writer* pointer)
            : base(pointer)
        {
        }

        protected override string Owner => nameof(DatasetWriter);

        protected override bool ReleaseHandle()
        {
            Native.td_dataset_writer_free((td_dataset_writer*)handle);
            return true;
        }
    }

    internal sealed unsafe class StoreHandle : NativeHandle<td_store>
    {
        internal StoreHandle(td_store* pointer)
            : base(pointer)
        {
        }

        protected override string Owner => nameof(TensorDictStore);

        protected override bool ReleaseHandle()
        {
            Native.td_store_free((td_store*)handle);
            return true;
        }
    }

    internal sealed unsafe class GroupHandle : NativeHandle<td_group>
    {
        internal GroupHandle(td_group* pointer)
            : base(pointer)
        {
        }

        protected override string Owner => nameof(Group);

        protected override bool ReleaseHandle()
        {
            Native.td_group_free((td_group*)handle);
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

    internal sealed unsafe class TensorclassTypeHandle : NativeHandle<td_tensorclass>
    {
        internal TensorclassTypeHandle(td_tensorclass* pointer)
            : base(pointer)
        {
        }

        protected override string Owner => nameof(TensorclassType);

        protected override bool ReleaseHandle()
        {
            Native.td_tensorclass_free((td_tensorclass*)handle);
            return true;
        }
    }
}
