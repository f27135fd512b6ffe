using System;
using System.IO;
using System.Linq;
using System.Threading.Tasks;
using Xunit;

namespace TensorDicts.Tests;

public class ModuleTests
{
    private static string Archive(string name) => Golden.Folder(Path.Combine("../../golden2/data/modules", name));

    private static TensorDictModule Network() => TensorDictModule.Load(Archive("mlp.pt"));

    private static TensorDict Observations(int n)
    {
        var td = new TensorDict(n);
        td["observation"] = Tensor.FromArray(Enumerable.Range(0, 4 * n).Select(i => (i / 4f) - 1).ToArray(), n, 4);
        return td;
    }

    private static float[] Actions(TensorDict td) => td.GetTensor("action").ToArray<float>();

    private static void Near(float[] want, float[] have)
    {
        Assert.Equal(want.Length, have.Length);
        Assert.All(want.Zip(have), pair => Assert.True(Math.Abs(pair.First - pair.Second) < 1e-5));
    }

    [Fact]
    public void ANetworkComputesWhatItComputedInPython()
    {
        using TensorDictModule module = Network();
        Assert.Equal(new NestedKey[] { "observation" }, module.InKeys);
        Assert.Equal(new NestedKey[] { "action" }, module.OutKeys);
        Assert.Equal("ScriptModule(in_keys=[\"observation\"], out_keys=[\"action\"])", module.ToString());
        using TensorDict data = TensorDict.Load(Archive("mlp_data")), expected = TensorDict.Load(Archive("mlp_expected"));
        using TensorDict td = data.ShallowClone();
        for (int i = 0; i < 3; i++)
        {
            module.CallInPlace(td);
            Near(Actions(expected), Actions(td));
        }
        using TensorDictModule frozen = TensorDictModule.Load(Archive("mlp.pt"), new LoadModuleOptions { Freeze = true });
        Near(Actions(expected), Actions(frozen.Call(data)));
        Assert.Empty(frozen.GetParams().Keys());
        using TensorDictModule renamed = TensorDictModule.Load(
            Archive("mlp.pt"), new LoadModuleOptions { InKeys = new NestedKey[] { ("a", "b") }, OutKeys = new NestedKey[] { "c" }, DType = DType.Float64 });
        Assert.Equal(new NestedKey[] { ("a", "b") }, renamed.InKeys);
    }

    private static string Data(string name) => Golden.Folder(Path.Combine("..", name));

    [Theory]
    [InlineData("feed_forward")]
    [InlineData("recurrent")]
    [InlineData("masked")]
    [InlineData("image")]
    [InlineData("multi_agent")]
    public void TheGalleryActsAsInPython(string name)
    {
        using TensorDictModule module = TensorDictModule.Load(Data($"gallery/{name}.pt"));
        using TensorDict given = TensorDict.Load(Data($"gallery/{name}_data")), want = TensorDict.Load(Data($"gallery/{name}_expected"));
        using TensorDict td = given.ShallowClone();
        module.CallInPlace(td);
        Assert.Null(td.Difference(want, new CloseOptions { Relative = 1e-5, Absolute = 1e-5 }));
    }

    [Fact]
    public void StatisticsChangeInTraining()
    {
        string file = Data("trained/in_training.pt");
        using TensorDictModule module = TensorDictModule.Load(file, new LoadModuleOptions { Train = true });
        using TensorDict given = TensorDict.Load(Data("trained/in_training_data")), want = TensorDict.Load(Data("trained/in_training_trained_params"));
        for (int i = 0; i < 2; i++)
        {
            module.Call(given).Dispose();
        }
        using TensorDict have = module.GetParams();
        Assert.Null(have.Difference(want, new CloseOptions { Relative = 1e-5, Absolute = 1e-5 }));
        Expect.Fails<TensorDictException>(
            TensorDictStatus.InvalidArgument, () => TensorDictModule.Load(file, new LoadModuleOptions { Train = true, Freeze = true }));
    }

