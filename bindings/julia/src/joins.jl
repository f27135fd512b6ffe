# Dictionaries joined where `stack` and `cat` are not enough.

"""
    maybe_dense_stack(tds, dim = 1)

As [`stack`](@ref), but where dictionaries differ in keys or shapes a lazy stack takes the place of the
dense one, there and nowhere else.
"""
maybe_dense_stack(tds::AbstractVector{TensorDict}, dim::Integer = 1) = joined(td_maybe_dense_stack, tds, dim)

"""
    stack!(td, tds, dim = 1; strict = false)
    cat!(td, tds; dims, strict = false)

Write what [`stack`](@ref) or `cat` would make into existing tensors. Keys that `td` lacks, or
all sources lack, are passed over unless `strict`.

```jldoctest
julia> td = TensorDict(2; a = [1, 2]);

julia> both = like(stack([td, td]), :zeros);

julia> Array(stack!(both, [td, td])["a"])
2×2 Matrix{Int64}:
 1  2
 1  2
```
"""
stack!(td::TensorDict, tds::AbstractVector{TensorDict}, dim::Integer = 1; strict::Bool = false) =
    join_into!(td, TD_JOIN_STACK, tds, dim, strict)
cat!(td::TensorDict, tds::AbstractVector{TensorDict}; dims::Integer, strict::Bool = false) =
    join_into!(td, TD_JOIN_CAT, tds, dims, strict)

function join_into!(td, kind, tds, dim, strict)
    GC.@preserve tds begin
        sources = Ptr{td_tensordict}[live_pointer(source) for source in tds]
        check(td_join_into(td, kind, sources, length(sources), from0(dim), strict * TD_JOIN_INTO_STRICT))
    end
    td
end

"""
    stack_tensors!(td, keys, key; dim = 1, keep = false)
    cat_tensors!(td, keys, key; dim = 1, keep = false)

Join tensors of one dictionary into a new entry; they are removed unless they are kept.
"""
stack_tensors!(td::TensorDict, keys, key; dim::Integer = 1, keep::Bool = false) =
    join_entries!(td, TD_JOIN_STACK, keys, key, dim, keep)
cat_tensors!(td::TensorDict, keys, key; dim::Integer = 1, keep::Bool = false) =
    join_entries!(td, TD_JOIN_CAT, keys, key, dim, keep)

function join_entries!(td, kind, keys, key, dim, keep)
    names = path(key)
    with_keys(keys) do list, count
        check(td_join_entries(td, kind, list, count, names, length(names), from0(dim), keep * TD_JOIN_ENTRIES_KEEP))
    end
    td
end

"""
    stack_leaves(td; dim = 1, sorted = false)
    cat_leaves(td; dim = 1, sorted = false)

All tensors of a dictionary joined into one, in the order of the keys, or of their names.
"""
stack_leaves(td::TensorDict; dim::Integer = 1, sorted::Bool = false) =
    call(Tensor, td_join_tensors, td, TD_JOIN_STACK, from0(dim), sorted * TD_JOIN_TENSORS_SORTED)
cat_leaves(td::TensorDict; dim::Integer = 1, sorted::Bool = false) =
    call(Tensor, td_join_tensors, td, TD_JOIN_CAT, from0(dim), sorted * TD_JOIN_TENSORS_SORTED)
