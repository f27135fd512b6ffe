using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Threading;
using Xunit;

namespace TensorDicts.Tests;

public class MapTests
{
    private sealed class OwnException : Exception
    {
        public OwnException(long number)
            : base("piece " + number)
        {
            Number = number;
        }

        public long Number { get; }
    }

    private static TensorDict Line(int n)
    {
        var td = new TensorDict(n);
        td["x"] = Tensor.FromArray(Enumerable.Range(0, n).Select(i => (float)i).ToArray(), n);
        return td;
    }

    [Fact]
    public void AllCutsGiveAllElementsInOrder()
    {
        using var td = Sample.Nested();
        foreach (int workers in new[] { 0, 1, 2, 5 })
        {
            foreach (MapOptions options in new[]
            {
                new MapOptions(), new MapOptions { ChunkSize = 3 }, new MapOptions { NumChunks = 3 }, new MapOptions { ChunkSize = 0 },
            })
            {
                using var same = td.Map(piece => piece, options with { NumWorkers = workers, Dim = -1 });
                Assert.True(same!.EqualTo(td));
            }
        }
        Assert.Null(td.Map(_ => null));
        Assert.Throws<ArgumentException>(() => td.Map(piece => piece, new MapOptions { ChunkSize = 1, NumChunks = 1 }));
        Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => td.Map(piece => piece, new MapOptions { Dim = 2 }));
    }

    [Fact]
    public void PiecesKnowWhatTheyAreAndProgressIsTold()
    {
        using var td = Line(5);
        var seen = new List<(long, long, long, long, ulong)>();
        var told = new List<(long, long)>();
        int caller = Environment.CurrentManagedThreadId, elsewhere = 0;
        using var result = td.Map((piece, part) =>
        {
            lock (seen)
            {
                seen.Add((piece.Number, piece.First, piece.Length, piece.Count, piece.Seed));
                elsewhere += Environment.CurrentManagedThreadId == caller ? 0 : 1;
            }
            Assert.InRange(piece.Worker, 0, 1);
            return part;
        }, new MapOptions { ChunkSize = 2, NumWorkers = 2, Seed = 70, Progress = (done, total) => told.Add((done, total)) });
        seen.Sort();
        Assert.Equal(new[] { (0L, 0L, 2L, 3L, 70UL), (1L, 2L, 2L, 3L, 71UL), (2L, 4L, 1L, 3L, 72UL) }, seen);
        Assert.Equal(new[] { (0L, 3L), (1L, 3L), (2L, 3L), (3L, 3L) }, told);
        Assert.Equal(3, elsewhere);
    }

    [Fact]
    public void ResultsGoIntoAnotherOrInPlace()
    {
        using var td = Line(4);
        using var target = new TensorDict(4);
        target["x"] = Tensor.Zeros<double>(4);
        using var same = td.Map(piece => piece, new MapOptions { ChunkSize = 0, NumWorkers = 2, Out = target });
        Assert.Equal(new[] { 0.0, 1, 2, 3 }, target.GetTensor("x").ToArray<double>());
        Assert.Null(td.Map(piece =>
        {
            piece.SetInPlace("x", Tensor.FromArray(new[] { 7f }, 1));
            return null;
        }, new MapOptions { ChunkSize = 1, NumWorkers = 2 }));
        Assert.Equal(new[] { 7f, 7, 7, 7 }, Sample.Floats(td, "x"));
    }

    [Fact]
    public void WhatTheFirstPieceInOrderThrowsComesBack()
    {
        using var td = Line(30);
        foreach (int workers in new[] { 1, 3 })
        {
            var options = new MapOptions { ChunkSize = 0, NumWorkers = workers };
            OwnException caught = Assert.Throws<OwnException>(() => td.Map(
                (piece, part) => piece.Number >= 4 ? throw new OwnException(piece.Number) : part, options));
            Assert.Equal(4, caught.Number);
            Assert.Throws<OwnException>(() => td.Map(part => part, options with { Progress = (_, _) => throw new OwnException(99) }));
            Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => td.Map(part => part.GetDict("missing"), options));
        }
    }

    [Fact]
    public void ResultsComeOneByOne()
    {
        using var td = Line(9);
        foreach (int workers in new[] { 1, 2 })
        {
            var options = new MapOptions { ChunkSize = 0, NumWorkers = workers, Ahead = 2 };
            float[] Values(MapOptions how) => td.MapEach((_, part) => part, how).Select(part => Sample.Floats(part, "x")[0]).ToArray();
            Assert.Equal(new float[] { 0, 1, 2, 3, 4, 5, 6, 7, 8 }, Values(options));
            float[] one = Values(options with { Shuffle = true, Seed = 1 });
            Assert.Equal(one, Values(options with { Shuffle = true, Seed = 1 }));
            Assert.NotEqual(one, Values(options with { Shuffle = true, Seed = 2 }));
            Assert.Equal(36, one.Sum());
            int calls = 0;
            foreach (TensorDict part in td.MapEach((_, part) =>
            {
                Interlocked.Increment(ref calls);
                return part;
            }, options))
            {
                break; // waits for those that run
            }
            Assert.InRange(calls, 1, 4);
        }
    }

    [Fact]
    public void AnEnumeratorEndsWhereItsPieceThrows()
    {
        using var td = Line(9);
        foreach (int workers in new[] { 1, 2 })
        {
            int given = 0;
            OwnException caught = Assert.Throws<OwnException>(() =>
            {
                foreach (TensorDict part in td.MapEach(
                    (piece, part) => piece.Number >= 2 ? throw new OwnException(piece.Number) : part,
                    new MapOptions { ChunkSize = 0, NumWorkers = workers }))
                {
                    given++;
                }
            });
            Assert.Equal((2L, 2), (caught.Number, given));
        }
        Assert.Throws<ArgumentException>(() => td.MapEach((_, part) => part, new MapOptions { ChunkSize = 1, NumChunks = 1 }));
    }

    [Fact]
    public void ALineForTheTerminal()
    {
        using var text = new StringWriter();
        var bar = new ProgressBar(text);
        bar.Show(0, 4);
        bar.Show(1, 4); // too soon
        bar.Show(4, 4);
        Assert.Contains("  0%|", text.ToString());
        Assert.DoesNotContain("25%", text.ToString());
        Assert.Contains("100%|" + new string('#', 40) + "| 4/4 [", text.ToString());
        Assert.StartsWith(" 75%|", bar.Text(3, 4));
    }
}
