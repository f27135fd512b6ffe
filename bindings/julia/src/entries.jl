# Entries as those of any dictionary: updated, selected, renamed, taken out, flattened, merged.

"""
    unravel_key(key)

A key in its plain form: names of tuples in tuples become one tuple, a tuple of one name that name.

```jldoctest
julia> unravel_key(("a", ("b", (:c,)))), unravel_key((("a",),))
(("a", "b", "c"), "a")
```
"""
unravel_key(key) = askey(path(key))

# f(names, count) for a key; () has no names.
function with_key(f, key)
    names = path(key)
    pointers = Cstring[Base.unsafe_convert(Cstring, name) for name in names]
    GC.@preserve names pointers f(pointer(pointers), length(pointers))
end

# f(list, count) for a list of keys.
function with_keys(f, keys)
    names = Vector{String}[path(key) for key in keys]
    pointers = [Cstring[Base.unsafe_convert(Cstring, name) for name in one] for one in names]
    list = td_key[td_key(path = pointer(one), path_len = length(one)) for one in pointers]
    GC.@preserve names pointers f(list, length(list))
end

const UPDATE_MODES = (store = TD_UPDATE_STORE, inplace = TD_UPDATE_INPLACE, strict = TD_UPDATE_STRICT)

"""
    update!(td, source; mode = :store, clone = false, keys = nothing, whole_dicts = false,
            update_batch_size = false, ignore_lock = false)
    merge!(td, sources...)

Put the entries of `source`, a dictionary, a named tuple or a `Dict`, into `td`. Dictionaries that
both have are merged and stay the same dictionaries.

- `mode`: `:store` stores the tensors of the source; `:inplace` writes values into tensors that are
  there and stores what is new; `:strict` writes values, and every entry must be there
- `clone`: what is stored are copies
- `keys`: only these, and what lies below them
- `whole_dicts`: dictionaries replace one another
- `update_batch_size`: the batch size is taken over too; the source must then have all keys

```jldoctest
julia> td = TensorDict(2; a = [1, 2], n = (b = [3, 4],));

julia> update!(td, (a = [5, 6], n = (c = [7, 8],)));

julia> keys(td; nested = true, leaves = true) == ["a", ("n", "b"), ("n", "c")]
true
```
"""
function update!(td::TensorDict, source; keys = nothing, mode::Symbol = :store, options...)
    haskey(UPDATE_MODES, mode) || throw(ArgumentError("mode is $(repr(mode)); :store, :inplace or :strict was expected"))
    lending_dict(td, source) do from
        with_keys(something(keys, ())) do list, count
            status = GC.@preserve list td_update(td, from, Ref(td_update_options(;
                mode = UPDATE_MODES[mode], has_keys = keys !== nothing, keys = pointer(list),
                keys_len = count, options...)))
            check_entries(status, td, from)
        end
    end
    td
end

# A key that is missing is named by the exception.
function check_entries(status, td, from)
    problem = status == TD_OK ? nothing : failure(status)
    status == TD_ERR_KEY_NOT_FOUND || return problem === nothing ? nothing : throw(problem)
    lacks((a, b)) = findfirst(key -> !haskey(a, key), keys(b; nested = true))
    for (a, b) in ((td, from), (from, td))
        i = lacks((a, b))
        i === nothing || throw(KeyError(keys(b; nested = true)[i]))
    end
    throw(problem)
end
Base.merge!(td::TensorDict, sources...) = (foreach(source -> update!(td, source), sources); td)

"""
    update_inplace!(td, source)
    copyto!(td, source)

Write the values of `source` into the tensors of `td`, which must have them all. Allowed when locked.
"""
update_inplace!(td::TensorDict, source; options...) = update!(td, source; mode = :strict, options...)
Base.copyto!(td::TensorDict, source::TensorDict) = update_inplace!(td, source)

"""
    updated(td, source)

A new dictionary with the entries of both, over the same tensors.
"""
updated(td::TensorDict, source) = update!(copy(td), source)

