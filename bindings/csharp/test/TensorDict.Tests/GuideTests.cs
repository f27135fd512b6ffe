// What the pages of docs/guide quote: the regions between the marks.
using System;
using System.IO;
using System.Linq;
using Xunit;

namespace TensorDicts.Tests;

public class GuideTests
{
    [Fact]
    public void Dictionaries()
    {
        // [dictionaries]
        float[] frames = new float[3 * 4 * 84];
        using var td = new TensorDict(3, 4)
        {
            ["obs"] = Tensor.FromArray(frames, 3, 4, 84),
            ["agents", "reward"] = Tensor.Zeros<float>(3, 4, 1),
        };
        Console.WriteLine(td);                                   // as Python prints it

        using Tensor obs = td.GetTensor("obs");                  // [3, 4, 84] of float
        using TensorDict agents = td.GetDict("agents");          // the very one inside
        if (td["agents", "reward"] is Tensor reward)             // an Entry: Tensor, TensorDict or NonTensor
        {
            Console.WriteLine($"{reward.DType} {reward.Shape}"); // Float32 [3, 4, 1]
        }
        foreach (var (key, leaf) in td.Leaves())
        {
            Console.WriteLine($"{key}: {leaf.DType} {leaf.Shape}");
        }
        bool there = td.TryGetValue("missing", out _);           // false
        bool gone = td.Remove("agents", "reward");               // true
        // [/dictionaries]
        Assert.Equal(3 * 4 * 84, obs.ElementCount);
        Assert.Equal(new NestedKey[] { "obs", "agents" }, td.Keys());
        Assert.True(agents.IsEmpty);
        Assert.False(there);
        Assert.True(gone);
    }

    [Fact]
    public void Scopes()
    {
        using var td = new TensorDict(2) { ["x"] = Tensor.FromArray(new[] { 1f, 4f }) };
        TensorDict scaled;
        // [scopes]
        using (var scope = TensorScope.Begin())
        {
            scaled = scope.Keep((td * 2 + 1) / 3);               // outlives the scope; td * 2 and its sum do not
        }
        // [/scopes]
        Assert.Equal(new[] { 1f, 3f }, Sample.Floats(scaled, "x"));
        scaled.Dispose();
    }

    [Fact]
    public void Indices()
    {
        using var td = Sample.Nested();
        // [indices]
        using var first = td[0];                                 // batch [3], a view
        using var tail = td[.., ^2..];                           // td[:, -2:] in Python
        using var odd = td[Slice.Of(start: 1, step: 2), TensorIndex.Ellipsis, TensorIndex.NewAxis];
        using var text = td[TensorIndex.Parse("1::2, ..., None")];

        using var mask = Tensor.FromArray(new[] { true, false, false, true });
        using var picked = td[mask];                             // batch [2, 3], a copy

        td[0, 1] = td[3, 2];                                     // values into a part
        td.FillAt(Tensor.Scalar(0f), ^1);                        // one value into the last row
        // [/indices]
        Expect.Shape(first.BatchSize, 3);
        Expect.Shape(tail.BatchSize, 4, 2);
        Expect.Shape(odd.BatchSize, 2, 3, 1);
        Assert.True(text.EqualTo(odd));
        Expect.Shape(picked.BatchSize, 2, 3);
        Assert.Equal(new[] { 22f, 23f }, Sample.Floats(td, "a")[2..4]);
        Assert.Equal(0f, Sample.Floats(td, "a")[23]);
    }

    [Fact]
    public void Memory()
    {
        // [memory]
        var samples = new float[6];
        using var shared = Tensor.FromMemory(samples.AsMemory(), 2, 3);   // no copy, pinned
        using (var view = shared.View<float>())                           // no copy, keeps the tensor
        {
            view.Span.Fill(1f);
            view[5] = 2f;
        }
        float last = samples[5];                                          // 2
        float[] copy = shared.ToArray<float>();                           // from any device
        shared.CopyFrom(new float[] { 1, 2, 3, 4, 5, 6 });
        // [/memory]
        Assert.Equal(2f, last);
        Assert.Equal(new[] { 1f, 1f, 1f, 1f, 1f, 2f }, copy);
        Assert.Equal(6f, samples[5]);
    }

    [Fact]
    public void Functions()
    {
        using var td = Sample.Nested();
        // [functions]
        using var halves = td.Apply(t => t.To(DType.Float16));
        using var named = td.Apply((key, t) => key == "a" ? t : null);   // null drops the entry
        try
        {
            td.Apply(t => throw new InvalidOperationException("not today"));
        }
        catch (InvalidOperationException e)
        {
            Console.WriteLine(e.Message);                                // the very exception
        }
        // [/functions]
        Assert.Equal(DType.Float16, halves.GetTensor("n", "b").DType);
        Assert.Equal(new NestedKey[] { "a" }, named.Keys());
    }

