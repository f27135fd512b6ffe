using System;
using System.IO;
using System.Linq;
using Xunit;

namespace TensorDicts.Tests;

public class MemmapTests
{
    [Fact]
    public void AFolderComesBackAsItWas()
    {
        using var folder = new TempFolder();
        using var td = Sample.Nested();
        td["größe"] = Tensor.Zeros<long>(4, 3);
        using (var saved = td.Memmap(folder["roll"], new MemmapOptions { Threads = 2 }))
        {
            Assert.True(saved.IsLocked);
            Assert.True(saved.IsMemmap);
            Assert.False(td.IsMemmap);
            Assert.Null(td.SavedPath);
            Assert.Equal(folder["roll"], saved.SavedPath);
        }
        Assert.True(File.Exists(Path.Combine(folder["roll"], "meta.json")));
        Assert.False(td.GetTensor("a").IsMemmap);
        using var loaded = TensorDict.Load(folder["roll"]);
        Assert.True(loaded.EqualTo(td));
        Assert.False(loaded.IsLocked);
        Assert.Equal(folder["roll"], loaded.SavedPath);
        using Tensor mapped = loaded.GetTensor("n", "b");
        using Tensor row = mapped[1];
        using Tensor copy = mapped.Clone();
        Assert.True(mapped.IsMemmap && row.IsMemmap);
        Assert.False(copy.IsMemmap);
    }

    [Fact]
    public void WritesReachTheFilesUnlessTheMappingIsPrivate()
    {
        using var folder = new TempFolder();
        using var td = Sample.Nested();
        td.Memmap(folder["roll"]).Dispose();
        using (var mapped = TensorDict.Load(folder["roll"]))
        using (var view = mapped.GetTensor("a").View<float>())
        {
            view[0] = 42f;
            mapped.Flush();
        }
        using (var apart = TensorDict.Load(folder["roll"], new LoadOptions { PrivateMapping = true }))
        {
            apart.SetInPlace("a", Tensor.Scalar(-1f));
        }
        using var again = TensorDict.Load(folder["roll"]);
        Assert.Equal(42f, Sample.Floats(again, "a")[0]);
        Assert.Equal(1f, Sample.Floats(again, "a")[1]);
    }

    [Fact]
    public void MemmapInPlaceMapsTheDictionaryItself()
    {
        using var folder = new TempFolder();
        using var td = Sample.Nested();
        td.MemmapInPlace(folder["self"]);
        Assert.True(td.IsMemmap);
        Assert.True(td.IsLocked);
        Assert.Equal(folder["self"], td.SavedPath);
        Assert.Equal(23f, Sample.Floats(td, "a")[23]);
    }

    [Fact]
    public void MemmapLikeMakesRoomForAWriter()
    {
        using var folder = new TempFolder();
        using var row = new TensorDict { ["x"] = Tensor.Zeros<float>(3) };
        using var many = row.Expand(100);
        using (var disk = many.MemmapLike(folder["grown"]))
        using (var writer = new TensorDictWriter(disk))
        {
            Assert.Equal(100 * 3 * 4, disk.ByteCount);
            WriterField x = writer.Bind("x");
            writer.Put(x, new[] { 1f, 2f, 3f });
            writer.Next();
            writer.Close();
        }
        using var loaded = TensorDict.Load(folder["grown"]);
        Expect.Shape(loaded.BatchSize, 100);
        Assert.Equal(new[] { 1f, 2f, 3f, 0f }, Sample.Floats(loaded, "x")[..4]);
    }

    [Fact]
    public void WithoutAFolderTheMemoryHasNoName()
    {
        using var td = Sample.Nested();
        using var mapped = td.Memmap();
        Assert.True(mapped.IsMemmap);
        Assert.Null(mapped.SavedPath);
        Assert.True(mapped.EqualTo(td));
    }

    [Fact]
    public void OptionsSayWhatHappensToFilesThatAreThere()
    {
        using var folder = new TempFolder();
        using var td = Sample.Nested();
        td.Memmap(folder["roll"]).Dispose();
        Expect.Fails<TensorIOException>(
            TensorDictStatus.IO, () => td.Memmap(folder["roll"], new MemmapOptions { FailIfExists = true }));
        using var mapped = TensorDict.Load(folder["roll"]);
        using var copied = mapped.Memmap(folder["copy"], new MemmapOptions { CopyExisting = true });
        Assert.True(copied.EqualTo(td));
        using var names = new TensorDict(1) { ["ä.b"] = Tensor.FromArray(new[] { 5f }) };
        names.Memmap(folder["names"], new MemmapOptions { VerbatimNames = true }).Dispose();
        Assert.True(File.Exists(Path.Combine(folder["names"], "ä.b.memmap")));
        using var back = TensorDict.Load(folder["names"], new LoadOptions { VerbatimNames = true, Threads = 2 });
        Assert.True(back.EqualTo(names));
    }

