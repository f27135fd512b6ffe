# Names of batch dimensions.

# The names as texts of C; NULL for a dimension without one.
function with_names(f, names)
    texts = Union{Vector{UInt8},Nothing}[name === nothing ? nothing : Vector{UInt8}(c_text(String(name)))
                                         for name in names]
    pointers = Ptr{UInt8}[text === nothing ? C_NULL : pointer(text) for text in texts]
    GC.@preserve texts pointers f(Ptr{Cstring}(pointer(pointers)), length(pointers))
end

"""
    names(td)

The names of the batch dimensions, `nothing` for one that has none.

Results have the names of the dimensions that they keep. A dictionary without names takes over those of
a dictionary that is stored in it; into one with names only what agrees with them can be stored.

```jldoctest
julia> td = TensorDict((3, 4));

julia> set_names!(td, ["time", nothing]);

julia> names(td[:, 1]) == ["time"]
true
```
"""
function Base.names(td::TensorDict)
    texts = each_path((path, _) -> isempty(path) ? nothing : path[1], call(KeyList, td_names, td))
    Vector{Union{Nothing,String}}(texts)
end

"""
    set_names!(td, names)

Name the batch dimensions, and the leading ones of nested dictionaries alike; `nothing` for a dimension
without a name. No names at all, `set_names!(td, [])`, takes them away, those of nested dictionaries too.
Allowed when locked.
"""
function set_names!(td::TensorDict, names)
    with_names((list, n) -> check(td_set_names(td, list, n)), names)
    td
end

"""
    rename_dims!(td, "x" => "time", ...)
    rename_dims(td, "x" => "time", ...)

Give named dimensions other names; `nothing` takes a name away. Without `!` in a dictionary of its own
over the same tensors.
"""
function rename_dims!(td::TensorDict, renames::Pair...)
    with_names(first.(renames)) do from, n
        with_names((to, _) -> check(td_rename_dims(td, from, to, n)), last.(renames))
    end
    td
end
rename_dims(td::TensorDict, renames::Pair...) = rename_dims!(copy(td), renames...)

"""
    refine_names!(td, names)

Name dimensions that have no name yet; a name that is set may only be repeated. `"..."` stands, once, for
as many dimensions as needed, which keep what they have.
"""
function refine_names!(td::TensorDict, names)
    with_names((list, n) -> check(td_refine_names(td, list, n)), names)
    td
end
