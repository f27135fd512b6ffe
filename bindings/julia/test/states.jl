sample() = TensorDict(2; a = [1, 2], n = (b = Float32[3, 4],))

@testset "states are loaded again" begin
    for nested in (false, true)
        td = sample()
        state = deepcopy(state_dict(td; nested = nested))
        a = td["a"]
        apply!(t -> zeros(size(t)), td)
        @test load_state_dict!(td, state) === td && Array(a) == [1, 2]
        @test haskey(state, "n.b") == !nested
        load_state_dict!(td, state; assign = true, flat = !nested)
        @test pointer(td["a"]) == pointer(state["a"])
    end
    td = sample()
    state = state_dict(td; keep_vars = true)
    delete!(state, "n.b")
    @test_throws TensorDictError load_state_dict!(td, state)
    @test load_state_dict!(td, state; strict = false) === td
end

@testset "structures" begin
    td = sample()
    text = schema(td)
    @test schema(from_schema(text)) == text
    @test Array(from_schema(text)["n", "b"]) == [0, 0]
    @test device(from_schema(text; content = :meta)["a"]) == Device("meta")
    @test device(from_schema(text; content = :undef, device = cpu())) == cpu()
    @test_throws ArgumentError from_schema(text; content = :ones)
    @test_throws TensorDictError from_schema("{}")
end

@testset "as a Dict" begin
    td = sample()
    d = Dict(td)
    @test d["a"] == td["a"] && d["n"] isa Dict && Array(d["n"]["b"]) == [3, 4]
    @test TensorDict(2, d) == td
end
