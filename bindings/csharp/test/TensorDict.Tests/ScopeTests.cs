using System;
using Xunit;

namespace TensorDicts.Tests;

public class ScopeTests
{
    [Fact]
    public void WhatWasAddedGoesWithTheScope()
    {
        TensorMemoryTests.Collect();
        long before = TensorDictLibrary.LiveHandles;
        var scope = new TensorScope();
        TensorDict td = scope.Add(new TensorDict(2));
        Tensor first = scope.Add(Tensor.Zeros<float>(2));
        Assert.Same(first, scope.Add(first)); // once more does no harm
        td["a"] = first;
        scope.Add(td["a"]);                   // of the static type Entry
        using Tensor apart = Tensor.Scalar(3f);
        Assert.Equal(before + 4, TensorDictLibrary.LiveHandles);
        scope.Dispose();
        Assert.Equal(before + 1, TensorDictLibrary.LiveHandles);
        Assert.Throws<ObjectDisposedException>(() => first.Shape);
        Assert.Throws<ObjectDisposedException>(() => td.BatchSize);
        Assert.Equal(3f, apart.Item<float>());
    }

    [Fact]
    public void AResultOutlivesTheScope()
    {
        using Tensor twice = Twice(Tensor.FromArray(new[] { 1f, 2f }), out Tensor source);
        Assert.Equal(new[] { 2f, 4f }, twice.ToArray<float>());
        Assert.Throws<ObjectDisposedException>(() => source.Shape);

        static Tensor Twice(Tensor given, out Tensor source)
        {
            using var scope = new TensorScope();
            source = scope.Add(given);
            Tensor result = scope.Add(given.Clone());
            result.CopyFrom(Array.ConvertAll(given.ToArray<float>(), value => value * 2));
            return scope.Keep(result);
        }
    }

    [Fact]
    public void AnExceptionDisposesEverything()
    {
        Tensor inside = Tensor.Scalar(1f);
        Assert.Throws<InvalidOperationException>(Fail);
        Assert.Throws<ObjectDisposedException>(() => inside.Shape);

        void Fail()
        {
            using var scope = new TensorScope();
            scope.Add(inside);
            throw new InvalidOperationException("on purpose");
        }
    }

    [Fact]
    public void WrongUsesAreRefused()
    {
        using Tensor t = Tensor.Scalar(1f);
        var scope = new TensorScope();
        Assert.Throws<ArgumentNullException>(() => scope.Add<Tensor>(null!));
        Assert.Contains("not this Tensor", Assert.Throws<ArgumentException>(() => scope.Keep<Entry>(t)).Message);
        scope.Dispose();
        scope.Dispose();
        Assert.Equal(nameof(TensorScope), Assert.Throws<ObjectDisposedException>(() => scope.Add(t)).ObjectName);
        Assert.Equal(1f, t.Item<float>());
    }
}
