# All tensors of a dictionary side by side in one.

"""
    PackLayout(json)

Where [`pack`](@ref) puts each tensor, as JSON in `json`: `keys`, `shapes`, `dim`, `nested`, `device`,
`type`, `offsets` and `numel`. A layout that is made by hand needs `keys` and `shapes` alone.
"""
struct PackLayout
    json::String
end

"""
    pack(td, dim = ndims(td) + 1; layout = nothing) -> (tensor, layout)
    unpack(layout, tensor) -> TensorDict

The dimensions of each tensor behind the batch become one, and all stand side by side along `dim`, in the
order of their keys, joined with dots, or of a layout. `unpack` gives a dictionary of views, whose batch
size may be another one.

```jldoctest
julia> packed, layout = pack(TensorDict(2; p = [0.0, 1.0], a = [5.0, 6.0]));

julia> Array(packed)
2×2 Matrix{Float64}:
 5.0  0.0
 6.0  1.0

julia> Array(unpack(layout, packed)["p"]) == [0.0, 1.0]
true
```
"""
function pack(td::TensorDict, dim::Integer = ndims(td) + 1; layout::Union{PackLayout,Nothing} = nothing)
    used = layout === nothing ? PackLayout(asktext(td_pack_layout, td, from0(dim))) : layout
    (call(Tensor, td_pack, td, from0(dim), used.json), used)
end
unpack(layout::PackLayout, packed::Tensor) = call(TensorDict, td_unpack, packed, layout.json)
