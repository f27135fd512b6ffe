using System;
using System.Linq;
using Xunit;

namespace TensorDicts.Tests;

public class RowsTests
{
    /// <summary>Batch [2, 3]: "a" and ("n", "b"), each counting from 0.</summary>
    private static TensorDict Small() => new TensorDict(2, 3)
    {
        ["a"] = Sample.Range(2, 3),
        ["n", "b"] = Sample.Range(2, 3),
    };

    private static void Gives(TensorDict result, params float[] values)
    {
        using (result)
        {
            Assert.Equal(values, Sample.Floats(result, "a"));
        }
    }

    [Fact]
    public void RowsAreRepeatedAndTurned()
    {
        using var td = Small();
        Gives(td.Repeat(1, 2), 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5);
        Gives(td.Tile(2), 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5);
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => td.Repeat(2));
        Gives(td.RepeatInterleave(2), 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5);
        using var counts = Tensor.FromArray(new long[] { 1, 0, 2 }, 3);
        Gives(td.RepeatInterleave(counts, 1), 0, 2, 2, 3, 5, 5);
        Gives(td.Roll(1, 1), 2, 0, 1, 5, 3, 4);
        Gives(td.Roll(1), 5, 0, 1, 2, 3, 4);
        Assert.Throws<ArgumentException>(() => td.Roll(new long[] { 1 }, new long[0]));
        Gives(td.Flip(0, 1), 5, 4, 3, 2, 1, 0);
        Gives(td.FlipUD(), 3, 4, 5, 0, 1, 2);
        Gives(td.FlipLR(), 2, 1, 0, 5, 4, 3);
        Gives(td.Rot90(), 2, 5, 1, 4, 0, 3);
        Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => td.Flip(2));
    }

    [Fact]
    public void RowsArePickedAndAdded()
    {
        using var td = Small();
        using var index = Tensor.FromArray(new long[] { 2, 0 }, 2, 1);
        Gives(td.Gather(1, index), 2, 3);
        Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => td.Gather(0, index));
        Gives(td.Pad(new long[] { 0, 0, 1, -1 }, 7), 7, 0, 1, 7, 3, 4);
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => td.Pad(new long[] { 1 }));
    }

    [Fact]
    public void SequencesArePadded()
    {
        using var one = new TensorDict(1) { ["a"] = Sample.Range(1) };
        using var two = new TensorDict(2) { ["a"] = Sample.Range(2) };
        Gives(TensorDict.PadSequence(new[] { one, two }), 0, 0, 0, 1);
        using var both = TensorDict.PadSequence(new[] { one, two }, value: -1, masks: "masks");
        Assert.Equal(new[] { 0f, -1f, 0f, 1f }, Sample.Floats(both, "a"));
        using var mask = both.GetTensor("masks", "a");
        Assert.Equal(new[] { true, false, true, true }, mask.ToArray<bool>());
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => TensorDict.PadSequence(new[] { one }, dim: 1));
    }

    [Fact]
    public void RowsAreGrouped()
    {
        using var td = new TensorDict(3) { ["k"] = Tensor.FromArray(new long[] { 7, 3, 7 }, 3), ["a"] = Sample.Range(3) };
        TensorDict[] groups = td.GroupBy("k", out TensorDict values);
        Assert.Equal(2, groups.Length);
        using (values)
        {
            Assert.Equal(new long[] { 3, 7 }, values.GetTensor("k").ToArray<long>());
        }
        Assert.Equal(new[] { 1f }, Sample.Floats(groups[0], "a"));
        Assert.Equal(new[] { 0f, 2f }, Sample.Floats(groups[1], "a"));
        Array.ForEach(groups, group => group.Dispose());
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => td.GroupBy("none", out _));
    }

    [Fact]
    public void DuplicatesAreFound()
    {
        using var td = new TensorDict(3) { ["k"] = Tensor.FromArray(new long[] { 7, 3, 7 }, 3), ["a"] = Sample.Range(3) };
        using var kept = td.RemoveDuplicates("k", out Tensor positions);
        using (positions)
        {
            Assert.Equal(new long[] { 1, 0 }, positions.ToArray<long>());
        }
        Assert.Equal(new[] { 1f, 0f }, Sample.Floats(kept, "a"));
        using var first = td.RemoveDuplicates("k").Narrow(0, 0, 1);
        using var mask = td.IsIn(first, "k");
        Assert.Equal(new[] { false, true, false }, mask.ToArray<bool>());
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => td.IsIn(first, "none"));
    }

    [Fact]
    public void MasksDecide()
    {
        using var td = Small();
        using var mask = Tensor.FromArray(new[] { false, true }, 2);
        using var nine = Tensor.Scalar(9f);
        using var zeros = td.ZerosLike();
        Gives(td.MaskedSelect(mask), 3, 4, 5);
        Gives(td.MaskedFill(mask, nine), 0, 1, 2, 9, 9, 9);
        Gives(td.Where(mask, zeros), 0, 0, 0, 3, 4, 5);
        Gives(td.Where(mask, nine), 9, 9, 9, 3, 4, 5);
        zeros.Remove("n");
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => td.Where(mask, zeros));
        using var padded = td.Where(mask, zeros, nine);
        Assert.Equal(new[] { 9f, 9, 9, 3, 4, 5 }, Sample.Floats(padded, "n", "b"));
        td.Lock();
        td.MaskedFillInPlace(mask, nine);
        Assert.Equal(new[] { 0f, 1, 2, 9, 9, 9 }, Sample.Floats(td, "a"));
        using var wide = mask.ExpandRight(2, 2);
        Assert.Equal(new[] { false, false, true, true }, wide.ToArray<bool>());
        using var same = mask.ExpandAsRight(wide);
        Expect.Shape(same.Shape, 2, 2);
    }

    [Fact]
    public void OtherValuesInTheSameStructure()
    {
        using var td = Small();
        Gives(td.ZerosLike(), 0, 0, 0, 0, 0, 0);
        Gives(td.OnesLike(), 1, 1, 1, 1, 1, 1);
        using var half = td.Like(Filling.Value, new FillOptions { Value = 0.5, DType = DType.Float64 });
        Assert.Equal(Enumerable.Repeat(0.5, 6), half.GetTensor("a").ToArray<double>());
        using var meta = td.Like(Filling.Randn, new FillOptions { Device = Device.Meta });
        Assert.Equal(Device.Meta, meta.Device);
        using var other = td.New(Filling.Ones, new long[] { 1 });
        Expect.Shape(other.GetTensor("n", "b").Shape, 1);
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => td.New(Filling.Empty, new long[] { -1 }));
    }

    [Fact]
    public void DifferencesAreTold()
    {
        using var td = Small();
        using var other = td.Clone();
        Assert.True(td.AllClose(other));
        using var half = Tensor.Scalar(0.5f);
        other.SetInPlace("a", half);
        Assert.StartsWith("\"a\" differs: root mean square difference", td.Difference(other));
        Assert.Null(td.Difference(other, new CloseOptions { Absolute = 5 }));
        other.Remove("a");
        Assert.Equal("\"a\" is in one of the dictionaries only", td.Difference(other));
        Assert.True(td.AllClose(other, new CloseOptions { CommonKeys = true, NanDiffers = true }));
        Expect.Fails<TensorDictException>(
            TensorDictStatus.InvalidArgument, () => td.Difference(other, new CloseOptions { Relative = -1 }));
    }

    [Fact]
    public void JoinsHaveMoreForms()
    {
        using var td = Small();
        using var both = td.New(Filling.Zeros, new long[] { 2, 2, 3 });
        both.StackFrom(new[] { td, td }, strict: true);
        using var stacked = TensorDict.Stack(new[] { td, td });
        Assert.True(both.EqualTo(stacked));
        using var rows = td.New(Filling.Zeros, new long[] { 4, 3 });
        rows.CatFrom(new[] { td, td });
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => rows.StackFrom(new[] { td, td }));
        using var flat = td.CatLeaves();
        Expect.Shape(flat.Shape, 4, 3);
        using var deep = td.StackLeaves(-1, sorted: true);
        Expect.Shape(deep.Shape, 2, 3, 2);
        td.StackTensors(new NestedKey[] { "a", new[] { "n", "b" } }, "ab", 2);
        Expect.Shape(td.GetTensor("ab").Shape, 2, 3, 2);
        Assert.False(td.ContainsKey("a"));
        td.CatTensors(new NestedKey[] { "ab", "ab" }, "c", -1, keep: true);
        Expect.Shape(td.GetTensor("c").Shape, 2, 3, 4);
        using var mixed = TensorDict.MaybeDenseStack(new[] { td, rows.Narrow(0, 0, 2) });
        Expect.Shape(mixed.BatchSize, 2, 2, 3);
    }
}
