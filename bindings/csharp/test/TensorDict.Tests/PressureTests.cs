using System;
using System.Linq;
using System.Runtime.CompilerServices;
using Xunit;

namespace TensorDicts.Tests;

public class PressureTests
{
    [Fact]
    public void TheCollectorKnowsWhatIsOwned()
    {
        using var td = new TensorDict(100) { ["x"] = Tensor.Zeros<float>(100, 25), ["n", "y"] = Tensor.Zeros<double>(100) };
        const long row = 25 * 4 + 8;
        Owns(10 * row, td[Tensor.FromArray(Enumerable.Range(0, 10).ToArray())]);
        Owns(100 * row, td.Clone());
        Owns(200 * row, TensorDict.Stack(new[] { td, td }));
        Owns(100 * row, td + 1);
        Owns(100 * row, td.Consolidate());
        Owns(0, td[7]);
        Owns(0, td[..50]);
        Owns(0, td.GetDict("n"));
        Owns(0, td.Share());
        Owns(0, td.ShallowClone());
        Owns(0, td.Contiguous());
        Owns(0, td.Permute(0));

        using Tensor x = td.GetTensor("x");
        Assert.Equal(0, x.Handle.Pressure);
        Assert.Equal(0, x.Contiguous().Handle.Pressure);
        Assert.Equal(0, x[3].Handle.Pressure);
        Assert.Equal(100 * 25 * 8, x.To(DType.Float64).Handle.Pressure);
        Assert.Equal(2 * 25 * 4, x[Tensor.FromArray(new[] { 0, 1 })].Handle.Pressure);
        Assert.Equal(0, Tensor.FromMemory(new float[1000].AsMemory()).Handle.Pressure);
        Assert.Equal(0, Tensor.Zeros(DType.Float32, new long[] { 1000 }, Device.Meta).Handle.Pressure);

        static void Owns(long bytes, TensorDict td)
        {
            // What is allocated for a buffer is rounded up.
            Assert.InRange(td.Handle.Pressure, bytes, bytes + (bytes == 0 ? 0 : 256));
            td.Dispose();
            Assert.Equal(0, td.Handle.Pressure);
        }
    }

    [Fact]
    public void WhatIsPutIntoADictionaryGoesWithIt()
    {
        using var td = new TensorDict(1000);
        Assert.Equal(0, td.Handle.Pressure);
        using (Tensor t = Tensor.Zeros<float>(1000, 100))
        {
            td["a"] = t;
            Assert.Equal(0, t.Handle.Pressure);
        }
        Assert.Equal(400_000, td.Handle.Pressure);
        for (int i = 0; i < 100; i++)
        {
            using Tensor t = Tensor.Zeros<float>(1000, 100);
            td["a"] = t; // in place of the one before
        }
        Assert.InRange(td.Handle.Pressure, 400_000, 2_500_000);
    }

    [Fact]
    public void MinibatchesThatNobodyDisposesOfAreCollected()
    {
        using var td = new TensorDict(1024) { ["x"] = Tensor.Zeros<float>(1024, 256) };
        using Tensor all = Tensor.FromArray(Enumerable.Range(0, 1024).ToArray());
        TensorMemoryTests.Collect();
        int before = GC.CollectionCount(0);
        for (int i = 0; i < 200; i++)
        {
            Forget(td, all);
        }
        Assert.True(GC.CollectionCount(0) > before, "200 MiB of forgotten minibatches, and no collection");

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Forget(TensorDict td, Tensor rows) => _ = td[rows];
    }
}
