# What the pages of docs/guide quote: the regions between the marks.

# Steps of which every twentieth ends an episode.
played(count) = TensorDict(count; observation = Float32.(0:count-1), episode = collect(0:count-1) .÷ 20,
                           next = (done = reshape(collect(0:count-1) .% 20 .== 19, :, 1),))

# What a piece writes lies in a folder that is gone afterwards.
in_scratch(f) = mktempdir(folder -> cd(f, folder))

@testset "entries" begin
    state = TensorDict(2; obs = Float32[0, 0])
    # [set]
    state["agent", "pos"] = Float32[0, 1]
    pos = state["agent", "pos"] # the tensor itself, no copy
    agent = state["agent"]      # the dictionary itself
    # [/set]
    @test Array(pos) == [0, 1] && haskey(agent, "pos")
    step = TensorDict(2; obs = Float32[1, 1], agent = (vel = Float32[1, 1],))
    # [update]
    update!(state, step) # the tensors of `step` are stored in `state`

    lock!(state)
    update_inplace!(state, step) # their values are written into existing entries
    unlock!(state)
    # [/update]
    # [select]
    part = select(state, ("agent", "pos"), "obs")
    rest = exclude(state, ("agent", "pos"), "obs")
    # [/select]
    @test haskey(part, "agent", "pos") && !haskey(part, "agent", "vel")
    @test haskey(rest, "agent", "vel") && !haskey(rest, "obs")
end

@testset "rows of a buffer" begin
    steps = played(100)
    # [sample]
    replay = Replay(500)
    append!(replay, steps)    # steps of batch size [100]: 100 rows
    batch = draw!(replay, 64) # "index" has their places
    # [/sample]
    @test size(batch) == (64,)
end

@testset "a recorder and a learner" begin
    in_scratch() do
        errors_of(batch) = batch["observation"]
        close(Replay(500; folder = "replay"))
        steps = played(100)
        # [record]
        replay = open_replay("replay")
        for step in 1:100
            row = steps[step]  # a row has no batch dimension
            push!(replay, row) # from now on the learner may draw it
        end
        # [/record]
        recorder = replay
        # [learn]
        replay = open_replay("replay"; sampler = :prioritized, alpha = 0.7)
        for _ in 1:10
            batch = draw!(replay, 64)
            errors = errors_of(batch) # learn; "priority_weight" says how much each row counts
            update_priority!(replay, batch["index"], errors)
        end
        save_replay(replay, "checkpoint"; durable = true)
        # [/learn]
        foreach(close, (recorder, replay))
        # [slices]
        replay = load_replay("checkpoint"; sampler = :slices, slice = 16, ends = [("next", "done")], seed = 42)
        batch = draw!(replay, 8 * 16) # 8 slices, one behind the other: batch size [128]
        # [/slices]
        @test size(batch) == (128,)
        close(replay)
    end
end

@testset "a recording" begin
    in_scratch() do
        # [append]
        for episode in 1:5
            chunk = played(100)
            memmap_append("recording", chunk) # all of it, or nothing
        end
        # [/append]
        state = played(3)
        # [checkpoint]
        # durable: a loss of power leaves the old one or this one, too; checksums: for verify_memmap
        memmap(state, "model"; durable = true, checksums = true)
        # [/checkpoint]
        # [verify]
        for damage in verify_memmap("model")
            println("damaged: ", damage.path)
        end
        # [/verify]
        @test isempty(verify_memmap("model"))
        # [pack]
        pack_memmap("recording", "recording.tdz")
        all = load_memmap("recording.tdz") # mapped, not unpacked
        # [/pack]
        @test size(all) == (500,)
        close(all)
    end
end

@testset "sets of other libraries" begin
    path = joinpath(GOLDEN, "..", "datasets", "minari", "cartpole")
    has_hdf5 = try
        close(open_dataset(path))
        true
    catch error
        occursin("TD_ERR_UNSUPPORTED", sprint(showerror, error)) || rethrow()
        false
    end
    has_hdf5 && in_scratch() do
        # [dataset]
        set = open_dataset(path) # what kind it is, is found by looking
        println(length(set), " episodes, ", sum(lengths(set)), " steps")
        println(structure(set)) # no rows; the keys, dtypes and sizes of a step
        # [/dataset]
        # [dataset-read]
        fifth = episode(set, 5) # reads nothing else
        some = rows(set, 21:52) # steps 21 to 52 of all episodes
        # [/dataset-read]
        @test size(fifth) == (lengths(set)[5],) && size(some) == (32,)
        seen = 0
        # [dataset-batches]
        for batch in eachbatch(set, 32; shuffle = true, seed = 42, num_workers = 2)
            seen += size(batch, 1) # learn from it
        end
        # [/dataset-batches]
        @test seen == sum(lengths(set))
        # [dataset-convert]
        convert_dataset(set, :robomimic, "demos.hdf5"; deflate = 4)
        # [/dataset-convert]
        @test lengths(open_dataset("demos.hdf5")) == lengths(set)
        # [dataset-record]
        writer = dataset_writer("mine-v0", :minari; resume = true) # goes on with the set, if there is one
        for i in 1:3
            steps = episode(set, i)     # or what your program has played
            add_episode!(writer, steps) # whatever happens now, it is in the set
        end
        finish!(writer)
        # [/dataset-record]
        @test lengths(open_dataset("mine-v0")) == lengths(set)[1:3]
    end
end
