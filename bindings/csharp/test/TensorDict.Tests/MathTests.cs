using System;
using System.Linq;
using Xunit;

namespace TensorDicts.Tests;

public class MathTests
{
    /// <summary>Batch [2] with "a" [2, 2] and ("n", "b") [2].</summary>
    private static TensorDict Of(params double[] values) => new TensorDict(2)
    {
        ["a"] = Tensor.FromArray(values[..4], 2, 2),
        ["n", "b"] = Tensor.FromArray(values[4..], 2),
    };

    private static TensorDict Numbers() => Of(1, 2, 3, 4, 5, 6);

    private static double[] Read(Tensor tensor)
    {
        using Tensor doubles = tensor.To(DType.Float64);
        return doubles.ToArray<double>();
    }

    /// <summary>All values, of a result that is given back.</summary>
    private static double[] Values(TensorDict td)
    {
        using (td)
        {
            using Tensor a = td.GetTensor("a"), b = td.GetTensor(("n", "b"));
            return Read(a).Concat(Read(b)).ToArray();
        }
    }

    private static double One(TensorDict td)
    {
        using (td)
        {
            using Tensor a = td.GetTensor("a");
            return Read(a).Single();
        }
    }

    [Fact]
    public void FunctionsOfEachTensor()
    {
        var cases = new (Func<TensorDict, TensorDict> Function, Func<TensorDict, TensorDict> InPlace, Func<double, double> Wanted)[]
        {
            (td => td.Abs(), td => td.AbsInPlace(), Math.Abs),
            (td => td.Acos(), td => td.AcosInPlace(), Math.Acos),
            (td => td.Asin(), td => td.AsinInPlace(), Math.Asin),
            (td => td.Atan(), td => td.AtanInPlace(), Math.Atan),
            (td => td.Ceil(), td => td.CeilInPlace(), Math.Ceiling),
            (td => td.Cos(), td => td.CosInPlace(), Math.Cos),
            (td => td.Cosh(), td => td.CoshInPlace(), Math.Cosh),
            (td => td.Exp(), td => td.ExpInPlace(), Math.Exp),
            (td => td.Expm1(), td => td.Expm1InPlace(), x => Math.Exp(x) - 1),
            (td => td.Floor(), td => td.FloorInPlace(), Math.Floor),
            (td => td.Frac(), td => td.FracInPlace(), x => x - Math.Truncate(x)),
            (td => td.Log(), td => td.LogInPlace(), Math.Log),
            (td => td.Log10(), td => td.Log10InPlace(), Math.Log10),
            (td => td.Log1p(), td => td.Log1pInPlace(), x => Math.Log(1 + x)),
            (td => td.Log2(), td => td.Log2InPlace(), Math.Log2),
            (td => td.Negate(), td => td.NegateInPlace(), x => -x),
            (td => td.Reciprocal(), td => td.ReciprocalInPlace(), x => 1 / x),
            (td => td.Round(), td => td.RoundInPlace(), Math.Round),
            (td => td.Sigmoid(), td => td.SigmoidInPlace(), x => 1 / (1 + Math.Exp(-x))),
            (td => td.Sign(), td => td.SignInPlace(), x => Math.Sign(x)),
            (td => td.Sin(), td => td.SinInPlace(), Math.Sin),
            (td => td.Sinh(), td => td.SinhInPlace(), Math.Sinh),
            (td => td.Sqrt(), td => td.SqrtInPlace(), Math.Sqrt),
            (td => td.Tan(), td => td.TanInPlace(), Math.Tan),
            (td => td.Tanh(), td => td.TanhInPlace(), Math.Tanh),
            (td => td.Trunc(), td => td.TruncInPlace(), Math.Truncate),
        };
        double[] values = { 0.3, 0.9, 0.1, 0.6, 1.0, 0.2 };
        foreach (var (function, inPlace, wanted) in cases)
        {
            using var td = Of(values);
            double[] result = Values(function(td));
            Assert.Same(td, inPlace(td));
            Assert.Equal(result, Values(td));
            for (int i = 0; i < values.Length; i++)
            {
                Assert.Equal(wanted(values[i]), result[i], 12);
            }
        }
        using var zeros = Of(0, 0, 0, 0, 0, 0);
        Assert.All(Values(zeros.Erf()), x => Assert.Equal(0, x));
        Assert.All(Values(zeros.Erfc()), x => Assert.Equal(1, x));
        zeros.ErfcInPlace().ErfInPlace();
        Assert.True(zeros.All());
        using var ones = Of(1, 2, 1, 2, 1, 2);
        Assert.All(Values(ones.Lgamma()), x => Assert.Equal(0, x));
        ones.LgammaInPlace();
        Assert.False(ones.Any());
        ones.LogicalNotInPlace();
        Assert.True(ones.All());
    }

