using System;
using System.Linq;
using Xunit;

namespace TensorDicts.Tests;

public class ShapeTests
{
    [Fact]
    public void ViewsShareMemoryUnderAnotherBatchSize()
    {
        using var td = Sample.Nested();
        using var flat = td.View(-1);
        Expect.Shape(flat.BatchSize, 12);
        Expect.Shape(flat.GetTensor("n", "b").Shape, 12, 5);
        flat.SetInPlace("a", Tensor.Scalar(8f));
        Assert.Equal(8f, Sample.Floats(td, "a")[3]);
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => td.View(5));
        using var turned = td.Transpose(0, 1);
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => turned.View(-1));
        using var copied = turned.Reshape(12);
        Expect.Shape(copied.BatchSize, 12);
    }

    [Fact]
    public void DimensionsAreReordered()
    {
        using var td = Sample.Nested();
        using var turned = td.Permute(1, 0);
        Expect.Shape(turned.BatchSize, 3, 4);
        Expect.Shape(turned.GetTensor("a").Shape, 3, 4, 2);
        Assert.Equal(new[] { 0f, 1f, 6f, 7f }, Sample.Floats(turned, "a").Take(4));
        using var same = td.Transpose(-1, -2);
        Assert.True(same.EqualTo(turned));
        using var dense = turned.Contiguous();
        Assert.True(dense.GetTensor("a").IsContiguous);
        Assert.False(turned.GetTensor("a").IsContiguous);
        Assert.True(dense.EqualTo(turned));
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => td.Permute(0, 0));
    }

    [Fact]
    public void DimensionsOfSizeOneComeAndGo()
    {
        using var td = Sample.Nested();
        using var more = td.Unsqueeze(0);
        Expect.Shape(more.BatchSize, 1, 4, 3);
        using var behind = more.Unsqueeze(-1);
        Expect.Shape(behind.BatchSize, 1, 4, 3, 1);
        using var all = behind.Squeeze();
        Expect.Shape(all.BatchSize, 4, 3);
        using var one = behind.Squeeze(-1);
        Expect.Shape(one.BatchSize, 1, 4, 3);
        using var kept = behind.Squeeze(1);
        Expect.Shape(kept.BatchSize, 1, 4, 3, 1);
        Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => td.Squeeze(2));
        Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => td.Unsqueeze(9));
    }

    [Fact]
    public void ExpandRepeatsWithoutMemory()
    {
        using var td = new TensorDict(1) { ["x"] = Tensor.FromArray(new[] { 4f }, 1) };
        using var many = td.Expand(1000, 3);
        Expect.Shape(many.BatchSize, 1000, 3);
        Expect.Shape(many.GetTensor("x").Strides, 0, 0);
        Assert.Equal(4f, Sample.Floats(many, "x")[2999]);
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => many.Expand(7, 3));
    }

    [Fact]
    public void StackAndUnbindUndoEachOther()
    {
        using var td = Sample.Nested();
        TensorDict[] parts = td.Unbind(1);
        Assert.Equal(3, parts.Length);
        Expect.Shape(parts[2].BatchSize, 4);
        Assert.Equal(new[] { 4f, 5f }, Sample.Floats(parts[2], "a").Take(2));
        using var again = TensorDict.Stack(parts, 1);
        Assert.True(again.EqualTo(td));
        using var front = TensorDict.Stack(parts);
        Expect.Shape(front.BatchSize, 3, 4);
        Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => td.Unbind(2));
        Assert.Empty(new TensorDict(0).Unbind());
    }

    [Fact]
    public void CatJoinsAlongADimensionThatIsThere()
    {
        using var td = Sample.Nested();
        using var twice = TensorDict.Cat([td, td], -1);
        Expect.Shape(twice.BatchSize, 4, 6);
        Assert.Equal(td.ByteCount * 2, twice.ByteCount);
        using var other = new TensorDict(4, 3) { ["a"] = Sample.Range(4, 3, 2) };
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => TensorDict.Cat([td, other]));
        using var part = td[..2];
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => TensorDict.Stack([td, part]));
        Assert.Equal(
            TensorDictStatus.InvalidArgument,
            Assert.Throws<TensorDictException>(() => TensorDict.Stack(Array.Empty<TensorDict>())).Status);
        Assert.Throws<ArgumentNullException>(() => TensorDict.Cat([td, null!]));
    }
}
