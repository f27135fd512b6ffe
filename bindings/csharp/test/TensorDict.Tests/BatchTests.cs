using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using Xunit;

namespace TensorDicts.Tests;

public class BatchTests
{
    private static TensorDict Line(int n)
    {
        var td = new TensorDict(n);
        td["a"] = Tensor.FromArray(Enumerable.Range(0, n).Select(i => (long)i).ToArray(), n);
        td["episode"] = Tensor.FromArray(Enumerable.Range(0, n).Select(i => (long)(i / 4)).ToArray(), n);
        return td;
    }

    private static long[] Rows(TensorDict batch) => batch.GetTensor("a").ToArray<long>();

    private static long[] All(IEnumerable<TensorDict> batches) => batches.SelectMany(Rows).ToArray();

    [Fact]
    public void ALoopIsOneEpoch()
    {
        using TensorDict td = Line(10);
        Assert.Equal(new long[] { 4, 4, 2 }, td.Batches(4).Select(batch => batch.BatchSize[0]));
        Assert.Equal(Enumerable.Range(0, 10).Select(i => (long)i), All(td.Batches(4)));
        long[] Order(int workers)
        {
            using BatchLoader loader = td.Batches(4, shuffle: true, seed: 7, numWorkers: workers);
            return All(loader).Concat(All(loader)).ToArray();
        }
        long[] once = Order(0);
        Assert.Equal(once, Order(2));
        Assert.NotEqual(once.Take(10), once.Skip(10));
        Assert.Equal(Enumerable.Range(0, 10).Select(i => (long)i), once.Take(10).OrderBy(row => row));
        Assert.Equal(30, All(td.Batches(4, new BatchOptions { Epochs = 3 })).Length);
    }

    [Fact]
    public async Task TheThreadIsFreeMeanwhile()
    {
        using TensorDict td = Line(10);
        using BatchLoader loader = td.Batches(3, new BatchOptions { NumWorkers = 1, Reuse = true });
        var rows = new List<long>();
        TensorDict? first = null;
        await foreach (TensorDict batch in loader)
        {
            first ??= batch;
            rows.AddRange(Rows(batch));
        }
        Assert.Equal(Enumerable.Range(0, 10).Select(i => (long)i), rows);
        Assert.Throws<ObjectDisposedException>(() => first!.BatchSize);
    }

    [Fact]
    public void ALoaderGoesOnWhereAnotherWas()
    {
        using TensorDict td = Line(10);
        var options = new BatchOptions { Shuffle = true, Seed = 1, DropLast = true, NumWorkers = 1 };
        using BatchLoader one = td.Batches(3, options);
        using BatchLoader other = td.Batches(3, options);
        one.Next()!.Dispose();
        using TensorDict state = one.GetState();
        other.LoadState(state);
        Assert.Equal((0L, 1L, 3L), (other.Epoch, other.Batch, other.BatchCount));
        Assert.Equal(All(one), All(other));
        using var empty = new TensorDict();
        Assert.Throws<TensorKeyException>(() => other.LoadState(empty));
    }

    [Fact]
    public void SlicesWeightsRanksAndKeys()
    {
        using TensorDict td = Line(10);
        var slices = new BatchOptions
        {
            SliceLength = 3, SliceStep = 1, Episode = "episode", Keys = new NestedKey[] { "a" },
        };
        TensorDict batch = td.Batches(2, slices).First();
        Assert.Equal(new long[] { 2, 3 }, batch.BatchSize.ToArray());
        Assert.Equal(new long[] { 0, 1, 2, 1, 2, 3 }, Rows(batch));
        Assert.False(batch.ContainsKey("episode"));
        var whole = new BatchOptions { SliceLength = 3, Episode = "episode", Concatenate = true, ShortSlices = true };
        Assert.Equal(10, Rows(td.Batches(10, whole).First()).Length);
        using Tensor weights = Tensor.FromArray(Enumerable.Range(0, 10).Select(i => i == 6 ? 1.0 : 0.0).ToArray(), 10);
        Assert.All(All(td.Batches(4, new BatchOptions { Weights = weights, Draws = 8 })), row => Assert.Equal(6, row));
        Assert.Equal(30, All(td.Batches(4, new BatchOptions { Replacement = true, Draws = 30 })).Length);
        IEnumerable<long> split = Enumerable.Range(0, 3).SelectMany(rank => All(td.Batches(
            2, new BatchOptions { Shuffle = true, Seed = 5, Rank = rank, WorldSize = 3 })));
        Assert.Equal(Enumerable.Range(0, 10).Select(i => (long)i), split.OrderBy(row => row));
    }

    [Fact]
    public void RandomNumbersHaveGenerators()
    {
        using var one = new Generator(42);
        using var other = new Generator(1);
        long[] Order(Generator generator) => Tensor.RandPerm(50, generator).ToArray<long>();
        Assert.Equal(Enumerable.Range(0, 50).Select(i => (long)i), Order(one).OrderBy(row => row));
        using Tensor state = one.GetState();
        other.LoadState(state);
        Assert.Equal(Order(one), Order(other));
        Assert.All(Tensor.RandInt(3, 5, new long[] { 20 }).ToArray<long>(), number => Assert.InRange(number, 3, 4));
        Assert.Equal(new[] { 4f, 2f }, Tensor.Arange(4, 0, -2, DType.Float32).ToArray<float>());
        Assert.Throws<TensorDictException>(() => Tensor.RandPerm(-1));
    }

    [Fact]
    public void WhatIsRefused()
    {
        using TensorDict td = Line(10);
        Assert.Throws<TensorDictException>(() => td.Batches(0));
        Assert.Throws<ArgumentOutOfRangeException>(() => td.Batches(1, new BatchOptions { Epochs = -1 }));
        Assert.Throws<TensorKeyException>(
            () => td.Batches(1, new BatchOptions { SliceLength = 2, Ends = new NestedKey[] { "nope" } }));
    }
}
