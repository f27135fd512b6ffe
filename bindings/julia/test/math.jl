using TensorDicts: mul!
const TD = TensorDicts

numbers(values...) = TensorDict(2; a = reshape(collect(Float64, values[1:4]), 2, 2)', n = (b = collect(Float64, values[5:6]),))
td = numbers(1, 2, 3, 4, 5, 6)
flat(td) = [vec(permutedims(Array(td["a"]))); Array(td["n", "b"])]

@testset "missing, and no ambiguous methods" begin
    td = TensorDict(2; a = [1, 2])
    for f in (max, min)
        @test f(td, missing) === missing && f(missing, td) === missing
        @test Array(f(td, 1.5)["a"]) == f.([1, 2], 1.5) && Array(f(td, [2, 1])["a"]) == f.([1, 2], [2, 1])
    end
    ours(m) = m.module === TensorDicts || parentmodule(m.module) === TensorDicts
    @test isempty(filter(pair -> any(ours, pair), detect_ambiguities(TensorDicts, Base; recursive = false)))
end

@testset "functions of each tensor" begin
    values = [0.3, 0.9, 0.1, 0.6, 1.0, 0.2]
    for (f, f!) in ((abs, abs!), (acos, acos!), (asin, asin!), (atan, atan!), (ceil, ceil!), (cos, cos!),
                    (cosh, cosh!), (exp, exp!), (expm1, expm1!), (floor, floor!), (log, log!),
                    (log10, log10!), (log1p, log1p!), (log2, log2!), (round, round!), (sign, sign!),
                    (sin, sin!), (sinh, sinh!), (sqrt, sqrt!), (tan, tan!), (tanh, tanh!), (trunc, trunc!))
        d = numbers(values...)
        result = flat(f(d))
        @test result ≈ f.(values)
        @test flat(f.(d)) == result
        @test f!(d) === d && flat(d) == result
    end
    for (f, f!, wanted) in ((neg, neg!, x -> -x), (reciprocal, reciprocal!, inv), (frac, frac!, x -> x % 1),
                            (sigmoid, sigmoid!, x -> 1 / (1 + exp(-x))))
        d = numbers(values...)
        @test flat(f(d)) ≈ wanted.(values)
        @test flat(f!(d)) ≈ wanted.(values)
    end
    zeros = numbers(0, 0, 0, 0, 0, 0)
    @test flat(erf(zeros)) == fill(0, 6) && flat(erfc(zeros)) == fill(1, 6)
    @test flat(erf!(erfc!(zeros))) ≈ fill(0.8427007929497149, 6)
    ones = numbers(1, 2, 1, 2, 1, 2)
    @test flat(lgamma(ones)) == fill(0, 6) && flat(lgamma!(ones)) == fill(0, 6)
    @test flat(-td)[6] == -6 && flat(inv(td))[4] == 0.25
    ints = TensorDict(2; a = [1, 2])
    @test Array((~ints)["a"]) == [-2, -3] && Array(bitwise_not(ints)["a"]) == [-2, -3]
    @test Array(bitwise_not!(ints)["a"]) == [-2, -3]
    @test !any(logical_not(td)) && !any(logical_not!(deepcopy(td)))
end

@testset "questions" begin
    d = numbers(1, NaN, Inf, -Inf, 0, 1)
    @test flat(isnan(d)) == [0, 1, 0, 0, 0, 0] == flat(isnan.(d))
    @test flat(isfinite(d)) == [1, 0, 0, 0, 1, 1]
    @test flat(isposinf(d)) == [0, 0, 1, 0, 0, 0] && flat(isneginf(d)) == [0, 0, 0, 1, 0, 0]
    @test all(isreal(d)) && flat(!isnan(d))[1:2] == [1, 0]
end

@testset "operators" begin
    @test flat(td + 1) == 2:7 == flat(td .+ 1) == flat(1 + td) == flat(1 .+ td)
    @test flat(td - td) == fill(0, 6) && flat(1 - td)[6] == -5 && flat(10 .- td)[1] == 9
    @test flat(td * 0.5) == 0.5:0.5:3 && flat(2 * td)[6] == 12 && flat(2 .* td .+ 1)[6] == 13
    @test flat(td / (td + td)) == fill(0.5, 6) && flat(12 / td)[6] == 2
    @test flat(td^2)[6] == 36 == flat(td .^ 2)[6] && flat(td^0.5)[4] == 2
    @test flat(td % 2) == [1, 0, 1, 0, 1, 0] == flat(mod(td, 2))
    @test flat(max(td, 4)) == [4, 4, 4, 4, 5, 6] && flat(min(td, 2)) == [1, 2, 2, 2, 2, 2]
    small, even = td .< 3, td % 2 .== 0
    @test flat(small & even) == [0, 1, 0, 0, 0, 0] && flat(small | even) == [1, 1, 0, 1, 0, 1]
    @test flat(xor(small, even)) == [1, 0, 0, 1, 0, 1]
    @test flat(td .>= 6) == [0, 0, 0, 0, 0, 1] && flat(td .!= 1) == [0, 1, 1, 1, 1, 1]
    @test flat(td * Tensor([1.0, 10.0])) == [1, 2, 30, 40, 5, 60] == flat(mul(td, [1.0, 10.0]))
    @test flat(eq(td, td)) == fill(1, 6) && !any(ne(td, td)) && all(td .<= td) && !any(td .> td)
end

@testset "two operands" begin
    for (f, wanted) in ((add, 10), (sub, 2), (rsub, -2), (mul, 24), (divide, 1.5), (rdiv, 4 / 6), (pow, 1296),
                        (max, 6), (min, 4), (clamp_max, 4), (clamp_min, 6), (eq, 0), (ne, 1), (lt, 0),
                        (le, 0), (gt, 1), (ge, 1), (logical_and, 1))
        @test flat(f(td, 4))[6] ≈ wanted
    end
    ints = TensorDict(1; a = [12])
    @test [Array(f(ints, 10)["a"])[] for f in (bitwise_and, bitwise_or, bitwise_xor)] == [8, 14, 6]
end

@testset "in place" begin
    d = lock!(deepcopy(td))
    a = d["a"]
    for (f, by) in ((add!, 1), (sub!, 0.5), (mul!, 2), (divide!, 2), (pow!, 2), (max!, 4), (min!, 20),
                    (clamp_min!, 5), (clamp_max!, 10), (mod!, 8))
        @test f(d, by) === d
    end
    @test flat(d) == [5, 6.25, 2, 2, 2, 2] && Array(a)[1, 2] == 6.25
    ints = TensorDict(1; a = [12])
    @test Array(bitwise_xor!(bitwise_or!(bitwise_and!(ints, 10), 1), 3)["a"]) == [10]
    @test_throws TensorDictError divide!(ints, 2)
    @test Array(ints["a"]) == [10]
end

@testset "keys that one lacks" begin
    other = deepcopy(td)
    delete!(other, "a")
    @test_throws TensorDictError td + other
    @test_throws TensorDictError td .== other
    @test !haskey(add(td, other; default = :intersection), "a")
    @test flat(sub(other, td; default = 1.0, alpha = 2)) == [-1, -3, -5, -7, -5, -6]
end

@testset "three operands" begin
    d, stop = deepcopy(td), td * 3
    @test flat(lerp(d, stop, 0.5))[6] == 12
    @test flat(addcmul(d, d, 2; value = 3))[6] == 42
    @test flat(addcdiv(d, stop, d; value = 2))[6] == 12
    @test flat(clamp(d, 2, 4.5)) == [2, 2, 3, 4, 4.5, 4.5] && flat(clamp(d, nothing, 3))[6] == 3
    lerp!(d, stop, 1)
    addcmul!(d, 1, 1)
    addcdiv!(d, 2, 2)
    @test flat(clamp!(d, 6, 19)) == [6, 8, 11, 14, 17, 19]
end

@testset "reductions" begin
    a(result) = Array(result["a"])[]
    @test a(sum(td)) == 10 && a(prod(td)) == 24 && a(TD.mean(td)) == 2.5 && a(TD.nansum(td)) == 10
    @test a(TD.var(td)) ≈ 5 / 3 && a(TD.std(td; corrected = false)) ≈ sqrt(1.25) && a(TD.nanmean(td)) == 2.5
    @test a(minimum(td)) == 1 && a(maximum(td)) == 4 && a(TD.norm(td)) ≈ sqrt(30)
    @test a(TD.quantile(td, 0.5; interpolation = :higher)) == 3
    @test Array(sum(td; dims = 1)["a"]) == [4, 6] && size(sum(td; dims = -1)) == ()
    @test Array(sum(td; dims = :features)["a"]) == [3, 7]
    @test size(sum(td; dims = (1,), keepdims = true)) == (1,)
    @test Array(TD.logsumexp(td; dims = 1)["n", "b"])[] ≈ log(exp(5) + exp(6))
    @test Array(sum(td; leaves = true))[] == 21 && Array(maximum(td; leaves = true))[] == 6
    @test eltype(sum(TensorDict(1; a = [1]); dtype = Float64)["a"]) === Float64
    least, at = findmin(td; dims = 1)
    @test Array(least["a"]) == [1, 2] && Array(at["a"]) == [1, 1]
    @test Array(findmax(td; dims = 1)[2]["a"]) == [2, 2]
    @test Array(TD.cummax(td; dims = 1)[2]["n", "b"]) == [1, 2]
    @test Array(TD.cummin(td; dims = 1)[1]["n", "b"]) == [5, 5]
    @test Array(cumsum(td; dims = 1)["n", "b"]) == [5, 11] && Array(cumprod(td; dims = 1)["n", "b"]) == [5, 30]
    @test Array(TD.sum_from(td; dims = 1)["n", "b"]) == [11, 6]
    @test flat(TD.softmax(td; dims = 1))[5:6] ≈ exp.([5, 6]) ./ (exp(5) + exp(6))
    @test all(td) && any(td) && Array(all(td; dims = 1)["a"]) == [1, 1] && Array(any(td; dims = 1)["a"]) == [1, 1]
    @test_throws ArgumentError sum(td; dims = 0)
    @test_throws ArgumentError sum(td; dims = 2)
    @test_throws ArgumentError sum(td; dims = :feature)
end

@testset "filling" begin
    d = deepcopy(td)
    @test flat(fill!(d, ("n", "b"), 7))[5:6] == [7, 7]
    @test !any(zero!(d))
end
