using System;
using Xunit;

namespace TensorDicts.Tests;

public class OptimizerTests
{
    private static TensorDict Params()
    {
        var td = new TensorDict();
        td["w"] = Tensor.FromArray(new[] { 1.0, 2.0 }, 2);
        td.RequiresGrad = true;
        return td;
    }

    private static double[] Values(TensorDict td) => td.GetTensor("w").ToArray<double>();

    // One step down the square of each parameter.
    private static void Descend(TensorDict parameters, Optimizer optimizer)
    {
        using var recording = GradMode.Enable();
        using TensorDict loss = parameters.Pow(2).Sum();
        loss.Backward();
        optimizer.Step();
        optimizer.ZeroGrad();
    }

    [Fact]
    public void EachKindDescends()
    {
        using TensorDict parameters = Params();
        using var sgd = new Optimizer(parameters, OptimizerOptions.Sgd with { LearningRate = 0.25 });
        Descend(parameters, sgd);
        Assert.Equal(new[] { 0.5, 1.0 }, Values(parameters));
        Assert.Null(parameters.Grad);
        sgd.LearningRate = 0.5;
        Assert.Equal(0.5, sgd.LearningRate);
        Descend(parameters, sgd);
        Assert.Equal(new[] { 0.0, 0.0 }, Values(parameters));
        foreach (OptimizerOptions kind in new[] { OptimizerOptions.Adam, OptimizerOptions.AdamW with { WeightDecay = 0, AmsGrad = true } })
        {
            using TensorDict others = Params();
            using var adam = new Optimizer(others, kind with { LearningRate = 0.125, Beta1 = 0.5, Beta2 = 0.5, Epsilon = 0 });
            Descend(others, adam);
            Assert.Equal(new[] { 0.875, 1.875 }, Values(others));
        }
    }

    [Fact]
    public void AStateGoesToAnotherOptimizer()
    {
        OptimizerOptions options = OptimizerOptions.Sgd with { LearningRate = 0.1, Momentum = 0.9, Nesterov = true };
        using TensorDict whole = Params(), half = Params();
        using Optimizer first = new(whole, options), second = new(half, options), third = new(half, options);
        for (int i = 0; i < 2; i++)
        {
            Descend(whole, first);
            Descend(half, second);
        }
        using TensorDict state = second.GetState();
        Assert.Equal(new long[] { 2 }, state.GetTensor(("w", "momentum_buffer")).Shape.ToArray());
        third.LoadState(state);
        Descend(whole, first);
        Descend(half, third);
        Assert.Equal(Values(whole), Values(half));
        Expect.Fails<TensorKeyException>(TensorDictStatus.WrongEntry, () => third.LoadState(half));
    }

    [Fact]
    public void WhatIsRefused()
    {
        using var plain = new TensorDict();
        Expect.Fails<TensorDictException>(TensorDictStatus.InvalidArgument, () => new Optimizer(plain, OptimizerOptions.Adam));
        using TensorDict parameters = Params();
        Expect.Fails<TensorDictException>(
            TensorDictStatus.InvalidArgument, () => new Optimizer(parameters, OptimizerOptions.Adam with { LearningRate = -1 }));
        var optimizer = new Optimizer(parameters, OptimizerOptions.Sgd);
        optimizer.Dispose();
        Assert.Throws<ObjectDisposedException>(optimizer.Step);
    }
}
