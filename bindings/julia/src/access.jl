# Entries: reading and writing by key and by index.

"""
    NonTensorData

Non-tensor data, such as a string or a list; `json` is its value as JSON text.
"""
struct NonTensorData
    json::String
end
Base.show(io::IO, data::NonTensorData) = print(io, "NonTensorData(", data.json, ")")

kind_of(td, names) = ask(td_entry_kind, td_get_kind, td, names, length(names))

# The entry under a path, of the kind that was found.
function entry(td, names, kind, key)
    if kind == TD_ENTRY_DICT
        call(TensorDict, td_get_dict, td, names, length(names); key = key)
    elseif kind == TD_ENTRY_NON_TENSOR
        NonTensorData(asktext(td_get_non_tensor_json, td, names, length(names); key = key))
    elseif kind == TD_ENTRY_NESTED_TENSOR
        nested_tensor_entry(td, names; key = key)
    else
        call(Tensor, td_get, td, names, length(names); key = key)
    end
end

function lookup(td, key)
    names = path(key)
    kind = kind_of(td, names)
    kind == TD_ENTRY_NONE ? throw(KeyError(key)) : entry(td, names, kind, key)
end

store!(td, names, value::Tensor) = check(td_set(td, names, length(names), value), askey(names))
store!(td, names, value::TensorDict) = check(td_set_dict(td, names, length(names), value), askey(names))
store!(td, names, value::Union{NamedTuple,AbstractDict}) = lending_dict(d -> store!(td, names, d), td, value)
store!(td, names, value) = lending(t -> store!(td, names, t), value)

lending_dict(f, td, value::TensorDict) = f(value)
function lending_dict(f, td, value)
    d = nested(td, value)
    try
        f(d)
    finally
        close(d)
    end
end

"""
    td["obs"], td[:obs], td["agents", "reward"]
    td[1, :], td[:, end-1:end], td[1:2:end, .., newaxis], td[mask], td[[3, 1]]
    td[index"..., ::2, None"]

The entry under a key: a `Tensor`, a `TensorDict`, `NonTensorData` or a `NestedTensor`. Or a part of the batch:
integers, ranges, `:`, `..` and `newaxis` give views that share memory; arrays of positions or of
`Bool`s, and ranges that count down, copy. A `Tensor` as an index holds the library's own numbers,
counted from 0.
"""
Base.getindex(td::TensorDict, name::Name, deeper::Name...) =
    lookup(td, isempty(deeper) ? name : (name, deeper...))
Base.getindex(td::TensorDict, key::Tuple) = lookup(td, key)
Base.getindex(td::TensorDict, indices...) = indexed(TensorDict, td_index, td, indices)

"""
    td["obs"] = value
    td["agents", "reward"] = value
    td[1:2, end] = value

Store an entry, making the dictionaries on the way; see [`TensorDict`](@ref) for what a value can be.
Or write into a part of the batch: a dictionary key by key, a number or an array into every tensor.
"""
Base.setindex!(td::TensorDict, value, name::Name, deeper::Name...) = store!(td, path((name, deeper...)), value)
Base.setindex!(td::TensorDict, value, key::Tuple) = store!(td, path(key), value)

Base.setindex!(td::TensorDict, value::TensorDict, indices...) =
    indexing((list, count) -> td_set_at(td, list, count, value), td, indices)
Base.setindex!(td::TensorDict, value, indices...) = lending(value) do source
    indexing((list, count) -> td_fill_at(td, list, count, source), td, indices)
end
function Base.setindex!(td::TensorDict, value::Union{NamedTuple,AbstractDict}, indices...)
    part = td[indices...]
    lending_dict(d -> setindex!(td, d, indices...), part, value)
end

# A key wins over what the value is.
for V in (:TensorDict, :(Union{NamedTuple,AbstractDict}))
    @eval Base.setindex!(td::TensorDict, value::$V, name::Name, deeper::Name...) =
        store!(td, path((name, deeper...)), value)
    @eval Base.setindex!(td::TensorDict, value::$V, key::Tuple) = store!(td, path(key), value)
end

"""
    set_inplace!(td, key, value)

Write values into the tensor that is stored under `key`: it keeps its type, its device and its
memory. Allowed when locked.
"""
function set_inplace!(td::TensorDict, key, value)
    names = path(key)
    lending(t -> check(td_set_inplace(td, names, length(names), t), key), value)
    td
end

"""
    haskey(td, key...)
    get(td, key, default), get(f, td, key)
    delete!(td, key...), pop!(td, key, [default])

As for a `Dict`, where `key` may be a tuple of names.
"""
Base.haskey(td::TensorDict, key...) = kind_of(td, path(key)) != TD_ENTRY_NONE
Base.get(td::TensorDict, key, default) = get(() -> default, td, key)

function Base.get(f::Union{Function,Type}, td::TensorDict, key)
    names = path(key)
    kind = kind_of(td, names)
    kind == TD_ENTRY_NONE ? f() : entry(td, names, kind, key)
end

function Base.delete!(td::TensorDict, key...)
    names = path(key)
    kind_of(td, names) == TD_ENTRY_NONE || check(td_remove(td, names, length(names)), askey(names))
    td
end
