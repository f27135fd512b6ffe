using System;
using System.Linq;
using Xunit;

namespace TensorDicts.Tests;

public class IndexTests
{
    private static float[] Read(params TensorIndex[] index)
    {
        using var t = Sample.Range(4, 3);
        using var part = t[index];
        return part.ToArray<float>();
    }

    [Fact]
    public void PositionsCountFromBothEnds()
    {
        Assert.Equal(new[] { 3f, 4f, 5f }, Read(1));
        Assert.Equal(new[] { 9f, 10f, 11f }, Read(-1));
        Assert.Equal(new[] { 9f, 10f, 11f }, Read(^1));
        Assert.Equal(new[] { 5f }, Read(1L, ^1));
        Assert.Throws<ArgumentOutOfRangeException>(() => Read(^0));
    }

    [Fact]
    public void RangesKeepTheirEnds()
    {
        Assert.Equal(new[] { 3f, 6f }, Read(1..3, 0));
        Assert.Equal(new[] { 6f, 9f }, Read(^2.., 0));
        Assert.Equal(new[] { 0f, 3f, 6f }, Read(..^1, 0));
        Assert.Equal(new[] { 0f, 3f, 6f, 9f }, Read(.., 0));
        Assert.Equal(new[] { 6f, 9f }, Read(2..9, 0));
        // ^0 as a start is behind the last position, not the first.
        Assert.Empty(Read(^0.., 0));
        Assert.Empty(Read(^0..^0, 0));
        Assert.Empty(Read(3..1, 0));
    }

