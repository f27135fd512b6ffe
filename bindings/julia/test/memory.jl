# Handles that finalizers find, arrays that the library lets go of, scopes.

function busy()
    td = TensorDict((3, 4); x = rand(3, 4), n = (y = rand(Float32, 3, 4, 2),))
    for part in unbind(td)
        part[1:2, newaxis]["x"][1] = 5
    end
    joined = stack([td, td])
    total = sum(sum(asarray(t)) for (key, t) in pairs(map(t -> t .+ 1, joined); nested = true, leaves = true))
    try map(t -> error("no"), td) catch end
    try td["none"] catch end
    try td["bad"] = [1, 2] catch end
    td[[1, 3]] = 0
    total
end

@testset "everything goes back" begin
    GC.gc()
    before, lent_before = TensorDicts.live_handles(), TensorDicts.lent()
    for _ in 1:20
        busy()
    end
    GC.gc()
    GC.gc()
    @test TensorDicts.live_handles() == before
    @test TensorDicts.lent() == lent_before
end

# Calls of their own, as a test set may hold on to what its lines have made.
lend_and_use() = (td = TensorDict(1000; x = collect(1.0:1000)); GC.gc(); (td, sum(Array(td["x"]))))
lent_after(f) = (f(); GC.gc(); TensorDicts.lent())

@testset "arrays live as long as the tensor" begin
    before = TensorDicts.lent()
    td, total = lend_and_use()
    @test total == 500500
    @test lent_after(() -> nothing) == before + 1
    @test lent_after(() -> delete!(td, "x")) == before
end

@testset "scope" begin
    kept = nothing
    before = TensorDicts.live_handles()
    result = TensorDicts.scope() do
        td = TensorDict(2; x = [1, 2])
        kept = td
        inner = TensorDicts.scope(() -> td["x"])
        @test isopen(inner)
        td[1:1]
    end
    @test isopen(result) && !isopen(kept) && size(result) == (1,)
    @test TensorDicts.live_handles() == before + 1
    close(result)
    array = TensorDicts.scope(() -> asarray(TensorDict(2; x = [1, 2])["x"]))
    GC.gc()
    @test array == [1, 2]
    pair = TensorDicts.scope(() -> (a = Tensor(1), rest = [Tensor(2)]))
    @test pair.a[] == 1 && pair.rest[1][] == 2
    @test_throws ErrorException TensorDicts.scope(() -> (kept = Tensor(1); error("out")))
    @test !isopen(kept)
end

struct Holder
    inner::Any
end

TensorDicts.@tensorclass struct Scoped
    x
end

@testset "scope leaves open what can be reached from its result" begin
    row() = TensorDict(2; x = [1, 2])
    function open_after(f)
        result = TensorDicts.scope(() -> TensorDicts.scope(f))
        GC.gc()
        result
    end
    w = open_after(() -> Writer(TensorDict(2; x = zeros(Tensor, Float32, 2))))
    x = bind!(w, "x")
    put!(w, x, 1.5f0)
    next!(w)
    @test rows(w) == 1
    close(w)
    @test Array(open_after(() -> NestedTensor([[1, 2], [3]]))[2]) == [3]
    @test Array(open_after(() -> Scoped(row())).x) == [1, 2]
    @test size(open_after(() -> Dict("a" => row()))["a"]) == (2,)
    @test size(last(open_after(() -> 1 => row()))) == (2,)
    @test size(open_after(() -> Holder(Any[Ref(row())])).inner[1][]) == (2,)
    @test size(open_after(() -> (td = row(); () -> td))()) == (2,)
    @test open_after(() -> Set([row()["x"]])) |> first |> isopen
    # An array keeps its memory, whatever becomes of the scopes around it.
    arrays = Any[]
    TensorDicts.scope(() -> push!(arrays, TensorDicts.scope(() -> asarray(row()["x"]))) === nothing)
    @test isopen(parent(arrays[1])) && arrays[1] == [1, 2]
    # What leads nowhere: no handle is kept by it.
    before = TensorDicts.live_handles()
    @test TensorDicts.scope(() -> (row(); (nothing, Int, TensorDicts, :x, "x", [1 2], Any[]))) isa Tuple
    loop = Any[]
    push!(loop, loop)
    @test TensorDicts.scope(() -> (row(); loop)) === loop
    @test TensorDicts.live_handles() == before
