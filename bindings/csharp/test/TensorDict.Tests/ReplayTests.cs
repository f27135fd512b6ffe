using System;
using System.IO;
using System.Linq;
using Xunit;

namespace TensorDicts.Tests;

public class ReplayTests
{
    private static TensorDict Rows(int first, int n)
    {
        long[] a = Enumerable.Range(first, n).Select(i => (long)i).ToArray();
        var td = new TensorDict(n);
        td["a"] = Tensor.FromArray(a, n);
        td["episode"] = Tensor.FromArray(a.Select(i => i / 4).ToArray(), n);
        td["done"] = Tensor.FromArray(a.Select(i => i % 4 == 3).ToArray(), n);
        return td;
    }

    private static long[] Drawn(Replay replay, long rows = 0)
    {
        using TensorDict batch = replay.Sample(rows);
        return batch.GetTensor("a").ToArray<long>();
    }

    [Fact]
    public void RowsGoAround()
    {
        using var replay = new Replay(10, new ReplayOptions { Rows = 6, Sampler = ReplaySampler.Random });
        replay.Extend(Rows(0, 8));
        replay.Add(Rows(8, 1)[0]);
        replay.Extend(Rows(9, 3));
        Assert.Equal((10L, 10L, 2L, 12L), (replay.Count, replay.Capacity, replay.Cursor, replay.Written));
        using TensorDict stored = replay.Stored();
        Assert.Equal(new long[] { 10, 11, 2, 3, 4, 5, 6, 7, 8, 9 }, stored.GetTensor("a").ToArray<long>());
        Assert.All(Drawn(replay), row => Assert.InRange(row, 2, 11));
        using Tensor zero = Tensor.FromArray(new long[] { 0 }, 1);
        Assert.Throws<TensorUnsupportedException>(() => replay.UpdatePriority(zero, zero));
        replay.Dispose();
        Assert.Throws<ObjectDisposedException>(() => replay.Count);
    }

    [Fact]
    public void Samplers()
    {
        using var once = new Replay(9, new ReplayOptions
        {
            Sampler = ReplaySampler.WithoutReplacement, InOrder = true, DropLast = true,
        });
        once.Extend(Rows(0, 9));
        Assert.Equal(new long[] { 0, 1, 2, 3 }, Drawn(once, 4));
        Assert.Equal(new long[] { 4, 5, 6, 7 }, Drawn(once, 4));
        var slices = new ReplayOptions { Sampler = ReplaySampler.Slices, SliceLength = 3, ShortSlices = true };
        foreach (ReplayOptions options in new[]
        {
            slices with { Episode = "episode" }, slices with { Ends = new NestedKey[] { "done" } },
        })
        {
            using var replay = new Replay(16, options);
            replay.Extend(Rows(0, 16));
            long[] rows = Drawn(replay, 30);
            for (int i = 0; i < 30; i += 3)
            {
                Assert.Equal((rows[i] / 4, rows[i] + 2), (rows[i + 2] / 4, rows[i + 2]));
            }
        }
        using var spanning = new Replay(16, new ReplayOptions
        {
            Sampler = ReplaySampler.Slices, SliceLength = 3, Episode = "episode", SpanBegin = true, SpanEnd = true,
        });
        spanning.Extend(Rows(0, 16));
        long[] found = Drawn(spanning, 300);
        Assert.InRange(found.Length, 100, 299);
        Assert.Equal(16, found.Distinct().Count());
        using var prioritized = new Replay(4, new ReplayOptions
        {
            Sampler = ReplaySampler.Prioritized, Alpha = 1, Beta = 1, Eps = 0, BatchWeights = true,
        });
        prioritized.Extend(Rows(0, 4));
        using Tensor index = Tensor.FromArray(new long[] { 0, 1, 2, 3 }, 4);
        using Tensor priority = Tensor.FromArray(new[] { 0.0, 1.0, 0.0, 4.0 }, 4);
        prioritized.UpdatePriority(index, priority);
        prioritized.SetBeta(0.5);
        using TensorDict batch = prioritized.Sample(64);
        Assert.All(
            batch.GetTensor("index").ToArray<long>().Zip(batch.GetTensor("priority_weight").ToArray<float>()),
            pair => Assert.Equal(pair.First == 1 ? 1 : 0.5f, pair.Second));
    }

