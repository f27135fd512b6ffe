# Results that are made of rows of a dictionary, in new memory.

"""
    repeat(td, counts...)
    tile(td, counts...)

The content as often along each batch dimension as its count says. With `tile` fewer counts speak of the
last dimensions, and for more dimensions are added in front.

```jldoctest
julia> td = TensorDict(2; a = [1, 2]);

julia> Array(repeat(td, 2)["a"]) == [1, 2, 1, 2], Array(reverse(td)["a"]) == [2, 1]
(true, true)
```
"""
Base.repeat(td::TensorDict, counts::Integer...) = repeated(td, counts, false)
tile(td::TensorDict, counts::Integer...) = repeated(td, counts, true)
repeated(td, counts, tile) = (s = sizes(counts); call(TensorDict, td_repeat, td, s, length(s), tile * TD_REPEAT_TILE))

"""
    repeat_interleave(td, n, dim = 1)

Each position of a batch dimension repeated: a number for all, or one for each.
"""
repeat_interleave(td::TensorDict, n, dim::Integer = 1) =
    lending(repeats -> call(TensorDict, td_repeat_interleave, td, repeats, from0(dim)), n)

"""
    roll(td, shifts, dims), roll(td, shift)
    circshift(td, shifts)

Positions moved along batch dimensions; those that leave at the end come in at the start. Without
dimensions the batch is rolled as if it were flat, in the row-major order of torch; `circshift` takes a
shift for each dimension.
"""
function roll(td::TensorDict, shifts, dims)
    by, along = Int64[shift for shift in shifts], Int64[from0(dim) for dim in dims]
    length(by) == length(along) ||
        throw(DimensionMismatch("$(length(by)) shifts for $(length(along)) dimensions"))
    call(TensorDict, td_roll, td, by, along, length(by))
end
roll(td::TensorDict, shift::Integer) = call(TensorDict, td_roll, td, Int64[shift], C_NULL, 1)
Base.circshift(td::TensorDict, shifts::Tuple{Vararg{Integer}}) = roll(td, shifts, 1:length(shifts))
Base.circshift(td::TensorDict, shift::Integer) = roll(td, shift, 1)

"""
    reverse(td; dims = :)

Batch dimensions turned round: all of them, one, or several.
"""
function Base.reverse(td::TensorDict; dims = :)
    list = Int64[from0(dim) for dim in (dims isa Colon ? (1:ndims(td)) : dims)]
    call(TensorDict, td_flip, td, list, length(list))
end

"""
    rot90(td, times = 1; dims = (1, 2))

The plane of two batch dimensions turned by 90 degrees, from the first towards the second.
"""
rot90(td::TensorDict, times::Integer = 1; dims::Tuple{Integer,Integer} = (1, 2)) =
    call(TensorDict, td_rot90, td, times, from0(dims[1]), from0(dims[2]))

"""
    gather(td, dim, index)

A position of one batch dimension for each position of the others. An array counts from 1, a `Tensor`
from 0.
"""
gather(td::TensorDict, dim::Integer, index::Tensor) = call(TensorDict, td_gather, td, from0(dim), index)
gather(td::TensorDict, dim::Integer, index::AbstractArray{<:Integer}) =
    lending(positions -> gather(td, dim, positions), Int64.(index) .- 1)

"""
    pad(td, widths...; value = 0)

Positions added to batch dimensions: for each, from the first on, a pair of how many before and how many
behind; negative ones cut off. Names of dimensions are lost.

```jldoctest
julia> td = TensorDict(2; a = [1, 2]);

julia> Array(pad(td, (1, 0); value = 9)["a"]) == [9, 1, 2]
true
```
"""
function pad(td::TensorDict, widths::Tuple{Integer,Integer}...; value::Real = 0)
    list = Int64[width for pair in widths for width in pair]
    call(TensorDict, td_pad, td, list, length(list), Float64(value))
end

"""
    isin(td, reference, key; dim = 1) -> Tensor

A mask of the positions of a batch dimension that `reference` has too, as far as one tensor tells.
"""
function isin(td::TensorDict, reference::TensorDict, key; dim::Integer = 1)
    names = path(key)
    call(Tensor, td_isin, td, reference, names, length(names), from0(dim); key = key)
end

"""
    remove_duplicates(td, key; dim = 1) -> (td, positions)

Without the positions of a batch dimension whose value in one tensor has occurred before, in the order
of these values; and the positions that are left.
"""
function remove_duplicates(td::TensorDict, key; dim::Integer = 1)
    names = path(key)
    left = Ref(Ptr{td_tensor}(C_NULL))
    kept = call(TensorDict, (arguments...) -> td_remove_duplicates(arguments..., left), td, names,
                length(names), from0(dim); key = key)
    (kept, Array(Tensor(left[])) .+ 1)
end

"""
    group_by(td, key) -> (values, groups)

The rows of the first batch dimension, grouped by the value of an entry: the values, sorted, in a dictionary with
this entry alone, and the rows of each.

```jldoctest
julia> values, groups = group_by(TensorDict(3; id = [2, 0, 2]), "id");

julia> Array(values["id"]), length(groups[2])
([0, 2], 2)
```
"""
function group_by(td::TensorDict, key)
    names = path(key)
    groups = fill(Ptr{td_tensordict}(C_NULL), isempty(size(td)) ? 0 : max(size(td, 1), 0))
    count = Ref{Csize_t}(0)
    values = Ref(Ptr{td_tensordict}(C_NULL))
    check(td_group_by(td, names, length(names), values, groups, length(groups), count), key)
    (TensorDict(values[]), TensorDict[TensorDict(group) for group in groups[1:count[]]])
end
