using System.IO;
using Xunit;

namespace TensorDicts.Tests;

public class ArchiveTests
{
    private static TensorDict Stored() => new TensorDict(2)
    {
        ["x"] = Tensor.FromArray(new[] { 1f, 2f }),
        ["n", "y"] = Tensor.FromArray(new[] { 3L, 4L }),
    };

    private static void CheckFirst(float want, TensorDict td)
    {
        Assert.Equal(want, Sample.Floats(td, "x")[0]);
        td.Dispose();
    }

    [Fact]
    public void OneFileInPlaceOfAFolder()
    {
        using var folder = new TempFolder();
        using var td = Stored();
        using (var archive = td.Memmap(folder["td.tdz"]))
        {
            Assert.True(archive.EqualTo(td));
            Assert.False(archive.IsLocked);
        }
        Assert.True(TensorDict.IsMemmapArchive(folder["td.tdz"]));
        var options = new MemmapOptions { Archive = true, Compression = Compression.Deflate, Threads = 2 };
        td.Memmap(folder["packed"], options).Dispose();
        using var loaded = TensorDict.Load(folder["packed"]);
        Assert.True(loaded.EqualTo(td));
        td.Memmap(folder["folder.tdz"], new MemmapOptions { Archive = false }).Dispose();
        Assert.True(Directory.Exists(folder["folder.tdz"]));
        Assert.False(TensorDict.IsMemmapArchive(folder["folder.tdz"]));
    }

    [Fact]
    public void FoldersArePackedAndUnpacked()
    {
        using var folder = new TempFolder();
        using var td = Stored();
        td.Memmap(folder["td"]).Dispose();
        var options = new PackOptions { Compression = Compression.Deflate, Durable = true };
        TensorDict.PackMemmap(folder["td"], folder["a"], options);
        Expect.Fails<TensorIOException>(
            TensorDictStatus.IO,
            () => TensorDict.PackMemmap(folder["td"], folder["a"], new PackOptions { FailIfExists = true }));
        TensorDict.UnpackMemmap(folder["a"], folder["back"]);
        using var back = TensorDict.Load(folder["back"]);
        Assert.True(back.EqualTo(td));
        File.WriteAllText(folder["text"], "no archive");
        Assert.False(TensorDict.IsMemmapArchive(folder["text"]));
        Expect.Fails<TensorIOException>(
            TensorDictStatus.Format, () => TensorDict.UnpackMemmap(folder["text"], folder["x"]));
    }

    [Fact]
    public void AnArchiveIsWrittenTo()
    {
        using var folder = new TempFolder();
        using (var td = Stored())
        {
            td.Memmap(folder["td.tdz"]).Dispose();
            td.ConsolidateTo(folder["c"], new ConsolidateOptions { Durable = true }).Dispose();
            using var copied = td.Consolidate(new ConsolidateOptions { Threads = 2 });
            Assert.True(copied.EqualTo(td));
        }
        var through = new LoadOptions { WriteThrough = true };
        using (var td = TensorDict.Load(folder["td.tdz"], through))
        {
            td.SetInPlace("x", Tensor.Scalar(7f));
            td.Flush();
        }
        CheckFirst(7, TensorDict.Load(folder["td.tdz"]));
        Expect.Fails<TensorIOException>(
            TensorDictStatus.Format, () => TensorDict.UnpackMemmap(folder["td.tdz"], folder["back"]));
        TensorDict.RefreshArchiveChecksums(folder["td.tdz"]);
        TensorDict.UnpackMemmap(folder["td.tdz"], folder["back"]);
        CheckFirst(7, TensorDict.Load(folder["back"]));
        using (var td = TensorDict.LoadConsolidated(folder["c"], through))
        {
            td.SetInPlace("x", Tensor.Scalar(8f));
        }
        CheckFirst(8, TensorDict.LoadConsolidated(folder["c"]));
    }
}
