// The steps of group_rank.c in C#: group_rank RANK URL
using System;
using System.Linq;
using System.Threading.Tasks;
using TensorDicts;

int rank = int.Parse(args[0]), other = 1 - rank;
Group opened;
try
{
    opened = new Group(new GroupOptions { Url = args[1], Rank = rank, Size = 2, Timeout = TimeSpan.FromMinutes(10) });
}
catch (TensorUnsupportedException)
{
    return 77;
}
using (Group group = opened)
{
    LeafByLeaf(group);
    WithStructure(group);
    MadeOne(group);
    using (Group part = group.Split(new[] { 0, 1 })!)
    {
        part.Send(Values(15), other);
        part.Broadcast(Values(16), rank);
    }
    group.Barrier();
    // A rank that is killed.
    try
    {
        group.RecvMessage(other);
        throw new InvalidOperationException("a message of a rank that was killed");
    }
    catch (TensorIOException)
    {
    }
}
return 0;

// As values() of groups.py, with numbers from `first` on.
static TensorDict Values(long first)
{
    var td = new TensorDict(2);
    td["b"] = Tensor.FromArray(Enumerable.Range((int)first, 6).Select(i => i / 4f).ToArray(), 2, 3);
    td["a"] = Tensor.FromArray(new[] { first, -first }, 2);
    td["n", "u"] = Tensor.FromArray(new[] { (byte)first, (byte)0, (byte)255, (byte)7 }, 2, 2);
    td["n", "m", "t"] = Tensor.FromArray(new[] { first % 2 == 1, true }, 2);
    td["none"] = Tensor.FromArray(Array.Empty<double>(), 2, 0);
    return td;
}

static TensorDict WithText(long first)
{
    TensorDict td = Values(first);
    td.SetText("text", "made by a rank");
    return td;
}

static TensorDict Lazy(long first, long second)
{
    var td = new TensorDict();
    td["z"] = TensorDict.LazyStack(new[] { Values(first), Values(second) });
    return td;
}

static TensorDict Numbers(long value)
{
    var td = new TensorDict();
    td["x"] = Tensor.FromArray(new[] { (float)value, -value }, 2);
    td["n", "i"] = Tensor.Scalar(10 * value);
    return td;
}

static void Same(TensorDict got, TensorDict want)
{
    if (!got.EqualTo(want))
    {
        throw new InvalidOperationException($"other values than expected in\n{got}");
    }
}

void LeafByLeaf(Group group)
{
    var whole = new GroupCall { Consolidated = true };
    TensorDict td = Values(0);
    group.Recv(td, other);
    Same(td, Values(1));
    group.Send(Values(2), other);
    Task<TensorDict> coming = group.RecvAsync(Values(0), other, new GroupCall { InitTag = 50 });
    group.SendAsync(Values(3), other, new GroupCall { InitTag = 70 }).Wait();
    Same(coming.Result, Values(4));
    td = Lazy(0, 0);
    group.Recv(td, other);
    Same(td, Lazy(11, 12));
    group.Send(Lazy(13, 14), other);
    td = Values(0);
    group.Recv(td, other, whole);
    Same(td, Values(5));
    group.Send(Values(6), other, whole);
}

void WithStructure(Group group)
{
    Same(group.FromRemoteInit(other), WithText(7));
    group.InitRemote(WithText(8), other);
    Same(group.Broadcast(null, other), WithText(9));
    Same(group.Broadcast(WithText(8), rank), WithText(8));
    TensorDict[] all = group.AllGather(WithText(10 + rank));
    Same(all[rank], WithText(10 + rank));
    Same(all[other], Values(10 + other));
    Same(group.Scatter(Array.Empty<TensorDict>(), other), rank == 0 ? Values(20) : WithText(21));
    Same(group.Scatter(new[] { Values(30), WithText(31) }, rank), rank == 0 ? Values(30) : WithText(31));
}

void MadeOne(Group group)
{
    TensorDict td = Numbers(2);
    group.AllReduce(td, GroupOp.Sum);
    Same(td, Numbers(5));
    td = Numbers(2);
    group.AllReduce(td, GroupOp.Product);
    if (!td.GetTensor("x").ToArray<float>().SequenceEqual(new[] { 6f, 6f }))
    {
        throw new InvalidOperationException($"another product than expected in\n{td}");
    }
    foreach ((int dst, int result) in new[] { (rank, 5), (other, 2) })
    {
        td = Numbers(2);
        group.Reduce(td, dst, GroupOp.Sum);
        Same(td, Numbers(result));
    }
}
