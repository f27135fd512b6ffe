using System;
using System.Runtime.InteropServices;
using System.Threading;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>
    /// Tells, for a program that asks now and then, whether lent memory is free again. One flag for one tensor.
    /// </summary>
    public sealed unsafe class ReleaseFlag
    {
        private readonly int* flag;
        private bool lent;

        /// <summary>A flag that is not set.</summary>
        public ReleaseFlag()
        {
            flag = (int*)Marshal.AllocHGlobal(sizeof(int));
            *flag = 0;
        }

        /// <summary>Frees the flag, unless the library may still set it: then four bytes are left behind.</summary>
        ~ReleaseFlag()
        {
            if (!lent || IsSet)
            {
                Marshal.FreeHGlobal((IntPtr)flag);
            }
        }

        /// <summary>Whether nothing uses the memory any more.</summary>
        public bool IsSet
        {
            get
            {
                bool set = Volatile.Read(ref *flag) != 0;
                GC.KeepAlive(this);
                return set;
            }
        }

#if NET
        internal static IntPtr Setter => NativeLibraryLoader.Export("td_release_set_flag");
#else
        // Without a way to the address of an export, the call takes one step through managed code.
        private static readonly td_release_fn SetterDelegate = Set;

        internal static IntPtr Setter { get; } = Marshal.GetFunctionPointerForDelegate(SetterDelegate);

        [MonoPInvokeCallback(typeof(td_release_fn))]
        private static void Set(void* user) => Native.td_release_set_flag(user);
#endif

        internal void* Lend()
        {
            if (lent)
            {
                throw new InvalidOperationException("a release flag serves one tensor, this one was given to another before");
            }
            lent = true;
            return flag;
        }
    }
}
