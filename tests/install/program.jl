# A program of its own, with the package and the library that are installed.
using TensorDicts

td = TensorDict((3, 4); reward = zeros(Float32, 3, 4, 1))
size(td[1, :]) == (4,) || error("the first row is of batch size $(size(td[1, :]))")
println(td)