"""
    update_at!(td, source, indices...; exact = false)

Write the values of `source` into the existing tensors at an index; each is broadcast on its own.
With `exact` nothing is broadcast, and the part must be a view. Allowed when locked.

```jldoctest
julia> td = TensorDict(3; x = [1, 2, 3]);

julia> Array(update_at!(td, TensorDict((); x = 9), 2)["x"]) == [1, 9, 3]
true
```
"""
function update_at!(td::TensorDict, source::TensorDict, indices...; exact::Bool = false)
    missing_status = Ref(TD_OK)
    indexing(td, indices) do list, count
        status = td_update_at(td, list, count, source, exact * TD_UPDATE_AT_EXACT)
        status == TD_ERR_KEY_NOT_FOUND || return status
        missing_status[] = status
        TD_OK
    end
    check_entries(missing_status[], td, source)
    td
end

"""
    write!(td, key, value)

Write values into the tensor that is stored under `key`, or store `value` when nothing is there.
"""
function write!(td::TensorDict, key, value)
    names = path(key)
    lending(t -> check(td_write_or_set(td, names, length(names), t), key), value)
    td
end

"""
    fill_entry!(td, key, value)

Write `value` into every element of the tensor under `key`, or of all tensors of the dictionary there.
"""
function fill_entry!(td::TensorDict, key, value)
    names = path(key)
    lending(t -> check(td_fill_entry(td, names, length(names), t), key), value)
    td
end

"""
    get_at(td, key, indices...)
    set_at!(td, key, value, indices...)

A part of the tensor under `key`, read or written; the indices may go beyond the batch.

```jldoctest
julia> td = TensorDict(2; x = [1 2; 3 4]);

julia> set_at!(td, "x", 0, :, 1);

julia> Array(get_at(td, "x", 2, :)) == [0, 4]
true
```
"""
function get_at(td::TensorDict, key, indices...)
    names, result = path(key), Ref{Ptr{td_tensor}}(C_NULL)
    indexing(tensor_of(td, key), indices) do list, count
        td_get_entry_at(td, names, length(names), list, count, result)
    end
    Tensor(result[])
end
function set_at!(td::TensorDict, key, value, indices...)
    names = path(key)
    lending(value) do source
        indexing(tensor_of(td, key), indices) do list, count
            td_set_entry_at(td, names, length(names), list, count, source)
        end
    end
    td
end

# What an index is worked out for.
function tensor_of(td, key)
    names = path(key)
    call(Tensor, td_get, td, names, length(names); key = key)
end

"""
    get!(td, key, value), get!(f, td, key)

The tensor under `key`; when nothing is there, `value`, or what `f()` gives, is stored first.
"""
function Base.get!(td::TensorDict, key, value)
    names = path(key)
    kind = kind_of(td, names)
    kind in (TD_ENTRY_NONE, TD_ENTRY_TENSOR) || return entry(td, names, kind, key)
    lending(t -> call(Tensor, td_get_or_set, td, names, length(names), t; key = key), value)
end
Base.get!(f::Union{Function,Type}, td::TensorDict, key) =
    haskey(td, key) ? lookup(td, key) : (setindex!(td, f(), key); lookup(td, key))

# What was taken out: a non-tensor value comes in a dictionary that holds it under its name.
function taken_out(kind, name, tensor, dict)
    kind == TD_ENTRY_TENSOR && return Tensor(tensor)
    kind == TD_ENTRY_DICT && return TensorDict(dict)
    kind == TD_ENTRY_NESTED_TENSOR && return NestedTensor(TensorDict(dict))
    holder = TensorDict(dict)
    value = lookup(holder, name)
    close(holder)
    value
end

function Base.pop!(td::TensorDict, key)
    names = path(key)
    kind, tensor, dict = Ref(TD_ENTRY_NONE), Ref{Ptr{td_tensor}}(C_NULL), Ref{Ptr{td_tensordict}}(C_NULL)
    check(td_pop(td, names, length(names), kind, tensor, dict), key)
    taken_out(kind[], names[end], tensor[], dict[])
end
Base.pop!(td::TensorDict, key, default) = haskey(td, key) ? pop!(td, key) : default