    [Fact]
    public void Questions()
    {
        using var td = Of(1, double.NaN, double.PositiveInfinity, double.NegativeInfinity, 0, 1);
        Assert.Equal(new double[] { 0, 1, 0, 0, 0, 0 }, Values(td.IsNaN()));
        Assert.Equal(new double[] { 1, 0, 0, 0, 1, 1 }, Values(td.IsFinite()));
        Assert.Equal(new double[] { 0, 0, 1, 0, 0, 0 }, Values(td.IsPositiveInfinity()));
        Assert.Equal(new double[] { 0, 0, 0, 1, 0, 0 }, Values(td.IsNegativeInfinity()));
        Assert.Equal(new double[] { 0, 0, 0, 0, 1, 0 }, Values(td.LogicalNot()));
        using var real = td.IsReal();
        Assert.True(real.All());
    }

    [Fact]
    public void Operators()
    {
        using var td = Numbers();
        Assert.Equal(new double[] { 2, 3, 4, 5, 6, 7 }, Values(td + 1));
        Assert.Equal(new double[6], Values(td - td));
        Assert.Equal(3, Values(td * 0.5)[5]);
        Assert.Equal(3, Values(td / 2)[5]);
        Assert.Equal(new double[] { 1, 0, 1, 0, 1, 0 }, Values(td % 2));
        Assert.Equal(-6, Values(-td)[5]);
        Assert.Equal(2, Values(1 + td)[0]);
        Assert.Equal(2.5, Values(1.5 + td)[0]);
        Assert.Equal(-5, Values(1 - td)[5]);
        Assert.Equal(-5.5, Values(0.5 - td)[5]);
        Assert.Equal(12, Values(2 * td)[5]);
        Assert.Equal(9, Values(1.5 * td)[5]);
        Assert.Equal(2, Values(12 / td)[5]);
        Assert.Equal(0.25, Values(1.5 / td)[5]);
        using TensorDict small = td < 3, rest = td % 2, even = rest.Eq(0);
        Assert.Equal(new double[] { 0, 1, 0, 0, 0, 0 }, Values(small & even));
        Assert.Equal(new double[] { 1, 1, 0, 1, 0, 1 }, Values(small | even));
        Assert.Equal(new double[] { 1, 0, 0, 1, 0, 1 }, Values(small ^ even));
        Assert.Equal(new double[] { 0, 0, 1, 1, 1, 1 }, Values(~small));
        Assert.Equal(new double[] { 0, 0, 0, 0, 0, 1 }, Values(td > 5));
        Assert.Equal(new double[] { 0, 0, 0, 0, 1, 1 }, Values(td >= 5));
        Assert.Equal(new double[] { 1, 1, 0, 0, 0, 0 }, Values(td <= 2));
        using var rows = Tensor.FromArray(new double[] { 1, 10 }, 2);
        Assert.Equal(new double[] { 1, 2, 30, 40, 5, 60 }, Values(td * rows));
    }

