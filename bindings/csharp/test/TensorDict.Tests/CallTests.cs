using System;
using Xunit;

namespace TensorDicts.Tests;

public class CallTests
{
    private static TensorDict Pair() => new TensorDict(2)
    {
        ["a"] = Tensor.FromArray(new long[] { 0, 1, 2, 3, 4, 5 }, 2, 3),
        [("n", "b")] = Tensor.FromArray(new long[] { 0, 1 }, 2),
    };

    private static long[] Longs(TensorDict td, NestedKey key)
    {
        using Tensor tensor = td.GetTensor(key);
        return tensor.ToArray<long>();
    }

    [Fact]
    public void TakesArgumentsOfEveryKind()
    {
        using var td = Pair();
        using var clamped = td.Call("aten::clamp", 1, CallArgument.Named("max", 3));
        Assert.Equal(new long[] { 1, 1, 2, 3, 3, 3 }, Longs(clamped, "a"));
        using var one = Tensor.FromArray(new long[] { 1 });
        using var sum = td.Call("add", one, CallArgument.Named("alpha", 2));
        Assert.Equal(new long[] { 2, 3 }, Longs(sum, ("n", "b")));
        using var zero = td.Call("sub", td);
        Assert.Equal(new long[] { 0, 0 }, Longs(zero, ("n", "b")));
        using var turned = td.Call("rsub", CallArgument.Leaf, 1);
        Assert.Equal(new long[] { 1, 0 }, Longs(turned, ("n", "b")));
        using var halves = td.Call("div", 2, CallArgument.Named("rounding_mode", "floor"));
        Assert.Equal(new long[] { 0, 0, 1, 1, 2, 2 }, Longs(halves, "a"));
        using var flipped = td.Call("flip", new long[] { 0 });
        Assert.Equal(new long[] { 1, 0 }, Longs(flipped, ("n", "b")));
        using var most = td.Call("clamp", CallArgument.None, 1);
        Assert.Equal(new long[] { 0, 1 }, Longs(most, ("n", "b")));
        using var floats = td.Call("to", DType.Float64);
        using var converted = floats.GetTensor("a");
        Assert.Equal(DType.Float64, converted.DType);
        using var shapes = td.Call("to", CallArgument.Named("device", Device.Meta));
        using var moved = shapes.GetTensor("a");
        Assert.Equal(Device.Meta, moved.Device);
        using var scaled = td.Call("mul", 0.5);
    }

    [Fact]
    public void GivesSeveralDictionaries()
    {
        using var td = new TensorDict(2) { ["a"] = Tensor.FromArray(new long[] { 0, 1, 2, 3, 4, 5 }, 2, 3) };
        TensorDict[] both = td.CallMany("aten::max", new CallArgument[] { 1, CallArgument.Named("keepdim", true) });
        Assert.Equal(2, both.Length);
        Assert.Equal(new long[] { 2, 5 }, Longs(both[0], "a"));
        Assert.Equal(new long[] { 2, 2 }, Longs(both[1], "a"));
        Array.ForEach(both, one => one.Dispose());
        Assert.Throws<ArgumentException>(() => td.Call("aten::max", 1));
        using var sum = td.CallMany("aten::sum", Array.Empty<CallArgument>(), Array.Empty<long>())[0];
        Expect.Shape(sum.BatchSize);
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => td.Call("aten::sum"));
    }

    [Fact]
    public void WritesInPlaceOrNotAtAll()
    {
        using var td = Pair();
        td.Lock();
        Assert.Same(td, td.CallInPlace("aten::add_", 1));
        Assert.Equal(new long[] { 1, 2 }, Longs(td, ("n", "b")));
        Assert.ThrowsAny<TensorDictException>(() => td.CallInPlace("aten::div_", 2));
        Assert.Equal(new long[] { 1, 2 }, Longs(td, ("n", "b")));
        Assert.Throws<ArgumentException>(() => td.Call("aten::add_", 1));
        Assert.Throws<ArgumentException>(() => td.CallInPlace("aten::add", 1));
    }

    [Fact]
    public void ExplainsWhatItRefuses()
    {
        using var td = Pair();
        var unknown = Expect.Fails<TensorUnsupportedException>(
            TensorDictStatus.Unsupported, () => td.Call("aten::clmap"));
        Assert.Contains("aten::clamp", unknown.Message);
        var wrong = Assert.ThrowsAny<Exception>(() => td.Call("aten::neg", 1));
        Assert.Contains("aten::neg(Tensor self) -> Tensor", wrong.Message);
    }
}
