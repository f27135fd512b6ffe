# Dictionaries side by side that are stacked when read, and sub-tensordicts.

"""
    dict_kind(td) -> Symbol

`:dense`, `:lazy` for a lazy stack, `:sub_tensordict` for a sub-tensordict. All kinds take all calls, with few
exceptions.
"""
function dict_kind(td::TensorDict)
    kind = ask(td_dict_kind, td_kind, td)
    kind == TD_DICT_LAZY_STACK ? :lazy : kind == TD_DICT_SUB_TENSORDICT ? :sub_tensordict : kind == TD_DICT_DENSE ? :dense : :non_tensor
end

"""
    lazy_stack(tds, dim = 1)

Dictionaries side by side, without copying: an entry is stacked when it is read. They are held as they
are, so a change of one shows in the stack. They may differ in keys and in the shapes of tensors; the keys
are those that all of them have.

```jldoctest
julia> both = lazy_stack([TensorDict((); x = [1, 2]), TensorDict((); x = [3])]);

julia> Array(padded(both, "x"))
2×2 Matrix{Int64}:
 1  2
 3  0
```
"""
lazy_stack(tds::AbstractVector{TensorDict}, dim::Integer = 1) = joined(td_lazy_stack, tds, dim)

"""
    lazy_info(td) -> (dim, elements)

The dimension of a lazy stack and the number of its elements; `td[i]` along it is the element itself.
"""
function lazy_info(td::TensorDict)
    dim, elements = Ref{Int64}(0), Ref{Csize_t}(0)
    check(td_lazy_info(td, dim, elements))
    (Int(dim[]) + 1, Int(elements[]))
end

"""
    insert!(stack, position, td)
    push!(stack, td), append!(stack, tds)

Put dictionaries into a lazy stack; they are held as they are.
"""
function Base.insert!(td::TensorDict, position::Integer, source::TensorDict)
    position >= 1 || throw(BoundsError(td, position))
    check(td_lazy_insert(td, position - 1, source))
    td
end
Base.push!(td::TensorDict, source::TensorDict) = append!(td, [source])
function Base.append!(td::TensorDict, tds::AbstractVector{TensorDict})
    GC.@preserve tds begin
        sources = Ptr{td_tensordict}[live_pointer(source) for source in tds]
        check(td_lazy_extend(td, sources, length(sources)))
    end
    td
end

"""
    exclusive_keys(td)

The keys that some dictionaries of a lazy stack have and others lack.
"""
exclusive_keys(td::TensorDict) =
    String[first(path) for path in each_path((path, _) -> path, call(KeyList, td_lazy_exclusive_keys, td))]

padding(; pad = true, value::Real = 0, left::Bool = false) = Ref(td_padding_options(pad = pad, left = left, value = value))

"""
    padded(td, key; value = 0, left = false)

The tensors of a key of a lazy stack as one, each padded to the longest.
"""
function padded(td::TensorDict, key; options...)
    names = path(key)
    call(Tensor, td_lazy_get_padded, td, names, length(names), padding(; options...); key = key)
end

"""
    jagged(td, key) -> (values, offsets)

The tensors of a key of a lazy stack one after the other along their first dimension, and where each
begins, counted from 0: one more than there are elements.
"""
function jagged(td::TensorDict, key)
    names = path(key)
    values, offsets = Ref{Ptr{td_tensor}}(C_NULL), Ref{Ptr{td_tensor}}(C_NULL)
    check(td_lazy_get_jagged(td, names, length(names), values, offsets), key)
    (values = Tensor(values[]), offsets = Tensor(offsets[]))
end

"""
    to_lazy_stack(td, dim = 1)

The parts along a dimension as a lazy stack, sharing memory.
"""
to_lazy_stack(td::TensorDict, dim::Integer = 1) = call(TensorDict, td_to_lazy_stack, td, from0(dim))

"""
    densify(td; pad = false, value = 0, left = false, nested_tensor = false)

The same content without lazy stacks and sub-tensordicts at any level. Without `pad`, shapes that differ are a
`DimensionMismatch`; with `nested_tensor` they become a [`NestedTensor`](@ref).
"""
densify(td::TensorDict; pad::Bool = false, nested_tensor::Bool = false, options...) =
    call(TensorDict, td_densify, td, padding(; pad = nested_tensor ? 2 : pad, options...))

"""
    sub_tensordict(td, indices...)
    parent(sub_tensordict)

A sub-tensordict of `td`: what is written to it reaches the part, also where arrays of positions or of
`Bool`s pick it. `parent` gives `td` back.
"""
sub_tensordict(td::TensorDict, indices...) = indexed(TensorDict, td_sub_tensordict, td, indices)
Base.parent(td::TensorDict) = call(TensorDict, td_sub_tensordict_parent, td)

"""
    isuniquelyowned(td)

Whether this object alone leads to the dictionary and to each one below it.
"""
isuniquelyowned(td::TensorDict) = asks(td_is_uniquely_owned, td)
