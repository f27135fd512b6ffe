function record(w, first, n)
    step, reward = bind!(w, "step"), bind!(w, "next", "reward")
    @test TensorDicts.row_bytes(w, step) == 8
    for row in first:first+n-1
        put!(w, step, row)
        put!(w, reward, Float32[row 1; 2 3])
        next!(w)
    end
end
rewards(n) = permutedims(cat([Float32[row 1; 2 3] for row in 0:n-1]...; dims = 3), (3, 1, 2))
like() = TensorDict(1; step = zeros(Int64, 1), next = (reward = zeros(Float32, 1, 2, 2),))

@testset "a folder grows" begin
    mktempdir() do folder
        dir = joinpath(folder, "td")
        w = Writer(dir, like(); background = false, publish_rows = -1, buffer_bytes = 60)
        @test saved_path(w) == dir
        record(w, 0, 10)
        @test size(load_memmap(dir)) == (0,)
        flush(w)
        td = load_memmap(dir)
        @test Array(td["step"]) == 0:9 && Array(td["next", "reward"]) == rewards(10)
        e = try Writer(dir); nothing catch e; e end
        @test e isa TensorDictError && e.status == TensorDicts.TD_ERR_BUSY
        record(w, 10, 3)
        @test rows(w) == 13
        close(w)
        @test memmap_length(dir) == (rows = 13, stored = 13, spare = 0)
        Writer(dir; background = false, durable = true, publish_rows = 2, publish_bytes = 10_000) do w
            record(w, 13, 3)
            @test memmap_length(dir).rows == 15
        end
        @test Array(load_memmap(dir)["step"]) == 0:15
        @test_throws KeyError Writer(w -> bind!(w, "none"), dir)
        @test_throws ArgumentError Writer(dir; shard = :some)
        @test_throws TensorDictError Writer(joinpath(folder, "none"))
    end
end

@testset "a thread writes" begin
    mktempdir() do folder
        dir = joinpath(folder, "td")
        Writer(dir, like(); background = false, publish_rows = 2, meta_ms = -1) do w
            record(w, 0, 6)
            @test isfile(joinpath(dir, ".%rows")) # counted: the meta.json files still say 2
            @test Array(load_memmap(dir)["step"]) == 0:5
        end
        @test !isfile(joinpath(dir, ".%rows"))
        Writer(dir; publish_rows = 2, background = true, buffer_bytes = 80) do w
            record(w, 6, 100)
            flush(w)
            @test Array(load_memmap(dir)["next", "reward"]) == rewards(106)
            record(w, 106, 3)
        end
        @test Array(load_memmap(dir)["step"]) == 0:108
        @test_throws ArgumentError Writer(dir; meta_ms = -2)
    end
end

@testset "dictionaries are appended and taken away" begin
    mktempdir() do dir
        td = TensorDict(2; x = [1, 2])
        memmap(td, dir)
        memmap_append(dir, td; durable = true)
        @test Array(load_memmap(dir)["x"]) == [1, 2, 1, 2]
        @test_throws TensorDictError memmap_append(dir, TensorDict(2; y = [1, 2]))
        memmap_truncate(dir, 3)
        @test Array(load_memmap(dir)["x"]) == [1, 2, 1]
        @test_throws ArgumentError memmap_truncate(dir, 4)
    end
end

@testset "shards are one stack" begin
    mktempdir() do folder
        dir = joinpath(folder, "td")
        a, b = Writer(dir, like(); shard = :new), Writer(dir, like(); shard = :new)
        @test saved_path(b) == joinpath(dir, "1")
        record(a, 0, 2)
        record(b, 2, 3)
        close(a)
        close(b)
        all = cat(unbind(load_memmap(dir), 1)...; dims = 1)
        @test Array(all["step"]) == 0:4
        Writer(w -> (@test saved_path(w) == joinpath(dir, "0")), dir; shard = :any)
        @test saved_path(Writer(contiguous(TensorDict(2; x = [1, 2])))) === nothing
    end
end

@testset "texts and episodes" begin
    mktempdir() do folder
        dir = joinpath(folder, "td")
        td = TensorDict(1; next = (done = [false],))
        set_texts!(td, "task", ["not used"])
        Writer(dir, td) do w
            done, task = bind!(w, "next", "done"), bind!(w, "task")
            for row in 0:4
                put!(w, done, row == 2)
                row == 1 || put!(w, task, "\"$row\" é")
                next!(w)
            end
        end
        @test_throws TensorDictError Writer(dir; resume_at = "done")
        Writer(next!, dir, td; resume_at = ("next", "done"))
        loaded = load_memmap(dir)
        @test size(loaded) == (4,)
        @test [get_text(loaded, "task"; row = row) for row in 1:4] == ["\"0\" é", "", "\"2\" é", ""]
    end
end
