@testset "made and read" begin
    td = TensorDict(2; r = NestedTensor([[1, 2], [3]]), x = [7, 8])
    r = td["r"]
    @test r isa NestedTensor && length(r) == 2 && asarray(r[end]) == [3]
    @test [asarray(part) for part in r] == [[1, 2], [3]]
    @test_throws BoundsError r[3]
    all, sizes = flat(r)
    @test asarray(all) == [1, 2, 3] && asarray(sizes) == reshape([2, 1], 2, 1)
    again = NestedTensor(all, sizes)
    values, mask = padded(again; value = -1, left = true)
    @test asarray(values) == [1 2; -1 3] && asarray(mask) == [true true; false true]
    @test_throws DimensionMismatch NestedTensor([1, 2], [1 1])
    @test_throws DimensionMismatch setindex!(TensorDict(3), r, "r")
    @test sprint(show, r) == "NestedTensor of 2 parts"
end

@testset "it follows the dictionary" begin
    td = TensorDict(2; r = NestedTensor([[1, 2], [3]]))
    @test asarray(td[1]["r"]) == [1, 2] && length(td[[2]]["r"]) == 1
    @test td == copy(td) && length(deepcopy(td)["r"]) == 2
    @test_throws TensorDictError -td
    dir = joinpath(mktempdir(), "td")
    memmap(td, dir)
    @test load_memmap(dir) == td
    @test asarray(pop!(td, "r")[1]) == [1, 2]
    lazy = lazy_stack([TensorDict((); x = [1, 2]), TensorDict((); x = [3])])
    @test asarray(densify(lazy; nested_tensor = true)["x"][2]) == [3]
end

@testset "sub-tensordicts in folders" begin
    td = TensorDict(3; x = [0, 1, 2])
    part = sub_tensordict(td, 2:3)
    whole, dense = joinpath(mktempdir(), "w"), joinpath(mktempdir(), "d")
    memmap(part, whole)
    @test dict_kind(load_memmap(whole)) == :sub_tensordict && asarray(load_memmap(whole)["x"]) == [1, 2]
    memmap(part, dense; dense_sub_tensordicts = true)
    @test dict_kind(load_memmap(dense)) == :dense
end
