# examples/julia/read_rollout.jl over a folder of the layout that the recorder writes.

const EPISODES, STEPS = 5, 20

# Plain loops over plain arrays, apart from what the example does it with.
function hashed(bytes)
    h = 0xcbf29ce484222325
    for byte in bytes
        h = (h ⊻ byte) * 0x00000100000001b3
    end
    string(h; base = 16, pad = 16)
end

# The first rows of the first epoch that a loader shuffles by seed 42.
function mixed(seed, number)
    x = seed + (number + 1) * 0x9e3779b97f4a7c15
    x = (x ⊻ x >> 30) * 0xbf58476d1ce4e5b9
    x = (x ⊻ x >> 27) * 0x94d049bb133111eb
    x ⊻ x >> 31
end

function picks(count, rows)
    order, seed = collect(0:rows-1), mixed(UInt64(42), 0)
    for i in rows-1:-1:1
        other = Int(widemul(mixed(seed, i), UInt64(i + 1)) >> 64)
        order[i+1], order[other+1] = order[other+1], order[i+1]
    end
    order[1:count]
end

mktempdir() do folder
    position = rand(EPISODES, STEPS, 12)
    reward = randn(Float32, EPISODES, STEPS, 1)
    td = TensorDict((EPISODES, STEPS);
        observation = (position = position, velocity = rand(EPISODES, STEPS, 11),
                       sensor = rand(Float32, EPISODES, STEPS, 7)),
        action = rand(Float32, EPISODES, STEPS, 5),
        next = (reward = reward, done = fill(false, EPISODES, STEPS, 1)),
        step = zeros(Int32, EPISODES, STEPS, 1))
    close(memmap(td, folder))

    script = joinpath(@__DIR__, "..", "..", "..", "examples", "julia", "read_rollout.jl")
    julia = `$(Base.julia_cmd()) --startup-file=no --project=$(Base.active_project())`
    lines = readlines(`$julia $script $folder $(joinpath(GOLDEN, "digits"))`)

    totals = zeros(EPISODES)
    for episode in 1:EPISODES, step in 1:STEPS
        totals[episode] += Float64(reward[episode, step, 1])
    end
    chosen = [position[row÷STEPS+1, row%STEPS+1, k] for k in 1:12, row in picks(16, EPISODES * STEPS)]
    @test join(lines[1:end-3], '\n') == repr(load_memmap(folder; private = true))
    @test lines[end-2] == "minibatch of batch size [16]"
    told = match(r"^returns (\w+) mean (\S+) minibatch (\w+)$", lines[end-1])
    @test told[1] == hashed(reinterpret(UInt8, totals)) && told[3] == hashed(reinterpret(UInt8, vec(chosen)))
    @test parse(Float64, told[2]) ≈ sum(totals) / EPISODES atol = 1e-6

    labels = reinterpret(Int64, read(joinpath(GOLDEN, "digits", "label.memmap")))[picks(256, 1797).+1]
    @test lines[end] == "digits " * join(("$digit:$(count(==(digit), labels))" for digit in 0:9), ' ')

    failed = run(pipeline(ignorestatus(`$julia $script`); stderr = devnull))
    @test failed.exitcode == 2
end