    [Fact]
    public void Slices()
    {
        var ends = new ReplayOptions { Ends = new NestedKey[] { "done" }, SliceLength = 3 };
        using var once = new Replay(16, ends with { Sampler = ReplaySampler.SlicesWithoutReplacement });
        once.Extend(Rows(0, 16));
        long[] rows = Drawn(once, 12);
        Assert.Equal(
            new long[] { 0, 1, 2, 3 }, Enumerable.Range(0, 4).Select(i => rows[3 * i] / 4).OrderBy(i => i));
        using var marked = new Replay(16, ends with
        {
            Sampler = ReplaySampler.Slices, SliceLength = 0, SliceCount = 2, SpanBeginRows = 1, ShortSlices = true,
            MarkEnds = true, BySlice = true,
        });
        marked.Extend(Rows(0, 10));
        using (TensorDict batch = marked.Sample(6))
        {
            Expect.Shape(batch.BatchSize, 2, 3);
            bool[] mask = batch.GetTensor(new NestedKey("collector", "mask")).ToArray<bool>();
            bool[] last = batch.GetTensor(new NestedKey("next", "truncated")).ToArray<bool>();
            for (int i = 0; i < 6; i++)
            {
                int length = mask.Skip(i - (i % 3)).Take(3).Count(real => real);
                Assert.Equal((i % 3 < length, i % 3 == length - 1), (mask[i], last[i]));
            }
        }
        using var first = new Replay(16, ends with
        {
            Sampler = ReplaySampler.PrioritizedSlices, Alpha = 1, Beta = 1, Eps = 0, BatchWeights = true,
            PriorityKey = "a", LargestWithin = true,
        });
        first.Extend(Rows(0, 16));
        rows = Drawn(first, 30);
        Assert.All(Enumerable.Range(0, 10), i => Assert.True(rows[3 * i] % 4 < 2));
        using var time = new Replay(16, new ReplayOptions { Dimensions = 2 });
        var td = new TensorDict(2, 4);
        td["a"] = Tensor.FromArray(Enumerable.Range(0, 8).Select(i => (long)i).ToArray(), 2, 4);
        time.Extend(td);
        using TensorDict drawn = time.Sample(5);
        long[] index = drawn.GetTensor("index").ToArray<long>(), a = drawn.GetTensor("a").ToArray<long>();
        Assert.All(Enumerable.Range(0, 5), i => Assert.Equal(a[i], (4 * index[2 * i]) + index[(2 * i) + 1]));
    }

    // Rows in episodes of four: their reward is their number, and so is the goal that they reach.
    private static TensorDict Played()
    {
        TensorDict td = Rows(0, 8);
        float[] numbers = Enumerable.Range(0, 8).Select(k => (float)k).ToArray();
        td[new NestedKey("next", "reward")] = Tensor.FromArray(numbers, 8);
        td["achieved_goal"] = Tensor.FromArray(numbers, 8);
        td["desired_goal"] = Tensor.FromArray(Enumerable.Repeat(-1f, 8).ToArray(), 8);
        return td;
    }

