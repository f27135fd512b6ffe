#!/usr/bin/env julia
# Opens what rollout has recorded, takes a random minibatch and adds up the rewards.
#
#   julia --project=bindings/julia examples/julia/read_rollout.jl DIR [DIGITS_DIR]
#
# The same program exists in C, Rust and C#; the lines "returns" and "digits" must be the same.
using Printf, TensorDicts

fnv1a(bytes) = foldl((h, byte) -> (h ⊻ byte) * 0x00000100000001b3, bytes; init = 0xcbf29ce484222325)

# The bytes of a tensor in row-major order, as they would stand in a file.
function bytes(t)
    A = Array(t)
    reinterpret(UInt8, vec(permutedims(A, ndims(A):-1:1)))
end

# [minibatch]
# `count` rows of a dictionary at random, whatever its batch size.
minibatch(td, count) = first(eachbatch(td, count; flat = true, shuffle = true, seed = 42))
# [/minibatch]

# [returns]
# Rewards are f32; each episode is added up in f64, step by step.
function episode_returns(td)
    reward = asarray(td["next", "reward"])
    [foldl(+, Float64.(reward[episode, :, 1])) for episode in 1:size(td, 1)]
end
# [/returns]

function read_episodes(dir)
    td = load_memmap(dir)
    println(td)
    batch = minibatch(td, 16)
    println("minibatch of batch size [", join(size(batch), ", "), "]")
    position = batch["observation", "position"]
    returns = episode_returns(td)
    @printf("returns %016x mean %.6f minibatch %016x\n", fnv1a(reinterpret(UInt8, returns)),
            foldl(+, returns) / length(returns), fnv1a(bytes(position)))
end

# Counts the classes in a minibatch of the digits that Python has saved.
function read_digits(dir)
    label = asarray(minibatch(load_memmap(dir), 256)["label"])
    println("digits ", join(("$digit:$(count(==(digit), label))" for digit in 0:9), ' '))
end

function main(arguments)
    if !(length(arguments) in 1:2) || startswith(arguments[1], "-")
        println(stderr, "usage: read_rollout.jl DIR [DIGITS_DIR]")
        return 2
    end
    read_episodes(arguments[1])
    length(arguments) == 2 && read_digits(arguments[2])
    return 0
end

exit(main(ARGS))
