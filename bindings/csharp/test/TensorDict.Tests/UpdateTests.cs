using System;
using Xunit;

namespace TensorDicts.Tests;

public class UpdateTests
{
    private static TensorDict Newer() => new TensorDict(4, 3)
    {
        ["a"] = Tensor.Zeros<float>(4, 3, 2),
        ["n", "new"] = Sample.Range(4, 3),
    };

    [Fact]
    public void UpdateMergesDictionaries()
    {
        using var td = Sample.Nested();
        using var source = Newer();
        using var n = td.GetDict("n");
        td.Update(source);
        Assert.Equal(new float[24], Sample.Floats(td, "a"));
        Assert.True(n.ContainsKey("b") && n.ContainsKey("new"));
    }

    [Fact]
    public void UpdateInPlaceWantsEveryEntry()
    {
        using var td = Sample.Nested();
        using var source = Newer();
        using var a = td.GetTensor("a");
        td.Lock();
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => td.UpdateInPlace(source));
        Assert.Equal(5f, a.ToArray<float>()[5]);
        using var only = source.Select("a");
        td.UpdateInPlace(only);
        Assert.Equal(new float[24], a.ToArray<float>());
        Expect.Fails<TensorLockedException>(TensorDictStatus.Locked, () => td.Update(source));
        td.Update(source, new UpdateOptions { IgnoreLock = true });
        Assert.True(td.ContainsKey("n", "new"));
    }

    [Fact]
    public void UpdateHasOptions()
    {
        using var td = Sample.Nested();
        using var source = Newer();
        td.Update(source, new UpdateOptions { Mode = UpdateMode.InPlace, Keys = [("n", "new")] });
        Assert.True(td.ContainsKey("n", "new"));
        Assert.Equal(5f, Sample.Floats(td, "a")[5]);
        td.Update(source, new UpdateOptions { CloneValues = true, WholeDicts = true });
        Assert.False(td.ContainsKey("n", "b"));
        using var small = new TensorDict(2) { ["x"] = Sample.Range(2) };
        using var large = new TensorDict(4) { ["x"] = Sample.Range(4) };
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => small.Update(large));
        small.Update(large, new UpdateOptions { UpdateBatchSize = true });
        Expect.Shape(small.BatchSize, 4);
    }

    [Fact]
    public void ReplaceLeavesTheSourceAlone()
    {
        using var td = Sample.Nested();
        using var source = Newer();
        using var both = td.Replace(source);
        Assert.True(both.ContainsKey("n", "new"));
        Assert.False(td.ContainsKey("n", "new"));
    }

    [Fact]
    public void PartsAreUpdated()
    {
        using var td = new TensorDict(3) { ["x"] = Sample.Range(3, 2) };
        using var row = new TensorDict() { ["x"] = Tensor.FromArray(new[] { 9f }) };
        td.UpdateAt(row, 1);
        Assert.Equal(new[] { 0f, 1, 9, 9, 4, 5 }, Sample.Floats(td, "x"));
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => td.CopyAt(row, 1));
        using var whole = new TensorDict() { ["x"] = Tensor.FromArray(new[] { 7f, 8f }) };
        td.CopyAt(whole, 0);
        Assert.Equal(new[] { 7f, 8, 9, 9, 4, 5 }, Sample.Floats(td, "x"));
    }

    [Fact]
    public void SingleEntriesAreWritten()
    {
        using var td = new TensorDict(2) { ["x"] = Sample.Range(2, 2), ["n", "y"] = Sample.Range(2) };
        using var x = td.GetTensor("x");
        using var one = Tensor.FromArray(new[] { 1f });
        td.Write("x", one);
        Assert.Equal(new[] { 1f, 1, 1, 1 }, x.ToArray<float>());
        td.Write(("n", "z"), Sample.Range(2));
        Assert.True(td.ContainsKey("n", "z"));
        td.FillEntry("n", one);
        Assert.Equal(new[] { 1f, 1 }, Sample.Floats(td, "n", "y"));
        td.SetTensorAt("x", Sample.Range(2), .., 1);
        Assert.Equal(new[] { 1f, 0, 1, 1 }, x.ToArray<float>());
        using var part = td.GetTensorAt("x", 0, ..);
        Assert.Equal(new[] { 1f, 0 }, part.ToArray<float>());
    }

    [Fact]
    public void GetOrSetLooksFirst()
    {
        using var td = new TensorDict(2) { ["x"] = Sample.Range(2) };
        using var value = Tensor.FromArray(new[] { 5f, 6f });
        using var there = td.GetOrSet("x", value);
        using var made = td.GetOrSet("y", value);
        Assert.Equal(new[] { 0f, 1 }, there.ToArray<float>());
        Assert.Equal(new[] { 5f, 6 }, Sample.Floats(td, "y"));
    }
}