    [Fact]
    public void ReturnsOfSeveralSteps()
    {
        using var replay = new Replay(8, new ReplayOptions
        {
            Sampler = ReplaySampler.WithoutReplacement, InOrder = true, Ends = new NestedKey[] { "done" }, Steps = 2,
            Gamma = 0.5, Rewards = new[] { new NestedKey("next", "reward") }, Mask = "done",
        });
        replay.Extend(Played());
        using TensorDict batch = replay.Sample(8);
        Assert.Equal(
            new[] { 0.5f, 2, 3.5f, 3, 6.5f, 8, 9.5f, 7 },
            batch.GetTensor(new NestedKey("next", "reward")).ToArray<float>());
        Assert.Equal(
            new long[] { 2, 2, 2, 1, 2, 2, 2, 1 }, batch.GetTensor("steps_to_next_obs").ToArray<long>());
        Assert.ThrowsAny<TensorDictException>(() => new Replay(8, new ReplayOptions { Steps = 2, Gamma = 0 }));
    }

    [Fact]
    public void GoalsInHindsight()
    {
        using var replay = new Replay(8, new ReplayOptions { Ends = new NestedKey[] { "done" } });
        replay.Extend(Played());
        NestedKey[] goal = { "desired_goal" }, rewarded = { new NestedKey("next", "reward") };
        using var reward = new TensorDictModule(
            td =>
            {
                float[] goals = td.GetTensor("desired_goal").ToArray<float>();
                td[new NestedKey("next", "reward")] =
                    Tensor.FromArray(goals.Select(one => 2 * one).ToArray(), goals.Length);
                return null;
            },
            goal, rewarded);
        var may = new (HindsightStrategy Strategy, Func<long, long, bool> Allows)[]
        {
            (HindsightStrategy.Future, (row, from) => from >= row && from / 4 == row / 4),
            (HindsightStrategy.Final, (row, from) => from == (row / 4 * 4) + 3),
            (HindsightStrategy.Episode, (row, from) => from / 4 == row / 4),
            (HindsightStrategy.Random, (_, from) => from < 8),
        };
        foreach ((HindsightStrategy strategy, Func<long, long, bool> allows) in may)
        {
            using TensorDict batch = replay.SampleHindsight(
                64, new HindsightOptions { Strategy = strategy, Ratio = 0.5 }, reward);
            long[] rows = batch.GetTensor("a").ToArray<long>();
            float[] goals = batch.GetTensor("desired_goal").ToArray<float>();
            float[] rewards = batch.GetTensor(new NestedKey("next", "reward")).ToArray<float>();
            Assert.All(Enumerable.Range(0, 32), i => Assert.True(allows(rows[i], (long)goals[i])));
            Assert.All(Enumerable.Range(0, 32), i => Assert.Equal(2 * goals[i], rewards[i]));
            Assert.All(Enumerable.Range(32, 32), i => Assert.Equal((-1f, rows[i]), (goals[i], (long)rewards[i])));
        }
        using var failing = new TensorDictModule(
            _ => throw new InvalidOperationException("no reward"), goal, rewarded);
        Assert.Throws<InvalidOperationException>(() => replay.SampleHindsight(8, null, failing));
        Assert.ThrowsAny<TensorDictException>(() => replay.SampleHindsight(8, new HindsightOptions { Ratio = 2 }));
    }

    [Fact]
    public void Folders()
    {
        string folder = Directory.CreateTempSubdirectory("td_replay").FullName;
        string live = Path.Combine(folder, "live"), saved = Path.Combine(folder, "saved");
        using (var writer = new Replay(8, new ReplayOptions { Folder = live }))
        using (Replay reader = Replay.Open(live))
        {
            writer.Extend(Rows(0, 5));
            Assert.Equal(5, reader.Count);
            Assert.All(Drawn(reader, 20), row => Assert.InRange(row, 0, 4));
            writer.Save(durable: true);
            reader.Save(saved);
            using Replay loaded = Replay.Load(saved);
            Assert.Equal(Drawn(reader, 20), Drawn(loaded, 20));
        }
        Assert.ThrowsAny<TensorDictException>(() => Replay.Load(Path.Combine(folder, "none")));
        Assert.ThrowsAny<TensorDictException>(() => new Replay(0));
        Directory.Delete(folder, true);
    }
}
