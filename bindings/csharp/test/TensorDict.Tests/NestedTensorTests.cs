using System;
using System.Linq;
using Xunit;

namespace TensorDicts.Tests;

public class NestedTensorTests
{
    private static NestedTensor Nested()
    {
        using var one = Tensor.FromArray(new long[] { 1, 2 }, 2);
        using var two = Tensor.FromArray(new long[] { 3 }, 1);
        return NestedTensor.FromTensors(new[] { one, two });
    }

    private static TensorDict Sample()
    {
        using NestedTensor nested_tensor = Nested();
        return new TensorDict(2) { ["r"] = nested_tensor };
    }

    [Fact]
    public void MadeAndRead()
    {
        using var td = Sample();
        using var entry = Assert.IsType<NestedTensor>(td["r"]);
        Assert.Equal(2, entry.Count);
        using (Tensor part = entry[-1])
        {
            Assert.Equal(new long[] { 3 }, part.ToArray<long>());
        }
        Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => _ = entry[2]);
        var (values, sizes) = entry.Tensors();
        using (values)
        using (sizes)
        {
            Assert.Equal(new long[] { 1, 2, 3 }, values.ToArray<long>());
            Assert.Equal(new long[] { 2, 1 }, sizes.ToArray<long>());
            using var again = NestedTensor.FromValues(values, sizes);
            var (padded, mask) = again.Padded(new Padding(-1, left: true));
            using (padded)
            using (mask)
            {
                Assert.Equal(new long[] { 1, 2, -1, 3 }, padded.ToArray<long>());
                Assert.Equal(new[] { true, true, false, true }, mask.ToArray<bool>());
            }
            Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => NestedTensor.FromValues(sizes, sizes));
        }
        using var wide = new TensorDict(3);
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => wide.Set("r", entry));
    }

    [Fact]
    public void ItFollowsTheDictionary()
    {
        using var folder = new TempFolder();
        using var td = Sample();
        using (var first = td[0])
        using (Tensor part = first.GetTensor("r"))
        {
            Assert.Equal(new long[] { 1, 2 }, part.ToArray<long>());
        }
        td.Memmap(folder["td"]).Dispose();
        using (var loaded = TensorDict.Load(folder["td"]))
        {
            Assert.True(loaded.EqualTo(td));
        }
        using var taken = Assert.IsType<NestedTensor>(td.Pop("r"));
        Assert.Equal(2, taken.Count);
        using var one = new TensorDict() { ["x"] = Tensor.FromArray(new long[] { 1, 2 }, 2) };
        using var two = new TensorDict() { ["x"] = Tensor.FromArray(new long[] { 3 }, 1) };
        using var lazy = TensorDict.LazyStack(new[] { one, two });
        using var dense = lazy.DensifyNestedTensor();
        using NestedTensor entry = dense.GetNestedTensor("x");
        Assert.Equal(2, entry.Count);
    }

    [Fact]
    public void SubTensorDictsInFolders()
    {
        using var folder = new TempFolder();
        using var td = new TensorDict(3) { ["x"] = Tensor.FromArray(new long[] { 0, 1, 2 }, 3) };
        using var part = td.SubTensorDict(new Range(1, 3));
        part.Memmap(folder["whole"]).Dispose();
        using (var loaded = TensorDict.Load(folder["whole"]))
        {
            Assert.Equal(DictKind.SubTensorDict, loaded.DictKind);
            using Tensor x = loaded.GetTensor("x");
            Assert.Equal(new long[] { 1, 2 }, x.ToArray<long>());
        }
        part.Memmap(folder["dense"], new MemmapOptions { DenseSubTensorDicts = true }).Dispose();
        using var dense = TensorDict.Load(folder["dense"]);
        Assert.Equal(DictKind.Dense, dense.DictKind);
    }
}