    [Fact]
    public void WhatIsRefused()
    {
        Expect.Fails<TensorIOException>(TensorDictStatus.IO, () => TensorDictModule.Load("/no/such/file.pt"));
        Expect.Fails<TensorDictException>(TensorDictStatus.InvalidArgument, () => TensorDictModule.Load(Archive("mlp.pt"), new LoadModuleOptions { Sha256 = "00" }));
        using TensorDictModule module = Network();
        using var empty = new TensorDict(2);
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => module.Call(empty));
        module.Dispose();
        Assert.Throws<ObjectDisposedException>(() => module.Call(empty));
        Assert.Throws<ArgumentNullException>(() => new TensorDictModule((Func<TensorDict, TensorDict?>)null!));
    }

    [Fact]
    public void ParametersAreDictionaries()
    {
        using TensorDictModule module = Network();
        using TensorDict td = Observations(3), sets = TensorDict.Load(Archive("mlp_ensemble_params"));
        using TensorDict one = sets[1];
        float[] swapped = Actions(module.Call(td, new ModuleCallOptions { Params = one }));
        using TensorDict all = module.Call(td, new ModuleCallOptions { Params = sets });
        Assert.Equal(new long[] { 3, 3 }, all.BatchSize);
        Near(swapped, Actions(all[1]));
        Assert.NotEqual(swapped, Actions(module.Call(td)));
        module.SetParams(one);
        Near(swapped, Actions(module.Call(td)));
        using TensorDict first = sets[0], layer = first.GetDict("0");
        module.SetParams("0", layer);
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => module.SetParams(layer));
        using TensorDict inputs = TensorDict.Stack(new[] { td, td, td }, 0);
        Assert.Equal(new long[] { 3, 3 }, module.Call(inputs, new ModuleCallOptions { Params = sets, MapInput = true }).BatchSize);
        string file = Path.Combine(Path.GetTempPath(), Path.GetRandomFileName() + ".pt");
        module.Save(file);
        using TensorDictModule again = TensorDictModule.Load(file);
        File.Delete(file);
        Near(Actions(module.Call(td)), Actions(again.Call(td)));
    }

    [Fact]
    public void LambdasAreModules()
    {
        int offset = 10;
        using var add = new TensorDictModule(
            td =>
            {
                td["y"] = Tensor.FromArray(td.GetTensor("x").ToArray<long>().Select(x => x + offset).ToArray(), 2);
                return null;
            },
            new NestedKey[] { "x" },
            new NestedKey[] { "y" });
        using var rename = new TensorDictModule(new Renames(), new NestedKey[] { "y" }, new NestedKey[] { "z" });
        using var td = new TensorDict(2);
        td["x"] = Tensor.FromArray(new long[] { 1, 2 }, 2);
        Assert.Equal(new long[] { 11, 12 }, add.Call(td).GetTensor("y").ToArray<long>());
        using TensorDictModule row = TensorDictModule.Sequence(add, rename);
        Assert.Equal(new NestedKey[] { "x" }, row.InKeys);
        Assert.Equal(new NestedKey[] { "y", "z" }, row.OutKeys);
        using TensorDictModule last = row.SelectOutKeys("z"), head = row.SelectSubsequence(outKeys: new NestedKey[] { "y" });
        Assert.Equal(new NestedKey[] { "y" }, head.OutKeys);
        using var target = new TensorDict(2);
        Assert.Same(target, last.Call(td, new ModuleCallOptions { Out = target }));
        Assert.Equal(new NestedKey[] { "z" }, target.Keys());
        Expect.Fails<TensorDictException>(TensorDictStatus.InvalidArgument, () => row.SelectSubsequence(new NestedKey[] { "q" }));
        using var nothing = new TensorDict(2);
        using TensorDictModule tolerant = TensorDictModule.Sequence(new[] { add }, partialTolerant: true);
        Assert.Empty(tolerant.Forward(nothing).Keys());
        td["y"] = Tensor.FromArray(new long[] { 5, 5 }, 2);
        row.CallInPlace(td, new ModuleCallOptions { SkipExisting = true });
        Assert.Equal(new long[] { 5, 5 }, td.GetTensor("z").ToArray<long>());
        Assert.Empty(row.Call(nothing.IsEmpty ? td : nothing, new ModuleCallOptions { Plain = true }).BatchSize);
    }

    [Fact]
    public void WhatAFunctionThrowsComesOut()
    {
        using var td = new TensorDict(2);
        td["x"] = Tensor.FromArray(new long[] { 1, 2 }, 2);
        using var bad = new TensorDictModule(_ => throw new InvalidOperationException("no way"), new NestedKey[] { "x" }, new NestedKey[] { "y" });
        using TensorDictModule row = TensorDictModule.Sequence(bad);
        Assert.Equal("no way", Assert.Throws<InvalidOperationException>(() => row.Call(td)).Message);
        using var lacks = new TensorDictModule(inputs => inputs, new NestedKey[] { "x" }, new NestedKey[] { "y" });
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => lacks.Call(td));
        using var strict = new TensorDictModule(inputs => inputs, new NestedKey[] { "q" }, strict: true);
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => strict.Call(td));
        Assert.Equal(new NestedKey[] { "x" }, td.Keys());
    }

    [Fact]
    public void SeveralThreadsCallOneModule()
    {
        using TensorDictModule module = Network();
        Parallel.For(0, 4, _ =>
        {
            using TensorDict td = Observations(2);
            for (int i = 0; i < 50; i++)
            {
                module.CallInPlace(td);
            }
        });
    }

    [Fact]
    public void Distributions()
    {
        using TensorDictModule network = TensorDictModule.Load(Archive("sequence.pt"));
        using TensorDictModule act = TensorDictModule.Probabilistic(
            new[] { new TensorDistribution(DistributionKind.IndependentNormal, "action", ("loc", "loc"), ("scale", "scale")) },
            new ProbabilisticOptions { ReturnLogProb = true, Seed = 3 });
        using TensorDictModule row = TensorDictModule.Sequence(network, act);
        using TensorDict td = Observations(4), sure = row.Call(td);
        Assert.Equal(sure.GetTensor("loc").ToArray<float>(), Actions(sure));
        using TensorDict drawn = row.Call(td, new ModuleCallOptions { Interaction = Interaction.Random });
        Assert.NotEqual(Actions(sure), Actions(drawn));
        td["action"] = drawn.GetTensor("action");
        Near(drawn.GetTensor("action_log_prob").ToArray<float>(), row.LogProb(td).GetTensor("action_log_prob").ToArray<float>());
        using var own = row.GetParams();
        Assert.True(row.LogProb(td, own).EqualTo(row.LogProb(td)));
        Expect.Fails<TensorDictException>(TensorDictStatus.InvalidArgument, () => TensorDictModule.Probabilistic(new TensorDistribution(DistributionKind.Delta, "x", ("logits", "loc"))));
        Expect.Fails<TensorDictException>(TensorDictStatus.InvalidArgument, () => TensorDictModule.Probabilistic());
        using TensorDictModule bounded = TensorDictModule.Probabilistic(
            new[]
            {
                new TensorDistribution(DistributionKind.TanhNormal, "a", ("loc", "loc"), ("scale", "scale"))
                {
                    Low = 0, High = 2, TanhLocUpscale = 5, LogProbKey = ("lp", "a"),
                },
            },
            new ProbabilisticOptions { NumSamples = 3, ReturnLogProb = true, Interaction = Interaction.Random });
        using TensorDict sampled = bounded.Call(sure);
        Assert.Equal(new long[] { 3, 4 }, sampled.BatchSize);
        Assert.True(sampled.ContainsKey(("lp", "a")));
        using TensorDictModule laplace = TensorDictModule.Probabilistic(
            new[] { new TensorDistribution(DistributionKind.Laplace, "x", ("loc", "loc"), ("scale", "scale")) { Event = true } },
            new ProbabilisticOptions { ReturnLogProb = true });
        Expect.Shape(laplace.Call(sure).GetTensor("x_log_prob").Shape, 4);
        using TensorDictModule joints = TensorDictModule.Probabilistic(
            new TensorDistribution(DistributionKind.TanhNormal, "x", ("loc", "loc"), ("scale", "scale"))
            {
                BoundsOfEach = new[] { (-1.0, 1.0), (2.0, 6.0) },
            });
        float[] within = joints.Call(sure).GetTensor("x").ToArray<float>();
        Assert.All(within.Where((_, i) => i % 2 == 1), one => Assert.InRange(one, 2f, 6f));
        using TensorDictModule shares = TensorDictModule.Probabilistic(
            new[] { new TensorDistribution(DistributionKind.Dirichlet, "x", ("concentration", "scale")) },
            new ProbabilisticOptions { ReturnLogProb = true });
        Expect.Shape(shares.Call(sure).GetTensor("x_log_prob").Shape, 4);
        using TensorDictModule mixed = TensorDictModule.Probabilistic(
            new TensorDistribution(DistributionKind.Normal, "x", ("probs", "scale"), ("loc", "loc"), ("scale", "scale")) { Mixture = true });
        float[] loc = sure.GetTensor("loc").ToArray<float>(), weight = sure.GetTensor("scale").ToArray<float>();
        float[] means = Enumerable.Range(0, 4).Select(i => ((loc[2 * i] * weight[2 * i]) + (loc[(2 * i) + 1] * weight[(2 * i) + 1])) / (weight[2 * i] + weight[(2 * i) + 1])).ToArray();
        Near(means, mixed.Call(sure).GetTensor("x").ToArray<float>());
        using TensorDictModule halves = TensorDictModule.NormalParams("h", "exp");
        using var h = new TensorDict(1);
        h["h"] = Tensor.FromArray(new[] { 7f, 0f }, 1, 2);
        Assert.Equal(new[] { 1f }, halves.Call(h).GetTensor("scale").ToArray<float>());
    }

    private sealed class Renames : IModule
    {
        public TensorDict Forward(TensorDict td)
        {
            td["z"] = td.GetTensor("y");
            return td;
        }
    }
}
