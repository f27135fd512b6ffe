# Tables of Arrow in this process, by the C data interface: no package of Arrow is needed.

arrow_nulls(nulls::Symbol) =
    nulls === :refuse ? TD_ARROW_NULLS_REFUSE :
    nulls === :nan ? TD_ARROW_NULLS_NAN :
    nulls === :mask ? TD_ARROW_NULLS_MASK :
    throw(ArgumentError("nulls are :refuse, :nan or :mask, not $(repr(nulls))"))

function with_arrow_options(f; nulls::Symbol = :refuse, copy::Bool = false, separator::AbstractString = "",
                            max_depth::Integer = 0, max_entries::Integer = 0)
    text = String(separator)
    GC.@preserve text f(Ref(td_from_arrow_options(
        flags = copy ? TD_FROM_ARROW_COPY : 0, nulls = arrow_nulls(nulls), max_depth = max_depth,
        max_entries = max_entries, separator = Base.unsafe_convert(Cstring, text))))
end

"""
    from_arrow(schema::Ptr, array::Ptr; nulls = :refuse, copy = false, separator = "", max_depth = 0, max_entries = 0)

Take over a record batch of Arrow, without a copy where the memory permits: pointers to a `struct ArrowSchema` and a
`struct ArrowArray`, which are used up when this succeeds and unchanged otherwise. Sizes are in Arrow's order: the rows
are the first dimension.

- `nulls`: missing numbers are refused, NaN (`:nan`), or shown by a bool tensor `name.valid` (`:mask`)
- `copy`: tensors of their own. Arrow's memory is immutable: do not write into tensors that are no copies
- `separator`: splits names of columns into nested keys
- `max_depth`, `max_entries`: most levels and columns; 0 for the limits of the library
"""
from_arrow(schema::Ptr, array::Ptr; options...) = with_arrow_options(; options...) do given
    call(TensorDict, td_from_arrow, convert(Ptr{ArrowSchema}, schema), convert(Ptr{ArrowArray}, array), given)
end

"""
    from_arrow_stream(stream::Ptr; options...)

Read all record batches of a `struct ArrowArrayStream`, one after the other. The stream is used up, whatever comes. The
options are those of [`from_arrow`](@ref).
"""
from_arrow_stream(stream::Ptr; options...) = with_arrow_options(; options...) do given
    call(TensorDict, td_from_arrow_stream, convert(Ptr{ArrowArrayStream}, stream), given)
end

"""
    to_arrow(td::TensorDict, schema::Ptr, array::Ptr; separator = "", complex_pairs = false)

Lend a dictionary as a record batch of Arrow, a row for each element of the first batch dimension, without a copy where
tensors are row-major on the CPU. The structs are the caller's, 72 and 80 bytes; the receiver calls the `release` of both
once, which [`TensorDicts.release_arrow`](@ref) does.

- `separator`: joins the names of nested dictionaries into names of columns; otherwise these are structs
- `complex_pairs`: complex numbers become lists of two; otherwise they are refused
"""
function to_arrow(td::TensorDict, schema::Ptr, array::Ptr; options...)
    with_lent_options(; options...) do given
        check(td_to_arrow(td, given, convert(Ptr{ArrowSchema}, schema), convert(Ptr{ArrowArray}, array)))
    end
    nothing
end

function with_lent_options(f; separator::AbstractString = "", complex_pairs::Bool = false)
    text = String(separator)
    GC.@preserve text f(Ref(td_to_arrow_options(flags = complex_pairs ? TD_TO_ARROW_COMPLEX_PAIRS : 0,
                                                separator = Base.unsafe_convert(Cstring, text))))
end

"""
    to_arrow_stream(td::TensorDict, rows::Integer, stream::Ptr; separator = "", complex_pairs = false)

Lend a dictionary as a stream of record batches of `rows` rows each, the last with what is left, as [`to_arrow`](@ref) lends
the whole. The `struct ArrowArrayStream` is the caller's, 40 bytes; the receiver calls its `release` once.
"""
function to_arrow_stream(td::TensorDict, rows::Integer, stream::Ptr; options...)
    with_lent_options(; options...) do given
        check(td_to_arrow_stream(td, rows, given, convert(Ptr{ArrowArrayStream}, stream)))
    end
    nothing
end

"""
    TensorDicts.release_arrow(schema::Ptr, array::Ptr)

Release the structs of a table that nobody took over.
"""
function release_arrow(schema::Ptr, array::Ptr)
    for (at, offset) in ((schema, 56), (array, 64))    # behind all but private_data
        release = unsafe_load(convert(Ptr{Ptr{Cvoid}}, at + offset))
        release == C_NULL || ccall(release, Cvoid, (Ptr{Cvoid},), at)
    end
end
