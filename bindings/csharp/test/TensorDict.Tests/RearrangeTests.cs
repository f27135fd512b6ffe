using System;
using System.Linq;
using Xunit;

namespace TensorDicts.Tests;

public class RearrangeTests
{
    [Fact]
    public void DimensionsAreMergedAndSplit()
    {
        using var td = Sample.Nested();
        using var flat = td.Flatten();
        Expect.Shape(flat.BatchSize, 12);
        using var again = flat.Unflatten(0, 4, -1);
        Assert.True(again.EqualTo(td));
        Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => td.Flatten(0, 2));
        Expect.Fails<TensorDictException>(TensorDictStatus.InvalidArgument, () => td.Flatten(1, 0));
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => td.Unflatten(0, 3));
    }

    [Fact]
    public void DimensionsAreMovedAndNarrowed()
    {
        using var td = Sample.Nested();
        using var moved = td.MoveDim(0, 1);
        using var turned = td.Transpose(0, 1);
        Assert.True(moved.EqualTo(turned));
        Assert.Throws<ArgumentException>(() => td.MoveDim(new long[] { 0, 1 }, new long[] { 0 }));
        using var part = td.Narrow(0, -1, 1);
        Expect.Shape(part.BatchSize, 1, 3);
        Assert.Equal(18f, Sample.Floats(part, "a")[0]);
        Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => td.Narrow(0, 3, 2));
        using var wide = td.AtLeast(3);
        Expect.Shape(wide.BatchSize, 1, 4, 3);
        using var many = td.Expand(2, 4, 3);
        using var same = td.ExpandAs(many);
        Expect.Shape(same.BatchSize, 2, 4, 3);
    }

    private static long[] Lengths(TensorDict[] parts)
    {
        long[] lengths = parts.Select(part => part.BatchSize[0]).ToArray();
        Array.ForEach(parts, part => part.Dispose());
        return lengths;
    }

    [Fact]
    public void ADictionaryIsCutIntoParts()
    {
        using var td = Sample.Nested();
        Assert.Equal(new long[] { 3, 1 }, Lengths(td.Split(3)));
        Assert.Equal(new long[] { 1, 0, 3 }, Lengths(td.Split(new long[] { 1, 0, 3 })));
        Assert.Equal(new long[] { 2, 2 }, Lengths(td.Chunk(3)));
        Assert.Equal(new long[] { 2, 1, 1 }, Lengths(td.TensorSplit(3)));
        Assert.Equal(new long[] { 1, 2, 1 }, Lengths(td.TensorSplit(new long[] { 1, -1 })));
        Expect.Fails<TensorDictException>(TensorDictStatus.InvalidArgument, () => td.Split(0));
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => td.Split(new long[] { 5 }));
        Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => td.Chunk(1, 2));
    }

    [Fact]
    public void MemoryIsReadOtherwise()
    {
        using var td = new TensorDict(1) { ["x"] = Tensor.FromArray(new[] { 1f }, 1, 1) };
        using var bits = td.ViewAs(DType.Int32);
        Assert.Equal(0x3f800000, bits.GetTensor("x").ToArray<int>()[0]);
        using var bytes = td.ViewAs(DType.UInt8, new long[] { 1, 4 });
        Expect.Shape(bytes.BatchSize, 1, 4);
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => td.ViewAs(DType.UInt8, new long[] { 2 }));
        using var sample = Sample.Nested();
        using var turned = sample.Transpose(0, 1);
        using var dense = turned.ContiguousCanonical();
        Assert.True(sample.IsContiguous && dense.IsContiguous && !turned.IsContiguous);
    }

    [Fact]
    public void AnyOperationWorksInPlace()
    {
        using var td = Sample.Nested();
        using var flat = td.Reshape(12);
        td.Become(flat);
        Expect.Shape(td.BatchSize, 12);
        td.Lock();
        using var other = Sample.Nested();
        Expect.Fails<TensorLockedException>(TensorDictStatus.Locked, () => td.Become(other));
        Expect.Shape(td.BatchSize, 12);
    }
}
