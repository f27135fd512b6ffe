# Index expressions: from Julia's, counted from 1, to the items of the library, counted from 0.
# Bounds are checked here, as the library follows Python, where a slice may reach past the end.

struct Ellipsis end
struct NewAxis end

"""
    td[.., 1]

All dimensions that no other index speaks of.
"""
const (..) = Ellipsis()

"""
    td[:, newaxis]

A new dimension of size 1.
"""
const newaxis = NewAxis()

Base.show(io::IO, ::Ellipsis) = print(io, "..")
Base.show(io::IO, ::NewAxis) = print(io, "newaxis")

"""
    td[index"..., ::2, None"]

An index written as in Python: counted from 0, negative numbers from the end, the end left out.
[`parse_index`](@ref) makes one of a text.
"""
struct TextIndex
    text::String
end
macro index_str(text)
    :(TextIndex($text))
end
Base.show(io::IO, i::TextIndex) = print(io, "index", repr(i.text))

"""
    parse_index(text)

The index that `text` means in Python; throws an `ArgumentError` where it means none. See
[`@index_str`](@ref).
"""
parse_index(text::AbstractString) = (items(TextIndex(text)); TextIndex(text))

# `end`: which dimension it speaks of is known only when the whole index is, as `..` and newaxis come
# before it. Until then it is a function of the size.
struct AtEnd{F}
    of::F
end
for op in (:+, :-, :*, :div, :fld, :cld, :rem, :mod, :min, :max, :(:))
    @eval Base.$op(a::AtEnd, b::Integer) = AtEnd(n -> Base.$op(a.of(n), b))
    @eval Base.$op(a::Integer, b::AtEnd) = AtEnd(n -> Base.$op(a, b.of(n)))
    @eval Base.$op(a::AtEnd, b::AtEnd) = AtEnd(n -> Base.$op(a.of(n), b.of(n)))
end
at(x, n) = x
at(x::AtEnd, n) = x.of(n)
const MaybeEnd = Union{Integer,AtEnd}
Base.:(:)(a::AtEnd, step::MaybeEnd, b::MaybeEnd) = AtEnd(n -> at(a, n):at(step, n):at(b, n))
Base.:(:)(a::Integer, step::AtEnd, b::MaybeEnd) = AtEnd(n -> a:at(step, n):at(b, n))
Base.:(:)(a::Integer, step::Integer, b::AtEnd) = AtEnd(n -> a:step:at(b, n))

# What a tensor in a store is for an index: its sizes.
struct StoredTensor
    dims::Tuple
end
Base.size(t::StoredTensor) = t.dims

const Indexed = Union{TensorDict,Tensor,HDF5File,TensorDictStore,StoredTensor}

function Base.size(x::Indexed, dim::Integer)
    dims = size(x)
    1 <= dim <= length(dims) ? dims[dim] : 1
end
Base.axes(x::Indexed) = map(Base.OneTo, size(x))
Base.axes(x::Indexed, dim::Integer) = Base.OneTo(size(x, dim))
Base.firstindex(x::Indexed, dim::Integer = 1) = 1
Base.lastindex(x::Indexed) = size(x, 1)
Base.lastindex(x::Indexed, dim::Integer) = dim == 1 ? size(x, 1) : AtEnd(identity)

# How many dimensions an index takes up.
taken(::Any) = 1
taken(::Union{Ellipsis,NewAxis,Bool,TextIndex}) = 0
taken(mask::AbstractArray{Bool}) = ndims(mask)
taken(t::Tensor) = eltype(t) === Bool ? ndims(t) : 1

spread(index::CartesianIndex) = Tuple(index)
spread(index) = (index,)

# The items of an index, and the tensors made for them.
function items(x::Indexed, indices::Tuple)
    out, lent = td_index_item[], Tensor[]
    dims = size(x)
    outside() = throw(BoundsError(x, indices))
    flat = foldl((all, index) -> (all..., spread(index)...), indices; init = ())
    rest = length(dims) - mapreduce(taken, +, flat; init = 0)
    rest >= 0 || outside()
    dim = 0
    for index in flat
        if index isa Ellipsis
            any(item -> item.kind == TD_INDEX_ELLIPSIS, out) && throw(ArgumentError("`..` stands twice in one index"))
            push!(out, td_index_item(kind = TD_INDEX_ELLIPSIS))
            dim += rest
        elseif index isa TextIndex
            length(flat) == 1 || throw(ArgumentError("$index must be the whole index"))
            append!(out, items(index))
        else
            push!(out, item(index, dims[dim+1:dim+taken(index)], outside, lent))
            dim += taken(index)
        end
    end
    out, lent
end

function items(index::TextIndex)
    out = Vector{td_index_item}(undef, 16)
    count = Ref{Csize_t}(0)
    status = td_index_parse(index.text, out, length(out), count)
    if status == TD_ERR_BUFFER_TOO_SMALL
        resize!(out, count[])
        status = td_index_parse(index.text, out, length(out), count)
    end
    check(status)
    resize!(out, count[])
