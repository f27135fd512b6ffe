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
