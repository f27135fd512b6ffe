using System;
using System.IO;
using System.Linq;
using Xunit;

namespace TensorDicts.Tests;

public class VerifyTests
{
    private static TensorDict Recorded() => new TensorDict(2)
    {
        ["x"] = Tensor.FromArray(new[] { 1f, 2f }),
        ["n", "y"] = Tensor.FromArray(new[] { 3L, 4L }),
    };

    [Fact]
    public void DamagedFilesAreNamed()
    {
        using var folder = new TempFolder();
        string dir = folder["m"];
        using var td = Recorded();
        td.Memmap(dir, new MemmapOptions { Checksums = true, Durable = true, Threads = 2 }).Dispose();
        Assert.True(File.Exists(Path.Combine(dir, "checksums")));
        (long Done, long Total) told = (0, 0);
        var options = new VerifyOptions { Threads = 2, Progress = (done, total) => told = (done, total) };
        Assert.Empty(TensorDict.VerifyMemmap(dir, options));
        Assert.Equal(told.Total, told.Done);
        Assert.True(told.Total > 24);

        File.WriteAllBytes(Path.Combine(dir, "n", "y.memmap"), new byte[16]);
        File.WriteAllBytes(Path.Combine(dir, "x.memmap"), new byte[7]);
        var found = TensorDict.VerifyMemmap(dir);
        Assert.Equal(new[] { "n/y.memmap", "x.memmap" }, found.Select(one => one.Path));
        Assert.Equal(new[] { DamageKind.Changed, DamageKind.Short }, found.Select(one => one.Kind));
        Assert.Equal((8, 7), (found[1].Expected, found[1].Found));
        Assert.Contains("too short", found[1].Message);
        Expect.Fails<TensorIOException>(TensorDictStatus.Format, () => TensorDict.ChecksumMemmap(dir));
        File.WriteAllBytes(Path.Combine(dir, "x.memmap"), new byte[8]);
        TensorDict.ChecksumMemmap(dir, new VerifyOptions { Threads = 2 });
        Assert.Empty(TensorDict.VerifyMemmap(dir));
    }

    [Fact]
    public void AVerificationThatIsEnded()
    {
        using var folder = new TempFolder();
        using var td = Recorded();
        td.Memmap(folder["m"]).Dispose();
        var stop = new VerifyOptions { Progress = (_, _) => throw new InvalidOperationException("enough") };
        Assert.Throws<InvalidOperationException>(() => TensorDict.ChecksumMemmap(folder["m"], stop));
        Assert.False(File.Exists(Path.Combine(folder["m"], "checksums")));
        Expect.Fails<TensorIOException>(TensorDictStatus.IO, () => TensorDict.VerifyMemmap(folder["none"]));
    }
}
