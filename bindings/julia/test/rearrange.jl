x = reshape(collect(1:24), 2, 3, 4)
td = TensorDict((2, 3); x = contiguous(Tensor(x)), n = (y = contiguous(Tensor(x[:, :, 1])),))
y = x[:, :, 1]

@testset "merged, split, moved" begin
    @test size(flatten(td)) == (6,) && flatten(td) == reshape(td, :)
    @test size(flatten(td, 2, 2)) == (2, 3) && size(flatten(TensorDict(()))) == (1,)
    @test unflatten(flatten(td), 1, 2, :) == td == unflatten(flatten(td), 1, (:, 3))
    @test_throws ArgumentError flatten(td, 2, 1)
    @test_throws ArgumentError flatten(td, 1, 3)
    @test_throws DimensionMismatch unflatten(td, 1, 3, :)
    @test movedim(td, 1, 2) == permutedims(td, (2, 1)) == movedim(td, (1, 2), (-1, 1))
    @test_throws DimensionMismatch movedim(td, (1, 2), 1)
    @test Array(narrow(td, 2, 2:3)["n", "y"]) == y[:, 2:3]
    @test pointer(narrow(td, 1, 1:1)["x"]) == pointer(td["x"])
    @test_throws ArgumentError narrow(td, 2, 3:4)
    @test size(atleast(td, 4)) == (1, 1, 2, 3) && size(atleast(td, 1)) == (2, 3)
    @test size(expand_as(td, expand(td, 5, 2, 3))) == (5, 2, 3)
end

@testset "parts" begin
    @test size.(split(td, 2; dims = 2)) == [(2, 2), (2, 1)] && cat(split(td, 1)...; dims = 1) == td
    @test size.(split(td, [1, 0, 2]; dims = -1)) == [(2, 1), (2, 0), (2, 2)]
    @test size.(chunk(td, 2; dims = 2)) == [(2, 2), (2, 1)]
    @test size.(tensor_split(td, 4; dims = 2)) == [(2, 1), (2, 1), (2, 1), (2, 0)]
    @test tensor_split(td, [2, -1]; dims = 2) == [td[:, 1:1], td[:, 2:2], td[:, 3:3]]
    @test_throws ArgumentError split(td, 0)
    @test_throws DimensionMismatch split(td, [3])
    @test_throws ArgumentError chunk(td, 1; dims = 3)
end

@testset "memory" begin
    @test iscontiguous(td) && !iscontiguous(permutedims(td, (2, 1)))
    @test iscontiguous(contiguous(permutedims(td, (2, 1)); canonical = true))
    bits = reinterpret(Int32, TensorDict(1; a = Float32[1]))
    @test Array(bits["a"]) == Int32[0x3f800000]
    @test size(reinterpret(UInt8, bits; batch = (4,))) == (4,)
    @test_throws DimensionMismatch reinterpret(UInt8, bits)
    other = TensorDict(4; a = 1:4)
    @test become!(other, reshape(other, 2, 2)) === other && size(other) == (2, 2)
    lock!(other)
    @test_throws TensorDictError become!(other, td)
end
