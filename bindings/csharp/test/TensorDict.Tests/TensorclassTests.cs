using System;
using System.Linq;
using Xunit;

namespace TensorDicts.Tests;

public sealed partial class MyData
{
    /// <summary>The values of the images where the mask is set.</summary>
    public float[] MaskImage() =>
        Image.ToArray<float>().Zip(Mask.ToArray<bool>()).Where(pair => pair.Second).Select(pair => pair.First).ToArray();

    /// <summary>The images of a class.</summary>
    public MyData SelectLabel(long label)
    {
        bool[] chosen = Array.ConvertAll(Label!.ToArray<long>(), one => one == label);
        return this[Tensor.FromArray(chosen)];
    }
}

public class TensorclassTests
{
    private static MyData Data(int n) => new MyData(
        new long[] { n },
        Sample.Range(n, 3, 2, 2),
        Tensor.FromArray(Enumerable.Range(0, n * 12).Select(i => i % 4 == 0).ToArray(), n, 3, 2, 2),
        Tensor.FromArray(Enumerable.Range(0, n).Select(i => (long)(i % 3)).ToArray()));

    [Fact]
    public void PartsOfATensorclassAreOfIt()
    {
        using MyData data = Data(6);
        MyData chosen = data.SelectLabel(1);
        Expect.Shape(chosen.BatchSize, 2);
        Assert.Equal(new long[] { 1, 1 }, chosen.Label!.ToArray<long>());
        Assert.Equal(new float[] { 0, 4, 8 }, data[0].MaskImage());
        Expect.Shape(data.Reshape(2, 3).Image.Shape, 2, 3, 3, 2, 2);
        Expect.Shape(data.View(3, 2).Permute(1, 0).BatchSize, 2, 3);
        Expect.Shape(data.With(td => td.Unsqueeze(0)).BatchSize, 1, 6);
        Assert.Equal(DType.Float64, data.With(td => td.To(DType.Float64)).Image.DType);
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => data.With(td => new TensorDict(6)));
        Assert.Equal("MyData", chosen.Dict.TensorclassType!.Name);
        data[0] = data[5];
        Assert.Equal(2, data.Label![0].Item<long>());
    }

    [Fact]
    public void TensorclassesAreJoinedAndTakenApart()
    {
        using MyData data = Data(4);
        MyData[] parts = data.Unbind();
        Assert.True(MyData.Stack(parts).EqualTo(data));
        Expect.Shape(MyData.Cat(new[] { data, data }).BatchSize, 8);
        MyData copy = data.Clone();
        copy.Image.CopyFrom(Tensor.Scalar(0f));
        Assert.False(copy.EqualTo(data));
        Assert.False(data.EqualTo(null));
        Assert.Throws<ArgumentException>(() => MyData.Stack(Array.Empty<MyData>()));
    }

    [Fact]
    public void ATensorclassPrintsUnderItsName()
    {
        using MyData data = Data(2);
        data.Label = null;
        Assert.Equal(
            "MyData(batch_size=[2], fields={\n    image: f32[3,2,2],\n    mask: bool[3,2,2],\n    label: None})",
            data.ToString());
    }

    [Fact]
    public void FieldsOfATensorclassAreChecked()
    {
        using MyData data = Data(2);
        Expect.Fails<TensorDTypeException>(TensorDictStatus.DType, () => data.Image = Tensor.Zeros<double>(2, 3, 1, 1));
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => data.Image = Tensor.Zeros<float>(2, 4, 1, 1));
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyInvalid, () => data.Dict["picture"] = Tensor.Zeros<float>(2));
        Expect.Fails<TensorDictException>(TensorDictStatus.InvalidArgument, () => data.Mask = null!);
        data.Label = null;
        Assert.Null(data.Label);
        data.Label = Tensor.FromArray(new long[] { 7, 8 });
        Assert.Equal(new long[] { 7, 8 }, data.Label.ToArray<long>());
        data.Dict.CheckTensorclass();
        TensorDict plain = data.ToTensorDict();
        Assert.Null(plain.TensorclassType);
        Assert.True(new MyData(plain).EqualTo(data));
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => new MyData(new TensorDict(2)));
    }

    [Fact]
    public void TensorclassesLieInEachOther()
    {
        using var pair = new Pair(new long[] { 2 }, Data(2), new TensorDict(2), "a \"pair\"", weight: Tensor.FromArray(new[] { 1f, 2f }));
        Assert.Equal(DType.Float64, pair.Weight!.DType);
        Assert.Null(pair.RightOne);
        Assert.Equal("a \"pair\"", pair.Title);
        pair.Title = "[1,2]";
        pair.Note = "null";
        Assert.Equal(("[1,2]", "null"), (pair[1].Title, pair[1].Note));
        Assert.Equal("\"[1,2]\"", pair.Dict.GetJson("title"));
        pair.Note = null;
        Assert.Null(pair.Note);
        Assert.Null(pair.ExtraJson);
        pair.ExtraJson = "[1,2]";
        Assert.Equal("[1,2]", pair.ExtraJson);
        pair.RightOne = Data(2);
        Pair first = pair[0];
        Expect.Shape(first.RightOne!.Image.Shape, 3, 2, 2);
        Assert.True(first.More.IsEmpty);
        pair.Left.Label = null;
        Assert.Null(pair.Left.Label);
        Expect.Fails<TensorKeyException>(TensorDictStatus.WrongEntry, () => pair.Dict["left"] = new TensorDict(2));
        Assert.Equal(new[] { FieldKind.Tensorclass, FieldKind.Tensorclass, FieldKind.Dict, FieldKind.Tensor, FieldKind.Value, FieldKind.Value, FieldKind.Value }, Pair.Type.Fields.Select(f => f.Kind));
    }

    [Fact]
    public void TensorclassesAreMadeAtRunTime()
    {
        using var start = Tensor.FromArray(new[] { 1, 2 });
        using var parent = new TensorclassType("Parent", new[] { new TensorclassField("a") { Default = start } });
        using var type = new TensorclassType(
            "Thing",
            new[]
            {
                new TensorclassField("b") { DType = DType.Float64, Sizes = new long[] { 2 } },
                new TensorclassField("c", FieldKind.Value) { DefaultJson = "[1, \"two\"]" },
                new TensorclassField("d", FieldKind.Dict),
                new TensorclassField("e", parent),
                new TensorclassField("f") { IsOptional = true },
            },
            autocast: true,
            frozen: true,
            baseType: parent);
        Assert.Equal("Thing", type.ToString());
        Assert.Equal("abcdef", string.Concat(type.Fields.Select(f => f.Name)));
        Assert.True(type.Fields[0].HasDefault && type.Fields[5].IsOptional && type.Fields[5].Sizes is null);
        Assert.Equal(new long[] { 2 }, type.Fields[1].Sizes);
        Assert.Equal("[1, \"two\"]", type.Fields[2].DefaultJson);

        TensorDict made = type.Make(new long[] { 3 });
        Assert.True(made.IsLocked);
        Assert.Equal(new[] { 1, 2, 1, 2, 1, 2 }, made.GetTensor("a").ToArray<int>());
        Expect.Shape(made.GetTensor("e", "a").Shape, 3, 2);
        Assert.Equal(Device.Cpu, type.Make(Array.Empty<long>(), Device.Cpu).Device);

        var td = new TensorDict(1)
        {
            ["b"] = Sample.Range(1, 2),
            ["d"] = new TensorDict(1),
            ["e", "a"] = Sample.Range(1),
        };
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => td.CheckTensorclass(type));
        td.MakeTensorclass(type);
        Assert.Equal(DType.Float64, td.GetTensor("b").DType);
        td.CheckTensorclass(type);
    }

    [Fact]
    public void TensorclassesThatCannotBeAreRefused()
    {
        Assert.Throws<ArgumentException>(() => new TensorclassType("T", new[] { new TensorclassField("a\0") }));
        Expect.Fails<TensorKeyException>(
            TensorDictStatus.KeyExists, () => new TensorclassType("T", new[] { new TensorclassField("a"), new TensorclassField("a") }));
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyInvalid, () => new TensorclassType("", Array.Empty<TensorclassField>()));
        Assert.Throws<ArgumentNullException>(() => new TensorclassType("T", new TensorclassField[] { null! }));
    }
}
