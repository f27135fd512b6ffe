# Tensors of different shapes as one entry.

"""
    NestedTensor(parts)
    NestedTensor(values, sizes)

A row of tensors that have as many dimensions and one element type, and differ in sizes (Python's nested
tensor): copies of `parts`, or over `values` that lie one part after the other, with a row of `sizes` for
each. As an entry it follows copies, conversions, an index along the batch and files; whatever else meets it
is refused.

`length` counts the parts, `r[i]` is one of them, and iterating gives all. [`padded`](@ref) makes one tensor
of them, [`flat`](@ref) gives what it is made of.

```jldoctest
julia> td = TensorDict(2; x = NestedTensor([[1, 2], [3]]));

julia> Array(td["x"][1]), Array(td[2]["x"])
([1, 2], [3])
```
"""
struct NestedTensor
    td::TensorDict  # its handle
end

function NestedTensor(parts::AbstractVector)
    made = Tensor[part isa Tensor ? part : Tensor(part) for part in parts]
    GC.@preserve made begin
        pointers = Ptr{td_tensor}[live_pointer(part) for part in made]
        NestedTensor(call(TensorDict, td_nested_tensor_from_tensors, pointers, length(pointers)))
    end
end
NestedTensor(values, sizes) = lending(values) do all
    lending(sizes) do table
        NestedTensor(call(TensorDict, td_nested_tensor_create, all, table))
    end
end

"""
    flat(nested_tensor) -> (values, sizes)

All values of a nested tensor in one dimension, which share memory, and the sizes of its parts, a row for each.
"""
function flat(nested_tensor::NestedTensor)
    values, sizes = Ref{Ptr{td_tensor}}(C_NULL), Ref{Ptr{td_tensor}}(C_NULL)
    check(td_nested_tensor_values(nested_tensor.td, values, sizes))
    (values = Tensor(values[]), sizes = Tensor(sizes[]))
end

Base.length(nested_tensor::NestedTensor) = only(size(nested_tensor.td))
Base.firstindex(::NestedTensor) = 1
Base.lastindex(nested_tensor::NestedTensor) = length(nested_tensor)
Base.eltype(::Type{NestedTensor}) = Tensor
function Base.getindex(nested_tensor::NestedTensor, position::Integer)
    1 <= position <= length(nested_tensor) || throw(BoundsError(nested_tensor, position))
    call(Tensor, td_nested_tensor_at, nested_tensor.td, position - 1)
end
Base.iterate(nested_tensor::NestedTensor, position = 1) =
    position > length(nested_tensor) ? nothing : (nested_tensor[position], position + 1)
Base.close(nested_tensor::NestedTensor) = close(nested_tensor.td)
Base.show(io::IO, nested_tensor::NestedTensor) =
    print(io, "NestedTensor of ", length(nested_tensor), length(nested_tensor) == 1 ? " part" : " parts")

"""
    padded(nested; value = 0, left = false) -> (values, mask)

The parts of a nested tensor as one tensor, each padded to the longest, and where there are values.
"""
function padded(nested_tensor::NestedTensor; options...)
    values, mask = Ref{Ptr{td_tensor}}(C_NULL), Ref{Ptr{td_tensor}}(C_NULL)
    check(td_nested_tensor_to_padded(nested_tensor.td, padding(; options...), values, mask))
    (values = Tensor(values[]), mask = Tensor(mask[]))
end

nested_tensor_entry(td, names; key) =
    NestedTensor(call(TensorDict, td_get_nested_tensor, td, names, length(names); key = key))

store!(td, names, value::NestedTensor) = store!(td, names, value.td)
