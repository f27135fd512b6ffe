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

        // A function of the library: no thread that lets go of the memory enters the runtime.
        internal static IntPtr Setter => Native.td_release_flag_fn();

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
