using System;
using System.Collections.Generic;
using Xunit;

namespace TensorDicts.Tests;

public class StateTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void StatesAreLoadedAgain(bool nested)
    {
        using var td = Sample.Nested();
        using var shared = td.StateDict(nested);
        using var state = shared.Clone();
        using var a = td.GetTensor("a");
        td.Apply(t => Tensor.Zeros<float>(t.Shape.ToArray()), new ApplyOptions { InPlace = true }).Dispose();
        td.LoadStateDict(state);
        Assert.Equal(23f, a.ToArray<float>()[23]);
        Assert.Equal(!nested, state.ContainsKey("n.b"));
        td.LoadStateDict(state, new LoadStateOptions { Assign = true, Flat = !nested });
        using var assigned = td.GetTensor("a");
        Assert.Equal(state.GetTensor("a").DataPointer, assigned.DataPointer);
    }

    [Fact]
    public void KeysMustBeTheSameUnlessNotStrict()
    {
        using var td = Sample.Nested();
        using var state = td.StateDict(keepHistory: true);
        state.Remove("n.b");
        var failure = Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => td.LoadStateDict(state));
        Assert.Contains("\"n\"/\"b\"", failure.Message);
        td.LoadStateDict(state, new LoadStateOptions { Strict = false });
    }

    [Fact]
    public void StructuresAreWrittenAndMade()
    {
        using var td = Sample.Nested();
        string text = td.Schema();
        using var zeros = TensorDict.FromSchema(text);
        Assert.Equal(text, zeros.Schema());
        Assert.Equal(0f, Sample.Floats(zeros, "n", "b")[59]);
        using var meta = TensorDict.FromSchema(text, SchemaContent.Meta);
        Assert.Equal(Device.Meta, meta.GetTensor("a").Device);
        using var here = TensorDict.FromSchema(text, SchemaContent.Uninitialized, Device.Cpu);
        Assert.Equal(Device.Cpu, here.Device);
        Expect.Fails<TensorIOException>(TensorDictStatus.Format, () => TensorDict.FromSchema("{}"));
    }

    [Fact]
    public void MapsThereAndBack()
    {
        using var td = Sample.Nested();
        Dictionary<string, object> map = td.ToDictionary();
        var nested = Assert.IsType<Dictionary<string, object>>(map["n"]);
        Assert.IsType<Tensor>(nested["b"]);
        using var again = TensorDict.FromDictionary(map, new long[] { 4, 3 });
        Assert.True(again.EqualTo(td));
        map["x"] = "text";
        Assert.Throws<ArgumentException>(() => TensorDict.FromDictionary(map));
    }
}
