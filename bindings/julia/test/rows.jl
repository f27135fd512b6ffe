td = TensorDict((2, 3); a = [1 2 3; 4 5 6], n = (b = [1.0 2 3; 4 5 6],))
a(d) = Array(d["a"])

@testset "repeated" begin
    @test a(repeat(td, 1, 2)) == [1 2 3 1 2 3; 4 5 6 4 5 6]
    @test a(tile(td, 2)) == a(repeat(td, 1, 2)) && size(tile(td, 2, 1, 1)) == (2, 2, 3)
    @test_throws DimensionMismatch repeat(td, 2)
    @test a(repeat_interleave(td, 2)) == [1 2 3; 1 2 3; 4 5 6; 4 5 6]
    @test a(repeat_interleave(td, [1, 0, 2], 2)) == [1 3 3; 4 6 6]
end

@testset "turned" begin
    @test a(roll(td, 1, 2)) == [3 1 2; 6 4 5] == a(circshift(td, (0, 1)))
    @test a(roll(td, (1, -1), (1, 2))) == [5 6 4; 2 3 1] && a(circshift(td, 1)) == [4 5 6; 1 2 3]
    @test a(roll(td, 1)) == [6 1 2; 3 4 5]
    @test_throws DimensionMismatch roll(td, (1, 2), 1)
    @test a(reverse(td)) == [6 5 4; 3 2 1] && a(reverse(td; dims = 2)) == [3 2 1; 6 5 4]
    @test a(rot90(td)) == rotl90(a(td)) && a(rot90(td, -1)) == rotr90(a(td)) && a(rot90(td, 2; dims = (1, 2))) == rot180(a(td))
    @test_throws ArgumentError reverse(td; dims = 3)
end

@testset "picked and added" begin
    @test a(gather(td, 2, [3 1; 2 2])) == [3 1; 5 5]
    @test a(gather(td, 2, Tensor([2 0; 1 1]))) == [3 1; 5 5]
    @test_throws ArgumentError gather(td, 2, [4 1; 2 2])
    @test a(pad(td, (0, 1), (1, -1); value = 9)) == [9 1 2; 9 4 5; 9 9 9]
    @test_throws DimensionMismatch pad(td, (-3, 0))
    both = pad_sequence([TensorDict(1; a = [5]), TensorDict(2; a = [6, 7])]; value = -1, masks = "m")
    @test a(both) == [5 -1; 6 7] && Array(both["m", "a"]) == [true false; true true]
    @test_throws DimensionMismatch pad_sequence([td, td]; dim = 4)
    keyed = TensorDict(3; k = [7, 3, 7], v = [1, 2, 3])
    kept, positions = remove_duplicates(keyed, "k")
    @test Array(kept["v"]) == [2, 1] && positions == [2, 1]
    @test Array(isin(keyed, kept[1:1], "k")) == [false, true, false]
    values, groups = group_by(keyed, "k")
    @test Array(values["k"]) == [3, 7] && [Array(group["v"]) for group in groups] == [[2], [1, 3]]
    @test_throws KeyError group_by(keyed, "none")
    @test_throws DimensionMismatch group_by(TensorDict(()), "k")
    @test_throws KeyError isin(keyed, kept, "none")
end

@testset "masks" begin
    mask = [false, true]
    @test a(masked_select(td, mask)) == [4 5 6] && a(masked_select(td, [true false true; false false false])) == [1, 3]
    @test a(masked_fill(td, mask, 9)) == [1 2 3; 9 9 9] && a(td) == [1 2 3; 4 5 6]
    copy = lock!(like(td, 1))
    @test masked_fill!(copy, mask, 0) === copy && a(copy) == [1 1 1; 0 0 0]
    @test a(choose(mask, td, zero(td))) == [0 0 0; 4 5 6] == a(choose(mask, td, 0))
    fewer = TensorDict((2, 3); a = [1 2 3; 4 5 6])
    @test_throws TensorDictError choose(mask, td, fewer)
    @test Array(choose(mask, td, fewer; pad = -1)["n", "b"]) == [-1 -1 -1; 4 5 6]
    wide = expand_right(Tensor(mask), 2, 3)
    @test Array(wide) == [false false false; true true true] && size(expand_as_right(Tensor(mask), wide)) == (2, 3)
    @test_throws DimensionMismatch expand_right(Tensor(mask), 3)
end

@testset "other values" begin
    @test a(like(td, :zeros)) == zeros(Int, 2, 3) && eltype(like(td, 2; type = Float32)["a"]) == Float32
    @test size(like(td, :ones, 4)["n", "b"]) == (4,) && size(like(td, :randn, (); type = Float64)) == ()
    @test size(like(td, :empty)) == size(like(td, :rand; type = Float32)) == (2, 3)
    @test_throws ArgumentError like(td, :twos)
    @test !(td ≈ like(td, 0))
    @test td ≈ become!(zero(td), td) && difference(td, td) === nothing
    @test difference(td, zero(td)) == "\"a\" differs: root mean square difference 3.89444"
    @test isapprox(td, zero(td); atol = 6) && !isapprox(td, zero(td); atol = 5, rtol = 0)
    @test occursin("\"n\"", difference(td, TensorDict((2, 3); a = [1 2 3; 4 5 6])))
    @test isapprox(td, TensorDict((2, 3); a = [1 2 3; 4 5 6]); common_keys = true)
end

@testset "joins" begin
    both = like(td, :zeros, 2, 2, 3)
    @test stack!(both, [td, td]) === both && both == stack([td, td])
    long = like(td, :zeros, 4, 3)
    @test cat!(long, [td, td]; dims = 1, strict = true) == cat(td, td; dims = 1)
    @test_throws DimensionMismatch stack!(long, [td, td])
    flat = TensorDict(2; x = [1, 2], y = [3, 4])
    @test Array(cat_leaves(flat)) == 1:4 && Array(stack_leaves(flat; dim = 2, sorted = true)) == [1 3; 2 4]
    stack_tensors!(flat, ["x", "y"], "xy"; dim = 2)
    @test Array(flat["xy"]) == [1 3; 2 4] && keys(flat) == ["xy"]
    cat_tensors!(flat, ["xy", "xy"], ("n", "z"); dim = -1, keep = true)
    @test Array(flat["n", "z"]) == [1 3 1 3; 2 4 2 4] && haskey(flat, "xy")
    @test dict_kind(maybe_dense_stack([td, td])) == :dense
    @test dict_kind(maybe_dense_stack([td, like(td, 0)[:, 1:2]])) == :lazy
end
