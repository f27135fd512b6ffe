using System;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;

namespace TensorDicts.Interop
{
    /// <summary>What one walk over several dictionaries carries: the function, and what it threw.</summary>
    internal sealed class EntriesContext
    {
        internal EntriesContext(Func<NestedKey, Entry?[], Entry?> function)
        {
            Function = function;
        }

        internal Func<NestedKey, Entry?[], Entry?> Function { get; }

        internal ExceptionDispatchInfo? Failure { get; set; }
    }

    /// <summary>What the workers on the pieces of a dictionary share.</summary>
    internal sealed class PiecesContext
    {
        private readonly object guard = new object();
        private ExceptionDispatchInfo? failure;
        private ulong failed = ulong.MaxValue;

        internal PiecesContext(Func<MapPiece, TensorDict, TensorDict?> function, Action<long, long>? progress)
        {
            Function = function;
            Progress = progress;
        }

        internal Func<MapPiece, TensorDict, TensorDict?> Function { get; }

        internal Action<long, long>? Progress { get; }

        /// <summary>What Progress threw; it goes before what a piece threw.</summary>
        internal ExceptionDispatchInfo? ProgressFailure { get; set; }

        /// <summary>Keeps what the first piece in order threw: the library tells of that one.</summary>
        internal void Keep(ulong number, Exception thrown)
        {
            lock (guard)
            {
                if (number < failed)
                {
                    failed = number;
                    failure = ExceptionDispatchInfo.Capture(thrown);
                }
            }
        }

        internal void Rethrow()
        {
            ProgressFailure?.Throw();
            lock (guard)
            {
                failure?.Throw();
            }
        }
    }

    /// <content>Functions over entries and over pieces. Those over pieces run on threads of the library.</content>
    internal static unsafe partial class Trampolines
    {
#if NET
        internal static IntPtr Entries =>
            (IntPtr)(delegate* unmanaged[Cdecl]<void*, td_apply_entry*, td_tensor**, td_tensordict**, td_status>)&OnEntry;

        internal static IntPtr Piece =>
            (IntPtr)(delegate* unmanaged[Cdecl]<void*, td_map_piece*, td_tensordict*, td_tensordict**, td_status>)&OnPiece;

        internal static IntPtr Progress =>
            (IntPtr)(delegate* unmanaged[Cdecl]<void*, nuint, nuint, td_status>)&OnProgress;
#else
        private static readonly td_apply_entry_fn EntriesDelegate = OnEntry;
        private static readonly td_map_fn PieceDelegate = OnPiece;
        private static readonly td_progress_fn ProgressDelegate = OnProgress;

        internal static IntPtr Entries { get; } = Marshal.GetFunctionPointerForDelegate(EntriesDelegate);

        internal static IntPtr Piece { get; } = Marshal.GetFunctionPointerForDelegate(PieceDelegate);

        internal static IntPtr Progress { get; } = Marshal.GetFunctionPointerForDelegate(ProgressDelegate);
#endif

#if NET
        [UnmanagedCallersOnly(CallConvs = new[] { typeof(CallConvCdecl) })]
#else
        [MonoPInvokeCallback(typeof(td_apply_entry_fn))]
#endif
        private static td_status OnEntry(void* user, td_apply_entry* entry, td_tensor** tensor, td_tensordict** dict)
        {
            var context = (EntriesContext)GCHandle.FromIntPtr((IntPtr)user).Target!;
            try
            {
                var sources = new Entry?[(int)entry->sources_len];
                for (int i = 0; i < sources.Length; i++)
                {
                    sources[i] = entry->kind == td_entry_kind.TD_ENTRY_DICT ? Shared(entry->dicts[i]) : Shared(entry->tensors[i]);
                }
                switch (context.Function(KeyList.ReadPath(entry->path, entry->path_len), sources))
                {
                    case null:
                        break;
                    case Tensor one:
                        using (var handle = one.Handle.Borrow())
                        {
                            Status.Check(Native.td_tensor_dup(handle.Pointer, tensor));
                        }
                        break;
                    case TensorDict one:
                        using (var handle = one.Handle.Borrow())
                        {
                            Status.Check(Native.td_dup(handle.Pointer, dict));
                        }
                        break;
                    case Entry other:
                        throw new ArgumentException($"a tensor or a dictionary can take the place of an entry, not {other.GetType().Name}");
                }
                return td_status.TD_OK;
            }
            catch (Exception failure)
            {
                context.Failure = ExceptionDispatchInfo.Capture(failure);
                ReportFailure(failure);
                return td_status.TD_ERR_CALLBACK;
            }
        }

        // The borrowed handle dies with the call; the function may keep what it gets.
        private static Tensor? Shared(td_tensor* source)
        {
            if (source == null)
            {
                return null;
            }
            td_tensor* shared = null;
            Status.Check(Native.td_tensor_dup(source, &shared));
            return Tensor.Own(shared);
        }

        private static TensorDict? Shared(td_tensordict* source)
        {
            if (source == null)
            {
                return null;
            }
            td_tensordict* shared = null;
            Status.Check(Native.td_dup(source, &shared));
            return TensorDict.Own(shared);
        }

#if NET
        [UnmanagedCallersOnly(CallConvs = new[] { typeof(CallConvCdecl) })]
#else
        [MonoPInvokeCallback(typeof(td_map_fn))]
#endif
        private static td_status OnPiece(void* user, td_map_piece* piece, td_tensordict* source, td_tensordict** result)
        {
            var context = (PiecesContext)GCHandle.FromIntPtr((IntPtr)user).Target!;
            try
            {
                TensorDict? answer = context.Function(new MapPiece(*piece), Shared(source)!);
                if (answer != null)
                {
                    // The library takes over what it finds in result, the answer stays with whoever made it.
                    using var handle = answer.Handle.Borrow();
                    Status.Check(Native.td_dup(handle.Pointer, result));
                }
                return td_status.TD_OK;
            }
            catch (Exception failure)
            {
                context.Keep(piece->number, failure);
                ReportFailure(failure);
                return td_status.TD_ERR_CALLBACK;
            }
        }

#if NET
        [UnmanagedCallersOnly(CallConvs = new[] { typeof(CallConvCdecl) })]
#else
        [MonoPInvokeCallback(typeof(td_progress_fn))]
#endif
        private static td_status OnProgress(void* user, nuint done, nuint total)
        {
            var context = (PiecesContext)GCHandle.FromIntPtr((IntPtr)user).Target!;
            try
            {
                context.Progress!((long)done, (long)total);
                return td_status.TD_OK;
            }
            catch (Exception failure)
            {
                context.ProgressFailure = ExceptionDispatchInfo.Capture(failure);
                ReportFailure(failure);
                return td_status.TD_ERR_CALLBACK;
            }
        }
    }
}
