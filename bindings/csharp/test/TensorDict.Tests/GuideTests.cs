// What docs/guide/csharp.md quotes: the regions between the marks.
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
}
