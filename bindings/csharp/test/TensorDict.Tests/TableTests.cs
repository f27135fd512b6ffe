using System.IO;
using Xunit;

namespace TensorDicts.Tests;

public class TableTests
{
    [Theory]
    [InlineData(TableFormat.Csv)]
    [InlineData(TableFormat.Json)]
    public void WhatIsWrittenIsReadAgain(TableFormat format)
    {
        using var folder = new TempFolder();
        Directory.CreateDirectory(folder[""]);
        using var td = new TensorDict(2)
        {
            ["x"] = Tensor.FromArray(new[] { 1L, -2L }),
            ["n", "y"] = Tensor.FromArray(new[] { 0.1, 1.0 }),
        };
        td.SaveTable(folder["t"], format, ".");
        using var again = TensorDict.LoadTable(folder["t"], format, ".");
        Assert.True(again.EqualTo(td));
        Expect.Fails<TensorDictException>(
            TensorDictStatus.InvalidArgument, () => td.SaveTable(folder["t"], format));
    }

    [Fact]
    public void TextsAreValues()
    {
        using var folder = new TempFolder();
        Directory.CreateDirectory(folder[""]);
        File.WriteAllText(folder["t.csv"], "i,s\n1,one\n2,\"2\"\n");
        using var td = TensorDict.LoadTable(folder["t.csv"]);
        Assert.Equal(new[] { 1L, 2L }, td.GetTensor("i").ToArray<long>());
        Assert.Equal("[\"one\", \"2\"]", td.GetJson("s"));
        File.WriteAllText(folder["t.csv"], "i,s\n1\n");
        var failure = Expect.Fails<TensorIOException>(
            TensorDictStatus.Format, () => TensorDict.LoadTable(folder["t.csv"]));
        Assert.Contains("line 2", failure.Message);
    }

    [Fact]
    public void ARecordingIsFlattened()
    {
        using var folder = new TempFolder();
        Directory.CreateDirectory(folder[""]);
        using var td = new TensorDict(2, 2)
        {
            ["a"] = Tensor.FromArray(new long[] { 0, 1, 2, 3, 4, 5, 6, 7 }, 2, 2, 2),
        };
        td.SaveTable(folder["t.csv"], flatten: true);
        Assert.StartsWith("episode,step,a[0],a[1]\n0,0,0,1\n0,1,2,3\n", File.ReadAllText(folder["t.csv"]));
        using var again = TensorDict.LoadTable(folder["t.csv"], flatten: true);
        Assert.True(again.EqualTo(td));
        Expect.Fails<TensorShapeException>(TensorDictStatus.Shape, () => td.SaveTable(folder["t.csv"]));
    }
}