    [Fact]
    public void TwoOperands()
    {
        using var td = Numbers();
        Assert.Equal(7, Values(td.Add(1))[5]);
        Assert.Equal(5, Values(td.Sub(1))[5]);
        Assert.Equal(-5, Values(td.RSub(1))[5]);
        Assert.Equal(12, Values(td.Mul(2))[5]);
        Assert.Equal(1.5, Values(td.Div(4))[5]);
        Assert.Equal(0.5, Values(td.RDiv(3))[5]);
        Assert.Equal(36, Values(td.Pow(2))[5]);
        Assert.Equal(2, Values(td.Mod(4))[5]);
        Assert.Equal(9, Values(td.Maximum(9))[5]);
        Assert.Equal(6, Values(td.Minimum(9))[5]);
        Assert.Equal(2, Values(td.ClampMax(2))[5]);
        Assert.Equal(7, Values(td.ClampMin(7))[5]);
        Assert.Equal(1, Values(td.LogicalAnd(true))[5]);
        Assert.Equal(1, Values(td.Eq(6))[5]);
        Assert.Equal(0, Values(td.Ne(6))[5]);
        Assert.Equal(0, Values(td.Lt(6))[5]);
        Assert.Equal(1, Values(td.Le(6))[5]);
        Assert.Equal(0, Values(td.Gt(6))[5]);
        Assert.Equal(1, Values(td.Ge(6))[5]);
        using var ints = new TensorDict(1) { ["a"] = Tensor.FromArray(new long[] { 12 }, 1) };
        Assert.Equal(8, One(ints.BitwiseAnd(10)));
        Assert.Equal(14, One(ints.BitwiseOr(10)));
        Assert.Equal(6, One(ints.BitwiseXor(10)));
        Assert.Equal(-13, One(ints.BitwiseNot()));
    }

    [Fact]
    public void InPlaceArithmetic()
    {
        using var td = Numbers();
        td.Lock();
        using var a = td.GetTensor("a");
        Assert.Same(td, td.AddInPlace(1));
        td.SubInPlace(0.5).MulInPlace(2).DivInPlace(2).PowInPlace(2).MaximumInPlace(4).MinimumInPlace(20);
        td.ClampMinInPlace(5).ClampMaxInPlace(10).ModInPlace(8);
        Assert.Equal(new[] { 5, 6.25, 2, 2 }, a.ToArray<double>());
        using var ints = new TensorDict(1) { ["a"] = Tensor.FromArray(new long[] { 12 }, 1) };
        using var only = ints.GetTensor("a");
        ints.BitwiseAndInPlace(10).BitwiseOrInPlace(1).BitwiseXorInPlace(3).BitwiseNotInPlace();
        Assert.Equal(-11, only.ToArray<long>()[0]);
        Assert.Throws<TensorDTypeException>(() => ints.DivInPlace(2));
        Assert.Equal(-11, only.ToArray<long>()[0]);
    }

    [Fact]
    public void KeysThatOneLacks()
    {
        using TensorDict td = Numbers(), other = Numbers();
        other.Remove("a");
        Assert.Throws<TensorKeyException>(() => td + other);
        Assert.Throws<TensorKeyException>(() => td.Eq(other));
        using var common = td.Add(other, new BinaryOptions { Intersect = true });
        Assert.False(common.ContainsKey("a"));
        using var single = Tensor.Scalar(1.0);
        double[] filled = Values(other.Sub(td, new BinaryOptions { Default = single, Alpha = 2 }));
        Assert.Equal(new double[] { -1, -3, -5, -7, -5, -6 }, filled);
    }

    [Fact]
    public void ThreeOperands()
    {
        using TensorDict td = Numbers(), end = td * 3;
        Assert.Equal(12, Values(td.Lerp(end, 0.5))[5]);
        Assert.Equal(42, Values(td.AddCMul(td, 2, 3))[5]);
        Assert.Equal(12, Values(td.AddCDiv(end, td, 2))[5]);
        Assert.Equal(new[] { 2, 2, 3, 4, 4.5, 4.5 }, Values(td.Clamp(2, 4.5)));
        td.LerpInPlace(end, 1.0).AddCMulInPlace(1, 1).AddCDivInPlace(2, 2).ClampInPlace(6, 19);
        Assert.Equal(new double[] { 6, 8, 11, 14, 17, 19 }, Values(td));
    }

