// Opens what rollout has recorded, takes a random minibatch and adds up the rewards.
//
//   read_rollout DIR [DIGITS_DIR]
//
// The same program exists in C, Rust and Julia; the lines "returns" and "digits" must be the same.
using System;
using System.Linq;
using System.Runtime.InteropServices;
using TensorDicts;

if (args.Length is < 1 or > 2 || args[0].StartsWith('-'))
{
    Console.Error.WriteLine("usage: read_rollout DIR [DIGITS_DIR]");
    return 2;
}
try
{
    ReadEpisodes(args[0]);
    if (args.Length == 2)
    {
        ReadDigits(args[1]);
    }
    return 0;
}
catch (TensorDictException failure)
{
    Console.Error.WriteLine($"read_rollout: {failure.Message}");
    return 1;
}

static void ReadEpisodes(string directory)
{
    using var td = TensorDict.Load(directory);
    Console.WriteLine(td);

    using var batch = Minibatch(td, 16);
    Console.WriteLine($"minibatch of batch size {batch.BatchSize}");
    using var position = batch.GetTensor("observation", "position");

    double[] returns = EpisodeReturns(td);
    ulong all = Fnv1a(MemoryMarshal.AsBytes<double>(returns));
    Console.WriteLine($"returns {all:x16} mean {returns.Sum() / returns.Length:F6} minibatch {Fnv1a(position.ToBytes()):x16}");
}

// [minibatch]
// Rows of a dictionary at random, whatever its batch size.
static TensorDict Minibatch(TensorDict td, int count)
{
    using var loader = td.Batches(count, new BatchOptions { Flat = true, Shuffle = true, Seed = 42 });
    return loader.First();
}
// [/minibatch]

// [returns]
// Rewards are f32; each episode is added up in f64, step by step.
static double[] EpisodeReturns(TensorDict td)
{
    using var reward = td.GetTensor("next", "reward");
    using var values = reward.View<float>();
    int steps = (int)td.BatchSize[1];
    var returns = new double[td.BatchSize[0]];
    for (int episode = 0; episode < returns.Length; episode++)
    {
        foreach (float value in values.Span.Slice(episode * steps, steps))
        {
            returns[episode] += value;
        }
    }
    return returns;
}
// [/returns]

// Counts the classes in a minibatch of the digits that Python has saved.
static void ReadDigits(string directory)
{
    using var td = TensorDict.Load(directory);
    using var batch = Minibatch(td, 256);
    using var label = batch.GetTensor("label");
    var counts = new int[10];
    foreach (long digit in label.ToArray<long>())
    {
        if (digit is >= 0 and < 10)
        {
            counts[digit]++;
        }
    }
    Console.WriteLine("digits " + string.Join(' ', counts.Select((count, digit) => $"{digit}:{count}")));
}

static ulong Fnv1a(ReadOnlySpan<byte> bytes)
{
    ulong value = 14695981039346656037;
    foreach (byte one in bytes)
    {
        value = unchecked((value ^ one) * 1099511628211);
    }
    return value;
}
