using System;
using System.IO;
using System.Text;
using Xunit;

namespace TensorDicts.Tests;

public class DatasetTests
{
    // Nothing in a build without HDF5.
    private static Dataset? Opened(string name, DatasetOptions? options = null)
    {
        try
        {
            return Dataset.Open(Golden.Folder("../datasets/" + name), options);
        }
        catch (TensorUnsupportedException)
        {
            return null;
        }
    }

    /// <summary>FNV-1a of 64 bits.</summary>
    private static ulong Hash(byte[] bytes, ulong hash)
    {
        foreach (byte one in bytes)
        {
            hash = unchecked((hash ^ one) * 0x100000001b3);
        }
        return hash;
    }

    private static ulong HashOf(TensorDict flat, string key)
    {
        ulong hash = 0xcbf29ce484222325;
        using Entry entry = flat[key];
        if (entry is Tensor tensor)
        {
            return Hash(tensor.ToBytes(), hash);
        }
        for (long row = 0; row < flat.BatchSize[0]; row++)
        {
            hash = Hash(Encoding.UTF8.GetBytes(flat.GetRowText(key, row) + "\0"), hash);
        }
        return hash;
    }

    private static TensorDict? FlatOrNull(string path, string[] about)
    {
        try
        {
            using Dataset set = Dataset.Open(path);
            Assert.Equal(about, new[] { set.Kind.ToString().ToLowerInvariant(), $"{set.EpisodeCount}", $"{set.StepCount}" });
            using TensorDict flat = set.Flat();
            return flat.FlattenKeys("/");
        }
        catch (TensorUnsupportedException)
        {
            return null;
        }
    }

    /// <summary>The list of tests/conformance, which every language reads; the README there describes it.</summary>
    [Fact]
    public void AllSetsHaveTheHashesOfTheList()
    {
        TensorDict? flat = null;
        int entries = 0;
        foreach (string line in File.ReadLines(Golden.Folder("../../conformance/datasets.txt")))
        {
            string[] words = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
            if (!line.StartsWith(' '))
            {
                flat?.Dispose();
                flat = FlatOrNull(Golden.Folder("../" + words[0]), words[1..]);
            }
            else if (flat != null)
            {
                Assert.Equal(words, new[] { words[0], HashOf(flat, words[0]).ToString("x16") });
                entries++;
            }
        }
        flat?.Dispose();
        Assert.True(entries > 30);
    }

    [Fact]
    public void EpisodesAndRowsAreReadAlone()
    {
        using Dataset? set = Opened("minari/mixed");
        if (set == null)
        {
            return;
        }
        Assert.Equal(DatasetKind.Minari, set.Kind);
        Assert.Equal("0.5.4", set.Version);
        Assert.Equal(3, set.EpisodeCount);
        Assert.Equal(15, set.StepCount);
        Assert.Equal(new long[] { 3, 7, 5 }, set.Lengths);
        using TensorDict structure = set.Structure();
        Assert.Equal(new long[] { 0 }, structure.BatchSize);
        using TensorDict first = set.Episode(0);
        using Tensor rewards = first.GetTensor(("next", "reward"));
        Assert.Equal(new[] { 0.25, 0.5, 0.75 }, rewards.ToArray<double>());
        using TensorDict rows = set.Rows(2, 2);
        Assert.Equal(new long[] { 0, 1 }, rows.GetTensor("episode").ToArray<long>());
        using TensorDict flat = set.Flat();
        Assert.Equal(new long[] { 15 }, flat.BatchSize);
        using TensorDict stack = set.Episodes(1, 2);
        Assert.Equal(2, stack.BatchSize[0]);
        using TensorDict metadata = set.Metadata();
        Assert.Equal("toy/mixed-hdf5-v0", metadata.GetText("dataset_id"));
        using TensorDict about = set.EpisodeMetadata(1);
        Assert.True(about.ContainsKey("options"));
        Assert.Throws<TensorIndexException>(() => set.Episode(3));
    }

