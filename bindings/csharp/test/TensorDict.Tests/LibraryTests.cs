using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Versioning;
using System.Threading.Tasks;
using TensorDicts.Interop;
using Xunit;

namespace TensorDicts.Tests;

public class LibraryTests
{
    [Fact]
    public void TheLibraryThatWasNamedIsLoaded()
    {
        Assert.Equal(Native.TD_ABI_VERSION, TensorDictLibrary.AbiVersion);
        Assert.True(TensorDictLibrary.IsCompatible);
        Assert.Equal(
            $"{Native.TD_VERSION_MAJOR}.{Native.TD_VERSION_MINOR}.{Native.TD_VERSION_PATCH}", TensorDictLibrary.Version);
        Assert.True(int.Parse(TensorDictLibrary.TorchVersion.Split('.')[0], CultureInfo.InvariantCulture) >= 1);
#if !TESTS_NETSTANDARD
        string? named = Environment.GetEnvironmentVariable(NativeLibraryLoader.Variable);
        if (!string.IsNullOrEmpty(named))
        {
            Assert.Equal(named, TensorDictLibrary.Path);
        }
        var failure = Assert.Throws<InvalidOperationException>(() => TensorDictLibrary.Path = "/elsewhere.so");
        Assert.Contains("/elsewhere.so", failure.Message);
#endif
    }

    [Fact]
    public void TheAssemblyIsOfTheTargetThatIsTested()
    {
        string wanted = Environment.GetEnvironmentVariable("TENSORDICT_TESTED_TARGET") ?? "";
        var found = typeof(TensorDict).Assembly.GetCustomAttribute<TargetFrameworkAttribute>()!;
        Assert.Equal(
            wanted switch
            {
                "netstandard2.1" => ".NETStandard,Version=v2.1",
                "net8.0" => ".NETCoreApp,Version=v8.0",
                _ => ".NETCoreApp,Version=v10.0",
            },
            found.FrameworkName);
    }

#if !TESTS_NETSTANDARD
    [Fact]
    public void ALibraryThatCannotBeLoadedIsNamedWithTheReason()
    {
        var missing = Assert.Throws<DllNotFoundException>(() => NativeLibraryLoader.Open("/nowhere/libtensordict.so"));
        Assert.Contains("/nowhere/libtensordict.so (no such file)", missing.Message);
        Assert.Contains(NativeLibraryLoader.Variable, missing.Message);
        using var folder = new TempFolder();
        string file = Directory.CreateDirectory(folder["lib"]).FullName + "/libtensordict.so";
        File.WriteAllText(file, "no library");
        var broken = Assert.Throws<DllNotFoundException>(() => NativeLibraryLoader.Open(file));
        Assert.Contains(file, broken.Message);
        Assert.DoesNotContain('\n', broken.Message);
    }
#endif

    [Fact]
    public unsafe void StructuresAreAsLargeAsInC()
    {
        Assert.Equal(td_index_item.SizeInC, sizeof(td_index_item));
        Assert.Equal(td_keys_options.SizeInC, sizeof(td_keys_options));
        Assert.Equal(td_to_options.SizeInC, sizeof(td_to_options));
        Assert.Equal(td_memmap_options.SizeInC, sizeof(td_memmap_options));
        Assert.Equal(td_load_options.SizeInC, sizeof(td_load_options));
        Assert.Equal(td_apply_options.SizeInC, sizeof(td_apply_options));
        Assert.Equal(td_writer_options.SizeInC, sizeof(td_writer_options));
    }

    [Fact]
    public void PublicNumbersAreThoseOfTheInterface()
    {
        Same<TensorDictStatus, td_status>();
        Same<DType, td_dtype>();
        Same<FilterEmpty, td_filter_empty>();
        Same<LogLevel, td_log_level>();
        foreach (DeviceType type in Enum.GetValues<DeviceType>())
        {
            Assert.Equal($"TD_DEVICE_{type.ToString().ToUpperInvariant()}", ((td_device_type)(int)type).ToString());
        }

        static void Same<TPublic, TRaw>()
            where TPublic : struct, Enum
            where TRaw : struct, Enum
        {
            Assert.Equal(Numbers<TRaw>(), Numbers<TPublic>());
        }

        static SortedSet<int> Numbers<T>()
            where T : struct, Enum
        {
            var numbers = new SortedSet<int>();
            foreach (T value in Enum.GetValues<T>())
            {
                numbers.Add(Convert.ToInt32(value, CultureInfo.InvariantCulture));
            }
            return numbers;
        }
    }

