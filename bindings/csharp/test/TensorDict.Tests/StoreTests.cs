using System;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading;
using Xunit;

namespace TensorDicts.Tests;

// What lies in the server is tested in C; here the way into the language.
public class StoreTests
{
    private static void WithServer(Action<StoreOptions> test)
    {
        DirectoryInfo folder = Directory.CreateTempSubdirectory("td");
        string socket = Path.Combine(folder.FullName, "s");
        var start = new ProcessStartInfo("redis-server") { RedirectStandardOutput = true };
        foreach (string word in new[]
        {
            "--port", "0", "--save", string.Empty, "--appendonly", "no", "--unixsocket", socket, "--dir",
            folder.FullName,
        })
        {
            start.ArgumentList.Add(word);
        }
        Process? server = null;
        try
        {
            server = Process.Start(start);
            var options = new StoreOptions { UnixSocket = socket, Timeout = TimeSpan.FromSeconds(20) };
            if (Answers(options))
            {
                test(options);
            }
        }
        catch (System.ComponentModel.Win32Exception)
        {
            // There is no server to start.
        }
        finally
        {
            server?.Kill();
            server?.WaitForExit();
            folder.Delete(true);
        }
    }

    // False in a build without a client.
    private static bool Answers(StoreOptions options)
    {
        for (int i = 0; ; i++)
        {
            try
            {
                using TensorDictStore store = TensorDictStore.Create(options, 1);
                store.Delete();
                return true;
            }
            catch (TensorUnsupportedException)
            {
                return false;
            }
            catch (TensorIOException) when (i < 1000)
            {
                Thread.Sleep(10);
            }
        }
    }

    private static Tensor Numbers(params long[] values) => Tensor.FromArray(values, values.Length);

    [Fact]
    public void OneWritesAndAnotherReads() => WithServer(server =>
    {
        using var td = new TensorDict(4);
        td["x"] = Tensor.FromArray(Enumerable.Range(0, 12).Select(i => (long)i).ToArray(), 4, 3);
        td["n", "y"] = Numbers(1, 2, 3, 4);
        StoreOptions options = server with { Prefix = "p", Id = "one" };
        using TensorDictStore store = TensorDictStore.From(td, options);
        using TensorDictStore other = TensorDictStore.Open(options);

        // The server is one without TLS; a file that is none is found before that.
        StoreOptions tls = options with { Tls = true, TlsCa = "/nowhere/ca.pem", TlsServerName = "here" };
        Assert.Contains("\"/nowhere/ca.pem\"", Assert.Throws<TensorIOException>(() => TensorDictStore.Open(tls)).Message);
        tls = options with { Tls = true, TlsKey = "key.pem" };
        Assert.Contains("key without its", Assert.ThrowsAny<Exception>(() => TensorDictStore.Open(tls)).Message);
        Assert.Equal("one", other.Id);
        Assert.Equal(new long[] { 4 }, other.BatchSize);
        Assert.Equal(2, other.Keys.Count);
        using TensorDict whole = other.Load();
        Assert.Equal(new long[] { 1, 2, 3, 4 }, whole.GetTensor(new[] { "n", "y" }).ToArray<long>());

        store.SetTensorAt("x", Tensor.Scalar(9L), 1.., 0);
        store.SetInPlace(new[] { "n", "y" }, Tensor.Scalar(5L));
        store.Set("z", Numbers(1, 2, 3, 4));
        store.SetJson("note", "{\"a\": 1}");
        Assert.Equal(new long[] { 9, 7, 8 }, other.GetTensorAt("x", 2).ToArray<long>());
        Assert.Equal(new long[] { 5, 5, 5, 5 }, other.GetDict("n").GetTensor("y").ToArray<long>());
        using TensorDict row = other[1];
        Assert.Equal(new long[] { 2 }, row.GetTensor("z").ToArray<long>());
        Assert.Equal("{\"a\":1}", other.GetJson("note"));
        store.Update(td);
        store.SetDict("m", td);
        Assert.Equal(new long[] { 1, 2, 3, 4 }, other.GetTensor(new[] { "m", "n", "y" }).ToArray<long>());

        store.Lock();
        Assert.True(store.IsLocked);
        Assert.Throws<TensorLockedException>(() => store.Remove("z"));
        store.Unlock();
        store.Remove("z");
        Assert.Throws<TensorKeyException>(() => other.GetTensor("z"));
        store.Delete();
        Assert.Throws<TensorKeyException>(() => TensorDictStore.Open(options));
        Assert.DoesNotContain("secret", (options with { Password = "secret" }).ToString());

        using TensorDictStore zeros = TensorDictStore.FromSchema(td.Schema(), options);
        Assert.Equal(new long[4], zeros.GetTensor(new[] { "n", "y" }).ToArray<long>());
    });
}
