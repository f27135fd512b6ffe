# Batch dimensions made of others, moved, and cut into parts.

"""
    flatten(td, first = 1, last = -1)

One batch dimension made of several that follow one another, in the row-major order of torch. Memory is
shared where that is possible.

```jldoctest
julia> td = TensorDict((2, 3));

julia> size(flatten(td)), size(unflatten(td, 2, 3, :))
((6,), (2, 3, 1))
```
"""
flatten(td::TensorDict, first::Integer = 1, last::Integer = -1) =
    call(TensorDict, td_flatten, td, from0(first), from0(last))

"""
    unflatten(td, dim, sizes...)

Several batch dimensions made of one, sharing memory. At most one size is `:`.
"""
unflatten(td::TensorDict, dim::Integer, dims::Extent...) = unflatten(td, dim, dims)
unflatten(td::TensorDict, dim::Integer, dims::Tuple) =
    (s = sizes(dims); call(TensorDict, td_unflatten, td, from0(dim), s, length(s)))

"""
    movedim(td, from, to)

Batch dimensions moved to other places, sharing memory; the others keep their order.
"""
function movedim(td::TensorDict, from, to)
    sources, places = Int64[from0(dim) for dim in from], Int64[from0(dim) for dim in to]
    length(sources) == length(places) ||
        throw(DimensionMismatch("$(length(sources)) dimensions cannot move to $(length(places)) places"))
    call(TensorDict, td_movedim, td, sources, places, length(sources))
end

"""
    narrow(td, dim, range)

The positions of a range along a batch dimension, sharing memory. As `td[:, range]`, but locked if `td`
is.
"""
narrow(td::TensorDict, dim::Integer, range::AbstractUnitRange{<:Integer}) =
    call(TensorDict, td_narrow, td, from0(dim), first(range) - 1, length(range))

"""
    atleast(td, n)

With batch dimensions of size 1 in front until there are `n`, sharing memory.
"""
atleast(td::TensorDict, n::Integer) = call(TensorDict, td_atleast, td, n)

"""
    expand_as(td, other)

Expanded to the batch size of another dictionary, without using memory.
"""
expand_as(td::TensorDict, other::TensorDict) = expand(td, size(other))

"""
    split(td, length; dims = 1), split(td, lengths; dims = 1)

Parts along a batch dimension, sharing memory: of one length but for the last, or of these lengths,
which add up to the size of the dimension.

```jldoctest
julia> td = TensorDict(5);

julia> size.(split(td, 2)), size.(split(td, [1, 4]))
([(2,), (2,), (1,)], [(1,), (4,)])

julia> size.(chunk(td, 2)), size.(tensor_split(td, 3)), size.(tensor_split(td, [2, 5]))
([(3,), (2,)], [(2,), (2,), (1,)], [(1,), (3,), (1,)])
```
"""
Base.split(td::TensorDict, length::Integer; dims::Integer = 1) = parts(td, dims, TD_SPLIT_LENGTH, [length])
Base.split(td::TensorDict, lengths; dims::Integer = 1) = parts(td, dims, TD_SPLIT_LENGTHS, lengths)

"""
    chunk(td, n; dims = 1)

At most `n` parts of equal length but for the last, sharing memory.
"""
chunk(td::TensorDict, n::Integer; dims::Integer = 1) = parts(td, dims, TD_SPLIT_CHUNKS, [n])

"""
    tensor_split(td, n; dims = 1), tensor_split(td, positions; dims = 1)

Exactly `n` parts, some of them longer by one; or a part that begins at each position, and one in front.
"""
tensor_split(td::TensorDict, n::Integer; dims::Integer = 1) = parts(td, dims, TD_SPLIT_PARTS, [n])
tensor_split(td::TensorDict, positions; dims::Integer = 1) =
    parts(td, dims, TD_SPLIT_POSITIONS, [from0(p) for p in positions])

function parts(td, dim, kind, numbers)
    list = Int64[number for number in numbers]
    count = Ref{Csize_t}(0)
    check(td_split(td, from0(dim), kind, list, length(list), C_NULL, 0, count))
    results = fill(Ptr{td_tensordict}(C_NULL), count[])
    check(td_split(td, from0(dim), kind, list, length(list), results, length(results), count))
    TensorDict[TensorDict(part) for part in results]
end

"""
    reinterpret(T, td; batch = nothing)

The memory of every tensor read as another type. Where that changes the length of a batch dimension,
`batch` says what the batch size becomes.
"""
function Base.reinterpret(T::Type, td::TensorDict; batch::Union{Tuple,Nothing} = nothing)
    s = sizes(something(batch, ()))
    call(TensorDict, td_view_dtype, td, dtype_code(T), (batch !== nothing) * TD_VIEW_DTYPE_HAS_SIZES, s, length(s))
end

"""
    iscontiguous(td)

Whether all tensors lie densely.
"""
iscontiguous(td::TensorDict) = ask(Int32, td_is_contiguous, td) != 0

"""
    become!(td, other)

Put what another dictionary has in place of what `td` has: entries, batch size, device and names. With it
any operation works in place: `become!(td, reshape(td, :))`. Nested dictionaries are shared with the
other from then on.
"""
function become!(td::TensorDict, other::TensorDict)
    check(td_become(td, other))
    td
end
