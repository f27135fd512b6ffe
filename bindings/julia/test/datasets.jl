dataset_folder = joinpath(@__DIR__, "..", "..", "..", "tests", "data", "datasets")

function open_or_nothing(name; options...)
    try
        open_dataset(joinpath(dataset_folder, name); options...)
    catch error
        occursin("TD_ERR_UNSUPPORTED", sprint(showerror, error)) || rethrow()
        nothing
    end
end

# FNV-1a of 64 bits.
hash_bytes(bytes, hash = 0xcbf29ce484222325) = foldl((hash, byte) -> xor(hash, UInt64(byte)) * 0x00000100000001b3, bytes; init = hash)

function hash_entry(flat, key)
    entry = flat[key]
    entry isa Tensor || return foldl((hash, row) -> hash_bytes([codeunits(get_text(flat, key; row = row)); 0x00], hash), 1:size(flat, 1); init = 0xcbf29ce484222325)
    array = Array(entry)
    hash_bytes(reinterpret(UInt8, vec(ndims(array) < 2 ? array : permutedims(array, ndims(array):-1:1))))
end

# The list of tests/conformance, which every language reads; the README there describes it.
@testset "all sets have the hashes of the list" begin
    flat_or_nothing(name, words) =
        try
            set = open_dataset(name)
            @test [string(dataset_kind(set)), string(length(set)), string(sum(lengths(set)))] == words
            flatten_keys(flat(set), "/")
        catch error
            occursin("TD_ERR_UNSUPPORTED", sprint(showerror, error)) || rethrow()
            nothing
        end
    rows, entries = nothing, 0
    for line in eachline(joinpath(dataset_folder, "..", "..", "conformance", "datasets.txt"))
        words = split(line)
        if !startswith(line, ' ')
            rows = flat_or_nothing(joinpath(dataset_folder, "..", words[1]), words[2:end])
        elseif rows !== nothing
            @test (words[1], string(hash_entry(rows, words[1]); base = 16, pad = 16)) == (words[1], words[2])
            entries += 1
        end
    end
    @test entries > 30
end

