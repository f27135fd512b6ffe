using System;
using System.IO;
using System.Net.Sockets;
using System.Threading.Tasks;
using Xunit;

namespace TensorDicts.Tests;

public class ShareTests
{
    [Fact]
    public void SharedMemoryIsLockedAndOpenedByName()
    {
        using var td = Sample.Nested();
        Assert.False(td.IsShared);
        Assert.ThrowsAny<Exception>(() => td.SharedName);
        using Tensor before = td.GetTensor("a");
        td.ShareMemory();
        Assert.True(td.IsShared && td.IsLocked && td.IsConsolidated);
        using (TensorDict copy = td.Clone())
        {
            Assert.False(copy.IsShared);
        }
        using TensorDict other = TensorDict.OpenShared(td.SharedName);
        Assert.True(other.IsShared && other.IsLocked && other.EqualTo(td));
        other.SetInPlace("a", Tensor.Scalar(7f));
        Assert.Equal(7f, Sample.Floats(td, "a")[0]);
        using (var span = before.View<float>())
        {
            Assert.Equal(7f, span[0]);
        }
        td.Unlock();
        Assert.False(td.IsShared);
        Assert.ThrowsAny<Exception>(() => TensorDict.OpenShared("no name"));
    }

    [Fact]
    public void OneBufferInMemory()
    {
        using var td = Sample.Nested();
        using TensorDict packed = td.Consolidate();
        Assert.True(packed.IsConsolidated && packed.IsLocked && packed.EqualTo(td));
        Assert.False(td.IsConsolidated);
        using TensorDict placed = td.Consolidate(new ConsolidateOptions { Device = Device.Cpu });
        Assert.Equal(Device.Cpu, placed.Device);
        td.ConsolidateInPlace();
        Assert.True(td.IsConsolidated);
        td.Unlock();
        Assert.False(td.IsConsolidated);
        try
        {
            using TensorDict pinned = td.Consolidate(new ConsolidateOptions { PinMemory = true });
            Assert.True(pinned.EqualTo(td));
        }
        catch (TensorDictException)
        {
            // No accelerator.
        }
    }

    [Fact]
    public void OneFile()
    {
        using var folder = new TempFolder();
        Directory.CreateDirectory(Path.GetDirectoryName(folder["file"])!);
        using TensorDict td = TensorDict.LoadConsolidated(Golden.Folder("consolidated"));
        using TensorDict mapped = td.ConsolidateTo(folder["file"]);
        Assert.True(mapped.IsConsolidated && mapped.EqualTo(td));
        Assert.Equal(File.ReadAllBytes(Golden.Folder("consolidated")), File.ReadAllBytes(folder["file"]));
        Assert.ThrowsAny<Exception>(() => TensorDict.LoadConsolidated(folder["file"], new LoadOptions { MaxEntries = 1 }));
        Assert.ThrowsAny<Exception>(() => TensorDict.LoadConsolidated(folder["nothing"]));
    }

    [Fact]
    public void MessagesOverAStream()
    {
        using var td = Sample.Nested();
        using var stream = new MemoryStream();
        td.Send(stream);
        long length = stream.Length;
        td.Send(stream);
        stream.Position = 0;
        using (TensorDict got = TensorDict.Receive(stream))
        {
            Assert.True(got.EqualTo(td));
        }
        Assert.Equal(length, stream.Position);
        using TensorDict target = td.Clone();
        target.SetInPlace("a", Tensor.Scalar(0f));
        target.Lock();
        target.ReceiveInto(stream);
        Assert.True(target.EqualTo(td));
        Assert.Throws<EndOfStreamException>(() => TensorDict.Receive(stream));
        stream.Position = 0;
        Assert.ThrowsAny<Exception>(() => TensorDict.Receive(stream, new MessageOptions { MaxBytes = 64 }));
        using var closed = new MemoryStream();
        closed.Dispose();
        Assert.Throws<ObjectDisposedException>(() => td.Send(closed));
    }

    [Fact]
    public async Task MessagesOverASocket()
    {
        using var td = Sample.Nested();
        td["long"] = Tensor.Zeros<long>(4, 3, 20000);
        string path = Path.Combine(Path.GetTempPath(), Guid.NewGuid().ToString("N"));
        using var server = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        server.Bind(new UnixDomainSocketEndPoint(path));
        server.Listen(1);
        using var one = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        one.Connect(new UnixDomainSocketEndPoint(path));
        using Socket other = server.Accept();
        File.Delete(path);
        var limit = new MessageOptions { Timeout = TimeSpan.FromSeconds(200) };
        Task echo = Task.Run(() =>
        {
            using TensorDict got = TensorDict.Receive(other.SafeHandle, limit);
            got.Send(other.SafeHandle, limit);
        });
        td.Send(one.SafeHandle, limit);
        using TensorDict target = td.Clone();
        target.SetInPlace("a", Tensor.Scalar(0f));
        target.ReceiveInto(one.SafeHandle, limit);
        await echo;
        Assert.True(target.EqualTo(td));
        other.Dispose();
        Assert.ThrowsAny<Exception>(() => TensorDict.Receive(one.SafeHandle, limit));
    }

    [Fact]
    public void LocksForAWhile()
    {
        using var td = Sample.Nested();
        using (td.Locked())
        {
            Assert.True(td.IsLocked);
            using (td.Unlocked())
            {
                td["new"] = Tensor.Zeros<long>(4, 3);
            }
            Assert.True(td.IsLocked);
        }
        Assert.False(td.IsLocked);
        static void Fail(TensorDict td)
        {
            using LockScope scope = td.Locked();
            throw new InvalidOperationException("on the way");
        }
        Assert.Throws<InvalidOperationException>(() => Fail(td));
        Assert.False(td.IsLocked);
    }
}
