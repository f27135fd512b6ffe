using System;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;

namespace TensorDicts.Interop
{
#if !NET
    /// <summary>Tells ahead-of-time compilers such as IL2CPP, which go by its name, what native code calls.</summary>
    [AttributeUsage(AttributeTargets.Method)]
    internal sealed class MonoPInvokeCallbackAttribute : Attribute
    {
        public MonoPInvokeCallbackAttribute(Type type)
        {
            _ = type;
        }
    }
#endif

    /// <summary>What one walk carries: the function, and what it threw.</summary>
    internal sealed class ApplyContext
    {
        internal ApplyContext(Func<NestedKey, Tensor, Tensor?> function)
        {
            Function = function;
        }

        internal Func<NestedKey, Tensor, Tensor?> Function { get; }

        internal ExceptionDispatchInfo? Failure { get; set; }
    }

    /// <summary>
    /// The functions that the library calls. Static, with a GCHandle as user pointer; no exception passes
    /// through native frames.
    /// </summary>
    internal static unsafe partial class Trampolines
    {
#if NET
        internal static IntPtr Apply =>
            (IntPtr)(delegate* unmanaged[Cdecl]<void*, byte**, nuint, td_tensor*, td_tensor**, td_status>)&OnApply;

        internal static IntPtr Log => (IntPtr)(delegate* unmanaged[Cdecl]<void*, td_log_level, byte*, void>)&OnLog;

        internal static IntPtr Release => (IntPtr)(delegate* unmanaged[Cdecl]<void*, void>)&OnRelease;
#else
        // The fields keep the delegates alive as long as native code may call them.
        private static readonly td_apply_fn ApplyDelegate = OnApply;
        private static readonly td_log_fn LogDelegate = OnLog;
        private static readonly td_release_fn ReleaseDelegate = OnRelease;

        internal static IntPtr Apply { get; } = Marshal.GetFunctionPointerForDelegate(ApplyDelegate);

        internal static IntPtr Log { get; } = Marshal.GetFunctionPointerForDelegate(LogDelegate);

        internal static IntPtr Release { get; } = Marshal.GetFunctionPointerForDelegate(ReleaseDelegate);
#endif

        /// <summary>A user pointer for <see cref="Release"/>, which frees it and calls an Action.</summary>
        internal static void* User(object target) => (void*)GCHandle.ToIntPtr(GCHandle.Alloc(target));

#if NET
        [UnmanagedCallersOnly(CallConvs = new[] { typeof(CallConvCdecl) })]
#else
        [MonoPInvokeCallback(typeof(td_apply_fn))]
#endif
        private static td_status OnApply(void* user, byte** path, nuint length, td_tensor* source, td_tensor** result)
        {
            var context = (ApplyContext)GCHandle.FromIntPtr((IntPtr)user).Target!;
            try
            {
                // The borrowed handle dies with this call; the function may keep what it gets.
                td_tensor* shared = null;
                Status.Check(Native.td_tensor_dup(source, &shared));
                Tensor? answer = context.Function(KeyList.ReadPath(path, length), Tensor.Own(shared));
                if (answer != null)
                {
                    // The library takes over what it finds in result, the answer stays with whoever made it.
                    using var handle = answer.Handle.Borrow();
                    Status.Check(Native.td_tensor_dup(handle.Pointer, result));
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

        // For code in other languages between this callback and the exception's way out.
        private static void ReportFailure(Exception failure)
        {
            try
            {
                byte* stack = stackalloc byte[Utf8.StackBytes];
                using var text = new Utf8Text($"{failure.GetType().Name}: {failure.Message}", "message", stack);
                Native.td_set_error(td_status.TD_ERR_CALLBACK, text.Pointer);
            }
            catch (ArgumentException)
            {
                Native.td_set_error(td_status.TD_ERR_CALLBACK, null);
            }
        }

#if NET
        [UnmanagedCallersOnly(CallConvs = new[] { typeof(CallConvCdecl) })]
#else
        [MonoPInvokeCallback(typeof(td_log_fn))]
#endif
        private static void OnLog(void* user, td_log_level level, byte* message)
        {
            try
            {
                var log = (Action<LogLevel, string>)GCHandle.FromIntPtr((IntPtr)user).Target!;
                log((LogLevel)(int)level, Utf8.Read(message));
            }
            catch (Exception)
            {
                // Nobody is left to tell.
            }
        }

#if NET
        [UnmanagedCallersOnly(CallConvs = new[] { typeof(CallConvCdecl) })]
#else
        [MonoPInvokeCallback(typeof(td_release_fn))]
#endif
        private static void OnRelease(void* user)
        {
            try
            {
                GCHandle handle = GCHandle.FromIntPtr((IntPtr)user);
                var release = handle.Target as Action;
                handle.Free();
                release?.Invoke();
            }
            catch (Exception)
            {
                // Comes from the last user of the memory, on any thread: nobody is left to tell.
            }
        }
    }
}
