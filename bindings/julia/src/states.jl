# The tensors and the structure of a dictionary in forms that can be stored.

"""
    state_dict(td; nested = false, keep_vars = false)

A dictionary of the tensors of `td` by their names joined with dots, and under "_metadata" the batch size
and the device of each dictionary. `nested`: dictionaries stay inside each other. `keep_vars`: tensors
keep their history.
"""
state_dict(td::TensorDict; nested::Bool = false, keep_vars::Bool = false) =
    call(TensorDict, td_state_dict, td, Ref(td_state_dict_options(nested = nested, keep_vars = keep_vars)))

"""
    load_state_dict!(td, state; strict = true, assign = false, flat = nothing)

Write the values of `state` into the tensors of `td`; all of them, or none if something does not fit.

- `strict`: the keys must be the same; else what both have is loaded
- `assign`: the tensors of the state take the place of those in `td`
- `flat`: whether its names are joined with dots; found out if it is not said
"""
function load_state_dict!(td::TensorDict, state::TensorDict; strict::Bool = true, assign::Bool = false,
                          flat::Union{Bool,Nothing} = nothing)
    form = flat === nothing ? TD_STATE_DETECT : flat ? TD_STATE_FLAT : TD_STATE_NESTED
    check(td_load_state_dict(td, state, Ref(td_load_state_dict_options(partial = !strict, assign = assign, form = form))))
    td
end

"""
    schema(td) -> String

The structure of `td` as JSON: keys, batch sizes, devices, element types, sizes, and non-tensor values.
"""
schema(td::TensorDict) = asktext(td_schema, td)

const CONTENTS = (zeros = TD_SCHEMA_ZEROS, undef = TD_SCHEMA_UNINITIALIZED, meta = TD_SCHEMA_META)

"""
    from_schema(text; content = :zeros, device = nothing)

A dictionary of the structure that [`schema`](@ref) gives, or that was written by hand. `content` is
`:zeros`, `:undef` for whatever the memory holds, or `:meta` for tensors without memory.

```jldoctest
julia> text = schema(TensorDict(2; x = Int32[1, 2]));

julia> Array(from_schema(text)["x"])
2-element Array{Int32,1}:
 0
 0
```
"""
function from_schema(text::AbstractString; content::Symbol = :zeros, device::Union{Device,Nothing} = nothing)
    haskey(CONTENTS, content) || throw(ArgumentError("content is :zeros, :undef or :meta, not $(repr(content))"))
    d = something(device, Device(TD_DEVICE_NONE, -1))
    call(TensorDict, td_from_schema, String(text),
         Ref(td_schema_options(content = CONTENTS[content], device_type = d.type, device_index = d.index)))
end

"""
    Dict(td::TensorDict)

The entries of `td` as they are, in a `Dict` of their names; nested dictionaries become such, too.
`TensorDict(batch, dict)` is the way back.
"""
function Base.Dict(td::TensorDict)
    result = Dict{String,Any}()
    pending = Tuple{Dict{String,Any},TensorDict}[(result, td)]
    while !isempty(pending)
        into, from = pop!(pending)
        for name in keys(from)
            value = from[name]
            if value isa TensorDict
                into[name] = Dict{String,Any}()
                push!(pending, (into[name], value))
            else
                into[name] = value
            end
        end
    end
    result
end

"""
    TensorDict(batch, dict::AbstractDict)

A dictionary of the entries of `dict`: tensors, arrays, numbers, and named tuples or `Dict`s for nested
ones.
"""
TensorDict(batch, dict::AbstractDict) = fill_entries!(TensorDict(batch), pairs(dict))