"""
    pop!(td)

Remove the entry of the first level that was set last; gives `key => entry`.
"""
function Base.pop!(td::TensorDict)
    key, tensor, dict = Ref{Ptr{td_keys}}(C_NULL), Ref{Ptr{td_tensor}}(C_NULL), Ref{Ptr{td_tensordict}}(C_NULL)
    status = td_pop_last(td, key, tensor, dict)
    status == TD_ERR_KEY_NOT_FOUND && throw(ArgumentError("the dictionary is empty"))
    check(status)
    name, kind = only(listed(KeyList(key[])))
    name => taken_out(kind, name, tensor[], dict[])
end

"""
    rename_key!(td, key => new_key; safe = false)

Move an entry to another key. What stands there is replaced, or with `safe` an error.
"""
function rename_key!(td::TensorDict, (from, to)::Pair; safe::Bool = false)
    names, new = path(from), path(to)
    check(td_rename_key(td, names, length(names), new, length(new), safe * TD_RENAME_KEY_SAFE), from)
    td
end

"""
    rename_keys(td, pairs...; strict = true)

A dictionary over the same tensors in which several entries have other keys, all at once: two may change
places. With `strict` all keys must exist.

```jldoctest
julia> td = rename_keys(TensorDict(2; a = [1, 2], b = [3, 4]), "a" => "b", "b" => "a");

julia> Array(td["a"]) == [3, 4]
true
```
"""
function rename_keys(td::TensorDict, pairs::Pair...; strict::Bool = true)
    flags = strict ? 0 : TD_RENAME_KEYS_IGNORE_MISSING
    with_keys([first(pair) for pair in pairs]) do keys, count
        with_keys([last(pair) for pair in pairs]) do new_keys, _
            call(TensorDict, td_rename_keys, td, keys, new_keys, count, flags)
        end
    end
end

"""
    create_nested!(td, key)

Make an empty dictionary under `key`, replacing what was there.
"""
function create_nested!(td::TensorDict, key)
    names = path(key)
    check(td_create_nested(td, names, length(names)), key)
    td
end

"""
    empty!(td)
    empty(td; nested = false)

Remove all entries; and a dictionary of the same batch size and device without any, or with the nested
dictionaries alone.
"""
Base.empty!(td::TensorDict) = (check(td_clear(td)); td)
Base.empty(td::TensorDict; nested::Bool = false) = call(TensorDict, td_empty_like, td, nested * TD_EMPTY_LIKE_RECURSE)

"""
    select(td, keys...; strict = true), select!(td, keys...)
    exclude(td, keys...), exclude!(td, keys...)

Only these entries, in this order, or all but these: in a new dictionary over the same tensors, or in
`td` itself. Unless `strict`, selected keys that are not there are passed over.

```jldoctest
julia> td = TensorDict(2; a = [1, 2], n = (b = [3, 4], c = [5, 6]));

julia> keys(select(td, ("n", "b"), "a"); nested = true) == ["n", ("n", "b"), "a"]
true

julia> keys(exclude(td, "n"))
1-element Vector{String}:
 "a"
```
"""
select(td::TensorDict, keys...; strict::Bool = true) = chosen(td_select, td, keys; ignore_missing = !strict)
select!(td::TensorDict, keys...; strict::Bool = true) =
    chosen!(td_select_inplace, td, keys; ignore_missing = !strict)
exclude(td::TensorDict, keys...) = chosen(td_exclude, td, keys)
exclude!(td::TensorDict, keys...) = chosen!(td_exclude_inplace, td, keys)

chosen(f, td, keys; options...) = with_keys(keys) do list, count
    call(TensorDict, f, td, list, count, Ref(td_select_options(; options...)); key = about(keys))
end
chosen!(f, td, keys; options...) = with_keys(keys) do list, count
    check(f(td, list, count, Ref(td_select_options(; options...))), about(keys))
    td
end
about(keys) = length(keys) == 1 ? keys[1] : keys

