using System;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Xunit;

namespace TensorDicts.Tests;

public class ThreadTests
{
    // Runs an action while another thread is inside a call.
    private static void Meanwhile(TensorDict td, bool change, Action action)
    {
        using var entered = new ManualResetEventSlim();
        using var leave = new ManualResetEventSlim();
        var thread = new Thread(() =>
        {
            using var held = change ? td.Handle.BorrowToChange() : td.Handle.Borrow();
            entered.Set();
            leave.Wait();
        });
        thread.Start();
        entered.Wait();
        try
        {
            action();
        }
        finally
        {
            leave.Set();
            thread.Join();
        }
    }

    [Fact]
    public void ADictionaryIsChangedByOneThreadAlone()
    {
        using var td = Sample.Nested();
        using var value = Tensor.Zeros<float>(4, 3);
        Meanwhile(td, change: true, () =>
        {
            Refused("is changing", () => td.Set("b", value));
            Refused("is changing", () => td.Remove("a"));
            Refused("is changing", () => _ = td.BatchSize);
            Refused("is changing", () => td.GetTensor("a"));
        });
        Meanwhile(td, change: false, () =>
        {
            Refused("is reading", () => td.Set("b", value));
            Refused("is reading", () => td.MaskedFillInPlace(Tensor.FromArray(new bool[4]), Tensor.Scalar(0f)));
            Refused("is reading", () => td.BatchSize = new Shape(4));
            using Tensor read = td.GetTensor("a");
            using TensorDict filled = td.MaskedFill(Tensor.FromArray(new bool[4]), Tensor.Scalar(0f));
            Expect.Shape(filled.BatchSize, 4, 3);
        });
        td.Set("b", value);
        Assert.True(td.Remove("b"));
        Expect.Shape(td.BatchSize, 4, 3);

        static void Refused(string what, Action action) =>
            Assert.Contains(what, Assert.Throws<InvalidOperationException>(action).Message);
    }

    [Fact]
    public void ADictionaryMayMeetItself()
    {
        using var td = Sample.Nested();
        td.Update(td);
        td[0] = td[1];
        td.SetAt(td, new TensorIndex[] { .. });
        td.AddInPlace(td);
        Assert.True(td.EqualTo(td));
        // Functions may change what is walked.
        using TensorDict seen = td.Apply((key, t) =>
        {
            td[key.ToString() + "-seen"] = t;
            return t;
        });
        Assert.Equal(2, seen.Leaves().Count());
        Assert.Equal(4, td.Leaves().Count());
    }

    [Fact]
    public async Task ChangesFromAllSidesBreakNothing()
    {
        using var td = new TensorDict(2);
        using var value = Tensor.FromArray(new[] { 1f, 2f });
        int done = 0;
        await Task.WhenAll(Enumerable.Range(0, 4).Select(n => Task.Run(() =>
        {
            for (int i = 0; i < 3000; i++)
            {
                string key = $"{n}-{i % 40}";
                try
                {
                    td.Set(key, value);
                    td.Remove(key);
                    td.Set(key, value);
                    Interlocked.Increment(ref done);
                }
                catch (InvalidOperationException)
                {
                    // Another thread was there first.
                }
            }
        })));
        Assert.True(done > 0);
        Assert.All(td.Leaves(), leaf => Assert.Equal(new[] { 1f, 2f }, leaf.Value.ToArray<float>()));
    }
}
