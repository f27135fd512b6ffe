# Masks over the batch decide which values are taken or written; the same structure with other values.

lending_mask(f, mask::AbstractArray{Bool}) = lending(f, Array(mask))
lending_mask(f, mask) = lending(f, mask)

"""
    masked_select(td, mask)

What a mask over the leading batch dimensions picks, in new memory, as `td[mask]` does.
"""
masked_select(td::TensorDict, mask) = lending_mask(m -> call(TensorDict, td_masked_select, td, m), mask)

"""
    masked_fill(td, mask, value)
    masked_fill!(td, mask, value)

`value` written into every tensor where a mask is true: in a copy, or in `td` itself, which may be locked.

```jldoctest
julia> td = TensorDict(3; a = [1, 2, 3]);

julia> Array(masked_fill(td, [true, false, true], 0)["a"]) == [0, 2, 0]
true
```
"""
masked_fill(td::TensorDict, mask, value) =
    lending_mask(m -> lending(v -> call(TensorDict, td_masked_fill, td, m, v), value), mask)
masked_fill!(td::TensorDict, mask, value) =
    (lending_mask(m -> lending(v -> check(td_masked_fill_inplace(td, m, v)), value), mask); td)

"""
    choose(condition, td, other; pad = nothing)

Values of `td` where a condition over the batch is true, and those of `other` elsewhere: of another
dictionary, or a number. `pad` stands in for tensors that one of the dictionaries lacks.

```jldoctest
julia> one, two = TensorDict(2; a = [1, 2]), TensorDict(2; a = [3, 4]);

julia> Array(choose([true, false], one, two)["a"]) == [1, 4]
true
```
"""
function choose(condition, td::TensorDict, other::TensorDict; pad::Union{Real,Nothing} = nothing)
    lending_mask(condition) do c
        pad === nothing ? call(TensorDict, td_where, td, c, other, C_NULL) :
        lending(v -> call(TensorDict, td_where, td, c, other, v), pad)
    end
end
choose(condition, td::TensorDict, other) =
    lending_mask(c -> lending(v -> call(TensorDict, td_where, td, c, C_NULL, v), other), condition)

"""
    expand_right(tensor, dims...)
    expand_as_right(tensor, other)

Dimensions added behind those of a tensor, and expanded, sharing memory: a mask over the batch becomes
one over a whole tensor.
"""
expand_right(t::Tensor, dims::Integer...) = expand_right(t, dims)
expand_right(t::Tensor, dims::Tuple) = (s = sizes(dims); call(Tensor, td_tensor_expand_right, t, s, length(s)))
expand_as_right(t::Tensor, other::Tensor) = expand_right(t, size(other))

const FILLINGS = (empty = TD_LIKE_EMPTY, zeros = TD_LIKE_ZEROS, ones = TD_LIKE_ONES, rand = TD_LIKE_RAND,
                  randn = TD_LIKE_RANDN)

"""
    like(td, what; type = nothing, device = nothing)
    like(td, what, dims...; type = nothing, device = nothing)
    zero(td)

The same structure with other values, in new memory: `:zeros`, `:ones`, `:empty`, `:rand`, `:randn`, or a
number. Under the batch size of `td`, then locked if `td` is, or another one. Tensors keep their type and
device unless others are given.

```jldoctest
julia> td = TensorDict(2; a = [1, 2]);

julia> Array(like(td, 0.5; type = Float32)["a"]) == Float32[0.5, 0.5], size(like(td, :ones, 3))
(true, (3,))
```
"""
function like(td::TensorDict, what::Union{Symbol,Real}; options...)
    kind, raw = filled(what; options...)
    call(TensorDict, td_like, td, kind, raw)
end
function like(td::TensorDict, what::Union{Symbol,Real}, dims::Tuple; options...)
    kind, raw = filled(what; options...)
    s = sizes(dims)
    call(TensorDict, td_like_sized, td, kind, s, length(s), raw)
end
like(td::TensorDict, what::Union{Symbol,Real}, dim::Integer, dims::Integer...; options...) =
    like(td, what, (dim, dims...); options...)
Base.zero(td::TensorDict) = like(td, :zeros)

function filled(what; type::Union{Type,Nothing} = nothing, device::Union{Device,Nothing} = nothing)
    what isa Symbol && !haskey(FILLINGS, what) &&
        throw(ArgumentError("$(repr(what)) is none of $(join(repr.(keys(FILLINGS)), ", "))"))
    at = something(device, Device(TD_DEVICE_NONE, -1))
    (what isa Symbol ? FILLINGS[what] : TD_LIKE_FULL,
     Ref(td_like_options(dtype = type === nothing ? TD_DTYPE_OTHER : dtype_code(type),
                         device_type = at.type, device_index = at.index,
                         value = what isa Symbol ? 0.0 : Float64(what))))
end

"""
    difference(td, other; rtol, atol, nans = true, common_keys = false)
    isapprox(td, other; options...)

Where two dictionaries differ first by more than is allowed, as a text, or `nothing`. Without tolerances
what suits each type is allowed; `nans` says that NaN is close to NaN, `common_keys` that only keys are
compared which both have. `isapprox`, or `td ≈ other`, only says whether there is a difference.

```jldoctest
julia> difference(TensorDict(1; a = [1.0]), TensorDict(1; a = [1.0 + 1e-12])) === nothing
true
```
"""
function difference(td::TensorDict, other::TensorDict; rtol::Union{Real,Nothing} = nothing,
                    atol::Union{Real,Nothing} = nothing, nans::Bool = true, common_keys::Bool = false)
    options = td_allclose_options(has_tolerance = !(rtol === atol === nothing), nan_differs = !nans,
                               common_keys = common_keys, relative = something(rtol, 0.0),
                               absolute = something(atol, 0.0))
    close = Ref{Int32}(0)
    text = asktext(td_allclose, td, other, Ref(options), close)
    close[] == 0 ? text : nothing
end
Base.isapprox(td::TensorDict, other::TensorDict; options...) = difference(td, other; options...) === nothing
