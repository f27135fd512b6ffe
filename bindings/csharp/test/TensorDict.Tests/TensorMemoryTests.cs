using System;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Xunit;

namespace TensorDicts.Tests;

public class TensorMemoryTests
{
    [Fact]
    public void FromMemoryIsNoCopy()
    {
        var values = new[] { 1f, 2f, 3f, 4f };
        using var t = Tensor.FromMemory(values.AsMemory(), 2, 2);
        values[3] = 40f;
        Assert.Equal(new[] { 1f, 2f, 3f, 40f }, t.ToArray<float>());
        using (var view = t.View<float>())
        {
            view[0] = 10f;
        }
        Assert.Equal(10f, values[0]);
    }

    [Fact]
    public void ATensorGoesToAHostOfTheSameLibtorchAndBack()
    {
        string version = TensorDictLibrary.TorchVersion;
        using var t = Tensor.FromArray(new[] { 1f, 2f });
        IntPtr torch = t.ToTorch(version); // the host would free it
        using (var same = Tensor.FromTorch(torch, version))
        {
            using var view = same.View<float>();
            view[1] = 20f;
        }
        Assert.Equal(new[] { 1f, 20f }, t.ToArray<float>());
        var failure = Assert.ThrowsAny<TensorDictException>(() => Tensor.FromTorch(torch, "0.4.1"));
        Assert.Contains("0.4", failure.Message);
        Assert.ThrowsAny<TensorDictException>(() => t.ToTorch("0.4.1"));
        Assert.Throws<ArgumentException>(() => t.ToTorch("new"));
        Assert.Throws<ArgumentNullException>(() => Tensor.FromTorch(IntPtr.Zero, version));
    }

    [Fact]
    public void FromMemoryRefusesSizesThatDoNotFit()
    {
        var failure = Assert.Throws<ArgumentException>(() => Tensor.FromMemory(new float[5].AsMemory(), 2, 3));
        Assert.Contains("needs 6 values, found 5", failure.Message);
    }

    [Fact]
    public void FromMemoryPinsUntilTheLastViewIsGone()
    {
        (WeakReference memory, Tensor part) = Make();
        Collect();
        Assert.True(memory.IsAlive);
        Assert.Equal(new[] { 3f }, part.ToArray<float>());
        part.Dispose();
        Collect();
        Assert.False(memory.IsAlive);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static (WeakReference, Tensor) Make()
        {
            var values = new[] { 1f, 2f, 3f };
            using var whole = Tensor.FromMemory(values.AsMemory());
            return (new WeakReference(values), whole[2..]);
        }
    }

    [Fact]
    public void AViewKeepsTheTensorUnderDispose()
    {
        var t = Tensor.FromArray(new[] { 1, 2, 3 });
        using (var view = t.View<int>())
        {
            t.Dispose();
            view.Span.Fill(7);
            Assert.Equal(3, view.Length);
            Assert.Equal(7, view[2]);
            Assert.Throws<ObjectDisposedException>(() => t.ByteCount);
        }
    }

    [Fact]
    public void CopiesOfAViewLetGoOnce()
    {
        Collect();
        long before = TensorDictLibrary.LiveHandles;
        UseCopies();
        Collect(); // one release too many would end the process here
        Assert.Equal(before, TensorDictLibrary.LiveHandles);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void UseCopies()
        {
            var t = Tensor.FromArray(new[] { 1, 2, 3 });
            TensorView<int> view = t.View<int>();
            TensorView<int> copy = view;
            view.Dispose();
            copy.Dispose();
            copy.Dispose();
            Assert.Equal(new[] { 1, 2, 3 }, t.ToArray<int>());
            using TensorView<int> second = t.View<int>();
            t.Dispose();
            TensorView<int> third = second;
            Assert.Equal(3, third[2]);
        }
    }

