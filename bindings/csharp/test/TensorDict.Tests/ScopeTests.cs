using System;
using System.Threading;
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

    [Fact]
    public void AnAmbientScopeDisposesOfAllThatTheThreadMakes()
    {
        using var td = new TensorDict(2) { ["a"] = Tensor.FromArray(new[] { 1f, 2f }) };
        TensorMemoryTests.Collect();
        long before = TensorDictLibrary.LiveHandles;
        using (TensorDict result = Compute(td))
        {
            Assert.Equal(new[] { 1f, 5f / 3 }, Sample.Floats(result, "a"));
            Assert.Equal(before + 1, TensorDictLibrary.LiveHandles);
        }
        Assert.Equal(before, TensorDictLibrary.LiveHandles);

        static TensorDict Compute(TensorDict td)
        {
            using var scope = TensorScope.Begin();
            _ = td["a"];
            return scope.Keep((td * 2 + 1) / 3);
        }
    }

    [Fact]
    public void WhatAnInnerScopeKeepsBelongsToTheOuterOne()
    {
        Tensor kept, given;
        using (var outer = TensorScope.Begin())
        {
            using (var inner = TensorScope.Begin())
            {
                kept = inner.Keep(Tensor.Scalar(1f));
            }
            given = outer.Add(kept.Clone());
            Assert.Equal(1f, kept.Item<float>());
        }
        Assert.Throws<ObjectDisposedException>(() => kept.Shape);
        Assert.Throws<ObjectDisposedException>(() => given.Shape);
        using Tensor after = Tensor.Scalar(2f);
        Assert.Equal(2f, after.Item<float>());
        Assert.Throws<InvalidOperationException>(() => default(AmbientScope).Keep(after));
    }

    [Fact]
    public void AnAmbientScopeIsOfItsThread()
    {
        Tensor? elsewhere = null;
        Tensor? raised = null;
        using (TensorScope.Begin())
        {
            var thread = new Thread(() => elsewhere = Tensor.Scalar(3f));
            thread.Start();
            thread.Join();
            Assert.Throws<InvalidOperationException>(Fail);
            Assert.Throws<ObjectDisposedException>(() => raised!.Shape);
        }
        using (elsewhere)
        {
            Assert.Equal(3f, elsewhere!.Item<float>());
        }

        void Fail()
        {
            using var scope = TensorScope.Begin();
            raised = Tensor.Scalar(1f);
            throw new InvalidOperationException("on purpose");
        }
    }

    [Fact]
    public void AnAmbientScopeDoesNotGrowWithWhatIsDisposed()
    {
        using var td = new TensorDict(2) { ["r"] = Tensor.Zeros<float>(2) };
        using var ambient = TensorScope.Begin();
        using var writer = new TensorDictWriter(td);
        using NestedTensor nested_tensor = NestedTensor.FromTensors(new[] { Tensor.Zeros<float>(2), Tensor.Zeros<float>(3) });
        WeakReference first = Make();
        for (int i = 0; i < 1000; i++)
        {
            Tensor.Scalar(1f).Dispose();
        }
        TensorMemoryTests.Collect();
        Assert.False(first.IsAlive);
        ambient.Keep(nested_tensor);
        ambient.Dispose();
        Assert.Equal(2, nested_tensor.Count);
        writer.Put(writer.Bind("r"), 4f); // what it needs is its own
        Assert.Equal(4f, Sample.Floats(td, "r")[0]);

        [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
        static WeakReference Make()
        {
            Tensor t = Tensor.Scalar(1f);
            t.Dispose();
            return new WeakReference(t);
        }
    }
}
