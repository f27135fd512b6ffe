using System.Linq;
using Xunit;

namespace TensorDicts.Tests;

public class LazyTests
{
    private static TensorDict Element(string own, params long[] values) => new TensorDict()
    {
        ["x"] = Tensor.FromArray(values, values.Length),
        [own] = Tensor.Scalar(1L),
    };

    private static long[] Longs(TensorDict td, string key)
    {
        using Tensor tensor = td.GetTensor(key);
        return tensor.ToArray<long>();
    }

    [Fact]
    public void ShapesMayDiffer()
    {
        using var one = Element("p", 1, 2);
        using var two = Element("q", 3);
        using var lazy = TensorDict.LazyStack(new[] { one, two });
        Assert.Equal(DictKind.Lazy, lazy.DictKind);
        Assert.Equal(DictKind.Dense, one.DictKind);
        Assert.Equal((0, 2), lazy.LazyInfo);
        Assert.False(one.IsUniquelyOwned);
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => lazy.GetTensor("x"));
        Assert.Equal(new[] { "p", "q" }, lazy.ExclusiveKeys().Select(key => key.ToString()));
        using var padded = lazy.GetPadded("x", new Padding(9, left: true));
        Assert.Equal(new long[] { 1, 2, 9, 3 }, padded.ToArray<long>());
        var (values, offsets) = lazy.GetJagged("x");
        using (values)
        using (offsets)
        {
            Assert.Equal(new long[] { 1, 2, 3 }, values.ToArray<long>());
            Assert.Equal(new long[] { 0, 2, 3 }, offsets.ToArray<long>());
        }
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => lazy.Densify());
        using var dense = lazy.Densify(default(Padding));
        Assert.Equal(new long[] { 1, 2, 3, 0 }, Longs(dense, "x"));
    }

    [Fact]
    public void ElementsComeIn()
    {
        using var one = Element("p", 1, 2);
        using var two = Element("p", 3, 4);
        using var lazy = TensorDict.LazyStack(new[] { one });
        lazy.LazyInsert(0, two);
        lazy.LazyExtend(new[] { one, two });
        Expect.Shape(lazy.BatchSize, 4);
        Assert.Equal(new long[] { 3, 4, 1, 2, 1, 2, 3, 4 }, Longs(lazy, "x"));
        Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => lazy.LazyInsert(9, one));
    }

    [Fact]
    public void ToLazyAndBack()
    {
        using var td = Sample.Nested();
        using var lazy = td.ToLazyStack(1);
        Assert.Equal(DictKind.Lazy, lazy.DictKind);
        Assert.True(lazy.EqualTo(td));
        using var dense = lazy.Densify();
        Assert.True(dense.EqualTo(td));
    }

    [Fact]
    public void SubTensorDictsWriteThrough()
    {
        using var td = new TensorDict(4) { ["x"] = Tensor.FromArray(new long[] { 0, 1, 2, 3 }, 4) };
        using var rows = Tensor.FromArray(new long[] { 3, 1 }, 2);
        using var part = td.SubTensorDict(rows);
        Assert.Equal(DictKind.SubTensorDict, part.DictKind);
        part.SetInPlace("x", Tensor.FromArray(new long[] { 30, 10 }, 2));
        part["new"] = Tensor.FromArray(new long[] { 1, 2 }, 2);
        Assert.Equal(new long[] { 0, 10, 2, 30 }, Longs(td, "x"));
        Assert.Equal(new long[] { 0, 2, 0, 1 }, Longs(td, "new"));
        using var parent = part.SubTensorDictParent();
        Assert.True(parent.IsSameAs(td));
    }
}
