using System;
using System.IO;
using System.Threading;
using System.Threading.Tasks;
using Xunit;

namespace TensorDicts.Tests;

public class ReloadTests
{
    private static TensorDict Pair(params long[] values) => new TensorDict(values.Length)
    {
        ["x"] = Tensor.FromArray(values),
        ["n", "y"] = Tensor.FromArray(values),
    };

    private static long[] Values(TensorDict td, params string[] key) => td.GetTensor(key).ToArray<long>();

    [Fact]
    public void APartOfAFolder()
    {
        using var scratch = new TempFolder();
        using var td = new TensorDict(2) { ["a", "b/c", "x"] = Tensor.FromArray(new long[] { 1, 2 }) };
        using var saved = td.Memmap(scratch["td"]);
        using var part = TensorDict.LoadPart(scratch["td"], ("a", "b/c"));
        Assert.Equal(new long[] { 1, 2 }, Values(part, "x"));
        Assert.ThrowsAny<Exception>(() => TensorDict.LoadPart(scratch["td"], "nothing"));
    }

    [Fact]
    public void AFolderIsReadIntoADictionary()
    {
        using var scratch = new TempFolder();
        using var first = Pair(1, 2).Memmap(scratch["td"]);
        using var td = new TensorDict(2) { ["own"] = Tensor.FromArray(new long[] { 7, 8 }) };
        td.LoadInto(scratch["td"]);
        Assert.Equal(new long[] { 1, 2 }, Values(td, "n", "y"));
        Assert.Equal(new long[] { 7, 8 }, Values(td, "own"));
        Assert.Equal(scratch["td"], td.SavedPath);
        using var other = Pair(1, 2, 3);
        Assert.ThrowsAny<Exception>(() => other.LoadInto(scratch["td"]));

        using var second = Pair(3, 4, 5).Memmap(scratch["td"]);
        first.Refresh();
        Assert.Equal(new long[] { 3, 4, 5 }, Values(first, "x"));
        Assert.True(first.IsLocked && first.IsMemmap);
        Assert.ThrowsAny<Exception>(() => other.Refresh());
    }

    [Fact]
    public void NewEntriesOfAFolder()
    {
        using var scratch = new TempFolder();
        using var td = Pair(1, 2).Memmap(scratch["td"]);
        using Tensor zeros = td.MakeMemmap("z", DType.Int64, new long[] { 2, 2 });
        Assert.Equal(new long[4], zeros.ToArray<long>());
        using Tensor made = td.MakeMemmapFrom(("deep", "er"), Tensor.FromArray(new long[] { 5, 6 }));
        Assert.True(made.IsMemmap && td.IsLocked);
        using var loaded = TensorDict.Load(scratch["td"]);
        Assert.Equal(new long[] { 5, 6 }, Values(loaded, "deep", "er"));
        Assert.ThrowsAny<Exception>(() => td.MakeMemmap("z", DType.Int64, new long[] { 2 }));
    }

    [Fact]
    public async Task SavingInTheBackground()
    {
        using var scratch = new TempFolder();
        using var td = Pair(1, 2);
        using (TensorDictFuture saving = td.MemmapStart(scratch["td"]))
        {
            using TensorDict saved = await saving;
            Assert.True(saving.IsCompleted && saving.Wait(TimeSpan.FromSeconds(1)));
            saving.Wait();
            Assert.Equal((2, 2), saving.Progress);
            using TensorDict again = saving.GetResult();
            Assert.True(again.IsSameAs(saved) && saved.IsLocked);
        }
        using var loaded = TensorDict.Load(scratch["td"]);
        Assert.True(loaded.EqualTo(td));

        File.WriteAllText(scratch["file"], "x");
        using TensorDictFuture failing = td.MemmapStart(Path.Combine(scratch["file"], "td"));
        await Assert.ThrowsAnyAsync<Exception>(async () => await failing);
        td.MemmapStart(scratch["other"]).Dispose();
        Assert.True(SpinWait.SpinUntil(() => Directory.Exists(scratch["other"]), 600_000)); // finished all the same
    }

    [Fact]
    public async Task ATaskOutlivesTheFutureThatGaveIt()
    {
        using var scratch = new TempFolder();
        using var td = Pair(1, 2);
        for (int i = 0; i < 40; i++)
        {
            using TensorDict saved = await Save($"td{i}");
            Assert.True(saved.EqualTo(td));
        }
        var future = td.MemmapStart(scratch["last"]);
        future.Wait();
        future.Dispose();
        await Assert.ThrowsAsync<ObjectDisposedException>(future.AsTask);

        Task<TensorDict> Save(string name)
        {
            using TensorDictFuture saving = td.MemmapStart(scratch[name]);
            return saving.AsTask();
        }
    }
}
