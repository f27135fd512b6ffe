# Rows into the tensors of a dictionary, for a hot loop.

"""
    Writer(td; first = 1, capacity = nothing)
    Writer(f, td; ...)

Writes rows into the tensors of `td`, from row `first`; with several batch dimensions rows follow in
row-major order. The second form closes the writer when `f(writer)` is over.

Rows must lie densely, as they do after [`memmap_like`](@ref), [`contiguous`](@ref) and
`zeros(Tensor, ...)`; those of a Julia matrix do not.

```jldoctest
julia> td = TensorDict(3; x = zeros(Tensor, Float32, 3, 2));

julia> Writer(td) do w
           x = bind!(w, "x")
           for row in 1:3
               put!(w, x, Float32[row, -row])
               next!(w)
           end
           rows(w)
       end
3

julia> Array(td["x"])
3×2 Array{Float32,2}:
 1.0  -1.0
 2.0  -2.0
 3.0  -3.0
```
"""
mutable struct Writer
    handle::WriterHandle
    td::TensorDict
    batchdims::Int    # that make a row; one when it grows
end

"""
    Field{T}

What a writer gives for a key: a number, and the type and sizes of a row.
"""
struct Field{T,N}
    number::Int32
    dims::NTuple{N,Int}
    one::Vector{T}    # where a single number stands while it is copied
end

# An entry of a folder that grows, with a text for each row.
struct TextField
    number::Int32
end

function Writer(td::TensorDict; first::Integer = 1, capacity::Union{Integer,Nothing} = nothing)
    first >= 1 || throw(ArgumentError("first row $first: rows count from 1"))
    options = td_writer_options(first_row = first - 1, capacity = something(capacity, 0))
    Writer(call(WriterHandle, td_writer_open, td, Ref(options)), share(td), ndims(td))
end

function Writer(f, td::TensorDict; options...)
    w = Writer(td; options...)
    try
        f(w)
    finally
        close(w)
    end
end

"""
    bind!(w::Writer, key...) -> Field

Find the tensor under a key, once, before the loop. In a folder that grows, an entry with a text for each row
is found, too.
"""
function bind!(w::Writer, key...)
    names = path(key)
    number = ask(Int32, td_writer_bind, w.handle, names, length(names); key = askey(names))
    t = lookup(w.td, askey(names))
    t isa Tensor || return TextField(number)
    dims = size(t)[w.batchdims+1:end]
    field = Field{eltype(t),length(dims)}(number, dims, Vector{eltype(t)}(undef, 1))
    close(t)
    field
end

"""
    TensorDicts.row_bytes(w::Writer, field) -> Int

How many bytes one row of a field takes.
"""
row_bytes(w::Writer, field::Field) = Int(ask(Csize_t, td_writer_row_bytes, w.handle, field.number))

"""
    put!(w::Writer, field, row)

Copy one field of the current row: an array of the sizes of a row, a number where it has one element, or a
text. Nothing is allocated for a number or a vector of the type of the tensor.
"""
function Base.put!(w::Writer, field::Field{T,N}, row::Array{T,N}) where {T,N}
    size(row) == field.dims || throw(DimensionMismatch("a row has the size $(field.dims), $(size(row)) was given"))
    values = N < 2 ? row : permutedims(row, N:-1:1)
    check(td_writer_put(w.handle, field.number, values, sizeof(values)))
end
function Base.put!(w::Writer, field::Field{T}, x::Number) where {T}
    field.one[1] = x
    check(td_writer_put(w.handle, field.number, field.one, sizeof(T)))
end
Base.put!(w::Writer, field::TextField, text::AbstractString) =
    check(td_writer_put_text(w.handle, field.number, String(text)))
Base.put!(w::Writer, field::Field{T,N}, row::AbstractArray{<:Any,N}) where {T,N} = put!(w, field, Array{T}(row))

"""
    next!(w::Writer)

Move on to the next row. What was not put keeps what was there.
"""
next!(w::Writer) = check(td_writer_next(w.handle))

"""
    rows(w::Writer) -> Int

How many rows were completed by [`next!`](@ref).
"""
rows(w::Writer) = Int(ask(Int64, td_writer_rows, w.handle))

"""
    flush(w::Writer)

Wait until what was put is on the disk. A growing writer publishes its rows.
"""
Base.flush(w::Writer) = check(td_writer_flush(w.handle))

Base.isopen(w::Writer) = isopen(w.handle)
function Base.close(w::Writer)
    isopen(w) || return
    status = td_writer_close(w.handle)
    problem = status == TD_OK ? nothing : failure(status)
    close(w.handle)
    close(w.td)
    problem === nothing || throw(problem)
    nothing
end
