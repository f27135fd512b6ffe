# From status codes to exceptions.

"""
    TensorDictError

A failure for which Base has no type: a locked dictionary, a folder that cannot be read, …

`status` is the code of the C interface, `call` the function that failed, `message` says what was
asked and what was found. Where Base has a type, that one is thrown: `KeyError`,
`DimensionMismatch`, `BoundsError`, `ArgumentError`, `OutOfMemoryError`.
"""
struct TensorDictError <: Exception
    status::td_status
    call::String
    message::String
end

"""
    ReleasedError

A tensor, dictionary or writer was used after `close`.
"""
struct ReleasedError <: Exception
    kind::Symbol
end

status_name(status::Integer) = unsafe_string(td_status_name(status))

Base.showerror(io::IO, e::TensorDictError) =
    print(io, "TensorDictError: ", e.message, " (", status_name(e.status), " in ", e.call, ")")
Base.showerror(io::IO, e::ReleasedError) = print(io, "ReleasedError: this ", e.kind, " was closed")

# The text of the last error is that of this call: only failing calls write it, and none came between.
function failure(status::td_status, key = nothing)
    told = td_last_error_code() == status
    message = told ? unsafe_string(td_last_error_message()) : status_name(status)
    if status == TD_ERR_KEY_NOT_FOUND && key !== nothing
        KeyError(key)
    elseif status == TD_ERR_SHAPE
        DimensionMismatch(message)
    elseif status in (TD_ERR_NULL_ARGUMENT, TD_ERR_INVALID_ARGUMENT, TD_ERR_KEY_INVALID, TD_ERR_INDEX)
        ArgumentError(message)
    elseif status == TD_ERR_OUT_OF_MEMORY
        OutOfMemoryError()
    else
        TensorDictError(status, told ? unsafe_string(td_last_error_function()) : "", message)
    end
end

check(status::td_status, key = nothing) = status == TD_OK ? nothing : throw(failure(status, key))
