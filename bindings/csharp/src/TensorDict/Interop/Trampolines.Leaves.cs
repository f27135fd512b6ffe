using System;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;

namespace TensorDicts.Interop
{
    /// <summary>What one listing carries: the predicate, and what it threw.</summary>
    internal sealed class LeafContext
    {
        internal LeafContext(Func<NestedKey, bool> isLeaf)
        {
            IsLeaf = isLeaf;
        }

        internal Func<NestedKey, bool> IsLeaf { get; }

        internal ExceptionDispatchInfo? Failure { get; set; }
    }

    /// <content>The predicate that decides what counts as a leaf.</content>
    internal static unsafe partial class Trampolines
    {
#if NET
        internal static IntPtr Leaf =>
            (IntPtr)(delegate* unmanaged[Cdecl]<void*, byte**, nuint, td_entry_kind, int*, td_status>)&OnLeaf;
#else
        private static readonly td_leaf_fn LeafDelegate = OnLeaf;

        internal static IntPtr Leaf { get; } = Marshal.GetFunctionPointerForDelegate(LeafDelegate);
#endif

        /// <summary>Calls with the predicate, or with none, and throws what it threw.</summary>
        internal static td_status Asking(Func<NestedKey, bool>? isLeaf, Func<IntPtr, IntPtr, td_status> call)
        {
            if (isLeaf == null)
            {
                return call(IntPtr.Zero, IntPtr.Zero);
            }
            var context = new LeafContext(isLeaf);
            GCHandle user = GCHandle.Alloc(context);
            try
            {
                td_status status = call(Leaf, GCHandle.ToIntPtr(user));
                context.Failure?.Throw();
                return status;
            }
            finally
            {
                user.Free();
            }
        }

#if NET
        [UnmanagedCallersOnly(CallConvs = new[] { typeof(CallConvCdecl) })]
#else
        [MonoPInvokeCallback(typeof(td_leaf_fn))]
#endif
        private static td_status OnLeaf(void* user, byte** path, nuint length, td_entry_kind kind, int* answer)
        {
            var context = (LeafContext)GCHandle.FromIntPtr((IntPtr)user).Target!;
            try
            {
                *answer = context.IsLeaf(KeyList.ReadPath(path, length)) ? 1 : 0;
                return td_status.TD_OK;
            }
            catch (Exception failure)
            {
                context.Failure = ExceptionDispatchInfo.Capture(failure);
                ReportFailure(failure);
                return td_status.TD_ERR_CALLBACK;
            }
        }
    }
}