    [Fact]
    public void BagsHaveARowForEachMessageOrAtARate()
    {
        string bag = Golden.Folder("../bags/robot_plain.mcap");
        using Dataset set = Dataset.Open(bag, new DatasetOptions { Clock = "/cmd_vel" });
        Assert.Equal(DatasetKind.Ros, set.Kind);
        using TensorDict flat = set.Flat();
        using Tensor speed = flat.GetTensor(("cmd_vel", "linear", "x"));
        Assert.Equal(new double[] { 0, 1, 2, 3, 4, 5, 6, 7 }, speed.ToArray<double>());
        using Dataset resampled = Dataset.Open(bag, new DatasetOptions { Rate = 10 });
        Assert.Equal(10, resampled.StepCount);
    }

    [Fact]
    public void BatchesAreReadFromTheSet()
    {
        using Dataset? set = Opened("minari/cartpole");
        if (set == null)
        {
            return;
        }
        using TensorDict flat = set.Flat();
        using BatchLoader read = set.Batches(16, new BatchOptions { Shuffle = true, Seed = 3, NumWorkers = 2 });
        using BatchLoader wanted = flat.Batches(16, shuffle: true, seed: 3);
        for (int i = 0; i < 8; i++)
        {
            using TensorDict one = read.Next()!;
            using TensorDict other = wanted.Next()!;
            Assert.True(one.EqualTo(other));
        }
    }

    [Fact]
    public void ABufferDrawsFromTheSet()
    {
        using Dataset? set = Opened("minari/cartpole");
        if (set == null)
        {
            return;
        }
        using TensorDict flat = set.Flat();
        var options = new ReplayOptions { Sampler = ReplaySampler.Slices, SliceLength = 4, Seed = 3 };
        using Replay replay = Replay.FromDataset(set, options);
        using var held = new Replay(113, options with { Episode = "episode" });
        held.Extend(flat);
        using TensorDict batch = replay.Sample(16);
        using TensorDict wanted = held.Sample(16);
        Assert.True(batch.EqualTo(wanted));
        Assert.Equal(113, replay.Count);
        Assert.ThrowsAny<Exception>(() => replay.Extend(flat));
    }

    [Fact]
    public void VideosAreEntries()
    {
        string path = Golden.Folder("../datasets/lerobot/cams_v21");
        using Dataset with = Dataset.Open(path, new DatasetOptions { Videos = true });
        using Dataset without = Dataset.Open(path);
        using TensorDict rows = with.Structure();
        using TensorDict others = without.Structure();
        using Tensor top = rows.GetTensor(("observation", "image", "top"));
        Assert.Equal(new long[] { 0, 32, 48, 3 }, top.Shape);
        Assert.False(others.ContainsKey("observation", "image", "top"));
    }

    [Fact]
    public void PicturesAreDecoded()
    {
        using Dataset? set = Opened("minari/mixed", new DatasetOptions { Decode = true });
        if (set == null)
        {
            return;
        }
        TensorDict flat;
        try
        {
            flat = set.Flat();
        }
        catch (TensorUnsupportedException)
        {
            return;
        }
        using (flat)
        {
            using Tensor camera = flat.GetTensor(("observation", "camera"));
            Assert.Equal(new long[] { 15, 32, 36, 3 }, camera.Shape);
            long sum = 0;
            foreach (byte pixel in camera.ToArray<byte>())
            {
                sum += pixel;
            }
            Assert.Equal(4640391, sum);
        }
    }

    [Fact]
    public void AKindIsToldAndEpisodesAreCut()
    {
        using Dataset? set = Opened(
            "d4rl/chunks.hdf5", new DatasetOptions { Kind = DatasetKind.D4rl, MaxEpisodeSteps = 12, MaxBytes = 1 << 20, MaxEntries = 100 });
        if (set == null)
        {
            return;
        }
        Assert.Equal(new long[] { 12, 12, 1, 5 }, set.Lengths);
        Assert.Throws<TensorIOException>(() => Opened("d4rl/chunks.hdf5", new DatasetOptions { Kind = DatasetKind.Robomimic }));
    }