    [Fact]
    public void Shapes()
    {
        using var td = Sample.Nested();
        // [shapes]
        using var flat = td.View(-1);                            // batch [12]
        using var turned = td.Permute(1, 0);                     // batch [3, 4]
        using var both = TensorDict.Stack([td, td]);             // batch [2, 4, 3]
        TensorDict[] rows = td.Unbind(0);                        // 4 of batch [3]
        // [/shapes]
        Expect.Shape(flat.BatchSize, 12);
        Expect.Shape(turned.BatchSize, 3, 4);
        Expect.Shape(both.BatchSize, 2, 4, 3);
        Assert.Equal(4, rows.Length);
    }

    [Fact]
    public void Folders()
    {
        using var folder = new TempFolder();
        string directory = folder["guide"];
        // [folders]
        using var row = new TensorDict
        {
            ["obs"] = Tensor.Zeros<float>(2),
            ["reward"] = Tensor.Zeros<double>(),
        };
        using var many = row.Expand(100);                        // no memory yet
        using var disk = many.MemmapLike(directory);             // files of zeros
        using (var writer = new TensorDictWriter(disk))
        {
            WriterField obs = writer.Bind("obs");
            WriterField reward = writer.Bind("reward");
            for (int step = 0; step < 100; step++)
            {
                writer.Put<float>(obs, [step, -step]);
                writer.Put(reward, step * 0.5);
                writer.Next();
            }
            writer.Close();                                      // waits for the disk
        }

        using var back = TensorDict.Load(directory, new LoadOptions { PrivateMapping = true });
        Console.WriteLine($"{back.ByteCount} bytes in {back.SavedPath}");
        // [/folders]
        Assert.Equal(100 * 16, back.ByteCount);
        Assert.Equal(2475.0, back.GetTensor("reward").ToArray<double>().Sum());
        Assert.Equal(-99f, Sample.Floats(back, "obs")[199]);
    }

    [Fact]
    public void Errors()
    {
        using var td = Sample.Nested();
        string message = "";
        // [errors]
        try
        {
            td["obs"] = Tensor.Zeros<float>(5);
        }
        catch (TensorShapeException e)
        {
            message = $"{e.Status} in {e.Function}: {e.Message}";
        }
        // [/errors]
        Assert.StartsWith("Shape in td_set: ", message);
    }

    [Fact]
    public void Entries()
    {
        using var state = new TensorDict(2) { ["obs"] = Tensor.Zeros<float>(2) };
        // [set]
        state["agent", "pos"] = Tensor.FromArray(new[] { 0f, 1f });
        using Tensor pos = state.GetTensor("agent", "pos");      // the tensor itself, no copy
        using TensorDict agent = state.GetDict("agent");         // the dictionary itself
        // [/set]
        Assert.Equal(new[] { 0f, 1f }, pos.ToArray<float>());
        Assert.True(agent.ContainsKey("pos"));
        using var step = new TensorDict(2)
        {
            ["obs"] = Tensor.FromArray(new[] { 1f, 1f }),
            ["agent", "vel"] = Tensor.FromArray(new[] { 1f, 1f }),
        };
        // [update]
        state.Update(step);                                      // the tensors of step are stored in state

        state.Lock();
        state.UpdateInPlace(step);                               // their values are written into existing entries
        state.Unlock();
        // [/update]
        // [select]
        using var part = state.Select(("agent", "pos"), "obs");
        using var rest = state.Exclude(("agent", "pos"), "obs");
        // [/select]
        Assert.True(part.ContainsKey("agent", "pos") && !part.ContainsKey("agent", "vel"));
        Assert.True(rest.ContainsKey("agent", "vel") && !rest.ContainsKey("obs"));
    }

    /// <summary>Steps of which every twentieth ends an episode.</summary>
    private static TensorDict Played(int count) => new TensorDict(count)
    {
        ["observation"] = Sample.Range(count),
        ["episode"] = Tensor.FromArray(Enumerable.Range(0, count).Select(k => (long)k / 20).ToArray()),
        ["next", "done"] = Tensor.FromArray(Enumerable.Range(0, count).Select(k => k % 20 == 19).ToArray(), count, 1),
    };

    [Fact]
    public void RowsOfABuffer()
    {
        using TensorDict steps = Played(100);
        // [sample]
        using var replay = new Replay(500);
        replay.Extend(steps);                                    // steps of batch size [100]: 100 rows
        using var batch = replay.Sample(64);                     // "index" has their places
        // [/sample]
        Expect.Shape(batch.BatchSize, 64);
    }

    private static void Record(string folder)
    {
        using TensorDict steps = Played(100);
        // [record]
        using var replay = Replay.Open(folder);
        for (int step = 0; step < 100; step++)
        {
            using var row = steps[step];                         // a row has no batch dimension
            replay.Add(row);                                     // from now on the learner may draw it
        }
        // [/record]
    }