"""
    split_keys(td, sets...; strict = true, keep_structure = false, keep_emptied = false)

One dictionary for each set of keys, and the rest as the last one. A set is a list of keys, or of pairs
of a key and what the entry is called in the result.

```jldoctest
julia> td = TensorDict(2; a = [1, 2], n = (b = [3, 4], c = [5, 6]));

julia> one, two, rest = split_keys(td, ["a"], [("n", "b") => "b"]);

julia> keys(one), keys(two), keys(rest; nested = true)[end]
(["a"], ["b"], ("n", "c"))
```
"""
split_keys(td::TensorDict, sets...; strict::Bool = true, options...) =
    split_sets(td_split_keys, td, sets; ignore_missing = !strict, options...)

"""
    separate!(td, keys...; strict = true)

Take entries out, into a new dictionary. Nested dictionaries that lose all entries go.
"""
function separate!(td::TensorDict, keys...; strict::Bool = true)
    taken, rest = split_sets(td_split_keys_inplace, td, (keys,); ignore_missing = !strict)
    close(rest) # a second handle on `td`
    taken
end

old_key(key) = key
old_key(key::Pair) = first(key)
new_key(key) = key
new_key(key::Pair) = last(key)

function split_sets(split, td, sets; options...)
    handles = fill(Ptr{td_tensordict}(C_NULL), length(sets) + 1)
    count = Ref{Csize_t}(0)
    raw_sets = td_key_set[]
    function collect_sets(i)
        i > length(sets) && return split(td, raw_sets, length(raw_sets),
            Ref(td_split_keys_options(; options...)), handles, length(handles), count)
        with_keys(map(old_key, sets[i])) do keys, n
            with_keys(map(new_key, sets[i])) do names, _
                GC.@preserve keys names begin
                    push!(raw_sets, td_key_set(keys = pointer(keys), names = pointer(names), keys_len = n))
                    collect_sets(i + 1)
                end
            end
        end
    end
    check(collect_sets(1), sets)
    map(TensorDict, handles)
end

"""
    remove_empty!(td)
    filter_non_tensor(td)

Remove the nested dictionaries in which nothing stands; and a new dictionary over the same tensors
without the non-tensor values.
"""
remove_empty!(td::TensorDict) = (check(td_remove_empty(td)); td)
filter_non_tensor(td::TensorDict) = call(TensorDict, td_filter_non_tensor, td)

mutable struct LeafTest
    f::Any
    thrown::Any
end

function step_leaf(user::Ptr{Cvoid}, names::Ptr{Cstring}, count::Csize_t, kind::td_entry_kind,
                   answer::Ptr{Int32})::td_status
    state = unsafe_pointer_to_objref(user)::LeafTest
    parking(state) do
        unsafe_store!(answer, Int32(state.f(lent_key(names, count))::Bool))
    end
end

# f(callback, user) for a question that a Julia function answers; NULL for none.
leaf_asking(f, ::Nothing) = f(C_NULL, C_NULL)
function leaf_asking(f, is_leaf)
    state = LeafTest(is_leaf, nothing)
    callback = @cfunction(step_leaf, td_status, (Ptr{Cvoid}, Ptr{Cstring}, Csize_t, td_entry_kind, Ptr{Int32}))
    try
        GC.@preserve state f(callback, pointer_from_objref(state))
    catch
        state.thrown === nothing ? rethrow() : rethrow_parked(state)
    end
end

"""
    flatten_keys(td, separator = "."; is_leaf = nothing), flatten_keys!(td, ...)
    unflatten_keys(td, separator = "."), unflatten_keys!(td, ...)

Everything on one level, under the names of its path joined with `separator`; dictionaries for which
`is_leaf(key)` holds stay whole. And the opposite: names that hold the separator are taken apart.

```jldoctest
julia> td = TensorDict(2; a = [1, 2], n = (b = [3, 4],));

julia> flat = flatten_keys(td);

julia> keys(flat) == ["a", "n.b"], unflatten_keys(flat) == td
(true, true)
```
"""
flatten_keys(td::TensorDict, separator::AbstractString = "."; is_leaf = nothing) =
    flattening(is_leaf) do options
        call(TensorDict, td_flatten_keys, td, String(separator), options)
    end
flatten_keys!(td::TensorDict, separator::AbstractString = "."; is_leaf = nothing) =
    flattening(is_leaf) do options
        check(td_flatten_keys_inplace(td, String(separator), options))
        td
    end
