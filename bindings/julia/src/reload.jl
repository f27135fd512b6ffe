# Folders read into existing dictionaries, and entries created in both at once.

"""
    load_memmap(dir, key...; options...)

Map a nested dictionary of a folder alone: only its own files are looked at.
"""
function load_memmap(dir::AbstractString, name, more...; options...)
    texts = map(text -> Base.cconvert(Cstring, text), path((name, more...)))
    GC.@preserve texts begin
        names = map(text -> Base.unsafe_convert(Cstring, text), texts)
        GC.@preserve names call(TensorDict, td_memmap_load, String(dir), loading(; options...,
                                subpath = pointer(names), subpath_len = length(names)))
    end
end

"""
    load_memmap!(td, dir; options...)

Read a folder into `td`: tensors take the place of those of the same name, nested dictionaries are filled,
other entries stay. A locked dictionary must be mapped. Options as for [`load_memmap`](@ref).
"""
function load_memmap!(td::TensorDict, dir::AbstractString; options...)
    check(td_memmap_load_into(td, String(dir), loading(; options...)))
    td
end

"""
    refresh!(td; options...)

Read again the folder behind `td`, and take over what has come meanwhile: new entries, files that were
replaced, a batch size that has grown. Entries that have gone stay. Options as for [`load_memmap`](@ref).

```jldoctest
julia> dir = joinpath(mktempdir(), "td");

julia> td = TensorDict(2; x = [1, 2]);

julia> memmap(td, dir);

julia> reader = load_memmap(dir);

julia> memmap_append(dir, td)

julia> Array(refresh!(reader)["x"])
4-element Array{Int64,1}:
 1
 2
 1
 2
```
"""
function refresh!(td::TensorDict; options...)
    check(td_memmap_refresh(td, loading(; options...)))
    td
end

"""
    make_memmap!(td, key, T, dims; options...) -> Tensor
    make_memmap!(td, key, value; options...) -> Tensor

Add a tensor to a mapped dictionary, locked or not, and its file to the folder: zeros of type `T`, or a
copy of a tensor or an array. Dictionaries that are missing on the way are made, with their folders.
Options as for [`memmap`](@ref).
"""
function make_memmap!(td::TensorDict, key, T::Type, dims::Union{Integer,Tuple}; options...)
    names = path(key)
    call(Tensor, td_memmap_make, td, names, length(names), sizes(dims), length(dims), dtype_code(T),
         storing(; options...))
end

function make_memmap!(td::TensorDict, key, value::Union{Tensor,AbstractArray}; options...)
    names = path(key)
    source = value isa Tensor ? value : Tensor(value)
    call(Tensor, td_memmap_make_from_tensor, td, names, length(names), source, storing(; options...))
end
