# Tensors of different shapes as one entry.

"""
    RaggedTensor(parts)
    RaggedTensor(values, sizes)

A row of tensors that have as many dimensions and one element type, and differ in sizes (Python's nested
tensor): copies of `parts`, or over `values` that lie one part after the other, with a row of `sizes` for
each. As an entry it follows copies, conversions, an index along the batch and files; whatever else meets it
is refused.

`length` counts the parts, `r[i]` is one of them, and iterating gives all. [`padded`](@ref) makes one tensor
of them, [`flat`](@ref) gives what it is made of.

```jldoctest
julia> td = TensorDict(2; x = RaggedTensor([[1, 2], [3]]));

julia> Array(td["x"][1]), Array(td[2]["x"])
([1, 2], [3])
```
"""
struct RaggedTensor
    td::TensorDict  # its handle
end

function RaggedTensor(parts::AbstractVector)
    made = Tensor[part isa Tensor ? part : Tensor(part) for part in parts]
    GC.@preserve made begin
        pointers = Ptr{td_tensor}[live_pointer(part) for part in made]
        RaggedTensor(call(TensorDict, td_ragged_from_tensors, pointers, length(pointers)))
    end
end
RaggedTensor(values, sizes) = lending(values) do all
    lending(sizes) do table
        RaggedTensor(call(TensorDict, td_ragged_new, all, table))
    end
end

"""
    flat(ragged) -> (values, sizes)

All values of a ragged tensor in one dimension, which share memory, and the sizes of its parts, a row for each.
"""
function flat(ragged::RaggedTensor)
    values, sizes = Ref{Ptr{td_tensor}}(C_NULL), Ref{Ptr{td_tensor}}(C_NULL)
    check(td_ragged_tensors(ragged.td, values, sizes))
    (values = Tensor(values[]), sizes = Tensor(sizes[]))
end

Base.length(ragged::RaggedTensor) = only(size(ragged.td))
Base.firstindex(::RaggedTensor) = 1
Base.lastindex(ragged::RaggedTensor) = length(ragged)
Base.eltype(::Type{RaggedTensor}) = Tensor
function Base.getindex(ragged::RaggedTensor, position::Integer)
    1 <= position <= length(ragged) || throw(BoundsError(ragged, position))
    call(Tensor, td_ragged_part, ragged.td, position - 1)
end
Base.iterate(ragged::RaggedTensor, position = 1) =
    position > length(ragged) ? nothing : (ragged[position], position + 1)
Base.close(ragged::RaggedTensor) = close(ragged.td)
Base.show(io::IO, ragged::RaggedTensor) =
    print(io, "RaggedTensor of ", length(ragged), length(ragged) == 1 ? " part" : " parts")

"""
    padded(ragged; value = 0, left = false) -> (values, mask)

The parts of a ragged tensor as one tensor, each padded to the longest, and where there are values.
"""
function padded(ragged::RaggedTensor; options...)
    values, mask = Ref{Ptr{td_tensor}}(C_NULL), Ref{Ptr{td_tensor}}(C_NULL)
    check(td_ragged_padded(ragged.td, padding(; options...), values, mask))
    (values = Tensor(values[]), mask = Tensor(mask[]))
end

ragged_entry(td, names; key) =
    RaggedTensor(call(TensorDict, td_get_ragged, td, names, length(names); key = key))

store!(td, names, value::RaggedTensor) = store!(td, names, value.td)
