obs = rand(Float32, 3, 4, 5)
td = TensorDict((3, 4); obs = obs, agents = (reward = zeros(Float32, 3, 4, 1),))

@testset "what it holds" begin
    @test size(td) == (3, 4) && size(td, 2) == 4 && size(td, 3) == 1 && ndims(td) == 2 && length(td) == 3
    @test Array(td["obs"]) == obs && td[:obs] == td["obs"] && td[("obs",)] == td["obs"]
    @test pointer(td["obs"]) == pointer(obs)
    @test td["agents"] isa TensorDict && size(td["agents"]) == (3, 4)
    @test size(td["agents", "reward"]) == (3, 4, 1)
    @test td["agents", "reward"] == td[("agents", "reward")] == td["agents"]["reward"]
    td["agents", "reward"][1, 1, 1] = 7f0
    @test td["agents", "reward"][1, 1, 1][] === 7f0
    @test nbytes(td) == 4 * (60 + 12) && !isempty(td)
    @test device(td) === nothing && !islocked(td) && !ismemmap(td) && saved_path(td) === nothing
end

@testset "ways to make one" begin
    @test size(TensorDict(())) == () && size(TensorDict(3)) == (3,) && size(TensorDict([2, 3])) == (2, 3)
    @test_throws DimensionMismatch length(TensorDict(()))
    @test_throws DimensionMismatch TensorDict((-1,))
    a = TensorDict(2, "x" => [1, 2], ("n", "y") => [1.0, 2.0])
    b = TensorDict(2; x = [1, 2], n = Dict("y" => [1.0, 2.0]))
    c = TensorDict(2; x = Tensor([1, 2]), n = TensorDict(2; y = [1.0, 2.0]))
    @test a == b == c && isequal(a, b) && hash(a) == hash(b)
    @test a != TensorDict(2, "x" => [1, 3], ("n", "y") => [1.0, 2.0])
    @test a != TensorDict((); x = [1, 2])
    on_cpu = TensorDict(2, cpu(); x = [1, 2])
    @test device(on_cpu) == cpu() && device(clear_device!(on_cpu)) === nothing
    @test device(to(a, cpu())) == cpu() && device(to(a, cpu(); non_blocking = true)) == cpu()
    @test eltype(to(a, Float32)["x"]) === Float32
    @test TensorDict((); s = 1.5)["s"][] === 1.5
end

@testset "nested dictionaries are the same, not copies" begin
    outer = TensorDict(2; inner = (x = [1, 2],))
    inner = outer["inner"]
    inner["y"] = [3, 4]
    @test Array(outer["inner", "y"]) == [3, 4]
    mine = TensorDict((2, 3); z = zeros(2, 3))
    outer["mine"] = mine
    mine["z2"] = ones(2, 3)
    @test haskey(outer, "mine", "z2") && size(outer["mine"]) == (2, 3)
end

@testset "copies" begin
    original = TensorDict(2; x = [1, 2], n = (y = [1.0, 2.0],))
    shallow, deep, same = copy(original), deepcopy(original), share(original)
    shallow["new"] = [0, 0]
    @test !haskey(original, "new")
    original["x"][1] = 100
    @test shallow["x"][1][] == 100 && deep["x"][1][] == 1
    same["also"] = [5, 6]
    @test haskey(original, "also")
    @test issame(original, same) && !issame(original, shallow) && !issame(original, deep)
    @test issame(original["n"], same["n"]) && !issame(original["n"], original)
    @test issame(original, reshape(original, 2)) && !issame(original, original[1:1])
    close(same)
    @test_throws ReleasedError issame(original, same)
    nothing_changed = deepcopy([original, original])
    @test nothing_changed[1] === nothing_changed[2] && nothing_changed[1] !== original
end

@testset "lock" begin
    d = TensorDict(2; x = [1, 2], n = (y = [1, 2],))
    @test islocked(lock!(d)) && islocked(d["n"])
    @test_throws TensorDictError d["z"] = [1, 2]
    @test_throws TensorDictError delete!(d, "x")
    @test_throws TensorDictError unlock!(d["n"])
    d["x"][1] = 5
    set_inplace!(d, ("n", "y"), [8, 9])
    @test d["x"][1][] == 5 && Array(d["n", "y"]) == [8, 9]
    @test !islocked(unlock!(d)) && !islocked(copy(lock!(d)))
end

@testset "batch size" begin
    d = TensorDict((2,); x = zeros(2, 3), n = (y = zeros(2, 3, 4),))
    @test size(set_batch_size!(d, (2, 3))) == (2, 3) && size(d["n"]) == (2, 3)
    @test_throws DimensionMismatch set_batch_size!(d, (2, 4))
    @test size(d) == (2, 3)
    @test size(set_batch_size!(d, 2)) == (2,)
end

@testset "set in place" begin
    d = TensorDict(2; x = Float32[1, 2])
    before = pointer(d["x"])
    @test Array(set_inplace!(d, "x", [3.0, 4.0])["x"]) == [3, 4]
    @test pointer(d["x"]) == before && eltype(d["x"]) === Float32
    @test_throws KeyError set_inplace!(d, "y", [1, 2])
    @test Array(set_inplace!(d, :x, 9)["x"]) == [9, 9]
end

@testset "printing" begin
    d = TensorDict(2; b = [1, 2], a = (c = Float32[1, 2],))
    text = "TensorDict(batch_size=[2], fields={a: {c: f32[]}, b: i64[]})"
    @test repr(d) == text && sprint(show, MIME("text/plain"), d) == text && string(d) == text
    @test printed(d) == text && printed(d; compact = true, hide = (:shape,)) == text
    @test printed(d; hide = (:batch_size, :dtype)) == "TensorDict(fields={a: {c: []}, b: []})"
    @test printed(TensorDict(2; b = [1, 2], a = [3, 4]); sorted = false) ==
          "TensorDict(batch_size=[2], fields={b: i64[], a: i64[]})"
    @test occursin("b: Tensor(shape=torch.Size([2]), min=1, max=2)", printed(d; show = (:plain,), brief = true))
    @test_throws ArgumentError printed(d; show = (:shape,), hide = (:shape,))
    @test summary(d) == "2-element TensorDict" && summary(td) == "3×4 TensorDict"
    @test summary(TensorDict(())) == "0-dimensional TensorDict"
    @test summary(d["b"]) == "2-element Tensor of Int64"
end
