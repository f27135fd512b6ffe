# A Julia function over every tensor.

mutable struct Walk
    f::Any
    named::Bool
    thrown::Any
end

"""
    apply(f, td; named = false, filter_empty = nothing, propagate_lock = false)
    map(f, td)

A dictionary of what `f(tensor)` returns for each tensor: a tensor, an array or a number; `nothing`
drops the entry. With `named` it is `f(key, tensor)`. Of dictionaries in which nothing is left those
that had entries before are dropped; `filter_empty` says `true` for all, `false` for none. What `f`
throws comes out as it is.

```jldoctest
julia> td = TensorDict(2; a = [1, 2], b = [0.5, 1.5]);

julia> twice = map(t -> 2 .* t, td);

julia> Array(twice["b"])
2-element Array{Float64,1}:
 1.0
 3.0
```
"""
apply(f, td::TensorDict; named::Bool = false, filter_empty::Union{Bool,Nothing} = nothing,
      propagate_lock::Bool = false) =
    charge(walk(f, td, named, td_apply_options(filter_empty = filtering(filter_empty),
                                               propagate_lock = propagate_lock)))
Base.map(f, td::TensorDict) = apply(f, td)

"""
    apply!(f, td; named = false)

Write what `f` returns for each tensor into that tensor.
"""
function apply!(f, td::TensorDict; named::Bool = false)
    close(walk(f, td, named, td_apply_options(inplace = 1)))
    td
end

filtering(::Nothing) = TD_FILTER_EMPTY_DEFAULT
filtering(filter::Bool) = filter ? TD_FILTER_EMPTY_YES : TD_FILTER_EMPTY_NO

# No exception may cross the library: it waits in `state` until the call is over.
function step_walk(user::Ptr{Cvoid}, names::Ptr{Cstring}, count::Csize_t, source::Ptr{td_tensor},
                   result::Ptr{Ptr{td_tensor}})::td_status
    state = unsafe_pointer_to_objref(user)::Walk
    try
        # The borrowed handle dies with this call, what `f` keeps must not.
        shared = Ref{Ptr{td_tensor}}(C_NULL)
        check(td_tensor_share(source, shared))
        t = Tensor(shared[])
        value = if state.named
            state.f(askey(String[unsafe_string(unsafe_load(names, i)) for i in 1:count]), t)
        else
            state.f(t)
        end
        value === nothing || lending(v -> check(td_tensor_share(v, result)), value)
        TD_OK
    catch e
        state.thrown = Some(e)
        td_set_error(TD_ERR_CALLBACK, first(message_of(e), 900))
        TD_ERR_CALLBACK
    end
end

# For those between here and our caller; a text with NUL could not be passed on.
message_of(e) = try
    replace(sprint(showerror, e), '\0' => ' ')
catch
    string(typeof(e))
end

function walk(f, td, named, options)
    state = Walk(f, named, nothing)
    callback = @cfunction(step_walk, td_status,
                          (Ptr{Cvoid}, Ptr{Cstring}, Csize_t, Ptr{td_tensor}, Ptr{Ptr{td_tensor}}))
    result = Ref{Ptr{td_tensordict}}(C_NULL)
    status = GC.@preserve state td_apply(td, Ref(options), callback, pointer_from_objref(state), result)
    state.thrown === nothing || throw(something(state.thrown))
    check(status)
    TensorDict(result[])
end
