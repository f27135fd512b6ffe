using System;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;

namespace TensorDicts.Interop
{
    /// <summary>The function of a module, which lives as long as any module that may call it.</summary>
    internal sealed class ModuleContext
    {
        // Functions run on the thread of the call: what one threw waits here until the call has come back.
        [ThreadStatic]
        private static ExceptionDispatchInfo? failure;

        internal ModuleContext(Func<TensorDict, TensorDict?> function)
        {
            Function = function;
        }

        internal Func<TensorDict, TensorDict?> Function { get; }

        internal static void Keep(Exception thrown) => failure = ExceptionDispatchInfo.Capture(thrown);

        /// <summary>What a function threw goes before the status.</summary>
        internal static void Check(td_status status)
        {
            ExceptionDispatchInfo? thrown = failure;
            failure = null;
            if (status != td_status.TD_OK)
            {
                thrown?.Throw();
                Status.Check(status);
            }
        }
    }

    /// <content>Functions that are modules.</content>
    internal static unsafe partial class Trampolines
    {
#if NET
        internal static IntPtr Module =>
            (IntPtr)(delegate* unmanaged[Cdecl]<void*, td_tensordict*, td_tensordict**, td_status>)&OnModule;
#else
        private static readonly td_module_fn ModuleDelegate = OnModule;

        internal static IntPtr Module { get; } = Marshal.GetFunctionPointerForDelegate(ModuleDelegate);
#endif

#if NET
        [UnmanagedCallersOnly(CallConvs = new[] { typeof(CallConvCdecl) })]
#else
        [MonoPInvokeCallback(typeof(td_module_fn))]
#endif
        private static td_status OnModule(void* user, td_tensordict* source, td_tensordict** result)
        {
            var context = (ModuleContext)GCHandle.FromIntPtr((IntPtr)user).Target!;
            try
            {
                TensorDict? answer = context.Function(Shared(source)!);
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
                ModuleContext.Keep(failure);
                ReportFailure(failure);
                return td_status.TD_ERR_CALLBACK;
            }
        }
    }
}
