using System;
using System.Runtime.InteropServices;
using Xunit;

namespace TensorDicts.Tests;

public sealed unsafe class ArrowTests
{
    // Room for an ArrowSchema and an ArrowArray; their release stands behind 7 and 8 words.
    private sealed class Table : IDisposable
    {
        internal readonly IntPtr Schema = Marshal.AllocHGlobal(9 * 8);
        internal readonly IntPtr Array = Marshal.AllocHGlobal(10 * 8);

        internal Table()
        {
            new Span<byte>((void*)Schema, 9 * 8).Clear();
            new Span<byte>((void*)Array, 10 * 8).Clear();
        }

        internal bool Released => Word(Schema, 7) == 0 && Word(Array, 8) == 0;

        internal static long Word(IntPtr at, int i) => ((long*)at)[i];

        // The child of a struct, or the values of a column.
        internal static long Child(IntPtr array, int i) => ((long*)Word(array, 6))[i];

        public void Dispose()
        {
            Release(Schema, 7);
            Release(Array, 8);
            Marshal.FreeHGlobal(Schema);
            Marshal.FreeHGlobal(Array);
        }

        internal static void Release(IntPtr at, int i)
        {
            if (Word(at, i) != 0)
            {
                ((delegate* unmanaged[Cdecl]<IntPtr, void>)Word(at, i))(at);
            }
        }
    }

    private static TensorDict Rows()
    {
        var td = new TensorDict(2);
        td["x"] = Tensor.FromArray(new[] { 1f, 2f, 3f, 4f }, 2, 2);
        td["n", "y"] = Tensor.FromArray(new long[] { 5, 6 }, 2);
        return td;
    }

    private static void Refused(TensorDictStatus status, Action call) =>
        Assert.Equal(status, Assert.ThrowsAny<TensorDictException>(call).Status);

    [Fact]
    public void ADictionaryIsARecordBatchWithoutACopy()
    {
        using TensorDict td = Rows();
        using var table = new Table();
        td.ToArrow(table.Schema, table.Array);
        Assert.Equal("+s", Marshal.PtrToStringUTF8((IntPtr)Table.Word(table.Schema, 0)));
        Assert.Equal(2, Table.Word(table.Array, 0));
        var lists = (IntPtr)Table.Child(table.Array, 0);
        var values = (IntPtr)Table.Child(lists, 0);
        Assert.Equal((long)td.GetTensor("x").DataPointer, ((long*)Table.Word(values, 5))[1]);
        using TensorDict again = TensorDict.FromArrow(table.Schema, table.Array);
        Assert.True(table.Released);
        Assert.True(again.EqualTo(td));
        Assert.Equal(td.GetTensor("x").DataPointer, again.GetTensor("x").DataPointer);
        Refused(TensorDictStatus.Format, () => TensorDict.FromArrow(table.Schema, table.Array));
        Refused(TensorDictStatus.NullArgument, () => TensorDict.FromArrow(IntPtr.Zero, table.Array));
    }

    [Fact]
    public void NamesAreJoinedAndSplit()
    {
        using TensorDict td = Rows();
        using var table = new Table();
        td.ToArrow(table.Schema, table.Array, new ToArrowOptions { Separator = "/", ComplexPairs = true });
        Assert.Equal(2, Table.Word(table.Schema, 4));
        var options = new FromArrowOptions { Separator = "/", Copy = true, Nulls = ArrowNulls.Mask };
        using TensorDict again = TensorDict.FromArrow(table.Schema, table.Array, options);
        Assert.Equal(new long[] { 5, 6 }, again.GetTensor(new NestedKey("n", "y")).ToArray<long>());
        Assert.NotEqual(td.GetTensor("x").DataPointer, again.GetTensor("x").DataPointer);
    }

    [Fact]
    public void WhatNobodyTakesIsReleased()
    {
        using TensorDict td = Rows();
        using (var table = new Table())
        {
            td.ToArrow(table.Schema, table.Array);
            Assert.False(td.GetTensor("x").IsUniquelyOwned);
        }
        using var scalar = new TensorDict();
        using var none = new Table();
        Assert.Throws<TensorShapeException>(() => scalar.ToArrow(none.Schema, none.Array));
        Assert.True(none.Released);
    }

    private static TensorDict? given;

    [UnmanagedCallersOnly(CallConvs = new[] { typeof(System.Runtime.CompilerServices.CallConvCdecl) })]
    private static int GetSchema(IntPtr stream, IntPtr schema)
    {
        IntPtr array = Marshal.AllocHGlobal(10 * 8);
        given!.ToArrow(schema, array);
        Table.Release(array, 8);
        Marshal.FreeHGlobal(array);
        return 0;
    }

    [UnmanagedCallersOnly(CallConvs = new[] { typeof(System.Runtime.CompilerServices.CallConvCdecl) })]
    private static int GetNext(IntPtr stream, IntPtr array)
    {
        long* left = (long*)stream + 4;
        if (*left < 0)
        {
            return 5;
        }
        if ((*left)-- == 0)
        {
            ((long*)array)[8] = 0;
            return 0;
        }
        IntPtr schema = Marshal.AllocHGlobal(9 * 8);
        given!.ToArrow(schema, array);
        Table.Release(schema, 7);
        Marshal.FreeHGlobal(schema);
        return 0;
    }

    [UnmanagedCallersOnly(CallConvs = new[] { typeof(System.Runtime.CompilerServices.CallConvCdecl) })]
    private static void ReleaseStream(IntPtr stream) => ((long*)stream)[3] = 0;

    private static TensorDict Read(long batches)
    {
        long* stream = stackalloc long[5];
        stream[0] = (long)(delegate* unmanaged[Cdecl]<IntPtr, IntPtr, int>)&GetSchema;
        stream[1] = (long)(delegate* unmanaged[Cdecl]<IntPtr, IntPtr, int>)&GetNext;
        stream[2] = 0;
        stream[3] = (long)(delegate* unmanaged[Cdecl]<IntPtr, void>)&ReleaseStream;
        stream[4] = batches;
        try
        {
            return TensorDict.FromArrowStream((IntPtr)stream);
        }
        finally
        {
            Assert.Equal(0, stream[3]);
        }
    }

    [Fact]
    public void ADictionaryIsAStreamOfRecordBatches()
    {
        using TensorDict td = Rows();
        long* stream = stackalloc long[5];
        foreach (long rows in new long[] { 1, 2, 100 })
        {
            td.ToArrowStream(rows, (IntPtr)stream);
            Assert.NotEqual(0, stream[3]);
            using TensorDict again = TensorDict.FromArrowStream((IntPtr)stream);
            Assert.Equal(0, stream[3]);
            Assert.Equal(new long[] { 5, 6 }, again.GetTensor(new NestedKey("n", "y")).ToArray<long>());
        }
        IntPtr place = (IntPtr)stream;
        Refused(TensorDictStatus.InvalidArgument, () => td.ToArrowStream(0, place));
        Assert.Equal(0, stream[3]);
    }

    [Fact]
    public void AStreamIsReadToItsEnd()
    {
        using TensorDict td = Rows();
        given = td;
        using TensorDict all = Read(3);
        Assert.Equal(new long[] { 5, 6, 5, 6, 5, 6 }, all.GetTensor(new NestedKey("n", "y")).ToArray<long>());
        Refused(TensorDictStatus.IO, () => Read(-1));
    }
}