unflatten_keys(td::TensorDict, separator::AbstractString = ".") =
    call(TensorDict, td_unflatten_keys, td, String(separator))
unflatten_keys!(td::TensorDict, separator::AbstractString = ".") =
    (check(td_unflatten_keys_inplace(td, String(separator))); td)

flattening(f, is_leaf) = leaf_asking(is_leaf) do callback, user
    f(Ref(td_flatten_keys_options(; is_leaf = callback, user = user)))
end

"""
    merge(a, b, ...)
    mergewith(f, a, b, ...)

A new dictionary with the entries of several, over the same tensors. Where two have a tensor, the later
one counts, or what `f(x, y)` gives. See [`merge_tensordicts`](@ref) for the rule of Python.

```jldoctest
julia> a = TensorDict(2; x = [1, 2], n = (y = [3, 4],));

julia> b = TensorDict(2; x = [10, 20], n = (z = [5, 6],));

julia> Array(merge(a, b)["x"]) == [10, 20], Array(mergewith((x, y) -> x .+ y, a, b)["x"]) == [11, 22]
(true, true)
```
"""
Base.merge(a::TensorDict, others::TensorDict...) = mergewith((x, y) -> y, a, others...)
Base.mergewith(f, a::TensorDict) = copy(a)
Base.mergewith(f, a::TensorDict, b::TensorDict, more::TensorDict...) =
    foldl((x, y) -> merge_tensordicts(f, x, y), (a, b, more...))

"""
    merge_tensordicts([f], tds...)

The entries of at least two dictionaries in a new one. Where several have an entry, that of the first one
stays; where all have a tensor, what `f(tensors...)` gives stands, if there is an `f`.
"""
function merge_tensordicts(f, tds::TensorDict...)
    state = Walk(f, false, nothing)
    callback = @cfunction(step_entries, td_status, (Ptr{Cvoid}, Ptr{td_apply_entry},
                                                    Ptr{Ptr{td_tensor}}, Ptr{Ptr{td_tensordict}}))
    try
        GC.@preserve state merged(tds, callback, pointer_from_objref(state))
    catch
        state.thrown === nothing ? rethrow() : rethrow_parked(state)
    end
end
merge_tensordicts(tds::TensorDict...) = merged(tds, C_NULL, C_NULL)

function merged(tds, callback, user)
    list = Ptr{td_tensordict}[live_pointer(td) for td in tds]
    GC.@preserve tds call(TensorDict, td_merge, list, length(list), callback, user)
end

"""
    depth(td)

How many dictionaries lie around the deepest tensor, `td` not counted.
"""
depth(td::TensorDict) = Int(ask(Csize_t, td_depth, td))

"""
    entry_size(td, key)

The sizes of the tensor under `key`, or the batch size of what else stands there.
"""
function entry_size(td::TensorDict, key)
    names = path(key)
    dims = Ref{Csize_t}(0)
    check(td_get_sizes(td, names, length(names), C_NULL, 0, dims), key)
    buffer = Vector{Int64}(undef, dims[])
    isempty(buffer) || check(td_get_sizes(td, names, length(names), buffer, length(buffer), dims), key)
    Tuple(Int.(buffer))
end

"""
    auto_batch_size!(td; max_dims = nothing, keep_compliant = false)

Set the longest batch size with which all entries begin, of at most `max_dims` dimensions, in nested
dictionaries too; with `keep_compliant` not in those that have as many already.

```jldoctest
julia> td = TensorDict((); a = zeros(3, 4, 5), b = zeros(3, 4));

julia> size(auto_batch_size!(td))
(3, 4)
```
"""
function auto_batch_size!(td::TensorDict; max_dims::Union{Integer,Nothing} = nothing, keep_compliant::Bool = false)
    check(td_auto_batch_size(td, something(max_dims, -1),
                             keep_compliant * TD_AUTO_BATCH_SIZE_KEEP_COMPLIANT))
    td
end

"""
    from_keys(keys, value)

A dictionary without batch dimensions that has one value under all of `keys`.
"""
function from_keys(keys, value)
    td = TensorDict(())
    lending(t -> foreach(key -> setindex!(td, t, key), keys), value)
    td
end
