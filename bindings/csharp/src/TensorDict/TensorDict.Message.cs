using System;
using System.IO;
using System.Runtime.InteropServices;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>What is accepted of a message, and how long it may take.</summary>
    public sealed record MessageOptions
    {
        /// <summary>The longest message accepted, in bytes; 0 is 2^30.</summary>
        public ulong MaxBytes { get; set; }

        /// <summary>Deepest nesting accepted; 0 is 1,000.</summary>
        public uint MaxDepth { get; set; }

        /// <summary>Most entries accepted, all levels together; 0 is 1,000,000.</summary>
        public uint MaxEntries { get; set; }

        /// <summary>For a whole message over a descriptor; streams have time limits of their own.</summary>
        public TimeSpan? Timeout { get; set; }

        internal td_message_options ToRaw()
        {
            td_message_options raw = td_message_options.Default;
            raw.max_bytes = MaxBytes;
            raw.max_depth = MaxDepth;
            raw.max_entries = MaxEntries;
            if (Timeout is TimeSpan limit)
            {
                raw.timeout_ms = (uint)Math.Min(Math.Max(limit.TotalMilliseconds, 1), uint.MaxValue);
            }
            return raw;
        }
    }

    /// <content>Dictionaries from one process to another, over whatever carries bytes.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>Reads a message, and not a byte behind it. What the stream throws comes back as it is.</summary>
        public static TensorDict Receive(Stream source, MessageOptions? options = null) =>
            Own(Receive(Argument.NotNull(source, nameof(source)), options, null));

        /// <summary>
        /// Receives over a descriptor of the system, such as that of a socket or a pipe, and waits until all has come.
        /// </summary>
        public static TensorDict Receive(SafeHandle source, MessageOptions? options = null) =>
            Own(Receive(Argument.NotNull(source, nameof(source)), options, null));

        /// <summary>Writes a message that holds everything: its receiver needs nothing.</summary>
        public void Send(Stream target)
        {
            var context = new StreamContext(Argument.NotNull(target, nameof(target)));
            GCHandle user = GCHandle.Alloc(context);
            try
            {
                using var handle = Handle.BorrowUnseen();
                td_status status = Native.td_send(handle.Pointer, null, Trampolines.Write, (void*)GCHandle.ToIntPtr(user));
                context.Failure?.Throw();
                Status.Check(status);
            }
            finally
            {
                user.Free();
            }
        }

        /// <summary>
        /// Sends over a descriptor of the system, such as that of a socket or a pipe, and waits until all is written.
        /// A partner that has gone is an exception, not a signal.
        /// </summary>
        public void Send(SafeHandle target, MessageOptions? options = null)
        {
            td_message_options raw = (options ?? new MessageOptions()).ToRaw();
            using var descriptor = new Descriptor(Argument.NotNull(target, nameof(target)));
            using var handle = Handle.Borrow();
            Status.Check(Native.td_send_fd(handle.Pointer, descriptor.Number, &raw));
        }

        /// <summary>
        /// Writes the values of a message into this dictionary, which has the same keys, shapes and dtypes and may be
        /// locked. Nothing is written before all has come and fits.
        /// </summary>
        public void ReceiveInto(Stream source, MessageOptions? options = null)
        {
            using var handle = Handle.BorrowUnseen();
            Own(Receive(Argument.NotNull(source, nameof(source)), options, handle.Pointer)).Dispose();
        }

        /// <summary>As from a stream, over a descriptor of the system.</summary>
        public void ReceiveInto(SafeHandle source, MessageOptions? options = null)
        {
            using var handle = Handle.BorrowToChange();
            Own(Receive(Argument.NotNull(source, nameof(source)), options, handle.Pointer)).Dispose();
        }

        private static td_tensordict* Receive(Stream source, MessageOptions? options, td_tensordict* into)
        {
            td_message_options raw = (options ?? new MessageOptions()).ToRaw();
            var context = new StreamContext(source);
            GCHandle user = GCHandle.Alloc(context);
            try
            {
                td_tensordict* result = null;
                td_status status = Native.td_recv(
                    into, &raw, Trampolines.Read, (void*)GCHandle.ToIntPtr(user), &result);
                context.Failure?.Throw();
                Status.Check(status);
                return result;
            }
            finally
            {
                user.Free();
            }
        }

        private static td_tensordict* Receive(SafeHandle source, MessageOptions? options, td_tensordict* into)
        {
            td_message_options raw = (options ?? new MessageOptions()).ToRaw();
            using var descriptor = new Descriptor(source);
            td_tensordict* result = null;
            Status.Check(Native.td_recv_fd(descriptor.Number, into, &raw, &result));
            return result;
        }

        // Keeps a descriptor open during a call.
        private readonly ref struct Descriptor
        {
            private readonly SafeHandle handle;

            internal Descriptor(SafeHandle handle)
            {
                bool added = false;
                handle.DangerousAddRef(ref added);
                this.handle = handle;
            }

            internal int Number => (int)(long)handle.DangerousGetHandle();

            public void Dispose() => handle.DangerousRelease();
        }
    }
}
