using System;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Xunit;

namespace TensorDicts.Tests;

// The wire is tested in C; here the way into the language. Each rank is a thread.
public class GroupTests
{
    private static TensorDict Dict(long first)
    {
        var td = new TensorDict(2);
        td["a"] = Tensor.FromArray(new[] { first, first + 1 }, 2);
        return td;
    }

    private static long[] Values(TensorDict td) => td.GetTensor("a").ToArray<long>();

    // At the call, not by the task.
    private static void Refused<T>(Func<Task> begin) where T : Exception
    {
        Task? begun = null;
        Assert.ThrowsAny<T>(() => { begun = begin(); });
        Assert.Null(begun);
    }

    // Not at all in a build without groups.
    private static void OnTwoRanks(Action<Group> body)
    {
        string file = Path.Combine(Path.GetTempPath(), Path.GetRandomFileName());
        void Run(int rank)
        {
            Group group;
            try
            {
                group = new Group(new GroupOptions
                {
                    Url = "file://" + file, Rank = rank, Size = 2, Timeout = TimeSpan.FromMinutes(1),
                });
            }
            catch (TensorUnsupportedException)
            {
                return;
            }
            using (group)
            {
                body(group);
                group.Barrier();
            }
        }
        Task other = Task.Factory.StartNew(() => Run(1), TaskCreationOptions.LongRunning);
        Run(0);
        Assert.True(other.Wait(TimeSpan.FromMinutes(2)));
        File.Delete(file);
    }

    [Fact]
    public void FromRankToRank() => OnTwoRanks(group =>
    {
        var tagged = new GroupCall { InitTag = 3 };
        var whole = new GroupCall { Consolidated = true, NumThreads = 2 };
        Assert.Equal($"Group(rank {group.Rank} of 2)", group.ToString());
        if (group.Rank == 0)
        {
            group.Send(Dict(5), 1, tagged);
            group.SendMessage(Dict(6), 1);
            group.InitRemote(Dict(7), 1);
            group.SendAsync(Dict(8), 1, whole).Wait();
            group.SendMessageAsync(Dict(9), 1).Wait();
            return;
        }
        TensorDict into = Dict(0);
        group.Recv(into, 0, tagged);
        Assert.Equal(new long[] { 5, 6 }, Values(into));
        (TensorDict message, int source) = group.RecvMessage();
        Assert.Equal((6, 0), ((int)Values(message)[0], source));
        Assert.Equal(new long[] { 7, 8 }, Values(group.FromRemoteInit(0)));
        Assert.Equal(new long[] { 8, 9 }, Values(group.RecvAsync(into, 0, whole).Result));
        Assert.Equal(new long[] { 9, 10 }, Values(group.RecvMessageAsync(0).Result));
    });

    [Fact]
    public void AllRanksTogether() => OnTwoRanks(group =>
    {
        int rank = group.Rank;
        Assert.Equal(new long[] { 3, 4 }, Values(group.Broadcast(rank == 0 ? Dict(3) : null, 0)));
        TensorDict td = Dict(rank);
        group.AllReduce(td, GroupOp.Sum, new GroupCall { Fused = true });
        Assert.Equal(new long[] { 1, 3 }, Values(td));
        TensorDict bucketed = Dict(rank);
        group.AllReduce(bucketed, GroupOp.Sum, new GroupCall { BucketBytes = 8 });
        Assert.Equal(new long[] { 1, 3 }, Values(bucketed));
        group.Reduce(td, 0, GroupOp.Product);
        Assert.Equal(rank == 0 ? new long[] { 1, 9 } : new long[] { 1, 3 }, Values(td));
        Assert.Equal(new long[] { 0, 1, 1, 2 }, group.AllGather(Dict(rank)).SelectMany(Values).ToArray());
        TensorDict[] parts = rank == 1 ? new[] { Dict(10), Dict(20) } : Array.Empty<TensorDict>();
        Assert.Equal(rank == 0 ? 10 : 20, Values(group.Scatter(parts, 1))[0]);
        TensorDict? stack = group.GatherAndStack(Dict(rank), 1);
        Assert.Equal(rank == 1, stack != null);
        using Group? part = group.Split(new[] { 1 });
        Assert.Equal(rank == 1, part != null);
    });

