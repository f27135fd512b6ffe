using System.Collections.Generic;
using System.Linq;
using Xunit;

namespace TensorDicts.Tests;

public class SequenceTests
{
    private static TensorDict Run(params long[] shape) => new TensorDict(shape) { ["a"] = Sample.Range(shape) };

    [Fact]
    public void PaddingComesAndGoes()
    {
        using var one = Run(1);
        using var two = Run(2);
        var values = new Dictionary<NestedKey, double> { ["a"] = 9 };
        using var both = TensorDict.PadSequence(new[] { one, two }, masks: "masks", left: true, values: values);
        Assert.Equal(new[] { 9f, 0f, 0f, 1f }, Sample.Floats(both, "a"));
        using var mask = both.GetTensor("masks", "a");
        Assert.Equal(new[] { false, true, true, true }, mask.ToArray<bool>());
        using var samples = both.UnpadSequence();
        Assert.Equal(new long[] { 2, -1 }, samples.BatchSize.ToArray());
        using var masks = both.GetDict("masks");
        using var values0 = both.Exclude("masks");
        using var again = values0.UnpadSequence(masks);
        using var by = values0.UnpadSequence(mask);
        Assert.Equal(again.BatchSize.ToArray(), by.BatchSize.ToArray());
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => values0.UnpadSequence());
        Expect.Fails<TensorKeyException>(
            TensorDictStatus.KeyNotFound,
            () => TensorDict.PadSequence(new[] { one }, values: new Dictionary<NestedKey, double> { ["x"] = 1 }));
    }

    [Fact]
    public void SamplesAreCollated()
    {
        using var one = new TensorDict { ["a"] = Sample.Range(1), ["r"] = Sample.Range(2) };
        using var two = new TensorDict { ["a"] = Sample.Range(2), ["r"] = Sample.Range(3) };
        using var lazy = TensorDict.Collate(new[] { one, two });
        Assert.Equal(DictKind.Lazy, lazy.DictKind);
        using var dense = TensorDict.Collate(
            new[] { one, two }, new Dictionary<NestedKey, double> { ["a"] = 7 }, new NestedKey[] { "r" }, "m");
        Assert.Equal(new[] { 0f, 7f, 0f, 1f }, Sample.Floats(dense, "a"));
        using var nested = Assert.IsType<NestedTensor>(dense["r"]);
        using var mask = dense.GetTensor("m", "a");
        Assert.Equal(new[] { true, false, true, true }, mask.ToArray<bool>());
    }

    [Fact]
    public void TensorsArePacked()
    {
        using var td = new TensorDict(2) { ["p"] = Sample.Range(2), ["n", "q"] = Sample.Range(2, 2) };
        using var packed = td.Pack(out PackLayout layout);
        Assert.Equal(new[] { 0f, 1f, 0f, 2f, 3f, 1f }, packed.ToArray<float>());
        using var back = layout.Unpack(packed);
        Assert.Equal(new[] { 0f, 1f, 2f, 3f }, Sample.Floats(back, "n", "q"));
        Assert.Equal(layout, td.PackLayout());
        Assert.Contains("\"numel\":3", layout.Json);
        Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => td.Pack(out _, 2));
    }

    [Fact]
    public void KeysAreExchanged()
    {
        using var td = new TensorDict { ["a"] = Sample.Range(1), ["b"] = Sample.Range(2) };
        using var other = td.RenameKeys(new Dictionary<NestedKey, NestedKey> { ["a"] = "b", ["b"] = "a" });
        Assert.Equal(new[] { 0f, 1f }, Sample.Floats(other, "a"));
        var missing = new Dictionary<NestedKey, NestedKey> { ["x"] = "y" };
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => td.RenameKeys(missing));
        using var same = td.RenameKeys(missing, strict: false);
        Assert.Equal(new[] { 0f, 1f }, Sample.Floats(same, "b"));
    }

    [Fact]
    public void SomeTensorsAreConverted()
    {
        using var td = new TensorDict { ["f"] = Sample.Range(1), ["i"] = Tensor.Scalar(1L) };
        using var half = td.To(new ToOptions { DType = DType.Float16, Kinds = DTypeKinds.Floating });
        Assert.Equal(DType.Int64, half.GetTensor("i").DType);
        Assert.Equal(DType.Float16, half.GetTensor("f").DType);
        using var one = td.To(new ToOptions { DType = DType.Float64, Keys = new NestedKey[] { "i" } });
        Assert.Equal(DType.Float64, one.GetTensor("i").DType);
        Assert.Equal(DType.Float32, one.GetTensor("f").DType);
    }
}