    [Fact]
    public void LoadingHasLimitsAndADevice()
    {
        using var folder = new TempFolder();
        using var td = Sample.Nested();
        td.Memmap(folder["roll"]).Dispose();
        using var meta = TensorDict.Load(folder["roll"], new LoadOptions { Device = Device.Meta });
        Assert.Equal(Device.Meta, meta.GetTensor("a").Device);
        Expect.Fails<TensorIOException>(
            TensorDictStatus.Format, () => TensorDict.Load(folder["roll"], new LoadOptions { MaxEntries = 1 }));
        using var one = TensorDict.Load(folder["roll"], new LoadOptions { MaxDepth = 1 });
        Assert.True(one.EqualTo(td));
        td["n", "deeper", "c"] = Tensor.Zeros<float>(4, 3);
        td.Memmap(folder["deep"]).Dispose();
        Expect.Fails<TensorIOException>(
            TensorDictStatus.Format, () => TensorDict.Load(folder["deep"], new LoadOptions { MaxDepth = 1 }));
    }

    [Fact]
    public void FoldersThatCannotBeReadAreNamed()
    {
        using var folder = new TempFolder();
        var failure = Expect.Fails<TensorIOException>(TensorDictStatus.IO, () => TensorDict.Load(folder["nowhere"]));
        Assert.Contains("nowhere", failure.Message);
        Assert.Contains("北京", failure.Message);
        Directory.CreateDirectory(folder["broken"]);
        File.WriteAllText(Path.Combine(folder["broken"], "meta.json"), "{ not json");
        Expect.Fails<TensorIOException>(TensorDictStatus.Format, () => TensorDict.Load(folder["broken"]));
        Assert.Throws<ArgumentException>(() => TensorDict.Load("a\0b"));
        Assert.Throws<ArgumentNullException>(() => TensorDict.Load(null!));
    }

    [Fact]
    public void ValuesThatAreNoTensorAreReadAsJson()
    {
        using var folder = new TempFolder();
        using (var td = new TensorDict(2) { ["x"] = Tensor.FromArray(new[] { 1f, 2f }) })
        {
            td.Memmap(folder["roll"]).Dispose();
        }
        Golden.AddText(folder["roll"], "source", "Straße \"1\"");
        using var loaded = TensorDict.Load(folder["roll"]);
        Assert.Equal("\"Straße \\\"1\\\"\"", loaded.GetJson("source"));
        var data = Assert.IsType<NonTensor>(loaded["source"]);
        Assert.Equal("Straße \"1\"", System.Text.Json.JsonSerializer.Deserialize<string>(data.Json));
        Assert.Equal(data.Json, data.ToString());
        Assert.Throws<ArgumentException>(() => loaded["copy"] = data);
        Expect.Fails<TensorKeyException>(TensorDictStatus.WrongEntry, () => loaded.GetTensor("source"));
        Assert.Equal(new NestedKey[] { "x" }, loaded.Keys(includeNested: true, leavesOnly: true));
    }

    [Fact]
    public void FoldersFromPythonAreRead()
    {
        var apart = new LoadOptions { PrivateMapping = true };
        using var digits = TensorDict.Load(Golden.Folder("digits"), apart);
        Expect.Shape(digits.BatchSize, 1797);
        Assert.Equal("\"UCI optical digits\"", digits.GetJson("source"));
        using var images = digits.GetTensor("image");
        Expect.Shape(images.Shape, 1797, 8, 8);
        Assert.Equal(16, images.ToArray<byte>().Max());
        Assert.Equal(8070, digits.GetTensor("label").ToArray<long>().Sum());

        using var values = TensorDict.Load(Golden.Folder("nontensor"), apart);
        Assert.Equal(
            new[] { "\"hello wörld\"", "-7", "2.5", "true", "null", "[1,\"two\",3.0]", "{\"k\":{\"z\":[1,2]}}" },
            values.Items().Select(item => item.Value).OfType<NonTensor>().Select(data => data.Json));
    }
}