    [Fact]
    public void Reductions()
    {
        using var td = Numbers();
        Assert.Equal(10, One(td.Sum()));
        Assert.Equal(2.5, One(td.Mean()));
        Assert.Equal(24, One(td.Prod()));
        Assert.Equal(5.0 / 3, One(td.Var()), 12);
        Assert.Equal(Math.Sqrt(1.25), One(td.Std(new Reduction { Correction = 0 })), 12);
        Assert.Equal(10, One(td.NanSum()));
        Assert.Equal(2.5, One(td.NanMean()));
        Assert.Equal(1, One(td.Min()));
        Assert.Equal(4, One(td.Max()));
        Assert.Equal(1, One(td.AMin()));
        Assert.Equal(4, One(td.AMax()));
        Assert.Equal(Math.Sqrt(30), One(td.Norm()), 12);
        Assert.Equal(1, One(td.AllOver()));
        Assert.Equal(1, One(td.AnyOver()));
        Assert.Equal(3, One(td.Quantile(new Reduction { Interpolation = Interpolation.Higher })));
        Assert.Equal(new double[] { 4, 6, 11 }, Values(td.Sum(0)));
        Assert.Equal(new double[] { 3, 7, 5, 6 }, Values(td.Sum(new Reduction { Features = true })));
        using var kept = td.Sum(new Reduction { Dims = new long[] { -1 }, KeepDim = true, DType = DType.Float32 });
        Expect.Shape(kept.BatchSize, 1);
        Assert.Equal(Math.Log(Math.Exp(5) + Math.Exp(6)), Values(td.LogSumExp(0))[2], 12);
        using Tensor all = td.SumLeaves(), most = td.MaxLeaves();
        Assert.Equal((21, 6), (all.ToArray<double>()[0], most.ToArray<double>()[0]));
        Assert.Equal(1, Values(td.Softmax(0))[0] + Values(td.Softmax(0))[2], 12);
        Assert.Equal(new double[] { 1, 2, 1, 2, 5, 5 }, Values(td.CumMin(0)));
        Assert.Equal(new double[] { 1, 2, 3, 4, 5, 6 }, Values(td.CumMax(0)));
        Assert.Equal(new double[] { 1, 2, 4, 6, 5, 11 }, Values(td.CumSum(0)));
        Assert.Equal(new double[] { 1, 2, 3, 8, 5, 30 }, Values(td.CumProd(0)));
        Assert.Equal(new double[] { 4, 6, 3, 4, 11, 6 }, Values(td.SumFrom(0)));
        foreach (var (pair, values, positions) in new[]
        {
            (td.MinWithPositions(0), new double[] { 1, 2, 5 }, new double[] { 0, 0, 0 }),
            (td.MaxWithPositions(0), new double[] { 3, 4, 6 }, new double[] { 1, 1, 1 }),
            (td.CumMinWithPositions(0), new double[] { 1, 2, 1, 2, 5, 5 }, new double[] { 0, 0, 0, 0, 0, 0 }),
            (td.CumMaxWithPositions(0), new double[] { 1, 2, 3, 4, 5, 6 }, new double[] { 0, 0, 1, 1, 0, 1 }),
        })
        {
            Assert.Equal(values, Values(pair.Values));
            Assert.Equal(positions, Values(pair.Positions));
        }
        Assert.Throws<TensorIndexException>(() => td.Sum(5));
    }

    [Fact]
    public void TruthAndFilling()
    {
        using TensorDict td = Numbers(), same = td.Eq(td), different = td.Ne(td), empty = new TensorDict(2);
        Assert.True(same.All());
        Assert.False(different.Any());
        Assert.True(empty.All());
        td.FillInPlace(("n", "b"), 7);
        using var b = td.GetTensor(("n", "b"));
        Assert.Equal(new double[] { 7, 7 }, b.ToArray<double>());
        Assert.Same(td, td.ZeroInPlace());
        Assert.False(td.Any());
    }
}