end

slice(start, stop, step = 1) =
    td_index_item(kind = TD_INDEX_SLICE, flags = TD_INDEX_HAS_START | TD_INDEX_HAS_STOP | TD_INDEX_HAS_STEP,
                  start = start, stop = stop, step = step)

item(::NewAxis, dims, outside, lent) = td_index_item(kind = TD_INDEX_NONE)
item(::Colon, dims, outside, lent) = td_index_item(kind = TD_INDEX_SLICE)

# In the order of the library: nothing of its first dimension.
no_rows() = [td_index_item(kind = TD_INDEX_SLICE, flags = TD_INDEX_HAS_STOP, stop = 0)]
item(truth::Bool, dims, outside, lent) = td_index_item(kind = TD_INDEX_BOOL, start = truth)
item(index::AtEnd, dims, outside, lent) = item(index.of(dims[1]), dims, outside, lent)

function item(position::Integer, dims, outside, lent)
    1 <= position <= dims[1] || outside()
    td_index_item(kind = TD_INDEX_INT, start = position - 1)
end

function item(range::OrdinalRange{<:Integer}, dims, outside, lent)
    isempty(range) && return slice(0, 0)
    1 <= minimum(range) && maximum(range) <= dims[1] || outside()
    # The library has no steps back: those are positions, and so a copy.
    step(range) > 0 ? slice(first(range) - 1, last(range), step(range)) : tensor_item(collect(range) .- 1, lent)
end

function item(mask::AbstractArray{Bool}, dims, outside, lent)
    size(mask) == dims || outside()
    tensor_item(Array(mask), lent)
end

function item(positions::AbstractArray{<:Integer}, dims, outside, lent)
    all(p -> 1 <= p <= dims[1], positions) || outside()
    tensor_item(Int64.(positions) .- 1, lent)
end

function item(mixed::AbstractArray, dims, outside, lent)
    all(p -> p isa MaybeEnd, mixed) || throw(ArgumentError("an array of $(eltype(mixed)) is not an index"))
    item(Int[at(p, dims[1]) for p in mixed], dims, outside, lent)
end

# A tensor goes through as it is: its numbers are the library's, counted from 0.
item(t::Tensor, dims, outside, lent) = td_index_item(kind = TD_INDEX_TENSOR, tensor = live_pointer(t))

item(other, dims, outside, lent) = throw(ArgumentError("a $(typeof(other)) is not an index"))

function tensor_item(A::Array, lent)
    push!(lent, Tensor(A))
    td_index_item(kind = TD_INDEX_TENSOR, tensor = live_pointer(last(lent)))
end

# f(items...) for an index, where an index that the library finds out of range is a BoundsError.
function indexing(f, x::Indexed, indices::Tuple)
    list, lent = items(x, indices)
    status = GC.@preserve lent indices f(list, length(list))
    problem = status in (TD_OK, TD_ERR_INDEX) ? nothing : failure(status)
    foreach(close, lent)
    status == TD_ERR_INDEX && throw(BoundsError(x, indices))
    problem === nothing || throw(problem)
    nothing
end

function indexed(::Type{T}, f::F, x::Indexed, indices::Tuple) where {T,F}
    result = Ref{Ptr{raw(T)}}(C_NULL)
    indexing((list, count) -> f(x, list, count, result), x, indices)
    T(result[])
end

Base.getindex(t::Tensor, indices...) = indexed(Tensor, td_tensor_index, t, indices)

"""
    view(td, indices...)
    view(t::Tensor, indices...)

`td[indices...]` without a copy: what is written to it reaches `td`. Where arrays of positions or of `Bool`s pick
it, that is a [`sub_tensordict`](@ref); of a tensor there is no such view, and an `ArgumentError` says so.
"""
Base.view(td::TensorDict, indices...) = indexed(TensorDict, view_at, td, indices)
Base.view(t::Tensor, indices...) = indexed(Tensor, view_at, t, indices)

picks(list) = any(item -> item.kind == TD_INDEX_TENSOR, list)
view_at(td::TensorDict, list, rest...) = picks(list) ? td_sub_tensordict(td, list, rest...) : td_index(td, list, rest...)
view_at(t::Tensor, list, rest...) =
    picks(list) ? throw(ArgumentError("positions and masks give no view of a tensor: t[...] copies, t[...] = x writes")) :
    td_tensor_index(t, list, rest...)

"""
    t[]

The value of a tensor of one element.
"""
function Base.getindex(t::Tensor)
    length(t) == 1 || throw(ArgumentError("t[] is the value of a tensor of one element, this one has $(length(t))"))
    first(Array(t))
end

Base.setindex!(t::Tensor, value, indices...) = lending(value) do source
    indexing((list, count) -> td_tensor_set_at(t, list, count, source), t, indices)
end
Base.setindex!(t::Tensor, value) = copyto!(t, value)
