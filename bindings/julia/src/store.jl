# Dictionaries in a Redis server, shared with others.

# Calls `f(options)` with the options as the library takes them.
function with_store_options(f; host = nothing, port::Integer = 0, unix_socket = nothing, username = nothing,
                            password = nothing, prefix = nothing, id = nothing, db::Integer = 0,
                            timeout::Union{Real,Nothing} = nothing, max_bytes::Integer = 0, tls::Bool = false,
                            tls_ca = nothing, tls_cert = nothing, tls_key = nothing, tls_server_name = nothing)
    texts = map(t -> t === nothing ? nothing : Base.cconvert(Cstring, String(t)),
                (host, unix_socket, username, password, prefix, id, tls_ca, tls_cert, tls_key, tls_server_name))
    c(text) = text === nothing ? Cstring(C_NULL) : Base.unsafe_convert(Cstring, text)
    ms = timeout === nothing ? 0 : timeout == Inf ? -1 : max(1, round(Int64, timeout * 1000))
    GC.@preserve texts f(Ref(td_store_options(
        port = port, host = c(texts[1]), unix_socket = c(texts[2]), username = c(texts[3]), password = c(texts[4]),
        prefix = c(texts[5]), id = c(texts[6]), db = db, timeout_ms = ms, max_bytes = max_bytes,
        tls = tls, tls_ca = c(texts[7]), tls_cert = c(texts[8]), tls_key = c(texts[9]), tls_server_name = c(texts[10]))))
end

"""
    TensorDictStore(; id, options...)
    TensorDictStore(td::TensorDict; options...)
    TensorDictStore(dims; options...)
    TensorDictStore(schema::AbstractString; options...)

A connection to one dictionary in a server that speaks Redis' protocol, where it lies as Python's `TensorDictStore` keeps
it: one that is there, a copy of `td`, one without entries, or one of zeros that the server makes ([`schema`](@ref)). What
is got is a copy; what is set is there for everybody at once. Threads may share it.

- `store[key]`, `store[key] = value`, `get_json(store, key)`, `set_json!(store, key, json)`: whole entries
- `get_at(store, key, indices...)`, `set_at!(store, key, value, indices...)`: parts, of which only the rows are sent;
  without indices `set_at!` writes all values in place
- `store[indices...]`: a local copy of a part of all; `TensorDict(store)`: of the whole
- `update!(store, td)`: all entries of `td` in one request; `delete!(store, key)`
- `keys(store)`, `size(store)`, `store.id`, `lock(store)`, `unlock(store)`, `islocked(store)`
- `close(store)` closes the connection; `TensorDicts.erase(store)` removes the dictionary from the server

Options: `host` ("localhost"), `port` (6379), `unix_socket`, `username`, `password`, `prefix` ("tensordict"), `id` (a
random one if new), `db` (0), `timeout` in seconds (10), `max_bytes` of the answers to one call (16 GB).
Over TLS: `tls = true`, and PEM files where needed: `tls_ca` (whom to trust, instead of those that the system does),
`tls_cert` and `tls_key` (of this client); `tls_server_name` (whose certificate the server must have, if not its host's).
"""
TensorDictStore(; options...) = with_store_options(given -> call(TensorDictStore, td_store_open, given); options...)
TensorDictStore(td::TensorDict; options...) =
    with_store_options(given -> call(TensorDictStore, td_store_from, td, given); options...)
TensorDictStore(text::AbstractString; options...) =
    with_store_options(given -> call(TensorDictStore, td_store_from_schema, String(text), given); options...)
function TensorDictStore(dims::Union{Integer,Tuple}; options...)
    batch = sizes(dims)
    with_store_options(given -> call(TensorDictStore, td_store_create, batch, length(batch), given); options...)
end

Base.getproperty(store::TensorDictStore, name::Symbol) =
    name === :id ? asktext(td_store_id, store) : getfield(store, name)
Base.size(store::TensorDictStore) = asksizes(td_store_batch_size, store)
Base.keys(store::TensorDictStore) = first.(listed(call(KeyList, td_store_keys, store)))

