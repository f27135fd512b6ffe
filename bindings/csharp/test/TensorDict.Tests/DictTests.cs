using System;
using Xunit;

namespace TensorDicts.Tests;

public class DictTests
{
    [Fact]
    public void AnEmptyDictionaryHasABatchSize()
    {
        using var td = new TensorDict(3, 4);
        Expect.Shape(td.BatchSize, 3, 4);
        Assert.True(td.IsEmpty);
        Assert.Null(td.Device);
        Assert.Equal(0, td.ByteCount);
        using var none = new TensorDict();
        Assert.Empty(none.BatchSize);
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => new TensorDict(-1));
    }

    [Fact]
    public void EntriesBeginWithTheBatchSize()
    {
        using var td = new TensorDict(3, 4);
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => td["obs"] = Tensor.Zeros<float>(5));
        td["obs"] = Tensor.Zeros<float>(3, 4, 84);
        Assert.Equal(3 * 4 * 84 * 4, td.ByteCount);
    }

    [Fact]
    public void TheBatchSizeChangesAsAWhole()
    {
        using var td = new TensorDict(3) { ["a"] = Tensor.Zeros<float>(3, 4, 5), ["n", "b"] = Tensor.Zeros<float>(3, 4) };
        td.BatchSize = new Shape(3, 4);
        Expect.Shape(td.GetDict("n").BatchSize, 3, 4);
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => td.BatchSize = new Shape(3, 4, 5));
        Expect.Shape(td.BatchSize, 3, 4);
        td.BatchSize = default;
        Assert.Empty(td.BatchSize);
    }

    [Fact]
    public void ALockForbidsStructureAndAllowsValues()
    {
        using var td = Sample.Nested();
        td.Lock();
        Assert.True(td.IsLocked);
        Expect.Fails<TensorLockedException>(TensorDictStatus.Locked, () => td["new"] = Tensor.Zeros<float>(4, 3));
        Expect.Fails<TensorLockedException>(TensorDictStatus.Locked, () => td.Remove("a"));
        Expect.Fails<TensorLockedException>(TensorDictStatus.Locked, () => td.GetDict("n").Unlock());
        td.SetInPlace("a", Tensor.Scalar(1f));
        td.Unlock();
        Assert.False(td.IsLocked);
        Assert.True(td.Remove("a"));
    }

    [Fact]
    public void CopiesAreDeepOrShallow()
    {
        using var td = Sample.Nested();
        td.Lock();
        using var deep = td.Clone();
        using var shallow = td.ShallowClone();
        using var same = td.Share();
        Assert.False(deep.IsLocked);
        Assert.False(shallow.IsLocked);
        Assert.True(same.IsLocked);
        using var whole = td[TensorIndex.Ellipsis];
        using var part = td[0];
        Assert.True(td.IsSameAs(same) && td.IsSameAs(whole));
        Assert.False(td.IsSameAs(deep) || td.IsSameAs(shallow) || td.IsSameAs(part) || td.IsSameAs(null));
        td.SetInPlace("a", Tensor.Scalar(-1f));
        Assert.Equal(0f, Sample.Floats(deep, "a")[0]);
        Assert.Equal(-1f, Sample.Floats(shallow, "a")[0]);
        shallow["extra"] = Tensor.Zeros<float>(4, 3);
        Assert.False(td.ContainsKey("extra"));
    }

    [Fact]
    public void EqualToIgnoresTheOrderOfKeys()
    {
        using var td = Sample.Nested();
        using var other = new TensorDict(4, 3) { ["n", "b"] = Sample.Range(4, 3, 5), ["a"] = Sample.Range(4, 3, 2) };
        Assert.True(td.EqualTo(other));
        other["a"] = Tensor.Zeros<float>(4, 3, 2);
        Assert.False(td.EqualTo(other));
        Assert.False(td.EqualTo(null));
    }

    [Fact]
    public void ToConvertsEveryTensor()
    {
        using var td = Sample.Nested();
        td["step"] = Tensor.Zeros<int>(4, 3);
        using var half = td.To(DType.Float16);
        Assert.Equal(DType.Float16, half.GetTensor("n", "b").DType);
        Assert.Equal(DType.Float16, half.GetTensor("step").DType);
        using var cpu = td.To(Device.Cpu);
        Assert.Equal(Device.Cpu, cpu.Device);
        Assert.Null(td.Device);
        Assert.Equal(td.GetTensor("a").DataPointer, cpu.GetTensor("a").DataPointer);
        cpu.ClearDevice();
        Assert.Null(cpu.Device);
        using var meta = td.To(Device.Meta, nonBlocking: true);
        Assert.Equal(Device.Meta, meta.GetTensor("a").Device);
    }

    [Fact]
    public void ADeviceMovesWhatIsSet()
    {
        using var td = new TensorDict(new long[] { 2 }, Device.Meta) { ["a"] = Tensor.Zeros<float>(2) };
        Assert.Equal(Device.Meta, td.Device);
        Assert.Equal(Device.Meta, td.GetTensor("a").Device);
        if (!Device.CudaIsAvailable)
        {
            Expect.Fails<TensorDeviceException>(TensorDictStatus.Device, () => td.To(Device.Cuda(0)));
        }
        Assert.Equal("cuda:1", Device.Cuda(1).ToString());
        Assert.True(Device.Cpu.IsAvailable);
        Assert.Equal(Device.Cpu, new Device(DeviceType.Cpu));
        Assert.True(Device.Cuda(0) != Device.Cuda());
    }

    [Fact]
    public void PrintsAsPythonDoes()
    {
        using var td = new TensorDict(2) { ["x"] = Tensor.Zeros<float>(2, 3) };
        Assert.Equal("TensorDict(batch_size=[2], fields={x: f32[3]})", td.ToString());
        Assert.Equal("TensorDict(batch_size=[2], fields={x: [3]})", td.ToString(new PrintOptions { Hide = PrintParts.DType }));
        Assert.Equal(
            """
            TensorDict(
                fields={
                    x: Tensor(shape=torch.Size([2, 3]), requires_grad=False)},
                batch_size=torch.Size([2]))
            """,
            td.ToString(new PrintOptions { Brief = true, Show = PrintParts.Grad, Unsorted = true }));
        Assert.Contains("is_shared=False", td.ToString(new PrintOptions { Compact = false }));
        Expect.Fails<TensorDictException>(
            TensorDictStatus.InvalidArgument,
            () => td.ToString(new PrintOptions { Compact = true, Show = PrintParts.Shape, Hide = PrintParts.Shape }));
    }

    [Fact]
    public void LongTextsArriveWhole()
    {
        using var td = new TensorDict(1);
        for (int i = 0; i < 100; i++)
        {
            td[$"schlüssel-{i:000}"] = Tensor.Zeros<float>(1);
        }
        string text = td.ToString();
        Assert.EndsWith("    schlüssel-099: f32[]})", text);
    }

    [Fact]
    public void ShapesCompareAndPrint()
    {
        Shape shape = new long[] { 3, 4 };
        Assert.Equal("[3, 4]", shape.ToString());
        Assert.Equal(12, shape.ElementCount);
        Assert.Equal(4, shape[^1]);
        Assert.Equal(3, shape[0]);
        Assert.True(shape == new Shape(3, 4));
        Assert.True(shape != new Shape(3));
        Assert.Equal(1, default(Shape).ElementCount);
        Assert.Equal("3,4", string.Join(",", shape.ToArray()));
    }

    [Fact]
    public void ADisposedDictionarySaysSo()
    {
        var td = Sample.Nested();
        using var nested = td.GetDict("n");
        td.Dispose();
        Assert.Throws<ObjectDisposedException>(() => nested.IsSameAs(td));
        Assert.Equal(nameof(TensorDict), Assert.Throws<ObjectDisposedException>(() => td.BatchSize).ObjectName);
        Assert.Equal(59f, Sample.Floats(nested, "b")[59]);
    }
}
