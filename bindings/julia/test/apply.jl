td = TensorDict(2; a = Float32[1, 2], n = (b = Float32[3, 4], empty = NamedTuple()))

@testset "what comes back" begin
    @test Array(map(t -> t .* 2, td)["n", "b"]) == [6, 8]
    @test eltype(map(t -> to(t, Int64), td)["a"]) === Int64
    @test map(identity, td) == td && pointer(map(identity, td)["a"]) == pointer(td["a"])
    @test Array(apply(t -> t .+ 1, td)["a"]) == [2, 3]
    seen = []
    apply(td; named = true) do key, t
        push!(seen, key => Array(t))
        nothing
    end
    @test seen == ["a" => [1, 2], ("n", "b") => [3, 4]]
    @test_throws DimensionMismatch map(t -> [1, 2, 3], td)
end

@testset "dropped entries" begin
    without_b(; options...) = apply((key, t) -> key == "a" ? t : nothing, td; named = true, options...)
    @test keys(without_b(); nested = true) == ["a", "n", ("n", "empty")] || keys(without_b(); nested = true) == ["a"]
    @test keys(without_b(filter_empty = true); nested = true) == ["a"]
    @test keys(without_b(filter_empty = false); nested = true) == ["a", "n", ("n", "empty")]
end

@testset "nothing left" begin
    @test apply(t -> nothing, td; filter_empty = true) === nothing
    flat = TensorDict(2; a = [1, 2])
    @test apply(t -> nothing, flat) === nothing
    @test isempty(apply(t -> nothing, flat; filter_empty = false))
end

@testset "other dictionaries beside" begin
    one, two = TensorDict(2; a = [1, 2], n = (b = [3, 4],)), TensorDict(2; a = [10, 20], only = [0, 0])
    add(tensors...) = .+(tensors...)
    @test_throws TensorDictError apply(add, one, two)
    @test Array(apply(add, one, one, one)["n", "b"]) == [9, 12] && Array(map(add, one, one)["a"]) == [2, 4]
    @test Array(apply((x, y) -> y === nothing ? x : y, one, two; default = nothing)["n", "b"]) == [3, 4]
    filled = apply((x, y) -> x .+ y, one, two; default = 100)
    @test Array(filled["n", "b"]) == [103, 104] && Array(filled["a"]) == [11, 22] && !haskey(filled, "only")
    seen = []
    apply((key, x, y) -> (push!(seen, key => typeof(x)); x), one, one; named = true, call_on_nested = true)
    @test seen == ["a" => Tensor, "n" => TensorDict]
    swapped = apply(x -> x isa TensorDict ? [7, 8] : TensorDict(2; c = x), one; call_on_nested = true)
    @test Array(swapped["n"]) == [7, 8] && Array(swapped["a", "c"]) == [1, 2]
    d = deepcopy(one)
    @test Array(apply!((x, y) -> x .* y, d, one)["a"]) == [1, 4]
    @test_throws OverflowError apply((x, y) -> throw(OverflowError("stop")), one, one)
end

@testset "what the result looks like" begin
    d = TensorDict((2, 3); a = ones(2, 3))
    @test size(apply(identity, d; batch_size = (2,))) == (2,)
    @test device(apply(identity, d; device = "meta")) == Device("meta")
    @test apply(identity, d; names = ["time", nothing]) == d
    @test_throws ArgumentError apply(identity, d; names = ["time"])
    @test_throws ArgumentError apply(identity, d; names = ["a\0b", nothing])
    out = TensorDict((2, 3); kept = zeros(2, 3))
    @test apply(t -> t .+ 1, d; out = out) === out
    @test Array(out["a"]) == fill(2, 2, 3) && haskey(out, "kept")
    @test_throws TensorDictError apply(identity, d; out = lock!(out))
end

@testset "in place" begin
    d = deepcopy(td)
    before = pointer(d["a"])
    @test apply!(t -> t .* 10, d) === d
    @test Array(d["a"]) == [10, 20] && Array(d["n", "b"]) == [30, 40] && pointer(d["a"]) == before
    apply!((key, t) -> key == "a" ? t .+ 1 : t, d; named = true)
    @test Array(d["a"]) == [11, 21] && Array(d["n", "b"]) == [30, 40]
    @test islocked(apply(identity, lock!(d); propagate_lock = true)) && !islocked(apply(identity, d))
end

@testset "what is kept from a callback lives on" begin
    kept = Tensor[]
    map(t -> (push!(kept, t); t), td)
    GC.gc()
    @test Array.(kept) == [[1, 2], [3, 4]]
end

struct OddError <: Exception
    value::Vector{Int}
end

@testset "exceptions" begin
    thrown = OddError([1, 2])
    calls = 0
    caught = try
        map(t -> (calls += 1; throw(thrown)), td)
    catch e
        e
    end
    @test caught === thrown && calls == 1
    @test_throws ErrorException("plain") map(t -> error("plain"), td)
    @test_throws KeyError map(t -> td["none"], td)
    @test_throws DivideError apply!(t -> div(1, 0), td)
    # Also through a walk within a walk, and from one without an error after it.
    @test_throws OddError map(t -> map(s -> throw(thrown), td), td)
    @test map(t -> map(identity, td)["a"], td) == map(t -> [1f0, 2f0], td)
    # A value that is thrown need not be an exception, and can be nothing.
    caught = try map(t -> throw(nothing), td); 1 catch e; e end
    @test caught === nothing
    @test_throws MethodError map(t -> "text", td)
end

@noinline fails_here(arguments...) = error("from inside")

# What is shown of an exception: with the stack trace of each that led to it.
function shown_error(f)
    try
        f()
    catch
        stack = isdefined(Base, :current_exceptions) ? Base.current_exceptions() : Base.catch_stack()
        @test first(last(stack)) isa ErrorException
        return sprint(io -> foreach(((e, trace),) -> showerror(io, e, trace), stack))
    end
end

@testset "the stack trace of what a function throws" begin
    td = TensorDict(2; n = (x = [1, 2],))
    other = TensorDict(2; n = (x = [3, 4],))
    for f in (() -> map(fails_here, td), () -> apply(fails_here, td, other), () -> map_chunks(fails_here, td; chunksize = 1),
              () -> collect(MapChunks(fails_here, td; chunksize = 1)), () -> flatten_keys(td; is_leaf = fails_here),
              () -> merge_tensordicts(fails_here, td, other))
        text = shown_error(f)
        @test occursin("from inside", text) && occursin("fails_here", text)
    end
end