    [Fact]
    public void EveryStatusHasAnException()
    {
        foreach (TensorDictStatus status in Enum.GetValues<TensorDictStatus>())
        {
            if (status != TensorDictStatus.Ok)
            {
                Assert.Equal(status, Status.Failure((td_status)(int)status).Status);
            }
        }
        // A code that no call of this thread has failed with has no text of its own.
        TensorDictException failure = Status.Failure(td_status.TD_ERR_INTERNAL);
        Assert.Equal("TD_ERR_INTERNAL", failure.Message);
        Assert.Equal("", failure.Function);
    }

    [Fact]
    public void GradientModeComesBackWithTheScope()
    {
        using (GradMode.Disable())
        {
            using (GradMode.Enable())
            {
                Assert.True(GradMode.Set(true));
            }
            Assert.False(GradMode.Set(false));
        }
        Assert.False(GradMode.Set(false));
    }

    [Fact]
    public void GradientsAreRecordedInsideTheScopeOnly()
    {
        using var t = Tensor.FromArray(new[] { 1f, 2f });
        t.RequiresGrad = true;
        using (GradMode.Enable())
        {
            using var part = t[0];
            Assert.True(part.RequiresGrad);
        }
        using var plain = t[0];
        Assert.False(plain.RequiresGrad);
    }

    [Fact]
    public void TheLogMayBeSetAndTakenAway()
    {
        var lines = new List<string>();
        WeakReference target = SetAndTakeAway(lines);
        TensorMemoryTests.Collect();
        Assert.False(target.IsAlive);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static WeakReference SetAndTakeAway(List<string> lines)
        {
            var marker = new object();
            TensorDictLibrary.SetLog((level, text) =>
            {
                GC.KeepAlive(marker);
                lines.Add($"{level}: {text}");
                throw new InvalidOperationException("contained");
            });
            Assert.ThrowsAny<TensorDictException>(() => _ = Tensor.Zeros<float>(2)[5]);
            TensorDictLibrary.SetLog(null);
            return new WeakReference(marker);
        }
    }

    [Fact]
    public async Task TextsOfFailuresBelongToTheirThread()
    {
        using var td = Sample.Nested();
        var tasks = new Task[4];
        for (int i = 0; i < tasks.Length; i++)
        {
            string name = $"missing-{i}";
            tasks[i] = Task.Run(() =>
            {
                for (int turn = 0; turn < 200; turn++)
                {
                    Assert.Contains(name, Assert.Throws<TensorKeyException>(() => td.GetTensor(name)).Message);
                }
            });
        }
        await Task.WhenAll(tasks);
    }

    [Fact]
    public void NothingIsLeftWhenObjectsAreGone()
    {
        TensorMemoryTests.Collect();
        long before = TensorDictLibrary.LiveHandles;
        Work();
        TensorMemoryTests.Collect();
        Assert.Equal(before, TensorDictLibrary.LiveHandles);

        [MethodImpl(MethodImplOptions.NoInlining)]
        static void Work()
        {
            for (int i = 0; i < 20; i++)
            {
                TensorDict td = Sample.Nested();
                _ = td[0, ^1];
                _ = td.Unbind();
                _ = TensorDict.Stack([td, td]);
                foreach (var (_, leaf) in td.Leaves())
                {
                    _ = leaf[TensorIndex.NewAxis];
                }
                foreach (var (_, value) in td.Items(includeNested: true))
                {
                    value.Dispose();
                }
                _ = td.Apply(t => t);
                Assert.ThrowsAny<Exception>(() => td.Apply(_ => throw new InvalidOperationException()));
                Assert.Throws<TensorKeyException>(() => td.GetTensor("missing"));
                var writer = new TensorDictWriter(td);
                writer.Bind("a");
                _ = Tensor.FromMemory(new float[4].AsMemory());
                _ = Tensor.FromDLPack(td.GetTensor("a").ToDLPack());
            }
        }
    }

    [Fact]
    public void DisposeGivesHandlesBackAtOnce()
    {
        TensorMemoryTests.Collect();
        long before = TensorDictLibrary.LiveHandles;
        var td = new TensorDict(2);
        var t = Tensor.Zeros<float>(2);
        td["t"] = t;
        Assert.Equal(before + 2, TensorDictLibrary.LiveHandles);
        t.Dispose();
        td.Dispose();
        Assert.Equal(before, TensorDictLibrary.LiveHandles);
    }
}
