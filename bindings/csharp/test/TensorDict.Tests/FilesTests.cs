using System;
using System.IO;
using Xunit;

namespace TensorDicts.Tests;

public class FilesTests
{
    private static TensorDict Sample() => new TensorDict(2)
    {
        ["x"] = Tensor.FromArray(new[] { 1L, -2L }),
        ["n", "y"] = Tensor.FromArray(new[] { 0.5, 1.0 }),
    };

    private static TempFolder Folder()
    {
        var folder = new TempFolder();
        Directory.CreateDirectory(folder[""]);
        return folder;
    }

    [Theory]
    [InlineData("f.safetensors")]
    [InlineData("f.npy")]
    [InlineData("f.npz")]
    [InlineData("f.pt")]
    public void WhatIsWrittenIsReadAgain(string name)
    {
        using var folder = Folder();
        using var td = Sample();
        td.SaveFile(folder[name], new TensorFileOptions { Deflate = true, Durable = true });
        using var again = TensorDict.LoadFile(folder[name], new TensorFileOptions { BatchDims = 1 });
        Assert.True(again.EqualTo(td));
        Expect.Fails<TensorUnsupportedException>(TensorDictStatus.Unsupported, () => td.SaveFile(folder["f.tdz"]));
        Expect.Fails<TensorIOException>(TensorDictStatus.IO, () => TensorDict.LoadFile(folder["none"]));
    }

    [Fact]
    public void MetadataAndNames()
    {
        using var folder = Folder();
        using var td = Sample();
        td.SetJson("note", "\"hello\"");
        var options = new TensorFileOptions
        {
            Format = TensorFileFormat.Safetensors,
            Separator = "/",
            Metadata = "{\"format\":\"pt\"}",
        };
        td.SaveFile(folder["f"], options);
        Assert.StartsWith("{\"format\":\"pt\",", TensorDict.FileMetadata(folder["f"]));
        using var again = TensorDict.LoadFile(folder["f"], options);
        Assert.True(again.EqualTo(td));
        Expect.Fails<TensorIOException>(
            TensorDictStatus.Format, () => TensorDict.LoadFile(folder["f"], options with { MaxEntries = 1, MaxDepth = 9 }));
    }

    [Fact]
    public void OneTensor()
    {
        using var folder = Folder();
        using (var tensor = Tensor.FromArray(new[] { 1.5, 2.5 }))
        {
            tensor.SaveFile(folder["f.npy"]);
        }
        using (var through = Tensor.LoadFile(folder["f.npy"], new TensorFileOptions { WriteThrough = true }))
        using (var values = Tensor.FromArray(new[] { 3.0, 4.0 }))
        {
            through.CopyFrom(values);
        }
        using var again = Tensor.LoadFile(folder["f.npy"]);
        Assert.Equal(new[] { 3.0, 4.0 }, again.ToArray<double>());
    }

    [Fact]
    public void RawRecords()
    {
        using var folder = Folder();
        using (var file = new BinaryWriter(File.Create(folder["log.bin"])))
        {
            file.Write(7);
            foreach (int i in new[] { 1, 2 })
            {
                file.Write(i);
                file.Write(i + 0.5f);
            }
        }
        var options = new TensorFileOptions
        {
            Records = new StructMembers(8).Add("x", DType.Int32, 0).Add(new NestedKey("n", "y"), DType.Float32, 4),
            HeaderBytes = 4,
        };
        using var td = TensorDict.LoadFile(folder["log.bin"], options);
        Assert.Equal(new[] { 1, 2 }, td.GetTensor("x").ToArray<int>());
        Assert.Equal(new[] { 1.5f, 2.5f }, td.GetTensor("n", "y").ToArray<float>());
        td.SaveFile(folder["again.bin"], options);
        Assert.Equal(16 + 4, new FileInfo(folder["again.bin"]).Length);
    }
}