let set = open_or_nothing("minari/mixed")
    set === nothing || @testset "episodes and rows are read alone" begin
        @test dataset_kind(set) === :minari
        @test TensorDicts.version(set) == "0.5.4"
        @test length(set) == 3
        @test lengths(set) == [3, 7, 5]
        @test size(structure(set)) == (0,)
        @test Array(episode(set, 1)["next", "reward"]) == reshape([0.25, 0.5, 0.75], 3, 1)
        @test Array(rows(set, 3:4)["episode"]) == [0, 1]
        @test size(flat(set)) == (15,)
        @test length(episodes(set, 2:3)) == 2
        @test get_text(metadata(set), "dataset_id") == "toy/mixed-hdf5-v0"
        @test haskey(metadata(set, 2), "options")
        @test_throws Exception episode(set, 4)
        @test occursin("3 episodes", sprint(show, set))
        close(set)
        @test sprint(show, set) == "Dataset(closed)"
    end
    set === nothing || @testset "pictures are decoded" begin
        decoded = try
            flat(open_or_nothing("minari/mixed"; decode = true))
        catch error
            occursin("(Debian: ", sprint(showerror, error)) || rethrow()
            nothing
        end
        decoded === nothing || @test size(decoded["observation", "camera"]) == (15, 32, 36, 3)
        decoded === nothing || @test sum(Int.(Array(decoded["observation", "camera"]))) == 4640391
    end
    set === nothing || @testset "batches are read from the set" begin
        cartpole = open_or_nothing("minari/cartpole")
        read = eachbatch(cartpole, 16; shuffle = true, seed = 3, num_workers = 2)
        for (batch, wanted) in zip(read, eachbatch(flat(cartpole), 16; shuffle = true, seed = 3))
            @test batch == wanted
        end
    end
    set === nothing || @testset "a buffer draws from the set" begin
        cartpole = open_or_nothing("minari/cartpole")
        replay = Replay(cartpole; sampler = :slices, slice = 4, seed = 3)
        held = append!(Replay(113; sampler = :slices, slice = 4, seed = 3, episode = "episode"), flat(cartpole))
        @test draw!(replay, 16) == draw!(held, 16)
        @test length(replay) == 113
        @test_throws Exception append!(replay, flat(cartpole))
    end
    @testset "videos are entries" begin
        with = structure(open_or_nothing("lerobot/cams_v21"; videos = true))
        @test size(with["observation", "image", "top"]) == (0, 32, 48, 3)
        @test !haskey(structure(open_or_nothing("lerobot/cams_v21")), ("observation", "image", "top"))
    end
    set === nothing || @testset "a kind is told and episodes are cut" begin
        cut = open_or_nothing("d4rl/chunks.hdf5"; kind = :d4rl, max_episode_steps = 12, max_entries = 100)
        @test lengths(cut) == [12, 12, 1, 5]
        @test_throws Exception open_dataset(joinpath(dataset_folder, "d4rl/chunks.hdf5"); kind = :robomimic)
        @test_throws ArgumentError open_dataset("x"; kind = :other)
    end
    set === nothing || mktempdir() do folder
        @testset "a set is written as another kind" begin
            cartpole = open_or_nothing("minari/cartpole")
            file = joinpath(folder, "demos.hdf5")
            convert_dataset(cartpole, :robomimic, file; deflate = 1)
            @test dataset_kind(open_dataset(file)) === :robomimic
            @test lengths(open_dataset(file)) == lengths(cartpole)
            @test_throws Exception convert_dataset(cartpole, :d4rl, file)
            save_dataset(file, flat(cartpole), :d4rl; metadata = metadata(cartpole), lossy = true)
            save_dataset(file, flat(cartpole), :d4rl; lossy = true, durable = true)
            @test sum(lengths(open_dataset(file))) == 113
            @test_throws ArgumentError convert_dataset(cartpole, :other, file)
            @test_throws ArgumentError convert_dataset(cartpole, :lerobot, file; video = :other)
        end
        arm = open_or_nothing("lerobot/arm")
        arm === nothing || @testset "LeRobot is written in version 2.1" begin
            convert_dataset(arm, :lerobot, joinpath(folder, "arm"); lerobot_v21 = true, lossy = true)
            @test TensorDicts.version(open_dataset(joinpath(folder, "arm"))) == "v2.1"
            # Without an encoder the first one is refused, too.
            @test_throws Exception convert_dataset(arm, :lerobot, joinpath(folder, "arm"); video = :h264, video_quality = 99)
        end
        @testset "a set is written by episodes" begin
            cartpole = open_or_nothing("minari/cartpole")
            file = joinpath(folder, "recorded.hdf5")
            for i in 1:2
                writer = dataset_writer(file, :robomimic; metadata = metadata(cartpole), resume = true)
                @test length(writer) == i - 1
                add_episode!(writer, episode(cartpole, i); metadata = metadata(cartpole, i))
                @test length(writer) == i
                @test sprint(show, writer) == "DatasetWriter($i episodes)"
                finish!(writer)
                @test_throws Exception add_episode!(writer, episode(cartpole, i))
                close(writer)
            end
            @test lengths(open_dataset(file)) == lengths(cartpole)[1:2]
            @test_throws ArgumentError dataset_writer(file, :other)
            error = try dataset_writer(file, :robomimic; fps = 10) catch thrown thrown end
            @test occursin("fps is of LeRobot alone", sprint(showerror, error))
        end
    end
end

@testset "bags have a row for each message, or at a rate" begin
    bag = joinpath(dataset_folder, "..", "bags", "robot_plain.mcap")
    set = open_dataset(bag; clock = "/cmd_vel")
    @test dataset_kind(set) === :ros
    @test Array(flat(set)["cmd_vel", "linear", "x"]) == 0:7
    @test lengths(open_dataset(bag; rate = 10)) == [10]
end