    private static void Learn(string folder, string checkpoint)
    {
        Func<TensorDict, Tensor> errorsOf = batch => batch.GetTensor("observation");
        // [learn]
        var options = new ReplayOptions { Sampler = ReplaySampler.Prioritized, Alpha = 0.7 };
        using var replay = Replay.Open(folder, options);
        for (int i = 0; i < 10; i++)
        {
            using var batch = replay.Sample(64);
            using var errors = errorsOf(batch);                  // learn; "priority_weight" says how much each row counts
            using var index = batch.GetTensor("index");
            replay.UpdatePriority(index, errors);
        }
        replay.Save(checkpoint, durable: true);
        // [/learn]
    }

    [Fact]
    public void RecorderAndLearner()
    {
        using var scratch = new TempFolder();
        string folder = scratch["replay"], checkpoint = scratch["checkpoint"];
        new Replay(500, new ReplayOptions { Folder = folder }).Dispose();
        Record(folder);
        Learn(folder, checkpoint);
        // [slices]
        var options = new ReplayOptions
        {
            Sampler = ReplaySampler.Slices, SliceLength = 16, Ends = new NestedKey[] { ("next", "done") }, Seed = 42,
        };
        using var replay = Replay.Load(checkpoint, options);
        using var batch = replay.Sample(8 * 16);                 // 8 slices, one behind the other: batch size [128]
        // [/slices]
        Expect.Shape(batch.BatchSize, 128);
    }

    [Fact]
    public void Recording()
    {
        using var scratch = new TempFolder();
        string folder = scratch["recording"], model = scratch["model"], file = scratch["recording.tdz"];
        // [append]
        for (int episode = 0; episode < 5; episode++)
        {
            using var chunk = Played(100);
            chunk.AppendTo(folder);                              // all of it, or nothing
        }
        // [/append]
        using TensorDict state = Played(3);
        // [checkpoint]
        using var mapped = state.Memmap(model, new MemmapOptions
        {
            Durable = true,                                      // a loss of power leaves the old one or this one, too
            Checksums = true,                                    // for VerifyMemmap
        });
        // [/checkpoint]
        // [verify]
        foreach (var damage in TensorDict.VerifyMemmap(model))
        {
            Console.WriteLine($"damaged: {damage.Path}");
        }
        // [/verify]
        Assert.Empty(TensorDict.VerifyMemmap(model));
        // [pack]
        TensorDict.PackMemmap(folder, file);
        using var all = TensorDict.Load(file);                   // mapped, not unpacked
        // [/pack]
        Expect.Shape(all.BatchSize, 500);
    }

    [Fact]
    public void SetsOfOtherLibraries()
    {
        using var scratch = new TempFolder();
        string path = Golden.Folder("../datasets/minari/cartpole");
        try
        {
            Dataset.Open(path).Dispose();
        }
        catch (TensorUnsupportedException)
        {
            return;                                              // a build without HDF5
        }
        // [dataset]
        using var set = Dataset.Open(path);                      // what kind it is, is found by looking
        Console.WriteLine($"{set.EpisodeCount} episodes, {set.StepCount} steps");
        Console.WriteLine(set.Structure());                      // no rows; the keys, dtypes and sizes of a step
        // [/dataset]
        // [dataset-read]
        using var episode = set.Episode(4);                      // reads nothing else
        using var rows = set.Rows(20, 32);                       // steps 20 to 51 of all episodes
        // [/dataset-read]
        Expect.Shape(episode.BatchSize, set.Lengths[4]);
        Expect.Shape(rows.BatchSize, 32);
        long seen = 0;
        // [dataset-batches]
        using var batches = set.Batches(32, new BatchOptions { Shuffle = true, Seed = 42, NumWorkers = 2 });
        foreach (var batch in batches)
        {
            seen += batch.BatchSize[0];                          // learn from it
        }
        // [/dataset-batches]
        Assert.Equal(set.StepCount, seen);
        Directory.CreateDirectory(scratch[""]);
        string file = scratch["demos.hdf5"], folder = scratch["mine-v0"];
        // [dataset-convert]
        set.Convert(DatasetKind.Robomimic, file, new DatasetSaveOptions { Deflate = 4 });
        // [/dataset-convert]
        using Dataset demos = Dataset.Open(file);
        Assert.Equal(set.Lengths, demos.Lengths);
        // [dataset-record]
        var options = new DatasetSaveOptions { Resume = true };  // goes on with the set, if there is one
        using var writer = new DatasetWriter(folder, DatasetKind.Minari, options: options);
        for (int i = 0; i < 3; i++)
        {
            using var steps = set.Episode(i);                    // or what your program has played
            writer.Add(steps);                                   // whatever happens now, it is in the set
        }
        writer.Close();
        // [/dataset-record]
        using Dataset mine = Dataset.Open(folder);
        Assert.Equal(3, mine.EpisodeCount);
    }
}
