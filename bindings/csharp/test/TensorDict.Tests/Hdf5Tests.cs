using System;
using System.IO;
using System.Linq;
using Xunit;

namespace TensorDicts.Tests;

public class Hdf5Tests
{
    private static TensorDict Rows(int n)
    {
        var td = new TensorDict(n);
        td["x"] = Tensor.FromArray(Enumerable.Range(0, n).Select(i => (long)i).ToArray(), n);
        return td;
    }

    // False in a build without HDF5.
    private static bool Written(string path, TensorDict td, Hdf5SaveOptions options)
    {
        try
        {
            td.SaveHdf5(path, options);
            return true;
        }
        catch (TensorUnsupportedException)
        {
            return false;
        }
    }

    private static void InFolder(Action<string> test)
    {
        DirectoryInfo folder = Directory.CreateTempSubdirectory();
        try
        {
            test(Path.Combine(folder.FullName, "a.h5"));
        }
        finally
        {
            folder.Delete(true);
        }
    }

    [Fact]
    public void RowsAreReadWithoutTheRest() => InFolder(path =>
    {
        using TensorDict td = Rows(10);
        if (!Written(path, td, new Hdf5SaveOptions { Deflate = 4, ChunkRows = 3, Durable = true }))
        {
            return;
        }
        using TensorDict whole = TensorDict.LoadHdf5(path, new Hdf5Options { Keys = new NestedKey[] { "x" } });
        Assert.Equal(10, whole.GetTensor("x").ToArray<long>().Length);
        using Hdf5File file = Hdf5File.Open(path);
        Assert.Equal(new long[] { 10 }, file.BatchSize);
        Assert.Equal("x", Assert.Single(file.Keys).ToString());
        using TensorDict part = file[2..4];
        Assert.Equal(new long[] { 2, 3 }, part.GetTensor("x").ToArray<long>());
        Assert.Throws<TensorIndexException>(() => file[10]);
    });

    [Fact]
    public void DemonstrationsAreALazyStack() => InFolder(path =>
    {
        using TensorDict stack = TensorDict.LazyStack(new[] { Rows(2), Rows(5) });
        if (!Written(path, stack, new Hdf5SaveOptions { Group = "data", Stack = true }))
        {
            return;
        }
        using TensorDict again = TensorDict.LoadHdf5(path, new Hdf5Options { Group = "data", Stack = true });
        using TensorDict last = again[1];
        Assert.Equal(5, last.GetTensor("x").ToArray<long>().Length);
    });
}
