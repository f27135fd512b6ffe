using System;
using System.IO;
using Xunit;

// Handles are counted for the whole process.
[assembly: CollectionBehavior(DisableTestParallelization = true)]

namespace TensorDicts.Tests;

/// <summary>A folder whose name is not ASCII, gone with the test.</summary>
internal sealed class TempFolder : IDisposable
{
    private readonly string root = Directory.CreateTempSubdirectory("tensordict-").FullName;

    public string this[string name] => Path.Combine(root, "Ordner-äöü-北京", name);

    public void Dispose() => Directory.Delete(root, recursive: true);
}

internal static class Expect
{
    /// <summary>The failure is of a type and has a status and a text of its own.</summary>
    internal static T Fails<T>(TensorDictStatus status, Action action)
        where T : TensorDictException
    {
        T failure = Assert.Throws<T>(action);
        Assert.Equal(status, failure.Status);
        Assert.NotEmpty(failure.Message);
        Assert.DoesNotContain('\n', failure.Message);
        return failure;
    }

    internal static void Shape(Shape found, params long[] sizes) => Assert.Equal(sizes, found.ToArray());
}

internal static class Sample
{
    /// <summary>0, 1, 2, … as floats.</summary>
    internal static Tensor Range(params long[] shape)
    {
        var values = new float[new Shape(shape).ElementCount];
        for (int i = 0; i < values.Length; i++)
        {
            values[i] = i;
        }
        return Tensor.FromArray(values, shape);
    }

    /// <summary>Batch [4, 3]: "a" (4, 3, 2) and ("n", "b") (4, 3, 5), each counting from 0.</summary>
    internal static TensorDict Nested() => new TensorDict(4, 3)
    {
        ["a"] = Range(4, 3, 2),
        ["n", "b"] = Range(4, 3, 5),
    };

    internal static float[] Floats(TensorDict td, params string[] key)
    {
        using Tensor tensor = td.GetTensor(key);
        return tensor.ToArray<float>();
    }
}
