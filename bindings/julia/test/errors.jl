td = TensorDict((2, 3); x = zeros(2, 3))

caught(f) = try f(); nothing catch e; e end

@test caught(() -> td["missing"]) == KeyError("missing")
@test caught(() -> td["a", "b"]) == KeyError(("a", "b"))
@test caught(() -> td[:missing]).key === :missing
@test_throws KeyError td["x", "y"]

@testset "sizes" begin
    e = caught(() -> td["y"] = zeros(3))
    @test e isa DimensionMismatch && occursin("[3]", e.msg) && occursin("[2, 3]", e.msg)
    @test !haskey(td, "y")
end

@testset "others" begin
    locked = lock!(TensorDict(2; x = [1, 2]))
    e = caught(() -> locked["y"] = [1, 2])
    @test e isa TensorDictError && e.status == TensorDicts.TD_ERR_LOCKED && e.call == "td_set"
    text = sprint(showerror, e)
    @test startswith(text, "TensorDictError: ") && endswith(text, "(TD_ERR_LOCKED in td_set)") && !occursin('\n', text)

    @test caught(() -> load_memmap("/nowhere/at/all")).status == TensorDicts.TD_ERR_IO
    loop = TensorDict(2; inner = NamedTuple())
    @test caught(() -> loop["inner"]["outer"] = loop).status == TensorDicts.TD_ERR_CYCLE
    @test caught(() -> TensorDict(2; x = [1, 2])["x", "y"] = [1, 2]).status == TensorDicts.TD_ERR_KEY_EXISTS
    @test TensorDicts.status_name(0) == "TD_OK" && TensorDicts.status_name(12345) == "TD_ERR_UNKNOWN"
end

@testset "after close" begin
    d = TensorDict(2; x = [1, 2])
    t = d["x"]
    @test isopen(d) && close(d) === nothing && !isopen(d)
    close(d)
    @test_throws ReleasedError keys(d)
    @test_throws ReleasedError size(d)
    @test_throws ReleasedError stack([d])
    @test Array(t) == [1, 2]
    @test repr(d) == "closed TensorDict"
    @test sprint(showerror, ReleasedError(:dictionary)) == "ReleasedError: this dictionary was closed"
end

# An error in between does not disturb the text of another.
let first_error = caught(() -> td["y"] = zeros(5))
    caught(() -> td["missing"])
    @test occursin("[5]", first_error.msg)
end
