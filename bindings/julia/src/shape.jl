# Operations on the batch dimensions. Dimensions count from 1, negative ones from the end.

from0(dim::Integer) =
    dim == 0 ? throw(ArgumentError("dimension 0: dimensions count from 1, or from -1 at the end")) :
    Int64(dim > 0 ? dim - 1 : dim)

const Extent = Union{Integer,Colon}

reshaping(f, td, dims) = (s = sizes(dims); call(TensorDict, f, td, s, length(s)))

"""
    reshape(td, dims...; copy = true)

The same entries under another batch size, at most one of which is `:`. Memory is shared where that
is possible; where it is not, `copy = false` is a `DimensionMismatch`. Elements keep the row-major
order of torch.
"""
Base.reshape(td::TensorDict, dims::Tuple{Vararg{Extent}}; copy::Bool = true) =
    reshaping(copy ? td_reshape : td_view, td, dims)
Base.reshape(td::TensorDict, dims::Extent...; copy::Bool = true) = reshape(td, dims; copy = copy)
# Base's own method for tuples of Int is more special than the one above.
Base.reshape(td::TensorDict, dims::Dims; copy::Bool = true) = reshaping(copy ? td_reshape : td_view, td, dims)

"""
    permutedims(td, order)

The batch dimensions in another order, sharing memory.
"""
function Base.permutedims(td::TensorDict, order)
    list = Int64[from0(dim) for dim in order]
    call(TensorDict, td_permute, td, list, length(list))
end

"""
    transpose(td, dim1, dim2)

Two batch dimensions swapped, sharing memory.
"""
Base.transpose(td::TensorDict, dim1::Integer, dim2::Integer) =
    call(TensorDict, td_transpose, td, from0(dim1), from0(dim2))

"""
    squeeze(td), squeeze(td, dim)

Without batch dimensions of size 1: all of them, or `dim` if its size is 1. See `dropdims` for a
dimension that must be there.
"""
squeeze(td::TensorDict) = call(TensorDict, td_squeeze_all, td)
squeeze(td::TensorDict, dim::Integer) = call(TensorDict, td_squeeze, td, from0(dim))

function Base.dropdims(td::TensorDict; dims::Integer)
    size(td, dims < 0 ? ndims(td) + 1 + dims : dims) == 1 ||
        throw(ArgumentError("dropped dims must all be size 1, dimension $dims of $(size(td)) is not"))
    squeeze(td, dims)
end

"""
    unsqueeze(td, dim)

A new batch dimension of size 1 that becomes dimension `dim`.
"""
unsqueeze(td::TensorDict, dim::Integer) = call(TensorDict, td_unsqueeze, td, from0(dim))

"""
    expand(td, dims...)

Dimensions of size 1 repeated, and new ones in front, without using memory.
"""
expand(td::TensorDict, dims::Tuple) = reshaping(td_expand, td, dims)
expand(td::TensorDict, dims::Integer...) = expand(td, dims)

"""
    unbind(td, dim = 1) -> Vector{TensorDict}

The parts of `td` along a batch dimension, sharing memory; `eachslice(td; dims)` is the same.
"""
function unbind(td::TensorDict, dim::Integer = 1)
    count = Ref{Csize_t}(0)
    check_size(td_unbind(td, from0(dim), C_NULL, 0, count))
    parts = fill(Ptr{td_tensordict}(C_NULL), count[])
    check(td_unbind(td, from0(dim), parts, length(parts), count))
    TensorDict[TensorDict(part) for part in parts]
end
Base.eachslice(td::TensorDict; dims::Integer) = unbind(td, dims)

check_size(status) = status == TD_ERR_BUFFER_TOO_SMALL ? nothing : check(status)

if isdefined(Base, :stack)
    import Base: stack
end

"""
    stack(tds, dim = 1)

Dictionaries of the same keys and sizes joined along a new batch dimension, in new memory.
"""
stack(tds::AbstractVector{TensorDict}, dim::Integer = 1) = joined(td_stack, tds, dim)

"""
    cat(tds::TensorDict...; dims)
    vcat(tds::TensorDict...), [a; b]
    hcat(tds::TensorDict...), [a b]

Dictionaries of the same keys joined along a batch dimension they have, in new memory. With `hcat` that is the
second one; a dictionary of one batch dimension is a column, as a vector is.
"""
Base.cat(td::TensorDict, more::TensorDict...; dims::Integer) = joined(td_cat, [td, more...], dims)
Base.vcat(td::TensorDict, more::TensorDict...) = cat(td, more...; dims = 1)
Base.hcat(td::TensorDict, more::TensorDict...) = cat(map(column, (td, more...))...; dims = 2)
Base.hvcat(rows::Tuple{Vararg{Int}}, td::TensorDict, more::TensorDict...) = vcat(rows_of(rows, (td, more...))...)

column(td) = ndims(td) == 1 ? unsqueeze(td, 2) : td

# The blocks of `[a b; c d]`, row by row.
function rows_of(counts, blocks)
    ends = cumsum(collect(counts))
    [hcat(blocks[stop-count+1:stop]...) for (count, stop) in zip(counts, ends)]
end

function joined(f, tds, dim)
    GC.@preserve tds begin
        sources = Ptr{td_tensordict}[live_pointer(td) for td in tds]
        call(TensorDict, f, sources, length(sources), from0(dim))
    end
end

"""
    contiguous(td; canonical = false)

With all tensors lying densely; those that already do are shared. If `canonical`, dimensions of size 1 get
the strides of a tensor that was made dense, too.
"""
contiguous(td::TensorDict; canonical::Bool = false) =
    call(TensorDict, canonical ? td_contiguous_canonical : td_contiguous, td)
