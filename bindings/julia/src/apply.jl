# A Julia function over every entry.

# What others lack is an error, unless a default is given.
struct NoDefault end

mutable struct Walk
    f::Any
    named::Bool
    thrown::Any
end

"""
    apply(f, td, others...; named = false, filter_empty = nothing, propagate_lock = false, ...)
    map(f, td)

A dictionary of what `f(tensor)` returns for each tensor: a tensor, an array or a number; `nothing`
drops the entry. With `named` it is `f(key, tensor)`. Of dictionaries in which nothing is left those
that had entries before are dropped; `filter_empty` says `true` for all, `false` for none. If `td`
itself is one of them, the result is `nothing`. What `f` throws comes out as it is.

With other dictionaries it is `f(tensor, ...)` with their tensors under the same key beside; keys that
only they have are passed over. What they lack is a `KeyError`, unless there is a `default`, which may be
`nothing`. More options:

- `call_on_nested = true`: `f` gets nested dictionaries as they are
- `batch_size`, `device`, `names`: of the result; a name is a text or `nothing`
- `out`: a dictionary that takes the results, and is returned

```jldoctest
julia> td = TensorDict(2; a = [1, 2], b = [0.5, 1.5]);

julia> twice = map(t -> 2 .* t, td);

julia> Array(twice["b"])
2-element Array{Float64,1}:
 1.0
 3.0

julia> sum = apply((x, y) -> x .+ y, td, twice);

julia> Array(sum["a"])
2-element Array{Int64,1}:
 3
 6
```
"""
function apply(f, td::TensorDict, others::TensorDict...; named::Bool = false,
               filter_empty::Union{Bool,Nothing} = nothing, propagate_lock::Bool = false,
               out::Union{TensorDict,Nothing} = nothing, more...)
    result = walk(f, td, others, named; out = out, filter_empty = filtering(filter_empty),
                  propagate_lock = propagate_lock, more...)
    result === nothing ? nothing : out === nothing ? result : (close(result); out)
end
Base.map(f, td::TensorDict, others::TensorDict...) = apply(f, td, others...)

"""
    apply!(f, td, others...; named = false, default)

Write what `f` returns for each tensor into that tensor.
"""
function apply!(f, td::TensorDict, others::TensorDict...; named::Bool = false, options...)
    walk(f, td, others, named; inplace = true, options...)
    td
end

filtering(::Nothing) = TD_FILTER_EMPTY_DEFAULT
filtering(filter::Bool) = filter ? TD_FILTER_EMPTY_YES : TD_FILTER_EMPTY_NO

# No exception may cross the library: it waits in `state` until the call is over.
function parking(f, state)
    try
        f()
        TD_OK
    catch e
        state.thrown = ThrownInCallback(e, catch_backtrace())
        td_set_error(TD_ERR_CALLBACK, first(message_of(e), 900))
        TD_ERR_CALLBACK
    end
end

# After the call: what a function threw meanwhile, or what the library says.
check_parked(status, state) = state.thrown === nothing ? check(status) : rethrow_parked(state)

"""
    TensorDicts.ThrownInCallback

Shown as what caused an exception: where a function that the library had called threw it.
"""
struct ThrownInCallback <: Exception
    exception::Any
    backtrace::Vector
end
function Base.showerror(io::IO, e::ThrownInCallback)
    print(io, "a function that the library called has thrown: ")
    showerror(io, e.exception, e.backtrace)
end

# No exception can be thrown with a stack trace of its own: that of the function is in the one before it.
function rethrow_parked(state)
    try
        throw(state.thrown)
    catch
        throw(state.thrown.exception)
    end
end

# For those between here and our caller; a text with NUL could not be passed on.
message_of(e) = try
    replace(sprint(showerror, e), '\0' => ' ')
catch
    string(typeof(e))
end

# The borrowed handle dies with the call, what `f` keeps must not.
function kept(::Type{T}, share, source) where {T}
    shared = Ref{Ptr{raw(T)}}(C_NULL)
    check(share(source, shared))
    T(shared[])
end

lent_key(names, count) = askey(String[unsafe_string(unsafe_load(names, i)) for i in 1:count])

call_walk(state, key, sources) =
    state.named ? state.f(key(), sources...) : state.f(sources...)