end

@testset "many" begin
    before = TensorDicts.live_handles()
    for i in 1:10_000
        close(Tensor([i]))
    end
    @test TensorDicts.live_handles() == before
    @test length(TensorDicts.ROOTS) < 1000
end

@testset "the collector is told of large results" begin
    limit = TensorDicts.GC_AFTER[]
    TensorDicts.GC_AFTER[] = 1 << 20
    alive() = (GC.gc(); TensorDicts.live_handles())
    before = alive()
    most = 0
    for _ in 1:2000
        copy(zeros(Tensor, Float64, 1000))
        most = max(most, TensorDicts.live_handles())
    end
    TensorDicts.GC_AFTER[] = limit
    @test most - before < 2000
end

# Calls of their own, so that nothing of the last round is kept.
batches(td, positions, rounds) = maximum([(td[positions]; TensorDicts.live_handles()) for _ in 1:rounds])
entries_of(td, positions, rounds) = maximum([(td[positions]["x"]; TensorDicts.live_handles()) for _ in 1:rounds])

function with_limit(f, bytes)
    limit = TensorDicts.GC_AFTER[]
    TensorDicts.GC_AFTER[] = bytes
    try
        f()
    finally
        TensorDicts.GC_AFTER[] = limit
    end
end
collections() = Base.gc_num().pause

@testset "minibatches do not use up memory" begin
    td = TensorDict(1000; x = zeros(Tensor, Float32, 1000, 256))    # 1 MB
    positions = collect(1:1000)
    GC.gc()
    before = TensorDicts.live_handles()
    with_limit(1 << 24) do
        @test batches(td, positions, 400) - before < 150
        @test entries_of(td, positions, 400) - before < 300
        @test maximum([(2 * td; TensorDicts.live_handles()) for _ in 1:400]) - before < 150
        @test maximum([(TensorDict(td[positions]["x"] |> size |> first; y = td[positions]["x"]);
                        TensorDicts.live_handles()) for _ in 1:200]) - before < 400
    end
end

@testset "what shares memory is not charged" begin
    td = TensorDict(1000; x = zeros(Tensor, Float32, 1000, 256), n = (y = zeros(Tensor, Float32, 1000),))
    array = zeros(Float32, 1000, 256)
    with_limit(1 << 24) do
        GC.gc()
        before, charged = collections(), TensorDicts.UNCOLLECTED[]
        for i in 1:100
            contiguous(td)
            contiguous(td["x"])
            td[i], td[1:end], td["n"], share(td), copy(td), reshape(td, 10, 100), Tensor(array)
        end
        @test collections() == before && TensorDicts.UNCOLLECTED[] <= charged
        for i in 1:100
            TensorDicts.scope(() -> (deepcopy(td); nothing))    # given back at once
        end
        @test collections() == before && TensorDicts.UNCOLLECTED[] <= charged
    end
    GC.enable(false)
    TensorDicts.UNCOLLECTED[] = 0
    made = td[[1, 2]]
    @test TensorDicts.UNCOLLECTED[] == nbytes(made) == 2 * 257 * 4
    close(made)
    @test TensorDicts.UNCOLLECTED[] == 0
    GC.enable(true)
end

# Arrays of 4 MB that the library has let go of.
function lend_large(rounds, gone)
    for _ in 1:rounds
        A = zeros(UInt8, 1 << 22)
        finalizer(_ -> gone[] += 1, A)
        close(Tensor(A))
    end
end

@testset "arrays go when the tensor has gone" begin
    gone = Ref(0)
    lend_large(40, gone)
    @test sum(r.bytes for r in TensorDicts.ROOTS) <= 5 << 22
    GC.gc()    # looks through what is left, also when nothing is lent any more
    GC.gc()
    @test gone[] >= 35
end
