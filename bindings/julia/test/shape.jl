x = reshape(collect(1:24), 2, 3, 4)
td = TensorDict((2, 3); x = contiguous(Tensor(x)), n = (y = contiguous(Tensor(x[:, :, 1])),))
backwards(A) = permutedims(A, ndims(A):-1:1)     # the order of torch, for reshape

@testset "reshape" begin
    @test size(reshape(td, 6)) == (6,) && size(reshape(td, :)) == (6,) && size(reshape(td, (3, :))) == (3, 2)
    @test size(reshape(td, -1)) == (6,) && size(reshape(td, (6,))) == (6,) && size(reshape(td, (1, 6, 1))) == (1, 6, 1)
    @test Array(reshape(td, :)["x"]) == backwards(reshape(backwards(x), 4, 6))
    @test pointer(reshape(td, :; copy = false)["x"]) == pointer(td["x"])
    turned = permutedims(td, (2, 1))
    @test_throws DimensionMismatch reshape(turned, :; copy = false)
    @test Array(reshape(turned, :)["n", "y"]) == [x[i, j, 1] for j in 1:3 for i in 1:2]
    @test_throws DimensionMismatch reshape(td, 5)
    @test reshape(TensorDict((); a = 1), ()) == TensorDict((); a = 1)
end

@testset "order" begin
    @test Array(permutedims(td, (2, 1))["x"]) == permutedims(x, (2, 1, 3))
    @test Array(permutedims(td, [-1, 1])["x"]) == permutedims(x, (2, 1, 3))
    @test transpose(td, 1, 2) == permutedims(td, (2, 1)) == transpose(td, -1, -2)
    @test_throws DimensionMismatch permutedims(td, (1, 1))
    @test_throws DimensionMismatch transpose(td, 1, 3)
    @test_throws ArgumentError permutedims(td, (0, 1))
end

@testset "dimensions of size 1" begin
    wide = unsqueeze(unsqueeze(td, 1), 4)
    @test size(wide) == (1, 2, 3, 1) && size(wide["x"]) == (1, 2, 3, 1, 4)
    @test size(squeeze(wide)) == (2, 3) && squeeze(wide) == td
    @test size(squeeze(wide, 1)) == (2, 3, 1) && size(squeeze(wide, -1)) == (1, 2, 3)
    @test size(squeeze(wide, 2)) == size(wide)
    @test size(dropdims(wide; dims = 4)) == (1, 2, 3)
    @test_throws ArgumentError dropdims(wide; dims = 2)
    @test size(unsqueeze(td, -1)) == (2, 3, 1)
    @test_throws ArgumentError unsqueeze(td, 4)
    @test_throws ArgumentError squeeze(td, 3)
    many = expand(unsqueeze(td, 1), 5, 2, 3)
    @test size(many) == (5, 2, 3) && many[4] == td && pointer(many["x"]) == pointer(td["x"])
    @test size(expand(td, (7, 2, 3))) == (7, 2, 3)
    @test_throws DimensionMismatch expand(td, 4, 3)
end

@testset "apart and together" begin
    parts = unbind(td)
    @test parts isa Vector{TensorDict} && length(parts) == 2 && parts[2] == td[2]
    columns = unbind(td, 2)
    @test length(columns) == 3 && columns[3] == td[:, 3] && eachslice(td; dims = -1) == columns
    @test isempty(unbind(TensorDict(0)))
    @test_throws ArgumentError unbind(td, 3)
    @test stack(parts) == td && stack(columns, 2) == td && stack(columns, -1) == td
    @test size(stack([td, td, td], 3)) == (2, 3, 3)
    @test cat(td[1:1], td[2:2]; dims = 1) == td && [td[1:1]; td[2:2]] == td
    @test cat(td[:, 1:2], td[:, 3:3]; dims = -1) == td
    @test pointer(stack(parts)["x"]) != pointer(td["x"])
    @test_throws DimensionMismatch cat(td, td[:, 1:2]; dims = 1)
    @test_throws DimensionMismatch stack([td[1], td[:, 1]])
    @test_throws TensorDictError stack([td, TensorDict((2, 3); x = x)])
    @test_throws ArgumentError stack(TensorDict[])
    dense = contiguous(permutedims(td, (2, 1)))
    @test iscontiguous(dense["x"]) && dense == permutedims(td, (2, 1))
end

@testset "columns and blocks" begin
    a, b = TensorDict(2; x = [1, 2]), TensorDict(2; x = [3, 4])
    both = [a b]
    @test both isa TensorDict && size(both) == (2, 2) && Array(both["x"]) == [1 3; 2 4]
    @test hcat(a) isa TensorDict && size(hcat(a)) == (2, 1)
    m = TensorDict((2, 2); x = [1 2; 3 4])
    @test Array([m a]["x"]) == [1 2 1; 3 4 2] && Array([m m; m m]["x"]) == repeat([1 2; 3 4], 2, 2)
    @test Array([a b; b a]["x"]) == [1 3; 2 4; 3 1; 4 2]
    @test Array([a; b]["x"]) == [1, 2, 3, 4]
    @test_throws DimensionMismatch [a TensorDict(3; x = [1, 2, 3])]
end
