using System;
using System.Linq;
using System.Runtime.InteropServices;
using Xunit;

namespace TensorDicts.Tests;

public class StructTests
{
    [StructLayout(LayoutKind.Sequential)]
    private struct Particle
    {
        public double Mass;
        public float X;
        public float Y;
        public int Cell;
        public int Unused;
    }

    private static readonly StructMembers Members = StructMembers.Of<Particle>()
        .Add("mass", DType.Float64, 0)
        .Add(("where", "at"), DType.Float32, 8, 2)
        .Add(("where", "cell"), DType.Int32, 16);

    private static Particle[] Particles() => Enumerable.Range(0, 4)
        .Select(i => new Particle { Mass = i + 0.5, X = 2 * i, Y = (2 * i) + 1, Cell = -i, Unused = 77 })
        .ToArray();

    private static void Check(TensorDict td)
    {
        using var mass = td.GetTensor("mass");
        Assert.Equal(new[] { 0.5, 1.5, 2.5, 3.5 }, mass.ToArray<double>());
        Assert.Equal(new float[] { 0, 1, 2, 3, 4, 5, 6, 7 }, Sample.Floats(td, "where", "at"));
        using var cell = td.GetTensor("where", "cell");
        Assert.Equal(new[] { 0, -1, -2, -3 }, cell.ToArray<int>());
    }

    [Fact]
    public void StructsAreCopiedAndWrittenBack()
    {
        Particle[] structs = Particles();
        using var td = TensorDict.FromStructs<Particle>(structs, Members, 2, 2);
        Check(td);
        var again = new Particle[4];
        again[3].Unused = 5;
        td.ToStructs<Particle>(again, Members);
        Assert.Equal(structs.Select(p => p.Y), again.Select(p => p.Y));
        Assert.Equal(5, again[3].Unused);
        Expect.Fails<TensorShapeException>(
            TensorDictStatus.Shape, () => td.ToStructs<Particle>(new Particle[3], Members));
    }

    [Fact]
    public void StructsAreShownWithoutACopy()
    {
        Particle[] structs = Particles();
        using (var td = TensorDict.ViewStructs<Particle>(structs, Members))
        {
            Check(td);
            structs[1].Cell = 9;
            using var cell = td.GetTensor("where", "cell");
            Assert.Equal(new[] { 0, 9, -2, -3 }, cell.ToArray<int>());
            td.SetInPlace("mass", Tensor.Scalar(6.0));
        }
        Assert.Equal(6.0, structs[3].Mass);
        Expect.Fails<TensorShapeException>(
            TensorDictStatus.Shape, () => TensorDict.ViewStructs<Particle>(structs, Members, 5));
    }

    [Fact]
    public void MembersBeyondTheStructAreRefused()
    {
        var members = StructMembers.Of<Particle>().Add("x", DType.Float64, 20);
        Expect.Fails<TensorShapeException>(
            TensorDictStatus.Shape, () => TensorDict.FromStructs<Particle>(Particles(), members));
        Assert.Throws<ArgumentException>(() => TensorDict.FromStructs<Particle>(
            Particles(), StructMembers.Of<Particle>().Add("a\0b", DType.Int8, 0)));
    }
}
