using System;
using System.Linq;
using Xunit;

namespace TensorDicts.Tests;

public class SelectTests
{
    private static TensorDict Three() => new TensorDict(2)
    {
        ["a"] = Sample.Range(2),
        ["n", "b"] = Sample.Range(2),
        ["n", "c"] = Sample.Range(2),
    };

    private static string All(TensorDict td) => string.Join(" ", td.NestedKeys().Select(key => string.Join("/", key)));

    [Fact]
    public void KeysAreSelectedAndExcluded()
    {
        using var td = Three();
        Assert.Equal("n n/c a", All(td.Select(("n", "c"), "a")));
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => td.Select("zz"));
        Assert.Equal("a", All(td.Select(["zz", "a"], ignoreMissing: true)));
        Assert.Equal("n n/c", All(td.Exclude("a", ("n", "b"), "zz")));
        td.ExcludeInPlace(("n", "b"));
        Assert.Equal("a n n/c", All(td));
        td.SelectInPlace("a");
        Assert.Equal("a", All(td));
        td.Lock();
        Expect.Fails<TensorLockedException>(TensorDictStatus.Locked, () => td.ExcludeInPlace("a"));
    }

    [Fact]
    public void KeysAreSplit()
    {
        using var td = Three();
        TensorDict[] parts = td.SplitKeys([new KeySet("a"), KeySet.Renamed((("n", "b"), "x"))]);
        Assert.Equal(["a", "x", "n n/c"], parts.Select(All));
        KeySet[] missing = [new KeySet("zz")];
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => td.SplitKeys(missing));
        var lenient = new SplitKeysOptions { IgnoreMissing = true, KeepStructure = true, KeepEmptied = true };
        Assert.Equal("n", All(td.SplitKeys(missing, lenient)[0]));
        using var taken = td.Separate(("n", "b"), ("n", "c"));
        Assert.Equal("n n/b n/c", All(taken));
        Assert.Equal("a", All(td));
    }

    [Fact]
    public void KeysAreFlattenedAndNestedAgain()
    {
        using var td = Three();
        using var flat = td.FlattenKeys("/");
        Assert.Equal(["a", "n/b", "n/c"], flat.Keys().Select(key => key[0]));
        using var back = flat.UnflattenKeys("/");
        Assert.True(back.EqualTo(td));
        Assert.Equal("a n n/b n/c", All(td.FlattenKeys(isLeaf: key => key[0] == "n")));
        Assert.Throws<NotSupportedException>(() => td.FlattenKeys(isLeaf: _ => throw new NotSupportedException()));
        td.FlattenKeysInPlace();
        Assert.True(td.ContainsKey("n.b"));
        td.UnflattenKeysInPlace();
        Assert.True(td.ContainsKey("n", "b"));
        Expect.Fails<TensorDictException>(TensorDictStatus.InvalidArgument, () => td.FlattenKeys(""));
    }

    [Fact]
    public void DictionariesAreMerged()
    {
        using var one = Three();
        using var two = new TensorDict(2) { ["a"] = Tensor.FromArray(new[] { 5f, 6f }), ["n", "d"] = Sample.Range(2) };
        using var merged = TensorDict.Merge([one, two]);
        Assert.Equal("a n n/b n/c n/d", All(merged));
        Assert.Equal(new[] { 0f, 1 }, Sample.Floats(merged, "a"));
        using var last = TensorDict.Merge([one, two], (_, tensors) => tensors[^1]);
        Assert.Equal(new[] { 5f, 6 }, Sample.Floats(last, "a"));
        Assert.Throws<NotSupportedException>(() => TensorDict.Merge([one, two], (_, _) => throw new NotSupportedException()));
        Expect.Fails<TensorDictException>(TensorDictStatus.InvalidArgument, () => TensorDict.Merge([one]));
    }

    [Fact]
    public void OneValueForManyKeys()
    {
        using var td = TensorDict.FromKeys(["a", ("n", "b")], Sample.Range(2));
        Assert.Equal("a n n/b", All(td));
        Expect.Shape(td.BatchSize);
    }

    [Fact]
    public void WhatIsEmptyOrNoTensorIsLeftOut()
    {
        using var td = Three();
        td.CreateNested("empty");
        Assert.Equal("", All(td.EmptyLike()));
        Assert.Equal("n empty", All(td.EmptyLike(nested: true)));
        td.RemoveEmpty();
        Assert.Equal("a n n/b n/c", All(td));
        Assert.Equal("a n n/b n/c", All(td.FilterNonTensor()));
    }

    [Fact]
    public void KeysComeInSeveralOrders()
    {
        using var td = Three();
        string Keys(bool leavesOnly = false, bool contentsFirst = false, Func<NestedKey, bool>? isLeaf = null) => string.Join(
            " ", td.NestedKeys(leavesOnly, false, true, contentsFirst, isLeaf).Select(key => string.Join("/", key)));
        Assert.Equal("a n/b n/c n", Keys(contentsFirst: true));
        Assert.Equal("a n/b n/c", Keys(leavesOnly: true));
        Assert.Equal("a n", Keys(leavesOnly: true, isLeaf: _ => true));
        Assert.Throws<NotSupportedException>(() => Keys(isLeaf: _ => throw new NotSupportedException()));
    }
}
