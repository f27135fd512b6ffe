using System;
using System.Collections.Generic;
using System.Runtime.InteropServices;
using TensorDicts.Interop;

namespace TensorDicts
{
    /// <summary>Where the members of a struct lie, and which entries they are.</summary>
    public sealed unsafe class StructMembers
    {
        private readonly List<(NestedKey Key, DType DType, int Offset, long[] Sizes)> members = new();

        /// <summary>Of structs that follow each other at this distance.</summary>
        public StructMembers(int itemBytes)
        {
            ItemBytes = itemBytes;
        }

        /// <summary>Bytes from one struct to the next.</summary>
        public int ItemBytes { get; }

        /// <summary>Of the structs of a span of T.</summary>
        public static StructMembers Of<T>()
            where T : unmanaged => new StructMembers(sizeof(T));

        /// <summary>One more member: bytes from the begin of the struct, and the sizes of an array inside.</summary>
        public StructMembers Add(NestedKey key, DType dtype, int offset, params long[] sizes)
        {
            members.Add((key, dtype, offset, Argument.NotNull(sizes, nameof(sizes))));
            return this;
        }

        /// <summary>The members as the library takes them, for the length of a call.</summary>
        internal Copied CopyOut() => new Copied(this);

        internal sealed class Copied : IDisposable
        {
            private readonly List<IntPtr> memory = new();

            internal Copied(StructMembers from)
            {
                Count = (nuint)from.members.Count;
                Pointer = (td_member*)Allocate(from.members.Count * sizeof(td_member));
                for (int i = 0; i < from.members.Count; i++)
                {
                    var (key, dtype, offset, sizes) = from.members[i];
                    ReadOnlySpan<string> names = key.Span;
                    byte** path = (byte**)Allocate(names.Length * sizeof(byte*));
                    for (int j = 0; j < names.Length; j++)
                    {
                        Utf8.RefuseNul(names[j], "key");
                        byte[] text = Utf8.Strict.GetBytes(names[j]);
                        path[j] = (byte*)Allocate(text.Length + 1);
                        text.CopyTo(new Span<byte>(path[j], text.Length));
                        path[j][text.Length] = 0;
                    }
                    long* dims = (long*)Allocate(sizes.Length * sizeof(long));
                    sizes.CopyTo(new Span<long>(dims, sizes.Length));
                    Pointer[i] = new td_member
                    {
                        path = path,
                        path_len = (nuint)names.Length,
                        sizes = dims,
                        dims = (nuint)sizes.Length,
                        offset = checked((nuint)offset),
                        dtype = (td_dtype)(int)dtype,
                    };
                }
            }

            internal td_member* Pointer { get; }

            internal nuint Count { get; }

            public void Dispose()
            {
                foreach (IntPtr block in memory)
                {
                    Marshal.FreeHGlobal(block);
                }
            }

            private IntPtr Allocate(int bytes)
            {
                IntPtr block = Marshal.AllocHGlobal(Math.Max(bytes, 1));
                memory.Add(block);
                return block;
            }
        }
    }

    /// <content>Arrays of structs.</content>
    public sealed unsafe partial class TensorDict
    {
        /// <summary>Copies structs: a tensor of its own for each member. Without sizes the batch has one dimension.</summary>
        public static TensorDict FromStructs<T>(ReadOnlySpan<T> structs, StructMembers members, params long[] batchSize)
            where T : unmanaged
        {
            long[] batch = BatchOf(structs.Length, batchSize);
            using var raw = Argument.NotNull(members, nameof(members)).CopyOut();
            td_tensordict* result = null;
            fixed (T* data = structs)
            fixed (long* sizes = batch)
            {
                Status.Check(Native.td_from_structs(
                    data, (nuint)((long)structs.Length * sizeof(T)), sizes, (nuint)batch.Length, (nuint)members.ItemBytes, raw.Pointer, raw.Count, &result));
            }
            return Own(result);
        }

        /// <summary>
        /// Shows structs without a copy: the tensors lie over the memory, which is pinned until nothing uses
        /// them any more.
        /// </summary>
        public static TensorDict ViewStructs<T>(Memory<T> structs, StructMembers members, params long[] batchSize)
            where T : unmanaged
        {
            long[] batch = BatchOf(structs.Length, batchSize);
            using var raw = Argument.NotNull(members, nameof(members)).CopyOut();
            var pin = structs.Pin();
            Action release = () => pin.Dispose();
            td_tensordict* result = null;
            fixed (long* sizes = batch)
            {
                Status.Check(Native.td_view_structs(
                    pin.Pointer,
                    (nuint)((long)structs.Length * sizeof(T)),
                    sizes,
                    (nuint)batch.Length,
                    (nuint)members.ItemBytes,
                    raw.Pointer,
                    raw.Count,
                    Trampolines.Release,
                    Trampolines.User(release),
                    &result));
            }
            return Own(result);
        }

        /// <summary>Writes entries into structs. Bytes between the members, and other members, stay as they are.</summary>
        public void ToStructs<T>(Span<T> structs, StructMembers members)
            where T : unmanaged
        {
            using var raw = Argument.NotNull(members, nameof(members)).CopyOut();
            using var handle = Handle.Borrow();
            fixed (T* data = structs)
            {
                Status.Check(Native.td_to_structs(
                    handle.Pointer, data, (nuint)((long)structs.Length * sizeof(T)), (nuint)members.ItemBytes, raw.Pointer, raw.Count));
            }
        }

        private static long[] BatchOf(int length, long[] batchSize) =>
            Argument.NotNull(batchSize, nameof(batchSize)).Length == 0 ? new long[] { length } : batchSize;
    }
}