    [Fact]
    public void SlicesHaveSteps()
    {
        Assert.Equal(new[] { 3f, 9f }, Read(Slice.Of(start: 1, step: 2), 0));
        Assert.Equal(new[] { 0f, 3f }, Read(Slice.Of(stop: -2), 0));
        Assert.Equal(new[] { 0f, 1f, 2f }, Read(0, Slice.All));
        Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => Read(Slice.Of(step: -1)));
        Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => Read(Slice.Of(step: 0)));
    }

    [Fact]
    public void EllipsisAndNewAxisShapeTheResult()
    {
        using var t = Sample.Range(4, 3, 2);
        Shape Of(params TensorIndex[] index)
        {
            using var part = t[index];
            return part.Shape;
        }

        Expect.Shape(Of(TensorIndex.Ellipsis, 0), 4, 3);
        Expect.Shape(Of(TensorIndex.NewAxis), 1, 4, 3, 2);
        Expect.Shape(Of(0, TensorIndex.NewAxis, TensorIndex.Ellipsis, TensorIndex.NewAxis), 1, 3, 2, 1);
        Expect.Shape(Of(true), 1, 4, 3, 2);
        Expect.Shape(Of(false), 0, 4, 3, 2);
        Expect.Shape(Of(), 4, 3, 2);
        Expect.Fails<TensorIndexException>(
            TensorDictStatus.Index, () => Of(TensorIndex.Ellipsis, TensorIndex.Ellipsis));
    }

    [Fact]
    public void TensorsPickAndMask()
    {
        using var rows = Tensor.FromArray(new[] { 3L, 0L });
        Assert.Equal(new[] { 9f, 10f, 11f, 0f, 1f, 2f }, Read(rows));
        using var mask = Tensor.FromArray(new[] { false, true, false, true });
        Assert.Equal(new[] { 5f, 11f }, Read(mask, 2));
        rows.Dispose();
        Assert.Throws<ObjectDisposedException>(() => Read(0, rows));
        Assert.Throws<ArgumentNullException>(() => Read((Tensor)null!));
    }

    [Fact]
    public void TextIsReadAsPythonWritesIt()
    {
        Assert.Equal(new[] { 2f, 8f }, Read(TensorIndex.Parse("::2, -1")));
        Assert.Equal(new[] { 0f, 3f, 6f, 9f }, Read(TensorIndex.Parse(" ... ,0")));
        Assert.Empty(TensorIndex.Parse(""));
        Assert.Equal(4, TensorIndex.Parse("None, True, 1:, ...").Length);
        Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => TensorIndex.Parse("1:2:x"));
        Assert.Throws<ArgumentException>(() => TensorIndex.Parse("1\0"));
    }

    [Fact]
    public void PositionsOutsideAreRefused()
    {
        var failure = Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => Read(4));
        Assert.Equal("td_tensor_index", failure.Function);
        Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => Read(0, 0, 0));
        Assert.Throws<ArgumentException>(() => Read(Enumerable.Repeat<TensorIndex>(0, 65).ToArray()));
        Expect.Fails<TensorUnsupportedException>(TensorDictStatus.Unsupported, () => Read(default(TensorIndex)));
    }

    [Fact]
    public void APartOfATensorIsWritten()
    {
        using var t = Sample.Range(2, 2);
        t[0, ^1] = Tensor.Scalar(50f);
        t[1] = Tensor.FromArray(new[] { -1, -2 });
        Assert.Equal(new[] { 0f, 50f, -1f, -2f }, t.ToArray<float>());
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => t[0] = Tensor.Zeros<float>(3));
        Assert.Throws<ArgumentNullException>(() => t[0] = null!);
    }

    [Fact]
    public void AnIndexAppliesToTheBatchOfEveryEntry()
    {
        using var td = Sample.Nested();
        using var first = td[0];
        Expect.Shape(first.BatchSize, 3);
        Assert.Equal(new[] { 0f, 1f, 2f, 3f, 4f, 5f }, Sample.Floats(first, "a"));
        using var tail = td[.., ^2..];
        Expect.Shape(tail.BatchSize, 4, 2);
        using var odd = td[Slice.Of(start: 1, step: 2), TensorIndex.Ellipsis, TensorIndex.NewAxis];
        Expect.Shape(odd.BatchSize, 2, 3, 1);
        using var b = odd.GetTensor("n", "b");
        Expect.Shape(b.Shape, 2, 3, 1, 5);
        using var one = td[TensorIndex.Parse("-1, 0")];
        Assert.Equal(new[] { 18f, 19f }, Sample.Floats(one, "a"));
        Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => _ = td[0, 0, 0]);
    }

    [Fact]
    public void AViewWritesThroughAndAMaskCopies()
    {
        using var td = Sample.Nested();
        using var first = td[0];
        first.SetInPlace("a", Tensor.Scalar(-5f));
        Assert.Equal(-5f, Sample.Floats(td, "a")[5]);
        using var mask = Tensor.FromArray(new[] { true, false, false, true });
        using var picked = td[mask];
        Expect.Shape(picked.BatchSize, 2, 3);
        picked.SetInPlace("a", Tensor.Scalar(99f));
        Assert.DoesNotContain(99f, Sample.Floats(td, "a"));
    }

    [Fact]
    public void APartOfTheBatchIsWrittenAndNewKeysAreMade()
    {
        using var td = new TensorDict(3);
        td[1] = new TensorDict { ["x"] = Tensor.FromArray(new[] { 1f, 2f }), ["deep", "y"] = Tensor.Scalar(7L) };
        Assert.Equal(new[] { 0f, 0f, 1f, 2f, 0f, 0f }, Sample.Floats(td, "x"));
        Assert.Equal(new[] { 0L, 7L, 0L }, td.GetTensor("deep", "y").ToArray<long>());
        td.Lock();
        Expect.Fails<TensorLockedException>(
            TensorDictStatus.Locked, () => td[0] = new TensorDict { ["z"] = Tensor.Scalar(1f) });
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => td[0] = new TensorDict(2) { ["x"] = Tensor.Zeros<float>(2, 9) });
    }

    [Fact]
    public void FillAtWritesEveryEntry()
    {
        using var td = Sample.Nested();
        using var mask = Tensor.FromArray(new[] { false, true, true, false });
        td.FillAt(Tensor.Scalar(0f), mask);
        Assert.Equal(0f, Sample.Floats(td, "a")[6]);
        Assert.Equal(5f, Sample.Floats(td, "a")[5]);
        Assert.Equal(0f, Sample.Floats(td, "n", "b")[44]);
        Assert.Equal(45f, Sample.Floats(td, "n", "b")[45]);
    }
}