    [Fact]
    public void MoreValuesThanASpanHoldsAreRefusedInWords()
    {
        // Nothing is read: the memory need not be there.
        using var large = Tensor.FromPointer((IntPtr)64, DType.UInt8, [1L << 31]);
        Refused("View gives a span", () => large.View<byte>());
        Refused("ToArray gives an array", () => large.ToArray<byte>());
        Refused("ToBytes gives an array", () => large.ToBytes());

        static void Refused(string what, Action action)
        {
            var failure = Assert.Throws<InvalidOperationException>(action);
            Assert.Contains(what, failure.Message);
            Assert.Contains("the tensor has 2147483648", failure.Message);
        }
    }

    [Fact]
    public void AViewNeedsDenseValuesOnTheCpu()
    {
        using var t = Sample.Range(2, 2);
        using var column = t[.., 0];
        Assert.Contains("strides are [2]", Assert.Throws<InvalidOperationException>(() => column.View<float>()).Message);
        using var meta = t.To(Device.Meta);
        Assert.Contains("meta", Assert.Throws<InvalidOperationException>(() => meta.View<float>()).Message);
        using var none = Tensor.Zeros<float>(0, 3);
        using var view = none.View<float>();
        Assert.True(view.Span.IsEmpty);
    }

    [Fact]
    public void FromPointerTakesStridesAndReleasesOnce()
    {
        IntPtr block = Marshal.AllocHGlobal(6 * sizeof(int));
        Marshal.Copy(new[] { 0, 1, 2, 3, 4, 5 }, 0, block, 6);
        int released = 0;
        using (var t = Tensor.FromPointer(block, DType.Int32, [3, 2], [1, 3], release: () => released++))
        {
            Assert.Equal(new[] { 0, 3, 1, 4, 2, 5 }, t.ToArray<int>());
            Assert.Equal(block, t.DataPointer);
            Assert.Equal(0, released);
        }
        Assert.Equal(1, released);
        Expect.Fails<TensorShapeException>(
            TensorDictStatus.Shape, () => Tensor.FromPointer(block, DType.Int32, [-1], release: () => released++));
        Assert.Equal(2, released);
        Assert.Throws<ArgumentException>(() => Tensor.FromPointer(block, DType.Int32, [1], [1, 1]));
        Marshal.FreeHGlobal(block);
    }

    [Fact]
    public void AReleaseThatThrowsIsContained()
    {
        IntPtr block = Marshal.AllocHGlobal(4);
        Tensor.FromPointer(block, DType.Int32, [1], release: () => throw new InvalidOperationException("lost")).Dispose();
        Marshal.FreeHGlobal(block);
    }

    [Fact]
    public void AReleaseFlagIsSetWhenTheMemoryIsFree()
    {
        IntPtr block = Marshal.AllocHGlobal(8);
        Marshal.WriteInt64(block, 77);
        var flag = new ReleaseFlag();
        Tensor t = Tensor.FromPointer(block, DType.Int64, [1], flag);
        using var td = new TensorDict(1) { ["x"] = t };
        t.Dispose();
        Assert.False(flag.IsSet);
        Assert.True(td.Remove("x"));
        Assert.True(flag.IsSet);
        Assert.Throws<InvalidOperationException>(() => Tensor.FromPointer(block, DType.Int64, [1], flag));
        Marshal.FreeHGlobal(block);
    }

    [Fact]
    public void AReleaseFlagIsSetWithoutManagedCode()
    {
        string file = Environment.GetEnvironmentVariable("TENSORDICT_LIBRARY") ?? "tensordict";
        Assert.Equal(NativeLibrary.GetExport(NativeLibrary.Load(file), "td_release_set_flag"), ReleaseFlag.Setter);
    }

    [Fact]
    public void DLPackGoesOutAndComesBackOverTheSameMemory()
    {
        using var t = Tensor.FromArray(new[] { 1.5, 2.5 });
        using var back = Tensor.FromDLPack(t.ToDLPack());
        using var old = Tensor.FromDLPackLegacy(t.ToDLPackLegacy());
        t.CopyFrom(new[] { 3.5, 4.5 });
        Assert.Equal(new[] { 3.5, 4.5 }, back.ToArray<double>());
        Assert.Equal(new[] { 3.5, 4.5 }, old.ToArray<double>());
        Assert.Equal(t.DataPointer, back.DataPointer);
    }

    internal static void Collect()
    {
        for (int i = 0; i < 3; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
    }
}
