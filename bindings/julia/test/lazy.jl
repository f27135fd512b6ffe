element(values, own) = TensorDict((), "x" => values, own => 1)

@testset "shapes may differ" begin
    one, two = element([1, 2], "p"), element([3], "q")
    lazy = lazy_stack([one, two])
    @test dict_kind(lazy) == :lazy && dict_kind(one) == :dense && size(lazy) == (2,)
    @test lazy_info(lazy) == (1, 2) && issame(lazy[2], two)
    @test keys(lazy) == ["x"] && exclusive_keys(lazy) == ["p", "q"]
    @test_throws DimensionMismatch lazy["x"]
    @test asarray(padded(lazy, "x"; value = 9, left = true)) == [1 2; 9 3]
    flat = jagged(lazy, "x")
    @test asarray(flat.values) == [1, 2, 3] && asarray(flat.offsets) == [0, 2, 3]
    @test_throws DimensionMismatch densify(lazy)
    @test asarray(densify(lazy; pad = true)["x"]) == [1 2; 3 0]
    one["x"] = [5]
    @test asarray(lazy["x"]) == reshape([5, 3], 2, 1)
    @test !isuniquelyowned(one) && isuniquelyowned(TensorDict(2))
end

@testset "elements come in" begin
    lazy = lazy_stack([element([1, 2], "p")])
    @test push!(lazy, element([3, 4], "p")) === lazy
    insert!(lazy, 1, element([5, 6], "p"))
    append!(lazy, [element([7, 8], "p")])
    @test asarray(lazy["x"]) == [5 6; 1 2; 3 4; 7 8]
    @test_throws BoundsError insert!(lazy, 0, element([1], "p"))
    @test_throws TensorDictError lazy_info(TensorDict(2))
end

@testset "to lazy and back" begin
    td = TensorDict((2, 3); a = [1 2 3; 4 5 6])
    lazy = to_lazy_stack(td, 2)
    @test dict_kind(lazy) == :lazy && lazy == td && densify(lazy) == td
end

@testset "sub-tensordicts write through" begin
    td = TensorDict(4; x = [0, 1, 2, 3])
    part = sub_tensordict(td, [4, 2])
    @test dict_kind(part) == :sub_tensordict && issame(parent(part), td)
    set_inplace!(part, "x", [30, 10])
    part["new"] = [1, 2]
    @test asarray(td["x"]) == [0, 10, 2, 30] && asarray(td["new"]) == [0, 2, 0, 1]
    @test_throws TensorDictError part["x"] = [0, 0]
    @test_throws TensorDictError parent(td)
end
