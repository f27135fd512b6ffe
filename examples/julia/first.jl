#!/usr/bin/env julia
# The first steps: make a dictionary, take parts of it, save it, load it. Run in a scratch folder.
#
#   julia --project=bindings/julia examples/julia/first.jl

# [taste]
using TensorDicts

td = TensorDict((3, 4);                              # batch size
    obs = rand(Float32, 3, 4, 2),                    # the array's own memory
    next = (reward = zeros(Float32, 3, 4, 1),))      # nested

last_step = td[.., end]                              # a view; indices count from 1
td["next", "reward"][1, 4, 1] = 7                    # seen through the view
odd = td[1:2:end, newaxis]                           # batch size (2, 1, 4)

scaled = map(t -> t ./ 10, td)                       # every tensor, as an array
asarray(scaled["obs"])[:, :, 1] .= 0                 # no copy

disk = memmap(stack([td, scaled]), "rollout")        # files that Python can open
# [/taste]

println(disk)
println("rewards of the last step: ", vec(Array(last_step["next", "reward"])))
println("odd: ", size(odd), ", scaled: ", asarray(scaled["next", "reward"])[1, 4, 1])
println("loaded is ", load_memmap("rollout") == disk ? "equal" : "different")

try
    td["rewards"]
catch e
    println(sprint(showerror, e))
end
