using System;
using System.Numerics;
using Xunit;

namespace TensorDicts.Tests;

public class TensorTests
{
    [Fact]
    public void FromArrayKeepsValuesAndSizes()
    {
        using var t = Tensor.FromArray(new[] { 1f, 2f, 3f, 4f, 5f, 6f }, 2, 3);
        Assert.Equal(DType.Float32, t.DType);
        Assert.Equal(Device.Cpu, t.Device);
        Expect.Shape(t.Shape, 2, 3);
        Expect.Shape(t.Strides, 3, 1);
        Assert.Equal(6, t.ElementCount);
        Assert.Equal(24, t.ByteCount);
        Assert.Equal(new[] { 1f, 2f, 3f, 4f, 5f, 6f }, t.ToArray<float>());
    }

    [Fact]
    public void WithoutSizesAnArrayHasOneDimension()
    {
        using var t = Tensor.FromArray(new[] { 7L });
        Expect.Shape(t.Shape, 1);
        using var empty = Tensor.FromArray(Array.Empty<double>());
        Expect.Shape(empty.Shape, 0);
        Assert.Empty(empty.ToArray<double>());
    }

    [Fact]
    public void ScalarHasNoDimensions()
    {
        using var t = Tensor.Scalar(2.5);
        Assert.Empty(t.Shape);
        Assert.Equal(2.5, t.Item<double>());
        Assert.Equal(1, t.ElementCount);
    }

    [Fact]
    public void EveryElementTypeComesBack()
    {
        Back(DType.UInt8, new byte[] { 0, 255 });
        Back(DType.Int8, new sbyte[] { -128, 127 });
        Back(DType.Int16, new short[] { -3, 3 });
        Back(DType.Int32, new[] { int.MinValue, int.MaxValue });
        Back(DType.Int64, new[] { long.MinValue, long.MaxValue });
#if !TESTS_NETSTANDARD
        Back(DType.Float16, new[] { (Half)0.5f, Half.NegativeInfinity });
#endif
        Back(DType.Float32, new[] { float.Epsilon, -0f });
        Back(DType.Float64, new[] { Math.PI, double.MaxValue });
        Back(DType.Bool, new[] { true, false });
        Back(DType.Complex128, new[] { new Complex(1, -2), Complex.Zero });

        static void Back<T>(DType dtype, T[] values)
            where T : unmanaged
        {
            using var t = Tensor.FromArray(values);
            Assert.Equal(dtype, t.DType);
            Assert.Equal(values, t.ToArray<T>());
            Assert.Equal(values.Length * dtype.ByteSize(), t.ByteCount);
        }
    }

    [Fact]
    public void DTypesHaveNamesAndSizes()
    {
        Assert.Equal("torch.float32", DType.Float32.TorchName());
        Assert.Equal("torch.bool", DType.Bool.TorchName());
        Assert.Equal("", ((DType)999).TorchName());
        Assert.Equal(16, DType.Complex128.ByteSize());
        Assert.Equal(0, ((DType)999).ByteSize());
        Assert.Throws<ArgumentException>(() => DTypes.Of<char>());
    }

    [Fact]
    public void AnotherElementTypeIsRefused()
    {
        using var t = Tensor.Zeros<float>(2);
        var failure = Expect.Fails<TensorDTypeException>(TensorDictStatus.DType, () => t.ToArray<int>());
        Assert.Contains("Int32", failure.Message);
        Assert.Contains("Float32", failure.Message);
        Expect.Fails<TensorDTypeException>(TensorDictStatus.DType, () => t.Item<double>());
        Expect.Fails<TensorDTypeException>(TensorDictStatus.DType, () => t.View<byte>());
        Expect.Fails<TensorDTypeException>(TensorDictStatus.DType, () => t.CopyFrom(new[] { 1L, 2L }));
    }

