#!/usr/bin/env julia
# Typed tensorclasses: a struct whose fields are entries of a dictionary, with functions of one's own.
#
#   julia --project=bindings/julia examples/julia/tensorclass.jl

using TensorDicts

# [struct]
@tensorclass struct MyData
    image::tensorfield(Float32, 3, :, :)     # behind the batch size
    mask::tensorfield(Bool, 1, :, :)
    label::Union{Tensor,Nothing}
end

function mask_image(data::MyData)
    image, mask = Array(data.image), Array(data.mask)
    rows = [image[i, :, :, :][repeat(mask[i, :, :, :], 3, 1, 1)] for i in 1:length(data)]
    permutedims(hcat(rows...))
end

select_label(data::MyData, label) = data[Array(data.label) .== label]
# [/struct]

images = reshape(collect(Float32, 1:100*3*4*4), 100, 3, 4, 4)
masks = [x % 2 == 0 for n in 1:100, c in 1:1, y in 1:4, x in 1:4]

# [use]
data = MyData(100; image = images, mask = masks, label = repeat(0:9, 10))
println(select_label(data, 1))
println("masked: ", collect(size(mask_image(data))))
println("reshaped: ", collect(size(reshape(data, 10, 10))))

two = stack([data[1], data[2]])
two.label = nothing
# [/use]
println("stacked: ", collect(size(two)), two.label === nothing ? ", without labels" : ", with labels")
try
    two.image = zeros(Float32, 2, 4, 4, 4)
catch e
    e isa DimensionMismatch && println("an image of other sizes is refused")
end
