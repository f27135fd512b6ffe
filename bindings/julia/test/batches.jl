# Minibatches: orders and borders are tested in C; here the way into the language.

line(n) = TensorDict(n; a = collect(0:n-1), episode = collect(0:n-1) .÷ 4)
rows_of(batch) = Array(batch["a"])

@testset "a loop is one epoch" begin
    td = line(10)
    @test map(rows_of, eachbatch(td, 4)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    order(workers) = reduce(vcat, map(rows_of, eachbatch(td, 4; shuffle = true, seed = 7, num_workers = workers, epochs = 2)))
    once = order(0)
    @test once == order(2) && once[1:10] != once[11:20]
    @test sort(once[1:10]) == 0:9
    loader = eachbatch(td, 3; partial = false)
    @test length(collect(loader)) == 3 && length(collect(loader)) == 3
    @test occursin("epoch 2", string(loader))
    close(loader)
    @test_throws ReleasedError iterate(loader)
end

@testset "a loader goes on where another was" begin
    td = line(10)
    new() = eachbatch(td, 3; shuffle = true, seed = 1, num_workers = 1)
    one, other = new(), new()
    iterate(one)
    iterate(one)
    load_loader_state!(other, loader_state(one))
    @test rows_of(first(iterate(one))) == rows_of(first(iterate(other)))
    @test_throws TensorDictError load_loader_state!(other, TensorDict(()))
end

@testset "slices, weights, ranks and keys" begin
    td = line(10)
    batch = first(eachbatch(td, 2; slice = 3, slice_step = 1, episode = "episode", keys = ["a"]))
    @test size(batch) == (2, 3) && rows_of(batch) == [0 1 2; 1 2 3] && !haskey(batch, "episode")
    @test rows_of(first(eachbatch(td, 10; slice = 3, episode = "episode", short = true, concatenate = true))) == 0:9
    ended = TensorDict(4; a = 0:3, done = [false, true, false, true])
    @test rows_of(first(eachbatch(ended, 2; slice = 2, ends = ["done"]))) == [0 1; 2 3]
    @test all(rows_of(b) == [6, 6] for b in eachbatch(td, 2; weights = [i == 6 ? 1.0 : 0.0 for i in 0:9], draws = 8))
    @test sum(length(rows_of(b)) for b in eachbatch(td, 4; replace = true, draws = 30)) == 30
    @test sort(reduce(vcat, rows_of(b) for r in 0:2 for b in eachbatch(td, 2; shuffle = true, seed = 5, rank = r, world_size = 3))) == 0:9
    doubled = first(eachbatch(td, 4; transform = batch -> batch * 2))
    @test rows_of(doubled) == [0, 2, 4, 6]
    batches = eachbatch(td, 5; reuse = true)
    one, state = iterate(batches)
    iterate(batches, state)
    @test !isopen(one)
    @test_throws ArgumentError eachbatch(td, 0)
    @test_throws TensorDictError eachbatch(td, 1; slice = 2, ends = ["nope"])
end

@testset "random numbers have generators" begin
    one, other = Generator(42), Generator(1)
    order(generator) = Array(TensorDicts.randperm(50; generator = generator))
    @test sort(order(one)) == 0:49
    TensorDicts.load_state!(other, TensorDicts.state(one))
    @test order(one) == order(other)
    @test all(in(3:4), Array(TensorDicts.randint(3:4, 20; dtype = Int32)))
    @test Array(TensorDicts.arange(4:-2:1; dtype = Float32)) == [4, 2]
    @test Array(TensorDicts.arange(1:3)) == [1, 2, 3]
    @test_throws ArgumentError TensorDicts.randperm(-1)
end