    [Fact]
    public void LimitsAndCancels() => OnTwoRanks(group =>
    {
        int other = 1 - group.Rank;
        var soon = new GroupCall { Timeout = TimeSpan.FromMilliseconds(100), MaxBytes = 1 << 20 };
        Assert.ThrowsAny<Exception>(() => group.RecvMessage(other, soon));
        using var source = new CancellationTokenSource();
        Task<TensorDict> waiting = group.RecvMessageAsync(other, null, source.Token);
        source.Cancel();
        Assert.ThrowsAny<OperationCanceledException>(() => waiting.GetAwaiter().GetResult());
    });

    [Fact]
    public void AllRanksInTheBackground() => OnTwoRanks(group =>
    {
        int rank = group.Rank;
        var fused = new GroupCall { Fused = true };
        Task<TensorDict> sent = group.SendMessageAsync(Dict(7 + rank), 1 - rank);
        TensorDict[] own = Enumerable.Range(0, 4).Select(i => Dict((10 * i) + rank)).ToArray();
        Task<TensorDict>[] sums = own.Select(td => group.AllReduceAsync(td, GroupOp.Sum, fused)).ToArray();
        Task<TensorDict> all = group.BroadcastAsync(rank == 1 ? Dict(3) : null, 1);
        TensorDict largest = Dict(5 + rank);
        Task<TensorDict> reduced = group.ReduceAsync(largest, 0, GroupOp.Max);
        TensorDict[] parts = rank == 0 ? new[] { Dict(10), Dict(20) } : Array.Empty<TensorDict>();
        Task<TensorDict> part = group.ScatterAsync(parts, 0);
        foreach (TensorDict given in parts)
        {
            given.Dispose();
        }
        TensorDict last = Dict(rank);
        group.AllReduce(last, GroupOp.Product);
        Assert.Equal(new long[] { 0, 2 }, Values(last));
        Assert.Equal(rank == 0 ? 10 : 20, Values(part.Result)[0]);
        reduced.Wait();
        Assert.Equal(new long[] { 6, 7 }, Values(largest)); // at rank 1 its own
        Assert.Equal(new long[] { 3, 4 }, Values(all.Result));
        for (int i = 0; i < own.Length; i++)
        {
            var want = new long[] { (20 * i) + 1, (20 * i) + 3 };
            Assert.Equal(want, Values(sums[i].Result));
            Assert.Equal(want, Values(own[i]));
        }
        Assert.Equal(8 - rank, Values(group.RecvMessage().Message)[0]);
        sent.Wait();
        Refused<TensorDTypeException>(() => group.AllReduceAsync(last, GroupOp.Average));
        Refused<TensorDictException>(() => group.ReduceAsync(last, 2, GroupOp.Sum));
        Refused<TensorDictException>(() => group.BroadcastAsync(null, rank));
        Refused<TensorDictException>(() => group.ScatterAsync(new[] { last }, rank));
    });

    [Fact]
    public void WhatIsGivenUpGoesOnWithoutItsRank() => OnTwoRanks(group =>
    {
        if (group.Rank == 0)
        {
            var soon = new GroupCall { Timeout = TimeSpan.FromMilliseconds(100) };
            using var source = new CancellationTokenSource();
            TensorDict late = Dict(1), told = Dict(2);
            Task<TensorDict> first = group.AllReduceAsync(late, GroupOp.Sum, soon);
            Task<TensorDict> second = group.AllReduceAsync(told, GroupOp.Sum, null, source.Token);
            Assert.ThrowsAny<TensorDictException>(() => first.GetAwaiter().GetResult());
            Assert.False(second.IsCompleted);
            source.Cancel();
            Assert.ThrowsAny<OperationCanceledException>(() => second.GetAwaiter().GetResult());
            Assert.Equal(new long[] { 1, 2 }, Values(late));
            Assert.Equal(new long[] { 2, 3 }, Values(told));
            group.SendMessage(late, 1);
        }
        else
        {
            group.RecvMessage(0);
            foreach (int first in new[] { 1, 2 })
            {
                TensorDict td = Dict(first);
                group.AllReduce(td, GroupOp.Sum);
                Assert.Equal(new long[] { 2 * first, (2 * first) + 2 }, Values(td));
            }
        }
        Assert.Equal(new long[] { 8, 10 }, Values(group.AllReduceAsync(Dict(4), GroupOp.Sum).Result));
    });
}
