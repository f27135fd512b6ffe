td = TensorDict(5; x = [1, 2, 3, 4, 5], n = (y = [1.0 2; 3 4; 5 6; 7 8; 9 10],))

@testset "pieces in order" begin
    for cut in ((), (chunksize = 2,), (chunksize = 0,), (nchunks = 3,), (chunksize = 2, dims = -1))
        @test map_chunks(identity, td; cut...) == td
    end
    lengths = Int[]
    map_chunks(part -> (push!(lengths, size(part, 1)); nothing), td; nchunks = 2)
    @test lengths == [3, 2]
    @test map_chunks(part -> nothing, td) === nothing
    last = map_chunks((i, part) -> i == 3 ? part : nothing, td; chunksize = 2, numbered = true)
    @test Array(last["x"]) == [5]
    d = TensorDict((2, 3); a = [1 2 3; 4 5 6])
    @test map_chunks(identity, d; dims = 2, chunksize = 0) == d
end

@testset "in place and into another" begin
    d = TensorDict(4; x = [1, 2, 3, 4])
    map_chunks(part -> (part["x"] .*= 2; nothing), d; chunksize = 3)
    @test Array(d["x"]) == [2, 4, 6, 8]
    out = TensorDict(4; x = zeros(4))
    @test map_chunks(identity, d; chunksize = 0, out = out) === out
    @test Array(out["x"]) == [2.0, 4, 6, 8]
    @test_throws TensorDictError map_chunks(identity, d; out = TensorDict(4))
end

@testset "one by one" begin
    @test [Array(part["x"]) for part in MapChunks(identity, td; chunksize = 2)] == [[1, 2], [3, 4], [5]]
    order(seed) = [only(Array(part["x"])) for part in MapChunks(identity, td; chunksize = 1, shuffle = true, seed = seed)]
    @test sort(order(1)) == 1:5 && order(1) == order(1) && any(order(seed) != 1:5 for seed in 1:5)
    calls = 0
    for part in MapChunks(p -> (calls += 1; p), td; chunksize = 0)
        calls == 2 && break
    end
    @test calls == 2
    @test collect(MapChunks(p -> nothing, td)) == []
    @test eltype(MapChunks(identity, td)) === TensorDict
end

struct OddError <: Exception end

@testset "what cannot be done" begin
    @test_throws ArgumentError map_chunks(identity, td; num_workers = 2)
    @test_throws ArgumentError map_chunks(identity, td; chunksize = 2, nchunks = 2)
    @test_throws ArgumentError map_chunks(identity, td; chunksize = -1)
    @test_throws ArgumentError map_chunks(identity, td; dims = 2)
    @test_throws OddError map_chunks(p -> throw(OddError()), td)
    @test_throws OddError collect(MapChunks(p -> throw(OddError()), td))
    @test_throws OddError map_chunks(identity, td; progress = (done, total) -> throw(OddError()))
    @test_throws TypeError map_chunks(p -> 1, td)
    @test Array(map_chunks(p -> map_chunks(identity, p), td)["x"]) == [1, 2, 3, 4, 5]
end

@testset "progress" begin
    told = []
    map_chunks(identity, td; chunksize = 2, progress = (done, total) -> push!(told, done => total))
    @test told == [0 => 3, 1 => 3, 2 => 3, 3 => 3]
    io = IOBuffer()
    map_chunks(identity, td; progress = TensorDicts.progress_bar(io))
    text = String(take!(io))
    @test occursin("  0%|", text) && occursin("100%|" * "#"^40 * "| 1/1 [", text) && endswith(text, "/s]\n")
end