# The sizes of a tensor, without its values.
function stored_tensor(store::TensorDictStore, names, key)
    dims = size(store)
    if isempty(dims) # the first dimension is known only with the values
        whole = call(Tensor, td_store_get, store, names, length(names); key = key)
        result = StoredTensor(size(whole))
        close(whole)
        return result
    end
    part = call(Tensor, td_store_get_at, store, names, length(names), no_rows(), 1; key = key)
    result = StoredTensor((dims[1], Base.tail(size(part))...))
    close(part)
    result
end

const StoreKey = Union{Name,Tuple{Name,Vararg{Name}}}

# A tensor, which most entries are, is one request.
function Base.getindex(store::TensorDictStore, key::StoreKey)
    names, tensor = path(key), Ref{Ptr{td_tensor}}(C_NULL)
    status = td_store_get(store, names, length(names), tensor)
    status == TD_ERR_WRONG_ENTRY || return (check(status, key); Tensor(tensor[]))
    dict = Ref{Ptr{td_tensordict}}(C_NULL)
    status = td_store_get_dict(store, names, length(names), dict)
    status == TD_ERR_WRONG_ENTRY || return (check(status, key); TensorDict(dict[]))
    NonTensorData(get_json(store, key))
end
Base.getindex(store::TensorDictStore, key::Name, next::Name, more::Name...) = store[(key, next, more...)]
Base.getindex(store::TensorDictStore, indices...) = indexed(TensorDict, td_store_index, store, indices)

function Base.setindex!(store::TensorDictStore, value, key::StoreKey)
    names = path(key)
    if value isa TensorDict
        check(td_store_set_dict(store, names, length(names), value), key)
    elseif value isa NonTensorData
        check(td_store_set_non_tensor_json(store, names, length(names), value.json), key)
    else
        lending(source -> check(td_store_set(store, names, length(names), source), key), value)
    end
    store
end
Base.setindex!(store::TensorDictStore, value, key::Name, next::Name, more::Name...) =
    setindex!(store, value, (key, next, more...))

function get_json(store::TensorDictStore, key)
    names = path(key)
    asktext(td_store_get_non_tensor_json, store, names, length(names); key = key)
end
function set_json!(store::TensorDictStore, key, json::AbstractString)
    names = path(key)
    check(td_store_set_non_tensor_json(store, names, length(names), String(json)), key)
    store
end

function get_at(store::TensorDictStore, key, indices...)
    names, result = path(key), Ref{Ptr{td_tensor}}(C_NULL)
    indexing(stored_tensor(store, names, key), indices) do list, count
        td_store_get_at(store, names, length(names), list, count, result)
    end
    Tensor(result[])
end
function set_at!(store::TensorDictStore, key, value, indices...)
    names = path(key)
    lending(value) do source
        if isempty(indices)
            check(td_store_set_inplace(store, names, length(names), source), key)
        else
            indexing(stored_tensor(store, names, key), indices) do list, count
                td_store_set_at(store, names, length(names), list, count, source)
            end
        end
    end
    store
end

TensorDict(store::TensorDictStore) = call(TensorDict, td_store_load, store)

function update!(store::TensorDictStore, td::TensorDict)
    check(td_store_update(store, td))
    store
end

function Base.delete!(store::TensorDictStore, key)
    names = path(key)
    check(td_store_remove(store, names, length(names)), key)
    store
end

Base.lock(store::TensorDictStore) = (check(td_store_lock(store)); store)
Base.unlock(store::TensorDictStore) = (check(td_store_unlock(store)); store)
Base.islocked(store::TensorDictStore) = asks(td_store_is_locked, store)

"""
    TensorDicts.erase(store)

Remove the dictionary of a [`TensorDictStore`](@ref) from its server.
"""
erase(store::TensorDictStore) = check(td_store_delete(store))

function Base.show(io::IO, store::TensorDictStore)
    isopen(store) || return print(io, "TensorDictStore(closed)")
    print(io, "TensorDictStore(", store.id, ", ", join(size(store), "×"), ")")
end
