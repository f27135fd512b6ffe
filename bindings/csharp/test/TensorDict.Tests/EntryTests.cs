using System;
using System.Linq;
using Xunit;

namespace TensorDicts.Tests;

public class EntryTests
{
    [Fact]
    public void EntriesAreFoundByNameAndByPath()
    {
        using var td = Sample.Nested();
        Assert.IsType<Tensor>(td["a"]);
        Assert.IsType<TensorDict>(td["n"]);
        Assert.Equal(60, ((Tensor)td["n", "b"]).ElementCount);
        NestedKey key = ("n", "b");
        Assert.Equal(60, td.GetTensor(key).ElementCount);
        Assert.Equal(60, ((Tensor)td[key]).ElementCount);
        Expect.Shape(td.GetDict("n").BatchSize, 4, 3);
    }

    [Fact]
    public void TheVeryTensorIsStored()
    {
        using var td = new TensorDict(2);
        using var t = Tensor.FromArray(new[] { 1f, 2f });
        td["x"] = t;
        t.CopyFrom(new[] { 3f, 4f });
        Assert.Equal(new[] { 3f, 4f }, Sample.Floats(td, "x"));
        using var nested = new TensorDict(2);
        td["n"] = nested;
        nested["late"] = t;
        Assert.True(td.ContainsKey("n", "late"));
    }

    [Fact]
    public void NamesAreAnyText()
    {
        using var td = new TensorDict(1);
        string[] names = ["", "a.b", "a/b", "ключ", "鍵🔑", new string('ü', 500)];
        foreach (string name in names)
        {
            td["Größe", name] = Tensor.FromArray(new[] { (float)name.Length });
            Assert.Equal(new[] { (float)name.Length }, Sample.Floats(td, "Größe", name));
        }
        Assert.Equal(names, td.GetDict("Größe").Keys().Select(k => k[0]));
        Assert.Contains("鍵🔑", td.ToString());
    }

    [Fact]
    public void NamesThatAreNoTextAreRefusedBeforeTheCall()
    {
        using var td = new TensorDict(1) { ["a"] = Tensor.Zeros<float>(1) };
        Assert.Throws<ArgumentException>(() => td.ContainsKey("a\0b"));
        Assert.ThrowsAny<ArgumentException>(() => td.ContainsKey("\uD800"));
        Assert.Throws<ArgumentNullException>(() => td.ContainsKey("a", null!));
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyInvalid, () => td.GetTensor(Array.Empty<string>()));
    }

    [Fact]
    public void MissingAndWrongEntriesAreToldApart()
    {
        using var td = Sample.Nested();
        var failure = Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => td.GetTensor("missing"));
        Assert.Contains("missing", failure.Message);
        Assert.Equal("td_get", failure.Function);
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => _ = td["n", "missing"]);
        Expect.Fails<TensorKeyException>(TensorDictStatus.WrongEntry, () => td.GetTensor("n"));
        Expect.Fails<TensorKeyException>(TensorDictStatus.WrongEntry, () => td.GetDict("a"));
        Expect.Fails<TensorKeyException>(TensorDictStatus.WrongEntry, () => td.GetJson("a"));
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyExists, () => td["a", "below"] = Tensor.Zeros<float>(4, 3));
        Expect.Fails<TensorKeyException>(TensorDictStatus.Cycle, () => td["n", "self"] = td);
    }

    [Fact]
    public void TryGetValueAndContainsKeyDoNotThrow()
    {
        using var td = Sample.Nested();
        Assert.False(td.TryGetValue("missing", out Entry? none));
        Assert.Null(none);
        Assert.True(td.TryGetValue(("n", "b"), out Entry? found));
        Assert.Equal(DType.Float32, Assert.IsType<Tensor>(found).DType);
        Assert.True(td.ContainsKey("n"));
        Assert.False(td.ContainsKey("a", "b"));
    }

    [Fact]
    public void RemoveSaysWhetherThereWasSomething()
    {
        using var td = Sample.Nested();
        Assert.True(td.Remove("n", "b"));
        Assert.False(td.Remove("n", "b"));
        Assert.True(td.ContainsKey("n"));
        Assert.True(td.Remove("a"));
        Assert.True(td.IsEmpty);
    }

    [Fact]
    public void SetInPlaceKeepsMemoryAndDType()
    {
        using var td = Sample.Nested();
        using var a = td.GetTensor("a");
        td.Lock();
        td.SetInPlace("a", Tensor.Scalar(3L));
        Assert.Equal(3f, a.ToArray<float>()[23]);
        Assert.Equal(DType.Float32, td.GetTensor("a").DType);
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => td.SetInPlace("zz", Tensor.Scalar(3L)));
    }

    [Fact]
    public void KeysAreASnapshotInOrder()
    {
        using var td = Sample.Nested();
        td["0"] = Tensor.Zeros<bool>(4, 3);
        Assert.Equal(new NestedKey[] { "a", "n", "0" }, td.Keys());
        Assert.Equal(new NestedKey[] { "a", "n", ("n", "b"), "0" }, td.Keys(includeNested: true));
        Assert.Equal(new NestedKey[] { "a", ("n", "b"), "0" }, td.Keys(includeNested: true, leavesOnly: true));
        Assert.Equal(new NestedKey[] { "0", "a", "n" }, td.Keys(sort: true));
        foreach (var key in td.Keys())
        {
            Assert.True(td.Remove(key));
        }
        Assert.Empty(td.Keys());
    }

    [Fact]
    public void ItemsAndLeavesWalk()
    {
        using var td = Sample.Nested();
        Assert.Equal(new[] { "a:Tensor", "n:TensorDict" }, td.Items().Select(i => $"{i.Key}:{i.Value.GetType().Name}"));
        Assert.Equal(3, td.Items(includeNested: true).Count());
        Assert.Equal(new[] { "a [4, 3, 2]", "(\"n\", \"b\") [4, 3, 5]" }, td.Leaves().Select(l => $"{l.Key} {l.Value.Shape}"));
    }

    [Fact]
    public void KeysCompareByTheirNames()
    {
        NestedKey a = ("x", "y", "z");
        Assert.Equal(a, new NestedKey("x", "y", "z"));
        Assert.Equal(a.GetHashCode(), new NestedKey("x", "y", "z").GetHashCode());
        Assert.True(a != "x");
        Assert.Equal(3, a.Count);
        Assert.Equal("y", a[1]);
        Assert.Empty(default(NestedKey));
    }

    [Fact]
    public void DataCannotBeWritten()
    {
        using var td = new TensorDict();
        Assert.Throws<ArgumentNullException>(() => td["x"] = null!);
        Assert.Throws<ArgumentNullException>(() => td.Set("x", (Tensor)null!));
    }
}
