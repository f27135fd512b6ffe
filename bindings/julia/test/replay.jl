# Replay buffers: rings and draws are tested in C; here the way into the language.

rows_from(first, n) = TensorDict(n; a = collect(first:first+n-1), episode = collect(first:first+n-1) .÷ 4,
                                 done = collect(first:first+n-1) .% 4 .== 3)
drawn(replay, rows...) = Array(draw!(replay, rows...)["a"])

@testset "rows go around" begin
    replay = Replay(10; rows = 6)
    append!(replay, rows_from(0, 8))
    push!(replay, rows_from(8, 1)[1])
    append!(replay, rows_from(9, 3))
    @test replay_state(replay) == (len = 10, capacity = 10, cursor = 2, written = 12)
    @test length(replay) == 10
    @test Array(stored(replay)["a"]) == [10, 11, 2, 3, 4, 5, 6, 7, 8, 9]
    @test all(in(2:11), drawn(replay)) && length(drawn(replay)) == 6
    @test occursin("10 of 10", string(replay))
    @test_throws TensorDictError update_priority!(replay, [0], 1.0)
    close(replay)
    @test_throws ReleasedError draw!(replay)
end

@testset "samplers" begin
    once = Replay(9; sampler = :without_replacement, in_order = true, drop_last = true)
    append!(once, rows_from(0, 9))
    @test drawn(once, 4) == 0:3 && drawn(once, 4) == 4:7
    for how in ((episode = "episode",), (ends = ["done"],))
        slices = Replay(16; sampler = :slices, slice = 3, short = true, how...)
        append!(slices, rows_from(0, 16))
        @test all(s -> s[1] ÷ 4 == s[3] ÷ 4 && s[3] == s[1] + 2, Iterators.partition(drawn(slices, 30), 3))
    end
    spanning = Replay(16; sampler = :slices, slice = 3, episode = "episode", span_begin = true, span_end = true)
    append!(spanning, rows_from(0, 16))
    rows = drawn(spanning, 300)
    @test length(rows) < 300 && sort(unique(rows)) == 0:15
    replay = Replay(4; sampler = :prioritized, alpha = 1, beta = 1, eps = 0, batch_weights = true)
    append!(replay, rows_from(0, 4))
    update_priority!(replay, [0, 1, 2, 3], [0.0, 1.0, 0.0, 4.0])
    beta!(replay, 0.5)
    batch = draw!(replay, 64)
    @test all(((i, w),) -> w == (i == 1 ? 1 : 0.5), zip(Array(batch["index"]), Array(batch["priority_weight"])))
    @test_throws ArgumentError Replay(4; sampler = :nope)
    @test_throws ArgumentError Replay(0)
end

@testset "slices" begin
    once = Replay(16; sampler = :slices_without_replacement, slice = 3, ends = ["done"])
    append!(once, rows_from(0, 16))
    @test sort(drawn(once, 12)[1:3:end] .÷ 4) == 0:3
    marked = Replay(16; sampler = :slices, num_slices = 2, ends = ["done"], short = true, span_begin = 1,
                    mark_ends = true, by_slice = true)
    append!(marked, rows_from(0, 10))
    batch = draw!(marked, 6)
    @test size(batch) == (2, 3)
    mask, last = Array(batch["collector", "mask"]), Array(batch["next", "truncated"])
    for slice in 1:2
        length = count(mask[slice, :])
        @test mask[slice, :] == (1:3 .<= length) && vec(last[slice, :, :]) == (1:3 .== length)
    end
    replay = Replay(16; sampler = :prioritized_slices, slice = 3, ends = ["done"], alpha = 1, beta = 1, eps = 0,
                    priority_key = "a", largest_within = true, batch_weights = true)
    append!(replay, rows_from(0, 16))
    @test all(s -> s[1] % 4 < 2 && s[3] == s[1] + 2, Iterators.partition(drawn(replay, 30), 3))
    time = Replay(16; dims = 2)
    append!(time, TensorDict((2, 4); a = collect(reshape(0:7, 4, 2)')))
    batch = draw!(time, 5)
    index = Array(batch["index"])
    @test Array(batch["a"]) == 4 .* index[:, 1] .+ index[:, 2]
end

@testset "returns and goals" begin
    td = rows_from(0, 8)
    td["next", "reward"] = Float32.(0:7)
    td["achieved_goal"] = Float32.(0:7)
    td["desired_goal"] = fill(-1.0f0, 8)
    replay = Replay(8; sampler = :without_replacement, in_order = true, ends = ["done"], n_steps = 2, gamma = 0.5,
                    rewards = [("next", "reward")], mask = "done")
    append!(replay, td)
    batch = draw!(replay, 8)
    @test Array(batch["next", "reward"]) == Float32[0.5, 2, 3.5, 3, 6.5, 8, 9.5, 7]
    @test Array(batch["steps_to_next_obs"]) == [2, 2, 2, 1, 2, 2, 2, 1]
    @test_throws ArgumentError Replay(8; n_steps = 2, gamma = 0)
    replay = Replay(8; ends = ["done"])
    append!(replay, td)
    rewarding = TensorDictModule(["desired_goal"], [("next", "reward")]) do source
        source["next", "reward"] = 2 .* Array(source["desired_goal"])
        nothing
    end
    may = (future = (row, from) -> from >= row && from ÷ 4 == row ÷ 4, final = (row, from) -> from == row ÷ 4 * 4 + 3,
           episode = (row, from) -> from ÷ 4 == row ÷ 4, random = (_, from) -> from < 8)
    for (strategy, allowed) in pairs(may)
        batch = draw_hindsight!(replay, 64; strategy, ratio = 0.5, rewarding)
        rows, goals, rewards = Array(batch["a"]), Array(batch["desired_goal"]), Array(batch["next", "reward"])
        @test all(allowed(rows[i], goals[i]) && rewards[i] == 2 * goals[i] for i in 1:32)
        @test all(goals[i] == -1 && rewards[i] == rows[i] for i in 33:64)
    end
    failing = TensorDictModule(_ -> error("no reward"), ["desired_goal"], [("next", "reward")])
    @test_throws ErrorException draw_hindsight!(replay, 8; rewarding = failing)
    @test_throws ArgumentError draw_hindsight!(replay, 8; ratio = 2)
    @test_throws ArgumentError draw_hindsight!(replay, 8; strategy = :nope)
end

@testset "folders" begin
    mktempdir() do folder
        live = joinpath(folder, "live")
        writer = Replay(8; folder = live)
        reader = open_replay(live)
        append!(writer, rows_from(0, 5))
        @test length(reader) == 5 && all(<(5), drawn(reader, 20))
        save_replay(writer; durable = true)
        save_replay(reader, joinpath(folder, "saved"))
        loaded = load_replay(joinpath(folder, "saved"))
        @test drawn(loaded, 20) == drawn(reader, 20)
        @test_throws TensorDictError load_replay(joinpath(folder, "none"))
        foreach(close, (writer, reader, loaded))
    end
end
