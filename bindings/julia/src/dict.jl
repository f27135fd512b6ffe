# Dictionaries: making them, their keys, and what can be asked of the whole.

const Name = Union{AbstractString,Symbol}

# A key: one name, or a tuple of names, one for each level.
path(name::Name) = [String(name)]
path(names::Tuple) = isempty(names) ? String[] : reduce(vcat, map(path, names))
path(names::AbstractVector{<:Name}) = path(Tuple(names))
path(other) = throw(ArgumentError("a $(typeof(other)) is not a key: a name or a tuple of names was expected"))

askey(names::Vector{String}) = length(names) == 1 ? names[1] : Tuple(names)

"""
    TensorDict(batch, [device]; entries...)
    TensorDict(batch, [device], key => value, ...)

A dictionary of tensors whose sizes begin with `batch`, a number or a tuple of numbers. Values are
tensors, arrays (shared as [`Tensor`](@ref) shares them), other dictionaries, and named tuples or
`Dict`s for nested ones. With a device every entry is moved there.

```jldoctest
julia> td = TensorDict((2, 3); obs = zeros(Float32, 2, 3, 4), next = (reward = ones(2, 3),))
TensorDict(batch_size=[2,3], fields={next: {reward: f64[]}, obs: f32[4]})
```
"""
TensorDict(batch, entries::Pair...; more...) = TensorDict(batch, nothing, entries...; more...)

function TensorDict(batch, place::Union{Device,Nothing}, entries::Pair...; more...)
    dims = sizes(batch)
    where_to = place === nothing ? Device(TD_DEVICE_NONE, -1) : place
    td = call(TensorDict, td_create, dims, length(dims), where_to.type, where_to.index)
    fill_entries!(td, entries)
    fill_entries!(td, more)
end

fill_entries!(td, entries) = (foreach(((key, value),) -> setindex!(td, value, key), entries); td)

# A dictionary for a nested value, with the batch size and the device of the one it goes into.
nested(td, entries) = fill_entries!(TensorDict(size(td), device(td)), pairs(entries))

Base.size(td::TensorDict) = asksizes(td_batch_size, td)
Base.ndims(td::TensorDict) = length(size(td))

"""
    length(td)

The first size of the batch, which one index speaks of: `td[end]` is `td[length(td)]`.
"""
function Base.length(td::TensorDict)
    dims = size(td)
    isempty(dims) ? throw(DimensionMismatch("a dictionary without batch dimensions has no length")) : dims[1]
end

"""
    set_batch_size!(td, batch)

Change the batch size. Nested dictionaries grow with it where theirs is shorter.
"""
function set_batch_size!(td::TensorDict, batch)
    dims = sizes(batch)
    check(td_set_batch_size(td, dims, length(dims)))
    td
end

"""
    lock!(td), unlock!(td), islocked(td)

Forbid structural change here and in every nested dictionary, allow it again, ask for it. Values can
still be written.
"""
lock!(td::TensorDict) = (check(td_lock(td)); td)
unlock!(td::TensorDict) = (check(td_unlock(td)); td)
Base.islocked(td::TensorDict) = asks(td_is_locked, td)

"""
    isempty(td)

Whether nothing but empty dictionaries stands in `td`.
"""
Base.isempty(td::TensorDict) = asks(td_is_empty, td)
nbytes(td::TensorDict) = Int(ask(Csize_t, td_nbytes, td))

share(td::TensorDict) = call(TensorDict, td_dup, td)

"""
    copy(td)
    deepcopy(td)

New dictionaries at every level over the same tensors; and a copy with memory of its own.
Both are unlocked.
"""
Base.copy(td::TensorDict) = call(TensorDict, td_clone, td, TD_CLONE_SHALLOW)
Base.deepcopy_internal(td::TensorDict, seen::IdDict) =
    get!(() -> call(TensorDict, td_clone, td, 0), seen, td)::TensorDict

"""
    a == b

Whether two dictionaries have the same batch size, the same keys in any order, and equal tensors
under each: type, sizes and values. NaN equals nothing.
"""
Base.:(==)(a::TensorDict, b::TensorDict) = asks(td_equal, a, b)

"""
    issame(a, b)

Whether both speak of the same dictionary: a change through one is seen through the other.

```jldoctest
julia> td = TensorDict(2; x = [1, 2]);

julia> issame(td, td[:]), issame(td, copy(td))
(true, false)
```
"""
issame(a::TensorDict, b::TensorDict) = asks(td_is_same, a, b)

Base.hash(td::TensorDict, h::UInt) = hash(size(td), hash(:TensorDict, h))

# Keys and their entries as they are now: later changes of the dictionary do not affect the list.
function listing(td::TensorDict; nested::Bool = false, leaves::Bool = false, sort::Bool = false, data::Bool = false,
                 contents_first::Bool = false, is_leaf = nothing)
    leaf_asking(is_leaf) do callback, user
        options = Ref(td_keys_options(include_nested = nested, leaves_only = leaves, sort = sort, include_non_tensor = data,
                                      contents_first = contents_first, is_leaf = callback, user = user))
        listed(call(KeyList, td_keys_of, td, options))
    end
end

listed(list::KeyList) = each_path(list) do path, position
    askey(path) => ask(td_entry_kind, td_keys_kind_at, list, position)
end

function each_path(f, list::KeyList)
    names, count = Ref{Ptr{Cstring}}(C_NULL), Ref{Csize_t}(0)
    try
        map(0:Int(td_keys_len(list))-1) do position
            check(td_keys_at(list, position, names, count))
            f(String[unsafe_string(unsafe_load(names[], i)) for i in 1:count[]], position)
        end
    finally
        close(list)
    end
end

"""
    keys(td; nested = false, leaves = false, sort = false)
    values(td; ...)
    pairs(td; ...)

Vectors of the keys, the entries, or both as pairs: of the first level, or with `nested` of all
levels, a dictionary before its content, or with `contents_first` after it. `leaves` leaves out what is
no tensor, but for values with `data`, and for what `is_leaf(key)` says is one; that is not descended
into. `sort` orders by name. A nested key is a tuple of names.
"""
Base.keys(td::TensorDict; nested::Bool = false, options...) =
    (nested ? Union{String,Tuple{Vararg{String}}} : String)[
        first(x) for x in listing(td; nested = nested, options...)]
Base.pairs(td::TensorDict; options...) =
    Pair[key => entry(td, path(key), kind, key) for (key, kind) in listing(td; options...)]
Base.values(td::TensorDict; options...) = Any[last(x) for x in pairs(td; options...)]
