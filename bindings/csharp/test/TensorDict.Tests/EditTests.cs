using Xunit;

namespace TensorDicts.Tests;

public class EditTests
{
    [Fact]
    public void EntriesArePopped()
    {
        using var td = Sample.Nested();
        using var b = (Tensor)td.Pop(("n", "b"));
        Assert.Equal(60, b.ElementCount);
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => td.Pop("zz"));
        Assert.False(td.TryPop("zz", out _));
        Assert.True(td.TryPop("n", out Entry? n));
        Assert.IsType<TensorDict>(n).Dispose();
        td.Lock();
        Expect.Fails<TensorLockedException>(TensorDictStatus.Locked, () => td.Pop("a"));
        Assert.True(td.ContainsKey("a"));
    }

    [Fact]
    public void TheLastEntryIsPopped()
    {
        using var td = Sample.Nested();
        Assert.True(td.TryPopLast(out NestedKey key, out Entry? entry));
        Assert.Equal("n", key[0]);
        Assert.IsType<TensorDict>(entry).Dispose();
        Assert.True(td.TryPopLast(out key, out entry));
        Assert.IsType<Tensor>(entry).Dispose();
        Assert.False(td.TryPopLast(out _, out _));
    }

    [Fact]
    public void EntriesAreRenamed()
    {
        using var td = Sample.Nested();
        td.RenameKey("a", ("m", "x"));
        Assert.True(td.ContainsKey("m", "x") && !td.ContainsKey("a"));
        Expect.Fails<TensorKeyException>(
            TensorDictStatus.KeyExists, () => td.RenameKey(("n", "b"), ("m", "x"), safe: true));
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => td.RenameKey("zz", "y"));
    }

    [Fact]
    public void DictionariesAreMadeAndCleared()
    {
        using var td = Sample.Nested();
        td.CreateNested(("x", "y"));
        Expect.Shape(td.GetDict("x", "y").BatchSize, 4, 3);
        td.Clear();
        Assert.Empty(td.Keys());
        Expect.Shape(td.BatchSize, 4, 3);
    }

    [Fact]
    public void EntriesHaveSizesAndADepth()
    {
        using var td = Sample.Nested();
        Assert.Equal(1, td.Depth);
        Expect.Shape(td.ShapeOf(("n", "b")), 4, 3, 5);
        Expect.Shape(td.ShapeOf("n"), 4, 3);
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => td.ShapeOf("zz"));
    }

    [Fact]
    public void TheBatchSizeFollowsFromTheEntries()
    {
        using var td = new TensorDict() { ["a"] = Sample.Range(3, 4, 5), ["n", "b"] = Sample.Range(3, 4, 6) };
        td.AutoBatchSize();
        Expect.Shape(td.BatchSize, 3, 4);
        Expect.Shape(td.GetDict("n").BatchSize, 3, 4, 6);
        td.AutoBatchSize(maxDims: 1, keepCompliant: true);
        Expect.Shape(td.BatchSize, 3);
        Expect.Shape(td.GetDict("n").BatchSize, 3, 4, 6);
    }
}
