using System.IO;
using System.Linq;
using Xunit;

namespace TensorDicts.Tests;

public class AppendTests
{
    private static TensorDict Like() => new TensorDict(1)
    {
        ["step"] = Tensor.Zeros<long>(1),
        ["next", "reward"] = Tensor.Zeros<float>(1, 2),
    };

    private static void Write(TensorDictWriter writer, long first, long n)
    {
        WriterField step = writer.Bind("step");
        WriterField reward = writer.Bind(("next", "reward"));
        Assert.Equal(8, writer.RowBytes(step));
        for (long row = first; row < first + n; row++)
        {
            writer.Put(step, row);
            writer.Put(reward, new[] { row, 0.5f });
            writer.Next();
        }
    }

    private static void CheckRows(string folder, int n)
    {
        using var td = TensorDict.Load(folder);
        Assert.Equal(Enumerable.Range(0, n).Select(row => (long)row), td.GetTensor("step").ToArray<long>());
        Assert.Equal(
            Enumerable.Range(0, n).SelectMany(row => new[] { row, 0.5f }),
            td.GetTensor("next", "reward").ToArray<float>());
    }

    [Fact]
    public void AFolderGrows()
    {
        using var scratch = new TempFolder();
        string folder = scratch["td"];
        using var like = Like();
        var byCall = new AppendOptions { Background = false, PublishRows = -1, BufferBytes = 50 };
        using (var writer = TensorDictWriter.OpenAppend(folder, like, byCall))
        {
            Assert.Equal(folder, writer.Folder);
            Write(writer, 0, 10);
            CheckRows(folder, 0);
            writer.Flush();
            CheckRows(folder, 10);
            Expect.Fails<TensorIOException>(TensorDictStatus.Busy, () => TensorDictWriter.OpenAppend(folder));
            Write(writer, 10, 3);
            Assert.Equal(13, writer.Rows);
            writer.Close();
        }
        CheckRows(folder, 13);
        var options = new AppendOptions { Background = false, Durable = true, PublishRows = 2, PublishBytes = 10_000 };
        using (var writer = TensorDictWriter.OpenAppend(folder, options: options))
        {
            Write(writer, 13, 3);
            Assert.Equal(15, TensorDict.LengthOf(folder).Rows);
        }
        CheckRows(folder, 16);
    }

    [Fact]
    public void AThreadWrites()
    {
        using var scratch = new TempFolder();
        string folder = scratch["td"];
        string count = Path.Combine(folder, ".%rows");
        using var like = Like();
        var options = new AppendOptions { Background = false, PublishRows = 2, MetaMs = -1 };
        using (var writer = TensorDictWriter.OpenAppend(folder, like, options))
        {
            Write(writer, 0, 6);
            Assert.True(File.Exists(count)); // the meta.json files still say 2
            CheckRows(folder, 6);
            writer.Close();
        }
        Assert.False(File.Exists(count));
        options = new AppendOptions { PublishRows = 2, Background = true, BufferBytes = 64 };
        using (var writer = TensorDictWriter.OpenAppend(folder, options: options))
        {
            Write(writer, 6, 100);
            writer.Flush();
            CheckRows(folder, 106);
            Write(writer, 106, 3);
        }
        CheckRows(folder, 109);
        options.MetaMs = -2;
        Expect.Fails<TensorDictException>(
            TensorDictStatus.InvalidArgument, () => TensorDictWriter.OpenAppend(folder, options: options));
    }

    [Fact]
    public void DictionariesAreAppendedAndTakenAway()
    {
        using var scratch = new TempFolder();
        string folder = scratch["td"];
        using var td = new TensorDict(2) { ["x"] = Tensor.FromArray(new[] { 1L, 2 }, 2) };
        td.Memmap(folder).Dispose();
        td.AppendTo(folder);
        using (var all = TensorDict.Load(folder))
        {
            using var x = all.GetTensor("x"); // a tensor that stays mapped keeps its file long
            Assert.Equal(new[] { 1L, 2, 1, 2 }, x.ToArray<long>());
        }
        using var other = Like();
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => other.AppendTo(folder));
        TensorDict.Truncate(folder, 3);
        MemmapLength length = TensorDict.LengthOf(folder);
        Assert.Equal((3, 3, 0), (length.Rows, length.Stored, length.Spare));
        Expect.Fails<TensorIndexException>(TensorDictStatus.Index, () => TensorDict.Truncate(folder, 4));
    }

    [Fact]
    public void ShardsAreOneStack()
    {
        using var scratch = new TempFolder();
        string folder = scratch["td"];
        using var like = Like();
        var options = new AppendOptions { Shard = Shard.New };
        using (var one = TensorDictWriter.OpenAppend(folder, like, options))
        using (var two = TensorDictWriter.OpenAppend(folder, like, options))
        {
            Assert.Equal(Path.Combine(folder, "1"), two.Folder);
            Write(one, 0, 2);
            Write(two, 2, 3);
        }
        Assert.Equal(2, TensorDict.LengthOf(folder).Rows);
        CheckRows(Path.Combine(folder, "0"), 2);
        using var again = TensorDictWriter.OpenAppend(folder, null, new AppendOptions { Shard = Shard.Any });
        Assert.Equal(Path.Combine(folder, "0"), again.Folder);
        using var td = new TensorDict(1) { ["x"] = Tensor.Zeros<float>(1) };
        using var plain = new TensorDictWriter(td);
        Assert.Null(plain.Folder);
    }

    [Fact]
    public void TextsAndEpisodes()
    {
        using var scratch = new TempFolder();
        string folder = scratch["td"];
        using var like = new TensorDict(1) { ["next", "done"] = Tensor.Zeros<bool>(1) };
        like.SetTexts("task", "not used");
        using (var writer = TensorDictWriter.OpenAppend(folder, like))
        {
            WriterField done = writer.Bind(("next", "done")), task = writer.BindText("task");
            for (int row = 0; row < 5; row++)
            {
                writer.Put(done, row == 2);
                if (row != 1) writer.PutText(task, $"\"{row}\" é");
                writer.Next();
            }
            Expect.Fails<TensorKeyException>(TensorDictStatus.WrongEntry, () => writer.PutText(done, "a"));
            Expect.Fails<TensorKeyException>(TensorDictStatus.WrongEntry, () => writer.PutBytes(task, new byte[1]));
            writer.Close();
        }
        var wrong = new AppendOptions { ResumeAt = "done" };
        Expect.Fails<TensorKeyException>(TensorDictStatus.KeyNotFound, () => TensorDictWriter.OpenAppend(folder, options: wrong));
        var atDone = new AppendOptions { ResumeAt = ("next", "done") };
        using (var writer = TensorDictWriter.OpenAppend(folder, like, atDone))
        {
            writer.Next();
            writer.Close();
        }
        using var td = TensorDict.Load(folder);
        Assert.Equal(4, td.BatchSize[0]);
        Assert.Equal(
            new[] { "\"0\" é", "", "\"2\" é", "" }, Enumerable.Range(0, 4).Select(row => td.GetRowText("task", row)));
    }
}
