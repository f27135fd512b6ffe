@testset "sequences" begin
    one, two = TensorDict(1; a = [5]), TensorDict(2; a = [6, 7])
    both = pad_sequence([one, two]; left = true, values = ["a" => 9], masks = "masks")
    @test Array(both["a"]) == [9 5; 6 7]
    @test Array(both["masks", "a"]) == [false true; true true]
    samples = unpad_sequence(both)
    @test Array(samples[1]["a"]) == [5] && Array(samples[2]["a"]) == [6, 7]
    bare = exclude(both, "masks")
    @test Array(unpad_sequence(bare; masks = both["masks"])[1]["a"]) == [5]
    @test Array(unpad_sequence(bare; masks = both["masks", "a"])[1]["a"]) == [5]
    @test_throws TensorDictError unpad_sequence(bare)
    @test_throws TensorDictError pad_sequence([one]; values = ["x" => 1])

    one, two = TensorDict((); a = [5], r = [1, 2]), TensorDict((); a = [6, 7], r = [3])
    @test dict_kind(collate([one, two])) == :lazy
    dense = collate([one, two]; pad = ["a" => 9], nested = ["r"], masks = "m")
    @test Array(dense["a"]) == [5 9; 6 7]
    @test Array(dense["m", "a"]) == [true false; true true]
end

@testset "packing" begin
    td = TensorDict(2; p = [0.0, 1.0], a = [5.0 6.0; 7.0 8.0])
    packed, layout = pack(td)
    @test Array(packed) == [5.0 6.0 0.0; 7.0 8.0 1.0]
    @test Array(unpack(layout, packed)["a"]) == [5.0 6.0; 7.0 8.0]
    @test layout == last(pack(td)) && occursin("\"numel\":3", layout.json)
    first_dim, _ = pack(td, 1)
    @test size(first_dim) == (3, 2)
    @test_throws ArgumentError pack(td, 3)
end

@testset "several keys renamed" begin
    td = TensorDict(2; a = [1, 2], b = [3, 4])
    other = rename_keys(td, "a" => "b", "b" => "a")
    @test Array(other["a"]) == [3, 4] && Array(td["a"]) == [1, 2]
    @test_throws TensorDictError rename_keys(td, "x" => "y")
    @test length(rename_keys(td, "x" => "y"; strict = false)) == 2
end

@testset "some tensors converted" begin
    td = TensorDict(1; f = Float32[1], i = [1])
    half = to(td; dtype = Float16, kinds = :floating)
    @test eltype(half["f"]) == Float16 && eltype(half["i"]) == Int64
    one = to(td; dtype = Float64, keys = ["i"])
    @test eltype(one["i"]) == Float64 && eltype(one["f"]) == Float32
end
