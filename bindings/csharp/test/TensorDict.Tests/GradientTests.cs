using System;
using Xunit;

namespace TensorDicts.Tests;

public class GradientTests
{
    private static TensorDict Parameters() => new TensorDict
    {
        ["w"] = Tensor.FromArray(new[] { 1f, 2f }),
        ["n", "v"] = Tensor.Scalar(3f),
    };

    private static TensorDict Recorded()
    {
        TensorDict td = Parameters();
        td.RequiresGrad = true;
        return td;
    }

    private static TensorDict Computed(TensorDict td)
    {
        using var recording = GradMode.Enable();
        return td.To(DType.Float64);
    }

    private static TensorDict Seeds(double value) => new TensorDict
    {
        ["w"] = Tensor.FromArray(new[] { value, value }),
        ["n", "v"] = Tensor.Scalar(value),
    };

    [Fact]
    public void RecordingIsSwitchedAndHistoryLeftBehind()
    {
        using var td = Recorded();
        Assert.True(td.RequiresGrad);
        using var detached = td.Detach();
        using var data = td.DetachData();
        Assert.False(detached.RequiresGrad || data.RequiresGrad);
        Assert.Equal(td.DataPointers(), detached.DataPointers());
        using var result = Computed(td);
        Assert.True(result.RequiresGrad);
        result.DetachInPlace();
        Assert.False(result.RequiresGrad);
        td["i"] = Tensor.Scalar(1);
        Expect.Fails<TensorDTypeException>(TensorDictStatus.DType, () => td.RequiresGrad = true);
    }

    [Fact]
    public void GradientsAreComputedAddedAndTakenAway()
    {
        using var td = Recorded();
        Assert.Null(td.Grad);
        using var result = Computed(td);
        using var seeds = Seeds(2);
        result.Backward(seeds, retainGraph: true);
        result.Backward(seeds);
        using var grad = td.Grad!;
        Assert.Equal(new[] { 4f, 4f }, Sample.Floats(grad, "w"));
        td.ZeroGrad(setToNull: false);
        Assert.Equal(new[] { 0f }, Sample.Floats(grad, "n", "v"));
        td.ZeroGrad();
        Assert.Null(td.Grad);
        using var again = Computed(td);
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => again.Backward());
    }

    [Fact]
    public void OnlyTheInputsReceive()
    {
        using var td = Recorded();
        using var inputs = new TensorDict { ["x"] = td.GetTensor("w") };
        using var result = Computed(td);
        using var seeds = Seeds(1);
        result.Backward(seeds, inputs, createGraph: true);
        using var grad = td.Grad!;
        Assert.Equal(new NestedKey[] { "w" }, grad.Keys());
    }

    [Fact]
    public void GradientsAreSet()
    {
        using var td = Recorded();
        using var given = new TensorDict { ["w"] = Tensor.FromArray(new[] { 5f, 5f }) };
        td.Grad = given;
        using var grad = td.Grad!;
        Assert.Equal(new[] { 5f, 5f }, Sample.Floats(grad, "w"));
        given["x"] = Tensor.Scalar(1f);
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => td.Grad = given);
        td.Grad = null;
        Assert.Null(td.Grad);
    }

    [Fact]
    public void GradientsAreClipped()
    {
        using var td = Parameters();
        using var given = new TensorDict { ["w"] = Tensor.FromArray(new[] { 3f, 4f }) };
        td.Grad = given;
        Assert.Equal(5, td.ClipGradNorm(10));
        Assert.Equal(new[] { 3f, 4f }, Sample.Floats(given, "w"));
        td.ClipGradNorm(2.5);
        Assert.Equal(1.5, Sample.Floats(given, "w")[0], 5);
        Assert.Equal(2, Sample.Floats(given, "w")[1], 5);
        Expect.Fails<TensorDictException>(TensorDictStatus.InvalidArgument, () => td.ClipGradNorm(-1));
    }
}
