# Arrays of Julia structs as dictionaries, and back. A struct says itself where its members lie.

# A number, or a tuple of equal ones (of such): its element type and its sizes.
element(T::Type) = T, Int64[]
function element(T::Type{<:NTuple{N,Any}}) where {N}
    allequal = N > 0 && all(i -> fieldtype(T, i) === fieldtype(T, 1), 1:N)
    allequal || throw(ArgumentError("$T is not a tuple of equal elements"))
    of, inner = element(fieldtype(T, 1))
    of, pushfirst!(inner, N)
end

isnumber(T::Type) = any(pair -> first(pair) === T, DTYPES)

# (names, element type, sizes, offset) of each number in a struct. Structs inside become dictionaries.
function members_of(T::Type)
    isbitstype(T) || throw(ArgumentError("$T does not lie in memory as it is: no isbits type"))
    found = Tuple{Vector{String},DataType,Vector{Int64},Int}[]
    pending = Tuple{Vector{String},DataType,Int}[(String[], T, 0)]
    while !isempty(pending)
        names, type, at = pop!(pending)
        if isnumber(type) || type <: Tuple
            of, dims = element(type)
            isnumber(of) || throw(ArgumentError("$(join(names, ".")) of $T is of $of, which no tensor holds"))
            push!(found, (names, of, dims, at))
        elseif isprimitivetype(type)
            throw(ArgumentError("$(join(names, ".")) of $T is a $type, which no tensor holds"))
        else
            for i in fieldcount(type):-1:1
                push!(pending, (vcat(names, string(fieldname(type, i))), fieldtype(type, i), at + fieldoffset(type, i)))
            end
        end
    end
    found
end

# Calls `f(members)` with the members as the library takes them.
function with_members(f, T::Type)
    found = members_of(T)
    texts = [[Base.cconvert(Cstring, name) for name in names] for (names, _, _, _) in found]
    paths = [[Base.unsafe_convert(Cstring, text) for text in list] for list in texts]
    GC.@preserve found texts paths begin
        f([td_member(path = pointer(paths[i]), path_len = length(paths[i]), sizes = pointer(dims),
                     dims = length(dims), offset = at, dtype = dtype_code(of))
           for (i, (_, of, dims, at)) in enumerate(found)])
    end
end

"""
    from_structs(v::Vector) -> TensorDict
    view_structs(v::Vector) -> TensorDict

The numbers in a vector of structs by the names of their fields, with batch size `(length(v),)`. A tuple
of equal elements becomes a dimension, a struct inside a nested dictionary. `from_structs` copies into
tensors of their own; the tensors of `view_structs` lie over the vector itself, which stays alive.

```jldoctest
julia> struct Point
           at::NTuple{2,Float32}
           id::Int32
       end

julia> td = from_structs([Point((1, 2), 7), Point((3, 4), 8)]);

julia> Array(td["at"])
2×2 Array{Float32,2}:
 1.0  2.0
 3.0  4.0
```
"""
from_structs(v::Vector{T}) where {T} = with_members(T) do members
    GC.@preserve v call(TensorDict, td_from_structs, pointer(v), sizeof(v), Int64[length(v)], 1, sizeof(T),
                        members, length(members))
end

view_structs(v::Vector{T}) where {T} = with_members(T) do members
    GC.@preserve v call(TensorDict, td_view_structs, pointer(v), sizeof(v), Int64[length(v)], 1, sizeof(T),
                        members, length(members), release_root(), root!(fixed(v), kept_bytes(v)))
end

"""
    to_structs(T, td) -> Vector{T}
    to_structs!(v, td)

The elements of the batch of `td` as structs: each number of `T` from the entry of its name, which must
have its element type. `to_structs!` writes into an existing vector.
"""
function to_structs(::Type{T}, td::TensorDict) where {T}
    v = Vector{T}(undef, prod(size(td)))
    to_structs!(v, td)
end

function to_structs!(v::Vector{T}, td::TensorDict) where {T}
    with_members(T) do members
        GC.@preserve v check(td_to_structs(td, pointer(v), sizeof(v), sizeof(T), members, length(members)))
    end
    v
end