    [Fact]
    public void ASetIsWrittenAsAnotherKind()
    {
        using Dataset? set = Opened("minari/cartpole");
        if (set == null)
        {
            return;
        }
        DirectoryInfo folder = Directory.CreateTempSubdirectory();
        try
        {
            string file = Path.Combine(folder.FullName, "demos.hdf5");
            set.Convert(DatasetKind.Robomimic, file, new DatasetSaveOptions { Deflate = 1, Durable = true });
            using (Dataset again = Dataset.Open(file))
            {
                Assert.Equal(DatasetKind.Robomimic, again.Kind);
                Assert.Equal(set.Lengths, again.Lengths);
            }
            using (Dataset? arm = Opened("lerobot/arm"))
            {
                string copy = Path.Combine(folder.FullName, "arm");
                arm?.Convert(DatasetKind.LeRobot, copy, new DatasetSaveOptions { LeRobotV21 = true, Lossy = true });
                using Dataset? older = arm == null ? null : Dataset.Open(copy);
                Assert.Equal(arm == null ? null : "v2.1", older?.Version);
                if (arm != null)
                {
                    // Without an encoder that is refused, too.
                    var videos = new DatasetSaveOptions { Video = DatasetVideo.H264, VideoQuality = 99 };
                    Assert.ThrowsAny<Exception>(() => arm.Convert(DatasetKind.LeRobot, copy, videos));
                }
            }
            Assert.Throws<TensorUnsupportedException>(() => set.Convert(DatasetKind.D4rl, file));
            using TensorDict flat = set.Flat();
            using TensorDict metadata = set.Metadata();
            flat.SaveDataset(DatasetKind.D4rl, file, metadata, new DatasetSaveOptions { Lossy = true });
            flat.SaveDataset(DatasetKind.D4rl, file, null, new DatasetSaveOptions { Lossy = true });
            using Dataset last = Dataset.Open(file);
            Assert.Equal(113, last.StepCount);
        }
        finally
        {
            folder.Delete(true);
        }
    }
    [Fact]
    public void ASetIsWrittenByEpisodes()
    {
        using Dataset? set = Opened("minari/cartpole");
        if (set == null)
        {
            return;
        }
        DirectoryInfo folder = Directory.CreateTempSubdirectory();
        try
        {
            string file = Path.Combine(folder.FullName, "demos.hdf5");
            using TensorDict metadata = set.Metadata();
            for (long i = 0; i < 2; ++i)
            {
                var options = new DatasetSaveOptions { Resume = true };
                using var writer = new DatasetWriter(file, DatasetKind.Robomimic, i == 0 ? metadata : null, options);
                using TensorDict rows = set.Episode(i);
                using TensorDict about = set.EpisodeMetadata(i);
                Assert.Equal(i, writer.EpisodeCount);
                writer.Add(rows, i == 0 ? about : null);
                Assert.Equal($"DatasetWriter({i + 1} episodes)", writer.ToString());
                writer.Close();
                Assert.ThrowsAny<Exception>(() => writer.Add(rows));
            }
            using Dataset again = Dataset.Open(file);
            Assert.Equal(new[] { set.Lengths[0], set.Lengths[1] }, again.Lengths);
            Assert.Equal("Dataset(Robomimic, 2 episodes)", again.ToString());
            var rate = new DatasetSaveOptions { Fps = 10 };
            var refused = Assert.ThrowsAny<Exception>(() => new DatasetWriter(file, DatasetKind.Robomimic, null, rate));
            Assert.Contains("fps is of LeRobot alone", refused.Message);
        }
        finally
        {
            folder.Delete(true);
        }
    }
}