    [Fact]
    public void SizesThatDoNotFitAreRefused()
    {
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => Tensor.FromArray(new float[5], 2, 3));
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => Tensor.Zeros<float>(-1));
        using var t = Tensor.Zeros<float>(3);
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => t.CopyTo<float>(new float[2]));
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => t.CopyFrom(new float[4]));
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => t.Item<float>());
    }

    [Fact]
    public void CopiesGoBothWays()
    {
        using var t = Tensor.Zeros<int>(2, 2);
        t.CopyFrom(new[] { 1, 2, 3, 4 });
        var target = new int[4];
        t.CopyTo<int>(target);
        Assert.Equal(new[] { 1, 2, 3, 4 }, target);
        using var row = Tensor.FromArray(new[] { 9.7f, -1f });
        t.CopyFrom(row);
        Assert.Equal(new[] { 9, -1, 9, -1 }, t.ToArray<int>());
        Assert.Equal(new byte[] { 9, 0, 0, 0 }, t.ToBytes()[..4]);
    }

    [Fact]
    public void CloneHasMemoryOfItsOwnAndShareHasNot()
    {
        using var t = Tensor.FromArray(new[] { 1, 2 });
        using var copy = t.Clone();
        using var same = t.Share();
        t.CopyFrom(new[] { 5, 6 });
        Assert.Equal(new[] { 1, 2 }, copy.ToArray<int>());
        Assert.Equal(new[] { 5, 6 }, same.ToArray<int>());
        Assert.Equal(t.DataPointer, same.DataPointer);
        Assert.True(copy.IsUniquelyOwned);
        Assert.False(t.IsUniquelyOwned);
    }

    [Fact]
    public void ContiguousGathersAColumn()
    {
        using var t = Sample.Range(2, 3);
        using var column = t[.., 1];
        Assert.False(column.IsContiguous);
        Expect.Shape(column.Strides, 3);
        using var dense = column.Contiguous();
        Assert.True(dense.IsContiguous);
        Assert.Equal(new[] { 1f, 4f }, dense.ToArray<float>());
        Assert.Equal(new[] { 1f, 4f }, column.ToArray<float>());
    }

    [Fact]
    public void ToConvertsAndSharesWhereNothingChanges()
    {
        using var t = Tensor.FromArray(new[] { 1.9f, -1.9f });
        using var whole = t.To(DType.Int64);
        Assert.Equal(new[] { 1L, -1L }, whole.ToArray<long>());
        using var same = t.To(Device.Cpu);
        Assert.Equal(t.DataPointer, same.DataPointer);
        using var meta = t.To(DType.Float64, Device.Meta);
        Assert.Equal(Device.Meta, meta.Device);
        Assert.Equal(DType.Float64, meta.DType);
        Assert.Equal(IntPtr.Zero, meta.DataPointer);
    }

    [Fact]
    public void EqualToComparesDTypeSizesAndValues()
    {
        using var t = Tensor.FromArray(new[] { 1f, 2f });
        using var same = Tensor.FromArray(new[] { 1f, 2f });
        using var other = Tensor.FromArray(new[] { 1f, 3f });
        using var wide = Tensor.FromArray(new[] { 1.0, 2.0 });
        using var nan = Tensor.FromArray(new[] { float.NaN });
        Assert.True(t.EqualTo(same));
        Assert.False(t.EqualTo(other));
        Assert.False(t.EqualTo(wide));
        Assert.False(nan.EqualTo(nan));
        Assert.False(t.EqualTo(null));
    }

    [Fact]
    public void PrintsAsADictionaryPrintsIt()
    {
        using var t = Tensor.Zeros<float>(3);
        Assert.Equal("Tensor(shape=torch.Size([3]), device=cpu, dtype=torch.float32, is_shared=False)", t.ToString());
    }

    [Fact]
    public void GradientsAreSwitchedByTensor()
    {
        using var t = Tensor.Zeros<float>(2);
        Assert.False(t.RequiresGrad);
        t.RequiresGrad = true;
        Assert.True(t.RequiresGrad);
        using var whole = Tensor.Zeros<int>(2);
        Expect.Fails<TensorDTypeException>(TensorDictStatus.DType, () => whole.RequiresGrad = true);
    }

    [Fact]
    public void ADisposedTensorSaysSo()
    {
        var t = Tensor.Zeros<float>(2);
        t.Dispose();
        t.Dispose();
        Assert.Equal(nameof(Tensor), Assert.Throws<ObjectDisposedException>(() => t.Shape).ObjectName);
        using var td = new TensorDict(2);
        Assert.Throws<ObjectDisposedException>(() => td["a"] = t);
    }
}
