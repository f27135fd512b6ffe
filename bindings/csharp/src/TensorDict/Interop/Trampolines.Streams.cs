using System;
using System.IO;
using System.Runtime.CompilerServices;
using System.Runtime.ExceptionServices;
using System.Runtime.InteropServices;

namespace TensorDicts.Interop
{
    /// <summary>What one message carries: the stream, and what it threw.</summary>
    internal sealed class StreamContext
    {
        internal StreamContext(Stream stream)
        {
            Stream = stream;
        }

        internal Stream Stream { get; }

        internal ExceptionDispatchInfo? Failure { get; set; }
    }

    /// <content>The functions that move the bytes of a message.</content>
    internal static unsafe partial class Trampolines
    {
        // A span counts its bytes in an int.
        private const int MostAtOnce = 1 << 30;

#if NET
        internal static IntPtr Write => (IntPtr)(delegate* unmanaged[Cdecl]<void*, void*, nuint, td_status>)&OnWrite;

        internal static IntPtr Read => (IntPtr)(delegate* unmanaged[Cdecl]<void*, void*, nuint, td_status>)&OnRead;
#else
        private static readonly td_write_fn WriteDelegate = OnWrite;
        private static readonly td_read_fn ReadDelegate = OnRead;

        internal static IntPtr Write { get; } = Marshal.GetFunctionPointerForDelegate(WriteDelegate);

        internal static IntPtr Read { get; } = Marshal.GetFunctionPointerForDelegate(ReadDelegate);
#endif

#if NET
        [UnmanagedCallersOnly(CallConvs = new[] { typeof(CallConvCdecl) })]
#else
        [MonoPInvokeCallback(typeof(td_write_fn))]
#endif
        private static td_status OnWrite(void* user, void* data, nuint bytes)
        {
            var context = (StreamContext)GCHandle.FromIntPtr((IntPtr)user).Target!;
            try
            {
                for (ulong done = 0; done < bytes;)
                {
                    int piece = (int)Math.Min(bytes - done, MostAtOnce);
                    context.Stream.Write(new ReadOnlySpan<byte>((byte*)data + done, piece));
                    done += (ulong)piece;
                }
                return td_status.TD_OK;
            }
            catch (Exception failure)
            {
                return Park(context, failure);
            }
        }

#if NET
        [UnmanagedCallersOnly(CallConvs = new[] { typeof(CallConvCdecl) })]
#else
        [MonoPInvokeCallback(typeof(td_read_fn))]
#endif
        private static td_status OnRead(void* user, void* data, nuint bytes)
        {
            var context = (StreamContext)GCHandle.FromIntPtr((IntPtr)user).Target!;
            try
            {
                for (ulong done = 0; done < bytes;)
                {
                    int piece = (int)Math.Min(bytes - done, MostAtOnce);
                    int read = context.Stream.Read(new Span<byte>((byte*)data + done, piece));
                    if (read <= 0)
                    {
                        throw new EndOfStreamException($"the message ends too early: {bytes - done} bytes are missing");
                    }
                    done += (ulong)read;
                }
                return td_status.TD_OK;
            }
            catch (Exception failure)
            {
                return Park(context, failure);
            }
        }

        private static td_status Park(StreamContext context, Exception failure)
        {
            context.Failure = ExceptionDispatchInfo.Capture(failure);
            ReportFailure(failure);
            return td_status.TD_ERR_CALLBACK;
        }
    }
}
