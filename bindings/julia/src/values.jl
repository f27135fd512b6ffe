# Non-tensor values. They travel as JSON text.

store!(td, names, value::NonTensorData) = check(td_set_non_tensor_json(td, names, length(names), value.json), askey(names))

"""
    set_json!(td, key, json; each = false)

Store a non-tensor value under `key`, given as JSON text: one for the whole batch, or with `each` one
for each element of it, as lists nested as the batch dimensions are. `td[key] = NonTensorData(json)` is the
first.

```jldoctest
julia> td = TensorDict(2);

julia> set_json!(td, "lives", "[3, 5]"; each = true);

julia> td[2]["lives"]
NonTensorData(5)
```
"""
function set_json!(td::TensorDict, key, json::AbstractString; each::Bool = false)
    names = path(key)
    f = each ? td_set_non_tensor_stack_json : td_set_non_tensor_json
    check(f(td, names, length(names), String(json)), key)
    td
end

"""
    get_json(td, key; each = false)

The one value that all elements of the batch have, as JSON text; with `each` the value of each element, as
lists nested as the batch dimensions are.
"""
function get_json(td::TensorDict, key; each::Bool = false)
    names = path(key)
    asktext(each ? td_get_non_tensor_stack_json : td_get_non_tensor_value_json, td, names, length(names); key = key)
end

store!(td, names, value::AbstractString) = check(td_set_text(td, names, length(names), String(value)), askey(names))

"""
    set_texts!(td, key, texts)

Store one text for each element of the batch, in the order of Julia's arrays: the first dimension first.
`td[key] = "text"` stores one for the whole batch.

```jldoctest
julia> td = TensorDict(2);

julia> set_texts!(td, "task", ["push", "pull"]); td["robot"] = "arm 7";

julia> get_text(td, "task"; row = 2), get_text(td, "robot")
("pull", "arm 7")
```
"""
function set_texts!(td::TensorDict, key, texts)
    names = path(key)
    all = texts isa AbstractArray && ndims(texts) > 1 ? permutedims(texts, ndims(texts):-1:1) : texts
    with_names((list, n) -> check(td_set_texts(td, names, length(names), list, n), key), vec(collect(all)))
    td
end

"""
    get_text(td, key; row = nothing)

The text that all elements of the batch have, or those of one row.
"""
function get_text(td::TensorDict, key; row::Union{Integer,Nothing} = nothing)
    names = path(key)
    row === nothing && return asktext(td_get_text, td, names, length(names); key = key)
    sizes = size(td)
    !isempty(sizes) && 1 <= row <= sizes[1] || throw(BoundsError(td, row))
    asktext(td_get_row_text, td, names, length(names), Int64(row) - 1; key = key)
end

"""
    spread_non_tensor!(td, key)

Make the value of the whole batch one value for each element.
"""
function spread_non_tensor!(td::TensorDict, key)
    names = path(key)
    check(td_spread_non_tensor(td, names, length(names)), key)
    td
end

"""
    set_bytes!(td, key, bytes)
    get_bytes(td, key)

Bytes, one value for the whole batch.
"""
function set_bytes!(td::TensorDict, key, bytes::AbstractVector{UInt8})
    names, data = path(key), Vector{UInt8}(bytes)
    check(td_set_non_tensor_bytes(td, names, length(names), data, length(data)), key)
    td
end
function get_bytes(td::TensorDict, key)
    names, count = path(key), Ref{Csize_t}(0)
    check_size(td_get_non_tensor_bytes(td, names, length(names), C_NULL, 0, count))
    bytes = Vector{UInt8}(undef, count[])
    isempty(bytes) || check(td_get_non_tensor_bytes(td, names, length(names), bytes, length(bytes), count), key)
    bytes
end
