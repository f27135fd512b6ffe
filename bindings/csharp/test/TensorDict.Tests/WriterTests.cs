using System;
using Xunit;

namespace TensorDicts.Tests;

public class WriterTests
{
    private static TensorDict Target() => new TensorDict(2, 2)
    {
        ["observation", "position"] = Tensor.Zeros<double>(2, 2, 3),
        ["reward"] = Tensor.Zeros<float>(2, 2, 1),
    };

    [Fact]
    public void RowsFollowInRowMajorOrder()
    {
        using var td = Target();
        using (var writer = new TensorDictWriter(td))
        {
            WriterField position = writer.Bind(("observation", "position"));
            WriterField reward = writer.Bind("reward");
            Assert.Equal(24, writer.RowBytes(position));
            Assert.Equal(4, writer.RowBytes(reward));
            Span<double> row = stackalloc double[3];
            for (int i = 0; i < 4; i++)
            {
                row.Fill(i);
                writer.Put<double>(position, row);
                writer.Put(reward, i * 10f);
                writer.Next();
            }
            Assert.Equal(4, writer.Rows);
            Expect.Fails<TensorCapacityException>(TensorDictStatus.Capacity, () => writer.Put(reward, 1f));
            Expect.Fails<TensorCapacityException>(TensorDictStatus.Capacity, () => writer.Next());
            writer.Flush();
            writer.Close();
        }
        Assert.Equal(new[] { 0f, 10f, 20f, 30f }, Sample.Floats(td, "reward"));
        Assert.Equal(new[] { 2.0, 2, 2, 3, 3, 3 }, td.GetTensor("observation", "position").ToArray<double>()[6..]);
    }

    [Fact]
    public void RowsOfAnotherTypeOrLengthAreRefused()
    {
        using var td = Target();
        using var writer = new TensorDictWriter(td);
        WriterField reward = writer.Bind("reward");
        var failure = Expect.Fails<TensorDTypeException>(TensorDictStatus.DType, () => writer.Put(reward, 1));
        Assert.Contains("Put asks for Int32", failure.Message);
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => writer.Put(reward, new[] { 1f, 2f }));
        writer.PutBytes(reward, BitConverter.GetBytes(6f));
        Assert.Equal(6f, Sample.Floats(td, "reward")[0]);
    }

    [Fact]
    public void AStretchOfRowsIsWritten()
    {
        using var td = Target();
        using var writer = new TensorDictWriter(td, new WriterOptions { FirstRow = 1, Capacity = 2 });
        WriterField reward = writer.Bind("reward");
        writer.Put(reward, 1f);
        writer.Next();
        writer.Put(reward, 2f);
        writer.Next();
        Expect.Fails<TensorCapacityException>(TensorDictStatus.Capacity, () => writer.Put(reward, 3f));
        Assert.Equal(new[] { 0f, 1f, 2f, 0f }, Sample.Floats(td, "reward"));
        Expect.Fails<TensorIndexException>(
            TensorDictStatus.Index, () => new TensorDictWriter(td, new WriterOptions { FirstRow = 9 }));
    }

    [Fact]
    public void KeysAndFieldsAreChecked()
    {
        using var td = Target();
        using var writer = new TensorDictWriter(td);
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => writer.Bind("missing"));
        Expect.Fails<TensorKeyException>(TensorDictStatus.WrongEntry, () => writer.Bind("observation"));
        Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => writer.RowBytes(default));
        using var none = new TensorDict();
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => new TensorDictWriter(none));
    }

    [Fact]
    public void AFieldThatThisWriterHasNotBoundIsRefused()
    {
        using var td = Target();
        using var other = new TensorDict(4) { ["first"] = Tensor.Zeros<double>(4, 3), ["second"] = Tensor.Zeros<float>(4, 1) };
        using var writer = new TensorDictWriter(td);
        using var stranger = new TensorDictWriter(other);
        WriterField position = writer.Bind(("observation", "position"));
        stranger.Bind("first");
        WriterField second = stranger.Bind("second");
        WriterField none = default;
        var row = new double[] { 1, 2, 3 };
        Refused("was not bound to a tensor", () => writer.Put(none, row));
        Refused("was not bound to a tensor", () => writer.PutBytes(none, new byte[24]));
        Refused("was not bound to a tensor", () => writer.RowBytes(none));
        Refused("was bound by another writer", () => stranger.Put(position, row));
        Refused("was bound by another writer", () => stranger.PutBytes(position, new byte[24]));
        Refused("was bound by another writer", () => writer.Put(second, 1f));
        Assert.Equal(new double[12], other.GetTensor("first").ToArray<double>());
        Assert.Equal(new double[12], td.GetTensor("observation", "position").ToArray<double>());

        static void Refused(string reason, Action put) =>
            Assert.Contains(reason, Expect.Fails<TensorIndexException>(TensorDictStatus.Index, put).Message);
    }

    [Fact]
    public void AFieldThatIsBoundTwiceKeepsItsType()
    {
        using var td = Target();
        using var writer = new TensorDictWriter(td);
        writer.Bind("reward");
        WriterField again = writer.Bind("reward");
        WriterField position = writer.Bind(("observation", "position"));
        writer.Put(again, 5f);
        writer.Put(position, new double[] { 1, 2, 3 });
        Expect.Fails<TensorDTypeException>(TensorDictStatus.DType, () => writer.Put(position, new float[3]));
        Assert.Equal(5f, Sample.Floats(td, "reward")[0]);
    }

    [Fact]
    public void AClosedWriterRefusesRows()
    {
        using var td = Target();
        var writer = new TensorDictWriter(td);
        WriterField reward = writer.Bind("reward");
        writer.Close();
        writer.Close();
        Assert.Equal(
            TensorDictStatus.InvalidArgument,
            Assert.Throws<TensorDictException>(() => writer.Put(reward, 1f)).Status);
        writer.Dispose();
        Assert.Equal(
            nameof(TensorDictWriter), Assert.Throws<ObjectDisposedException>(() => writer.Next()).ObjectName);
    }

    [Fact]
    public void PuttingRowsAllocatesNothing()
    {
        using var td = new TensorDict(2000) { ["x"] = Tensor.Zeros<float>(2000, 4) };
        using var writer = new TensorDictWriter(td);
        WriterField x = writer.Bind("x");
        var row = new float[] { 1, 2, 3, 4 };
        writer.Put(x, row);
        writer.Next();
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 1; i < 2000; i++)
        {
            writer.Put(x, row);
            writer.Next();
        }
        Assert.Equal(0, GC.GetAllocatedBytesForCurrentThread() - before);
        Assert.Equal(2000, writer.Rows);
    }
}
