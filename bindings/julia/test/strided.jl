A = Float64[1 2 3; 4 5 6]
t = contiguous(Tensor(A))
S = asarray(t)
@test S isa StridedTensor{Float64,2} && S isa AbstractMatrix{Float64}
@test S == A && size(S) == (2, 3) && strides(S) == (3, 1) && stride(S, 2) == 1
@test S[2, 1] === 4.0 && S[:, 2] == [2, 5] && S[end] == 6
S[1, 1] = 10
@test t[1, 1][] == 10
S[2, :] .= 0
@test Array(t) == [10 2 3; 0 0 0]
@test sum(S) == 15 && S .+ 1 isa Matrix{Float64}
@test S * ones(3) == [15, 0]
@test_throws BoundsError S[3, 1]
@test unsafe_load(Base.unsafe_convert(Ptr{Float64}, S), 2) == 2

# A row of a column-major array, and a step of two: strides are honoured.
@test asarray(Tensor(view(A, 2, :))) == [4, 5, 6]
@test asarray(t[:, 1:2:3]) == [10 3; 0 0]
@test asarray(Tensor(4))[] === 4
@test asarray(Tensor([true false])) == [true false]

# It keeps the memory alive, and is a tensor again without a copy.
close(t)
GC.gc()
@test S[1, 1] == 10
@test pointer(Tensor(S)) == pointer(parent(S))

@testset "broadcasting" begin
    t = Tensor(Float32[1, 2])
    @test t ./ 2 == Float32[0.5, 1] && t ./ 2 isa Vector{Float32}
    @test t .+ Tensor(Float32[1, 1]) == [2, 3]
    t .= [5, 6]
    @test Array(t) == [5, 6]
    t .*= 2
    @test Array(t) == [10, 12]
end

let elsewhere = to(Tensor([1]), Device("meta"))
    @test_throws ArgumentError asarray(elsewhere)
end
