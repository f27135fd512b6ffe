using System;
using System.Collections.Generic;
using Xunit;

namespace TensorDicts.Tests;

public class ApplyTests
{
    private sealed class OwnException : Exception
    {
        public OwnException(string message)
            : base(message)
        {
        }
    }

    private static Tensor Doubled(Tensor t)
    {
        float[] values = t.ToArray<float>();
        for (int i = 0; i < values.Length; i++)
        {
            values[i] *= 2;
        }
        return Tensor.FromArray(values, t.Shape.ToArray());
    }

    [Fact]
    public void MakesADictionaryOfTheResults()
    {
        using var td = Sample.Nested();
        using var doubled = td.Apply(Doubled);
        Expect.Shape(doubled.BatchSize, 4, 3);
        Assert.Equal(46f, Sample.Floats(doubled, "a")[23]);
        Assert.Equal(118f, Sample.Floats(doubled, "n", "b")[59]);
        Assert.Equal(23f, Sample.Floats(td, "a")[23]);
    }

    [Fact]
    public void GivesTheFullKeysInOrderAndDropsWhatIsNull()
    {
        using var td = Sample.Nested();
        var seen = new List<NestedKey>();
        using var kept = td.Apply((key, t) =>
        {
            seen.Add(key);
            return key == "a" ? t : null;
        });
        Assert.Equal(new NestedKey[] { "a", ("n", "b") }, seen);
        Assert.Equal(new NestedKey[] { "a" }, kept.Keys(includeNested: true));
        using var empties = td.Apply((key, t) => key == "a" ? t : null, new ApplyOptions { FilterEmpty = FilterEmpty.No });
        Assert.Equal(new NestedKey[] { "a", "n" }, empties.Keys(includeNested: true));
    }

    [Fact]
    public void InPlaceWritesIntoTheTensorsThatAreThere()
    {
        using var td = Sample.Nested();
        using var a = td.GetTensor("a");
        using var same = td.Apply(Doubled, new ApplyOptions { InPlace = true });
        Assert.Equal(46f, a.ToArray<float>()[23]);
        Assert.True(same.EqualTo(td));
    }

    [Fact]
    public void TheLockIsHandedOnWhenAskedFor()
    {
        using var td = Sample.Nested();
        td.Lock();
        using var free = td.Apply(t => t);
        Assert.False(free.IsLocked);
        using var locked = td.Apply(t => t, new ApplyOptions { PropagateLock = true });
        Assert.True(locked.IsLocked);
    }

    [Fact]
    public void WhatTheFunctionThrowsComesBackAsItIs()
    {
        using var td = Sample.Nested();
        var thrown = new OwnException("größer als erlaubt");
        int calls = 0;
        OwnException caught = Assert.Throws<OwnException>(() => td.Apply(_ =>
        {
            calls++;
            throw thrown;
        }));
        Assert.Same(thrown, caught);
        Assert.Contains(nameof(WhatTheFunctionThrowsComesBackAsItIs), caught.StackTrace);
        Assert.Equal(1, calls);
        using var after = td.Apply(t => t);
        Assert.True(after.EqualTo(td));
    }

    [Fact]
    public void AWalkInsideAWalkThrowsThroughBoth()
    {
        using var td = Sample.Nested();
        using var inner = Sample.Nested();
        Assert.Throws<OwnException>(() => td.Apply(_ =>
        {
            inner.Apply((key, t) => key == "a" ? t : throw new OwnException("inner"));
            return null;
        }));
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => td.Apply(_ => inner.GetTensor("missing")));
    }

    [Fact]
    public void AResultThatDoesNotFitIsRefused()
    {
        using var td = Sample.Nested();
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => td.Apply(_ => Tensor.Zeros<float>(7)));
        Assert.Throws<ObjectDisposedException>(() => td.Apply(t =>
        {
            t.Dispose();
            return t;
        }));
    }

    [Fact]
    public void TheTensorsMayBeKept()
    {
        using var td = Sample.Nested();
        var kept = new List<Tensor>();
        td.Apply(t =>
        {
            kept.Add(t);
            return null;
        }).Dispose();
        td.Dispose();
        Assert.Equal(59f, kept[1].ToArray<float>()[59]);
    }

    [Fact]
    public void NothingLeftIsNullOrEmpty()
    {
        using var td = Sample.Nested();
        Assert.Null(td.ApplyOrNull((_, _) => null));
        using var empty = td.Apply(_ => null);
        Expect.Shape(empty.BatchSize, 4, 3);
        Assert.True(empty.IsEmpty);
        using var kept = td.ApplyOrNull((_, _) => null, new ApplyOptions { FilterEmpty = FilterEmpty.No });
        Assert.True(kept!.ContainsKey("n"));
    }

    [Fact]
    public void OtherDictionariesStandBeside()
    {
        using var td = Sample.Nested();
        using var other = Sample.Nested();
        var counts = new List<int>();
        using var second = td.ApplyEntries(new[] { other, td }, (_, entries) =>
        {
            counts.Add(entries.Length);
            return Doubled((Tensor)entries[1]!);
        });
        Assert.Equal(new[] { 3, 3 }, counts);
        Assert.Equal(118f, Sample.Floats(second!, "n", "b")[59]);

        other.Remove("n");
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => td.ApplyEntries(new[] { other }, (_, entries) => entries[0]));
        int missing = 0;
        var options = new ApplyOptions { AllowMissing = true, CallOnNested = true };
        using var filled = td.ApplyEntries(new[] { other }, (key, entries) =>
        {
            missing += entries[1] == null ? 1 : 0;
            return key == "n" ? Tensor.Zeros<float>(4, 3) : new TensorDict(4, 3);
        }, options);
        Assert.Equal(1, missing);
        Assert.IsType<TensorDict>(filled!["a"]);
        Assert.IsType<Tensor>(filled!["n"]);
        using var five = Tensor.Zeros<float>(4, 3, 5);
        using var defaulted = td.ApplyEntries(
            new[] { other }, (_, entries) => entries[1], new ApplyOptions { AllowMissing = true, DefaultValue = five });
        Assert.Equal(0f, Sample.Floats(defaulted!, "n", "b")[59]);
        Assert.Throws<OwnException>(() => td.ApplyEntries(new[] { other }, (_, _) => throw new OwnException("stop")));
    }

    [Fact]
    public void TheResultLooksAsTheOptionsSay()
    {
        using var td = Sample.Nested();
        using var flat = td.Apply(t => t, new ApplyOptions { BatchSize = new long[] { 4 } });
        Expect.Shape(flat.BatchSize, 4);
        using var meta = td.Apply(t => t, new ApplyOptions { Device = new Device(DeviceType.Meta), Names = new[] { "time", null } });
        Assert.Equal(DeviceType.Meta, meta.Device!.Value.Type);
        Expect.Fails<TensorDictException>(TensorDictStatus.InvalidArgument, () => td.Apply(t => t, new ApplyOptions { Names = new[] { "time" } }));
        using var target = new TensorDict(4, 3);
        using var same = td.Apply(t => t, new ApplyOptions { Out = target });
        Assert.Equal(new NestedKey[] { "a", "n" }, target.Keys());
    }
}
