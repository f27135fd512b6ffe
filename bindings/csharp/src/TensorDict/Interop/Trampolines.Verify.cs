using System;
using System.Collections.Generic;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;

namespace TensorDicts.Interop
{
    /// <summary>What one verification carries: what it has found, and what Progress threw.</summary>
    internal sealed class VerifyContext
    {
        internal VerifyContext(Action<long, long>? progress)
        {
            Progress = progress;
        }

        internal Action<long, long>? Progress { get; }

        internal List<Damage> Found { get; } = new List<Damage>();

        internal ExceptionDispatchInfo? Failure { get; set; }
    }

    /// <content>What verifications tell, on the calling thread.</content>
    internal static unsafe partial class Trampolines
    {
#if NET
        internal static IntPtr Damage => (IntPtr)(delegate* unmanaged[Cdecl]<void*, td_damage*, td_status>)&OnDamage;

        internal static IntPtr Bytes => (IntPtr)(delegate* unmanaged[Cdecl]<void*, nuint, nuint, td_status>)&OnBytes;
#else
        private static readonly td_damage_fn DamageDelegate = OnDamage;
        private static readonly td_progress_fn BytesDelegate = OnBytes;

        internal static IntPtr Damage { get; } = Marshal.GetFunctionPointerForDelegate(DamageDelegate);

        internal static IntPtr Bytes { get; } = Marshal.GetFunctionPointerForDelegate(BytesDelegate);
#endif

#if NET
        [UnmanagedCallersOnly(CallConvs = new[] { typeof(CallConvCdecl) })]
#else
        [MonoPInvokeCallback(typeof(td_damage_fn))]
#endif
        private static td_status OnDamage(void* user, td_damage* damage)
        {
            var context = (VerifyContext)GCHandle.FromIntPtr((IntPtr)user).Target!;
            return Run(context, () => context.Found.Add(
                new TensorDicts.Damage(*damage, Utf8.Read(damage->path), Utf8.Read(damage->message))));
        }

#if NET
        [UnmanagedCallersOnly(CallConvs = new[] { typeof(CallConvCdecl) })]
#else
        [MonoPInvokeCallback(typeof(td_progress_fn))]
#endif
        private static td_status OnBytes(void* user, nuint done, nuint total)
        {
            var context = (VerifyContext)GCHandle.FromIntPtr((IntPtr)user).Target!;
            return Run(context, () => context.Progress!((long)done, (long)total));
        }

        // What a function throws must not cross the library.
        private static td_status Run(VerifyContext context, Action function)
        {
            try
            {
                function();
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
