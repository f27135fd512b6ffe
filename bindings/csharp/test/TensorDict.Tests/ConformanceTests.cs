using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Runtime.CompilerServices;
using System.Text.RegularExpressions;
using Xunit;

namespace TensorDicts.Tests;

/// <summary>The cases of tests/conformance, which every language runs; the README there describes the form.</summary>
public class ConformanceTests
{
    private TensorDict td = new TensorDict();
    private readonly List<TensorDict> aside = new List<TensorDict>();

    private static long[] Numbers(string text) =>
        text.Split(' ', StringSplitOptions.RemoveEmptyEntries).Select(long.Parse).ToArray();

    /// <summary>The names of a path; '' has no letters.</summary>
    private static NestedKey Path(string text) =>
        text.Split('/').Select(name => name == "''" ? "" : name).ToArray();

    private static (string First, string More) Halves(string text)
    {
        string[] parts = text.Split(' ', 2);
        return (parts[0], parts.Length == 2 ? parts[1] : "");
    }

    private static Tensor Counting(string dtype, long[] sizes)
    {
        long[] values = Enumerable.Range(0, (int)new Shape(sizes).ElementCount).Select(i => (long)i).ToArray();
        using Tensor plain = sizes.Length == 0 ? Tensor.Scalar(0L) : Tensor.FromArray(values, sizes);
        return plain.To(Enum.GetValues<DType>().First(known => known.TorchName() == "torch." + dtype));
    }

    private string Values(string key)
    {
        using Tensor tensor = td.GetTensor(Path(key));
        using Tensor wide = tensor.To(DType.Int64);
        return string.Join(' ', wide.ToArray<long>());
    }

    private string Keys() =>
        string.Join(' ', td.Keys(includeNested: true).Select(
            key => string.Join('/', key.Select(name => name.Length == 0 ? "''" : name))));

    /// <summary>A status as C names it.</summary>
    private static string NameOf(TensorDictStatus status) =>
        "TD_ERR_" + Regex.Replace(status.ToString(), "(?<=[a-z])[A-Z]", "_$0").ToUpperInvariant();

    private void Replace(TensorDict made)
    {
        td.Dispose();
        td = made;
    }

    private void DropAside()
    {
        aside.ForEach(one => one.Dispose());
        aside.Clear();
    }

    /// <summary>A command that changes something, or looks something up.</summary>
    private void Act(string word, string rest)
    {
        (string first, string more) = Halves(rest);
        switch (word)
        {
            case "dict": Replace(new TensorDict(Numbers(rest))); break;
            case "tensor":
                (string dtype, string sizes) = Halves(more);
                using (Tensor tensor = Counting(dtype, Numbers(sizes)))
                {
                    td.Set(Path(first), tensor);
                }
                break;
            case "nested":
                using (var nested = new TensorDict(Numbers(more)))
                {
                    td.Set(Path(first), nested);
                }
                break;
            case "remove": Assert.True(td.Remove(Path(first))); break;
            case "lock": td.Lock(); break;
            case "unlock": td.Unlock(); break;
            case "resize": td.BatchSize = new Shape(Numbers(rest)); break;
            case "view": Replace(td.View(Numbers(rest))); break;
            case "index": Replace(td.Index(TensorIndex.Parse(rest))); break;
            case "get": td.GetTensor(Path(first)).Dispose(); break;
            case "aside":
                aside.Add(td);
                td = new TensorDict();
                break;
            case "lazy":
                Replace(TensorDict.LazyStack(aside, Numbers(rest)[0]));
                DropAside();
                break;
            case "through":
                (string name, string stored) = Halves(more);
                (string type, string shape) = Halves(stored);
                using (TensorDict part = td.SubTensorDict(TensorIndex.Parse(first)))
                using (Tensor tensor = Counting(type, Numbers(shape)))
                {
                    part.Set(Path(name), tensor);
                }
                break;
            case "clamp": Replace(td.Clamp(Numbers(rest)[0], Numbers(rest)[1])); break;
            default: Assert.Fail("no such command: " + word); break;
        }
    }

    [Fact]
    public void TheCasesOfAllLanguages() => Run();

    private void Run([CallerFilePath] string here = "")
    {
        string file = System.IO.Path.Combine(
            System.IO.Path.GetDirectoryName(here)!, "../../../../tests/conformance/cases.txt");
        string status = "TD_OK", name = "";
        var printed = new Queue<string>();
        int number = 0, cases = 0;
        foreach (string line in File.ReadLines(file))
        {
            number++;
            void Same(string expected, string found) =>
                Assert.True(expected == found, $"{name}, line {number}: expected \"{expected}\", found \"{found}\"");

            if (line.Length == 0 || line[0] == '#')
            {
                continue;
            }
            (string word, string rest) = Halves(line);
            if (word != "status")
            {
                Same("TD_OK", status);
            }
            switch (line[0] == '|' ? "|" : word)
            {
                case "|": Same(line[1..], printed.Count > 0 ? printed.Dequeue() : ""); break;
                case "status": Same(rest, status); status = "TD_OK"; break;
                case "case": name = rest; cases++; DropAside(); break;
                case "batch": Same(rest, string.Join(' ', td.BatchSize)); break;
                case "keys": Same(rest, Keys()); break;
                case "values": Same(Halves(rest).More, Values(Halves(rest).First)); break;
                case "prints": printed = new Queue<string>(td.ToString().Split('\n')); break;
                case "end": Assert.Empty(printed); break;
                default:
                    try
                    {
                        Act(word, rest);
                    }
                    catch (TensorDictException failure)
                    {
                        status = NameOf(failure.Status);
                    }
                    break;
            }
        }
        td.Dispose();
        DropAside();
        Assert.Equal("TD_OK", status);
        Assert.True(cases > 40);
    }
}
