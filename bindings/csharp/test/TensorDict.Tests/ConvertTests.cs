using System;
using Xunit;

namespace TensorDicts.Tests;

public class ConvertTests
{
    private static TensorDict Mixed() => new TensorDict(2)
    {
        ["a"] = Tensor.FromArray(new[] { 1L, 2L }),
        ["n", "b"] = Tensor.FromArray(new[] { 3f, 4f }),
    };

    [Fact]
    public void BothAtOnceAndLikeAnother()
    {
        using var td = Mixed();
        using var both = td.To(new ToOptions { DType = DType.Float64, Device = Device.Cpu });
        Assert.True(both.IsCpu && !both.IsCuda && !td.IsCpu);
        Assert.Equal(DType.Float64, both.CommonDType);
        Assert.Null(td.CommonDType);
        Assert.True(both.IsFloatingPoint && !td.IsFloatingPoint);
        using var like = td.To(new ToOptions { Like = both });
        Assert.Equal(DType.Float64, like.CommonDType);
        Assert.Equal(Device.Cpu, like.Device);
        using var each = new TensorDict { ["a"] = Tensor.Scalar(0f), ["n", "b"] = Tensor.Scalar((byte)0) };
        using var same = td.To(new ToOptions { Like = each, EachLike = true });
        Assert.Equal(new byte[] { 3, 4 }, same.GetTensor("n", "b").ToArray<byte>());
        each.Remove("a");
        Expect.Fails<TensorKeyException>(
            TensorDictStatus.KeyNotFound, () => td.To(new ToOptions { Like = each, EachLike = true }));
    }

    [Fact]
    public void TensorsAreReplacedInPlace()
    {
        using var td = Mixed();
        td.ToInPlace(new ToOptions { DType = DType.Int8, NonBlocking = true });
        Assert.Equal(DType.Int8, td.CommonDType);
        td.Lock();
        Expect.Fails<TensorLockedException>(
            TensorDictStatus.Locked, () => td.ToInPlace(new ToOptions { DType = DType.Int16 }));
    }

    [Fact]
    public void TheDeviceInCommon()
    {
        using var td = Mixed();
        td.AutoDevice();
        Assert.Equal(Device.Cpu, td.GetDict("n").Device);
        Expect.Fails<TensorDeviceException>(TensorDictStatus.Device, () => td.RecordStream(Device.Cpu, 0));
        if (!Device.CudaIsAvailable)
        {
            Expect.Fails<TensorDeviceException>(TensorDictStatus.Device, () => td.PinMemory());
            Assert.False(td.IsPinned);
        }
    }

    [Fact]
    public void CountedTogether()
    {
        using var td = Mixed();
        td["again"] = td.GetTensor("a");
        Assert.Equal((6, 4), (td.ParameterCount(), td.ParameterCount(countDuplicates: false)));
        Assert.Equal((40, 24), (td.Bytes(), td.Bytes(countDuplicates: false)));
        long[] addresses = td.DataPointers();
        Assert.Equal(3, addresses.Length);
        Assert.Equal(addresses[0], addresses[2]);
        using var part = td[1];
        Assert.Equal(addresses[0] + 8, part.DataPointers()[0]);
        Assert.Equal(addresses, part.DataPointers(storage: true));
    }
}
