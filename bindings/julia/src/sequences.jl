# Samples of different lengths: padded, without padding again, collated.

# f(names, count) for the key of masks, or nothing.
with_masks(f, masks) = with_key(f, something(masks, ()))

"""
    pad_sequence(tds; dim = 1, value = 0, values = (), left = false, masks = nothing)

Dictionaries stacked along a new first dimension, each tensor padded to the longest. Only entries that all
of them have are taken; what is no tensor is `nothing` where there is padding.

- `dim`: the dimension of each tensor that is padded
- `values`: pairs `key => value`, the padding of single tensors
- `left`: the padding stands before the data
- `masks`: the key of a dictionary of masks, true where there was a value

```jldoctest
julia> both = pad_sequence([TensorDict(1; a = [5]), TensorDict(2; a = [6, 7])]);

julia> Array(both["a"])
2×2 Matrix{Int64}:
 5  0
 6  7
```
"""
function pad_sequence(tds::AbstractVector{TensorDict}; dim::Integer = 1, value::Real = 0, values = (),
                      left::Bool = false, masks = nothing)
    numbers = Float64[last(pair) for pair in values]
    sources = Ptr{td_tensordict}[live_pointer(td) for td in tds]
    GC.@preserve tds numbers with_masks(masks) do names, count
        with_keys([first(pair) for pair in values]) do list, len
            options = td_pad_sequence_options(left = left, dim = from0(dim), value = value, masks = names,
                                              masks_len = count, keys = pointer(list),
                                              values = pointer(numbers), keys_len = len)
            call(TensorDict, td_pad_sequence, sources, length(sources), Ref(options))
        end
    end
end

"""
    unpad_sequence(td; dim = 1, masks = nothing)

A lazy stack of the samples along the first dimension, each as long as its mask says, over the same memory.

- `dim`: the padded dimension of each sample's tensors
- `masks`: a `Tensor` of bools (samples × positions) for all, or a dictionary with a mask for each tensor;
  `nothing`: the entry `"masks"`, which the result has not

```jldoctest
julia> both = pad_sequence([TensorDict(1; a = [5]), TensorDict(2; a = [6, 7])]; masks = "masks");

julia> Array(unpad_sequence(both)[1]["a"])
1-element Vector{Int64}:
 5
```
"""
function unpad_sequence(td::TensorDict; dim::Integer = 1, masks::Union{Tensor,TensorDict,Nothing} = nothing)
    GC.@preserve masks begin
        mask = masks isa Tensor ? live_pointer(masks) : C_NULL
        each = masks isa TensorDict ? live_pointer(masks) : C_NULL
        options = td_unpad_sequence_options(dim = from0(dim), mask = mask, masks = each)
        call(TensorDict, td_unpad_sequence, td, Ref(options))
    end
end

"""
    collate(tds; pad = (), nested = (), masks = nothing)

One dictionary of samples, along a new first dimension: dense if they are alike, else lazy.

- `pad`: pairs `key => value`: tensors to pad along their first dimension
- `nested`: keys of tensors that become nested tensors
- `masks`: the key of a dictionary of masks of the padded ones, true where there was a value

```jldoctest
julia> both = collate([TensorDict((); a = [5]), TensorDict((); a = [6, 7])]; pad = ["a" => 9]);

julia> Array(both["a"])
2×2 Matrix{Int64}:
 5  9
 6  7
```
"""
function collate(tds::AbstractVector{TensorDict}; pad = (), nested = (), masks = nothing)
    numbers = Float64[last(pair) for pair in pad]
    sources = Ptr{td_tensordict}[live_pointer(td) for td in tds]
    GC.@preserve tds numbers with_masks(masks) do names, count
        with_keys([first(pair) for pair in pad]) do padded, padded_len
            with_keys(nested) do ragged, ragged_len
                options = td_collate_options(pad_keys = pointer(padded), pad_values = pointer(numbers),
                                             pad_keys_len = padded_len, nested_keys = pointer(ragged),
                                             nested_keys_len = ragged_len, masks = names,
                                             masks_len = count)
                call(TensorDict, td_collate, sources, length(sources), Ref(options))
            end
        end
    end
end