function step_walk(user::Ptr{Cvoid}, names::Ptr{Cstring}, count::Csize_t, source::Ptr{td_tensor},
                   result::Ptr{Ptr{td_tensor}})::td_status
    state = unsafe_pointer_to_objref(user)::Walk
    parking(state) do
        value = call_walk(state, () -> lent_key(names, count), (kept(Tensor, td_tensor_dup, source),))
        value === nothing || lending(v -> check(td_tensor_dup(v, result)), value)
    end
end

function step_entries(user::Ptr{Cvoid}, given::Ptr{td_apply_entry}, tensor::Ptr{Ptr{td_tensor}},
                      dict::Ptr{Ptr{td_tensordict}})::td_status
    state = unsafe_pointer_to_objref(user)::Walk
    parking(state) do
        entry = unsafe_load(given)
        isdict = entry.kind == TD_ENTRY_DICT
        function source(i)
            pointer = unsafe_load(isdict ? Ptr{Ptr{Cvoid}}(entry.dicts) : Ptr{Ptr{Cvoid}}(entry.tensors), i)
            pointer == C_NULL && return nothing
            isdict ? kept(TensorDict, td_dup, Ptr{td_tensordict}(pointer)) :
                     kept(Tensor, td_tensor_dup, Ptr{td_tensor}(pointer))
        end
        value = call_walk(state, () -> lent_key(entry.path, entry.path_len), map(source, 1:entry.sources_len))
        if value isa TensorDict
            check(td_dup(value, dict))
        elseif value !== nothing
            lending(v -> check(td_tensor_dup(v, tensor)), value)
        end
    end
end

name_pointer(::Nothing) = Ptr{UInt8}(C_NULL)
name_pointer(name::String) =
    '\0' in name ? throw(ArgumentError("the name $(repr(name)) holds a NUL")) : pointer(name)

function walk(f, td, others, named; call_on_nested::Bool = false, default = NoDefault(), batch_size = nothing,
              device = nothing, names = nothing, out = nothing, inplace = false, plain...)
    state = Walk(f, named, nothing)
    result = Ref{Ptr{td_tensordict}}(C_NULL)
    filled = default isa NoDefault || default === nothing ? nothing : Tensor(default)
    dims = batch_size === nothing ? Int64[] : sizes(batch_size)
    texts = names === nothing ? Union{String,Nothing}[] :
            Union{String,Nothing}[name === nothing ? nothing : String(name) for name in names]
    place = device === nothing ? Device(TD_DEVICE_NONE, -1) : device isa Device ? device : Device(device)
    list = [other.pointer for other in others]
    status = GC.@preserve state td others filled dims texts out begin
        pointers = map(name_pointer, texts)
        user = pointer_from_objref(state)
        GC.@preserve pointers begin
            options = Ref(td_apply_options(;
                call_on_nested = call_on_nested, fill_missing = !(default isa NoDefault),
                has_batch_size = batch_size !== nothing, batch_size = pointer(dims), batch_dims = length(dims),
                device_type = place.type, device_index = place.index,
                names = Ptr{Cstring}(pointer(pointers)), names_len = length(pointers),
                default_value = filled === nothing ? C_NULL : live_pointer(filled),
                out = out === nothing ? C_NULL : live_pointer(out), plain...))
            if isempty(others) && !call_on_nested
                callback = @cfunction(step_walk, td_status, (Ptr{Cvoid}, Ptr{Cstring}, Csize_t,
                                                             Ptr{td_tensor}, Ptr{Ptr{td_tensor}}))
                inplace ? td_apply_inplace(td, options, callback, user) :
                          td_apply(td, options, callback, user, result)
            else
                callback = @cfunction(step_entries, td_status, (Ptr{Cvoid}, Ptr{td_apply_entry},
                                                                Ptr{Ptr{td_tensor}}, Ptr{Ptr{td_tensordict}}))
                inplace ? td_apply_entries_inplace(td, list, length(list), options, callback, user) :
                          td_apply_entries(td, list, length(list), options, callback, user, result)
            end
        end
    end
    check_parked(status, state)
    result[] == C_NULL ? nothing : TensorDict(result[])
end
